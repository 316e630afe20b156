"""The search for a quantile: never more thresholds than announced, and what a guess claims."""

from __future__ import annotations

import itertools
import math

import pytest

from holdfast.question import ColumnType, Schema
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Estimate
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.table import Table
from holdfast.theory.base.intervals import Interval

AT = Table(Schema({"x": ColumnType.FLOAT, "k": ColumnType.INTEGER}))
BELOW, INSIDE, ABOVE = Interval(0.0, 0.4), Interval(0.4, 0.6), Interval(0.6, 1.0)


def made(cells: int) -> Quantile:
    found = bind(f"quantile(clip(x, 0, {cells}), 0.5, 1)", AT)
    assert isinstance(found, Quantile)
    assert found.cells == cells
    return found


def asked(quantile: Quantile, first: float, last: float) -> dict[float, Interval]:
    """What a search asks if F is below the level before `first` and not below it from `last` on."""
    answers: dict[float, Interval] = {}
    search = quantile.search()
    try:
        v = next(search)
        while True:
            assert v not in answers
            answers[v] = BELOW if v < first else ABOVE if v >= last else INSIDE
            v = search.send(answers[v])
    except StopIteration:
        return answers


@pytest.mark.parametrize("cells", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 33])
def test_no_search_is_longer_than_announced_and_some_is_as_long(cells: int) -> None:
    quantile = made(cells)
    lengths = []
    for first, last in itertools.combinations_with_replacement(range(cells + 1), 2):
        answers = asked(quantile, first, last)
        lengths.append(len(answers))
        shares = {v: Estimate(0.5, interval) for v, interval in answers.items()}
        found = quantile.join(shares).interval
        # Both ends are found to the step: the last threshold below, the first one not below.
        assert found == (max(0, first - 1), last)
    assert max(lengths) == quantile.most_questions({})
    assert quantile.most_questions({}) <= cells


def test_what_is_known_is_not_asked_again() -> None:
    quantile = made(20)
    answers = asked(quantile, 5, 9)
    assert quantile.most_questions(answers) == 0
    assert quantile.most_questions({}) >= len(answers)
    (first, *_) = answers
    assert quantile.most_questions({first: answers[first]}) == quantile.most_questions({}) - 1
    assert quantile.most_questions({3.0: BELOW}) == quantile.most_questions({})


@pytest.mark.parametrize("question", ["quantile(clip(x, -2.5, 7), 0.1)", "median(clip(k, 0, 9))"])
def test_thresholds_are_recognised_by_their_text(question: str) -> None:
    quantile = bind(question, AT)
    assert isinstance(quantile, Quantile)
    for cell in (0, 1, quantile.cells // 2, quantile.cells):
        v = quantile.place(cell)
        assert quantile.threshold_of(quantile.threshold(v).text) == v
    some = quantile.threshold(1.0).text
    for end in ("x", "nan", "inf", "3 and x <= 3", "3.0", "1e0"):  # "nan" may be a column
        assert quantile.threshold_of(some.replace("<= 1)", f"<= {end})")) is None
    assert quantile.threshold_of("avg(k)") is None


def test_the_claims_of_a_guess() -> None:
    quantile = made(20)
    low, high = quantile.claims(10.0, 2.0).items()
    # Strictly: F(8) = 1/2 would put the median at 8 or below.
    assert low == (8.0, (0.0, math.nextafter(0.5, 0.0)))
    assert high == (12.0, (0.5, 1.0))
    assert list(quantile.claims(1.0, 2.0)) == [3.0]  # nothing is below the range
    assert list(quantile.claims(19.0, 2.0)) == [17.0]
    assert list(quantile.claims(2.0, 2.0)) == [0.0, 4.0]


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("median(clip(x, 0, 20))", 0.02),
        ("median(clip(k, 0, 20))", 1.0),
        ("median(clip(k + 0, 0, 20))", 0.02),
        ("median(clip(x, 0, 20), 5)", 5.0),
    ],
)
def test_steps(question: str, step: float) -> None:
    quantile = bind(question, AT)
    assert isinstance(quantile, Quantile)
    assert quantile.step == step
    assert quantile.place(0) == 0.0
    assert quantile.place(quantile.cells) == 20.0
