"""What typical stability is for: an answer that hardly depends on the sample cannot overfit it.

Legend
    X, A(X)     the sample and the mechanism's answer on it; W a law that does not see X
    eta, tau    closeness of A(x) to W for typical x; ln tau = -inf is pure stability
    nu          the probability that x is not typical
    log_p       ln P[(X, W) in O]: an event, had the answer not seen the sample
    log_tail    ln of a bound on P[|q(X) - E q| > a] for a question q fixed before X: -gamma_n(a)
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import log1mexp, log_add, log_up
from holdfast.theory.base.theorem import Erratum, theorem
from holdfast.theory.typical.notion import log_probability_or_zero

__all__ = [
    "generalisation",
    "generalisation_bf1_printed",
    "generalisation_printed",
    "near_independence",
    "near_independence_bf1_printed",
    "near_independence_printed",
]


_UNNEEDED = (
    Erratum(
        "BF2",
        "Lemma 3.3 (BF1 Lemma 2.6)",
        "if eta < 1 and nu < 1/10: e^eta P[(X, A(Y)) in O] + tau + 5 nu (BF1: 4 nu)",
        "e^eta P[(X, W) in O] + tau + nu - tau nu, for every eta and nu",
        "Averaging the pair inequality over Y needs no conditioning on typical samples, hence no "
        "division by P[Y in S] and no hypothesis. (BF1's own step gives e/(1 - nu) > 3, not 3.)",
    ),
    Erratum(
        "BF2",
        "Lemma 3.3 and Theorem 3.4",
        "a set S that satisfies the condition of Definition 2.3",
        "use the pair (or oracle) form itself",
        "Definition 2.3 speaks of pairs and gives no set S; only BF1's Definition 2.2 does.",
    ),
)


@theorem(
    source="BF2",
    place="Lemma 3.3 (BF1 Lemma 2.6), without its hypotheses",
    statement="P[(X, A(X)) in O] <= e^eta P[(X, W) in O] + tau + nu - tau nu for every event O: "
    "W is the oracle in oracle form, and A(Y) with Y an independent sample in pair form.",
    domain="eta >= 0; log_p, log_tau, log_nu <= 0 (-inf for probability 0)",
    monotone={"log_p": "up", "eta": "up", "log_tau": "up", "log_nu": "up"},
    slack="none",
    printed="near_independence_printed",
    errata=_UNNEEDED,
)
def near_independence(log_p: float, eta: float, log_tau: float, log_nu: float) -> float:
    """ln of the bound on P[(X, A(X)) in O].

    For typical x: P[A(x) in O_x] <= e^eta P[W in O_x] + tau; else 1; average over x.
    """
    log_p = log_probability_or_zero("log_p", log_p)
    eta = require.non_negative("eta", eta)
    log_tau = log_probability_or_zero("log_tau", log_tau)
    log_nu = log_probability_or_zero("log_nu", log_nu)
    return log_up(log_add(eta + log_p, log_tau + log1mexp(log_nu), log_nu))


def _printed_near_independence(
    log_p: float, eta: float, log_tau: float, log_nu: float, factor: float
) -> float:
    log_p = log_probability_or_zero("log_p", log_p)
    eta = require.between("eta", eta, 0.0, 1.0, open_high=True)
    log_tau = log_probability_or_zero("log_tau", log_tau)
    log_nu = log_probability_or_zero("log_nu", log_nu)
    if log_nu >= math.log(0.1):
        raise InvalidArgument(f"log_nu is {log_nu!r}; it must be below ln(1/10).")
    return log_up(log_add(eta + log_p, log_tau, math.log(factor) + log_nu))


@theorem(
    source="BF1",
    place="Lemma 2.6, equation (2)",
    statement="For eta < 1, nu < 1/10: P[(X, A(X)) in O] <= e^eta P[(X, A(Y)) in O] + tau + 4 nu.",
    domain="0 <= eta < 1, log_nu < ln(1/10)",
    monotone={"log_p": "up", "eta": "up", "log_tau": "up", "log_nu": "up"},
    slack="3 nu",
)
def near_independence_bf1_printed(log_p: float, eta: float, log_tau: float, log_nu: float) -> float:
    """Sound, by the exact form; kept beside it."""
    return _printed_near_independence(log_p, eta, log_tau, log_nu, 4.0)


@theorem(
    source="BF2",
    place="Lemma 3.3, equation (2)",
    statement="For eta < 1, nu < 1/10: P[(X, A(X)) in O] <= e^eta P[(X, A(Y)) in O] + tau + 5 nu.",
    domain="0 <= eta < 1, log_nu < ln(1/10)",
    monotone={"log_p": "up", "eta": "up", "log_tau": "up", "log_nu": "up"},
    slack="4 nu",
)
def near_independence_printed(log_p: float, eta: float, log_tau: float, log_nu: float) -> float:
    """Sound, by the exact form; kept beside it."""
    return _printed_near_independence(log_p, eta, log_tau, log_nu, 5.0)


@theorem(
    source="BF2",
    place="Theorem 3.4 (BF1 Theorem 2.7), without hypotheses",
    statement="If a stable mechanism chooses a question q_X, then P[|q_X(X) - E q_X| > a] <= "
    "e^{eta + log_tail(a)} + tau + nu - tau nu, for every a and any population.",
    domain="eta >= 0; log_tail, log_tau, log_nu <= 0 (-inf for probability 0)",
    monotone={"log_tail": "up", "eta": "up", "log_tau": "up", "log_nu": "up"},
    slack="none",
    printed="generalisation_printed",
    errata=(
        Erratum(
            "BF2",
            "Theorem 3.4",
            "alpha = inf{r : e^{-gamma_n(alpha)} <= nu}",
            "alpha = inf{r : e^{-gamma_n(r)} <= nu}; any alpha works with its own log_tail(alpha)",
            "The bound variable is r. Tying alpha to nu is a choice, not a need.",
        ),
    ),
)
def generalisation(log_tail: float, eta: float, log_tau: float, log_nu: float) -> float:
    """ln of the bound on P[|q_X(X) - E q_X| > a]; `log_tail` is the question class's at a.

    Near independence for the event {|q(x) - E q| > a}: against W, q is fixed before X.
    """
    return near_independence(log_tail, eta, log_tau, log_nu)


@theorem(
    source="BF1",
    place="Theorem 2.7",
    statement="If A is (eta, tau, e^{-gamma})-stable with gamma = gamma_n(alpha), then "
    "P[|q_X(X) - E q_X| > alpha] <= e^{eta - gamma} + 4 e^{-gamma} + tau.",
    domain="eta >= 0, log_tail <= 0, log_tau <= 0 (-inf for 0)",
    monotone={"log_tail": "up", "eta": "up", "log_tau": "up"},
    slack="3 e^{-gamma}",
)
def generalisation_bf1_printed(log_tail: float, eta: float, log_tau: float) -> float:
    """Sound, by the exact form; nu is tied to the tail."""
    log_tail = log_probability_or_zero("log_tail", log_tail)
    eta = require.non_negative("eta", eta)
    log_tau = log_probability_or_zero("log_tau", log_tau)
    return log_up(log_add(eta + log_tail, log_tau, math.log(4) + log_tail))


@theorem(
    source="BF2",
    place="Theorem 3.4",
    statement="If A is (eta, tau, nu)-stable and alpha the least radius with e^{-gamma_n(alpha)} "
    "<= nu, then P[|q_X(X) - E q_X| > alpha] <= (e^eta + 5) nu + tau.",
    domain="eta >= 0, log_tau, log_nu <= 0 (-inf for 0)",
    monotone={"eta": "up", "log_tau": "up", "log_nu": "up"},
    slack="4 nu",
)
def generalisation_printed(eta: float, log_tau: float, log_nu: float) -> float:
    """Sound, by the exact form; the tail is tied to nu."""
    log_nu = log_probability_or_zero("log_nu", log_nu)
    eta = require.non_negative("eta", eta)
    log_tau = log_probability_or_zero("log_tau", log_tau)
    return log_up(log_add(eta + log_nu, log_tau, math.log(5) + log_nu))
