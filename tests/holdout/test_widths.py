"""A half-width in the unit of the answer, beside one that is a part of the range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import InvalidArgument, Refused, ToleranceTooTight
from holdfast.holdout.holdout import Holdout
from tests.holdout.tables import BOUNDS, LATE, opened, table, untouchable, watch

ROWS = 4_000


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path, table(ROWS), schema=BOUNDS, tolerance=0.2, described="off") as holdout:
        yield holdout


@pytest.fixture
def exact(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path, table(ROWS), schema=BOUNDS, tolerance=0.2, described="exact") as holdout:
        yield holdout


def test_it_is_the_same_as_its_part_of_the_range(plain: Holdout) -> None:
    asked = plain.ask("avg(x)", half_width=24)
    assert asked.half_width <= 24 * (1 + 1e-9)
    assert asked.half_width == pytest.approx(0.1 * 240)
    checked = plain.check("avg(late)", guess=0.25, half_width=0.15)
    assert checked.status == "confirmed"
    assert checked.half_width == pytest.approx(0.15)
    several = plain.ask_many(["avg(x) where late", "avg(x > 9)"], tolerance=0.2)
    assert len(several) == 2
    many = plain.ask_many(["avg(x > 1)", "avg(x > 2)"], half_width=0.15)
    assert [each.half_width for each in many] == pytest.approx([0.15, 0.15])
    both = plain.check_many(["avg(x > 3)", "avg(x > 4)"], [0.6, 0.6], half_width=0.18)
    assert [each.half_width for each in both] == pytest.approx([0.18, 0.18])
    assert [each.tolerance for each in plain.ledger.looks][:2] == pytest.approx([0.1, 0.15])


SUMS = [
    ("sum(x, 1000)", 0.1 * 240_000),
    ("count(late, 1000)", 120),
    ("difference(late, x > 20)", 0.3),
    ("difference(avg(x) where late, avg(x) where not late)", 60),
    ("difference(avg(x > 10) where late, avg(x) where not late)", 31),
    ("balanced_accuracy(x > 20, late)", 0.16),
]


@pytest.mark.parametrize(("question", "half_width"), SUMS)
@pytest.mark.parametrize("guessed", [False, True])
def test_what_adds_up_has_the_half_width_that_was_named(
    tmp_path: Path, question: str, half_width: float, guessed: bool
) -> None:
    """Means of groups, too, where the number of their rows is public."""
    declared: dict[str, Any] = {"schema": BOUNDS, "tolerance": 0.3, "design": ["late"]}
    with opened(tmp_path, table(ROWS), described="off", **declared) as holdout:
        cost = holdout.cost(question, half_width=half_width)
        if guessed:
            answer = holdout.check(question, table(ROWS, seed=2), half_width=half_width)
        else:
            answer = holdout.ask(question, half_width=half_width)
        assert 0.0 < answer.half_width <= half_width * (1 + 1e-9)
        if "(late, x > 20)" not in question:  # a share that was asked first may narrow that one
            assert answer.half_width == pytest.approx(half_width, rel=1e-6)
        assert answer.cost <= cost.most


def test_a_cost_says_both(plain: Holdout) -> None:
    cost = plain.cost("avg(x)", half_width=24)
    assert (cost.tolerance, cost.half_width) == pytest.approx((0.1, 24))
    assert "half-width 0.1 of the range = 24; takes about " in str(cost)
    share = plain.cost(LATE)
    assert "half-width 0.2; takes about " in str(share)
    assert f" of {plain.budget.questions_left} left" in str(share)
    assert "+-20 % of each column's range = 48 of x" in repr(plain)


@pytest.mark.parametrize(
    ("put", "words"),
    [
        (lambda h: h.ask("avg(x)", half_width=24, tolerance=0.1), "give one of them"),
        (lambda h: h.cost("avg(x)", half_width=24, tolerance=0.1), "give one of them"),
        (lambda h: h.check("avg(x)", guess=20, half_width=3, tolerance=0.1), "give one of them"),
        (lambda h: h.ask("avg(x)", half_width=0), "half_width is 0; it must be"),
        (lambda h: h.ask("avg(x)", half_width=True), "half_width is True"),
        (lambda h: h.ask("avg(x)", half_width=120), "must be below 120"),
        (lambda h: h.ask("median(x)", half_width=5), "depends on what its parts come to"),
        (lambda h: h.ask("avg(x) where late", half_width=9), "depends on what its parts come to"),
        (lambda h: h.ask("std(x)", half_width=9), "depends on what its parts come to"),
        (lambda h: h.ask("sum(x, 100)", half_width=12_000), "must be below 12000"),
        (lambda h: h.ask_many(["avg(x)", LATE], half_width=0.2), "2 different ranges"),
    ],
)
def test_what_is_no_half_width_is_refused(
    plain: Holdout, put: Callable[[Holdout], Any], words: str
) -> None:
    watch(plain, untouchable)
    with pytest.raises(InvalidArgument, match=words):
        put(plain)
    assert plain.budget.asked == 0


def test_with_one_a_described_question_goes_to_the_ledger(exact: Holdout) -> None:
    answer = exact.ask("avg(x)", half_width=40)
    assert answer.bits is None
    assert answer.half_width == pytest.approx(40)
    described = exact.ask("avg(x > 30)")
    assert described.bits is not None
    assert described.half_width < 0.2  # its own, whatever the holdout's is


@pytest.mark.parametrize("width", [{"half_width": 0.5}, {"tolerance": 0.002}])
def test_if_the_ledger_does_not_reach_it_the_described_width_is_named(
    exact: Holdout, width: dict[str, float]
) -> None:
    watch(exact, untouchable)
    sure = exact.cost("avg(x)").half_width
    with pytest.raises(
        ToleranceTooTight, match=rf"Without a half-width .* own of at most {sure:.4g}\.$"
    ):
        exact.ask("avg(x)", **width)  # type: ignore[call-overload]
    assert exact.budget.asked == exact.budget.account.described == 0


def test_a_refusal_of_what_has_no_description_is_as_it_was(plain: Holdout) -> None:
    with pytest.raises(Refused) as refused:
        plain.ask(LATE, tolerance=0.001)
    assert "description" not in str(refused.value)


def test_a_narrower_described_answer_is_there_already(exact: Holdout) -> None:
    first = exact.ask(LATE)
    again = exact.ask(LATE, half_width=0.1)
    assert (again.status, again.number, again.cost) == ("repeated", first.number, 0.0)
