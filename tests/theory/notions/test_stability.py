"""Laws of the stability values: order-free, k copies = a list of k, never optimistic."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.notions.composing import GDP, TV, ZCDP, ApproxDP, PureDP
from tests.theory.rows import numbers

LAWS = ("PureDP", "ApproxDP", "ZCDP", "GDP", "TV")

PARAMETER = st.floats(0, 10)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "PureDP": st.builds(PureDP, PARAMETER),
    "ApproxDP": st.builds(ApproxDP, PARAMETER, st.floats(-1000, 0) | st.just(-math.inf)),
    "ZCDP": st.builds(ZCDP, PARAMETER),
    "GDP": st.builds(GDP, PARAMETER),
    "TV": st.builds(TV, st.floats(0, 1)),
}
NOTHING: dict[str, Any] = {
    "PureDP": PureDP(0.0),
    "ApproxDP": ApproxDP(0.0, -math.inf),
    "ZCDP": ZCDP(0.0),
    "GDP": GDP(0.0),
    "TV": TV(0.0),
}


@pytest.mark.parametrize("notion", LAWS)
@given(data=st.data())
def test_composition_does_not_depend_on_the_order(notion: str, data: st.DataObject) -> None:
    steps = data.draw(st.lists(VALUES[notion], min_size=2, max_size=8))
    shuffled = data.draw(st.permutations(steps))
    assert steps[0].compose(*steps[1:]) == shuffled[0].compose(*shuffled[1:])


@pytest.mark.parametrize("notion", LAWS)
@given(data=st.data())
def test_composition_may_be_done_in_groups(notion: str, data: st.DataObject) -> None:
    first, second, third = (data.draw(VALUES[notion]) for _ in range(3))
    at_once = numbers(first.compose(second, third))
    in_groups = numbers(first.compose(second).compose(third))
    assert in_groups == pytest.approx(at_once, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("notion", LAWS)
@given(data=st.data(), k=st.integers(1, 50))
def test_k_copies_are_a_list_of_k(notion: str, data: st.DataObject, k: int) -> None:
    step = data.draw(VALUES[notion])
    listed = numbers(step.compose(*[step] * (k - 1)))
    assert numbers(step.repeated(k)) == pytest.approx(listed, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("notion", LAWS)
@given(data=st.data())
def test_composition_never_promises_more_than_its_parts(notion: str, data: st.DataObject) -> None:
    first, second = data.draw(VALUES[notion]), data.draw(VALUES[notion])
    together = numbers(first.compose(second))
    for part in (first, second):
        assert all(of_part <= both for of_part, both in zip(numbers(part), together, strict=True))


@pytest.mark.parametrize("notion", LAWS)
@given(data=st.data())
def test_nothing_costs_nothing(notion: str, data: st.DataObject) -> None:
    step, nothing = data.draw(VALUES[notion]), NOTHING[notion]
    assert step.compose() == step == step.repeated(1)
    assert nothing.compose(nothing) == nothing == nothing.repeated(1000)
    assert numbers(step.compose(nothing)) == pytest.approx(numbers(step), rel=1e-14)


def test_only_the_same_notion_composes() -> None:
    pure: Any = PureDP(0.1)
    with pytest.raises(InvalidArgument, match="not a PureDP; convert it"):
        pure.compose(ApproxDP(0.1, -10.0))


@pytest.mark.parametrize(
    ("notion", "arguments"),
    [
        (PureDP, (-0.1,)),
        (PureDP, (math.nan,)),
        (ApproxDP, (0.1, 0.5)),
        (ApproxDP, (0.1, math.nan)),
        (ApproxDP, (math.inf, -1.0)),
        (ZCDP, (-1.0,)),
        (GDP, (math.inf,)),
        (TV, (1.5,)),
    ],
)
def test_parameters_are_checked(notion: type, arguments: tuple[float, ...]) -> None:
    with pytest.raises(InvalidArgument):
        notion(*arguments)


def test_delta_is_above_zero_even_below_the_floats() -> None:
    assert 0 < ApproxDP(0.0, -1000.0).delta < 1e-300
    assert ApproxDP(0.0, -math.inf).delta == 0
    assert ApproxDP(0.0, 0.0).delta == 1
