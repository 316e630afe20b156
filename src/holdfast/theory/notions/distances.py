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
from holdfast.theory.base import special
from holdfast.theory.base.safeside import largest_true, round_up
from holdfast.theory.base.theorem import Erratum, theorem
from holdfast.theory.notions.arrows import gdp_to_approx_dp, gdp_to_tv
from holdfast.theory.notions.composing import GDP, ApproxDP, PureDP

__all__ = [
    "advanced_composition",
    "advanced_composition_of",
    "advanced_composition_printed",
    "gaussian_answers",
    "gaussian_scale_for_approx_dp",
    "gaussian_scale_for_tv",
    "gaussian_scale_for_zcdp",
    "gaussian_tv",
    "gaussian_tv_printed",
    "laplace_log_tail",
    "laplace_scale_for_dp",
    "laplace_scale_for_tv",
    "laplace_tv",
    "peak_tv",
    "uniform_scale_for_tv",
    "uniform_tv",
]


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
    errata=(
        Erratum(
            source="L15",
            place="Putting it all together, first item and all displays after it",
            printed="1/sqrt(2 pi m sigma)",
            right="1/(sqrt(2 pi) m sigma)",
            why="L12 Claim 0.2 has m and sigma outside the root; under it, even the scale in m "
            "would be wrong",
        ),
    ),
)
def gaussian_tv(n: int, k: int, s: float) -> float:
    """The k answers are a test of N(0, 1) against N(mu, 1), mu = sqrt(k)/(n s), at best."""
    return gdp_to_tv(gaussian_answers(n, k, s)).distance


@theorem(
    source="L15",
    place="Putting it all together, second item (with its first item corrected); L12 Claim 0.2",
    statement="k adaptive means of [0, 1] values over n rows, each with its own N(0, s^2) noise, "
    "are TV-stable with distance at most k/(sqrt(2 pi) n s).",
    domain="n >= 1, k >= 1, s > 0",
    monotone={"n": "down", "k": "up", "s": "down"},
    slack="linear in k where the exact distance grows as sqrt(k); may exceed 1",
)
def gaussian_tv_printed(n: int, k: int, s: float) -> float:
    """k times the distance of one answer, and that one bounded by its peak density."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    return round_up(k / (math.sqrt(2 * math.pi) * n * require.positive("s", s)))


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
    source="Holdfast",
    place="Section 7, total variation of noise with one peak",
    statement="Noise whose density has one peak, of height `peak`, moved by `shift`, is within "
    "total variation shift peak of itself.",
    domain="shift >= 0, peak >= 0",
    monotone={"shift": "up", "peak": "up"},
    slack="none for uniform noise, peak = 1/(2 D); loose where the shift is as wide as the peak",
)
def peak_tv(shift: float, peak: float) -> float:
    """The best test of one peak against the other is a half-line: P[c - shift < noise <= c]."""
    shift, peak = require.non_negative("shift", shift), require.non_negative("peak", peak)
    return min(1.0, round_up(shift * peak)) if shift and peak else 0.0


@theorem(
    source="Holdfast",
    place="Section 7, total variation of uniform noise",
    statement="k adaptive means of [0, 1] values over n rows, each with its own uniform noise on "
    "[-D, D], are TV-stable with distance min(1, k/(2 n D)).",
    domain="n >= 1, k >= 1, D > 0",
    monotone={"n": "down", "k": "up", "D": "down"},
    slack="exact for k = 1 and n D >= 1/2; the sum over answers is loose for many",
)
def uniform_tv(n: int, k: int, D: float) -> float:
    """L15 Theorem 0.1 for steps of distance 1/(2 n D). No epsilon is finite: it is (0, TV)-DP."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    return min(1.0, round_up(k * peak_tv(1 / n, 0.5 / require.positive("D", D))))


@theorem(
    source="Holdfast",
    place="Section 7, total variation of uniform noise, inverted",
    statement="Uniform noise on [-D, D] with D = k/(2 n distance) makes k adaptive means of [0, 1] "
    "values TV-stable with that distance.",
    domain="n >= 1, k >= 1, 0 < distance < 1",
    monotone={"n": "down", "k": "up", "distance": "down"},
    slack="as uniform_tv",
)
def uniform_scale_for_tv(n: int, k: int, distance: float) -> float:
    """The inverse of `uniform_tv`."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    return round_up(k / (2 * n * require.probability("distance", distance)), 8)


@theorem(
    source="L4",
    place="Definition 4 and Theorem 5; L12 Claim 0.5",
    statement="Laplace noise of scale sensitivity/epsilon makes one answer epsilon-DP.",
    domain="epsilon > 0, sensitivity > 0",
    monotone={"epsilon": "down", "sensitivity": "up"},
    slack="exact: a smaller scale is not epsilon-DP for a question that moves by the sensitivity",
)
def laplace_scale_for_dp(epsilon: float, sensitivity: float) -> float:
    """The scale b of Lap(b), density e^(-|y|/b)/(2 b)."""
    return round_up(
        require.positive("sensitivity", sensitivity) / require.positive("epsilon", epsilon)
    )


@theorem(
    source="L4",
    place="Claim 6",
    statement="Laplace noise Y of scale sensitivity/epsilon has ln P[|Y| > D] = "
    "-epsilon D/sensitivity.",
    domain="D >= 0, epsilon > 0, sensitivity > 0",
    monotone={"D": "down", "epsilon": "down", "sensitivity": "up"},
    slack="exact",
)
def laplace_log_tail(D: float, epsilon: float, sensitivity: float) -> float:
    """ln of the probability that the noise of `laplace_scale_for_dp` exceeds D."""
    D = require.non_negative("D", D)
    rate = require.positive("epsilon", epsilon) / require.positive("sensitivity", sensitivity)
    return min(0.0, round_up(-D * rate))


@theorem(
    source="L12",
    place="Claim 0.5, its distance made exact and inverted",
    statement="Laplace noise of scale sensitivity/(-2 ln(1 - distance)) makes one answer TV-stable "
    "with that distance.",
    domain="0 < distance < 1, sensitivity > 0",
    monotone={"distance": "down", "sensitivity": "up"},
    slack="exact",
)
def laplace_scale_for_tv(distance: float, sensitivity: float) -> float:
    """The inverse of `laplace_tv`."""
    epsilon = -2 * math.log1p(-require.probability("distance", distance))
    return round_up(require.positive("sensitivity", sensitivity) / epsilon)


@theorem(
    source="L12",
    place="Claim 0.2 before its last inequality, for k answers, inverted",
    statement="Gaussian noise of standard deviation sqrt(k)/(2 sqrt(2) n erfinv(distance)) makes k "
    "adaptive means of [0, 1] values TV-stable with that distance.",
    domain="n >= 1, k >= 1, 0 < distance < 1",
    monotone={"n": "down", "k": "up", "distance": "down"},
    slack="exact",
)
def gaussian_scale_for_tv(n: int, k: int, distance: float) -> float:
    """The inverse of `gaussian_tv`."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    mu = 2 * math.sqrt(2) * float(special.erfinv(require.probability("distance", distance)))
    return round_up(math.sqrt(k) / (n * mu), 32)


@theorem(
    source="Literature",
    place="Bun & Steinke 2016, Proposition 1.6 and Lemma 2.3",
    statement="Gaussian noise of standard deviation sqrt(k/(2 rho))/n makes k adaptive means of "
    "[0, 1] values rho-zCDP.",
    domain="n >= 1, k >= 1, rho > 0",
    monotone={"n": "down", "k": "up", "rho": "down"},
    slack="exact",
)
def gaussian_scale_for_zcdp(n: int, k: int, rho: float) -> float:
    """The inverse of rho = k/(2 n^2 s^2)."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    return round_up(math.sqrt(k / (2 * require.positive("rho", rho))) / n)


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


@theorem(
    source="L15",
    place="Theorem 0.3",
    statement="k adaptive epsilon-DP steps are (epsilon', delta)-DP with epsilon' = "
    "epsilon sqrt(2 k ln(1/delta)) + k epsilon (e^epsilon - 1).",
    domain="k >= 1, ln delta <= 0",
    monotone={"step": "up", "k": "up", "log_delta": "down"},
    slack="useless for epsilon > ln 2, where k epsilon alone is smaller",
)
def advanced_composition_printed(step: PureDP, k: int, log_delta: float) -> float:
    """The printed epsilon'; infinite where e^epsilon is too large for a float."""
    k = require.positive_integer("k", k)
    log_delta = require.log_probability("log_delta", log_delta)
    if step.epsilon > 700:
        return math.inf
    drift = k * step.epsilon * math.expm1(step.epsilon)
    return round_up(step.epsilon * math.sqrt(2 * k * -log_delta) + drift)
