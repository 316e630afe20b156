"""What gates can show: the figures of the theory page, and bad requests."""

from __future__ import annotations

from typing import Any

import pytest

import holdfast
from holdfast.errors import InvalidArgument

AFTER = ("at first", "after 3 promotions", "after 10 promotions")


@pytest.mark.parametrize(
    ("rows", "candidates", "printed", "last", "fixed"),
    [
        (1_000, 100, (0.026, 0.040, None), 0.028, 0.024),
        (5_000, 200, (0.0116, 0.0196, 0.0284), 0.0124, 0.0112),
        (50_000, 500, (0.0039, 0.0067, 0.0101), 0.0041, 0.0038),
    ],
)
def test_the_smallest_differences_are_those_of_the_theory_page(
    rows: int, candidates: int, printed: tuple[float | None, ...], last: float, fixed: float
) -> None:
    plan = holdfast.plan(rows=rows, candidates=candidates, disagreement=0.05)
    expected = [*printed, last, fixed]
    found = [step.smallest_difference for step in plan.steps]
    assert [step.name for step in plan.steps[:3]] == list(AFTER)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == (None if theirs is None else pytest.approx(theirs, abs=5e-5))
    for step in plan.steps:
        assert (step.gain is None) == (step.smallest_difference is None)
        if step.gain is not None and step.smallest_difference is not None:
            assert step.gain > step.smallest_difference  # it must be seen in 80 % of cases


def test_the_gain_found_in_four_of_five_cases() -> None:
    plan = holdfast.plan(rows=1_000, candidates=100, disagreement=0.05)
    assert plan["at first"].gain == pytest.approx(0.02998, abs=1e-5)
    assert "0.0300" in str(plan)
    assert "nothing" in str(plan)
    assert plan.to_dict()["steps"][0]["smallest_difference"] == pytest.approx(0.026)
    with pytest.raises(KeyError, match="after 3 promotions"):
        plan["after 4 promotions"]


def test_all_of_the_failure_probability_shows_more() -> None:
    ours, alone = (
        holdfast.plan(rows=50_000, candidates=500, disagreement=0.05, described=how)
        for how in ("exact", "off")
    )
    first = (ours["at first"].smallest_difference, alone["at first"].smallest_difference)
    assert None not in first
    assert first[0] > first[1]  # type: ignore[operator]
    assert ours.steps[-1] == alone.steps[-1]  # the reference has it all


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"rows": 100, "candidates": 5}, "needs rows, candidates and disagreement"),
        ({"candidates": 5, "disagreement": 0.1}, "needs rows, candidates and disagreement"),
        ({"rows": 100, "candidates": 0, "disagreement": 0.1}, "candidates is 0"),
        ({"rows": 10**7, "candidates": 5, "disagreement": 0.1}, "rows is 10000000"),
        ({"rows": 100, "candidates": 5, "disagreement": 0.0}, "disagreement is 0.0"),
        ({"rows": 100, "candidates": 5, "disagreement": 1.5}, "disagreement is 1.5"),
        (
            {"rows": 9, "candidates": 5, "disagreement": 0.1, "described_share": 1.0},
            "leaves gates nothing",
        ),
        (
            {"rows": 9, "candidates": 5, "disagreement": 0.1, "questions": 5},
            "different plans",
        ),
        (
            {"rows": 9, "candidates": 5, "disagreement": 0.1, "sampling": holdfast.m_dependent(2)},
            "independent rows",
        ),
    ],
)
def test_bad_requests_get_one_sentence(request_: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        holdfast.plan(**request_)


def test_a_plan_says_which_test_it_is_for() -> None:
    said = str(holdfast.plan(rows=1_000, candidates=100, disagreement=0.05))
    assert "independent rows that are alike, by the sign test" in said
