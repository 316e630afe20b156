"""Sums of units: means of rows that are not independent or not alike; ratios; differences.

Differences of two groups whose rows come in units (patients of sampled sites, visits of users) have
two truths. *Between groups*: the ratio of expected sums in one group minus that in the other, by
one factor for each unit. *Within units*: the average over units of the difference of the unit's
own two means, each unit weighed by its smaller group; where units usually hold both groups it is
far narrower, and needs no box.

Symbols: unit u has m_u <= M rows with values in [0, 1] that add up to S_u; theta = sum E S_u /
sum E m_u. A group's mean among unlike rows is the case m_u in {0, 1}. Of two groups unit u has m1,
m2 rows with sums S1, S2, m1 + m2 <= M; theta_g = sum E Sg / sum E mg, delta = theta1 - theta2;
U units; q the one-sided level, L = -ln q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import (
    Array,
    StakeLadder,
    Tally,
    counted,
    first_kept,
    fixed_lower_odds,
    log_least_capital,
    log_mixture,
    odds_interval,
    share_below,
    unit_values,
)
from holdfast.theory.base.dependence import MOST_ROWS_IN_A_UNIT, PooledUnits
from holdfast.theory.base.intervals import Interval, share_interval
from holdfast.theory.base.safeside import level_share, round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.bounded_mean import outlier_floor_mass

# Sums of values lie on this grid inside a bet; m - S is exact for the largest units there may be.
_GRID = 2.0**30
SUMMATION_ERROR = 2.0**-47  # of a mean of values in [0, 1], which numpy adds up in pairs
_WORST_CASE = 0.6  # of a level: for units whose rows are all the same


@theorem(
    source="Holdfast",
    place="Section 12.11, units",
    statement="For independent units of at most M rows (M public) with values in [0, 1], whatever "
    "happens inside a unit, the bets of 12.2 on unit sums enclose theta = sum E S_u / sum E m_u "
    "with probability >= 1 - e^{log_p}.",
    domain="0 <= S_u <= m_u <= M <= 2^20, log_p <= 0; independent units",
    slack="as bets on rows: correlation inside units is measured, not assumed",
)
def unit_mean_interval(sums: ArrayLike, sizes: ArrayLike, largest: int, log_p: float) -> Interval:
    """The mean of all rows, from each unit's sum and size; stakes depend on the number of units.

    A unit gains S and loses m - S; `lower_odds` needs no more.
    """
    largest = require.integer_between("largest", largest, 1, MOST_ROWS_IN_A_UNIT)
    S, m = (np.asarray(side, dtype=np.float64).ravel() for side in (sums, sizes))
    if S.size != m.size or not np.all((S >= 0.0) & (m >= S) & (m <= largest) & (m == np.rint(m))):
        raise InvalidArgument(
            f"a unit's sum is not in [0, its size] or its size is not a whole number up to "
            f"{largest}; declare the largest unit."
        )
    below = Tally(*_parts(np.floor(S * _GRID) / _GRID, m), S.size, largest)
    losses, gains, times = _parts(np.ceil(S * _GRID) / _GRID, m)
    return odds_interval(below, Tally(gains, losses, times, S.size, largest), log_p)


@theorem(
    source="Holdfast",
    place="Section 12.11, units, with Hoeffding's bound for units of random sizes",
    statement="0.6 of the level for `PooledUnits` and 0.4 for `unit_mean_interval`: "
    "what both leave encloses theta = sum E S_u / sum E m_u with probability >= 1 - e^{log_p}.",
    domain="0 <= S_u <= m_u, 1 <= m_u <= M <= 2^20, log_p <= 0; independent units",
    slack="full units whose rows are equal: 0.62 nats more than Hoeffding's bound for units",
)
def pooled_mean_interval(sums: ArrayLike, sizes: ArrayLike, largest: int, log_p: float) -> Interval:
    """The mean of all rows, where every unit has some: never much wider than its worst case."""
    S, m = (np.asarray(side, dtype=np.float64).ravel() for side in (sums, sizes))
    bets = unit_mean_interval(S, m, largest, level_share(log_p, 1.0 - _WORST_CASE))
    units = PooledUnits(int(m.sum()), m.size, largest)
    mean = float(S.sum() / m.sum())
    reach = units.radius(level_share(log_p, _WORST_CASE)) + SUMMATION_ERROR
    return Interval(max(bets.low, round_down(mean - reach)), min(bets.high, round_up(mean + reach)))


def _parts(S: Array, m: Array) -> tuple[Array, Array, Array]:
    return S, m - S, np.ones(S.size)


def group_mean_interval(
    values: ArrayLike, rows: int, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """The mean of a random group among `rows` independent rows that need not be alike.

    The truth is E of the group's sum over E of its size. Rows outside the group neither gain nor
    lose; the stakes may depend on all rows only, never on the group's size. For alike rows
    `bounded_mean_interval` of the group's own rows is narrower.
    """
    return enclosed_group_interval(values, values, rows, log_p, times)


def enclosed_group_interval(
    low: ArrayLike, high: ArrayLike, rows: int, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """`group_mean_interval` of values known only to lie between `low` and `high`."""
    least, most, counts = counted(times, unit_values(low), unit_values(high, up=True))
    return odds_interval(
        Tally(least, 1.0 - least, counts, rows), Tally(1.0 - most, most, counts, rows), log_p
    )


@theorem(
    source="Holdfast",
    place="Section 12.11, m-dependent rows",
    statement="If rows further than m apart are independent, prod(1 - l + l x_t/theta)^(1/(m + 1)) "
    "has mean <= 1 at the average mean theta of rows in [0, 1], so the bets of 12.2 with that root "
    "enclose theta with probability >= 1 - e^{log_p}.",
    domain="values in [0, 1], m >= 0, log_p <= 0",
    slack="none to first order for m + 1 copies of each row; the dependence is not measured",
)
def m_dependent_mean_interval(values: ArrayLike, m: int, log_p: float) -> Interval:
    """The mean of rows in their order, each independent of those further than m away.

    *Proof.* Hoelder's inequality over the m + 1 interleaved subsequences, each of independent
    rows; then the arithmetic and geometric mean over all rows. Stakes are those of n/(m + 1) rows.
    """
    root = require.integer_at_least("m", m, 0) + 1
    low, high = unit_values(values), unit_values(values, up=True)
    once = np.ones(low.size)
    return odds_interval(
        Tally.of_values(low, once, root=root), Tally.of_values(1.0 - high, once, root=root), log_p
    )


# F1 and its relatives: proportions in disguise, and ratios of sums for rows that are not alike.
#
# Symbols: TP, FP, FN the true positives, false positives and false negatives among n rows; pi the
# chance that a row which is not a true negative is a true positive.


@theorem(
    source="Holdfast",
    place="Section 12.9, F1 as a proportion",
    statement="For alike rows, given which rows are not true negatives, TP is binomial(TP + FP + "
    "FN, pi) and F1 = 2 pi/(1 + pi), so Clopper and Pearson's interval of pi gives that of F1.",
    domain="counts >= 0, log_p <= 0; alike rows",
    monotone={"tp": "up", "fp": "down", "fn": "down"},
    slack="none but the discreteness of the count and halving the level",
)
def f1_interval(tp: int, fp: int, fn: int, log_p: float) -> Interval:
    """The interval of F1, rounded outwards; [0, 1] if every row is a true negative."""
    wrong = sum(require.integer_at_least(*each, 0) for each in (("fp", fp), ("fn", fn)))
    return f1_of_share(share_interval(tp, wrong, log_p))


def f1_of_share(interval: Interval) -> Interval:
    """The interval of F1 = 2 pi/(1 + pi), which rises in pi, from that of pi; rounded outwards."""
    low, high = (2 * end / (1 + end) for end in interval)
    return Interval(max(0.0, round_down(low)) if low else 0.0, min(1.0, round_up(high)))


@theorem(
    source="Holdfast",
    place="Section 12.9, ratios of sums by bets",
    statement="For independent rows, alike or not, the bets of 12.2 on gains (1 + beta^2) TP and "
    "losses beta^2 FN + FP enclose F_beta, the ratio of expected sums, with probability >= 1 - "
    "e^{log_p}.",
    domain="counts >= 0 with tp + fp + fn <= rows, beta > 0, log_p <= 0; independent rows",
    slack="that of the bets: some 14 % wider than the normal limit at e^-20",
)
def f_beta_interval(tp: int, fp: int, fn: int, rows: int, beta: float, log_p: float) -> Interval:
    """The interval of F_beta among `rows` rows, rounded outwards.

    F/(1 - F) is the ratio of expected gains to expected losses, which `lower_odds` bounds from
    below; with gains and losses exchanged, from above. `rows` counts all rows, true negatives too:
    the stakes may not depend on how many of the others there are.
    """
    weight = require.positive("beta", beta) ** 2
    counts = [
        require.integer_at_least(name, count, 0)
        for name, count in zip(("tp", "fn", "fp"), (tp, fn, fp), strict=True)
    ]
    rows = require.integer_at_least("rows", rows, sum(counts))
    won, lost, times = counted(
        counts, np.array([1.0 + weight, 0.0, 0.0]), np.array([0.0, weight, 1.0])
    )
    below = Tally(won, lost, times, rows, max(1.0, weight))
    above = Tally(lost, won, times, rows, 1.0 + weight)
    return odds_interval(below, above, log_p)


# Differences of two groups.


# What of a side's level goes to the box of theta2, and what is left for the bet.
_BOX, _BET = 0.1, 0.9
_RATIOS = tuple((2.0**r, 2.0**-r) for r in range(-2, 3))
_MOST_AT_STAKE = 1.0 - 2.0**-10


@dataclass(frozen=True, slots=True, eq=False)
class UnitSums:
    """For each unit the sum and the number of its rows in one group, values in [0, 1]."""

    sums: Array
    sizes: Array

    @classmethod
    def of(cls, sums: ArrayLike, sizes: ArrayLike) -> Self:
        """Checked: a sum is in [0, its size], and a size is a whole number."""
        S, m = (np.asarray(side, dtype=np.float64).ravel() for side in (sums, sizes))
        if S.size != m.size or not np.all((S >= 0.0) & (m >= S) & (m == np.rint(m))):
            raise InvalidArgument(
                "a unit's sum is not in [0, its size] or its size is not a whole number; give one "
                "sum and one size for each unit."
            )
        return cls(S, m)

    def rounded(self, *, up: bool = False) -> UnitSums:
        """Sums on the grid of the bets."""
        return UnitSums((np.ceil if up else np.floor)(self.sums * _GRID) / _GRID, self.sizes)

    @property
    def mean(self) -> float:
        """The ratio of sums; 1/2 without rows."""
        rows = float(self.sizes.sum())
        return float(self.sums.sum()) / rows if rows else 0.5


def _same_units(first: UnitSums, second: UnitSums, largest: int) -> int:
    """How many units there are; refused if one has more rows than were declared."""
    require.integer_between("largest", largest, 1, MOST_ROWS_IN_A_UNIT)
    units = first.sums.size
    if units != second.sums.size or np.any(first.sizes + second.sizes > largest):
        raise InvalidArgument(
            f"a unit has more than {largest} rows or the groups have {units} and "
            f"{second.sums.size} units; list every unit in both and declare the largest."
        )
    return units


def unit_deviations(
    first: UnitSums, second: UnitSums, weights: tuple[float, float], t1: float, t2: float
) -> Array:
    """c1(S1 - t1 m1) - c2(S2 - t2 m2) of each unit: on average 0 at (theta1, theta2)."""
    c1, c2 = weights
    deviations: Array = c1 * (first.sums - t1 * first.sizes) - c2 * (
        second.sums - t2 * second.sizes
    )
    return deviations


@theorem(
    source="Holdfast",
    place="Section 13.5b, one side",
    statement="For independent units of at most M rows (M public), whatever happens inside a unit, "
    "the bets with one factor 1 + k(c1(S1 - t1 m1) - c2(S2 - t2 m2)) a unit, least over the ends "
    "of theta2's box, bound theta1 - theta2 from below at one-sided level e^{log_q}.",
    domain="0 <= Sg <= mg, m1 + m2 <= M <= 2^20, log_q <= 0; all units, those without rows too",
    slack=".6-.9 of the box of two intervals; useless for few large units: see `unit_floor`",
)
def unit_difference_lower(first: UnitSums, second: UnitSums, largest: int, log_q: float) -> float:
    """A lower bound on theta1 - theta2; -1 if a group has no rows.

    *Proof.* At the truth the deviations' means add up to 0 over all units, so the product of the
    factors has mean at most 1 (arithmetic and geometric mean). Along t1 = t2 + delta the logarithm
    of an affine function is concave, so over theta2's box (a tenth of the level) it is least at an
    end; it falls in delta. Stakes depend on the number of units, M and the level only.
    """
    units = _same_units(first, second, largest)
    L = -require.log_probability("log_q", log_q)
    low, high = first.rounded(), second.rounded(up=True)
    if not first.sizes.any() or not second.sizes.any():
        return -1.0
    box = unit_mean_interval(second.sums, second.sizes, largest, level_share(log_q, _BOX))
    middle = math.sqrt(2.0 * (L + 2.5) / units) / largest
    steps = range(10)
    ladder = StakeLadder.weighed(
        [middle * 2.0 ** (0.75 * j) for j in steps], [1.0 / (2 + j) for j in steps]
    )
    once, threshold = np.ones(units), -level_share(log_q, _BET)
    equal = [1.0 / (len(_RATIOS) * (1 + 2.0**-40))] * len(_RATIOS)

    def excess(delta: float) -> float:
        a, b = max(box.low, -delta), min(box.high, 1.0 - delta)
        if a > b:
            return math.inf
        ends = [(round_up(t2 + delta), t2) for t2 in (a, b)]
        capitals = [
            log_least_capital(
                ladder,
                [unit_deviations(low, high, (c1, c2), t1, t2) for t1, t2 in ends],
                once,
                largest * max(max(c1 * t1, c2 * (1.0 - t2)) for t1, t2 in ends),
                2.0 * largest * (c1 + c2),
            )
            for c1, c2 in _RATIOS
        ]
        return log_mixture(capitals, equal) - threshold

    estimate = min(1.0, low.mean - high.mean + 2.0**-40)
    return first_kept(excess, estimate, -1.0, math.sqrt(2.0 * (L + 1.0) / units) / 4.0)


def unit_difference_interval(
    first: UnitSums, second: UnitSums, largest: int, log_p: float
) -> Interval:
    """The interval of theta1 - theta2: both one-sided bounds at e^{log_p}/2, groups exchanged."""
    side = level_share(log_p)
    return Interval(
        unit_difference_lower(first, second, largest, side),
        -unit_difference_lower(second, first, largest, side),
    )


@theorem(
    source="Holdfast",
    place="Section 13.5f, one side",
    statement="For independent units and h = min(m1, m2) <= H (H public), the mixture of twelve "
    "bets with factors 1 + l h(S1/m1 - S2/m2 - delta)/(H(1 + delta)), 1 where a group is missing, "
    "bounds sum E h(S1/m1 - S2/m2) / sum E h from below at one-sided level e^{log_q}.",
    domain="0 <= Sg <= mg, min(m1, m2) <= H <= 2^20, log_q <= 0; all units, those with h = 0 too",
    slack=".4-.99 of the width between groups; no nuisance, no box",
)
def within_units_lower(first: UnitSums, second: UnitSums, smaller: int, log_q: float) -> float:
    """A lower bound on the average difference within units; `smaller` is H.

    *Proof.* A factor is at least 1 - l > 0; at the truth the factors' means average to 1, so their
    product has mean at most 1; it falls in delta. In terms of `fixed_lower_odds`: with x = (1 +
    S1/m1 - S2/m2)/2 a unit gains h x and loses h(1 - x).
    """
    H = require.integer_between("smaller", smaller, 1, MOST_ROWS_IN_A_UNIT)
    units = first.sums.size
    h = np.minimum(first.sizes, second.sizes) if units == second.sums.size else np.array([math.inf])
    if np.any(h > H):
        raise InvalidArgument(
            f"a unit has more than {H} rows of both groups or the groups have {units} and "
            f"{second.sums.size} units; list every unit in both and declare the most."
        )
    L = -require.log_probability("log_q", log_q)
    both = h > 0.0
    if not both.any():
        return -1.0
    h, low, high = h[both], first.rounded(), second.rounded(up=True)
    above = low.sums[both] / first.sizes[both] - high.sums[both] / second.sizes[both]
    gains = np.clip(np.floor(0.5 * h * (1.0 + above) * _GRID - 1.0) / _GRID, 0.0, h)
    middle = math.sqrt(2.0 * (L + 2.5) / units)
    steps = range(12)
    bets = StakeLadder.weighed(
        [min(_MOST_AT_STAKE, middle * 2.0 ** (0.75 * k)) for k in steps],
        [1.0 / (2 + k) for k in steps],
    )
    tally = Tally(gains, h - gains, np.ones(h.size), units, H)
    share = share_below(fixed_lower_odds(tally, bets.stakes, bets.weights, log_q))
    return max(-1.0, round_down(2.0 * share - 1.0) - 2.0**-52)


def within_units_interval(
    first: UnitSums, second: UnitSums, smaller: int, log_p: float
) -> Interval:
    """The interval of the average difference within units, at e^{log_p}/2 a side."""
    side = level_share(log_p)
    return Interval(
        within_units_lower(first, second, smaller, side),
        -within_units_lower(second, first, smaller, side),
    )


def unit_floor(difference: float, units: int, log_p: float) -> Interval:
    """What no valid interval for sampled units can exclude, around a difference that was found.

    A share e = 1 - p^(1/U) of the population's units, p = e^{log_p}, may be all against it and in
    no sample, as `outlier_floor_mass` says of rows. Say it beside an interval of few units.
    """
    difference = require.between("difference", difference, -1.0, 1.0)
    e = outlier_floor_mass(units, level_share(log_p))
    return Interval(difference - e * (1.0 + difference), difference + e * (1.0 - difference))
