"""Composition in two directions: an envelope for the one, a centre for the other.

Let M be the transcript on the sample X. The reference law is W = (1 - e) C + e E: E is Theorem L's
product of envelopes, so that M is at most K/e times W but for P[Bad]; C puts every answer where it
would be had the sample been the population, with noise of its own (`spread` of the mechanism's).
Under C the history does not depend on X, so the shifts U_1, ..., U_k of M from C need no charge:
each is beyond x_i with probability nu_i, and they may depend on each other in any way.

Legend
    k               answers
    curve           pairs (x_i, ln nu_i), rising: a fixed answer is shifted by more than x_i scales
                    with probability at most nu_i
    order           s > 0, of the Renyi divergence
    spread          c in (0, 1]: the centre's standard deviation in units of the noise's
    p               the probability given to shifts that are too large together
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdfast import require
from holdfast.theory.base.safeside import log_add, log_up, round_up
from holdfast.theory.base.theorem import theorem

_ORDERS = tuple(0.05 * 1.2**step for step in range(34))
_SPREADS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
_ENVELOPE = math.log(0.05)  # e as a part of delta
_SHARE = 0.9  # of the rest, for shifts that are too large together


def _divergences(xs: np.ndarray, pure: bool, order: float, spread: float) -> np.ndarray:
    """ln E_C (dC/dM)^order of one answer that is shifted by each of xs; rising in them."""
    if pure:  # randomised response, the worst of all pairs within a ratio e^x
        ratios: np.ndarray = np.logaddexp((1 + order) * xs, -order * xs) - np.logaddexp(0.0, xs)
        return ratios
    room = 1 + order * (1 - spread * spread)
    shifted: np.ndarray = xs * xs / 2 * (order + order * order * spread * spread / room)
    return shifted - order * math.log(spread) - math.log(room) / 2


def _log_delta_and_moment(
    k: int,
    curve: Sequence[tuple[float, float]],
    log_p: float,
    order: float,
    spread: float,
    pure: bool,
) -> tuple[float, float]:
    """ln(p + k nu of the last point), and k CVaR_p of the divergence of one answer."""
    xs = np.array([x for x, _ in curve])
    nus = np.exp(np.array([log_nu for _, log_nu in curve]))
    losses = _divergences(xs, pure, order, spread)
    above = np.append(np.cumsum((nus[:-1] * np.diff(losses))[::-1])[::-1], 0.0)
    mean = float(np.min(losses + above * math.exp(-log_p)))
    return log_add(log_p, math.log(k) + curve[-1][1]), mean * k + 1e-12 * k * (1 + abs(mean))


@theorem(
    source="Holdfast",
    place="Section 6.5, the centre's direction",
    statement="k adaptive answers, each shifted from its centre by more than x_i scales of its "
    "noise with probability at most nu_i for a question fixed in advance: P[(X, C) in O] <= "
    "e^{eta'} P[(X, M) in O] + delta with delta = p + k nu_last + s^s (1+s)^{-1-s} e^{B - s eta'},"
    " B = k CVaR_p(g(U)), g(u) = ln E_C (dC/dM)^s: Gaussian noise with a centre of spread c: "
    "u^2/2 (s + s^2 c^2/r) - s ln c - (ln r)/2, r = 1 + s(1 - c^2); pure steps: randomised "
    "response at u.",
    domain="k >= 1, a rising curve, eta' >= 0, ln p < 0, order > 0, 0 < spread <= 1",
    monotone={"k": "up", "eta_prime": "down"},
    slack="Renyi divergence for the exact law; shifts at once as large as can be",
)
def centre_log_delta(
    k: int,
    curve: Sequence[tuple[float, float]],
    eta_prime: float,
    log_p: float,
    order: float,
    spread: float = 1.0,
    pure: bool = False,
) -> float:
    """ln delta, at most 0.

    The mean of k variables of any dependence exceeds CVaR_p of the law that dominates each with
    probability at most p. Until it does, the moment of the likelihood ratio is at most e^B; and
    (1 - e^-y)_+ <= s^s (1+s)^{-1-s} e^{s y}.
    """
    k = require.positive_integer("k", k)
    eta_prime = require.non_negative("eta_prime", eta_prime)
    log_p = require.between("log_p", log_p, -math.inf, 0.0, open_high=True)
    order = require.positive("order", order)
    spread = require.between("spread", spread, 0.0, 1.0, open_low=True)
    log_shifted, moment = _log_delta_and_moment(k, curve, log_p, order, spread, pure)
    log_ratio = moment - order * eta_prime + _log_factor(order)
    return log_up(log_add(log_shifted, log_ratio))


def _log_factor(order: float) -> float:
    return order * math.log(order) - (1 + order) * math.log1p(order)


def least_two_directions(
    k: int,
    curve: Sequence[tuple[float, float]],
    leaked: float,
    log_delta: float,
    *,
    pure: bool,
) -> float | None:
    """Least eta found with which each law is at most e^eta times the other, but for delta.

    It is the larger of the envelope's, `leaked` nats and ln 1/e, and of the centre's.
    The leakage's own failure probability must be at most delta. None where no centre fits.
    """
    points = [(x, log_nu) for x, log_nu in curve if math.isfinite(x)]
    if not points or math.log(k) + points[-1][1] > log_delta - 10:
        return None
    log_envelope = log_delta + _ENVELOPE
    log_rest = log_delta + math.log1p(-math.exp(_ENVELOPE))
    log_p, log_ratio = log_rest + math.log(_SHARE), log_rest + math.log(1 - _SHARE - 1e-3)
    best = math.inf
    for order in _ORDERS:
        for spread in (1.0,) if pure else _SPREADS:
            _, moment = _log_delta_and_moment(k, points, log_p, order, spread, pure)
            eta = round_up((moment + _log_factor(order) - log_ratio) / order)
            if eta < best and _fits(k, points, max(0.0, eta), log_p, order, spread, pure, log_rest):
                best = max(0.0, eta)
    if not math.isfinite(best):
        return None
    return round_up(max(best, leaked - log_envelope))


def _fits(
    k: int,
    points: Sequence[tuple[float, float]],
    eta: float,
    log_p: float,
    order: float,
    spread: float,
    pure: bool,
    log_rest: float,
) -> bool:
    return centre_log_delta(k, points, eta, log_p, order, spread, pure) <= log_rest
