"""Theorem C: claims without multiplicity. However many checks, they share one level.

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
symbol, K the leakage so far, here ln K in nats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import log1mexp, log_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.checks import log_gamma_error, never_surprised_odds

__all__ = [
    "claim_log_level",
    "confirmations_log_charge",
    "log_left",
    "ordered_log_levels",
    "parallel_log_levels",
    "surprise_log_level",
]


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
    kept = math.log1p(0.5 * (never_surprised_odds(c) - 1.0))
    return round_up(log_gamma_error(c) - kept)


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
