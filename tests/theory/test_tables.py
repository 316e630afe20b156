"""Every theorem against independent values, and in every monotone direction that it declares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from holdfast.theory.base.theorem import registry
from tests.theory.rows import Domain, Golden, numbers
from tests.theory.tables import DOMAINS, GOLDEN

REGISTRY = registry()


@pytest.mark.parametrize("row", GOLDEN, ids=[f"{row.theorem}-{i}" for i, row in enumerate(GOLDEN)])
def test_golden(row: Golden) -> None:
    value = REGISTRY[row.theorem].function(**row.inputs)
    measured = numbers(row.measure(value) if row.measure else value)
    assert measured == pytest.approx(numbers(row.expected), rel=row.rel, abs=1e-300), row.origin


def holds(domain: Domain, point: dict[str, Any]) -> bool:
    return domain.where is None or domain.where(**point)


@pytest.mark.parametrize("name", [name for name, entry in REGISTRY.items() if entry.monotone])
@given(data=st.data())
def test_monotone(name: str, data: st.DataObject) -> None:
    """From one point of its domain to another, in each argument that has a direction."""
    domain, entry = DOMAINS[name], REGISTRY[name]
    base: dict[str, Any] = {key: data.draw(s, label=key) for key, s in domain.arguments.items()}
    assume(holds(domain, base))

    def measured(point: dict[str, Any]) -> tuple[float, ...]:
        value = entry.function(**point)
        return numbers(domain.measure(value) if domain.measure else value)

    def possible(argument: str) -> st.SearchStrategy[Any]:
        there = domain.arguments[argument]
        return there.filter(lambda value: holds(domain, {**base, argument: value}))

    at_base = measured(base)
    for argument, direction in entry.monotone.items():
        other = data.draw(possible(argument), label=f"second {argument}")
        at_other = measured({**base, argument: other})
        rises = (other >= base[argument]) == (direction == "up")
        for here, there in zip(at_base, at_other, strict=True):
            first, second = (here, there) if rises else (there, here)
            slack = domain.rel * max(abs(first), abs(second))
            assert first <= second + slack or first == second, f"{direction} in {argument}"
