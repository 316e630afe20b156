"""Means of values without a range: what is declared of them is how concentrated they are.

Rows are summed exactly, on a grid that is scaled to the declared sigma. The grid has ends: a row
beyond +-`window` counts as the nearest of them, and a mean beyond half of that as the half. So the
value that is read is in a range, like every other; an interval that reaches an end of that range
says nothing about what is beyond, and is infinite there. What all this changes is at most the
probability that some row deviates by a quarter of the window, 2,048 sigma, from its expectation: it
is added to the tail (`theory.base.unbounded.Windowed`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from holdfast.data.sample import Sample
from holdfast.data.sampling import Sampling
from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.expression import Expression
from holdfast.question.row import GRID, GRID_ERROR, RowValue, row_value
from holdfast.question.scale import Scale
from holdfast.question.text import text_of
from holdfast.statistics.statistic import Measured
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.unbounded import InUnits, Narrower, Windowed, scaled_tail

__all__ = ["ConcentratedMean"]

_WINDOW = 2.0**13  # scales from 0 to the end of the grid: some 10^-5 of a scale is a step of it


@dataclass(frozen=True, slots=True)
class ConcentratedMean:
    """The average of a number over all rows, of which a scale is declared.

    Where its `expression` has a range of its own, that is the range of the mean, and at every level
    the narrower of the two radii is used. It is `usual` if it is a column without a range, with the
    scale that was declared for it at opening: then its words need not say the scale.
    """

    expression: Expression
    scale: Scale
    bounded: RowValue | None = None
    usual: bool = False

    @property
    def text(self) -> str:
        """The canonical text; the scale is part of what is asked."""
        return f"avg({text_of(self.expression)}, {self.scale.text})"

    @property
    def among(self) -> str:
        """Of which rows: of all."""
        return ""

    @property
    def value(self) -> RowValue:
        """What is summed: the number, cut at the ends of its range or of the window."""
        if self.bounded is not None:
            return self.bounded
        return row_value(build.clip(self.expression, -self.window, self.window))

    @property
    def window(self) -> float:
        """The end of the grid."""
        return _WINDOW * self.scale.longest

    @property
    def low(self) -> float:
        return -self.high if self.bounded is None else self.bounded.low

    @property
    def high(self) -> float:
        return self.window / 2 if self.bounded is None else self.bounded.high

    @property
    def unbounded(self) -> bool:
        return self.bounded is None

    @property
    def row(self) -> RowValue | None:
        """Nothing is known of its rows that an interval could rest on, but the scale."""
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return self.value.columns

    @property
    def error(self) -> float:
        """A bound on |computed - exact| as a part of the range, of which the window has two."""
        return 2 * GRID_ERROR if self.bounded is None else GRID_ERROR

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:  # noqa: ARG002 - it is about rows, however many
        """2 sigma, as a part of the range: what its range is to a mean of bounded values."""
        return 2 * self.scale.sigma / (self.high - self.low) if self.bounded is None else 1.0

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        width = self.high - self.low
        if self.bounded is not None:
            return self._narrower(n, sampling, width)
        mean = sampling.unbounded(n, self.scale)
        far = scaled_tail(self.scale.sigma, self.scale.b).log_tail(self.window / 4)
        return InUnits(Windowed(mean, n, far), width)

    def _narrower(self, n: int, sampling: Sampling, width: float) -> Concentration:
        by_range = sampling.profile(n)
        try:
            return Narrower(by_range, InUnits(sampling.unbounded(n, self.scale), width))
        except InvalidQuestion:  # no theorem makes anything of the scale: the range has one
            return by_range

    def read(self, sample: Sample) -> Measured:
        (total,) = sample.sums([self.value])
        return self.measured(total, sample.n)

    def measured(self, total: int, rows: int) -> Measured:
        """What the sum of all rows, in grid units, says."""
        part = self.part_of(total, rows)
        return Measured(part.numerator, part.denominator, rows)

    def part_of(self, total: int, rows: int) -> Fraction:
        """The mean as a part of the range, given the sum of all rows in grid units."""
        part = Fraction(total, rows * GRID)
        if self.bounded is not None:
            return part
        # The rows were read from -window to window, and the range is the middle half of that.
        return min(Fraction(1), max(Fraction(0), 2 * part - Fraction(1, 2)))
