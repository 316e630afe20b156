"""Noise that makes an answer typically stable: the scale follows the concentration of the question.

A question q is within alpha = radius(ln nu) of its expectation for all samples but a share nu. The
oracle adds the same noise to the expectation, so two laws at distance alpha must look alike.

Legend
    alpha       the radius of the question at level nu (in BF1's set form: at level nu/2)
    eta, tau    the closeness asked for, as ln tau; nu the share of untypical samples
    scale       b of Laplace(b), or the standard deviation s of N(0, s^2)
    beta        the probability that the noise exceeds the error, as ln beta
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import largest_true, round_down, round_up
from holdfast.theory.base.theorem import SourceNote, theorem
from holdfast.theory.leakage.nats import gaussian_noise_error, laplace_noise_error
from holdfast.theory.notions.arrows import log_gaussian_delta

__all__ = [
    "gaussian_mechanism_error",
    "gaussian_mechanism_error_printed",
    "gaussian_scale",
    "gaussian_scale_bf1_printed",
    "gaussian_scale_printed",
    "gaussian_scale_printed_eta_max",
    "laplace_mechanism_error",
    "laplace_scale",
    "laplace_scale_set_form",
    "near_gaussian_scale",
]


def _below_one(name: str, value: float) -> float:
    return require.between(name, value, -math.inf, 0.0, open_high=True)


@theorem(
    source="BF2",
    place="Algorithm 2, Theorem 5.1",
    statement="If P[|q(X) - E q| > alpha] <= nu, then q + Laplace(alpha/eta) is (eta, 0, nu)-"
    "typically stable in oracle form, for any population.",
    domain="alpha > 0, eta > 0",
    monotone={"alpha": "up", "eta": "down"},
    slack="none: a sample at distance alpha has the ratio e^eta exactly",
)
def laplace_scale(alpha: float, eta: float) -> float:
    """b = alpha/eta, rounded up."""
    return round_up(require.positive("alpha", alpha) / require.positive("eta", eta))


@theorem(
    source="BF1",
    place="Figure 2, Theorem 4.1",
    statement="If P[|q(X) - E q| > alpha] <= nu/2, then q + Laplace(2 alpha/eta) is (eta, 0, nu)-"
    "typically stable in set form (and (eta/2, 0, nu/2) in oracle form), for any population.",
    domain="alpha = radius(ln(nu/2)) > 0, eta > 0",
    monotone={"alpha": "up", "eta": "down"},
    slack="none in eta; nu/2 could be 1 - sqrt(1 - nu)",
    notes=(
        SourceNote(
            "slip",
            "BF1",
            "Theorem 4.1, proof",
            "P[q(u) + Lap(eta/(2 alpha)) in O] = (alpha/eta) times the integral over O of "
            "e^{-eta |w - q(u)|/(2 alpha)}",
            "Lap(2 alpha/eta), and the prefactor eta/(4 alpha)",
            "The argument of Lap is the scale in Figure 2 and the rate in the proof, and the "
            "prefactor is that of a density with scale eta/(2 alpha): with it the density has mass "
            "(2 alpha/eta)^2, not 1. The ratio of the two sides is not touched.",
        ),
    ),
)
def laplace_scale_set_form(alpha: float, eta: float) -> float:
    """b = 2 alpha/eta: two typical samples may be 2 alpha apart."""
    return laplace_scale(2 * require.positive("alpha", alpha), eta)


@theorem(
    source="BF2",
    place="Theorem 5.2 (BF1 Theorem 4.2 with 2 alpha)",
    statement="The answer of Algorithm 2 is further than (alpha/eta) ln(1/beta) from q(x) with "
    "probability exactly beta.",
    domain="alpha > 0, eta > 0, ln beta <= 0",
    monotone={"alpha": "up", "eta": "down", "log_beta": "down"},
    slack="none",
)
def laplace_mechanism_error(alpha: float, eta: float, log_beta: float) -> float:
    """(alpha/eta) ln(1/beta), rounded up."""
    return laplace_noise_error(laplace_scale(alpha, eta), log_beta)


_STEPS = 12
_ROOT_2PI = math.sqrt(2.0 * math.pi)


@theorem(
    source="Literature",
    place="Balle & Wang 2018, Theorem 8, at the distance alpha of BF2 Algorithm 3",
    statement="If P[|q(X) - E q| > alpha] <= nu, then q + N(0, s^2) is (eta, tau, nu)-typically "
    "stable in oracle form iff (for a question that attains alpha) Phi(alpha/(2s) - eta s/alpha) - "
    "e^eta Phi(-alpha/(2s) - eta s/alpha) <= tau; this is the least such s.",
    domain="alpha > 0, eta > 0, ln tau < 0",
    monotone={"alpha": "up", "eta": "down", "log_tau": "down"},
    slack="none",
    printed="gaussian_scale_printed",
    notes=(
        SourceNote(
            "slip",
            "BF2",
            "Algorithm 3, Theorem 5.3",
            "s = alpha sqrt(2 ln(1.5/tau))/eta for all eta and tau",
            "only for eta <= eta_max(tau), which is at least 4.95; the exact s holds everywhere",
            "The quoted analysis of Gaussian noise assumes small eta: at tau = 0.8 the printed "
            "noise already fails for eta = 5.",
        ),
    ),
)
def gaussian_scale(alpha: float, eta: float, log_tau: float) -> float:
    """The least s, from the safe side of its bracket."""
    alpha, eta = require.positive("alpha", alpha), require.positive("eta", eta)
    log_tau = _below_one("log_tau", log_tau)

    def close(mu: float) -> bool:
        return log_gaussian_delta(mu, eta) <= log_tau

    low = _mu_below(eta, log_tau)
    while not close(low):  # rounding at the boundary, or tau too close to 1 for the floats
        low /= 2
    high = 2 * low
    while close(high):
        low, high = high, 2 * high
    return round_up(alpha / largest_true(close, low, high, near=_near_root(low, eta, log_tau)))


def near_gaussian_scale(alpha: float, eta: float, log_tau: float) -> float:
    """About `gaussian_scale`, at a fifth of its price: for a search, which it may lead astray."""
    return alpha / _near_root(_mu_below(eta, log_tau), eta, log_tau)


def _mu_below(eta: float, log_tau: float) -> float:
    """The mu whose hockey stick without its second term, mu/2 - eta/mu = z, is tau."""
    z = float(special.ndtri_exp(log_tau))
    root = math.hypot(z, math.sqrt(2 * eta))
    return 2 * eta / (root - z) if z < 0 else z + root


def _near_root(mu: float, eta: float, log_tau: float) -> float:
    """By Newton's steps from below, the mu whose hockey stick is tau: a guess, nothing rests on it.

    The slope of delta in mu is phi(mu/2 - eta/mu).
    """
    for _ in range(_STEPS):
        log_delta, x = log_gaussian_delta(mu, eta), mu / 2 - eta / mu
        rise = (log_tau - log_delta) * math.exp(min(700.0, log_delta + x * x / 2)) * _ROOT_2PI
        if not 0.0 < mu + rise < math.inf:
            break
        mu += rise
        if abs(rise) < 1e-11 * mu:
            break
    return mu


@theorem(
    source="BF2",
    place="Algorithm 3",
    statement="Printed: q + N(0, s^2) with s = alpha sqrt(2 ln(1.5/tau))/eta is (eta, tau, nu)-"
    "typically stable. True for eta <= gaussian_scale_printed_eta_max(ln tau).",
    domain="alpha > 0, eta > 0, ln tau < 0",
    monotone={"alpha": "up", "eta": "down", "log_tau": "down"},
    slack="26 % more noise than needed at eta = 1, tau = 10^-6; unsound for large eta",
)
def gaussian_scale_printed(alpha: float, eta: float, log_tau: float) -> float:
    """Kept to show the difference: use `gaussian_scale`."""
    alpha, eta = require.positive("alpha", alpha), require.positive("eta", eta)
    return alpha * math.sqrt(2 * (math.log(1.5) - _below_one("log_tau", log_tau))) / eta


@theorem(
    source="Holdfast",
    place="Section 6.6, range of the printed Gaussian noise",
    statement="s = alpha sqrt(2 ln(c/tau))/eta is (eta, tau)-close at distance alpha exactly for "
    "eta up to this number; c = 1.5 in BF2 (never below 4.95), c = 1 in BF1's inferred form.",
    domain="ln tau < 0, constant >= 1",
    monotone={"constant": "up"},
    slack="none",
)
def gaussian_scale_printed_eta_max(log_tau: float, constant: float = 1.5) -> float:
    """The largest eta at which the printed noise is enough, rounded down.

    With mu = eta/L, L = sqrt(2 ln(c/tau)), the hockey stick grows with eta: its derivative is
    phi(eta/(2L) - L) (1/L - mills(eta/(2L) + L)) > 0.
    """
    log_tau = _below_one("log_tau", log_tau)
    L = math.sqrt(2 * (math.log(require.at_least("constant", constant, 1.0)) - log_tau))

    def close(eta: float) -> bool:
        return log_gaussian_delta(eta / L, eta) <= log_tau

    low = 1.0
    while not close(low):
        low /= 2
    high = 2 * low
    while close(high):
        low, high = high, 2 * high
    return round_down(largest_true(close, low, high))


@theorem(
    source="BF1",
    place="Algorithm 3 (Figure 3), inferred",
    statement="Inferred: q + N(0, s^2) with s = 2 alpha sqrt(2 ln(1/tau))/eta is (eta, tau, nu)-"
    "typically stable in set form. True for eta <= gaussian_scale_printed_eta_max(ln tau, 1).",
    domain="alpha = radius(ln(nu/2)) > 0, eta > 0, ln tau < 0",
    monotone={"alpha": "up", "eta": "down", "log_tau": "down"},
    slack="unsound for large eta, and for tau near 1",
    notes=(
        SourceNote(
            "copy",
            "BF1",
            "Figure 3",
            "(the figure with Algorithm 3 is missing)",
            "s = 2 alpha sqrt(2 ln(1/tau))/eta",
            "Our copy has the caption only. Inferred from the error of Theorem 4.4, which is "
            "s sqrt(2 ln(1/beta)) for this s.",
        ),
    ),
)
def gaussian_scale_bf1_printed(alpha: float, eta: float, log_tau: float) -> float:
    """Kept for completeness: use `gaussian_scale` at distance 2 alpha."""
    alpha, eta = require.positive("alpha", alpha), require.positive("eta", eta)
    return 2 * alpha * math.sqrt(-2 * _below_one("log_tau", log_tau)) / eta


@theorem(
    source="BF2",
    place="Theorem 5.4, made exact",
    statement="The answer with exactly calibrated Gaussian noise is further than s sqrt(2) "
    "erfcinv(beta) from q(x) with probability exactly beta.",
    domain="alpha > 0, eta > 0, ln tau < 0, ln beta <= 0",
    monotone={"alpha": "up", "eta": "down", "log_tau": "down", "log_beta": "down"},
    slack="none",
    printed="gaussian_mechanism_error_printed",
)
def gaussian_mechanism_error(alpha: float, eta: float, log_tau: float, log_beta: float) -> float:
    """s sqrt(2) erfcinv(beta) for the least s, rounded up."""
    return gaussian_noise_error(gaussian_scale(alpha, eta, log_tau), log_beta)


@theorem(
    source="BF2",
    place="Theorem 5.4",
    statement="The answer of Algorithm 3 is further than 2 alpha sqrt(ln(1.5/tau) ln(1/beta))/eta "
    "from q(x) with probability at most beta.",
    domain="alpha > 0, eta > 0, ln tau < 0, ln beta <= 0",
    monotone={"alpha": "up", "eta": "down", "log_tau": "down", "log_beta": "down"},
    slack="sqrt(2 ln(1/beta)) where the exact quantile is smaller: 25 % at beta = .05",
)
def gaussian_mechanism_error_printed(
    alpha: float, eta: float, log_tau: float, log_beta: float
) -> float:
    """Sound for the printed s; kept beside the exact form."""
    s = gaussian_scale_printed(alpha, eta, log_tau)
    return round_up(s * math.sqrt(-2 * require.log_probability("log_beta", log_beta)))
