"""Independent rows, median noise: bounded noise that hides one row.

Legend
------
n, k        rows; questions, each the mean over the rows of a value in [0, 1]
a           each answer gets D V, V the median of 2a + 1 independent uniforms on [-1, 1]
D           bound of the noise: |noise| <= D surely
t           1/(2 n D), the shift one row can cause, in units of D;  m = t sqrt(k I_a)
beta        probability that some interval is wrong; `log_beta` is its natural logarithm
C           CVaR_beta(max_j |V_j|) <= 1
F, S        as in `likelihood_cover`: S sums k log-ratios of a cover of (f_a(. - t), f_a)
H           min_b (1/2) sqrt((2 + F(b)/beta)^2/(4(1 - b)) - 1)
theta       k times the cover's p-mass at ratio infinity

Theorem M: all answers are within D C + H + theta/beta. f_a is log-concave, so of all shifts up to
t the extreme one dominates every hockey stick; domination composes adaptively. By Blackwell the
finite part of p_x has a density R_x against r with E_r psi(R_x) <= E psi(e^S) for convex psi; the
rest has mass at most theta and moves a posterior by at most 1. The Cauchy-Schwarz step of Theorem T
stays, with a sub-probability: its maximum does not fall with the mass, so mass 1 is the worst.

Theorem V1. A value of variance v in every row replaces the factor 1/2 of that step by sqrt(v); the
part of mass theta still moves a mean by at most 1. H must not be capped at 1 there: that cap is
about total variation, not about values of small variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.safeside import golden_minimum, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.transfer.gaussian_noise import (
    best_signal,
    log_max_exceedance,
    log_shift_bound,
    log_single_exceedance,
    signal_room,
    transfer_half_width,
)
from holdfast.theory.transfer.likelihood_cover import (
    LEAST_LOG_BETA,
    MOST_ANSWERS,
    composed_shift,
    fisher_information,
    order,
    peak_density,
)

ORDERS = (2, 3)
MOST_MEDIAN_QUESTIONS = 10**9
_NODES, _WEIGHTS = (part / 2.0 for part in np.polynomial.legendre.leggauss(16))
_NODES = _NODES + 0.5
_QUADRATURE = 1e-11  # relative error of the quadrature in C, checked against 50 digits
_FIRST_STEP = 0.06  # of the search for D, in ln D
_MOST_ROWS = 10**15
_NEAR = 1e-3  # relative width at which the searches for k and n stop


# --------------------------------------------------------------------------------------------
# The two parts of Theorem M


@theorem(
    source="Holdfast",
    place="section 5b, C",
    statement=(
        "CVaR_beta(max_j |V_j|) for k independent medians of 2a + 1 uniforms on [-1, 1]: the least "
        "c + int_c^1 (1 - (1 - tail(x))^k) dx / beta, tail(x) = 2 I_{(1-x)/2}(a+1, a+1)."
    ),
    domain="k >= 1, 2 <= a <= 7, log_beta <= 0",
    monotone={"k": "up", "a": "down", "log_beta": "down"},
    slack="exact up to rounding; never above 1",
)
def median_max_noise(k: int, a: int, log_beta: float) -> float:
    """Measured from the bound: y = 1 - x, on panels that halve towards y = 0."""
    k = require.positive_integer("k", k)
    a = order(a)
    log_beta = require.log_probability("log_beta", log_beta)
    p = math.exp(log_single_exceedance(k, log_beta))
    edge = 2.0 * float(special.betaincinv(a + 1.0, a + 1.0, 0.5 * p))
    if edge < 1e-15:
        return 1.0
    panels = edge * 0.5 ** np.arange(50)
    y = (panels[:, None] * 0.5 * (1.0 + _NODES)).ravel()
    weights = (panels[:, None] * 0.5 * _WEIGHTS).ravel()
    log_p = np.log(2.0 * special.betainc(a + 1.0, a + 1.0, 0.5 * y))
    beyond = float(weights @ np.exp(log_max_exceedance(k, np.minimum(log_p, 0.0)) - log_beta))
    return min(1.0, round_up(1.0 - edge + beyond * (1.0 + _QUADRATURE) + edge * 1e-14))


@dataclass(frozen=True, slots=True)
class Shift:
    """H (infinite where the theorem says nothing) and theta/beta."""

    H: float
    theta_over_beta: float

    def bound(self, weight: float = 1.0) -> float:
        """weight * H + theta/beta; `weight` is 2 sqrt(v) for questions of variance v or less."""
        return round_up(weight * self.H + self.theta_over_beta)


def shift_excess(
    n: int, k: int, D: float, a: int, log_beta: float
) -> tuple[Callable[[float], float], float, float] | None:
    """(ln F as a function of sqrt(b), m, theta), or None where the cover has nothing to say."""
    t = 1.0 / (2.0 * n * D)
    m = t * math.sqrt(k * fisher_information(a))
    if t >= 0.5 or m >= 2.0 or k > MOST_ANSWERS or log_beta < LEAST_LOG_BETA:
        return None
    pair = composed_shift(a, t, k, log_beta)
    return pair.excess(), m, pair.at_infinity


@lru_cache(maxsize=4096)  # a plan, an opening and every epoch ask for the same ones again
def exact_shift(n: int, k: int, D: float, a: int, log_beta: float) -> Shift:
    """H, not capped, and theta/beta; any b is valid, so the search is safe."""
    shift = shift_excess(n, k, D, a, log_beta)
    if shift is None:
        return Shift(math.inf, 0.0)
    log_excess, m, theta = shift

    def log_bound(log_rho: float) -> float:
        rho = math.exp(log_rho)
        return log_shift_bound(rho, log_excess(rho) - log_beta)

    far = min(40.0 * m, 0.999)
    _, best = golden_minimum(log_bound, math.log(min(0.2 * m, 0.1 * far)), math.log(far), steps=30)
    return Shift(round_up(math.exp(min(best, 700.0))), round_up(theta * math.exp(-log_beta)))


@theorem(
    source="Holdfast",
    place="section 5b, Theorem M",
    statement=(
        "For k adaptive means of [0, 1] values on n independent rows, each answered with D times "
        "the median of 2a + 1 uniforms on [-1, 1], CVaR_beta(B) <= min(1, H + theta/beta)."
    ),
    domain="n, k >= 1, D > 0, 2 <= a <= 7, log_beta <= 0",
    monotone={"n": "down", "k": "up", "D": "down", "log_beta": "down"},
    slack="lattice and rounding cost about 1e-4; 1 below beta = e^-25 and beyond k = 10^12",
)
def median_shift(n: int, k: int, D: float, a: int, log_beta: float) -> float:
    """H + theta/beta by the FFT of a cover."""
    n = require.positive_integer("n", n)
    k = require.positive_integer("k", k)
    D = require.positive("D", D)
    a = order(a)
    log_beta = require.log_probability("log_beta", log_beta)
    return min(1.0, exact_shift(n, k, D, a, log_beta).bound())


# --------------------------------------------------------------------------------------------
# The width with the best noise


@dataclass(frozen=True, slots=True)
class MedianNoiseDesign:
    """Noise bound D and order a, the three parts of Theorem M, and the half-width they give."""

    D: float
    a: int
    C: float
    H: float
    theta_over_beta: float
    half_width: float


def checked_orders(orders: tuple[int, ...]) -> tuple[int, ...]:
    """`orders`, each of them checked, and at least one."""
    if not orders:
        raise InvalidArgument(
            "orders is empty; it must hold at least one whole number from 2 to 7."
        )
    return tuple(order(a) for a in orders)


def _at(
    n: int, k: int, D: float, a: int, C: float, log_beta: float, weight: float
) -> MedianNoiseDesign:
    shift = exact_shift(n, k, D, a, log_beta)
    width = transfer_half_width(round_up(D * C), min(1.0, shift.bound(weight)))
    return MedianNoiseDesign(D, a, C, shift.H, shift.theta_over_beta, width)


@lru_cache(maxsize=4096)
def _gaussian_guess(n: int, k: int, a: int, log_beta: float, weight: float) -> tuple[float, float]:
    """(D, C) that would be best if S were Gaussian with the same m."""
    C = median_max_noise(k, a, log_beta)
    reach = math.sqrt(k * fisher_information(a)) / (2.0 * n)
    return reach / best_signal(reach * C, log_beta, weight).m, C


def median_noise_design(
    n: int, k: int, log_beta: float, orders: tuple[int, ...] = ORDERS, weight: float = 1.0
) -> MedianNoiseDesign:
    """The least D C + weight * H + theta/beta found; every D and a is valid.

    D starts from the Gaussian guess for each order; the best order's D then walks downhill in
    growing steps and ends at the vertex of a parabola. Where the noise alone says nothing about a
    value in [0, 1], no shift is computed.
    """
    guesses = {a: _gaussian_guess(n, k, a, log_beta, weight) for a in orders}
    a, (D, C) = min(guesses.items(), key=lambda guess: guess[1][0])
    if D * C >= 1.0:
        return MedianNoiseDesign(D, a, C, math.inf, 0.0, transfer_half_width(round_up(D * C), 1.0))
    first = [_at(n, k, D, a, C, log_beta, weight) for a, (D, C) in guesses.items()]
    start = min(first, key=lambda design: design.half_width)

    def at(move: float) -> MedianNoiseDesign:
        return _at(n, k, start.D * math.exp(move), start.a, start.C, log_beta, weight)

    values = {0.0: start, _FIRST_STEP: at(_FIRST_STEP)}
    upward = values[_FIRST_STEP].half_width < start.half_width
    move = 2.0 * _FIRST_STEP if upward else -_FIRST_STEP
    for _ in range(4):
        values[move] = at(move)
        if values[move].half_width >= min(d.half_width for x, d in values.items() if x != move):
            break
        move *= 2.0
    places = sorted(values)
    best = min(range(len(places)), key=lambda i: values[places[i]].half_width)
    if 0 < best < len(places) - 1:
        vertex = _vertex(*((x, values[x].half_width) for x in places[best - 1 : best + 2]))
        values[vertex] = at(vertex)
    return min(values.values(), key=lambda design: design.half_width)


def _vertex(
    left: tuple[float, float], middle: tuple[float, float], right: tuple[float, float]
) -> float:
    """Vertex of the parabola through three points, the middle one lowest."""
    before, after = middle[0] - left[0], right[0] - middle[0]
    rise, fall = left[1] - middle[1], right[1] - middle[1]
    curve = rise * after + fall * before
    return middle[0] + (rise * after * after - fall * before * before) / (2.0 * curve or 1.0)


@theorem(
    source="Holdfast",
    place="section 5b, Theorem M with the best noise",
    statement=(
        "k adaptive means of [0, 1] values on n independent rows, answered with D times the median "
        "of 2a + 1 uniforms on [-1, 1] at the returned D and a, are all within "
        "half_width = D C + H + theta/beta of the population with probability 1 - beta."
    ),
    domain="n, k >= 1, log_beta <= 0, orders within 2..7; a half-width of 1 or more says nothing",
    slack="D is found to about 1 %, the width to about 1e-4; any D is valid",
)
def median_noise_half_width(
    n: int, k: int, log_beta: float, orders: tuple[int, ...] = ORDERS
) -> MedianNoiseDesign:
    """Below beta = 1e-4 or so the tails of a = 2, 3 cost much: there `orders` up to 7 do better."""
    n = require.positive_integer("n", n)
    k = require.positive_integer("k", k)
    log_beta = require.log_probability("log_beta", log_beta)
    return median_noise_design(n, k, log_beta, checked_orders(orders))


# --------------------------------------------------------------------------------------------
# Questions and rows


def _walk(
    width: Callable[[int], float], start: float, tolerance: float, slope: float, most: int
) -> int | None:
    """The last x found to fit, next to one that does not, for a width that goes like x^slope.

    Each step lands just beyond the root that the last slope predicts, so that the bracket closes.
    For slope > 0 the fitting side is below (None: not even 1 fits); for slope < 0 it is above
    (None: not even `most` fits).
    """
    good, bad = (0, most + 1) if slope > 0 else (most + 1, 0)
    x = round(min(max(start, 1.0), float(most)))
    last: tuple[float, float] | None = None
    for _ in range(60):
        here = math.log(x), math.log(width(x) / tolerance)
        good, bad = (x, bad) if here[1] <= 0.0 else (good, x)
        if abs(good - bad) <= max(1.0, _NEAR * good):
            break
        if last is not None and last[0] != here[0]:
            secant = (here[1] - last[1]) / (here[0] - last[0])
            slope = secant if 0.5 < secant / slope < 2.0 else slope
        past = 0.4 * _NEAR * math.copysign(1.0, (bad - good) * (1 if good == x else -1))
        last, aim = here, math.exp(here[0] - here[1] / slope) * (1.0 + past)
        x = round(min(max(aim, min(good, bad) + 1.0), max(good, bad) - 1.0))
    return good if 1 <= good <= most else None


def _solve(
    problem: Callable[[int], tuple[int, int]],
    start: float,
    tolerance: float,
    log_beta: float,
    orders: tuple[int, ...],
    slope: float,
    most: int,
) -> int | None:
    """x (questions or rows; `problem` makes (n, k) of it) at the tolerance, on the fitting side.

    Widths are exact for D = x^slope times the best D at an anchor, which moves to the solution.
    """
    x = round(min(max(start, 1.0), float(most)))
    questions: int | None = None
    for _ in range(4):
        anchor, design = x, median_noise_half_width(*problem(x), log_beta, orders)

        def width(y: int, anchor: int = anchor, design: MedianNoiseDesign = design) -> float:
            n, k = problem(y)
            C = median_max_noise(k, design.a, log_beta)
            D = design.D * (y / anchor) ** slope
            return _at(n, k, D, design.a, C, log_beta, 1.0).half_width

        questions = _walk(width, x, tolerance, slope, most)
        x = questions or 1
        if 0.8 < x / anchor < 1.25:
            break
    return questions


@theorem(
    source="Holdfast",
    place="section 5b, Theorem M solved for k",
    statement="A number of questions whose median-noise half-width on n rows is in the tolerance.",
    domain="n >= 1, tolerance > 0, log_beta <= 0; 0 when not one question fits, at most 10^9",
    slack="within 0.3 % of the largest such k, and median_noise_half_width confirms it",
)
def median_noise_questions(
    n: int, tolerance: float, log_beta: float, orders: tuple[int, ...] = ORDERS
) -> int:
    """From the Gaussian guess by secants on exact widths."""
    n = require.positive_integer("n", n)
    tolerance = require.positive("tolerance", tolerance)
    log_beta = require.log_probability("log_beta", log_beta)
    orders = checked_orders(orders)
    if log_beta < LEAST_LOG_BETA:
        return 0
    start = (2.0 * n * signal_room(tolerance, log_beta)) ** 2 / fisher_information(orders[0])
    questions = _solve(
        lambda k: (n, k), start, tolerance, log_beta, orders, 0.25, MOST_MEDIAN_QUESTIONS
    )
    k = questions or 0
    while k > 0 and median_noise_half_width(n, k, log_beta, orders).half_width > tolerance:
        k = min(k - 1, math.floor(k * (1.0 - _NEAR)))
    return k


@theorem(
    source="Holdfast",
    place="section 5b, Theorem M solved for n",
    statement="A number of rows on which k questions have a median-noise half-width in tolerance.",
    domain="k >= 1, tolerance > 0, log_beta <= 0; None when 10^15 rows are not enough",
    slack="within 0.3 % of the least such n, and median_noise_half_width confirms it",
)
def median_noise_rows(
    k: int, tolerance: float, log_beta: float, orders: tuple[int, ...] = ORDERS
) -> int | None:
    """As `median_noise_questions`."""
    k = require.positive_integer("k", k)
    tolerance = require.positive("tolerance", tolerance)
    log_beta = require.log_probability("log_beta", log_beta)
    orders = checked_orders(orders)
    if log_beta < LEAST_LOG_BETA or k > MOST_ANSWERS:
        return None
    start = math.sqrt(k * fisher_information(orders[0])) / (2.0 * signal_room(tolerance, log_beta))
    n = _solve(lambda n: (n, k), start, tolerance, log_beta, orders, -0.5, _MOST_ROWS)
    while n is not None and median_noise_half_width(n, k, log_beta, orders).half_width > tolerance:
        n = max(n + 1, math.ceil(n * (1.0 + _NEAR)))
        n = n if n <= _MOST_ROWS else None
    return n


# Median noise in integers all the way: what is drawn, what is reported, what it leaks.
#
# Legend
# ------
# n, B        rows; row values are multiples of 1/B, so that the sum S of a question is a whole
#   number
# M           the noise is the median of 2a + 1 independent uniform integers on {-M, ..., M - 1}
# D           M/(n B), the bound of the real noise that the integer noise is the floor of
# alpha       radius of the question in the leakage ledger (section 3)
#
# floor(S + M V) = S + floor(M V), and the floor of a median is the median of the floors: the
# integer release is a post-processing of the real mechanism q + D V, so Theorem M holds for it as
# it is. The reported (Z + 1/2)/(n B) is within 1/(2 n B) of the real answer.


@dataclass(frozen=True, slots=True)
class MedianRelease:
    """Draw integers from {-M, ..., M - 1}; every half-width grows by `extra_half_width`."""

    n: int
    B: int
    M: int
    extra_half_width: float

    @property
    def D(self) -> Fraction:
        """The bound of the real noise, at least the one that was asked for."""
        return Fraction(self.M, self.n * self.B)

    def answer(self, total: int, median: int) -> Fraction:
        """The reported number for the exact sum `total` and a drawn median."""
        return Fraction(2 * (total + median) + 1, 2 * self.n * self.B)


@theorem(
    source="Holdfast",
    place="section 5b, Release in integers",
    statement=(
        "With M = ceil(n B D) and the median of 2a + 1 uniform integers on {-M, ..., M - 1}, the "
        "half-width of Theorem M for noise bound D holds after adding M/(n B) - D + 1/(2 n B)."
    ),
    domain="n, B >= 1, D > 0; values are multiples of 1/B",
    slack="C <= 1 for the rounding of D up: at most 1/(n B)",
)
def median_noise_release(n: int, B: int, D: float) -> MedianRelease:
    """A larger noise bound only hides more, so H at D serves for the D that is a multiple."""
    n, B = require.positive_integer("n", n), require.positive_integer("B", B)
    bound = Fraction(require.positive("D", D))
    M = math.ceil(bound * n * B)
    extra = Fraction(2 * M + 1, 2 * n * B) - bound
    return MedianRelease(n, B, M, round_up(float(extra)))


@theorem(
    source="Holdfast",
    place="section 5b, Leakage charge",
    statement=(
        "An integer median-noise answer that enters the leakage ledger is charged "
        "kappa = 1 + 2 (alpha + 1/(2 n B)) f_a(0)/D, f_2(0) = 15/16, f_3(0) = 35/32."
    ),
    domain="radius >= 0, n, B >= 1, D > 0, 2 <= a <= 7",
    monotone={"radius": "up", "n": "down", "B": "down", "D": "down", "a": "up"},
    slack="1/(2 n B) is not needed when the centres S are the only ones possible",
)
def median_noise_log_charge(radius: float, n: int, B: int, D: float, a: int) -> float:
    """ln kappa: the envelope of a unimodal density over centres 2 (alpha + ...) apart."""
    alpha = require.non_negative("radius", radius)
    n, B = require.positive_integer("n", n), require.positive_integer("B", B)
    D, a = require.positive("D", D), order(a)
    spread = 2.0 * alpha + 1.0 / (n * B)
    return round_up(math.log1p(spread * peak_density(a) / D), 16)


_LEAST_VARIANCE = 1e-12


def variance_between(name: str, variance: float) -> float:
    """The declared variance of a [0, 1] value, if it can be one."""
    return require.between(name, variance, _LEAST_VARIANCE, 0.25)


@theorem(
    source="Holdfast",
    place="section 5b, Theorem V1 with the best noise",
    statement=(
        "k adaptive means of [0, 1] values, each of variance at most v in every row (declared in "
        "advance), answered with median noise at the returned D and a on n independent rows, are "
        "all within half_width = D C + 2 sqrt(v) H + theta/beta with probability 1 - beta."
    ),
    domain="n, k >= 1, 1e-12 <= variance <= 1/4, log_beta <= 0, orders within 2..7",
    slack="as median_noise_half_width",
)
def declared_variance_half_width(
    n: int, k: int, variance: float, log_beta: float, orders: tuple[int, ...] = ORDERS
) -> MedianNoiseDesign:
    """The same search as for Theorem M, H weighted by 2 sqrt(v)."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    weight = 2.0 * math.sqrt(variance_between("variance", variance))
    log_beta = require.log_probability("log_beta", log_beta)
    return median_noise_design(n, k, log_beta, checked_orders(orders), weight)
