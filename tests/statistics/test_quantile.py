"""The search for a quantile: which way is the longest, and what a guess claims."""

from __future__ import annotations

import itertools
import math

import pytest

from holdfast.errors import BudgetExhausted
from holdfast.question import ColumnType, Schema
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Estimate, Joined
from holdfast.statistics.entry import Table
from holdfast.statistics.quantile import Quantile
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
def test_no_search_is_longer_than_one_that_decides_nothing(cells: int) -> None:
    quantile = made(cells)
    lengths = []
    for first, last in itertools.combinations_with_replacement(range(cells + 1), 2):
        answers = asked(quantile, first, last)
        lengths.append(len(answers))
        shares = {v: Estimate(0.5, interval) for v, interval in answers.items()}
        found = quantile.join(shares).interval
        # Both ends are found to the step: the last threshold below, the first one not below.
        assert found == (max(0, first - 1), last)
    undecided = asked(quantile, 0, cells)
    assert set(undecided.values()) == {INSIDE}
    assert max(lengths) == len(undecided) <= cells


def test_a_play_looks_for_what_a_guess_does_not_tell() -> None:
    quantile = made(20)
    play = quantile.play(10.0, 0.1)
    claims = next(play)
    assert [part.claim for part in claims] == [(0.0, math.nextafter(0.5, 0.0)), (0.5, 1.0)]
    with pytest.raises(StopIteration) as confirmed:
        play.send([Estimate(0.2, BELOW), Estimate(0.8, ABOVE)])
    assert confirmed.value.value == Joined(10.0, Interval(8.0, 12.0))
    play = quantile.play(10.0, 0.1)
    next(play)
    (first,) = play.send([Estimate(0.5, INSIDE), Estimate(0.8, ABOVE)])
    assert (first.guess, first.claim) == (None, None)


def test_a_refusal_on_the_way_leaves_what_was_found() -> None:
    play = made(20).play(None, 0.1)
    next(play)
    with pytest.raises(BudgetExhausted):
        play.throw(BudgetExhausted("nothing was found yet"))
    play = made(20).play(None, 0.1)
    next(play)
    play.send([Estimate(0.2, BELOW)])
    with pytest.raises(StopIteration) as ended:
        play.throw(BudgetExhausted("nothing is left"))
    assert ended.value.value.interval == (9.0, 20.0)


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
