"""Arrows between the notions of stability: each turns one promise into another, rounded up.

Legend
    step        the stability value that the arrow starts from
    epsilon     privacy loss; log_delta = ln delta (-inf for delta = 0)
    rho, mu     the parameters of zCDP and of GDP
    Phi         the standard normal distribution function
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import SourceNote, theorem
from holdfast.theory.notions.composing import GDP, TV, ZCDP, ApproxDP, PureDP

_ULP = math.ulp(1.0)
_ROOT2 = math.sqrt(2)
_FAR = 1e150  # beyond it x^2 overflows


def up_unless_zero(value: float, parameter: float) -> float:
    """Rounded up; 0 only where the parameter is 0, not where the value underflowed."""
    return 0.0 if parameter == 0 else round_up(value)


@theorem(
    source="Literature",
    place="Bun & Steinke 2016, Proposition 1.4",
    statement="epsilon-DP implies zCDP with rho = epsilon^2/2.",
    domain="any PureDP",
    monotone={"step": "up"},
    slack="sharp to first order for small epsilon, loose for epsilon > 2",
)
def pure_dp_to_zcdp(step: PureDP) -> ZCDP:
    """rho = epsilon^2/2, so that k small pure steps compose like sqrt(k)."""
    return ZCDP(up_unless_zero(step.epsilon * step.epsilon / 2, step.epsilon))


@theorem(
    source="Literature",
    place="Bun & Steinke 2016, Lemma 3.6",
    statement="rho-zCDP implies (epsilon, delta)-DP with epsilon = rho + 2 sqrt(rho ln(c/delta)), "
    "c = min(1, sqrt(pi rho)), or epsilon = rho where delta >= c.",
    domain="any ZCDP, ln delta <= 0",
    monotone={"step": "up", "log_delta": "down"},
    slack="the tail bound of zCDP integrated; exact Gaussian noise is still sharper",
)
def zcdp_to_approx_dp_sharp(step: ZCDP, log_delta: float) -> ApproxDP:
    """As `zcdp_to_approx_dp`, with the factor sqrt(pi rho) that small rho earns.

    With Z the privacy loss, delta(epsilon) = E(1 - e^(epsilon - Z))_+ = int_0^inf e^-y
    P[Z > epsilon + y] dy. Insert P[Z > z] <= e^(-(z - rho)^2/(4 rho)); for epsilon >= rho what
    depends on y is at most e^(-y^2/(4 rho)), whose integral is sqrt(pi rho).
    """
    log_delta = require.log_probability("log_delta", log_delta)
    if step.rho == 0:
        return ApproxDP(0.0, log_delta)
    log_factor = min(0.0, math.log(math.pi * step.rho) / 2)
    surplus = max(0.0, log_factor - log_delta)
    return ApproxDP(round_up(step.rho + 2 * math.sqrt(step.rho * surplus)), log_delta)


@theorem(
    source="Literature",
    place="Dong, Roth & Su 2022, Corollary 2.13; Balle & Wang 2018, Theorem 8",
    statement="mu-GDP implies (epsilon, delta)-DP with delta = Phi(mu/2 - epsilon/mu) - "
    "e^epsilon Phi(-mu/2 - epsilon/mu), for every epsilon >= 0.",
    domain="any GDP, epsilon >= 0",
    monotone={"step": "up", "epsilon": "down"},
    slack="exact for Gaussian noise",
)
def gdp_to_approx_dp(step: GDP, epsilon: float) -> ApproxDP:
    """The exact curve: the least delta at a chosen epsilon, in logarithms and rounded up."""
    epsilon = require.non_negative("epsilon", epsilon)
    return ApproxDP(epsilon, log_gaussian_delta(step.mu, epsilon))


def log_gaussian_delta(mu: float, epsilon: float) -> float:
    """ln of delta = Phi(-x) - e^epsilon Phi(-y), x = epsilon/mu - mu/2, y = x + mu, rounded up."""
    if mu == 0:
        return -math.inf
    x, y = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if x > _FAR:
        return -_FAR * _FAR / 2
    # What an error of a few units in the last place of x and y does to ln delta.
    slack = (abs(x) + mu + 2) * 8 * math.ulp(y)
    if x >= 0:
        # e^epsilon phi(y) = phi(x), so delta = phi(x) (mills(x) - mills(y)): no underflow.
        log_delta = -x * x / 2 - math.log(2 * math.pi) / 2 + _log_mills_gap(x, y, mu)
    elif epsilon <= 1:
        # Both error functions are positive: nothing cancels, however small mu is.
        between = (math.erf(y / _ROOT2) + math.erf(-x / _ROOT2)) / 2
        log_delta = math.log(between - math.expm1(epsilon) * math.erfc(y / _ROOT2) / 2)
    else:
        second = math.exp(-x * x / 2) * float(special.erfcx(y / _ROOT2)) / 2
        log_delta = math.log(math.erfc(x / _ROOT2) / 2 - second)
    return min(0.0, round_up(log_delta + slack, 8))


def _log_mills_gap(x: float, y: float, mu: float) -> float:
    """At least ln(mills(x) - mills(y)), mills(x) = (1 - Phi(x))/phi(x), 0 <= x, y = x + mu."""
    at_x, at_y = (math.sqrt(math.pi / 2) * float(special.erfcx(end / _ROOT2)) for end in (x, y))
    gap = (1 + 8 * _ULP) * at_x - (1 - 8 * _ULP) * at_y
    # For small mu that is mostly rounding; but mills is convex, and its slope
    # x mills(x) - 1 is never below -1/(1 + x^2).
    steepest = min(1 - x * at_x * (1 - 8 * _ULP) + _ULP, 1 / (1 + x * x))
    return min(math.log(gap), math.log(mu) + math.log(steepest))


@theorem(
    source="Literature",
    place="Dong, Roth & Su 2022, Corollary B.6; Bun & Steinke 2016, Proposition 1.6",
    statement="mu-GDP implies zCDP with rho = mu^2/2.",
    domain="any GDP",
    monotone={"step": "up"},
    slack="exact for Gaussian noise",
)
def gdp_to_zcdp(step: GDP) -> ZCDP:
    """At order a the Gaussian pair, which dominates every mu-GDP pair, diverges by a mu^2/2."""
    return ZCDP(up_unless_zero(step.mu * step.mu / 2, step.mu))


_CLAIM_0_6 = SourceNote(
    kind="loose",
    source="L12",
    place="Claim 0.6",
    printed="d_TV <= (e^epsilon - 1)/2",
    right="d_TV <= (e^epsilon - 1)/(e^epsilon + 1) = tanh(epsilon/2)",
    why="the proof uses the promise on one event, not on its complement too; the "
    "printed bound exceeds 1 for epsilon > ln 3, randomised response attains the right one",
)


@theorem(
    source="L12",
    place="Claim 0.6, made exact",
    statement="epsilon-DP implies a total-variation distance of at most tanh(epsilon/2).",
    domain="any PureDP",
    monotone={"step": "up"},
    slack="attained by randomised response",
    printed="pure_dp_to_tv_printed",
    notes=(_CLAIM_0_6,),
)
def pure_dp_to_tv(step: PureDP) -> TV:
    """P(O) <= e^epsilon Q(O) on O and Q <= e^epsilon P off it; together P(O) - Q(O) <= tanh."""
    return TV(min(1.0, up_unless_zero(math.tanh(step.epsilon / 2), step.epsilon)))


@theorem(
    source="Literature",
    place="Dong, Roth & Su 2022, Section 2; L12 Claim 0.2 before its last inequality",
    statement="mu-GDP implies a total-variation distance of at most 2 Phi(mu/2) - 1.",
    domain="any GDP",
    monotone={"step": "up"},
    slack="exact for Gaussian noise",
)
def gdp_to_tv(step: GDP) -> TV:
    """The curve of `gdp_to_approx_dp` at epsilon = 0."""
    return TV(min(1.0, up_unless_zero(math.erf(step.mu / (2 * _ROOT2)), step.mu)))
