"""Theorem S: claims with many symbols; and grades, which say how strongly a claim is shown.

Theorem S. A check on the ledger of Theorem C may have any countable set of symbols a, with public
weights u(a) >= 0 that sum to at most 1, each with a claim J_a or none, all fixed before data are
touched. If, summed over the symbols whose claim is false, sum P_X[symbol a] <= A(h) sum u(a), with
A = (beta - s)/K, everything the ledger claims is true together with probability >= 1 - beta. Symbol
a is charged -ln u(a), and no share is spent. Every symbol that can be told has a weight, those that
claim nothing too; one of weight 0 closes the ledger when it happens.

Proof. W draws symbol a with u(a). P[the first failure is a false claim at h] <= int W(dh) K(h)
sum_{a false} P_X[a] <= E_W[1{first false claim drawn at h}(beta - s(h))]; the rest is Theorem C's,
which has two symbols.

Adjusted p. p_adj = s + p K/u is the least beta at which a claim would have been shown, the public
history given. For each fixed beta' the first false claim has p_adj <= beta' with probability at
most beta', since the nodes of first false claims are prefix-free. Not so *some* false claim: after
one with p_adj above beta' the loop goes on. What is shown is therefore p*, the largest p_adj of all
claims told so far. Computed on X it is a finer symbol than *shown*: it is told as *grades*, which
are charged, or exactly when nothing follows.

Symbols: beta the ledger's failure probability, s what of it is spent, u the public weight of a
symbol, K the leakage so far, here ln K in nats; b_1 < ... < b_g = beta the grades and v_a their
shares of the weight of *shown*.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import log_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.claim_levels import log_left

__all__ = [
    "GRADES",
    "GRADE_SHARES",
    "adjusted_p",
    "grade_log_charge",
    "grade_log_levels",
    "grade_shown",
    "lookup_log_weight",
    "running_adjusted_p",
    "symbol_log_charge",
    "symbol_log_level",
]

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


def grade_shown(log_p: float, log_levels: Sequence[float]) -> int | None:
    """The least grade, counted from 0, whose level the test meets; None: not shown."""
    log_p = require.log_probability("log_p", log_p)
    return next((place for place, level in enumerate(log_levels) if log_p <= level), None)


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
