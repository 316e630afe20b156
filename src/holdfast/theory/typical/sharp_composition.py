"""Adaptive composition of typically stable steps, sharp: no factor 3, 5 or 1/eta.

Let M be the transcript on the sample X, W that of the oracles, and Bad the event that some step
meets a (sample, history) at which it is not close to its oracle. Let M' be M with every step from
the first bad one on replaced by its oracle. Every step of M' is (eta, tau)-indistinguishable from
its oracle, so M' against W is a composition of k indistinguishable steps; M = M' outside Bad; and
P_W[Bad] <= k nu because under W the history does not depend on X.

Legend
    k               the number of steps
    eta, tau, nu    of one step in oracle form, as ln tau and ln nu (-inf for 0)
    eta_prime       eta', the closeness claimed for all steps together: any value may be chosen
    delta_k(eta')   the largest P(O) - e^{eta'} Q(O) over all compositions of k eta-steps
    tau_out, nu_out what the composition has in place of tau and nu
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import golden_minimum, log1mexp, log_add, log_up, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.typical.notion import log_probability_or_zero

_ULP = math.ulp(1.0)


# Searches ask for many eta' at one k and eta, and for many eta at one k: the last ones are kept.


@lru_cache(maxsize=1)
def _lies_and_log_choices(k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Numbers of lies below half of k, and ln C(k, lies)."""
    lies = np.arange((k + 1) // 2, dtype=np.float64)  # at half or more lies the ratio is <= 1
    return lies, (
        special.gammaln(k + 1.0) - special.gammaln(lies + 1) - special.gammaln(k - lies + 1)
    )


class _RandomisedResponse:
    """delta_k(eta') of k-fold randomised response, the worst of all eta-steps, for many eta'."""

    def __init__(self, k: int, eta: float) -> None:
        lies, log_choices = _lies_and_log_choices(k)
        self._log_weights: NDArray[np.float64] = (
            log_choices + (k - lies) * eta - k * float(np.logaddexp(0.0, eta))
        )
        # The logarithms above are differences of numbers this large.
        self._slack = 8 * _ULP * (float(special.gammaln(k + 1.0)) + k * (eta + 1))
        # The log-ratio is k eta without a lie, exactly, and falls by 2 eta with each.
        self._most = k * Fraction(eta)
        self._falls = np.maximum(0.0, 2 * lies * eta - 4 * math.ulp(k * eta))

    def log_delta(self, eta_prime: float) -> float:
        """ln sum_l C(k, l) (e^{(k - l) eta} - e^{eta' + l eta})_+ / (1 + e^eta)^k, rounded up."""
        most = self._most - Fraction(eta_prime)
        if most <= 0:
            return -math.inf
        excess = float(most) - self._falls
        excess = excess[: int(np.count_nonzero(excess > 0))]
        logs = self._log_weights[: excess.size] + np.log(-np.expm1(-excess))
        top = float(logs.max())
        total = top + math.log(float(np.exp(logs - top).sum()))
        return log_up(total + self._slack)


_randomised_response = lru_cache(maxsize=1)(_RandomisedResponse)


def _log_any(k: int, log_tau: float) -> float:
    """ln of 1 - (1 - tau)^k, rounded up."""
    if log_tau == -math.inf or k == 0:
        return -math.inf
    log_union = math.log(k) + log_tau
    if log_union < -40:  # 1 - (1 - tau)^k is k tau to the last digit, and never more
        return log_up(log_union)
    return log_up(log1mexp(k * log1mexp(log_tau)))


def _with_tau(log_delta: float, k: int, log_tau: float) -> float:
    """ln of 1 - (1 - tau)^k (1 - delta), rounded up."""
    log_any = _log_any(k, log_tau)
    if log_any == -math.inf or log_delta == -math.inf:
        return max(log_any, log_delta)
    return log_up(log_add(log_delta, log_any + log1mexp(log_delta)))


@theorem(
    source="Literature",
    place="Kairouz, Oh & Viswanath 2015, Theorem 3.3; Murtagh & Vadhan 2016, Theorem 1.5",
    statement="The adaptive composition of k (eta, tau)-indistinguishable steps is (eta', delta)-"
    "indistinguishable with delta = 1 - (1 - tau)^k (1 - delta_k(eta')), delta_k(eta') = sum_l "
    "C(k, l) (e^{(k - l) eta} - e^{eta' + l eta})_+ / (1 + e^eta)^k.",
    domain="k >= 1 (up to 10^6 in a fraction of a second), eta >= 0, eta' >= 0, ln tau <= 0 "
    "(-inf for 0)",
    monotone={"k": "up", "eta": "up", "eta_prime": "down", "log_tau": "up"},
    slack="none: attained by randomised response",
)
def optimal_composition_log_delta(
    k: int, eta: float, eta_prime: float, log_tau: float = -math.inf
) -> float:
    """ln delta; -inf where eta' >= k eta and tau = 0."""
    k = require.positive_integer("k", k)
    eta = require.non_negative("eta", eta)
    eta_prime = require.non_negative("eta_prime", eta_prime)
    log_tau = log_probability_or_zero("log_tau", log_tau)
    return _with_tau(_randomised_response(k, eta).log_delta(eta_prime), k, log_tau)


@theorem(
    source="Holdfast",
    place="Section 6.5, the bad event",
    statement="In k adaptive (eta, tau, nu)-typically stable steps (oracle form) some step meets a "
    "sample that is not typical for it with probability at most the smaller of "
    "min_{eta'} e^{eta'} k nu + delta_{k-1}(eta') and sum_{t<k} e^{t eta} nu, plus (k - 1) tau.",
    domain="k >= 1, eta >= 0, ln nu <= 0, ln tau <= 0 (-inf for 0)",
    monotone={"k": "up", "eta": "up", "log_nu": "up", "log_tau": "up"},
    slack="the union over steps",
)
def bad_event_log_bound(k: int, eta: float, log_nu: float, log_tau: float = -math.inf) -> float:
    """ln of the bound on P[Bad].

    Bad depends on the first k - 1 answers. It has probability k nu under W, hence at most
    e^{eta'} k nu + delta_{k-1}(eta') under M'; or, step by step, a history of t answers is at most
    e^{t eta} times as likely under M' as under W. Both after giving up 1 - (1 - tau)^{k-1} for the
    answers that exceed the ratio e^eta; and until the first bad step M is M'.
    """
    k = require.positive_integer("k", k)
    eta = require.non_negative("eta", eta)
    log_nu = log_probability_or_zero("log_nu", log_nu)
    log_tau = log_probability_or_zero("log_tau", log_tau)
    log_bad = log_geometric_sum(eta, k) + log_nu
    if k > 1 and log_bad > -math.inf:
        curve, log_all = _randomised_response(k - 1, eta), math.log(k) + log_nu
        _, together = golden_minimum(
            lambda eta_prime: log_add(eta_prime + log_all, curve.log_delta(eta_prime)),
            0.0,
            (k - 1) * eta,
            steps=40,
        )
        log_bad = min(log_bad, together)
    return log_up(log_add(log_bad, _log_any(k - 1, log_tau)))


def log_geometric_sum(eta: float, terms: int) -> float:
    """ln of sum_{t=0}^{terms - 1} e^{t eta}, rounded up."""
    if eta == 0 or terms == 1:
        return round_up(math.log(terms)) if terms > 1 else 0.0
    if terms * eta < 1:
        log_sum = math.log(math.expm1(terms * eta) / math.expm1(eta))
    else:  # e^{terms eta} may be too large for a float
        log_sum = terms * eta + log1mexp(-terms * eta) - eta - log1mexp(-eta)
    return round_up(log_sum + 16 * math.ulp(max(1.0, terms * eta, -math.log(eta))))
