"""Theorems O and O': described questions at levels that fall with their length.

Theorem O. Let Q be countable, w: Q -> [0, 1] with sum_q w(q) <= 1, and for each q one rule C_q
(method, split of the level, bets), all fixed independently of X. If each fixed C_q(X) contains
theta_q with probability >= 1 - beta w(q), then with probability >= 1 - beta all of them are true
together. Proof: the union bound. So questions may be chosen by somebody who sees everything, with
exact values shown, without noise and without a budget. What must sum to at most 1 are the weights
of *events*: questions that rest on the same event share it.

Theorem O' (late dictionaries). At a public history h with leakage K, a dictionary that depends on h
and on things independent of X may be opened with a share beta_h, at levels beta_h w_h(q)/K. Proof:
its union is one question of Theorem L.

Coexistence. Described answers cost described questions nothing. To every later ask, check, gate and
late dictionary they cost ln N nats, N the public number of symbols that the described event allows:
on the event that the whole dictionary is true, q(X) is within alpha of theta_q, alpha free of the
sample, so what is released given x is one of N symbols of a window that depends on the population
and the history only; then Theorem L.

Symbols: beta a share of the failure probability, w = 2^-bits the weight of an event, in thousandths
of a bit; K the leakage so far, here ln K in nats; alpha the half-width of a described interval, h
the pitch of a grid. Numbers of symbols are integers, computed exactly from the doubles given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from holdfast import require
from holdfast.theory.base.safeside import log_add, log_down, log_up, round_down, round_up
from holdfast.theory.base.theorem import theorem

_NATS = math.log(2) / 1000  # in a thousandth of a bit


@theorem(
    source="Holdfast",
    place="Theorem O",
    statement="If the weights w = 2^-bits of all events of a language sum to at most 1, and each "
    "event's rule, fixed independently of X, fails with probability at most beta w, then with "
    "probability >= 1 - beta all of them are true together, whoever chooses among them.",
    domain="log_beta <= 0, millibits >= 0",
    monotone={"log_beta": "up", "millibits": "down"},
    slack="the union bound: none for events that fail on disjoint samples",
)
def described_log_level(log_beta: float, millibits: int) -> float:
    """ln of the level at which an event of this length may fail, rounded down."""
    log_beta = require.log_probability("log_beta", log_beta)
    return round_down(log_beta - _NATS * require.integer_at_least("millibits", millibits, 0))


@theorem(
    source="Holdfast",
    place="Theorem O'",
    statement="A dictionary opened at a public history with leakage K, depending on that history "
    "and on things independent of X, is true together with everything else at levels beta w/K, for "
    "a share beta of the ledger's failure probability.",
    domain="log_beta <= 0, millibits >= 0, nats = ln K >= 0",
    monotone={"log_beta": "up", "millibits": "down", "nats": "down"},
    slack="that of Theorem L",
)
def late_log_level(log_beta: float, millibits: int, nats: float) -> float:
    """ln of the level of an event of a dictionary that was opened late, rounded down."""
    nats = require.non_negative("nats", nats)
    return round_down(described_log_level(log_beta, millibits) - nats)


@theorem(
    source="Holdfast",
    place="Theorem O, the sum",
    statement="Events of these lengths, each at its level beta w, all hold together but with "
    "probability at most beta times the sum of their weights.",
    domain="log_beta <= 0, each of millibits >= 0",
    monotone={"log_beta": "up"},
    slack="the union bound",
)
def described_log_failure(log_beta: float, millibits: Sequence[int]) -> float:
    """ln of the bound on the probability that any of the events fails, rounded up."""
    log_beta = require.log_probability("log_beta", log_beta)
    lengths = [require.integer_at_least("millibits", each, 0) for each in millibits]
    if not lengths:
        return -math.inf
    return log_up(log_add(*(log_beta - _NATS * each for each in lengths)))


# Lengths of descriptions in integer thousandths of a bit, never below the truth.
#
# An option of probability p costs the least integer m with 2^(-m/1000) <= p. So the weight
# 2^-bits of whatever is described option by option is at most the product of the probabilities,
# and the weights of all descriptions sum to at most 1 as the probabilities do (Kraft). "k
# different things in any order" is a credit: all k! orders describe the same, so their
# probabilities are added, p = k!.
#
# Everything is decided by integers: for p = a/b the question is whether b^1000 <= a^1000 2^m.
# Where the logarithm, known to a billionth, already tells, the powers are not computed.


_SURE = 1e-6  # far above the error of 1000 (log2 b - log2 a) for numbers of any length met here


@theorem(
    source="Holdfast",
    place='Section 11.1, the prior "words/2": the cost of an option',
    statement="If each option of probability p costs the least integer m with 2^(-m/1000) <= p, "
    "then the weights 2^(-sum of costs/1000) of all descriptions sum to at most 1.",
    domain="numerator, denominator >= 1; the cost of p > 1 is negative",
    monotone={"numerator": "down", "denominator": "up"},
    slack="below a thousandth of a bit for each option",
)
def option_millibits(numerator: int, denominator: int) -> int:
    """Thousandths of a bit, rounded up, for an option of this probability."""
    a = require.positive_integer("numerator", numerator)
    b = require.positive_integer("denominator", denominator)
    return _least(a, b)


@lru_cache(maxsize=65_536)
def _least(a: int, b: int) -> int:
    near = 1000.0 * (math.log2(b) - math.log2(a))
    nearest = round(near)
    if abs(near - nearest) > _SURE:
        return math.ceil(near)
    return nearest if _covers(a, b, nearest) else nearest + 1


def _covers(a: int, b: int, m: int) -> bool:
    """Whether 2^(-m/1000) <= a/b."""
    least = Fraction(b, a) ** 1000
    return least <= Fraction(2) ** m


@theorem(
    source="Holdfast",
    place='Section 11.1, the prior "words/2": things in any order',
    statement="k different things that are described one after another, in an order that does not "
    "matter, have k! descriptions: their weights are added, a credit of log2 k! bits.",
    domain="k >= 0, the things different",
    monotone={"k": "down"},
    slack="below a thousandth of a bit; none for things of which two may be equal",
)
def any_order_millibits(k: int) -> int:
    """The credit as a cost: zero or negative, rounded up, so that never too much is given back."""
    return _least(math.factorial(require.integer_at_least("k", k, 0)), 1)


# Late dictionaries: search spaces and last looks, by Theorem O' (see `described`).
#
# A dictionary is opened at a public history with a part sigma of what is left of the failure
# probability. It has N members, which depend on that history and on things independent of X:
# models trained on other rows at N declared configurations, say. Of each member m questions are
# declared, and share 15/16 of its weight 1/N; any other text about it has the weight of its
# length in the rest. Without declared questions, texts have all of it. A last look is the case N
# = 1, sigma = 1.
#
# Symbols: N members, m declared questions, sigma the share that is taken, s what is spent of
# beta.


SEARCH_SHARE = 0.5  # of what is left, where nobody says how much a search is opened with
_DECLARED = 15  # of 16 parts of a member's weight


@theorem(
    source="Holdfast",
    place="Theorem O', search spaces",
    statement="If the m questions declared about each of N members have the weight 15/(16 N m), "
    "and all other texts about it 1/(16 N) together, the weights of a dictionary sum to at most 1.",
    domain="members >= 1, questions >= 1",
    monotone={"members": "up", "questions": "up"},
    slack="below a thousandth of a bit, and ln(16/15) nats for what may be asked besides",
)
def declared_millibits(members: int, questions: int = 1) -> int:
    """The length of a declared question about one of so many members, in thousandths of a bit."""
    N = require.positive_integer("members", members)
    m = require.positive_integer("questions", questions)
    return option_millibits(_DECLARED, 16 * N * m)


@theorem(
    source="Holdfast",
    place="Theorem O', search spaces: other texts",
    statement="A text that was not declared has, of each of N members, the weight of its own "
    "length times 1/(16 N); times 1/N where no question was declared.",
    domain="members >= 1, questions >= 0",
    monotone={"members": "up"},
    slack="below a thousandth of a bit",
)
def undeclared_millibits(members: int, questions: int) -> int:
    """Millibits added to the length of a text about one of so many members."""
    N = require.positive_integer("members", members)
    declared = require.integer_at_least("questions", questions, 0) > 0
    return option_millibits(1, 16 * N if declared else N)


@theorem(
    source="Holdfast",
    place="Theorem O', the share",
    statement="A dictionary may be opened with any part sigma of what is left, beta - s.",
    domain="log_left = ln(beta - s) <= 0, 0 < share <= 1",
    monotone={"log_left": "up", "share": "up"},
    slack="none",
)
def late_log_share(log_left: float, share: float) -> float:
    """ln(sigma (beta - s)), rounded down."""
    log_left = require.log_probability("log_left", log_left)
    share = require.between("share", share, 0.0, 1.0, open_low=True)
    return log_down(log_left + math.log(share)) if share < 1.0 else log_left


@theorem(
    source="Holdfast",
    place="Theorem O', what later shares keep",
    statement="If shares that are still to come sum to at most beta - s, then times 1 - sigma they "
    "and the dictionary's sigma (beta - s) do.",
    domain="log_kept <= 0 of dictionaries before, 0 < share < 1",
    monotone={"log_before": "up", "share": "down"},
    slack="none",
)
def log_kept(log_before: float, share: float) -> float:
    """ln of the factor of later shares, rounded down."""
    before = require.log_probability("log_before", log_before)
    return log_down(before + math.log1p(-require.probability("share", share)))


# One free threshold: a described condition with a constant left open, true for all constants.
#
# For independent rows that are alike, a real row function f, a condition B and one direction, the
# indicators 1{f <= c, B} are 1{Y <= c} for one variable Y (f inside B, infinite outside): the
# inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant holds for all c at once.
#
# The other direction is 1{f > c, B}: with Y' = f inside B and minus infinity outside, another
# variable. The two are complements, one event, only if B is everything and f is never NULL.


@theorem(
    source="Literature",
    place="Massart 1990, The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality",
    statement="For n independent rows that are alike, |mean 1{f <= c, B} - P| <= "
    "sqrt(ln(2/p)/(2n)) for all c at once with probability >= 1 - p, in one direction.",
    domain="n >= 1, log_p <= 0",
    monotone={"n": "down", "log_p": "down"},
    slack="reached as n grows for a continuous f",
)
def free_threshold_radius(n: int, log_p: float) -> float:
    """The half-width at level p for every constant at once, rounded up."""
    n = require.positive_integer("n", n)
    nats = math.log(2) - require.log_probability("log_p", log_p)
    return round_up(math.sqrt(nats / (2 * n)))


@theorem(
    source="Holdfast",
    place="Section 11.1, one free threshold: directions",
    statement="Below (<, <=) and above (>, >=) are one event if there is no further condition and "
    "f is never NULL; otherwise they are two, each with a weight of its own.",
    domain="what is publicly known of the condition and of f",
    slack="one event for both fails with up to 2p",
)
def threshold_events(*, conditioned: bool, may_be_missing: bool) -> int:
    """How many events both directions rest on."""
    return 2 if conditioned or may_be_missing else 1


SPREAD_STEPS = 64  # public steps that a half-width is rounded up to, where it uses the sample
ROUNDED_SYMBOLS = 5  # of a value rounded to multiples of alpha/2


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence",
    statement="An answer that the described event leaves N symbols multiplies the leakage of "
    "everything that is not described by N.",
    domain="symbols >= 1",
    monotone={"symbols": "up"},
    slack="none: an analyst who fails on each of the N symbols reaches it",
)
def coexistence_log_charge(symbols: int) -> float:
    """ln N in nats, rounded up; nothing for an answer that is known before."""
    symbols = require.positive_integer("symbols", symbols)
    return round_up(math.log(symbols)) if symbols > 1 else 0.0


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence: 0/1 values",
    statement="If |count/n - theta| <= alpha, the count is one of min(n, floor(2 alpha n)) + 1.",
    domain="n >= 1, alpha >= 0",
    monotone={"n": "up", "alpha": "up"},
    slack="none: reached where theta - alpha is a multiple of 1/n",
)
def count_symbols(n: int, alpha: float) -> int:
    """How many counts the described event allows; the interval is a function of the count."""
    n = require.positive_integer("n", n)
    return min(n, math.floor(2 * Fraction(require.non_negative("alpha", alpha)) * n)) + 1


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence: groups",
    statement="A group shows its size, a count in the window of its described share, and then its "
    "count among so many rows: at most the product of both numbers of symbols.",
    domain="n >= 1, share_alpha >= 0, alpha >= 0 the half-width of a group of all n rows, where "
    "size times half-width does not fall with the size",
    monotone={"n": "up", "share_alpha": "up", "alpha": "up"},
    slack="smaller groups have fewer counts",
)
def group_symbols(n: int, share_alpha: float, alpha: float) -> int:
    """How many pairs (size, count) the described events of the share and of the mean allow."""
    return count_symbols(n, share_alpha) * count_symbols(n, alpha)


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence: means on a grid",
    statement="If |q(X) - theta| <= alpha and q(X) is rounded to cells of width h that are open on "
    "one side, it is in one of ceil(2 alpha/h) + 1 cells; a half-width that uses the sample, "
    "rounded up to one of 64 public steps, multiplies that by 64.",
    domain="alpha >= 0, pitch > 0",
    monotone={"alpha": "up", "pitch": "down"},
    slack="none for the value",
)
def grid_symbols(alpha: float, pitch: float, *, spread: bool = False) -> int:
    """How many symbols a mean on a public grid has; with `spread`, its half-width is one more."""
    width = 2 * Fraction(require.non_negative("alpha", alpha))
    cells = math.ceil(width / Fraction(require.positive("pitch", pitch))) + 1
    return cells * SPREAD_STEPS if spread else cells


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence: quantiles, AUC, derived values",
    statement="Where the window depends on the population, N counts all points of the public grid: "
    "a factor for the value and one for each end of its interval.",
    domain="points >= 1, shown >= 1 numbers shown",
    monotone={"points": "up", "shown": "up"},
    slack="the window is smaller than the grid",
)
def whole_grid_symbols(points: int, shown: int = 3) -> int:
    """How many symbols a value and its two ends have on a public grid."""
    points = require.positive_integer("points", points)
    return int(points ** require.positive_integer("shown", shown))


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence: rounded answers",
    statement="If |q(X) - theta| <= alpha and q(X) is rounded to the nearest multiple of alpha/2, "
    "the answer is one of 5 and within 1.25 alpha of theta.",
    domain="alpha >= 0",
    monotone={"alpha": "up"},
    slack="none: the rounding error is alpha/4",
)
def rounded_half_width(alpha: float) -> float:
    """The half-width of a rounded answer, whose interval is a function of the symbol."""
    alpha = require.non_negative("alpha", alpha)
    return round_up(1.25 * alpha) if alpha else 0.0
