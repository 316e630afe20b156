"""Law of noise, the public grid it is added on, and uniform words to draw it from.

The sample's value q, a fraction of its range, is put on a grid of G cells in the range; a whole
number Z of cells is added: the symbol is floor(q G + 1/2) + Z, and stands for itself over G. While
q moves over an interval of length 2 alpha its cell makes at most H = ceil(2 alpha G) steps. Outside
the event that q is further than alpha from the truth, the symbol's law is at most kappa times one
that sees no sample, kappa = sum over z of the largest probability of z over those steps: what the
answer is charged on the leakage account (Theorem L).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from holdfast import require
from holdfast.mechanisms.noise import Noise
from holdfast.theory.base.safeside import float_above

__all__ = ["PLACES", "WORD", "Grid", "Law", "below", "grid_within", "tail_part", "words_of"]


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells in the range, the scale of the noise in cells, and how far from q the symbol may be.

    The number of cells is whole, or a double that is meant exactly. `reach` is in cells, beside the
    half cell by which q was rounded; None where nothing is sure.
    """

    cells: int | float
    scale: int
    reach: int | None

    def __post_init__(self) -> None:
        require.positive("cells", self.cells)
        require.integer_at_least("scale", self.scale, 0)
        if self.reach is not None:
            require.integer_at_least("reach", self.reach, 0)

    def cell(self, numerator: int, denominator: int) -> int:
        """floor(q G + 1/2) of q = numerator/denominator, in whole numbers."""
        over, under = self.cells.as_integer_ratio()
        whole = denominator * under
        return (2 * numerator * over + whole) // (2 * whole)

    @property
    def last(self) -> int:
        """The cell of the upper end of the range."""
        return self.cell(1, 1)

    def steps(self, radius: float) -> int:
        """H: how many steps the cell can make within the radius, of those in the range."""
        return min(math.ceil(2 * Fraction(radius) * Fraction(self.cells)), self.last)

    def place(self, cell: int) -> Fraction:
        """The fraction of the range that a cell stands for."""
        return cell / Fraction(self.cells)


class Law(Protocol):
    """A law of noise, as a frozen value; what it says of `scale` is in cells."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def resolution(self) -> int:
        """A scale at which the grid costs an answer below 1e-5 nats; 0 where there is no noise."""
        ...

    @property
    def parts(self) -> int:
        """Into how many cells it divides the unit in which a sum of row values is exact."""
        ...

    def draw(self, noise: Noise, scale: int) -> int:
        """The noise of one question."""
        ...

    def reach(self, scale: int) -> int | None:
        """Distance from the sample's value that is surely kept; None: nothing is sure."""
        ...

    def error(self, scale: int, log_beta: float) -> float:
        """Bound that the noise exceeds with a probability of at most e^log_beta."""
        ...

    def log_charge(self, radius: float, grid: Grid) -> float:
        """ln kappa of an answer whose sample's value is within the radius of the truth."""
        ...


def grid_within(law: Law, room: Fraction, log_beta: float) -> Grid:
    """The grid on which noise and rounding keep to `room`, except with probability e^log_beta."""
    scale = law.resolution
    least = (Fraction(law.error(scale, log_beta)) + Fraction(1, 2)) / room
    # Without noise a cell is as wide as the room, and part of one would be charged as a whole.
    return Grid(math.ceil(least) if scale else float_above(least), scale, law.reach(scale))


# Independent uniform words, from which the laws that are not uniform are drawn exactly.


PLACES = 64
WORD = 2**PLACES  # a word is a whole number, uniform on {0, ..., WORD - 1}


def words_of(noise: Noise) -> Iterator[int]:
    """The stream of one question; everything that it draws must come from one such iterator."""
    return noise.uniforms(0, WORD - 1)


def below(words: Iterator[int], span: int) -> int:
    """0, ..., span - 1, each equally likely, by rejection."""
    count = -(-span.bit_length() // PLACES) + 1  # one word more: a rejection is rarer than 2^-64
    limit = (1 << (PLACES * count)) // span * span
    while True:
        number = 0
        for _ in range(count):
            number = number << PLACES | next(words)
        if number < limit:
            return number % span


def tail_part(law: Law) -> float:
    """The part of a question's level that is for the tail of the noise."""
    return 0.5 if law.reach(law.resolution) is None else 0.0
