"""The mean of a bounded column by bets, with a guess of its spread and without.

Symbols: x_1..x_n in [0, 1] independent rows, alike or not; mu the average of their means; p the
two-sided level, q one side's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from holdfast import require
from holdfast.theory.base.bets import (
    Settled,
    Tally,
    counted,
    even_odds_log_p,
    fixed_lower_odds,
    log_bets,
    lower_odds,
    odds_interval,
    share_below,
    unit_values,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import level_share, round_up
from holdfast.theory.base.theorem import theorem

__all__ = [
    "above_half_log_p",
    "bet_excess",
    "bet_interval",
    "bet_lower",
    "bounded_mean_interval",
    "bounded_mean_lower",
    "enclosed_mean_interval",
    "histogram_mean_interval",
    "outlier_floor_mass",
]


@theorem(
    source="Holdfast",
    place="Section 12.2, one side",
    statement="For independent rows in [0, 1], alike or not, with average mean mu, the lower end "
    "by the mixture of bets in cells of odds is above mu with probability at most e^{log_q}.",
    domain="values in [0, 1], log_q <= 0; independent rows",
    slack="against the best single bet that knows the variance 4-8 %",
)
def bounded_mean_lower(
    values: ArrayLike,
    log_q: float,
    times: ArrayLike | None = None,
    settled: Settled | None = None,
) -> float:
    """A lower bound on the average mean of the rows, at one-sided level e^{log_q}.

    `times` says how often each value occurred. Dividing gain by loss turns mu into the odds
    mu/(1 - mu) of `lower_odds`: 1 - l + l x/m = 1 - l(1 - x) + l x (1 - m)/m. It is looked for
    until `settled` holds of two means that it is between.
    """
    tally = Tally.of_values(*counted(times, unit_values(values)))
    of_odds = settled and (lambda a, b: settled(share_below(a), share_below(b)))
    return share_below(lower_odds(tally, log_q, of_odds))


@theorem(
    source="Holdfast",
    place="Section 12.2",
    statement="For independent rows in [0, 1], alike or not, the lower ends of the rows and of "
    "1 - x at e^{log_p}/2 each enclose the average mean with probability >= 1 - e^{log_p}.",
    domain="values in [0, 1], log_p <= 0; independent rows",
    slack="half-width 3.5 times the 95 % normal one at p = e^-20, where the normal limit is 3.06",
)
def bounded_mean_interval(
    values: ArrayLike, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """The two-sided interval, rounded outwards; [0, 1] without rows."""
    return enclosed_mean_interval(values, values, log_p, times)


def above_half_log_p(values: ArrayLike, log_q: float, times: ArrayLike | None = None) -> float:
    """ln of a p-value of "the average mean is at most 1/2", by the bets of `bounded_mean_lower`."""
    return even_odds_log_p(Tally.of_values(*counted(times, unit_values(values))), log_q)


def histogram_mean_interval(counts: ArrayLike, log_p: float) -> Interval:
    """`bounded_mean_interval` from the counts of equal bins of [0, 1]: wider by a bin at most.

    Rows are taken at the left end of their bin for the lower end, at the right for the upper.
    """
    bins = np.asarray(counts).size
    edges = np.arange(bins + 1) / max(bins, 1)
    return enclosed_mean_interval(edges[:-1], edges[1:], log_p, counts)


def enclosed_mean_interval(
    low: ArrayLike,
    high: ArrayLike,
    log_p: float,
    times: ArrayLike | None = None,
    told: Callable[[Interval], object] | None = None,
) -> Interval:
    """`bounded_mean_interval` of values known only to lie between `low` and `high`.

    With `told`, what will be told of the interval, no sharper than that needs.
    """
    least, most, counts = counted(times, unit_values(low), unit_values(high, up=True))
    below, above = Tally.of_values(least, counts), Tally.of_values(1.0 - most, counts)
    return odds_interval(below, above, log_p, told)


# Around the best stake for the guessed second moment: a wrong guess costs width, never validity.
_FIVE = (0.5, 0.75, 1.0, 1.35, 1.8)
_EQUAL = (0.2,) * 5


def _five_stakes(n: int, second_moment: float, log_q: float) -> list[float]:
    d = require.between("second_moment", second_moment, 0.0, 1.0, open_low=True)
    best = math.sqrt(-2.0 * require.log_probability("log_q", log_q) / (max(n, 1) * d))
    return [min(1.0, best * step) for step in _FIVE]


@theorem(
    source="Holdfast",
    place="Section 11.3, five bets, one side",
    statement="For independent rows in [0, 1], alike or not, and a public guess d of the second "
    "moment of 2x - 1, the least m that the mixture of five bets does not reject is above the "
    "average mean with probability at most e^{log_q}.",
    domain="values in [0, 1], 0 < second_moment <= 1, log_q <= 0; independent rows",
    slack="a wrong guess costs width, never validity",
)
def bet_lower(
    values: ArrayLike, second_moment: float, log_q: float, times: ArrayLike | None = None
) -> float:
    """A lower bound on the average mean; best where 2x - 1 has mean near 0 and E(2x - 1)^2 = d."""
    tally = Tally.of_values(*counted(times, unit_values(values)))
    stakes = _five_stakes(tally.units, second_moment, log_q)
    return share_below(fixed_lower_odds(tally, stakes, _EQUAL, log_q))


def bet_interval(
    values: ArrayLike, second_moment: float, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """`bet_lower` of the rows and of 1 - x, at e^{log_p}/2 each."""
    side = level_share(log_p)
    mirrored = bet_lower(1.0 - unit_values(values, up=True), second_moment, side, times)
    low = bet_lower(values, second_moment, side, times)
    return Interval(low, min(1.0, round_up(1.0 - mirrored)))


def bet_excess(
    values: ArrayLike,
    second_moment: float,
    log_q: float,
    least: float,
    times: ArrayLike | None = None,
) -> float:
    """By how many nats five bets surely reject "the mean is at most `least`": >= 0 rejects it.

    This is the test of a check or gate: it needs no bound, only the capital at the claim's edge.
    """
    least = require.between("least", least, 0.0, 1.0, open_low=True, open_high=True)
    tally = Tally.of_values(*counted(times, unit_values(values)))
    stakes = _five_stakes(tally.units, second_moment, log_q)
    odds = round_up(least / (1.0 - least))
    return float(log_bets(tally, stakes, _EQUAL, odds) + log_q)


@theorem(
    source="Holdfast",
    place="Section 12.0, the outlier floor",
    statement="Any interval valid at level e^{log_p} for all laws of n iid rows on a declared box "
    "contains, on samples of P, the truth of (1 - e) P + e (a point of the box) with probability "
    ">= 1/2, for e = 1 - (2 e^{log_p})^(1/n).",
    domain="n >= 1, log_p <= -ln 2",
    monotone={"n": "down", "log_p": "down"},
    slack="what no method can exclude: a tight declared range is worth more than any inequality",
)
def outlier_floor_mass(n: int, log_p: float) -> float:
    """The mass e at one point that no valid procedure can exclude.

    *Proof.* A sample of the mixture is one of P with probability (1 - e)^n = 2 e^{log_p}; were the
    mixture's truth excluded there with probability above 1/2, it would be missed with more than
    e^{log_p}.
    """
    n = require.positive_integer("n", n)
    doubled = require.log_probability("log_p", log_p) + math.log(2.0)
    return -math.expm1(min(0.0, doubled) / n)
