"""Theorem O: any number of described questions, each at a level that falls with its length.

Theorem O. Let Q be countable, w: Q -> [0, 1] with sum_q w(q) <= 1, and for each q one rule C_q
(method, split of the level, bets), all fixed independently of X. If each fixed C_q(X) contains
theta_q with probability >= 1 - beta w(q), then with probability >= 1 - beta all of them are true
together. Proof: the union bound. So questions may be chosen by somebody who sees everything, with
exact values shown, without noise and without a budget. What must sum to at most 1 are the weights
of *events*: questions that rest on the same event share it.

Theorem O' (late dictionaries). At a public history h with leakage K, a dictionary that depends on h
and on things independent of X may be opened with a share beta_h, at levels beta_h w_h(q)/K. Proof:
its union is one question of Theorem L.

Symbols: beta a share of the failure probability, w = 2^-bits the weight of an event, in thousandths
of a bit; K the leakage so far, here ln K in nats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdfast import require
from holdfast.theory.base.safeside import log_add, log_up, round_down
from holdfast.theory.base.theorem import theorem

__all__ = ["described_log_failure", "described_log_level", "late_log_level"]

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
