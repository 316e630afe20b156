"""Every theorem against independent values, and in every monotone direction that it declares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from holdfast.theory.base.theorem import registry
from tests.theory.rows import Golden, numbers
from tests.theory.tables import DOMAINS, GOLDEN

REGISTRY = registry()
DIRECTIONS = [
    pytest.param(name, argument, direction, id=f"{name}-{direction}-in-{argument}")
    for name, entry in REGISTRY.items()
    for argument, direction in entry.monotone.items()
]


@pytest.mark.parametrize("row", GOLDEN, ids=[f"{row.theorem}-{i}" for i, row in enumerate(GOLDEN)])
def test_golden(row: Golden) -> None:
    value = REGISTRY[row.theorem].function(**row.inputs)
    measured = numbers(row.measure(value) if row.measure else value)
    assert measured == pytest.approx(numbers(row.expected), rel=row.rel, abs=1e-300), row.origin


@pytest.mark.parametrize(("name", "argument", "direction"), DIRECTIONS)
@given(data=st.data())
def test_monotone(name: str, argument: str, direction: str, data: st.DataObject) -> None:
    domain = DOMAINS[name]
    base: dict[str, Any] = {key: data.draw(s, label=key) for key, s in domain.arguments.items()}
    other = data.draw(domain.arguments[argument], label=f"second {argument}")
    ends = sorted((base[argument], other))
    points = [{**base, argument: end} for end in ends]
    if domain.where:
        assume(all(domain.where(**point) for point in points))
    function = REGISTRY[name].function
    low, high = (
        numbers(domain.measure(function(**point)) if domain.measure else function(**point))
        for point in points
    )
    for at_low, at_high in zip(low, high, strict=True):
        first, second = (at_low, at_high) if direction == "up" else (at_high, at_low)
        slack = domain.rel * max(abs(first), abs(second))
        assert first <= second + slack or first == second
