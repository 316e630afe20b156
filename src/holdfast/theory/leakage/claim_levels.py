"""Theorem C: claims without multiplicity, the prior of a surprise, and the test of a claim.

Theorem C. On the ledger of Theorem L, let s(h) be the shares spent by asks, answered surprises and
late dictionaries before the public history h, s <= beta on every path. A check has a public claim
J, a public weight u in (0, 1) for the symbol that claims it, and a test with
P_X[claiming symbol] <= p for the question fixed whenever its truth is outside J; all of them are
functions of h, fixed before data are touched. Its other symbol, of weight 1 - u, claims nothing or
carries a release. With p = (beta - s(h)) u/K(h), everything the ledger claims is true together with
probability >= 1 - beta, however many checks.

Proof. "J is false" depends on (h, P) only. P[the first failure is a false claim at h] <=
int W(dh) K(h) 1{none false before} P_X[claims] <= E_W[1{first false claim drawn at h}(beta - s(h))]
since W draws the claiming symbol with u; P[the first failure is release j] <= E_W[1{no false claim
drawn before j} beta_j]. On a W-path whose first false claim is at tau these add to s(tau) + beta -
s(tau); on a path without, to at most beta. In words: the level of a claim is what is left of beta
times the prior probability of the transcript up to and including the claim.

The symbols are charged as those of checks are: the one of weight 1 - eps by `confirmed_log_charge`,
the other by `surprise_log_charge`, with nothing for a release where it is silent. A check's claim
has u = 1 - eps, a gate's u = eps (`gates`).

Symbols: beta the ledger's failure probability, s what of it is spent, u the weight of the claiming
symbol, K the leakage so far, here ln K in nats; of priors c checks so far, f surprises so far, eps
the public prior of a surprise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import ArrayLike

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.bets import counted, unit_values
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.dependence import PooledUnits
from holdfast.theory.base.intervals import (
    Interval,
    clopper_pearson,
    clopper_pearson_within,
    kl_interval,
    two_sided_unlike_level,
)
from holdfast.theory.base.safeside import log1mexp, log_down, round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.bounded_mean import bet_excess, bet_lower, enclosed_mean_interval
from holdfast.theory.direct.paired import paired_difference_within
from holdfast.theory.direct.unit_sums import SUMMATION_ERROR, unit_mean_interval


@theorem(
    source="Holdfast",
    place="Theorem C, what is left",
    statement="After shares of s in all, beta - s is left for whatever the ledger still claims.",
    domain="log_beta <= 0, log_spent <= 0 or minus infinity",
    monotone={"log_beta": "up", "log_spent": "down"},
    slack="none",
)
def log_left(log_beta: float, log_spent: float) -> float:
    """ln(beta - s), rounded down; minus infinity where nothing is surely left."""
    log_beta = require.log_probability("log_beta", log_beta)
    if log_spent == -math.inf:
        return log_beta
    share = round_up(require.log_probability("log_spent", log_spent) - log_beta)
    # The difference is known to a few units in the last place of the longer of the two.
    share += 4 * math.ulp(min(log_beta, log_spent))
    return log_down(log_beta + log1mexp(share)) if share < 0.0 else -math.inf


@theorem(
    source="Holdfast",
    place="Theorem C",
    statement="A claim whose symbol has public weight u, tested at level (beta - s) u/K, is true "
    "together with everything else the ledger claims with probability >= 1 - beta, however many "
    "claims there are and whoever chooses them.",
    domain="log_left = ln(beta - s) <= 0, 0 < weight < 1, nats = ln K >= 0",
    monotone={"log_left": "up", "weight": "up", "nats": "down"},
    slack="none: tests of exactly this size reach beta (1 - prod(1 - u))",
)
def claim_log_level(log_left: float, weight: float, nats: float) -> float:
    """ln of the level at which a claim's test may claim falsely, one side, rounded down."""
    log_left = require.log_probability("log_left", log_left)
    log_weight = math.log(require.probability("weight", weight))
    return log_down(log_left + log_weight - require.non_negative("nats", nats))


@theorem(
    source="Holdfast",
    place="Theorem C, an answered surprise",
    statement="The release of a surprise that had public weight eps has its event at the history "
    "that includes the surprise: with a share beta_j, spent only when it happens, at level "
    "beta_j eps/K; it is charged kappa/eps.",
    domain="log_share <= 0, 0 < eps < 1, nats = ln K >= 0 before the check",
    monotone={"log_share": "up", "eps": "up", "nats": "down"},
    slack="that of Theorem L",
)
def surprise_log_level(log_share: float, eps: float, nats: float) -> float:
    """ln of the level of a surprise's release, both sides, rounded down."""
    log_share = require.log_probability("log_share", log_share)
    return claim_log_level(log_share, eps, nats)


@theorem(
    source="Holdfast",
    place="Section 11.2, default prior: confirmations alone",
    statement="With half of the prior on 'never a surprise', c confirmations from the start cost "
    "-ln((1 + B)/2) nats in all, B = prod_{i<c}(1 - 1/2/(i + 10)): less than ln 2 for ever.",
    domain="c >= 0",
    monotone={"c": "up"},
    slack="none: the sum of the charges one by one",
)
def confirmations_log_charge(c: int) -> float:
    """Nats of c checks that were all confirmed, rounded up."""
    c = require.integer_at_least("c", c, 0)
    if c == 0:
        return 0.0
    log_odds = math.log1p(0.5 * (never_surprised_odds(c) - 1.0))
    return round_up(log_gamma_error(c) - log_odds)


@theorem(
    source="Holdfast",
    place="Theorem C, a batch decided in its order",
    statement="Checks chosen together may be decided in their order, each at the level that the "
    "symbols before it leave: one scan of the data, then one pass over the measurements.",
    domain="as `claim_log_level`; a weight for each check, a symbol (claimed or silent) for each "
    "check that is decided",
    slack="none: a batch is a history that was planned",
)
def ordered_log_levels(
    log_left: float, nats: float, weights: Sequence[float], claimed: Sequence[bool]
) -> list[float]:
    """ln of the level of each check, given the symbols before it; surprises are silent.

    Levels are had for the decided checks and the next one; an audit makes them again.
    """
    if len(claimed) > len(weights):
        raise InvalidArgument(
            f"{len(claimed)} checks are decided and {len(weights)} have a weight; "
            "give a weight for each."
        )
    levels = []
    for position, weight in enumerate(weights[: len(claimed) + 1]):
        levels.append(claim_log_level(log_left, weight, nats))
        if position < len(claimed):
            log_weight = math.log(weight) if claimed[position] else math.log1p(-weight)
            nats = round_up(nats + round_up(-log_weight), 1)
    return levels


@theorem(
    source="Holdfast",
    place="Theorem C, a batch decided at once",
    statement="Checks that are decided without each other's symbols are at levels "
    "p_i = (beta - s) u_i prod_{l<i}(1 - u_l)/K.",
    domain="as `claim_log_level`, for each of the weights",
    slack="none if all of their claims are false; the order is public, so put the dearest first",
)
def parallel_log_levels(log_left: float, nats: float, weights: Sequence[float]) -> list[float]:
    """ln of the levels, rounded down.

    *Proof.* For any set F of false claims the prior draws one of them with probability
    sum_{i in F} u_i prod_{l in F, l < i}(1 - u_l), which is at least sum_{i in F} p_i K/(beta - s).
    """
    silent = [False] * (len(weights) - 1) if weights else []
    return ordered_log_levels(log_left, nats, weights, silent)


# The test of a claim: whether the sample shows that the truth is in a public interval J.
#
# If the truth is outside J it is on one side of it. So a test at level p may spend p on each
# side: any interval whose two ends fail with at most p each, inside J, claims J falsely with
# probability at most p. It need not lie within a radius of the sample's value (rule R1 is for
# releases): nothing of it is shown but the symbol. A half-line is an interval with an infinite
# end.
#
# What is used for which rows is public and fixed before data are touched:
#
# - 0/1 values: Clopper and Pearson's ends at p each; for rows that are not alike at p(1 - p).
# - values in [0, 1] with a public guess of their second moment: five bets (section 11.3).
# - values in [0, 1] without: half of p for Chernoff's ends and half for the bets in cells of odds.
# - paired differences in {-1, 0, 1}: five bets with a guess; without, bets and for alike rows the
#   exact law.
# - rows in units of at most M rows: half of p for the radius and half for the bets on unit sums.
# - anything else: the radius of its concentration profile.
#
# So a claim that R1's check at level p confirmed (its interval at p/2 a side, inside its radius)
# is confirmed, but for one case: where that radius came from a *known* variance, bets may need
# more.
#
# Symbols: J = [low, high] the claim, p the level of a false claim, n rows, k checks, d the second
# moment in units where the range is [-1, 1].


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


def unit_claim_holds(
    sums: ArrayLike,
    sizes: ArrayLike,
    claim: Interval,
    log_p: float,
    units: PooledUnits,
    error: float = 0.0,
) -> bool:
    """Whether the sums and sizes of units of rows in [0, 1] show that their mean is in the claim.

    Each row is known to within `error`. Claims may be chosen by the number of rows, so bets, too,
    are made at its part of the level.
    """
    log_p = require.log_probability("log_p", log_p)
    S, m = (np.asarray(side, dtype=np.float64).ravel() for side in (sums, sizes))
    mean, reach = float(S.sum() / m.sum()), units.radius(log_p) + SUMMATION_ERROR
    # Both at two-sided level p: p/2 a side, and p a side for both together.
    bets = unit_mean_interval(S, m, units.largest, round_down(log_p + units.log_weight))
    both = Interval(max(mean - reach, bets.low), min(mean + reach, bets.high))
    error = require.non_negative("error", error)
    wider = Interval(round_down(both.low - error), round_up(both.high + error))
    return claim_holds(wider, claim)


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


# Priors of a surprise: what a check expects.

# Beta(1/2, 19/2): one surprise in twenty checks.
_SURPRISED, _CONFIRMED = 0.5, 9.5


@theorem(
    source="Holdfast",
    place="Section 11.2, default prior; checks chosen together",
    statement="Half 'never a surprise' and half surprises at a rate from Beta(1/2, 19/2): the "
    "mixture expects a surprise, after f in c checks, with eps = (f + 1/2)/(c + 10) if f >= 1, and "
    "eps = B b/(1 + B), b = 1/2/(c + 10), B = prod_{i<c}(1 - 1/2/(i + 10)), if f = 0. Each of m "
    "checks chosen together gets the eps with which all m confirmed cost what they would one by "
    "one.",
    domain="0 <= f <= c, m >= 1",
    monotone={"m": "down", "f": "up"},
    slack="confirmations alone cost less than ln 2 for ever; several surprises in one batch would "
    "be cheaper one by one",
)
def surprise_prior(c: int, f: int, m: int = 1) -> float:
    """The public prior of a surprise where nothing was declared, for each of m checks together.

    Sound for any pattern of outcomes: eps depends on the history only and is the same for every
    check of the batch, so the products of eps and 1 - eps sum to 1 over all 2^m patterns.
    """
    c = require.integer_at_least("c", c, 0)
    f = require.integer_between("f", f, 0, c)
    m = require.positive_integer("m", m)
    a, b = _SURPRISED + f, _CONFIRMED + c - f
    log_kept = math.fsum(math.log1p(-a / (a + b + i)) for i in range(m))
    if f == 0:
        B = never_surprised_odds(c)
        log_kept = math.log1p(B * math.expm1(log_kept) / (1 + B))
    return -math.expm1(log_kept / m)


@lru_cache(maxsize=1024)  # of every check of a batch it is asked at each of its steps
def never_surprised_odds(c: int) -> float:
    """B: the weight of the prior's Beta half against that of "never" after c confirmations."""
    return math.exp(_log_beta(_SURPRISED, _CONFIRMED + c) - _log_beta(_SURPRISED, _CONFIRMED))


@theorem(
    source="Holdfast",
    place="Section 4, declared number of surprises",
    statement="With m surprises declared in k checks the public prior eps = (m + 1)/(k + 2), at "
    "most 1/2 (and 1/2 from m = (k - 1)/2 on), codes any run with at most m surprises in about "
    "ln C(k, m) + 1 nats, whether its checks are chosen together or one by one.",
    domain="0 <= surprises <= k, k >= 1",
    monotone={"surprises": "up", "k": "down"},
    slack="at most (1/2) ln k + 1 nats above the best fixed prior",
)
def declared_surprise_prior(surprises: int, k: int) -> float:
    """eps = (m + 1)/(k + 2), or 1/2 if half of the charged checks or more may be surprises.

    Above 1/2 a confirmation would cost more than a surprise; a little below it the worst run would
    cost more than one bit a check, so that fewer declared surprises would cost more.
    """
    k = require.positive_integer("k", k)
    m = require.integer_at_least("surprises", surprises, 0)
    require.between("surprises", m, 0, k)
    return 0.5 if 2 * m >= k - 1 else (m + 1) / (k + 2)


def log_gamma_error(t: int) -> float:
    """A bound on the error of a short sum of log-gammas of numbers up to t + 2."""
    return 2e-15 * math.lgamma(t + 3)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


# Theorem S: claims with many symbols; and grades, which say how strongly a claim is shown.
#
# Theorem S. A check on the ledger of Theorem C may have any countable set of symbols a, with public
# weights u(a) >= 0 that sum to at most 1, each with a claim J_a or none, all fixed before data are
# touched. If, summed over the symbols whose claim is false, sum P_X[symbol a] <= A(h) sum u(a),
# with A = (beta - s)/K, everything the ledger claims is true together with probability >= 1 - beta.
# Symbol a is charged -ln u(a), and no share is spent. Every symbol that can be told has a weight,
# those that claim nothing too; one of weight 0 closes the ledger when it happens.
#
# Proof. W draws symbol a with u(a). P[the first failure is a false claim at h] <= int W(dh) K(h)
# sum_{a false} P_X[a] <= E_W[1{first false claim drawn at h}(beta - s(h))]; the rest is Theorem
# C's, which has two symbols.
#
# Adjusted p. p_adj = s + p K/u is the least beta at which a claim would have been shown, the public
# history given. For each fixed beta' the first false claim has p_adj <= beta' with probability at
# most beta', since the nodes of first false claims are prefix-free. Not so *some* false claim:
# after one with p_adj above beta' the loop goes on. What is shown is therefore p*, the largest
# p_adj of all claims told so far. Computed on X it is a finer symbol than *shown*: it is told as
# *grades*, which are charged, or exactly when nothing follows.
#
# Symbols: beta the ledger's failure probability, s what of it is spent, u the public weight of a
# symbol, K the leakage so far, here ln K in nats; b_1 < ... < b_g = beta the grades and v_a their
# shares of the weight of *shown*.


GRADES = (1 / 50, 1 / 5, 1.0)  # of the ledger's failure probability
GRADE_SHARES = (0.15, 0.25, 0.6)  # of the weight of *shown*
# The weight of all looks that find missing values: so little that no width is wider by it where
# nothing is missing, and what is missing had better be declared.
_SOME_MISSING = 2.0**-40


@theorem(
    source="Holdfast",
    place="Theorem S",
    statement="If the symbol a of public weight u(a), the weights of all symbols summing to at "
    "most 1, is told with probability at most (beta - s) u(a)/K wherever its claim is false, "
    "everything the ledger claims is true together with probability >= 1 - beta.",
    domain="log_left = ln(beta - s) <= 0, log_weight <= 0, nats = ln K >= 0",
    monotone={"log_left": "up", "log_weight": "up", "nats": "down"},
    slack="none: Theorem C is two symbols",
)
def symbol_log_level(log_left: float, log_weight: float, nats: float) -> float:
    """ln of the level of one symbol's claim, rounded down."""
    log_left = require.log_probability("log_left", log_left)
    log_weight = require.log_probability("log_weight", log_weight)
    return log_down(log_left + log_weight - require.non_negative("nats", nats))


@theorem(
    source="Holdfast",
    place="Theorem S, charges",
    statement="A symbol of public weight u is charged kappa = 1/u, whether it claims or not.",
    domain="log_weight <= 0",
    monotone={"log_weight": "down"},
    slack="none",
)
def symbol_log_charge(log_weight: float) -> float:
    """-ln u, rounded up."""
    return round_up(-require.log_probability("log_weight", log_weight))


@theorem(
    source="Holdfast",
    place="Theorem S, a look at which columns hold missing values",
    statement="Which of d columns hold missing values is a symbol that claims nothing: of weight "
    "1 - 2^-40 where none does, 2^-40/(d C(d, m)) where m of them do. The weights sum to 1. A "
    "ledger at beta u(symbol) for each symbol fails with probability at most beta.",
    domain="0 <= missing <= columns",
    slack="none: Kraft sum exactly 1",
)
def lookup_log_weight(columns: int, missing: int) -> float:
    """ln of the public weight of what a look at these columns came to, rounded down."""
    d = require.integer_at_least("columns", columns, 0)
    m = require.integer_between("missing", missing, 0, d)
    if m == 0:
        return log_down(math.log1p(-_SOME_MISSING))
    return log_down(math.log(_SOME_MISSING) - math.log(d) - math.log(math.comb(d, m)))


@theorem(
    source="Holdfast",
    place="Section 13.8, adjusted p",
    statement="s + p K/u is the least failure probability at which a claim would have been shown, "
    "the public history given: the first false claim has it at or below beta' with probability "
    "at most beta', for each fixed beta'.",
    domain="log_p <= 0, 0 <= spent < 1, 0 < weight < 1, nats = ln K >= 0",
    monotone={"log_p": "up", "spent": "up", "weight": "down", "nats": "up"},
    slack="none",
)
def adjusted_p(log_p: float, spent: float, weight: float, nats: float) -> float:
    """The adjusted p of one claim, by itself, rounded up; at most 1."""
    log_p = require.log_probability("log_p", log_p)
    log_weight = math.log(require.probability("weight", weight))
    spent = require.between("spent", spent, 0.0, 1.0, open_high=True)
    log_scaled = round_up(log_p + require.non_negative("nats", nats) - log_weight, 8)
    return min(1.0, round_up(spent + round_up(math.exp(min(log_scaled, 0.0)))))


@theorem(
    source="Holdfast",
    place="Section 13.8, the running maximum",
    statement="p* = the largest adjusted p of all claims told so far, plus beta_O where something "
    "was described before: for each fixed beta', some false claim has p* <= beta' with "
    "probability at most beta'.",
    domain="each of adjusted in [0, 1], in the ledger's order; 0 <= described <= 1",
    slack="none for the first false claim",
)
def running_adjusted_p(adjusted: Sequence[float], described: float = 0.0) -> list[float]:
    """What is shown beside each claim, rounded up; `described` is beta_O, or 0."""
    described = require.between("described", described, 0.0, 1.0)
    running = accumulate((require.between("adjusted", each, 0.0, 1.0) for each in adjusted), max)
    return [min(1.0, round_up(each + described)) if described else each for each in running]


@theorem(
    source="Holdfast",
    place="Section 13.8, grades",
    statement="The grade of a shown claim is the least a with p <= (b_a - s) u V_a/K, V_a = v_1 + "
    "... + v_a; the claim with the running maximum of grades holds at b_a.",
    domain="b_1 < ... < b_g (ln), log_spent = ln s or minus infinity, shares > 0 that sum to 1, "
    "0 < weight < 1, nats = ln K >= 0",
    slack="grades whose b_a is spent do not occur; their shares count all the same",
)
def grade_log_levels(
    log_betas: Sequence[float],
    log_spent: float,
    shares: Sequence[float],
    weight: float,
    nats: float,
) -> list[float]:
    """ln of each grade's level, rounded down; minus infinity for a grade that does not occur."""
    if any(second <= first for first, second in pairwise(log_betas)):
        raise InvalidArgument("the grades do not rise; give the strictest first.")
    log_weight = math.log(require.probability("weight", weight))
    levels = []
    for log_beta, log_cumulative in zip(log_betas, _log_cumulative(shares), strict=True):
        log_remaining = log_left(log_beta, log_spent)
        occurs = log_remaining > -math.inf
        of_grade = log_weight + log_cumulative
        levels.append(symbol_log_level(log_remaining, of_grade, nats) if occurs else log_remaining)
    return levels


@theorem(
    source="Holdfast",
    place="Section 13.8, what a grade costs",
    statement="The symbol *shown, grade a* has the weight u v_a and is charged -ln(u v_a).",
    domain="0 < weight < 1, 0 < share <= 1",
    monotone={"weight": "down", "share": "down"},
    slack="none",
)
def grade_log_charge(weight: float, share: float) -> float:
    """Nats of a claim shown with its grade, rounded up."""
    share = require.between("share", share, 0.0, 1.0, open_low=True)
    log_weight = math.log(require.probability("weight", weight)) + math.log(share)
    return symbol_log_charge(log_down(log_weight))


def _log_cumulative(shares: Sequence[float]) -> list[float]:
    each = [require.between("share", share, 0.0, 1.0, open_low=True) for share in shares]
    if not each or abs(math.fsum(each) - 1.0) > 1e-9:
        raise InvalidArgument(f"the grades' shares sum to {math.fsum(each):g}; they must sum to 1.")
    return [min(0.0, math.log(total)) for total in accumulate(each)]


# The half-width of a check for which none is named: no promise rests on it.


# Standard errors that 39 of 40 guesses are within: as often as checks are expected to be confirmed.
_LIKELY = 2.241402727604945
_SKEWED = 0.75
_MIXED = 2.5  # nats by which bets that know no variance are behind the best of them


def likely_half_width(
    n: int, variance: float, rows: int, log_p: float, *, by_bets: bool = False
) -> float:
    """The least half-width around a guess that is confirmed on n rows at level p 39 times in 40,
    where the guess is as good as the mean of so many other `rows`.

    The reach of the test, and 2.24 standard errors of the difference of two means. Values have
    the range [0, 1].
    """
    n = require.positive_integer("n", n)
    m = require.positive_integer("rows", rows)
    v = require.between("variance", variance, 0.0, 0.25)
    log_p = require.log_probability("log_p", log_p)
    by_normal = max(0.0, -float(special.ndtri_exp(log_p)))
    z = math.sqrt(2.0 * (_MIXED - log_p)) if by_bets else by_normal
    # Of a rare or a frequent thing the ends of an interval lie further out on one side.
    skewed = _SKEWED * math.sqrt(max(0.0, 1.0 - 4.0 * v)) * -log_p / n
    t = z * math.sqrt(v / n) + skewed + _LIKELY * math.sqrt(v * (1.0 / n + 1.0 / m))
    return min(0.5, t)


def rows_of_reach(n: int, m: int, reach: float, log_p: float) -> tuple[int, float, int]:
    """Rows, at most n, and the variance of a mean over them, that n rows are as good as, where an
    interval at level p reaches so far on m others; and how many rows these are as good as.

    The reach falls by the root of the number of rows. For a half-width that is likely: no promise
    rests on it.
    """
    n, m = require.positive_integer("n", n), require.positive_integer("m", m)
    reach = require.between("reach", reach, 0.0, 1.0)
    z = max(_LEAST_DEVIATIONS, -float(special.ndtri_exp(require.log_probability("log_p", log_p))))
    square = max(reach / z, _LEAST_ERROR) ** 2  # of the standard error, on the other rows
    rows = max(1, min(n, math.floor(_MOST_VARIANCE * n / (square * m))))
    variance = min(_MOST_VARIANCE, rows * square * m / n)
    return rows, variance, max(1, math.floor(variance / square))


_MOST_VARIANCE = 0.25  # of values in [0, 1]
_LEAST_ERROR, _LEAST_DEVIATIONS = 2.0**-40, 0.1
