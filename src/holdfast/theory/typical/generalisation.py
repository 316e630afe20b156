"""Consequences of typical stability: generalisation, post-selection and the stopped oracle.

Legend
    X, A(X)     the sample and the mechanism's answer on it; W a law that does not see X
    eta, tau    closeness of A(x) to W for typical x; ln tau = -inf is pure stability
    nu          the probability that x is not typical
    log_p       ln P[(X, W) in O]: an event, had the answer not seen the sample
    log_tail    ln of a bound on P[|q(X) - E q| > a] for a question q fixed before X: -gamma_n(a)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.safeside import (
    golden_minimum,
    log1mexp,
    log_add,
    log_down,
    log_up,
    round_down,
    round_up,
    smallest_true,
)
from holdfast.theory.base.theorem import SourceNote, theorem
from holdfast.theory.typical.notion import log_probability_or_zero
from holdfast.theory.typical.sharp_composition import (
    bad_event_log_bound,
    optimal_composition_log_delta,
)

_UNNEEDED = (
    SourceNote(
        "loose",
        "BF2",
        "Lemma 3.3 (BF1 Lemma 2.6)",
        "if eta < 1 and nu < 1/10: e^eta P[(X, A(Y)) in O] + tau + 5 nu (BF1: 4 nu)",
        "e^eta P[(X, W) in O] + tau + nu - tau nu, for every eta and nu",
        "Averaging the pair inequality over Y needs no conditioning on typical samples, hence no "
        "division by P[Y in S] and no hypothesis. (BF1's last step has 3 nu where it gives "
        "e nu/(1 - nu), which may be 3.02 nu; its result is true all the same.)",
    ),
    SourceNote(
        "slip",
        "BF2",
        "Lemma 3.3 and Theorem 3.4",
        "a set S that satisfies the condition of Definition 2.3",
        "use the pair (or oracle) form itself",
        "Definition 2.3 speaks of pairs and gives no set S; only BF1's Definition 2.2 does. If x "
        "is far from its antipode only, among N samples, it holds with nu = 1/N, and no S has "
        "more than half of the samples.",
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
    notes=_UNNEEDED,
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


@theorem(
    source="BF2",
    place="Theorem 3.4 (BF1 Theorem 2.7), without hypotheses",
    statement="If a stable mechanism chooses a question q_X, then P[|q_X(X) - E q_X| > a] <= "
    "e^{eta + log_tail(a)} + tau + nu - tau nu, for every a and any population.",
    domain="eta >= 0; log_tail, log_tau, log_nu <= 0 (-inf for probability 0)",
    monotone={"log_tail": "up", "eta": "up", "log_tau": "up", "log_nu": "up"},
    slack="none",
    printed="generalisation_printed",
    notes=(
        SourceNote(
            "slip",
            "BF2",
            "Theorem 3.4",
            "alpha = inf{r : e^{-gamma_n(alpha)} <= nu}",
            "alpha = inf{r : e^{-gamma_n(r)} <= nu}; any alpha works with its own log_tail(alpha)",
            "The bound variable is r: as printed, the set does not depend on it, and is all of R+ "
            "or empty. Tying alpha to nu is a choice, not a need.",
        ),
    ),
)
def generalisation(log_tail: float, eta: float, log_tau: float, log_nu: float) -> float:
    """ln of the bound on P[|q_X(X) - E q_X| > a]; `log_tail` is the question class's at a.

    Near independence for the event {|q(x) - E q| > a}: against W, q is fixed before X.
    """
    return near_independence(log_tail, eta, log_tau, log_nu)


# The stopped-oracle theorem: Gaussian answers, any population, any adaptive analyst.
#
# Answer j is q_j(X) + N(0, s_j^2), and q_j(X) is within alpha_j of its expectation unless bad_j,
# an event of X and the history with P_X[bad_j] <= p_j for the question fixed. The oracle answers
# with the same noise around the expectation. Stop at the first bad event: until then every
# answer's law is a Gaussian shifted by at most alpha_j, so the stopped transcript is no easier to
# tell from the oracle's than N(m, 1) from N(0, 1), m^2 = sum alpha_j^2/s_j^2. Under the oracle
# the history does not see X, so Bad has probability at most p_0 = sum p_j there; Neyman and
# Pearson say how much that can become.
#
# Legend
#     log_p0      ln p_0, a bound on the sum of the p_j on every path
#     m           the root of a bound on the sum of alpha_j^2/s_j^2 on every path
#     log_ps, alphas, scales    ln p_j, alpha_j, s_j of a schedule declared in advance


# The relative and absolute error of ndtri_exp, with room: it is 7e-13 at worst, near ln p = -3e5.
_STOPPED_RELATIVE, _STOPPED_ABSOLUTE = 1e-12, 1e-15
_ULP = math.ulp(1.0)


@theorem(
    source="Holdfast",
    place="Section 6.8, stopped oracle",
    statement="If sum_j alpha_j^2/s_j^2 <= m^2 and sum_j p_j <= p_0 on every path, then with "
    "Gaussian answers P[some bad_j] <= Phi(Phi^{-1}(p_0) + m), for any adaptive analyst and any "
    "population.",
    domain="ln p_0 <= 0, m >= 0",
    monotone={"log_p0": "up", "m": "up"},
    slack="none as the number of questions grows: signs asked one by one attain it",
)
def stopped_oracle_log_bound(log_p0: float, m: float) -> float:
    """ln Phi(Phi^{-1}(p_0) + m)."""
    log_p0, m = require.log_probability("log_p0", log_p0), require.non_negative("m", m)
    z = float(special.ndtri_exp(log_p0))  # infinite for p_0 = 1
    return log_up(
        float(special.log_ndtr(round_up(z + _STOPPED_ABSOLUTE + _STOPPED_RELATIVE * abs(z) + m)))
    )


@theorem(
    source="Holdfast",
    place="Section 6.8, stopped oracle, sequential form",
    statement="With Gaussian answers and p_j, alpha_j, s_j declared in advance, P[some bad_j] <= "
    "sum_j Phi(Phi^{-1}(p_j) + m_j), m_j^2 = sum_{i<j} alpha_i^2/s_i^2.",
    domain="one length; ln p_j <= 0, alpha_j >= 0, s_j > 0",
    slack="the union over questions",
)
def stopped_oracle_sequential_log_bound(
    log_ps: Sequence[float], alphas: Sequence[float], scales: Sequence[float]
) -> float:
    """ln of the sum; the noise of an answer counts for later questions only."""
    if not len(log_ps) == len(alphas) == len(scales):
        raise InvalidArgument(
            f"log_ps, alphas and scales have {len(log_ps)}, {len(alphas)} and {len(scales)} "
            "entries; they must be of one length."
        )
    if not len(log_ps):
        return -math.inf
    log_p, alpha, s = (np.asarray(column, dtype=np.float64) for column in (log_ps, alphas, scales))
    # The extremes stand for all entries (a NaN is an extreme), so that long schedules stay fast.
    require.log_probability("log_ps", float(log_p.max()))
    require.log_probability("log_ps", float(log_p.min()))
    require.non_negative("alphas", float(alpha.min()))
    require.non_negative("alphas", float(alpha.max()))
    require.positive("scales", float(s.min()))
    require.positive("scales", float(s.max()))
    with np.errstate(over="ignore"):  # noise far below the radius: the shift is infinite
        shifts = np.sqrt(np.concatenate(([0.0], np.cumsum(np.square(alpha / s)[:-1]))))
    z = special.ndtri_exp(log_p)
    # A long sum of squares is known to one unit in the last place per term.
    raised = (
        z
        + _STOPPED_ABSOLUTE
        + _STOPPED_RELATIVE * np.abs(z)
        + shifts * (1 + _STOPPED_RELATIVE + s.size * _ULP)
    )
    logs = special.log_ndtr(raised)
    top = float(logs.max())
    return log_up(top + math.log(float(np.exp(logs - top).sum())))


# Near independence of a whole interaction: the level of a statistic that is chosen after it.
#
# An event O of (sample, answers) that has probability p had the answers not seen the sample is
# made more likely by them, but not by much: sections 6.3 and 6.5 together say P[O] <= e^{eta'} p
# + P[Bad] + delta_k(eta') for every eta'. No (eta, tau, nu) of the whole is needed in between,
# and so no Markov's inequality. Read backwards: the p at which something may be claimed of a
# statistic that somebody chose from k answers, so that it fails with probability beta at most.
#
# Legend
#     log_beta            ln of the probability with which the claim may fail
#     k                   how many answers there are at most, declared before the first
#     eta, tau, nu        of one answer in oracle form, as ln tau and ln nu (-inf for 0)
#     mu                  the distance of a Gaussian answer on typical samples from the oracle's,
#   in
#                         standard deviations, for a share nu of samples that are not typical


_PRECISION = 1e-6
_LOG_MOST = math.log(0.999)  # of the failure probability that the answers themselves may use up
_STEPS = 40
# The relative and absolute error of ndtri_exp, with room (`theory.typical.stopped_oracle`).
_POST_RELATIVE, _POST_ABSOLUTE = 1e-12, 1e-15


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

    _, log_level = golden_minimum(cost, least, most, steps=_STEPS)
    return log_down(-min(log_level, cost(least), cost(most)))


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
    lowered = z - _POST_ABSOLUTE - _POST_RELATIVE * abs(z) - round_up(mu * math.sqrt(k))
    return log_down(float(special.log_ndtr(round_down(lowered))))
