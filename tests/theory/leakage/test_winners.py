"""Searches that tell only the winner: weights that sum to 1, and exact worlds with every search.

In a world each of n rows is one of four, all equally likely, and every 0/1 function of a row is a
member that can be searched. Two or three of them are; the symbol is told with its interval; then
comes the best gate that may depend on it, false on as many samples as its level allows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import clopper_pearson
from holdfast.theory.leakage.winners import (
    Cells,
    Cv,
    cell_log_weight,
    cells_of,
    cv_ranks,
    order_log_charge,
    rank_weight,
    winner_claim,
    winner_interval,
)

LAWS = ("cell_log_weight", "order_log_charge", "winner_interval")


@pytest.mark.parametrize("members", [1, 2, 16, 300])
def test_the_weights_of_all_ranks_sum_to_one(members: int) -> None:
    assert sum(rank_weight(rank, members) for rank in range(1, members + 1)) == 1


def test_ranks_break_ties_by_the_declared_order() -> None:
    assert cv_ranks([0.8, 0.9, 0.8, 0.9]) == [3, 1, 4, 2]


@given(st.integers(1, 400), st.none() | st.builds(Cv, st.floats(0, 1), st.integers(1, 2000)))
def test_the_cells_of_a_member_are_a_partition_whose_weights_sum_to_one(
    n: int, cv: Cv | None
) -> None:
    cells = cells_of(n, cv)
    ends = [cells.around(count) for count in range(0, n + 1, cells.pitch)]
    assert len(ends) == cells.many
    assert [count for low, high in ends for count in range(low, high + 1)] == list(range(n + 1))
    total = math.fsum(math.exp(cell_log_weight(n, *each, cells.many, cv)) for each in ends)
    assert 1 - 1e-9 < total <= 1.0


@given(st.lists(st.integers(1, 20), min_size=2, max_size=4), st.integers(1, 3))
def test_the_weights_of_all_orders_sum_to_one(raw: list[int], first: int) -> None:
    prior = [Fraction(each, sum(raw)) for each in raw]
    orders = permutations(range(len(prior)), min(first, len(prior)))
    total = math.fsum(math.exp(-order_log_charge(prior, order)) for order in orders)
    assert total == pytest.approx(1.0, abs=1e-12)
    assert total <= 1.0


def test_what_is_no_order_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="names a member twice"):
        order_log_charge([0.5, 0.5], [0, 0])
    with pytest.raises(InvalidArgument, match=r"sum to 1\.2"):
        order_log_charge([0.6, 0.6], [0])


@pytest.mark.parametrize("n", [1, 7, 30])
@pytest.mark.parametrize("log_p", [math.log(0.2), -5.0, -30.0])
def test_the_interval_of_a_single_count_is_clopper_and_pearsons(n: int, log_p: float) -> None:
    for count in range(n + 1):
        ends = winner_interval(n, count, count, log_p)
        assert ends == pytest.approx(clopper_pearson(n, count, log_p + math.log(2)), abs=1e-12)
        wider = winner_interval(n, max(0, count - 1), min(n, count + 1), log_p)
        assert wider.low <= ends.low
        assert wider.high >= ends.high


def test_two_searches_of_six_hundred_rows() -> None:
    """The second is no 1.4 times as wide as Bonferroni over all twenty configurations so far."""
    log_beta, cv = math.log(0.05), Cv(0.976, 1200)
    first = winner_claim(600, 590, rank_weight(2, 16), cv, log_beta, 0.0)
    assert (first.low, first.high) == (588, 591)
    assert first.interval == pytest.approx((0.9568790554640755, 0.9955893131171989), rel=1e-6)
    assert first.nats == pytest.approx(3.4, abs=0.05)
    second = winner_claim(600, 590, rank_weight(1, 4), cv, log_beta, first.nats)
    bonferroni = clopper_pearson(600, 590, log_beta - math.log(20))
    width = (second.interval.high - second.interval.low) / (bonferroni.high - bonferroni.low)
    assert 1.0 < width <= 1.4
    late = winner_claim(600, 590, Fraction(1), cv, log_beta, first.nats)  # told without a choice
    assert late.nats < second.nats


# --- Exact worlds --------------------------------------------------------------------------------

Weight = Callable[[int, int], Fraction]  # of a member's place and of a cell


@functools.cache
def counted(n: int) -> NDArray[np.int64]:
    """How often each of the 16 functions is 1, in each of the 4^n samples."""
    table = np.array(list(product((0, 1), repeat=4)))
    samples = np.array(list(product(range(4), repeat=n)))
    return np.asarray(table[:, samples].sum(axis=2), dtype=np.int64)


THETA = [Fraction(sum(each), 4) for each in product((0, 1), repeat=4)]


def failures(n: int, beta: Fraction, pitch: int, search: Sequence[int], weight: Weight) -> Fraction:
    """P[the interval is false, or the best gate after it]: charged by these weights."""
    counts, cells = counted(n)[list(search)], Cells(n, pitch)
    best, samples = counts.argmax(axis=0), counts.shape[1]  # the first of the best
    failing = 0
    for place, member in enumerate(search):
        mine = counts[place][best == place]
        for cell in range(cells.many):
            low, high = cells.around(cell * pitch)
            told = int(((mine >= low) & (mine <= high)).sum())
            if not told:
                continue
            level = beta * weight(place, cell)
            interval = winner_interval(n, low, high, math.log(level))
            false = not interval.low <= THETA[member] <= interval.high
            failing += told if false else min(told, math.floor(samples * level))
    return Fraction(failing, samples)


def worst(n: int, beta: Fraction, pitch: int, members: int, weight: Weight) -> Fraction:
    return max(
        failures(n, beta, pitch, search, weight) for search in combinations(range(1, 15), members)
    )


def charged(n: int, pitch: int, members: int) -> Weight:
    many = Cells(n, pitch).many
    return lambda place, _cell: rank_weight(place + 1, members) / many


@pytest.mark.parametrize("pitch", [1, 2])
@pytest.mark.parametrize("beta", [Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)])
def test_no_search_and_no_gate_after_it_fails_more_often_than_beta(
    beta: Fraction, pitch: int
) -> None:
    assert 0 < worst(4, beta, pitch, 2, charged(4, pitch, 2)) <= beta
    assert 0 < failures(5, beta, pitch, (3, 5, 9), charged(5, pitch, 3)) <= beta


@pytest.mark.parametrize("beta", [Fraction(1, 4), Fraction(1, 2)])
def test_sabotage_the_winner_is_not_charged(beta: Fraction) -> None:
    many = Cells(4, 2).many
    assert worst(4, beta, 2, 3, charged(4, 2, 3)) <= beta
    assert worst(4, beta, 2, 3, lambda _place, _cell: Fraction(1, many)) > beta


def test_sabotage_nothing_is_charged() -> None:
    assert worst(4, Fraction(1, 2), 2, 2, lambda _place, _cell: Fraction(1)) > Fraction(1, 2)
