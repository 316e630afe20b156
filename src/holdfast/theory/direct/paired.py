"""Paired differences: a row where only the candidate is right counts +1, only the incumbent -1.

Symbols: n rows, b of them +1, c of them -1; theta = P(+1) - P(-1); p the two-sided level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.bets import StakeLadder, Tally, counted, fixed_lower_odds, share_below
from holdfast.theory.base.intervals import Interval, clopper_pearson_upper, log_binomial_cdf
from holdfast.theory.base.safeside import largest_true, level_share, round_down, smallest_integer
from holdfast.theory.base.theorem import theorem

__all__ = [
    "DEEPEST",
    "exact_paired_exceeds",
    "exact_paired_lower",
    "paired_difference_interval",
    "paired_difference_lower",
    "paired_difference_within",
    "sign_test_log_p",
    "smallest_shown_difference",
]


# Paired differences of alike rows by their exact law, at the worst share of differing rows.
#
# Symbols: n alike rows with differences +1, -1 or 0, b and c of the first two; theta = P(+1) -
# P(-1), d = P(+1) + P(-1); S the sum of all differences, T = b - c as observed; q the one-sided
# level.


# What of the level goes to the bound on d, and what is left for the test.
_BOX, _TEST = 0.05, 0.95
# Below this log-level the floats of the exact law underflow.
DEEPEST = -600.0
_SECANTS = 4


@theorem(
    source="Holdfast",
    place="Section 12.10, exact test (after Berger & Boos 1994)",
    statement="For n alike rows with differences in {-1, 0, 1}, the largest theta0 with "
    "P[S >= b - c] <= .95 q at d = Clopper and Pearson's upper bound at .05 q, and with b - c >= "
    "n theta0 + 2 + sqrt(3(n d + 1)), is above theta with probability at most q = e^{log_q}.",
    domain="b, c >= 0, b + c <= n, log_q <= 0; alike rows; useful for n >= 500 L",
    slack="the bound on d in place of d; nothing is said if d may be above 2/3",
)
def exact_paired_lower(n: int, b: int, c: int, log_q: float) -> float:
    """A lower bound on theta, rounded down; -1 where this test says nothing.

    *Proof.* The derivative of P[S >= T] in d is (n/2)(P[S' = T - 1] - P[S' = T]), S' over n - 1
    rows. For d <= 2/3 the law of a difference is log-concave, so S' is unimodal, its mode within
    sqrt(3 var + 1/4) of its mean; where T - 1 is beyond the mode for every d up to the bound, the
    tail rises in d. So if the bound holds (.05 q), what is rejected has a true tail of at most
    .95 q. The tail and the condition rise in theta0 (coupling).
    """
    test = _Test.of(n, b, c, log_q)
    if test is None:
        return -1.0
    return largest_true(test.rejects, test.lowest, test.highest, near=test.near())


def exact_paired_exceeds(n: int, b: int, c: int, log_q: float, theta0: float) -> bool:
    """Whether the same test rejects theta0 itself, so that theta is above it; found in one look."""
    test = _Test.of(n, b, c, log_q)
    if test is None or theta0 > test.highest:
        return theta0 <= -1.0
    return test.rejects(max(theta0, test.lowest))


@dataclass(frozen=True, slots=True)
class _Test:
    """Test of theta0, from the lowest that d allows up to the highest that T does."""

    law: _SumLaw
    level: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, n: int, b: int, c: int, log_q: float) -> _Test | None:
        """The test of these counts, or None where it says nothing."""
        n = require.positive_integer("n", n)
        b = require.integer_at_least("b", b, 0)
        c = require.integer_at_least("c", c, 0)
        require.integer_between("b + c", b + c, 0, n)
        log_q = require.log_probability("log_q", log_q)
        d = clopper_pearson_upper(n, b + c, level_share(log_q, _BOX))
        if d > 2 / 3 or log_q < DEEPEST:
            return None
        T, level = b - c, level_share(log_q, _TEST)
        highest = round_down((T - 2 - math.sqrt(3 * (n * d + 1))) / n, 16)
        if highest <= -d:
            return None
        test = cls(_SumLaw(n, d, T, level), level, -d, highest)
        return test if test.rejects(-d) else None

    def rejects(self, theta0: float) -> bool:
        return self.law.log_tail(theta0) <= self.level

    def near(self) -> float:
        """About where it ends, by secants from the normal law: it saves looks, and nothing else."""
        law = self.law
        reach = float(special.ndtri_exp(self.level)) * math.sqrt(law.n * law.d)
        before, after = (law.T + reach * far for far in (1.0, 1.001))
        ends = [min(max(each / law.n, self.lowest), self.highest) for each in (before, after)]
        gaps = [law.log_tail(end) - self.level for end in ends]
        for _ in range(_SECANTS):
            if ends[0] == ends[1] or gaps[0] == gaps[1]:
                break
            slope = (gaps[1] - gaps[0]) / (ends[1] - ends[0])
            guess = min(max(ends[1] - gaps[1] / slope, self.lowest), self.highest)
            ends, gaps = [ends[1], guess], [gaps[1], law.log_tail(guess) - self.level]
        return ends[1]


class _SumLaw:
    """ln P[S >= T] at share d of differing rows: given m of them, (S + m)/2 is binomial."""

    def __init__(self, n: int, d: float, T: int, level: float) -> None:
        self.n, self.d, self.T = n, d, T
        # m within Chernoff's bound of n d, far beyond the level; what is outside counts in full.
        reach = math.sqrt(2 * n * d * (25 - level)) + 25 - level
        least, most = max(0, math.floor(n * d - reach)), min(n, math.ceil(n * d + reach))
        self._outside = math.exp(log_binomial_cdf(n, least - 1, d)) + math.exp(
            log_binomial_cdf(n, n - most - 1, math.nextafter(1.0 - d, 0.0))
        )
        m = np.arange(least, most + 1, dtype=np.float64)
        logs = special.gammaln(n + 1) - special.gammaln(m + 1) - special.gammaln(n - m + 1)
        logs += special.xlogy(m, d) + special.xlog1py(n - m, -d)
        # Differences of log-gammas of such a size, and the incomplete beta function's own error.
        self._error = 2.0**-46 * float(special.gammaln(n + 1)) + 1e-8
        self._masses = np.exp(logs)
        self._m, self._wins = m, np.ceil((m + T) / 2)

    def log_tail(self, theta0: float) -> float:
        """An upper bound, for theta0 in [-d, d]."""
        share = min(max(0.5 * (1.0 + theta0 / self.d), 0.0), 1.0)
        inner = (self._wins >= 1) & (self._wins <= self._m)
        tails = np.where(self._wins >= 1, 0.0, 1.0)
        wins, m = self._wins[inner], self._m[inner]
        tails[inner] = special.betainc(wins, m - wins + 1, share)
        total = float((self._masses * tails).sum()) + self._outside + 1e-280
        return min(0.0, math.log(total) + self._error)


_EXACT, _BETS = 0.9, 0.1  # of the level of one side
_LN2 = math.log(2.0)
# Up to so many rows that differ the tail of the sign test is counted in whole numbers: that takes
# well below a millisecond, and no special function.
_COUNTED = 1024


@theorem(
    source="Holdfast",
    place="Section 12.10, paired differences by bets, one side",
    statement="For n independent rows with differences in {-1, 0, 1}, alike or not, b of them 1 "
    "and c of them -1, the least t that a mixture of twelve bets does not reject is above the "
    "average difference theta with probability at most e^{log_q}.",
    domain="b, c >= 0, b + c <= n, log_q <= 0; independent rows",
    monotone={"b": "up", "c": "down"},
    slack="4.00, 3.49, 3.20 times the 95 % normal half-width at p = e^-20 and n = 1e3, 1e4, 1e5",
)
def paired_difference_lower(n: int, b: int, c: int, log_q: float) -> float:
    """A lower bound on theta, rounded down: the mean of (1 + difference)/2 in disguise."""
    n = require.positive_integer("n", n)
    b = require.integer_at_least("b", b, 0)
    c = require.integer_at_least("c", c, 0)
    require.integer_between("b + c", b + c, 0, n)
    L = -require.log_probability("log_q", log_q)
    middle = math.sqrt(2.0 * (L + 2.5) / n)
    steps = range(12)
    bets = StakeLadder.weighed(
        [min(1.0, middle * 2.0 ** (0.75 * k)) for k in steps], [1.0 / (2 + k) for k in steps]
    )
    tally = Tally.of_values(*counted([c, n - b - c, b], np.array([0.0, 0.5, 1.0])))
    share = share_below(fixed_lower_odds(tally, bets.stakes, bets.weights, log_q))
    return max(-1.0, round_down(2.0 * share - 1.0) - 2.0**-52)


def paired_difference_interval(
    n: int, b: int, c: int, log_p: float, *, alike: bool = False
) -> Interval:
    """The two one-sided bounds at e^{log_p}/2 each.

    For alike rows, and so many of them that it pays (a public rule), the exact test has nine tenths
    of the level and the bets one: both always, intersected.
    """
    side = level_share(log_p)
    low, high = (_lower(n, *pair, side, exact=_pays(n, log_p, alike)) for pair in ((b, c), (c, b)))
    return Interval(low, -high)


def paired_difference_within(
    n: int, b: int, c: int, log_p: float, claim: Interval, *, alike: bool = False
) -> bool:
    """Whether `paired_difference_interval` is inside a claim; no end of it need be found."""
    side, exact = level_share(log_p), _pays(n, log_p, alike)
    ends = ((b, c), claim.low), ((c, b), -claim.high)
    return all(_exceeds(n, *pair, side, end, exact=exact) for pair, end in ends)


def _pays(n: int, log_p: float, alike: bool) -> bool:
    """Whether the exact test has a part of the level."""
    return alike and n >= -500 * log_p and level_share(log_p) >= DEEPEST


def _lower(n: int, b: int, c: int, side: float, *, exact: bool) -> float:
    if not exact:
        return paired_difference_lower(n, b, c, side)
    return max(
        exact_paired_lower(n, b, c, level_share(side, _EXACT)),
        paired_difference_lower(n, b, c, level_share(side, _BETS)),
    )


def _exceeds(n: int, b: int, c: int, side: float, end: float, *, exact: bool) -> bool:
    """Whether `_lower` is at `end` or above it."""
    if end <= -1.0:
        return True
    if not exact:
        return paired_difference_lower(n, b, c, side) >= end
    by_bets = paired_difference_lower(n, b, c, level_share(side, _BETS)) >= end
    return by_bets or exact_paired_exceeds(n, b, c, level_share(side, _EXACT), end)


@theorem(
    source="Literature",
    place="the exact sign test (McNemar 1947 with exact tail); section 11.4",
    statement="For iid rows, if the candidate is not better (theta <= 0), b given b + c is at most "
    "binomial(b + c, 1/2), so P[Bin(b + c, 1/2) >= b] <= e^{log_p} has probability at most "
    "e^{log_p}.",
    domain="b >= 0, c >= 0; iid rows, margin 0: for unlike rows the test can exceed its level",
    monotone={"b": "down", "c": "up"},
    slack="the discreteness of b",
)
def sign_test_log_p(b: int, c: int) -> float:
    """ln P[Bin(b + c, 1/2) >= b], rounded up."""
    b = require.integer_at_least("b", b, 0)
    c = require.integer_at_least("c", c, 0)
    m = b + c
    if m > _COUNTED:
        return log_binomial_cdf(m, c, 0.5)
    ways = term = 1
    for wins in range(c):
        term = term * (m - wins) // (wins + 1)
        ways += term
    # Of 2^m, both whole: two logarithms and a product of some size are all that is rounded.
    return min(0.0, math.log(ways) - m * _LN2 + 4 * math.ulp(m * _LN2))


def smallest_shown_difference(n: int, differing: int, log_level: float) -> float | None:
    """The least (b - c)/n that the sign test shows among b + c = `differing` of n rows, if any.

    What is said before asking uses a public `differing`: the sample's own would be a leak.
    """
    n = require.positive_integer("n", n)
    differing = require.integer_between("differing", differing, 0, n)
    level = require.log_probability("log_level", log_level)
    if differing == 0:
        return None
    b = smallest_integer(lambda b: sign_test_log_p(b, differing - b) <= level, most=differing)
    return None if b is None else (2 * b - differing) / n
