"""Means of values of which nothing is known but a variance: Catoni's estimator as the statistic.

The ordinary mean of such rows has no narrow interval at small levels: one row may be anywhere. The
estimator counts far rows by their logarithm, and is nearly as narrow as a mean of Gaussian rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from holdfast import require
from holdfast.data.sample import Sample, plain_frames, reading
from holdfast.data.sampling import Independent, Sampling
from holdfast.errors import InvalidQuestion
from holdfast.question.expression import Column, ValueKind, identifier, numeral
from holdfast.question.row import RowValue, has_value
from holdfast.statistics.entry import (
    Call,
    Entry,
    Table,
    number_of,
    require_all_rows,
    require_every_row,
)
from holdfast.statistics.statistic import ROUNDINGS, Measured
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.gamma import CatoniMean
from holdfast.theory.base.unbounded import InUnits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FAR = 2.0**24  # standard deviations from 0, as far as it is read
_LEVEL = 20.0  # -ln of the level at which it is narrowest: those of ledgers are about there
_STEPS = 60  # of a bisection: far finer than the error that is counted


@dataclass(frozen=True, slots=True)
class CatoniEstimate:
    """Catoni's estimate of a column's mean, given a bound on the variance of its rows."""

    unbounded: ClassVar[bool] = True
    row: ClassVar[RowValue | None] = None

    column: str
    variance: float

    @property
    def text(self) -> str:
        return f"catoni({identifier(self.column)}, {numeral(self.variance)})"

    @property
    def low(self) -> float:
        return -self.high

    @property
    def high(self) -> float:
        return _FAR * math.sqrt(self.variance)

    @property
    def error(self) -> float:
        """The bisection's last bracket, and a few roundings."""
        return 2.0**-46 + ROUNDINGS

    @property
    def columns(self) -> tuple[str, ...]:
        """The column it reads."""
        return (self.column,)

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:  # noqa: ARG002 - it is about rows, however many
        """Twice the standard deviation, as a part of the range."""
        return 1.0 / _FAR

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        if not isinstance(sampling, Independent):
            raise InvalidQuestion(
                f"Catoni's estimate is proved for independent rows, and this ledger has "
                f"{sampling}; declare a sigma for the mean instead."
            )
        profile = CatoniMean(n, self.variance, _influence(n, self.variance))
        return InUnits(profile, self.high - self.low)

    def read(self, sample: Sample) -> Measured:
        import numpy as np

        with reading():
            parts = [
                frame[self.column].fill_null(0.0).to_numpy().astype(np.float64)
                for frame in plain_frames(sample.frames([self.column]))
            ]
        rows = np.clip(np.nan_to_num(np.concatenate(parts)), 2 * self.low, 2 * self.high)
        rows.sort()  # sums of doubles depend on their order, and that of rows is nothing
        value = _estimate(rows, _influence(sample.n, self.variance), self.low, self.high)
        part = (Fraction(value) - Fraction(self.low)) / (2 * Fraction(self.high))
        return Measured(part.numerator, part.denominator, sample.n)


def _influence(n: int, variance: float) -> float:
    """alpha: where a row begins to count by its logarithm."""
    return math.sqrt(min(_LEVEL, n / 4) * 2 / (n * variance))


def _estimate(rows: NDArray[np.float64], alpha: float, low: float, high: float) -> float:
    """The zero of sum psi(alpha (x - t)), a falling function of t, inside [low, high]."""
    import numpy as np

    for _ in range(_STEPS):
        middle = low + (high - low) / 2
        x = alpha * (rows - middle)
        if float((np.sign(x) * np.log1p(np.abs(x) + x * x / 2)).sum()) > 0.0:
            low = middle
        else:
            high = middle
    return low + (high - low) / 2


def catoni(column: str, variance: float) -> Call:
    """The mean of a column of independent rows of which only a variance bound is declared.

    `variance` bounds the mean squared deviation of the rows from the truth, in the column's unit
    squared. A column with missing values is refused.
    """
    return Call("catoni", (column, require.positive("variance", variance)))


def _bind_catoni(call: Call, table: Table) -> CatoniEstimate:
    require_all_rows(call)
    value, variance = call.arguments
    expression = table.expression(value)
    require_every_row("Catoni's estimate", has_value(expression))
    if not isinstance(expression, Column) or expression.kind is not ValueKind.NUMBER:
        raise InvalidQuestion("Catoni's estimate is of a column of numbers, as it is.")
    bound = require.between("variance", number_of("variance", variance), 2.0**-900, 2.0**900)
    return CatoniEstimate(expression.name, bound)


ROBUST = (
    Entry(
        "catoni",
        "catoni(value, variance)",
        "the mean of rows of which only a variance bound is declared, by Catoni's estimator",
        (2, 2),
        _bind_catoni,
    ),
)
