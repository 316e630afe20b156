"""Independent rows, private mechanisms: what privacy says about the population.

Legend
------
n, k        rows; questions or post-selected statistics
eps, delta  replace-one differential privacy of the whole transcript
beta        failure probability; `log_beta`, `log_delta` are natural logarithms
B           (1/n) sum_i TV(posterior of row i given transcript and other rows, prior of row i)
w           half-width;  s: standard deviation of Gaussian noise

Theorem D. At a point of the transcript let A be the values x of a row with p_x above the mean
density, of prior mass u. TV is u(1-u)(p_A - p_notA) over the mean: at most T = tanh(eps/4) when
p_A <= e^eps p_notA. In general what exceeds T is at most the mean over pairs of values of
(p_x - e^eps p_x')_+, whose integral is at most delta; the weight of a failure is at most 1/beta.

Theorem P. Given the transcript, reveal the rows one by one. Each term of q(X) - E q has prior mean
0 and a range of 1/n; the posterior of its row moves its mean by at most tanh(eps/4)/n; Hoeffding's
lemma bounds the rest. This holds for every transcript, so q may be chosen after seeing it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.safeside import (
    golden_minimum,
    largest_integer,
    log_add,
    round_up,
    smallest_true,
)
from holdfast.theory.base.theorem import theorem
from holdfast.theory.notions.arrows import gdp_to_approx_dp
from holdfast.theory.notions.composing import GDP, ApproxDP, PureDP
from holdfast.theory.transfer.gaussian_noise import transfer_half_width
from holdfast.theory.typical.sharp_composition import optimal_composition_log_delta


@theorem(
    source="Holdfast",
    place="section 5b, Theorem D for pure privacy",
    statement="For an eps-DP transcript on independent rows, B <= tanh(eps/4) surely.",
    domain="eps >= 0",
    monotone={"eps": "up"},
    slack="none for a row of two values with the right prior",
)
def pure_private_shift(eps: float) -> float:
    """tanh(eps/4): two values, densities e^{eps/2} and e^{-eps/2} around their mean."""
    return round_up(math.tanh(0.25 * require.non_negative("eps", eps)))


@theorem(
    source="Holdfast",
    place="section 5b, Theorem D",
    statement=(
        "For a transcript that is (eps, delta)-DP at every point of a curve, on independent rows, "
        "CVaR_beta(B) <= min over the curve of tanh(eps/4) + delta/beta."
    ),
    domain="curve: pairs (eps >= 0, log_delta <= 0, -inf for delta = 0); log_beta <= 0",
    monotone={"log_beta": "down"},
    slack="each point of the curve is used alone",
)
def private_shift(curve: Sequence[tuple[float, float]], log_beta: float) -> float:
    """The best point of the curve; never above 1."""
    log_beta = require.log_probability("log_beta", log_beta)
    if not curve:
        raise InvalidArgument("curve is empty; it must hold at least one (eps, log_delta).")
    best = 1.0
    for eps, log_delta in curve:
        shift = pure_private_shift(eps)
        if log_delta != -math.inf:
            excess = require.log_probability("log_delta", log_delta) - log_beta
            shift += math.exp(min(excess, 1.0))
        best = min(best, round_up(shift))
    return best


@theorem(
    source="Holdfast",
    place="section 5b, Theorem P",
    statement=(
        "For an eps-DP transcript on independent rows and any q of bounded differences 1/n chosen "
        "after it, ln P[q(X) - E q >= w] <= -2 n (w - tanh(eps/4))_+^2."
    ),
    domain="n >= 1, eps >= 0, width >= 0; one side, one statistic",
    monotone={"n": "down", "eps": "up", "width": "down"},
    slack="McDiarmid's",
)
def private_post_selected_log_failure(n: int, eps: float, width: float) -> float:
    """Natural logarithm of the failure probability, rounded up; 0 when w <= tanh(eps/4)."""
    n = require.positive_integer("n", n)
    over = require.non_negative("width", width) - pure_private_shift(eps)
    return 0.0 if over <= 0.0 else min(0.0, round_up(-2.0 * n * over * over, 16))


@theorem(
    source="Holdfast",
    place="section 5b, Theorem P for k statistics",
    statement=(
        "For an eps-DP transcript on independent rows, k statistics of bounded differences 1/n "
        "chosen after it are all within tanh(eps/4) + sqrt(ln(2k/beta)/(2n)) of their means with "
        "probability 1 - beta."
    ),
    domain="n, k >= 1, eps >= 0, log_beta <= 0; about q(X), before any noise",
    monotone={"n": "down", "k": "up", "eps": "up", "log_beta": "down"},
    slack="McDiarmid's and the union bound's",
)
def private_post_selected_half_width(n: int, k: int, eps: float, log_beta: float) -> float:
    """Theorem P on both sides for each of k, at beta/(2k)."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    log_beta = require.log_probability("log_beta", log_beta)
    radius = math.sqrt((math.log(2.0) + math.log(k) - log_beta) / (2.0 * n))
    return round_up(pure_private_shift(eps) + round_up(radius))


@theorem(
    source="Holdfast",
    place="section 5b, Mutual information",
    statement=(
        "For k adaptive means of [0, 1] values on n independent rows with N(0, s^2) added to each, "
        "I(X; transcript) <= k/(8 n s^2) nats."
    ),
    domain="n, k >= 1, s > 0",
    monotone={"n": "down", "k": "up", "s": "down"},
    slack="none to first order for fair bits",
)
def gaussian_mutual_information(n: int, k: int, s: float) -> float:
    """I <= sum_i I(X_i; T | other rows) <= n m^2/2 with m = sqrt(k)/(2 n s), in nats."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    s = require.positive("s", s)
    return round_up(k / (8.0 * n) / s / s)


# Private answers on independent rows: how wide, and how private, k of them are together.
#
# Every answer is a statistic that one row moves by at most lambda, plus noise that makes it
# epsilon-DP (Laplace) or mu-GDP (Gaussian). Theorem D says how far a private transcript can move
# the posterior of a row; the transfer theorem makes a half-width of it, for all answers together
# and without splitting beta. Both are written for means, lambda = 1/n. In units of n lambda they
# hold for every statistic q of bounded differences: with h_i the mean of q when only the first i
# rows are given, q(X) - E q = sum_i (h_i - h_{i-1}); given the transcript and the rows before it,
# row i has mean h_i - h_{i-1} of at most lambda TV_i, TV_i the distance of its posterior from its
# prior; and the laws of the transcript that TV_i compares are averages over the later rows, which
# brings them closer. (For Theorem T the law r answers with the middle of what row i can make of
# the statistic.)
#
# Legend
#     n, k        rows; answers
#     epsilon     of one answer;  log_delta = ln delta;  beta the failure probability, as ln beta
#     delta_k     the optimal composition of k epsilon-DP steps
#     scale       of the Laplace noise, b = 1/(n epsilon), as a part of the range


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


# Laplace noise with the best epsilon: the half-width, the questions or the rows, by search.
#
# Whatever epsilon a search ends at, `private_laplace_half_width` holds there, so every number is
# on the safe side. Noise costs N/(n epsilon), N the CVaR of the largest of k noises; the shift is
# nearly proportional to epsilon, about sqrt(2 k (1 - ln beta))/4 times it, which says where to
# look.


MOST_PRIVATE_LAPLACE = 20_000  # answers: the optimal composition of more takes its time
_AROUND = 2.0  # how far ln epsilon may be from the first guess
_EPSILON_STEPS = 16


def best_private_laplace(n: int, k: int, log_beta: float) -> tuple[float, float]:
    """About the best epsilon of one answer, and the half-width that it gives."""
    guess = math.sqrt(laplace_max_noise(k, log_beta) / (n * _slope(k, log_beta)))
    return _least(lambda epsilon: private_laplace_half_width(n, k, epsilon, log_beta), guess)


def private_laplace_questions(n: int, tolerance: float, log_beta: float) -> int:
    """The most questions, up to 20,000, whose half-width on n rows is within the tolerance."""
    n = require.positive_integer("n", n)
    return largest_integer(lambda k: _rows(k, tolerance, log_beta) <= n, most=MOST_PRIVATE_LAPLACE)


def private_laplace_rows(k: int, tolerance: float, log_beta: float) -> int | None:
    """The fewest rows for k questions; None for more than 20,000."""
    k = require.positive_integer("k", k)
    return None if k > MOST_PRIVATE_LAPLACE else math.ceil(_rows(k, tolerance, log_beta))


def _rows(k: int, tolerance: float, log_beta: float) -> float:
    """N/(n epsilon) + shift <= tolerance, solved for n at the epsilon that makes it least."""
    tolerance = require.positive("tolerance", tolerance)

    def missing(epsilon: float) -> float:
        return epsilon * (composed_private_shift(k, epsilon, log_beta) - tolerance)

    _, least = _least(missing, tolerance / (2 * _slope(k, log_beta)))
    return math.inf if least >= 0 else round_up(-laplace_max_noise(k, log_beta) / least, 16)


def _slope(k: int, log_beta: float) -> float:
    return math.sqrt(2 * k * (1.0 - log_beta)) / 4


def _least(function: Callable[[float], float], guess: float) -> tuple[float, float]:
    """(epsilon, value) of the least value near a guess of the epsilon."""
    log_epsilon, value = golden_minimum(
        lambda x: function(math.exp(x)),
        math.log(guess) - _AROUND,
        math.log(guess) + _AROUND,
        steps=_EPSILON_STEPS,
    )
    return math.exp(log_epsilon), value
