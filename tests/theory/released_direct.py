"""Calls of the record of released numbers, of the rooms `base` and `direct`.

What no theorem's golden row reaches: both ends of intervals, tables that are read from rows,
searches, texts of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.theory.base import bets, gamma, implied, intervals, safeside, special, unbounded
from holdfast.theory.base.concentration import Bernstein, BoundedMean, SubExponential, SubGaussian
from holdfast.theory.base.dependence import (
    ClusteredDifferences,
    ClusteredRows,
    PooledUnits,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct import (
    auc,
    bounded_mean,
    correlation,
    difference,
    losses,
    paired,
    spread,
    symbols,
    trials,
    unit_sums,
)
from holdfast.theory.leakage import (
    gates,
)

LEVELS = (-0.5, -3.0, -12.0, -40.0)
TAILS = (-1e-9, -0.7, -3.0, -27.6, -700.0)


def spread_out(n: int, step: int, shift: int = 0) -> list[float]:
    """n values in [0, 1] in no order, without a generator of random numbers."""
    return [((row * step + shift) % n) / (n - 1) for row in range(n)]


X, Y, Z = spread_out(97, 31), spread_out(97, 59, 7), [round(v, 1) for v in spread_out(97, 13, 3)]
MIXED = [0.5 * x + 0.5 * y for x, y in zip(X, Y, strict=True)]
COARSE = [round(4 * x) / 4 for x in MIXED]
FEW, TIMES = [0.0, 0.25, 0.5, 0.75, 1.0], [3, 40, 500, 60, 2]
SKEWED = [50, 5, 1, 0, 2]


Calls = Iterator[tuple[Callable[..., Any], tuple[tuple[Any, ...], dict[str, Any]]]]


def call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return function, (arguments, named)


def _bets() -> Calls:
    for values, times in ((FEW, TIMES), (FEW, SKEWED), (FEW, SKEWED[::-1]), (X, None), (Z, None)):
        x = np.asarray(values, dtype=float)
        counts = np.ones(x.size) if times is None else np.asarray(times, dtype=float)
        kept = counts > 0
        for root in (1, 2):
            tally = bets.Tally.of_values(x[kept], counts[kept], root=root)
            merged = bets.Tally.of_values(
                np.linspace(0.1, 0.9, 3000), np.ones(3000), root=root
            ).merged
            yield call(merged)
            for level in LEVELS:
                yield call(bets.even_odds_log_p, tally, level)
                yield call(bets.lower_odds, tally, level)
                yield call(bounded_mean.above_half_log_p, values, level, times)
    many = bets.Tally.of_values(np.linspace(0.0, 1.0, 5000), np.ones(5000))
    yield call(bets.lower_odds, many, -12.0)
    yield call(bets.even_odds_log_p, many, -12.0)
    units = bets.Tally(
        np.array([0.0, 1.0, 3.0]), np.array([2.0, 1.0, 0.0]), np.array([9, 20, 30.0]), 80, 2.0
    )
    yield call(bets.lower_odds, units, -3.0)
    yield call(bets.log_bets, units, (0.1, 0.7), (0.4, 0.6), 1.3)
    yield call(bets.log_bets, units, (0.1, 1.0), (0.4, 0.6), 2.0)
    yield call(bets.fixed_lower_odds, units, (0.05, 0.2), (0.4, 0.6), -2.0)
    for wrong in ([-1.0] * 5, [0.5] * 5, [1.0] * 4):
        yield call(bets.counted, wrong, np.asarray(FEW))
    yield call(bets.counted, [1, 0, 2, 0, 1], np.asarray(FEW))
    for gains, losses_, sizes in (
        ([1.0], [0.5, 0.5], 1),
        ([-1.0], [0.5], 1),
        ([1.0], [2.0], 1),
        ([1.0], [0.5], 0),
        ([1.0], [-0.5], 1),
    ):
        yield call(bets.Tally, np.array(gains), np.array(losses_), np.ones(1), sizes)


def _tails() -> Calls:
    bernstein = Bernstein(1000, 0.01)
    yield call(bernstein.log_tail, 0.0)
    yield call(bernstein.log_tail, 1e-12)
    for sizes in ((1, 2, 3, 4), (7,) * 30, (1,) * 100):
        yield call(ClusteredRows.of_sizes, sizes)
        yield call(ClusteredDifferences.of_sizes, sizes, 0.3)
    pooled = PooledUnits(900, 300, 4, 0.5, 0.2)
    yield call(lambda: (pooled.log_weight, pooled.possible_rows))
    for rows, units in ((900, 300), (300, 300), (1200, 300), (299, 300), (1201, 300)):
        yield call(PooledUnits, rows, units, 4)
        yield call(PooledUnits, rows, units, 4, 0.5, 0.2)
    profiles: tuple[Any, ...] = (
        SubGaussian(1.3),
        SubExponential(1.0, 0.5),
        gamma.SubWeibull(0.7, 1.4),
        gamma.PolynomialTail(4.0, 0.2),
        gamma.MedianOfMeans(1100, 11, 4.0),
        gamma.CatoniMean(1000, 1.0, 0.05),
        gamma.TailTable(((0.0, 0.0), (0.1, -2.0), (0.4, -9.0))),
        BoundedMean(100),
    )
    for profile in profiles:
        yield call(lambda profile=profile: gamma.gamma_text(profile))
        yield call(lambda profile=profile: gamma.gamma_from_text(gamma.gamma_text(profile)))
        for log_p in TAILS:
            yield call(profile.radius, log_p)
        for radius in (0.0, 1e-12, 0.1, 1.0, 6.0):
            yield call(profile.log_tail, radius)
    for points in (
        ((0.1, -2.0), (0.4, -9.0)),
        ((0.0, -2.0), (0.1, -1.0)),
        ((0.1, -2.0), (0.1, -3.0)),
        (),
        ((0.1, -2.0),) * 1001,
    ):
        yield call(gamma.TailTable, points)
    in_units = unbounded.InUnits(SubGaussian(0.1), 3.0)
    narrower = unbounded.Narrower(SubGaussian(0.3), BoundedMean(12))
    for profile in (in_units, narrower):
        for log_p in TAILS:
            yield call(profile.radius, log_p)
        for radius in (0.0, 0.1, 1.0, 6.0):
            yield call(profile.log_tail, radius)
    for value in (-1e-300, -1e-12, -0.1, -0.69, -0.7, -3.0, -40.0, -800.0):
        yield call(safeside.log1mexp, value)
    for fraction in (Fraction(1, 3), Fraction(2, 3), Fraction(0), Fraction(10**400, 3)):
        yield call(safeside.float_above, fraction)
        yield call(safeside.float_below, fraction)
    for name in ("gammaln", "ndtri_exp", "log_ndtr", "xlogy", "xlog1py", "betaln"):
        two = name in ("xlogy", "xlog1py", "betaln")
        for value in (0.3, 2.5, 40.0):
            where = -value if name == "ndtri_exp" else value
            yield call(
                lambda name=name, where=where, two=two: getattr(special, name)(
                    *((where, 0.4) if two else (where,))
                )
            )


def _intervals() -> Calls:
    shown = (
        Interval(0.1234567, 0.1834567),
        Interval(-1.0, 1.0),
        Interval(0.0, 1e-9),
        Interval(-123456.7, 3.5e7),
        Interval(0.5, 0.5),
        Interval(0.9999, 1.0),
        Interval(0.0, 0.0),
        Interval(1e-7, 2e-7),
        Interval(-0.005, 0.05),
    )
    for interval in shown:
        yield call(lambda each=interval: [repr(each), str(each), each.text(), each.ends()])
        yield call(lambda each=interval: [0.15 in each, each.low in each, "0.15" in each])
        for bounds in ((0.0, 1.0), (0.12, 0.18), (interval.low, interval.high)):
            yield call(lambda each=interval, bounds=bounds: [each.text(bounds), each.ends(bounds)])
            for value in (0.15, interval.low, interval.high, 0.0, 0.1834):
                yield call(
                    lambda each=interval, value=value, bounds=bounds: each.value_text(value, bounds)
                )
    for n, successes in ((100, 30), (100, 0), (100, 100), (5000, 17), (1, 1)):
        for level in (*LEVELS, -300.0):
            yield call(intervals.clopper_pearson_upper, n, successes, level)
            yield call(intervals.clopper_pearson, n, successes, level)
            exact = intervals.clopper_pearson(n, successes, level)
            for claim in (
                exact,
                Interval(exact.low - 1e-9, exact.high + 1e-9),
                Interval(exact.low + 1e-9, exact.high),
                Interval(exact.low, exact.high - 1e-9),
                Interval(-math.inf, exact.high),
                Interval(exact.low, math.inf),
                Interval(0.0, 1.0),
            ):
                yield call(intervals.clopper_pearson_within, n, successes, level, claim)
    for n in (1, 10, 10**5):
        for mean in (0.0, 1e-9, 0.3, 1.0):
            for level in LEVELS:
                yield call(intervals.kl_interval, n, mean, level)
    for n, successes, p in ((10, 3, 0.2), (10, -1, 0.2), (10, 10, 0.2), (10, 3, 0.0), (10, 3, 1.0)):
        yield call(intervals.log_binomial_cdf, n, successes, p)
    for n, successes, p in ((10**6, 10, 1e-3), (10**6, 1100, 1e-3), (60, 59, 0.01), (60, 0, 0.99)):
        yield call(intervals.log_binomial_cdf, n, successes, p)


def _implied() -> Calls:
    some = (Interval(-2.0, 3.0), Interval(1.0, 2.0), Interval(-3.0, -1.0), Interval(0.0, 0.0))
    for one in some:
        yield call(implied.square_implied, one)
        for other in some:
            yield call(implied.intersection_implied, (one, other))
            yield call(implied.verdict_implied, one, other)
            yield call(implied.open_sides, one, other)
            yield call(
                implied.whole_implied, [(Interval(0.2, 0.6), one), (Interval(0.4, 0.8), other)]
            )
    yield call(implied.intersection_implied, ())
    yield call(
        implied.whole_implied, [(Interval(0.2, 0.3), some[0]), (Interval(0.1, 0.2), some[1])]
    )
    chains: tuple[list[tuple[Any, Any, float]], ...] = (
        [("a", "b", 0.1), ("b", "c", 0.2), ("a", "c", 0.1), ("a", "b", 0.05)],
        [("a", "b", 0.1), ("b", "a", -0.2)],
        [("a", "b", 0.1), ("b", "a", 0.2)],
        [("a", "b", -0.1), ("b", "a", 0.1)],
        [("d", "a", 0.0), ("a", "b", 0.1), ("b", "c", 0.2), ("c", "e", 0.3)],
    )
    for chain in chains:

        def read(chain: list[tuple[Any, Any, float]] = chain) -> list[Any]:
            shown = implied.ShownGates.of(chain)
            pairs = [(a, b) for a in "abcde" for b in "abcde"]
            return [
                shown.contradict,
                str([shown.margin(*pair) for pair in pairs]),
                str([shown.shows(*pair, 0.25) for pair in pairs]),
            ]

        yield call(read)
    yield call(implied.ShownGates.of, [("a", "b", math.nan)])


def _means() -> Calls:
    for values, times in (
        (FEW, TIMES),
        (FEW, SKEWED),
        (FEW, SKEWED[::-1]),
        (X, None),
        ([0.0] * 9, None),
    ):
        for level in LEVELS:
            yield call(bounded_mean.bounded_mean_interval, values, level, times)
            yield call(spread.variance_by_bets, values, level, times)
            yield call(spread.enclosed_std_by_bets, values, values, level, times)
            yield call(losses.enclosed_moment_interval, values, values, 3.0, level, times)
            yield call(losses.positive_mean_lower, values, level, times)
    low, high = [max(0.0, x - 0.02) for x in X], [min(1.0, x + 0.02) for x in X]
    for level in LEVELS:
        yield call(spread.enclosed_variance_by_bets, low, high, level)
        yield call(spread.enclosed_std_by_bets, low, high, level)
        yield call(spread.covariance_by_bets, X, MIXED, level)
        yield call(spread.covariance_by_bets, FEW, FEW[::-1], level, TIMES)
        yield call(losses.loss_ratio_lower, X, Y, 1.0, level)
    yield call(losses.loss_ratio_lower, X, Y[1:], 1.0, -3.0)
    yield call(losses.loss_ratio_lower, [math.nan], [1.0], 1.0, -3.0)
    for kappa in (1.0, 3.0, 60.0):
        for mean in (0.0, 0.02, 0.5, 3.0):
            yield call(losses.moment_upper, mean, 50, kappa, -3.0)
    for q in (0.01, 0.3, 0.5, 0.99):
        for level in LEVELS:
            for alike in (True, False):
                yield call(intervals.quantile_ranks, 500, q, level, alike=alike)
                yield call(intervals.cdf_band_lower, 500, int(500 * q), level, alike=alike)
                yield call(
                    intervals.cdf_band_lower,
                    500,
                    int(500 * q),
                    level,
                    alike=alike,
                    beyond=0.01,
                )
                yield call(intervals.threshold_interval, 500, int(500 * q), level, alike=alike)


def _correlations() -> Calls:
    for x, y in (
        (X, MIXED),
        (X, Y),
        (X, X),
        (X, [1 - v for v in MIXED]),
        (Z, COARSE),
        ([0.5] * 40, X[:40]),
    ):
        for level in (-1.0, -5.0, -30.0):
            yield call(correlation.correlation_by_bets, x, y, level)
    for level in (-1.0, -5.0):
        yield call(
            correlation.correlation_by_bets,
            FEW,
            [0.1, 0.2, 0.6, 0.7, 1.0],
            level,
            [30, 400, 5000, 600, 20],
        )
        yield call(correlation.correlation_by_bets, FEW, FEW[::-1], level, [30, 400, 5000, 600, 20])
        yield call(correlation.correlation_by_bets, [], [], level)
    for n in (2, 3, 10, 100, 10**6):
        yield call(correlation.kendall_blocks, n)
    for x, y in ((X, MIXED), (Z, COARSE), (X, X), (Z, Z[::-1]), ([1.0, 1.0], [2.0, 3.0])):
        yield call(correlation.sum_of_signs, x, y)
        for B in (1, 2, 5, 7, 20, 48):
            yield call(correlation.block_concordance, x, y, B)
    yield call(
        correlation.kendall_block_interval, [correlation.block_concordance(X, MIXED, 20)], -3.0
    )
    for n in (1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 64):
        yield call(correlation.sum_of_signs, X[:n], Y[:n])


def _areas() -> Calls:
    few, many = np.asarray([Z[:40], Z[40:80]]), np.asarray([X[:48], X[48:96]])
    for n1, n0 in ((1, 1), (1, 50), (8, 8), (50, 7), (100, 300), (5000, 40_000)):
        yield call(auc.block_counts, n1, n0)
    for level in LEVELS:
        yield call(auc.auc_block_interval, few, level)
        yield call(auc.auc_interval, 0.52, 400, 600, few, many, level)
        yield call(auc.auc_interval, 0.52, 10**6, 10**6, few, many, level)
    yield call(auc.auc_block_interval, [0.5], -3.0)
    positives, negatives = np.asarray(MIXED[:60]), np.asarray(Z[:45])
    ranks = np.unique(np.concatenate([positives, negatives]), return_inverse=True)[1]
    for B in (1, 2, 7, 45):
        for most in (1, 40, 1 << 20):
            yield call(auc.rank_areas, ranks[:60], ranks[60:], B, most)
        orders = ([(7 * row) % 60 for row in range(60)], [(4 * row) % 45 for row in range(45)])
        yield call(auc.rank_areas, ranks[:60][orders[0]], ranks[60:][orders[1]], B)


def _counts() -> Calls:
    for n, b, c in (
        (1000, 40, 20),
        (1000, 0, 0),
        (300, 80, 5),
        (300, 5, 80),
        (50, 50, 0),
        (200_000, 900, 700),
    ):
        for level in LEVELS:
            for alike in (True, False):
                yield call(paired.paired_difference_interval, n, b, c, level, alike=alike)
                for claim in (
                    Interval(0.0, 1.0),
                    Interval(-1.0, 0.02),
                    Interval(-0.5, 0.5),
                    Interval(-0.001, math.inf),
                ):
                    yield call(paired.paired_difference_within, n, b, c, level, claim, alike=alike)
            yield call(paired.paired_score_interval, min(n, 50), b % 26, c % 26, level)
            yield call(
                paired.exact_paired_exceeds, min(n, 300), min(b, 80), min(c, 80), level, 0.02
            )
            yield call(gates.gate_shows, n, b, c, level)
            yield call(gates.gate_shows, n, b, c, level, margin=0.05)
            yield call(gates.gate_shows, n, b, c, level, margin=-0.05, alike=True)
            yield call(gates.gate_shows, n, b, c, level, margin=0.01, second_moment=0.2)
    for n in (100, 1000, 50_000):
        for level in LEVELS:
            yield call(paired.detectable_gain, n, 0.1, level)
            yield call(gates.gate_gain, n, 0.1, level)
            yield call(gates.gate_gain, n, 0.1, level, 0.5)
            for differing in (1, 7, 60, 100):
                yield call(paired.smallest_shown_difference, n, differing, level)
    for n1, i, n2, j in (
        (40, 20, 50, 10),
        (40, 0, 50, 0),
        (40, 40, 50, 0),
        (5, 1, 400, 300),
        (400, 200, 300, 100),
        (1, 1, 1, 0),
    ):
        for level in LEVELS:
            yield call(difference.share_difference_interval, n1, i, n2, j, level)
            yield call(trials.coin_effect_interval, n1, i, n2, j, level)
            yield call(trials.coin_trial_interval, n1, i, n2, j, level)
    low, high = [max(0.0, x - 0.02) for x in X], [min(1.0, x + 0.02) for x in X]
    for level in LEVELS:
        for exact in (
            ((X, X, None), (Z[:50],) * 2 + (None,)),
            ((FEW, FEW, TIMES), (FEW, FEW, SKEWED)),
        ):
            yield call(difference.enclosed_difference_interval, *exact, level)
        yield call(difference.design_difference_lower, X, Z[:50], (97, 50), level)
        for arms in (None, (97, 97)):
            yield call(
                difference.enclosed_difference_interval,
                (low, high, None),
                (high, high, None),
                level,
                arms,
            )
    for interval in (Interval(0.3, 0.6), Interval(-3.0, 3.0), Interval(0.4, 0.4)):
        for alpha in (0.01, 0.1, 0.3):
            yield call(symbols.step_symbol, 0.5, interval, alpha)
        for points in (3, 513):
            yield call(symbols.grid_symbol, 0.5, interval, Interval(-2.0, 2.0), points)
    yield call(symbols.grid_symbol, 0.0, Interval(0.0, 1.0), Interval(0.5, 0.5))
    for level in LEVELS:
        yield call(symbols.contained_levels, level)


def _units_and_trials() -> Calls:
    one = unit_sums.UnitSums.of([0.5 * s for s in (1, 2, 3, 0, 2) * 12], [1, 2, 3, 1, 2] * 12)
    other = unit_sums.UnitSums.of([0.4 * s for s in (2, 1, 3, 2, 0) * 12], [2, 1, 3, 2, 1] * 12)
    yield call(unit_sums.UnitSums.of, [0.5, 0.5], [1])
    for level in (*LEVELS, -0.01):
        for a, b in ((one, other), (other, one), (one, one)):
            for function in (
                unit_sums.unit_difference_lower,
                unit_sums.unit_difference_interval,
                unit_sums.within_units_lower,
                unit_sums.within_units_interval,
            ):
                yield call(function, a, b, 6, level)
        for units in (1, 10, 5000):
            yield call(unit_sums.unit_floor, 0.3, units, level)
    strata = [
        trials.Stratum.of([10, 4, 6], [3, 9, 8]),
        trials.Stratum.of([1, 0, 2], [30, 9, 8]),
        trials.Stratum.of([0, 0, 0], [3, 1, 2]),
    ]
    yield call(trials.Stratum.of, [1, 2], [1, 2, 3])
    yield call(trials.Stratum.of, [1, 2.5], [1, 2])
    yield call(trials.Stratum.of, [1], [2])
    for each in strata:
        yield call(lambda each=each: (each.pairs, each.unused))
    for some in (strata, strata[:1], strata[1:], strata[2:]):
        yield call(trials.pair_differences, some)
        for level in LEVELS:
            yield call(trials.shuffled_effect_lower, some, level)
            yield call(trials.shuffled_effect_interval, some, some, level)
    yield call(trials.pair_differences, [strata[0], trials.Stratum.of([1, 2], [2, 1])])


PARTS: tuple[Callable[[], Calls], ...] = (
    _bets,
    _tails,
    _intervals,
    _implied,
    _means,
    _correlations,
    _areas,
    _counts,
    _units_and_trials,
)
