"""Releases in integers all the way: uniform, Laplace and rounded Gaussian noise.

a = (floor(q G + 1/2) + U)/G with U uniform on {-m, ..., m}. Floating-point noise would leak
low-order bits of q; here q is an exact fraction S/(n B) and everything up to the answer is an
integer.

Symbols: G the number of grid cells in a unit, so that g = 1/G; m the noise's reach in cells;
alpha the radius; t the tolerance; B the grid of row values (S is the exact sum of values times B).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.errors import ToleranceTooTight
from holdfast.theory.base import special
from holdfast.theory.base.safeside import float_above, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.nats import gaussian_noise_error

# Cells that the noise reaches to each side. At this size the grid costs below 2e-6 nats an answer.
RESOLUTION = 2**20


@dataclass(frozen=True, slots=True)
class DiscreteUniform:
    """One release: grid 1/G and noise of up to m cells."""

    G: int
    m: int

    def __post_init__(self) -> None:
        require.positive_integer("G", self.G)
        require.integer_at_least("m", self.m, 0)

    @property
    def reach(self) -> Fraction:
        """(m + 1/2)/G: the answer is never further than this from q(X)."""
        return Fraction(2 * self.m + 1, 2 * self.G)

    def cell(self, total: int, whole: int) -> int:
        """floor(q G + 1/2) for q = total/whole, in integers (whole = n B for a mean)."""
        return (2 * total * self.G + whole) // (2 * whole)

    def answer(self, cell: int, noise: int) -> Fraction:
        """The released number, for a cell of the sample and noise in {-m, ..., m}."""
        return Fraction(cell + noise, self.G)

    def log_charge(self, radius: float) -> float:
        """ln kappa: cells the radius spans (at most those of [0, 1]) over the noise's cells."""
        alpha = Fraction(require.non_negative("radius", radius))
        spanned = min(math.ceil(2 * alpha * self.G), self.G)
        return round_up(math.log1p(spanned / (2 * self.m + 1)))

    def narrowed(self, radius: float, narrow_radius: float) -> float:
        """The least half-width that a smaller radius can have with the charge of this release.

        It is charged for the same number of cells, which are as much finer as they may be.
        """
        spanned = min(math.ceil(2 * Fraction(radius) * self.G), self.G)
        cells = math.floor(spanned / (2 * Fraction(narrow_radius)))
        return float_above(DiscreteUniform(cells, self.m).reach + Fraction(narrow_radius))


@theorem(
    source="Holdfast",
    place="Section 3, integers all the way",
    statement="For radius alpha < t, the least G with (m + 1/2)/G + alpha <= t gives a release "
    "whose interval a +- t contains the truth whenever the concentration statement holds.",
    domain="0 <= radius < tolerance, m >= 0",
    slack="see discrete_uniform_overhead",
)
def discrete_uniform_for(tolerance: float, radius: float, m: int = RESOLUTION) -> DiscreteUniform:
    """The release for a tolerance, the inequality checked in exact fractions."""
    t = Fraction(require.positive("tolerance", tolerance))
    alpha = Fraction(require.non_negative("radius", radius))
    m = require.integer_at_least("m", m, 0)
    if alpha >= t:
        raise ToleranceTooTight(
            f"tolerance is {tolerance:g} and the sample alone may be off by {radius:.6g}; "
            f"ask for a tolerance above {radius:.6g}, or use more rows."
        )
    return DiscreteUniform(math.ceil(Fraction(2 * m + 1, 2) / (t - alpha)), m)


@theorem(
    source="Holdfast",
    place="Section 3, integers all the way (cost of the grid)",
    statement="On [0, 1] with t <= 1/2 the discrete release costs at most 4/(2m + 1) nats more "
    "than the continuous -ln(1 - alpha/t).",
    domain="m >= 1",
    monotone={"m": "down"},
    slack="about a factor 2",
)
def discrete_uniform_overhead(m: int = RESOLUTION) -> float:
    """4/(2m + 1): H <= 2 alpha G + 1 and G <= (m + 1/2)/(t - alpha) + 1."""
    return round_up(4 / (2 * require.positive_integer("m", m) + 1))


# Noise in whole numbers that is not bounded: discrete Laplace and rounded Gaussian.
#
# The sample's value q is put on a public grid of pitch 1/G, and a whole number Z of cells is
# added. While q moves over [theta - alpha, theta + alpha], its cell moves over at most H + 1 =
# ceil(2 alpha G) + 1 neighbouring cells. For a law that falls to both sides of 0 the sum over z
# of the largest probability of z among those cells is 1 + H P[Z = 0]: that is the charge kappa.
#
# Legend
#     spanned     H, the number of steps that the sample's cell can make
#     scale       T of the discrete Laplace law, P[Z = z] = tanh(1/(2T)) e^{-|z|/T}; or the
#   standard
#                 deviation S of the normal law that is rounded to the nearest whole number
#     beta        a probability that the noise exceeds its error, as ln beta


@theorem(
    source="Holdfast",
    place="Section 3, charges: Laplace noise on a grid",
    statement="A cell that can make H steps plus discrete Laplace noise of scale T is charged "
    "kappa = 1 + H tanh(1/(2T)).",
    domain="spanned >= 0, scale >= 1, whole numbers",
    monotone={"spanned": "up", "scale": "down"},
    slack="none; at most H/(2T), the continuous alpha/b with the radius rounded up to cells",
)
def discrete_laplace_log_charge(spanned: int, scale: int) -> float:
    """ln(1 + H tanh(1/(2T)))."""
    H = require.integer_at_least("spanned", spanned, 0)
    T = require.positive_integer("scale", scale)
    return round_up(math.log1p(H * math.tanh(0.5 / T)), 8)


@theorem(
    source="Holdfast",
    place="Section 3, the tail of Laplace noise on a grid",
    statement="Discrete Laplace noise of scale T exceeds T ln(1/beta) + 1/2 with probability at "
    "most beta.",
    domain="scale >= 1, log_beta <= 0",
    monotone={"scale": "up", "log_beta": "down"},
    slack="less than one cell",
)
def discrete_laplace_noise_error(scale: int, log_beta: float) -> float:
    """T ln(1/beta) + 1/2, in cells.

    With r = e^{-1/T}, P[|Z| > x] = 2 r^{floor(x) + 1}/(1 + r) <= r^x 2/(1 + r), and 2/(1 + r) is at
    most e^{1/(2T)}: |Z| is stochastically below |Y| + 1/2 for a Laplace variable Y of scale T.
    """
    T = require.positive_integer("scale", scale)
    return round_up(0.5 - T * require.log_probability("log_beta", log_beta))


@theorem(
    source="Holdfast",
    place="Section 3, charges: Gaussian noise on a grid",
    statement="A cell that can make H steps plus N(0, S^2) noise rounded to whole cells is charged "
    "kappa = 1 + H P[|N(0, S^2)| < 1/2].",
    domain="spanned >= 0 (a whole number), scale > 0",
    monotone={"spanned": "up", "scale": "down"},
    slack="none; at most H/(S sqrt(2 pi)), the continuous form with the radius rounded up to cells",
)
def rounded_gaussian_log_charge(spanned: int, scale: float) -> float:
    """ln(1 + H erf(1/(2 sqrt(2) S)))."""
    H = require.integer_at_least("spanned", spanned, 0)
    S = require.positive("scale", scale)
    return round_up(math.log1p(H * math.erf(0.5 / (math.sqrt(2.0) * S))), 8)


@theorem(
    source="Holdfast",
    place="Section 3, the tail of Gaussian noise on a grid",
    statement="N(0, S^2) noise rounded to whole cells exceeds S Phi^{-1}(1 - beta/2) + 1/2 with "
    "probability at most beta.",
    domain="scale > 0, log_beta <= 0",
    monotone={"scale": "up", "log_beta": "down"},
    slack="less than one cell",
)
def rounded_gaussian_noise_error(scale: float, log_beta: float) -> float:
    """S Phi^{-1}(1 - beta/2) + 1/2, in cells: rounding moves the noise by half a cell at most."""
    return round_up(gaussian_noise_error(scale, log_beta) + 0.5)


# One release of a whole vector: noise in every coordinate, charged by how far the vector moves.
#
# The mean of vectors that are bounded in the l2 norm is within a radius of its truth that does not
# depend on their dimension. So outside a rare event the sample's vector is in a ball, and not just
# in a box: a release with noise in every coordinate tells less of it than so many releases by
# themselves (BF1, section 4: in several dimensions noise follows the radius of the whole).
#
# Legend
#     d           the dimension
#     n           independent rows, whose vectors are in a set of this `diameter` (l2); `spread` is
#                 at least the root of the mean of |x - E x|^2 over rows
#     radius      of the ball around the truth in which the sample's vector is; in the unit that the
#                 noise is counted in: cells, or standard deviations
#     m           whole numbers -m, ..., m are the noise of each coordinate
#     omega_j     pi^{j/2}/Gamma(j/2 + 1), the volume of the unit ball in j dimensions


_ULP = math.ulp(1.0)


@theorem(
    source="Literature",
    place="McDiarmid 1989, for the norm of a mean of vectors",
    statement="The mean of n independent vectors of a set of diameter D, with mean squared distance"
    " from their expectations at most v^2, is further than v/sqrt(n) + D sqrt(ln(1/p)/(2n)) from "
    "its expectation (l2) with probability at most p, in any dimension; in the l1 norm with the "
    "diameter in that norm, and v sqrt(d) for v.",
    domain="n >= 1, diameter > 0, spread >= 0, ln p <= 0",
    monotone={"n": "down", "diameter": "up", "spread": "up", "log_p": "down"},
    slack="the mean of the norm is bounded by its root mean square",
)
def vector_mean_radius(n: int, diameter: float, spread: float, log_p: float) -> float:
    """The radius, rounded up: to change one row moves the norm by at most D/n.

    The mean of the l1 norm is at most sqrt(d) times that of the l2 norm.
    """
    n = require.positive_integer("n", n)
    diameter = require.positive("diameter", diameter)
    spread = require.non_negative("spread", spread)
    log_p = require.log_probability("log_p", log_p)
    return round_up(spread / math.sqrt(n) + diameter * math.sqrt(-log_p / (2 * n)), 8)


@theorem(
    source="Literature",
    place="Hsu, Kakade, Zhang 2012, Theorem 2.1, for the norm of a mean of vectors",
    statement="The mean of n independent vectors in d dimensions that are sub-Gaussian with scale "
    "sigma in every direction is further than sigma sqrt((d + 2 sqrt(d ln(1/p)) + 2 ln(1/p))/n) "
    "from its expectation (l2) with probability at most p.",
    domain="n >= 1, d >= 1, sigma > 0, ln p <= 0",
    monotone={"n": "down", "d": "up", "sigma": "up", "log_p": "down"},
    slack="that of the tail of a chi-square with d degrees of freedom",
)
def sub_gaussian_vector_radius(n: int, d: int, sigma: float, log_p: float) -> float:
    """The radius, rounded up: in every direction the mean has the scale sigma/sqrt(n)."""
    n, d = require.positive_integer("n", n), require.positive_integer("d", d)
    sigma, t = require.positive("sigma", sigma), -require.log_probability("log_p", log_p)
    return round_up(sigma * math.sqrt((d + 2 * math.sqrt(d * t) + 2 * t) / n), 8)


@theorem(
    source="Holdfast",
    place="docs/statistics.md, vectors with a declared scale",
    statement="The mean of n independent vectors in d dimensions that are sub-Gaussian with scale "
    "sigma for all choices of signs is further than sigma sqrt(2 (d ln 2 + ln(1/p))/n) from its "
    "expectation (l1) with probability at most p.",
    domain="n >= 1, d >= 1, sigma > 0, ln p <= 0",
    monotone={"n": "down", "d": "up", "sigma": "up", "log_p": "down"},
    slack="the union over 2^d choices of signs",
)
def sub_gaussian_vector_l1_radius(n: int, d: int, sigma: float, log_p: float) -> float:
    """The radius, rounded up: the l1 norm is the largest of the 2^d signed sums."""
    n, d = require.positive_integer("n", n), require.positive_integer("d", d)
    sigma, t = require.positive("sigma", sigma), -require.log_probability("log_p", log_p)
    return round_up(sigma * math.sqrt(2 * (d * math.log(2) + t) / n), 8)


def _log_sum(logs: NDArray[np.float64]) -> float:
    """ln of a sum, rounded up: terms that count are differences of numbers up to ln d!."""
    top, d = float(logs.max()), logs.size
    slack = 64 * _ULP * (1.0 + abs(top) + d * math.log(d + 1.0))
    return round_up(top + math.log(float(np.exp(logs - top).sum())) + slack)


def _log_binomials(d: int) -> NDArray[np.float64]:
    j = np.arange(d + 1, dtype=np.float64)
    return np.asarray(
        special.gammaln(d + 1.0) - special.gammaln(j + 1) - special.gammaln(d - j + 1)
    )


@theorem(
    source="Holdfast",
    place="Section 3, a vector with bounded noise (Steiner's formula)",
    statement="A vector within a ball, put on the grid and released with uniform whole-number noise"
    " -m, ..., m in every coordinate, has kappa <= sum_j C(d, j) omega_j r^j (2m + 2)^{d-j} / "
    "(2m + 1)^d, r the radius in cells: at most so many cells can be reached.",
    domain="d >= 1, radius >= 0 (in cells), m >= 0",
    monotone={"d": "up", "radius": "up", "m": "down"},
    slack="half a cell in every coordinate",
)
def vector_uniform_log_charge(d: int, radius: float, m: int) -> float:
    """ln kappa, rounded up.

    Cells that can come out are whole points z with |z - q| <= m + 1/2 in every coordinate for a q
    of the ball; unit cubes around them are disjoint, and in the ball plus a cube of edge 2m + 2.
    """
    d, m = require.positive_integer("d", d), require.integer_at_least("m", m, 0)
    radius = require.non_negative("radius", radius)
    j = np.arange(d + 1, dtype=np.float64)
    log_balls = j / 2 * math.log(math.pi) - special.gammaln(j / 2 + 1)
    log_edge = math.log(2 * m + 2)
    log_ratios = j * (math.log(radius) - log_edge) if radius else np.where(j == 0, 0.0, -np.inf)
    terms = _log_binomials(d) + log_balls + log_ratios
    return round_up(_log_sum(terms[np.isfinite(terms)]) + d * math.log1p(1 / (2 * m + 1)))


@theorem(
    source="Holdfast",
    place="Section 3, a vector with Gaussian noise",
    statement="A vector within a ball, released with independent Gaussian noise in each coordinate,"
    " has kappa = sum_j C(d, j) (r/sqrt(2))^j Gamma((d - j)/2 + 1)/Gamma(d/2 + 1), r the radius in "
    "standard deviations.",
    domain="d >= 1, radius >= 0 (in standard deviations)",
    monotone={"d": "up", "radius": "up"},
    slack="none: the integral of the largest density",
)
def vector_gaussian_log_charge(d: int, radius: float) -> float:
    """ln kappa, rounded up: level sets of the density are balls, and grow by the radius."""
    d, radius = require.positive_integer("d", d), require.non_negative("radius", radius)
    if radius == 0.0:
        return 0.0
    j = np.arange(d + 1, dtype=np.float64)
    terms = _log_binomials(d) + j * math.log(radius / math.sqrt(2))
    return _log_sum(terms + special.gammaln((d - j) / 2 + 1) - special.gammaln(d / 2 + 1))


@theorem(
    source="Holdfast",
    place="Section 3, a vector with Laplace noise",
    statement="A vector within an l1 ball, released with independent Laplace noise in each "
    "coordinate, has kappa = sum_{j=0}^{d} r^j/j!, r the radius in scales: below e^r in any "
    "dimension.",
    domain="d >= 1, radius >= 0 (l1, in scales)",
    monotone={"d": "up", "radius": "up"},
    slack="none: the integral of the largest density",
)
def vector_laplace_log_charge(d: int, radius: float) -> float:
    """ln kappa, rounded up: the largest density is e^{-(|z| - r)+}/2^d in the l1 norm |z|, whose
    law has the density |z|^{d-1}/(d-1)! but for e^{-|z|}."""
    d, radius = require.positive_integer("d", d), require.non_negative("radius", radius)
    if radius == 0.0:
        return 0.0
    j = np.arange(d + 1, dtype=np.float64)
    return min(round_up(radius), _log_sum(j * math.log(radius) - special.gammaln(j + 1)))
