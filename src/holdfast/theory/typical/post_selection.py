"""Near independence of a whole interaction: the level of a statistic that is chosen after it.

An event O of (sample, answers) that has probability p had the answers not seen the sample is made
more likely by them, but not by much: sections 6.3 and 6.5 together say P[O] <= e^{eta'} p + P[Bad]
+ delta_k(eta') for every eta'. No (eta, tau, nu) of the whole is needed in between, and so no
Markov's inequality. Read backwards: the p at which something may be claimed of a statistic that
somebody chose from k answers, so that it fails with probability beta at most.

Legend
    log_beta            ln of the probability with which the claim may fail
    k                   how many answers there are at most, declared before the first
    eta, tau, nu        of one answer in oracle form, as ln tau and ln nu (-inf for 0)
    mu                  the distance of a Gaussian answer on typical samples from the oracle's, in
                        standard deviations, for a share nu of samples that are not typical
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import (
    golden_minimum,
    log1mexp,
    log_add,
    log_down,
    round_down,
    round_up,
    smallest_true,
)
from holdfast.theory.base.theorem import theorem
from holdfast.theory.typical.notion import log_probability_or_zero
from holdfast.theory.typical.sharp_composition import (
    bad_event_log_bound,
    optimal_composition_log_delta,
)
from holdfast.theory.typical.stopped_oracle import stopped_oracle_sequential_log_bound

__all__ = ["post_selected_gaussian_log_level", "post_selected_log_level"]

_PRECISION = 1e-6
_LOG_MOST = math.log(0.999)  # of the failure probability that the answers themselves may use up
_STEPS = 40
# The relative and absolute error of ndtri_exp, with room (`theory.typical.stopped_oracle`).
_RELATIVE, _ABSOLUTE = 1e-12, 1e-15


@theorem(
    source="Holdfast",
    place="Sections 6.3 and 6.5 together",
    statement="Of k adaptive (eta, tau, nu)-typically stable answers in oracle form: an event of "
    "the sample and the answers whose probability is at most p had they not seen the sample has "
    "probability at most e^{eta'} p + P[Bad] + delta_k(eta') for every eta'. So what is claimed at "
    "p = max_{eta'} e^{-eta'} (beta - P[Bad] - delta_k(eta')) of a statistic chosen from them fails"
    " with probability at most beta.",
    domain="ln beta <= 0, k >= 1, eta >= 0, ln tau, ln nu <= 0 (-inf for 0); -inf: no p is left",
    monotone={"log_beta": "up", "log_tau": "down", "log_nu": "down"},
    slack="the union over answers in P[Bad]; none in delta_k",
)
def post_selected_log_level(
    log_beta: float, k: int, eta: float, log_tau: float, log_nu: float
) -> float:
    """ln p, rounded down; -inf where the answers themselves may fail with probability beta.

    Let M be the answers, W the oracle's, M' as M until some answer is not close to its oracle's:
    P[(X, M) in O] <= P[Bad] + P[(X, M') in O] <= P[Bad] + delta_k(eta') + e^{eta'} P[(X, W) in O].
    """
    log_beta = require.log_probability("log_beta", log_beta)
    k, eta = require.positive_integer("k", k), require.non_negative("eta", eta)
    log_tau = log_probability_or_zero("log_tau", log_tau)
    log_nu = log_probability_or_zero("log_nu", log_nu)
    log_bad, most = bad_event_log_bound(k, eta, log_nu, log_tau), round_up(k * eta)

    def log_lost(eta_prime: float) -> float:
        return log_add(log_bad, optimal_composition_log_delta(k, eta, eta_prime, log_tau))

    def leaves_something(eta_prime: float) -> bool:
        return log_lost(eta_prime) <= log_beta + _LOG_MOST

    if not leaves_something(most):
        return -math.inf
    least = smallest_true(leaves_something, 0.0, most, relative=_PRECISION)

    def cost(eta_prime: float) -> float:
        return eta_prime - log_beta - log1mexp(log_lost(eta_prime) - log_beta)

    _, found = golden_minimum(cost, least, most, steps=_STEPS)
    return log_down(-min(found, cost(least), cost(most)))


@theorem(
    source="Holdfast",
    place="Section 6.8, a statistic chosen after all answers",
    statement="Of k adaptive Gaussian answers, each on all but a share nu of samples within mu "
    "standard deviations of its oracle: what is claimed at p = Phi(Phi^{-1}(beta - B) - mu "
    "sqrt(k)), B = sum_{j<k} Phi(Phi^{-1}(nu) + mu sqrt(j)), of a statistic chosen from them fails "
    "with probability at most beta.",
    domain="ln beta <= 0, k >= 1, mu >= 0, ln nu <= 0 (-inf for 0); -inf: no p is left",
    monotone={"log_beta": "up", "k": "down", "mu": "down", "log_nu": "down"},
    slack="the union over answers in B; none in the last step",
)
def post_selected_gaussian_log_level(log_beta: float, k: int, mu: float, log_nu: float) -> float:
    """ln p, rounded down: the statistic is question k + 1 of the stopped-oracle theorem."""
    log_beta = require.log_probability("log_beta", log_beta)
    k, mu = require.positive_integer("k", k), require.non_negative("mu", mu)
    log_nu = log_probability_or_zero("log_nu", log_nu)
    log_bad = -math.inf
    if log_nu > -math.inf:
        log_bad = stopped_oracle_sequential_log_bound([log_nu] * k, [mu] * k, [1.0] * k)
    if log_bad >= log_beta + _LOG_MOST:
        return -math.inf
    z = float(special.ndtri_exp(log_down(log_beta + log1mexp(log_bad - log_beta))))
    lowered = z - _ABSOLUTE - _RELATIVE * abs(z) - round_up(mu * math.sqrt(k))
    return log_down(float(special.log_ndtr(round_down(lowered))))
