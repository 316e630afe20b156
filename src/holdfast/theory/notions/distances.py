"""Exact distances of noisy answers, the noise that a target needs, and advanced composition.

Neighbours differ in one of n rows, so a mean of [0, 1] values moves by at most 1/n. Every result
holds for questions chosen adaptively.

Legend
    n, k            rows; questions
    s               standard deviation of the Gaussian noise of each answer
    epsilon, delta  the DP parameters; log_delta = ln delta
    sensitivity     lambda, how far one row can move the question
    D               half-width of uniform noise
    distance        total variation
    Phi             the standard normal distribution function
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import largest_true, round_up
from holdfast.theory.base.theorem import SourceNote, theorem
from holdfast.theory.notions.arrows import gdp_to_approx_dp, gdp_to_tv
from holdfast.theory.notions.composing import GDP, ApproxDP, PureDP


@theorem(
    source="Literature",
    place="Dong, Roth & Su 2022, Theorem 2.7 and Corollary 3.3",
    statement="k adaptive means of [0, 1] values over n rows, each with its own N(0, s^2) noise, "
    "are GDP with mu = sqrt(k)/(n s); as zCDP, rho = k/(2 n^2 s^2).",
    domain="n >= 1, k >= 1, s > 0",
    monotone={"n": "down", "k": "up", "s": "down"},
    slack="exact: attained by asking k times the question that the changed row moves by 1/n",
)
def gaussian_answers(n: int, k: int, s: float) -> GDP:
    """The stability of k Gaussian answers together."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    return GDP(round_up(math.sqrt(k) / (n * require.positive("s", s))))


@theorem(
    source="L12",
    place="Claim 0.2 before its last inequality, for k answers",
    statement="k adaptive means of [0, 1] values over n rows, each with its own N(0, s^2) noise, "
    "are TV-stable with distance 2 Phi(sqrt(k)/(2 n s)) - 1.",
    domain="n >= 1, k >= 1, s > 0",
    monotone={"n": "down", "k": "up", "s": "down"},
    slack="exact",
    printed="gaussian_tv_printed",
    notes=(
        SourceNote(
            kind="copy",
            source="L15",
            place="Putting it all together, first item and all displays after it",
            printed="1/sqrt(2 pi m sigma)",
            right="1/(sqrt(2 pi) m sigma)",
            why="L12 Claim 0.2 has m and sigma outside the root; with them under it the distance "
            "of one answer exceeds the bound at m sigma = 1/2 (.68 > .56). The lecture's last "
            "lines (sigma of order k/(sqrt(m) tau)) follow from the right form only, so that the "
            "root sign was probably moved in the transcription",
        ),
    ),
)
def gaussian_tv(n: int, k: int, s: float) -> float:
    """The k answers are a test of N(0, 1) against N(mu, 1), mu = sqrt(k)/(n s), at best."""
    return gdp_to_tv(gaussian_answers(n, k, s)).distance


@theorem(
    source="L12",
    place="Claim 0.5, its distance made exact",
    statement="One answer with Laplace noise of scale sensitivity/epsilon is TV-stable with "
    "distance 1 - e^(-epsilon/2).",
    domain="epsilon >= 0",
    monotone={"epsilon": "up"},
    slack="exact; below tanh(epsilon/2), the distance of the worst epsilon-DP step",
)
def laplace_tv(epsilon: float) -> float:
    """Two Laplace densities shifted by epsilon scales cross half-way."""
    return min(1.0, round_up(-math.expm1(-require.non_negative("epsilon", epsilon) / 2)))


@theorem(
    source="Literature",
    place="Balle & Wang 2018, Theorem 8 and Algorithm 1, for k answers",
    statement="The returned standard deviation makes k adaptive means of [0, 1] values over n rows "
    "(epsilon, delta)-DP; no smaller one does.",
    domain="n >= 1, k >= 1, epsilon >= 0, ln delta < 0",
    monotone={"n": "down", "k": "up", "epsilon": "down", "log_delta": "down"},
    slack="exact up to the last bracket; infinite where only noise beyond the floats would do",
)
def gaussian_scale_for_approx_dp(n: int, k: int, epsilon: float, log_delta: float) -> float:
    """The inverse of the exact curve: the largest mu with delta(epsilon) <= delta, then s."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    epsilon = require.non_negative("epsilon", epsilon)
    log_delta = require.log_probability("log_delta", log_delta)
    if log_delta == 0:
        raise InvalidArgument("log_delta is 0.0; it must be below 0: delta = 1 promises nothing.")

    def stable(log_mu: float) -> bool:
        return gdp_to_approx_dp(GDP(math.exp(log_mu)), epsilon).log_delta <= log_delta

    low, high = -700.0, 350.0
    if not stable(low):
        return math.inf
    mu = math.exp(largest_true(stable, low, high))
    return round_up(math.sqrt(k) / (n * mu), 8)


@theorem(
    source="L15",
    place="Theorem 0.3, sharpened as in Kairouz, Oh & Viswanath 2017, Theorem 3.4",
    statement="k adaptive epsilon-DP steps are (epsilon', delta)-DP with epsilon' = min(k epsilon, "
    "epsilon sqrt(2 k ln(1/delta)) + k epsilon tanh(epsilon/2)).",
    domain="k >= 1, ln delta <= 0",
    monotone={"step": "up", "k": "up", "log_delta": "down"},
    slack="Hoeffding on the privacy loss; the optimal composition is a little better",
    printed="advanced_composition_printed",
)
def advanced_composition(step: PureDP, k: int, log_delta: float) -> ApproxDP:
    """A step's privacy loss has mean at most epsilon tanh(epsilon/2) and range 2 epsilon."""
    k = require.positive_integer("k", k)
    log_delta = require.log_probability("log_delta", log_delta)
    epsilon = step.epsilon
    drift = k * epsilon * math.tanh(epsilon / 2)
    return _advanced(k * epsilon, k * epsilon * epsilon, drift, log_delta)


@theorem(
    source="Literature",
    place="Kairouz, Oh & Viswanath 2017, Theorem 3.5",
    statement="Adaptive epsilon_i-DP steps are (epsilon', delta)-DP with epsilon' = "
    "min(sum epsilon_i, sqrt(2 ln(1/delta) sum epsilon_i^2) + sum epsilon_i tanh(epsilon_i/2)).",
    domain="at least one step, parameters fixed in advance, ln delta <= 0",
    monotone={"log_delta": "down"},
    slack="as advanced_composition",
)
def advanced_composition_of(steps: Sequence[PureDP], log_delta: float) -> ApproxDP:
    """`advanced_composition` for steps with different parameters."""
    require.integer_at_least("the number of steps", len(steps), 1)
    log_delta = require.log_probability("log_delta", log_delta)
    epsilons = [step.epsilon for step in steps]
    return _advanced(
        math.fsum(epsilons),
        math.fsum(epsilon * epsilon for epsilon in epsilons),
        math.fsum(epsilon * math.tanh(epsilon / 2) for epsilon in epsilons),
        log_delta,
    )


def _advanced(total: float, squares: float, drift: float, log_delta: float) -> ApproxDP:
    return ApproxDP(round_up(min(total, math.sqrt(2 * squares * -log_delta) + drift)), log_delta)
