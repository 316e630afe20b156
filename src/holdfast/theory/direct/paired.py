"""Paired differences: a row where only the candidate is right counts +1, only the incumbent -1.

Symbols: n rows, b of them +1, c of them -1; theta = P(+1) - P(-1); p the two-sided level.
"""

from __future__ import annotations

import math

import numpy as np

from holdfast import require
from holdfast.theory.base.bets import Tally, counted, fixed_lower_odds, level_share, share_below
from holdfast.theory.base.intervals import Interval, log_binomial_cdf
from holdfast.theory.base.nuisances import StakeLadder
from holdfast.theory.base.safeside import round_down, smallest_integer
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.paired_exact import (
    DEEPEST,
    exact_paired_exceeds,
    exact_paired_lower,
)

__all__ = [
    "paired_difference_interval",
    "paired_difference_lower",
    "paired_difference_within",
    "sign_test_log_p",
    "smallest_shown_difference",
]

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
