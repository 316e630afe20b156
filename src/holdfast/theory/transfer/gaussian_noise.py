"""Independent rows, Gaussian noise: how far k adaptive answers can be from the population.

Legend
------
n, k        rows; questions, each the mean over the rows of a value in [0, 1]
s           standard deviation of the Gaussian noise added to each answer
beta        probability that some interval is wrong; `log_beta` is its natural logarithm
A           max_j |noise_j|
B           (1/n) sum_i TV(posterior of row i given transcript and other rows, prior of row i)
CVaR_beta   min_c c + E(Y - c)_+ / beta, the mean of Y over its worst beta
m           sqrt(k) / (2 n s), the signal that one row can send through the whole transcript
V           (e^{m Z - m^2/2} - 1)^2 for a standard normal Z
F(b)        E(V - b)_+;  r = sqrt(b);  c = F(b) / beta

Transfer. Suppose the claim failed with probability above beta. Some weight w in [0, 1/beta] with
mean 1, a function of the transcript, lives on the failure. It picks a question and a sign, and
E[w |a - q(P)|] <= E[w A] + E[w B] <= CVaR(A) + CVaR(B): a contradiction. Nothing splits beta.

Theorem T. Let r be the transcript's law with row i replaced by the constant 1/2, R_x = dp_x/dr and
u = E_x R_x. By Cauchy-Schwarz TV_i <= (1/2) sqrt(E_x (R_x - 1)^2 - (u - 1)^2) / u. For a weight
with E_r[w u] = 1 and W = E_r w this gives E[w TV_i] <= (1/2) sqrt(b W^2 + c W - (1 - W)^2), whose
maximum over W is (1/2) sqrt((c + c^2/4 + b) / (1 - b)). The pair (p_x, r) is a post-processing of
(N(m, 1), N(0, 1)), and ((R - 1)^2 - b)_+ is convex in R, so the Gaussian F serves for every row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import (
    golden_minimum,
    largest_integer,
    log1mexp,
    log_add,
    round_down,
    round_up,
)
from holdfast.theory.base.theorem import theorem

_Array = npt.NDArray[np.float64]

_LN2 = math.log(2.0)
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_NODES, _WEIGHTS = (part / 2.0 for part in np.polynomial.legendre.leggauss(64))
_NODES = _NODES + 0.5
_PANEL_NODES, _PANEL_WEIGHTS = (part / 2.0 for part in np.polynomial.legendre.leggauss(16))
_PANEL_NODES = _PANEL_NODES + 0.5
_DEPTH = 50.0  # integrands are followed down to e^-50 of their peak
_REACH = math.sqrt(2.0 * _DEPTH)
_QUADRATURE = 1e-11  # relative error of a quadrature here, checked against 60-digit arithmetic
_LOG_ROUNDING = 1e-15  # relative error of a logarithm such as -z^2/2
_OPTIMUM = 1e-7  # two searches for the same optimum agree to this, with room
_MOST_QUESTIONS = 10**15
_MOST_R = 1.0 - 1e-9


# --------------------------------------------------------------------------------------------
# The transfer theorem, and F


@theorem(
    source="Holdfast",
    place="section 5, Transfer",
    statement=(
        "For adaptive questions on independent rows, with probability at least 1 - beta every "
        "answer is within CVaR_beta(A) + CVaR_beta(B) of its population value."
    ),
    domain="noise_cvar >= CVaR_beta(max |noise|), shift_cvar >= CVaR_beta(B), same beta",
    monotone={"noise_cvar": "up", "shift_cvar": "up"},
    slack="none: beta is not split between noise and shift",
)
def transfer_half_width(noise_cvar: float, shift_cvar: float) -> float:
    """The half-width that holds for all answers together; the proof opens this file."""
    noise_cvar = require.non_negative("noise_cvar", noise_cvar)
    shift_cvar = require.non_negative("shift_cvar", shift_cvar)
    return round_up(noise_cvar + shift_cvar)


@theorem(
    source="Holdfast",
    place="section 5, Theorem T: F(b)",
    statement=(
        "ln F(b), F(b) = E((e^{mZ - m^2/2} - 1)^2 - b)_+ for Z standard normal: the excess that "
        "bounds how far a Gaussian transcript moves the posterior of one row."
    ),
    domain="0 <= b < 1, m > 0",
    monotone={"b": "down", "m": "up"},
    slack="rounded up by a relative 1e-11 + 1e-15 |ln F|",
)
def log_shift_excess(b: float, m: float) -> float:
    """Both tails are integrals of positive functions from their edge, so nothing cancels.

    With e = 1 - e^{-mu}: above, at z+ + u, V - b = e^{2mu} (1+r) e (2r(1-e) + (1+r) e); below, at
    z- - u, V - b = (1-r) e (2r + (1-r) e). The growth e^{2mu} moves the peak by 2m.
    """
    b = require.between("b", b, 0.0, 1.0, open_high=True)
    m = require.positive("m", m)
    return _log_excess(math.sqrt(b), m)


def _log_excess(r: float, m: float) -> float:
    z_above = math.log1p(r) / m + 0.5 * m
    z_below = math.log1p(-r) / m + 0.5 * m

    def above(e: _Array) -> _Array:
        return (1.0 + r) * e * (2.0 * r * (1.0 - e) + (1.0 + r) * e)

    def below(e: _Array) -> _Array:
        return (1.0 - r) * e * (2.0 * r + (1.0 - r) * e)

    log_f = log_add(
        _log_tail_integral(z_above - 2.0 * m, m, above) - 0.5 * z_above * z_above,
        _log_tail_integral(-z_below, m, below) - 0.5 * z_below * z_below,
    )
    log_f -= _HALF_LOG_TWO_PI
    return log_f + _QUADRATURE + _LOG_ROUNDING * abs(log_f)


def _log_tail_integral(decay: float, m: float, factor: Callable[[_Array], _Array]) -> float:
    """ln of the integral over u >= 0 of factor(1 - e^{-mu}) e^{-decay u - u^2/2}."""
    peak, past = max(-decay, 0.0), max(decay, 0.0)
    start = max(peak - _REACH, 0.0)
    length = peak + _REACH * _REACH / (past + math.hypot(past, _REACH)) - start
    u = start + length * _NODES
    top = 0.5 * peak * peak
    values = factor(-np.expm1(-m * u)) * np.exp(-u * (decay + 0.5 * u) - top)
    return top + math.log(float(_WEIGHTS @ values) * length)


# --------------------------------------------------------------------------------------------
# Theorem T


def log_shift_bound(r: float, log_c: float) -> float:
    """ln of (1/2) sqrt((2 + c)^2/(4(1 - b)) - 1) = (1/2) sqrt((c + c^2/4 + b)/(1 - b)), b = r^2."""
    log_b = 2.0 * math.log(r) if r > 0.0 else -math.inf
    inside = log_add(log_c, 2.0 * (log_c - _LN2), log_b)
    return 0.5 * (inside - math.log1p(-r) - math.log1p(r)) - _LN2


def shift_scale(log_beta: float) -> float:
    """About sqrt(CVaR_beta(Z^2)): for small m the shift is near m times half of this."""
    return math.sqrt(1.0 - 2.0 * log_beta)


def _log_shift_at(r: float, m: float, log_beta: float) -> float:
    return log_shift_bound(r, _log_excess(r, m) - log_beta)


def _best_shift(m: float, log_beta: float) -> tuple[float, float]:
    """(r, ln of Theorem T's bound, not capped at 1); every r in [0, 1) is valid."""
    far = m * (math.sqrt(8.0 - 2.0 * log_beta) + 2.0 * m)
    high = math.log(min(_MOST_R, math.expm1(min(far, 1.0))))
    low = min(math.log(0.3 * m * shift_scale(log_beta)), high - 1.0)
    log_r, best = golden_minimum(
        lambda x: _log_shift_at(math.exp(x), m, log_beta), low, high, steps=22
    )
    at_zero = _log_shift_at(0.0, m, log_beta)
    return (math.exp(log_r), best) if best < at_zero else (0.0, at_zero)


def _best_m(
    objective: Callable[[float, float], float], guess: float, log_beta: float
) -> tuple[float, float]:
    """(m, ln shift) that make the objective least: r improved, then m at the same z+, in turn."""
    m = guess
    for _ in range(3):
        z = math.log1p(_best_shift(m, log_beta)[0]) / m + 0.5 * m

        def at(log_m: float, z: float = z) -> float:
            m = math.exp(log_m)
            r = math.expm1(min(max(m * (z - 0.5 * m), 0.0), 1.0))
            return objective(m, _log_shift_at(min(r, _MOST_R), m, log_beta))

        log_m, _ = golden_minimum(at, math.log(guess / 20.0), math.log(20.0 * guess), steps=24)
        m = math.exp(log_m)
    return m, _best_shift(m, log_beta)[1]


@theorem(
    source="Holdfast",
    place="section 5, Theorem T",
    statement=(
        "For k adaptive means of [0, 1] values on independent rows with N(0, s^2) added to each, "
        "CVaR_beta(B) <= min(1, min_b (1/2) sqrt((2 + F(b)/beta)^2 / (4(1 - b)) - 1)), "
        "m = sqrt(k)/(2 n s)."
    ),
    domain="m > 0, log_beta <= 0",
    monotone={"m": "up", "log_beta": "down"},
    slack="about 1 % above the exact CVaR for fair bits and small m",
)
def gaussian_shift(m: float, log_beta: float) -> float:
    """A bound on CVaR_beta(B); 1 when the theorem has nothing to say."""
    m = require.positive("m", m)
    log_beta = require.log_probability("log_beta", log_beta)
    return min(1.0, round_up(math.exp(min(0.0, _best_shift(m, log_beta)[1]))))


# --------------------------------------------------------------------------------------------
# The largest of k noises


def log_single_exceedance(k: int, log_beta: float) -> float:
    """ln p for which k independent events of probability p all fail with probability 1 - beta."""
    if log_beta < -30.0:
        return log_beta - math.log(k)  # ln(1 - (1 - beta)^{1/k}) up to a relative 1e-13
    if log_beta == 0.0:
        return 0.0
    return log1mexp(log1mexp(log_beta) / k)


def log_max_exceedance(k: int, log_p: _Array) -> _Array:
    """ln(1 - (1 - p)^k), elementwise, without underflow."""
    p = np.exp(log_p)
    small = p < 1e-8
    tame = np.where(small, 0.5, np.minimum(p, 1.0 - 1e-16))
    log_hazard = np.where(small, log_p + 0.5 * p, np.log(-np.log1p(-tame))) + math.log(k)
    hazard = np.exp(np.minimum(log_hazard, 700.0))
    tiny = hazard < 1e-8
    safe_hazard = np.where(tiny, 1.0, hazard)
    return np.asarray(np.where(tiny, log_hazard - 0.5 * hazard, np.log(-np.expm1(-safe_hazard))))


@theorem(
    source="Holdfast",
    place="section 5, CVaR of the largest noise",
    statement=(
        "CVaR_beta(max_j |Z_j|) for k independent standard normals: min over c of "
        "c + int_c^inf (1 - (1 - 2Q(x))^k) dx / beta."
    ),
    domain="k >= 1, log_beta <= 0",
    monotone={"k": "up", "log_beta": "down"},
    slack="exact up to rounding",
)
def gaussian_max_noise(k: int, log_beta: float) -> float:
    """Multiply by s for noise of standard deviation s. The best c is exceeded with chance beta."""
    k = require.positive_integer("k", k)
    log_beta = require.log_probability("log_beta", log_beta)
    c = -float(special.ndtri_exp(log_single_exceedance(k, log_beta) - _LN2))
    end = -float(special.ndtri_exp(log_beta - math.log(k) - _DEPTH - _LN2))
    edges = np.linspace(c, end, 17)
    x = (edges[:-1, None] + np.diff(edges)[:, None] * _PANEL_NODES).ravel()
    weights = np.tile(_PANEL_WEIGHTS * (end - c) / 16.0, 16)
    log_p = np.minimum(np.asarray(special.log_ndtr(-x)) + _LN2, 0.0)
    beyond = weights @ np.exp(log_max_exceedance(k, log_p) - log_beta)
    return round_up((c + float(beyond)) * (1.0 + _QUADRATURE))


# --------------------------------------------------------------------------------------------
# Width, questions, rows


@dataclass(frozen=True, slots=True)
class Signal:
    """The best signal m, with cost/m and weight times the shift of Theorem T, not capped at 1."""

    m: float
    noise_part: float
    shift_part: float


def best_signal(cost: float, log_beta: float, weight: float = 1.0) -> Signal:
    """Noise costs `cost`/m, the shift `weight` times Theorem T's bound: where is the least sum?"""
    scale = shift_scale(log_beta)
    guess = min(math.sqrt(2.0 * cost / (weight * scale)), 1.0 / scale)
    m, log_shift = _best_m(
        lambda m, log_shift: log_add(math.log(cost / m), math.log(weight) + log_shift),
        guess,
        log_beta,
    )
    return Signal(m, cost / m, weight * math.exp(log_shift))


@dataclass(frozen=True, slots=True)
class GaussianDesign:
    """Noise of standard deviation `noise_scale` gives every answer +- `half_width`."""

    noise_scale: float
    half_width: float
    noise_part: float
    shift_part: float


@theorem(
    source="Holdfast",
    place="section 5, Theorem T with the best noise",
    statement=(
        "k adaptive means of [0, 1] values on n independent rows, answered with N(0, s^2) noise "
        "at the returned s, are all within half_width of the population with probability 1 - beta."
    ),
    domain="n, k >= 1, log_beta <= 0; a half-width of 1 or more says nothing",
    monotone={"n": "down", "k": "up", "log_beta": "down"},
    slack="s is found to about 1e-5, the width to about 1e-8; any s is valid",
)
def gaussian_half_width(n: int, k: int, log_beta: float) -> GaussianDesign:
    """Width s CVaR(max |Z|) + CVaR(B), least over s = sqrt(k)/(2 n m)."""
    n = require.positive_integer("n", n)
    k = require.positive_integer("k", k)
    log_beta = require.log_probability("log_beta", log_beta)
    largest = gaussian_max_noise(k, log_beta)
    signal = best_signal(math.sqrt(k) * largest / (2.0 * n), log_beta)
    noise_part, shift_part = round_up(signal.noise_part), round_up(signal.shift_part)
    return GaussianDesign(
        noise_scale=math.sqrt(k) / (2.0 * n * signal.m),
        half_width=transfer_half_width(noise_part, shift_part),
        noise_part=noise_part,
        shift_part=shift_part,
    )


def signal_room(tolerance: float, log_beta: float) -> float:
    """max_m m (tolerance - shift(m)): k questions on n rows fit iff sqrt(k) C_k / (2n) is below."""
    scale = shift_scale(log_beta)
    guess = min(tolerance, 1.0) / scale
    m, log_shift = _best_m(
        lambda m, log_shift: m * (math.exp(min(log_shift, 300.0)) - tolerance), guess, log_beta
    )
    return m * (tolerance - math.exp(log_shift)) * (1.0 - _OPTIMUM)


@theorem(
    source="Holdfast",
    place="section 5, Theorem T solved for k",
    statement="The most questions whose Gaussian half-width on n rows is within the tolerance.",
    domain="n >= 1, tolerance > 0, log_beta <= 0; 0 when not one question fits, at most 10^15",
    monotone={"n": "up", "tolerance": "up", "log_beta": "up"},
    slack="within a relative 1e-6 of the largest k, on the safe side",
)
def gaussian_questions(n: int, tolerance: float, log_beta: float) -> int:
    """The best m maximises m (tolerance - shift(m)) whatever n and k are."""
    n = require.positive_integer("n", n)
    tolerance = require.positive("tolerance", tolerance)
    log_beta = require.log_probability("log_beta", log_beta)
    room = round_down(2.0 * n * signal_room(tolerance, log_beta))
    return largest_integer(
        lambda k: math.sqrt(k) * gaussian_max_noise(k, log_beta) <= room, most=_MOST_QUESTIONS
    )


@theorem(
    source="Holdfast",
    place="section 5, Theorem T solved for n",
    statement="The fewest rows on which k questions have a Gaussian half-width in the tolerance.",
    domain="k >= 1, tolerance > 0, log_beta <= 0",
    monotone={"k": "up", "tolerance": "down", "log_beta": "down"},
    slack="within a relative 1e-6 of the least n, on the safe side",
)
def gaussian_rows(k: int, tolerance: float, log_beta: float) -> int:
    """Width is (sqrt(k) C_k / (2 n)) / m + shift(m), so n follows from the best m at once."""
    k = require.positive_integer("k", k)
    tolerance = require.positive("tolerance", tolerance)
    log_beta = require.log_probability("log_beta", log_beta)
    cost = 0.5 * math.sqrt(k) * gaussian_max_noise(k, log_beta)
    return max(1, math.ceil(round_up(cost / signal_room(tolerance, log_beta))))
