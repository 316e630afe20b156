"""The release that ships: discrete uniform noise, in integers all the way.

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

from holdfast import require
from holdfast.errors import ToleranceTooTight
from holdfast.theory.base.safeside import float_above, round_up
from holdfast.theory.base.theorem import theorem

__all__ = ["RESOLUTION", "DiscreteUniform", "discrete_uniform_for", "discrete_uniform_overhead"]

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
