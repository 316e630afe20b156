"""The test of a claim: whether the sample shows that the truth is in a public interval J.

If the truth is outside J it is on one side of it. So a test at level p may spend p on each side:
any interval whose two ends fail with at most p each, inside J, claims J falsely with probability at
most p. It need not lie within a radius of the sample's value (rule R1 is for releases): nothing of
it is shown but the symbol. A half-line is an interval with an infinite end.

What is used for which rows is public and fixed before data are touched:

- 0/1 values: Clopper and Pearson's ends at p each; for rows that are not alike at p(1 - p).
- values in [0, 1] with a public guess of their second moment: five bets (section 11.3).
- values in [0, 1] without: half of p for Chernoff's ends and half for the bets in cells of odds.
- paired differences in {-1, 0, 1}: five bets with a guess; without, bets and for alike rows the
  exact law.
- anything else: the radius of its concentration profile.

So a claim that R1's check at level p confirmed (its interval at p/2 a side, inside its radius) is
confirmed, but for one case: where that radius came from a *known* variance, bets may need more.

Symbols: J = [low, high] the claim, p the level of a false claim, n rows, k checks, d the second
moment in units where the range is [-1, 1].
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from holdfast import require
from holdfast.theory.base.bets import counted, unit_values
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.intervals import (
    Interval,
    clopper_pearson,
    clopper_pearson_within,
    kl_interval,
)
from holdfast.theory.base.safeside import log_down, round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.mean import bet_excess, bet_lower, enclosed_mean_interval
from holdfast.theory.direct.paired import paired_difference_within
from holdfast.theory.direct.proportion import two_sided_unlike_level
from holdfast.theory.leakage.claims import confirmations_log_charge

__all__ = [
    "claim_holds",
    "confirmed_paired_half_width",
    "confirmed_share_half_width",
    "mean_claim_holds",
    "paired_claim_holds",
    "radius_claim_holds",
    "share_claim_holds",
    "two_sided_log_level",
]


@theorem(
    source="Holdfast",
    place="Theorem C, one side",
    statement="A truth outside J is on one side of J, so an interval at two-sided level 2p, p a "
    "side, that lies inside J claims J falsely with probability at most p.",
    domain="log_p <= 0; intervals that spend half of their level on each side",
    monotone={"log_p": "up"},
    slack="none; from p = 1/2 on it is 1",
)
def two_sided_log_level(log_p: float) -> float:
    """ln min(1, 2p), rounded down."""
    return min(0.0, log_down(require.log_probability("log_p", log_p) + math.log(2.0)))


def claim_holds(shown: Interval, claim: Interval) -> bool:
    """Whether an interval that is true but for p a side lies inside the claim."""
    return claim.low <= shown.low and shown.high <= claim.high


def share_claim_holds(
    n: int, successes: int, claim: Interval, log_p: float, *, alike: bool = True
) -> bool:
    """Whether `successes` of n independent 0/1 rows show that their rate is in the claim."""
    level = two_sided_log_level(log_p)
    level = level if alike else two_sided_unlike_level(level)
    return clopper_pearson_within(n, successes, level, claim)


def mean_claim_holds(
    low: ArrayLike,
    high: ArrayLike,
    claim: Interval,
    log_p: float,
    times: ArrayLike | None = None,
    *,
    second_moment: float | None = None,
) -> bool:
    """Whether independent rows in [0, 1] show that their mean is in the claim.

    Rows are known to lie between `low` and `high` (the edges of their bins), each so many times.
    `second_moment` is a public guess of the mean of (2x - 1)^2.
    """
    log_p = require.log_probability("log_p", log_p)
    if second_moment is not None:
        mirrored = 1.0 - unit_values(high, up=True)
        below = 0.0 if claim.high >= 1.0 else round_up(1.0 - claim.high)
        return _shows_more(low, second_moment, log_p, claim.low, times) and _shows_more(
            mirrored, second_moment, log_p, below, times
        )
    # Both at two-sided level p: p/2 a side, and p a side for both together.
    chernoff = _enclosed_kl_interval(low, high, log_p, times)
    bets = enclosed_mean_interval(low, high, log_p, times)
    both = Interval(max(chernoff.low, bets.low), min(chernoff.high, bets.high))
    return claim_holds(both, claim)


def paired_claim_holds(
    n: int,
    b: int,
    c: int,
    claim: Interval,
    log_p: float,
    *,
    alike: bool = False,
    second_moment: float | None = None,
) -> bool:
    """Whether b differences of 1 and c of -1 among n rows show that their mean is in the claim."""
    if second_moment is None:
        level = two_sided_log_level(log_p)
        return paired_difference_within(n, b, c, level, claim, alike=alike)
    halved = Interval(
        round_up((1.0 + claim.low) / 2) if claim.low > -1.0 else -math.inf,
        round_down((1.0 + claim.high) / 2) if claim.high < 1.0 else math.inf,
    )
    values, times = [0.0, 0.5, 1.0], [c, n - b - c, b]
    return mean_claim_holds(values, values, halved, log_p, times, second_moment=second_moment)


def radius_claim_holds(
    value: float, profile: Concentration, claim: Interval, log_p: float, error: float = 0.0
) -> bool:
    """Whether a statistic that concentrates as declared shows that its truth is in the claim.

    `value` is known to within `error`. A two-sided tail bound says nothing more of one side.
    """
    reach = round_up(profile.radius(log_p) + require.non_negative("error", error))
    return claim_holds(Interval(round_down(value - reach), round_up(value + reach)), claim)


@theorem(
    source="Holdfast",
    place="Section 11.2, confirmed half-width",
    statement="After any number of confirmations up to k - 1 and no surprise, a claim g -+ t about "
    "a 0/1 question is confirmed if the guess g is within a standard error of the sample's share "
    "and t is at least this.",
    domain="n >= 1, k >= 1, 0 <= rate <= 1 the sample's share, log_left <= 0; alike rows",
    monotone={"k": "up", "log_left": "down"},
    slack="none at the k-th check",
)
def confirmed_share_half_width(n: int, k: int, rate: float, log_left: float) -> float:
    """The half-width that the last of k checks of a 0/1 question can confirm, rounded up."""
    n = require.positive_integer("n", n)
    successes = round(n * require.between("rate", rate, 0.0, 1.0))
    level = two_sided_log_level(_last_log_level(k, log_left))
    low, high = clopper_pearson(n, successes, level)
    share = successes / n
    room = math.sqrt(share * (1.0 - share) / n)
    return round_up(max(high - share, share - low) + room)


@theorem(
    source="Holdfast",
    place="Section 11.3, confirmed half-width of paired differences",
    statement="After any number of confirmations up to k - 1 and no surprise, a claim g -+ t about "
    "paired differences that differ in a share d of the rows, and equally often each way, is "
    "confirmed by five bets if g is within a standard error and t is at least this.",
    domain="n >= 1, k >= 1, 0 < differing <= 1 the share that was guessed, log_left <= 0",
    monotone={"k": "up", "log_left": "down"},
    slack="none at the k-th check",
)
def confirmed_paired_half_width(n: int, k: int, differing: float, log_left: float) -> float:
    """The half-width that the last of k checks of a paired difference can confirm, rounded up."""
    n = require.positive_integer("n", n)
    d = require.between("differing", differing, 0.0, 1.0, open_low=True)
    each = round(n * d / 2)
    times = [each, n - 2 * each, each]
    lower = 2.0 * bet_lower([0.0, 0.5, 1.0], d, _last_log_level(k, log_left), times) - 1.0
    return round_up(math.sqrt(d / n) - lower)


def _last_log_level(k: int, log_left: float) -> float:
    """The level of the k-th check, all before it confirmed, under the default prior."""
    k = require.positive_integer("k", k)
    return log_down(require.log_probability("log_left", log_left) - confirmations_log_charge(k))


def _shows_more(
    values: ArrayLike, second_moment: float, log_p: float, least: float, times: ArrayLike | None
) -> bool:
    """Whether five bets reject a mean below `least`, which binds nothing from 0 downwards."""
    if least <= 0.0:
        return True
    return least < 1.0 and bet_excess(values, second_moment, log_p, least, times) >= 0.0


def _enclosed_kl_interval(
    low: ArrayLike, high: ArrayLike, log_p: float, times: ArrayLike | None
) -> Interval:
    """Chernoff's interval from the sums of the lower and of the upper values."""
    least, most, counts = counted(times, unit_values(low), unit_values(high, up=True))
    n = int(counts.sum())
    if n == 0:
        return Interval(0.0, 1.0)
    # Sums of numbers that are not negative, known to far better than 2^-40 of themselves.
    below = float((least * counts).sum()) / n * (1.0 - 2.0**-40)
    above = min(1.0, float((most * counts).sum()) / n * (1.0 + 2.0**-40))
    return Interval(kl_interval(n, below, log_p).low, kl_interval(n, above, log_p).high)
