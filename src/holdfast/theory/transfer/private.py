"""Independent rows, private mechanisms: what differential privacy says about the population.

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
from collections.abc import Sequence

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem

__all__ = [
    "gaussian_mutual_information",
    "private_post_selected_half_width",
    "private_post_selected_log_failure",
    "private_shift",
    "pure_private_shift",
]


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
