"""Randomised trials: exact enumeration over tables of what rows would show in either arm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom, hypergeom

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.trials import (
    Stratum,
    coin_bets_interval,
    coin_effect_interval,
    coin_trial_interval,
    pair_differences,
    shuffled_effect_interval,
    shuffled_effect_lower,
)
from tests.theory.direct.worlds import shrunk

LAWS = ("coin_bets_interval", "coin_effect_interval", "shuffled_effect_lower")

LEVELS = [0.05, 1e-3, 1e-6]


@cache
def _ends(N: int, p: float) -> tuple[Interval, ...]:
    """The interval of each S: it depends on S and N alone."""
    return tuple(coin_effect_interval(N, S, 0, 0, math.log(p)) for S in range(N + 1))


def _missed(ends: Sequence[Interval], chances: Sequence[float], truth: float) -> float:
    return math.fsum(w for end, w in zip(ends, chances, strict=True) if truth not in end)


@pytest.mark.parametrize("p", LEVELS)
@pytest.mark.parametrize("N", [2, 7, 20, 40])
def test_coins_miss_rarely_whatever_the_rows_would_show(N: int, p: float) -> None:
    """Rows helped add 1 to S, rows harmed 0, all others a coin: every table of 0/1 outcomes."""
    ends, counts = _ends(N, p), np.arange(N + 1)
    sabotaged = [shrunk(end, 2 * S / N - 1, 0.8) for S, end in enumerate(ends)]
    worst, twin = 0.0, 0.0
    for helped in range(N + 1):
        for harmed in range(N + 1 - helped):
            chances = binom.pmf(counts - helped, N - helped - harmed, 0.5)
            truth = (helped - harmed) / N
            worst = max(worst, _missed(ends, chances, truth))
            twin = max(twin, _missed(sabotaged, chances, truth))
    assert worst <= p
    if N >= 20:
        assert twin > p


def test_coins_declared_where_pairs_were_shuffled_are_false() -> None:
    """One row of each pair shows 1, the other 0, in either arm: a pair adds 2 or nothing to S."""
    N, p = 40, 1e-3
    chances = np.zeros(N + 1)
    chances[::2] = binom.pmf(np.arange(N // 2 + 1), N // 2, 0.5)
    assert _missed(_ends(N, p), chances.tolist(), 0.0) > 10 * p


# One stratum in which 60 of 120 rows show 1 in either arm, and the others 0: no effect, and the
# ones in arm 1 are hypergeometric.
ARM = 60


def _shuffled_chances() -> tuple[range, list[float]]:
    likely = range(8, 53)
    return likely, [float(hypergeom.pmf(i, 2 * ARM, ARM, ARM)) for i in likely]


@pytest.mark.parametrize(("p", "factor"), [(0.05, 0.5), (1e-3, 0.6), (1e-6, 0.7)])
def test_shuffled_arms_miss_rarely(p: float, factor: float) -> None:
    likely, chances = _shuffled_chances()
    strata = [[Stratum.of((ARM - i, i), (i, ARM - i))] for i in likely]
    ends = [shuffled_effect_interval(each, each, math.log(p)) for each in strata]
    assert _missed(ends, chances, 0.0) <= p
    seen = [(2 * i - ARM) / ARM for i in likely]
    twins = [shrunk(end, value, factor) for end, value in zip(ends, seen, strict=True)]
    assert _missed(twins, chances, 0.0) > p


Table = list[tuple[int, int]]  # what each row shows in arm 1 and in arm 2
Capital = Callable[[list[int], list[int]], float]


def _mean_over_draws(table: Table, arm: int, capital: Capital) -> float:
    """The mean of capital over all ways to draw so many rows for arm 1."""
    rows = range(len(table))
    found = [
        capital([table[r][0] for r in drawn], [table[r][1] for r in rows if r not in drawn])
        for drawn in combinations(rows, arm)
    ]
    return math.fsum(found) / len(found)


def _tables(rows: int, count: int) -> list[Table]:
    rng = np.random.default_rng(4)
    drawn = rng.integers(0, 2, (count, rows, 2)).tolist()
    same = [[(1, 1)] * ones + [(0, 0)] * (rows - ones) for ones in range(1, rows)]
    return same + [[(a, b) for a, b in table] for table in drawn]


@pytest.mark.parametrize("arm", [3, 2, 1])
@pytest.mark.parametrize("stake", [0.2, 0.7])
def test_capital_has_a_mean_of_one_at_most(arm: int, stake: float) -> None:
    """6 rows, 3 in each arm or fewer in one: over all draws, for tables of potential outcomes."""
    for table in _tables(6, 12):
        truth = math.fsum(a - b for a, b in table) / len(table)
        stratum = Stratum.of((arm, 0), (6 - arm, 0))
        penalty = stake**2 * stratum.pairs * stratum.unused / 4
        if stake * (1 + truth) >= 1:
            continue

        def capital(
            x: list[int], y: list[int], delta: float = truth, less: float = penalty
        ) -> float:
            drawn = Stratum.of((len(x) - sum(x), sum(x)), (len(y) - sum(y), sum(y)))
            places, weights = pair_differences([drawn])
            factors = 1 + stake * (2 * places - 1 - delta)
            return math.exp(float(np.log(factors) @ weights) - less)

        assert _mean_over_draws(table, arm, capital) <= 1 + 1e-12


def test_a_product_over_rows_is_false_for_shuffled_arms() -> None:
    """The bet for arms taken as fixed (12.4, 13.5a): its mean is above 1 by far."""

    def worst(table: Table, k: float) -> float:
        theta1, theta2 = (math.fsum(side) / len(table) for side in zip(*table, strict=True))

        def product(x: list[int], y: list[int]) -> float:
            gains = math.prod(1 + k * (value - theta1) for value in x)
            return gains * math.prod(1 - k * (value - theta2) for value in y)

        return _mean_over_draws(table, len(table) // 2, product)

    assert max(worst(table, k) for table in _tables(6, 0) for k in (0.5, 1.0, 1.5)) > 1.2


def test_the_trial_of_24_sites() -> None:
    """24 x 100 patients, rates .36 and .25, 5 bits of .02: .070 by coins and .083 shuffled."""
    log_p = math.log(0.02) - 5 * math.log(2)
    sites = [
        Stratum.of((32, 18), (37.0 if s % 2 else 38.0, 13.0 if s % 2 else 12.0)) for s in range(24)
    ]
    i, j = 24 * 18, 12 * 25
    half = [
        np.ptp(interval) / 2
        for interval in (
            coin_effect_interval(1200, i, 1200, j, log_p),
            shuffled_effect_interval(sites, sites, log_p),
        )
    ]
    assert half == pytest.approx([0.070, 0.083], abs=1.5e-3)
    both = coin_trial_interval(1200, i, 1200, j, log_p)
    assert np.ptp(both) / 2 < 0.078
    # At a low rate the shuffled form carries the pair.
    rare = coin_trial_interval(1200, 80, 1200, 60, log_p)
    assert np.ptp(rare) < 0.8 * np.ptp(coin_effect_interval(1200, 80, 1200, 60, log_p))


@pytest.mark.parametrize(("probability", "centre"), [(0.5, 0.5), (0.3, 0.2), (0.3, 0.8)])
def test_coins_of_any_chance_miss_rarely(probability: float, centre: float) -> None:
    """60 rows that show .4 in either arm: all chance is in how many fell into arm 1."""
    p = 1e-3
    n, shown = 60, 0.4
    counts = range(n + 1)
    ends = [
        coin_bets_interval(
            ([shown], [shown], [a]), ([shown], [shown], [n - a]), math.log(p), probability, centre
        )
        for a in counts
    ]
    chances = [float(binom.pmf(a, n, probability)) for a in counts]
    assert _missed(ends, chances, 0.0) <= p
    moved = (shown - centre) / (probability * (1 - probability))
    seen = [moved * (a / n - probability) for a in counts]
    twins = [shrunk(end, value, 0.4) for end, value in zip(ends, seen, strict=True)]
    assert _missed(twins, chances, 0.0) > p


arms = st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))


@given(strata=st.lists(st.tuples(arms, arms), min_size=1, max_size=4), log_p=st.floats(-20, -0.5))
@settings(max_examples=25, deadline=None)
def test_intervals_hold_the_sample_exchange_and_widen(
    strata: list[tuple[tuple[int, ...], tuple[int, ...]]], log_p: float
) -> None:
    each = [Stratum.of(first, second) for first, second in strata]
    low, high = shuffled_effect_interval(each, each, log_p)
    assert -1.0 <= low <= high <= 1.0
    if any(stratum.pairs for stratum in each):
        places, weights = pair_differences(each)
        seen = float(np.average(2 * places - 1, weights=weights))
        assert low - 1e-9 <= seen <= high + 1e-9
    exchanged = [Stratum.of(second, first) for first, second in strata]
    assert shuffled_effect_interval(exchanged, exchanged, log_p) == (-high, -low)
    mirrored = [Stratum.of(first[::-1], second[::-1]) for first, second in strata]
    opposite = shuffled_effect_interval(mirrored, mirrored, log_p)
    assert opposite == pytest.approx((-high, -low), abs=1e-6)
    wider = shuffled_effect_interval(each, each, log_p - 1.0)
    assert wider.low <= low + 1e-9
    assert wider.high >= high - 1e-9


def test_values_between_grid_points_are_counted_on_both_sides() -> None:
    low = [Stratum.of((5, 9, 6), (9, 8, 3))]
    high = [Stratum.of((3, 9, 8), (7, 8, 5))]
    outer = shuffled_effect_interval(low, high, -3.0)
    for inner in (low, high):
        found = shuffled_effect_interval(inner, inner, -3.0)
        assert outer.low < found.low < found.high < outer.high


def test_what_is_given_is_checked() -> None:
    assert coin_effect_interval(0, 0, 0, 0, -3.0) == Interval(-1.0, 1.0)
    assert shuffled_effect_lower([Stratum.of((3, 1), (0, 0))], -3.0) == -1.0
    with pytest.raises(InvalidArgument, match="count the rows of both arms"):
        Stratum.of((3, 1), (1, 2, 3))
    with pytest.raises(InvalidArgument, match="count all at the same"):
        shuffled_effect_lower([Stratum.of((3, 1), (2, 2)), Stratum.of((1, 1, 1), (1, 1, 1))], -3.0)
    with pytest.raises(InvalidArgument, match="j is"):
        coin_effect_interval(5, 3, 5, 6, -3.0)
    with pytest.raises(InvalidArgument, match="probability"):
        coin_bets_interval(([0.5], [0.5], None), ([0.5], [0.5], None), -3.0, 1.0)
