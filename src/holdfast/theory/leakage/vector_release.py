"""One release of a whole vector: noise in every coordinate, charged by how far the vector moves.

The mean of vectors that are bounded in the l2 norm is within a radius of its truth that does not
depend on their dimension. So outside a rare event the sample's vector is in a ball, and not just in
a box: a release with noise in every coordinate tells less of it than so many releases by themselves
(BF1, section 4: in several dimensions noise follows the radius of the whole).

Legend
    d           the dimension
    n           independent rows, whose vectors are in a set of this `diameter` (l2); `spread` is
                at least the root of the mean of |x - E x|^2 over rows
    radius      of the ball around the truth in which the sample's vector is; in the unit that the
                noise is counted in: cells, or standard deviations
    m           whole numbers -m, ..., m are the noise of each coordinate
    omega_j     pi^{j/2}/Gamma(j/2 + 1), the volume of the unit ball in j dimensions
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem

__all__ = [
    "vector_gaussian_log_charge",
    "vector_laplace_log_charge",
    "vector_mean_radius",
    "vector_uniform_log_charge",
]

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
