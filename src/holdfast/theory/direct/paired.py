"""Paired differences: a row where only the candidate is right counts +1, only the incumbent -1.

At ordinary levels such as 0.05 samples are ordered by the score (b - c - n theta0)/sqrt(b + c + 4),
which hardly depends on how many rows differ: there bets lose to Markov's inequality, and an order
by b - c alone to what is not known of d. No special function is needed.

Symbols: n alike rows with differences +1, -1 or 0, b of them +1, c of them -1; T = b - c,
m = b + c; theta = P(+1) - P(-1), d = P(+1) + P(-1); p the two-sided level, q one side's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.bets import StakeLadder, Tally, counted, fixed_lower_odds, share_below
from holdfast.theory.base.intervals import (
    Interval,
    clopper_pearson_upper,
    kl_upper,
    log_binomial_cdf,
)
from holdfast.theory.base.safeside import (
    largest_true,
    level_share,
    round_down,
    round_up,
    smallest_integer,
    smallest_true,
)
from holdfast.theory.base.theorem import theorem

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


# At ordinary levels: samples ordered by their score.


_Floats = NDArray[np.float64]
# What of the level goes to the test; the rest to a box for d, on which the score hardly depends.
TEST_SHARE = 0.99
# How finely theta and d are divided, in units of sqrt(m + 4)/n: the end of an interval is found to
# so much of its distance from the estimate, which is about twice the unit.
_FINEST = 1 / 24
_ADDED = 4.0
_FAR = 25.0  # nats below the level
_TABLE, _STIRLING = 2**14, 200
_LARGEST = 1.0 - 2.0**-53
_HALF_LN_2PI = 0.5 * math.log(2.0 * math.pi)


@theorem(
    source="Holdfast",
    place="Section 12.10, exact test in the order of the score (after Berger & Boos 1994)",
    statement="For n alike rows with differences in {-1, 0, 1}, S their sum and M how many are not "
    "0: the largest t such that for every theta0 <= t and every d in its KL interval at .01 q, "
    "P[(S - n theta0)/sqrt(M + 4) >= (b - c - n theta0)/sqrt(b + c + 4), or theta0 <= 0 and the "
    "sign test rejects at .99 q] <= .99 q, is above theta with probability at most q = e^{log_q}; "
    "t is at least 0 where the sign test rejects, and at most 0 where it does not.",
    domain="b, c >= 0, b + c <= n, log_q <= 0; alike rows",
    slack="the discreteness of the counts; the box for d has 1 % of the level",
)
def paired_score_lower(n: int, b: int, c: int, log_q: float) -> float:
    """A lower bound on theta, rounded down, which is above 0 only if the sign test rejects 0.

    *Proof.* Samples that the sign test rejects come first in the order for theta0 <= 0, then those
    with a larger score. The probability of what comes no later than the observed sample is a
    p-value: at .99 q it rejects the true theta0 and d with .99 q, and d is outside its box with
    .01 q. Where the sign test rejects, so does this p-value every theta0 <= 0, whatever d is.
    *Cells.* For all theta0 and d of a cell the probability is at most that of the union of its
    ends' samples (a score reaches the observed one for some theta0 only if it does at an end: both
    sides are linear in theta0), under the law of the cell's corner with the most wins and the
    fewest losses: with each (b', c') all that have more wins or fewer losses are counted, too.
    What rejected cells from -1 upwards do not cover is kept.
    """
    test = _ScoreTest.of(n, b, c, log_q)
    lowest, highest = -test.box.high, (b - c) / n
    # The sign test needs no d: what it does not show is not shown.
    is_more = b > c and sign_test_log_p(b, c) <= level_share(log_q, TEST_SHARE)
    end = test.first_kept(0.0, highest) if is_more else test.first_kept(lowest, min(highest, 0.0))
    # 0 is a number of our own, and below the lowest d there is no theta.
    return 0.0 if end == 0.0 else max(0.0 if is_more else -1.0, round_down(end))


def paired_score_interval(n: int, b: int, c: int, log_p: float) -> Interval:
    """The two one-sided bounds at e^{log_p}/2 each."""
    side = level_share(log_p)
    low = paired_score_lower(n, b, c, side)
    return Interval(low, 0.0 - (low if b == c else paired_score_lower(n, c, b, side)))


def detectable_gain(n: int, d: float, log_q: float, power: float = 0.8) -> float:
    """About the least gain that the sign test at .99 e^{log_q} shows with this probability.

    `d` is in which share of the rows both differ; a larger gain needs as large a share. 1 where
    even a gain in every row would be shown less often.
    """
    n = require.positive_integer("n", n)
    d = require.between("d", d, 0.0, 1.0)
    power = require.probability("power", power)
    level = math.exp(level_share(log_q, TEST_SHARE))

    def seen(gain: float) -> bool:
        share = max(d, gain)
        losses = _likely(n, 0.5 * (share - gain), _FAR)
        wins = _shown_wins(level, int(losses[-1]))[losses.astype(np.int64)]
        return _probability(n, 0.5 * (share + gain), 0.5 * (share - gain), losses, wins) >= power

    return smallest_true(seen, 0.0, 1.0, relative=1e-4)


def _shown_wins(level: float, most: int) -> _Floats:
    """From how many wins on the sign test rejects at this level, for 0 to `most` losses or more."""
    return _sign_region(level, 2 ** max(8, most.bit_length()))


@lru_cache(maxsize=4)
def _sign_region(level: float, most: int) -> _Floats:
    """The tail P[Bin(b + c, 1/2) >= b] and its first term, from one (b, c) to the next."""
    tail = term = 1.0
    wins, needed = 0, []
    least = level * (1.0 + 1e-9) + most * 2.0**-50  # rounding may add samples, never leave one out
    for losses in range(most):
        while tail > least:
            tail -= 0.5 * term
            wins += 1
            term *= 0.5 * (wins + losses) / wins
        needed.append(wins)
        tail += 0.5 * term * wins / (losses + 1)
        term *= 0.5 * (wins + losses + 1) / (losses + 1)
    return np.array(needed, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _ScoreTest:
    """What is rejected: pairs of theta0 and d."""

    n: int
    T: int
    m: int
    level: float
    box: Interval  # of d

    @classmethod
    def of(cls, n: int, b: int, c: int, log_q: float) -> _ScoreTest:
        n = require.positive_integer("n", n)
        b = require.integer_at_least("b", b, 0)
        c = require.integer_at_least("c", c, 0)
        m = require.integer_between("b + c", b + c, 0, n)
        log_q = require.log_probability("log_q", log_q)
        nats = round_up(-level_share(log_q, 0.5 * (1.0 - TEST_SHARE)))
        least = 0.0 if m == 0 else max(0.0, 1.0 - kl_upper(n, (n - m) / n, nats) - 2.0**-52)
        box = Interval(least, kl_upper(n, m / n, nats))
        return cls(n, b - c, m, math.exp(level_share(log_q, TEST_SHARE)), box)

    @property
    def nats(self) -> float:
        """How unlikely the counts are that are not looked at, and count in full."""
        return _FAR - math.log(self.level)

    @property
    def unit(self) -> float:
        """About half of how far the interval's ends are from the estimate."""
        return math.sqrt(self.m + _ADDED) / self.n

    def first_kept(self, low: float, high: float) -> float:
        """The least theta0 of [low, high] that is not surely rejected; `high` if all are."""
        if self.rejects(low, high):
            return high
        if high - low <= _FINEST * self.unit:
            return low
        middle = 0.5 * (low + high)
        end = self.first_kept(low, middle)
        return end if end < middle else self.first_kept(middle, high)

    def rejects(self, low: float, high: float) -> bool:
        """Whether every theta0 of [low, high] is rejected, whatever d is in the box."""
        likely = min(max(self.m / self.n, self.box.low, abs(high)), self.box.high)
        if self.largest(high, high, likely, likely) > self.level:
            return False  # dividing the box would not help
        finest = max(high - low, _FINEST * self.unit)
        boxes = [self.box]
        while boxes:
            least, most = boxes.pop()
            if self.largest(low, high, least, most) <= self.level:
                continue
            if most - least <= finest:
                return False
            middle = 0.5 * (least + most)
            boxes += [Interval(least, middle), Interval(middle, most)]
        return True

    def largest(self, low: float, high: float, least: float, most: float) -> float:
        """A bound on the tail, for every theta0 of [low, high] and d of [least, most]."""
        least = max(least, -high)  # |theta| <= d
        if most < max(-high, low):
            return 0.0
        fewest = max(0.0, 0.5 * (least - high))
        losses = _likely(self.n, fewest, self.nats)
        wins = np.minimum(self._least_wins(low, losses), self._least_wins(high, losses))
        if low < 0.0:  # what the sign test shows comes first in the order
            shown = _shown_wins(self.level, int(losses[-1]))
            wins = np.minimum(wins, shown[losses.astype(np.int64)])
        most_wins = min(1.0 - fewest, 0.5 * (most + high))
        return _probability(self.n, most_wins, fewest, losses, wins) + 2.0 * math.exp(-self.nats)

    def _least_wins(self, theta0: float, losses: _Floats) -> _Floats:
        """From how many wins on the score reaches the observed one, for each number of losses.

        With y = sqrt(b' + c' + 1) and score s that is y^2 - s y - (2c' + 1 + n theta0) >= 0: above
        the larger root; where there is none, or no win at all is below the smaller one, from 0.
        """
        s = (self.T - self.n * theta0) / math.sqrt(self.m + _ADDED)
        inside = s * s + 4.0 * (2.0 * losses + _ADDED + self.n * theta0)
        root = np.sqrt(np.maximum(inside, 0.0))
        wins = 0.5 * s * (s + root) + losses + self.n * theta0
        wins = np.ceil(wins - 1e-8 * (1.0 + np.abs(wins)))
        every = (inside < 0.0) | (np.sqrt(losses + _ADDED) <= 0.5 * (s - root) * (1.0 + 1e-8))
        return np.where(every, 0.0, np.maximum(wins, 0.0))


def _likely(n: int, share: float, nats: float) -> _Floats:
    """Counts of n rows that are outside with probability at most e^{-nats} a side (Bernstein)."""
    mean = n * share
    spread = math.sqrt(2.0 * mean * nats)
    least, most = math.floor(mean - spread), math.ceil(mean + spread + nats / 3.0)
    return np.arange(max(0, least), min(n, most) + 1, dtype=np.float64)


def _probability(n: int, win: float, loss: float, losses: _Floats, needed: _Floats) -> float:
    """An upper bound on P[C among `losses`, B >= `needed`], for B wins and C losses in n rows.

    `needed` does not fall. Given C, B is binomial; from one number of losses to the one below it
    a row more may win and fewer wins are needed: the tail is a sum of terms that are not negative.
    """
    share = min(max(win / max(1.0 - loss, win, 1e-300), 1e-300), _LARGEST)
    masses = np.exp(_log_binomial(float(n), losses, min(max(loss, 1e-300), _LARGEST)))
    # From c + 1 losses to c: wins k(c) - 1 with weight `share`, then k(c) .. k(c + 1) - 1.
    many = (needed[1:] - needed[:-1] + 1).astype(np.int64)
    place = np.repeat(np.arange(many.size), many)
    step = np.arange(place.size) - np.repeat(np.cumsum(many) - many, many)
    terms = needed[:-1][place] - 1.0 + step
    trials = n - losses[:-1][place] - 1.0
    possible = (terms >= 0.0) & (terms <= trials)
    added = np.exp(
        _log_binomial(np.where(possible, trials, 1.0), np.where(possible, terms, 0.0), share)
    )
    added *= np.where(step == 0, share, 1.0) * possible
    gains = np.bincount(place, weights=added, minlength=many.size)
    top = _tail_bound(n - losses[-1], needed[-1], share)
    tails = np.minimum(1.0, top + np.append(np.cumsum(gains[::-1])[::-1], 0.0))
    total = float((masses * tails).sum())
    error = 2.0**-45 * float(_log_factorial(np.array([float(n)]))[0]) + 1e-9
    cut = n * 2.0**-52 if share == _LARGEST else 0.0
    return min(1.0, total * (1.0 + error) + cut)


def _tail_bound(trials: float, wins: float, share: float) -> float:
    """An upper bound on P[Bin(trials, share) >= wins], by a geometric series beyond the mode."""
    if wins > trials:
        return 0.0
    ratio = (trials - wins) * share / ((wins + 1.0) * (1.0 - share))
    if wins <= 0.0 or ratio >= 1.0:
        return 1.0
    largest = np.exp(_log_binomial(np.array([trials]), np.array([wins]), share))
    return min(1.0, float(largest[0]) / (1.0 - ratio))


def _log_binomial(trials: _Floats | float, wins: _Floats, share: float) -> _Floats:
    """ln P[Bin(trials, share) = wins]."""
    rest = np.asarray(trials - wins)
    ways = _log_factorial(np.asarray(trials)) - _log_factorial(wins) - _log_factorial(rest)
    return ways + wins * math.log(share) + rest * math.log1p(-share)


def _log_factorial(k: _Floats) -> _Floats:
    """ln k!: from a table, or by Stirling's series, whose next term is below 1e-16 beyond it."""
    most = float(k.max(initial=0.0))
    if most < _TABLE:
        return np.take(_factorials(), k.astype(np.int64))
    x = np.maximum(k, _STIRLING) + 1.0
    series = (x - 0.5) * np.log(x) - x + _HALF_LN_2PI
    series += (1.0 - (1.0 / 30.0 - 2.0 / (105.0 * x * x)) / (x * x)) / (12.0 * x)
    small = np.take(_factorials(), np.minimum(k, _STIRLING).astype(np.int64))
    return np.where(k <= _STIRLING, small, series)


@cache
def _factorials() -> _Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, _TABLE)))])
