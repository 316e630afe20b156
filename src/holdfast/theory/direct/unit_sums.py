"""Means of rows that are not independent or not alike; F1 and other ratios of sums.

Symbols: unit u has m_u <= M rows with values in [0, 1] that add up to S_u; theta = sum E S_u /
sum E m_u. A group's mean among unlike rows is the case m_u in {0, 1}.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import Array, Tally, counted, odds_interval, unit_values
from holdfast.theory.base.dependence import MOST_ROWS_IN_A_UNIT
from holdfast.theory.base.intervals import Interval, share_interval
from holdfast.theory.base.random_sizes import PooledUnits
from holdfast.theory.base.safeside import level_share, round_down, round_up
from holdfast.theory.base.theorem import theorem

__all__ = [
    "SUMMATION_ERROR",
    "enclosed_group_interval",
    "f1_interval",
    "f1_of_share",
    "f_beta_interval",
    "group_mean_interval",
    "m_dependent_mean_interval",
    "pooled_mean_interval",
    "unit_mean_interval",
]


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
    return f1_of_share(share_interval(tp, fp + fn, log_p))


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
