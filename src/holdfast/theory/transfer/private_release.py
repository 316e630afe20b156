"""Private answers on independent rows: how wide, and how private, k of them are together.

Every answer is a statistic that one row moves by at most lambda, plus noise that makes it
epsilon-DP (Laplace) or mu-GDP (Gaussian). Theorem D says how far a private transcript can move the
posterior of a row; the transfer theorem makes a half-width of it, for all answers together and
without splitting beta. Both are written for means, lambda = 1/n. In units of n lambda they hold for
every statistic q of bounded differences: with h_i the mean of q when only the first i rows are
given, q(X) - E q = sum_i (h_i - h_{i-1}); given the transcript and the rows before it, row i has
mean h_i - h_{i-1} of at most lambda TV_i, TV_i the distance of its posterior from its prior; and
the laws of the transcript that TV_i compares are averages over the later rows, which brings them
closer. (For Theorem T the law r answers with the middle of what row i can make of the statistic.)

Legend
    n, k        rows; answers
    epsilon     of one answer;  log_delta = ln delta;  beta the failure probability, as ln beta
    delta_k     the optimal composition of k epsilon-DP steps
    scale       of the Laplace noise, b = 1/(n epsilon), as a part of the range
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import golden_minimum, log_add, round_up, smallest_true
from holdfast.theory.base.theorem import theorem
from holdfast.theory.notions.arrows import gdp_to_approx_dp
from holdfast.theory.notions.stability import GDP, ApproxDP, PureDP
from holdfast.theory.transfer.gaussian import transfer_half_width
from holdfast.theory.transfer.private import private_shift
from holdfast.theory.typical.sharp_composition import optimal_composition_log_delta

__all__ = [
    "composed_private_shift",
    "gdp_at_delta",
    "laplace_max_noise",
    "optimal_composition_at_delta",
    "private_laplace_half_width",
    "pure_dp_to_gdp",
]

_ABSOLUTE = 1e-15  # of ndtri_exp where it is near 0
_STEPS = 24


@theorem(
    source="Holdfast",
    place="section 5, CVaR of the largest Laplace noise",
    statement="CVaR_beta(max_j |Y_j|) <= ln(k/beta) + 1 for k Laplace variables of scale 1.",
    domain="k >= 1, log_beta <= 0",
    monotone={"k": "up", "log_beta": "down"},
    slack="exact for k = 1; a relative beta/ln(k/beta) at most otherwise",
)
def laplace_max_noise(k: int, log_beta: float) -> float:
    """c + E(max - c)_+/beta at c = ln(k/beta), where E(max - c)_+ <= k e^-c = beta."""
    k = require.positive_integer("k", k)
    return round_up(math.log(k) - require.log_probability("log_beta", log_beta) + 1.0)


@theorem(
    source="Literature",
    place="Dong, Roth & Su 2022, Section 2.3: the trade-off functions f_(epsilon, 0) and G_mu",
    statement="epsilon-DP implies mu-GDP with mu = 2 Phi^{-1}(e^epsilon/(1 + e^epsilon)).",
    domain="any PureDP",
    monotone={"step": "up"},
    slack="attained at one point, the kink of randomised response: the total variation is the same",
)
def pure_dp_to_gdp(step: PureDP) -> GDP:
    """G_mu is convex and meets f_epsilon, made of two chords, at both ends and at the kink."""
    if step.epsilon == 0:
        return GDP(0.0)
    log_kink = -step.epsilon - math.log1p(math.exp(-step.epsilon))
    return GDP(round_up(-2.0 * float(special.ndtri_exp(log_kink)) + _ABSOLUTE, 64))


@theorem(
    source="Literature",
    place="Kairouz, Oh & Viswanath 2015, Theorem 3.3, solved for epsilon",
    statement="k adaptive epsilon-DP steps are (epsilon', delta)-DP for the least epsilon' with "
    "delta_k(epsilon') <= delta.",
    domain="any PureDP, k >= 1, ln delta <= 0",
    monotone={"step": "up", "k": "up", "log_delta": "down"},
    slack="none for arbitrary steps; Laplace noise in particular is a little better",
)
def optimal_composition_at_delta(step: PureDP, k: int, log_delta: float) -> ApproxDP:
    """The exact composition at a chosen delta, from the safe side of its bracket."""
    k = require.positive_integer("k", k)
    log_delta = require.log_probability("log_delta", log_delta)
    if step.epsilon == 0:
        return ApproxDP(0.0, log_delta)
    most = round_up(k * step.epsilon)
    epsilon = smallest_true(
        lambda e: optimal_composition_log_delta(k, step.epsilon, e) <= log_delta, 0.0, most
    )
    return ApproxDP(epsilon, log_delta)


@theorem(
    source="Literature",
    place="Dong, Roth & Su 2022, Corollary 2.13, solved for epsilon",
    statement="mu-GDP implies (epsilon, delta)-DP for the least epsilon with "
    "Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) <= delta.",
    domain="any GDP, ln delta <= 0",
    monotone={"step": "up", "log_delta": "down"},
    slack="exact for Gaussian noise",
)
def gdp_at_delta(step: GDP, log_delta: float) -> ApproxDP:
    """The exact curve read at a chosen delta, from the safe side of its bracket."""
    log_delta = require.log_probability("log_delta", log_delta)

    def enough(epsilon: float) -> bool:
        return gdp_to_approx_dp(step, epsilon).log_delta <= log_delta

    if enough(0.0):
        return ApproxDP(0.0, log_delta)
    high = 1.0
    while not enough(high):
        high *= 2
    return ApproxDP(smallest_true(enough, 0.0, high), log_delta)


@theorem(
    source="Holdfast",
    place="section 5b, Theorem D over the optimal composition",
    statement="For k adaptive epsilon-DP answers on independent rows, CVaR_beta(B) <= min over "
    "epsilon' of tanh(epsilon'/4) + delta_k(epsilon')/beta.",
    domain="k >= 1, epsilon >= 0, log_beta <= 0",
    monotone={"k": "up", "epsilon": "up", "log_beta": "down"},
    slack="each point of the curve is used alone; found to a relative 1e-4, any point is valid",
)
def composed_private_shift(k: int, epsilon: float, log_beta: float) -> float:
    """The best of the points looked at, among them pure composition at k epsilon."""
    k = require.positive_integer("k", k)
    epsilon = require.non_negative("epsilon", epsilon)
    log_beta = require.log_probability("log_beta", log_beta)
    everything = round_up(k * epsilon)
    if k == 1 or epsilon == 0:
        return private_shift([(everything, -math.inf)], log_beta)

    def log_bound(e: float) -> float:
        log_delta = optimal_composition_log_delta(k, epsilon, e)
        return log_add(math.log(math.tanh(e / 4)) if e else -math.inf, log_delta - log_beta)

    # Beyond this point delta_k is below beta e^{-8}: nothing is gained any more.
    far = epsilon * math.sqrt(2 * k * (8.0 - log_beta)) + k * epsilon * math.tanh(epsilon / 2)
    best, _ = golden_minimum(log_bound, 0.0, min(everything, far), steps=_STEPS)
    log_delta = optimal_composition_log_delta(k, epsilon, best)
    return private_shift([(everything, -math.inf), (best, log_delta)], log_beta)


@theorem(
    source="Holdfast",
    place="section 5, Transfer with Theorem D: Laplace noise",
    statement="k adaptive means of [0, 1] values on n independent rows, answered with Laplace "
    "noise of scale 1/(n epsilon), are all within (ln(k/beta) + 1)/(n epsilon) plus Theorem D's "
    "shift of the population with probability 1 - beta.",
    domain="n, k >= 1, epsilon > 0, log_beta <= 0; a half-width of 1 or more says nothing",
    monotone={"n": "down", "k": "up", "log_beta": "down"},
    slack="Theorem D's; Gaussian noise by Theorem T is narrower for many answers",
)
def private_laplace_half_width(n: int, k: int, epsilon: float, log_beta: float) -> float:
    """CVaR of the largest noise plus CVaR of the shift."""
    n, epsilon = require.positive_integer("n", n), require.positive("epsilon", epsilon)
    noise = round_up(laplace_max_noise(k, log_beta) / (n * epsilon))
    return transfer_half_width(noise, composed_private_shift(k, epsilon, log_beta))
