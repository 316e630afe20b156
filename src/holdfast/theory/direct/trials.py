"""Randomised trials: the average effect in these rows, from how the arms were drawn alone.

Rows are fixed with what each would show in either arm; chance is the drawing of the arms, so sites,
clusters and dependence do not matter. Two declarations: *coins*, an independent fair coin for each
row, and *shuffled*, inside each stratum all assignments with these sizes of the arms were equally
likely. Neither is the other: intervals for coins are false for shuffled pairs.

The truth depends on the rows themselves, so these intervals are for described answers only.

Symbols: row r shows Y(1) in arm 1 and Y(0) in arm 2, in [0, 1]; tau = Y(1) - Y(0), delta the
average of tau; a stratum has n1 and n2 rows in the arms, m = min(n1, n2); q the one-sided level, L
= -ln q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import (
    Array,
    StakeLadder,
    Tally,
    first_kept,
    fixed_lower_odds,
    log_capital,
    log_mixture,
    share_below,
    unit_values,
)
from holdfast.theory.base.intervals import Interval, independent_clopper_pearson
from holdfast.theory.base.safeside import level_share, round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.bounded_mean import enclosed_mean_interval
from holdfast.theory.direct.difference import Enclosed

_MOST_AT_STAKE = 1.0 - 2.0**-10


@theorem(
    source="Holdfast",
    place="Section 13.5d, coins or equal arms, 0/1 values",
    statement="Of S = i + n2 - j among N = n1 + n2 rows, [2 l - 1, 2 u - 1] with the bounds l, u "
    "of 12.1 at e^{log_p}/2 each holds the average effect in these rows where each row's arm was "
    "an independent fair coin; and the difference of the arms' averages where n1 = n2 by design "
    "and rows are independent.",
    domain="0 <= i <= n1, 0 <= j <= n2, log_p <= 0; not for arms that were shuffled inside strata",
    monotone={"i": "up", "j": "down"},
    slack="1.05 of the normal half-width at rate .35, 1.15 at .25, 1.6 at .11",
)
def coin_effect_interval(n1: int, i: int, n2: int, j: int, log_p: float) -> Interval:
    """The interval of the average effect, rounded outwards; [-1, 1] without rows.

    *Proof.* Row r adds Z Y(1) + (1 - Z)(1 - Y(0)) to S: 0 or 1, independent of the other rows, with
    mean (1 + tau)/2. With equal arms, y in arm 1 and 1 - y in arm 2 are independent 0/1 rows whose
    average is (1 + delta)/2. Then 12.1.
    """
    i, j = require.integer_between("i", i, 0, n1), require.integer_between("j", j, 0, n2)
    if n1 + n2 == 0:
        return Interval(-1.0, 1.0)
    low, high = independent_clopper_pearson(n1 + n2, i + n2 - j, log_p)
    return Interval(max(-1.0, round_down(2.0 * low - 1.0)), min(1.0, round_up(2.0 * high - 1.0)))


def coin_trial_interval(n1: int, i: int, n2: int, j: int, log_p: float) -> Interval:
    """Coins and 0/1 values, where no rate is known: two forms at half of the level, intersected.

    Given how many fell into each arm, coins are shuffled; that form is narrower at rates below .2.
    """
    half = level_share(log_p)
    stratum = [Stratum.of((n1 - i, i), (n2 - j, j))]
    parts = (
        coin_effect_interval(n1, i, n2, j, half),
        shuffled_effect_interval(stratum, stratum, half),
    )
    return Interval(max(part.low for part in parts), min(part.high for part in parts))


@theorem(
    source="Holdfast",
    place="Section 13.5d, coins of any chance, any values in [0, 1]",
    statement="Where each row's arm was an independent coin with chance pi, the bets of 12.2 on "
    "(Z - pi)(y - c)/(pi(1 - pi)), c public, hold the average effect in these rows with "
    "probability >= 1 - e^{log_p}.",
    domain="values in [0, 1], 0 < pi < 1, 0 <= c <= 1, log_p <= 0",
    slack="the spread around c counts, not that around the arms' means: a good guess c pays",
)
def coin_bets_interval(
    first: Enclosed,
    second: Enclosed,
    log_p: float,
    probability: float = 0.5,
    centre: float = 0.5,
) -> Interval:
    """The interval of the average effect from the values of both arms, rounded outwards.

    *Proof.* A row's term has the mean (Y(1) - c) - (Y(0) - c) = tau, whatever c is, and the rows'
    terms are independent: 12.2 needs no more.
    """
    pi = require.between("probability", probability, 0.0, 1.0, open_low=True, open_high=True)
    c = require.between("centre", centre, 0.0, 1.0)
    least = min(-c / pi, -(1.0 - c) / (1.0 - pi))
    most = max((1.0 - c) / pi, c / (1.0 - pi))
    width = most - least
    (x_low, x_high, times_x), (y_low, y_high, times_y) = first, second

    def placed(values: ArrayLike, chance: float, up: bool) -> Array:
        """A term's place in the range, off by some units in the last place of 1."""
        term = (unit_values(values, up=up) - c) / chance
        return np.asarray((term - least) / width)

    low = np.concatenate([placed(x_low, pi, False), placed(y_high, pi - 1.0, True)])
    high = np.concatenate([placed(x_high, pi, True), placed(y_low, pi - 1.0, False)])
    times = np.concatenate([_times(x_low, times_x), _times(y_low, times_y)])
    off = 2.0**-48
    interval = enclosed_mean_interval(
        np.clip(low - off, 0.0, 1.0), np.clip(high + off, 0.0, 1.0), log_p, times
    )
    low_end, high_end = (least + width * end for end in interval)
    slack = 8.0 * math.ulp(width)
    return Interval(max(-1.0, low_end - slack), min(1.0, high_end + slack))


def _times(values: ArrayLike, times: ArrayLike | None) -> Array:
    return np.ones(np.size(values)) if times is None else np.asarray(times, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """How often each of G values, evenly spaced from 0 to 1, occurred in either arm."""

    first: Array
    second: Array
    sizes: tuple[float, float] = field(init=False)  # n1 and n2, summed once

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", (float(self.first.sum()), float(self.second.sum())))

    @classmethod
    def of(cls, first: ArrayLike, second: ArrayLike) -> Self:
        """Checked: whole numbers, as many of them in both arms; (zeros, ones) of 0/1 values."""
        one, other = (np.asarray(arm, dtype=np.float64).ravel() for arm in (first, second))
        whole = all(np.all((arm >= 0.0) & (arm == np.rint(arm))) for arm in (one, other))
        if one.size != other.size or one.size < 2 or not whole:
            raise InvalidArgument(
                f"a stratum has {one.size} and {other.size} counts or one that is no whole number; "
                "count the rows of both arms at the same values, from 0 to 1."
            )
        return cls(one, other)

    @property
    def pairs(self) -> float:
        """m, the rows of the smaller arm."""
        return min(self.sizes)

    @property
    def unused(self) -> float:
        """rho: what rows that are in no pair cost (Bardenet & Maillard 2015); 0 for equal arms."""
        n, m = sum(self.sizes), self.pairs
        if 2.0 * m > 0.5 * n:
            return (1.0 - 2.0 * m / n) * (1.0 + 0.5 / m)
        return 1.0 - (2.0 * m - 1.0) / n


def pair_differences(strata: Sequence[Stratum]) -> tuple[Array, Array]:
    """(1 + D)/2 for every possible difference D of a pair, and how much of the pairs has it.

    All n1 n2 pairs of a stratum share the weight of its m pairs.
    """
    points = strata[0].first.size
    weights = np.zeros(2 * points - 1)
    for stratum in strata:
        if stratum.first.size != points:
            raise InvalidArgument(
                f"strata have {points} and {stratum.first.size} values; count all at the same ones."
            )
        if stratum.pairs:
            together = np.convolve(stratum.first, stratum.second[::-1])
            weights += together / max(stratum.sizes)
    occurred = weights > 0.0
    places: Array = (np.arange(2 * points - 1) / (2 * points - 2))[occurred]
    return places, weights[occurred]


@theorem(
    source="Holdfast",
    place="Section 13.5e, shuffled inside strata, one side (with Bardenet & Maillard 2015)",
    statement="If inside each stratum all assignments with these sizes of the arms were equally "
    "likely, twelve bets with the log-capital sum over strata of 1/max(n1, n2) sum over all pairs "
    "of ln(1 - l + l(1 + D)/(1 + delta)) bound from below, at one-sided level e^{log_q}, the "
    "average of the strata's average effects in these rows, weighed by m. For unequal arms, with "
    "ln(1 + l(D - delta)) and less l^2 sum m rho/4.",
    domain="values in [0, 1] on a public grid, log_q <= 0; no interference between rows",
    slack="1.2-1.3 of the normal half-width; at rates above .2 and equal arms 13.5d is narrower",
)
def shuffled_effect_lower(strata: Sequence[Stratum], log_q: float) -> float:
    """A lower bound on the average effect in these rows; -1 where no stratum has both arms.

    *Proof.* To draw m of 2m rows is to pair them at random and to throw a fair coin for each pair.
    Given the pairs, they are independent with means their own average effects, so each pairing
    gives capital with mean at most 1 (arithmetic and geometric mean over all pairs of all strata).
    Given the arms, the pairing is uniform, and the geometric mean over all of them is at most their
    average. It falls in delta. Of unequal arms 2m rows are in pairs: the average of their effects
    is one of a sample without replacement of effects in [-1, 1], so e^{l m (average - delta_s)} has
    a mean of at most e^{l^2 m rho/4}. There the stake l does not depend on delta, so that capital
    falls in it; a term is 0 if l(1 + delta) > 1 - 2^-10.
    """
    L = -require.log_probability("log_q", log_q)
    n = sum(stratum.pairs for stratum in strata)
    if n == 0.0:
        return -1.0
    places, weights = pair_differences(strata)
    middle = math.sqrt(2.0 * (L + 2.5) / n)
    steps = [middle * 2.0 ** (0.75 * k) for k in range(12)]
    shares = [1.0 / (2 + k) for k in range(12)]
    unused = sum(stratum.pairs * stratum.unused for stratum in strata if stratum.pairs) / 4.0
    if unused == 0.0:
        bets = StakeLadder.weighed([min(1.0, step) for step in steps], shares)
        # Weights are no whole numbers, and their sum may be n and a unit in the last place.
        tally = Tally(places, 1.0 - places, weights, math.ceil(n) + 1)
        share = share_below(fixed_lower_odds(tally, bets.stakes, bets.weights, log_q))
        return max(-1.0, round_down(2.0 * share - 1.0) - 2.0**-52)
    bets, differences = StakeLadder.weighed(steps, shares), 2.0 * places - 1.0

    def excess(delta: float) -> float:
        capitals = [
            float(log_capital(1.0 + stake * (differences - delta), weights, 1.0 + 2.0 * stake))
            - round_up(stake * stake * unused)
            if stake * (1.0 + delta) <= _MOST_AT_STAKE
            else -math.inf
            for stake in bets.stakes
        ]
        return log_mixture(capitals, bets.weights) - L

    estimate = float(np.average(differences, weights=weights))
    return first_kept(
        excess, min(1.0, estimate + 2.0**-40), -1.0, math.sqrt(2.0 * (L + 1.0) / n) / 2
    )


def shuffled_effect_interval(
    low: Sequence[Stratum], high: Sequence[Stratum], log_p: float
) -> Interval:
    """The interval of the average effect, at e^{log_p}/2 a side, the arms exchanged.

    Values between those of the grid are counted twice: at the value below in `low`, and at that
    above in `high`.
    """
    side = level_share(log_p)
    pairs = list(zip(low, high, strict=True))
    return Interval(
        shuffled_effect_lower([Stratum(a.first, b.second) for a, b in pairs], side),
        -shuffled_effect_lower([Stratum(a.second, b.first) for a, b in pairs], side),
    )
