"""Arrows and distances between the notions of stability that no promise rests on, some as printed.

Legend
    step        the stability value that an arrow starts from
    n, k        rows; questions
    s           standard deviation of the Gaussian noise of each answer
    D           half-width of uniform noise
    epsilon, delta  the DP parameters; log_delta = ln delta
    rho         the parameter of zCDP
    sensitivity lambda, how far one row can move the question
    distance    total variation
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import SourceNote, theorem
from holdfast.theory.notions.arrows import up_unless_zero
from holdfast.theory.notions.composing import GDP, TV, ZCDP, ApproxDP, PureDP


@theorem(
    source="L15",
    place="Definition 0.2, the note after it",
    statement="epsilon-DP is (epsilon, 0)-DP.",
    domain="any PureDP",
    monotone={"step": "up"},
    slack="exact",
)
def pure_dp_to_approx_dp(step: PureDP) -> ApproxDP:
    """The same promise, in the notion with a delta."""
    return ApproxDP(step.epsilon, -math.inf)


@theorem(
    source="Literature",
    place="Bun & Steinke 2016, Proposition 1.3",
    statement="rho-zCDP implies (rho + 2 sqrt(rho ln(1/delta)), delta)-DP for every delta.",
    domain="any ZCDP, ln delta <= 0",
    monotone={"step": "up", "log_delta": "down"},
    slack="loose by a factor of about sqrt(pi rho) in delta; zcdp_to_approx_dp_sharp has it",
)
def zcdp_to_approx_dp(step: ZCDP, log_delta: float) -> ApproxDP:
    """The (epsilon, delta) promise at a chosen delta."""
    log_delta = require.log_probability("log_delta", log_delta)
    epsilon = step.rho + 2 * math.sqrt(step.rho * -log_delta)
    return ApproxDP(up_unless_zero(epsilon, step.rho), log_delta)


@theorem(
    source="Literature",
    place="Bun & Steinke 2016, Proposition 1.6, read backwards",
    statement="Gaussian answers whose zCDP parameters sum to rho are sqrt(2 rho)-GDP; "
    "false for other noise.",
    domain="a ZCDP that comes from Gaussian noise only",
    monotone={"step": "up"},
    slack="exact",
)
def zcdp_of_gaussians_to_gdp(step: ZCDP) -> GDP:
    """mu = sqrt(2 rho). Only for Gaussian noise: zCDP alone does not bound every test this well."""
    return GDP(up_unless_zero(math.sqrt(2 * step.rho), step.rho))


@theorem(
    source="L12",
    place="Claim 0.6",
    statement="epsilon-DP implies a total-variation distance of at most (e^epsilon - 1)/2.",
    domain="any PureDP",
    monotone={"step": "up"},
    slack="exceeds 1 for epsilon > ln 3",
)
def pure_dp_to_tv_printed(step: PureDP) -> float:
    """Kept to show the difference: it is a bound, but not a distance once it exceeds 1."""
    return _expm1(step.epsilon) / 2


@theorem(
    source="L15",
    place="Putting it all together, third item, made exact",
    statement="(epsilon, delta)-DP implies a total-variation distance of at most "
    "(e^epsilon - 1 + 2 delta)/(e^epsilon + 1).",
    domain="any ApproxDP",
    slack="attained: show the row with probability delta, else answer by randomised response",
    printed="approx_dp_to_tv_printed",
    notes=(
        SourceNote(
            kind="slip",
            source="L15",
            place="Putting it all together, the display after the third item",
            printed="(e^y - 1)/2 <= y/2 for small y = 2 epsilon sqrt(2 k ln(1/delta'))",
            right="tanh(y/2) <= y/2, which gives the same last line from the exact distance",
            why="e^y - 1 >= y for every y; only the exact distance is below y/2",
        ),
    ),
)
def approx_dp_to_tv(step: ApproxDP) -> TV:
    """tanh(epsilon/2) + delta (1 - tanh(epsilon/2)): the same number, without e^epsilon."""
    shrink = math.exp(-step.epsilon)
    rest = step.delta * 2 * shrink / (1 + shrink)
    return TV(
        min(1.0, up_unless_zero(math.tanh(step.epsilon / 2) + rest, step.epsilon + step.delta))
    )


@theorem(
    source="L15",
    place="Putting it all together, third item",
    statement="(epsilon, delta)-DP implies a total-variation distance of at most "
    "(e^epsilon - 1)/2 + delta.",
    domain="any ApproxDP",
    slack="exceeds 1 for epsilon > ln 3",
)
def approx_dp_to_tv_printed(step: ApproxDP) -> float:
    """Kept to show the difference to `approx_dp_to_tv`."""
    return _expm1(step.epsilon) / 2 + step.delta


def _expm1(value: float) -> float:
    return math.expm1(value) if value < 709 else math.inf


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
