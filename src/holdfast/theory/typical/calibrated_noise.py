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
from holdfast.theory.base.safeside import largest_true, round_up
from holdfast.theory.base.theorem import SourceNote, theorem
from holdfast.theory.notions.arrows import log_gaussian_delta


def below_one(name: str, value: float) -> float:
    return require.between(name, value, -math.inf, 0.0, open_high=True)


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
    log_tau = below_one("log_tau", log_tau)

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
