"""A total, bounded number for every row: what an engine sums and a statistic is made of.

**Missing values.** A row whose value is NULL (or NaN, or divided by zero) still counts. A condition
that is NULL counts as false. A number that is NULL counts as 0, or as the bound nearest to 0 where
the range does not hold 0; write ``coalesce(value, ...)`` to choose another number.

**The grid.** Sums are exact integers: a value v in [low, high] counts ``floor((v - low) * scale)``
grid units, computed in doubles in exactly this order, where ``scale`` is 2^30/(high - low), rounded
so that no value counts more than 2^30. A true condition is exactly 2^30 units. Where low = high
every value counts 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from holdfast.errors import InvalidQuestion, NotBounded
from holdfast.question import build
from holdfast.question.bounds import Range, range_of, unbounded_columns
from holdfast.question.expression import (
    Call,
    Column,
    Constant,
    Expression,
    Kind,
    Op,
    column_names,
)
from holdfast.question.text import identifier, number, text

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = [
    "GRID",
    "GRID_ERROR",
    "BatchFunction",
    "RowValue",
    "check_width",
    "row_value",
]

GRID = 2**30
# Rounding down to the grid, and four roundings of doubles on the way.
GRID_ERROR = 2.0**-30 + 2.0**-50

_ONE_OR_ZERO = (build.constant(1.0), build.constant(0.0))


class BatchFunction(Protocol):
    """Something other than a row expression that gives a number for every row of a batch."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        ...

    @property
    def text(self) -> str:
        """Its identity."""
        ...

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """One number for each row; it may fail, and NaN is a missing value."""
        ...


@dataclass(frozen=True, slots=True)
class RowValue:
    """A number in [low, high] for every row, whatever the row holds.

    `source` says how it is computed, `text` is its identity. `is_condition`: only 0 and 1 occur.
    """

    source: Expression | BatchFunction
    low: float
    high: float
    text: str
    is_condition: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        if isinstance(self.source, Column | Constant | Call):
            return tuple(column_names(self.source))
        return self.source.columns

    @property
    def missing(self) -> float:
        """What a missing value counts as: the number of the range nearest to 0."""
        return min(max(0.0, self.low), self.high)

    @property
    def scale(self) -> float:
        """Grid units for each 1 of the value; 0 for a constant."""
        width = self.high - self.low
        if width == 0:
            return 0.0
        scale = GRID / width
        return scale if width * scale <= GRID else math.nextafter(scale, 0.0)

    def grid(self, value: float) -> int:
        """The grid units a value counts: what engines compute, for one number."""
        return math.floor((value - self.low) * self.scale)

    def in_units(self, fraction: float) -> float:
        """The value at this fraction (0 to 1) of the way from low to high."""
        return self.low + (self.high - self.low) * fraction


def row_value(expression: Expression) -> RowValue:
    """The total, bounded value of a row expression; refused where no bounds are known."""
    if expression.kind not in (Kind.BOOLEAN, Kind.NUMBER):
        raise InvalidQuestion(
            f"An average needs a number or a condition, and this is {expression.kind}."
        )
    expression = _simplest(expression)
    if not column_names(expression):
        raise InvalidQuestion("The question uses no column, so its answer needs no data.")
    found = range_of(expression)
    if not found.finite:
        raise NotBounded(_how_to_bound(expression))
    check_width(found)
    return RowValue(
        source=expression,
        low=found.low,
        high=found.high,
        text=text(expression),
        is_condition=expression.kind is Kind.BOOLEAN,
    )


def check_width(found: Range) -> None:
    """Refuse ranges whose width or grid is beyond what doubles can hold."""
    width = found.high - found.low
    if width != 0 and not (width < math.inf and GRID / width < math.inf):
        raise NotBounded(
            f"The range from {number(found.low)} to {number(found.high)} is too wide or too "
            "narrow to average in; choose other bounds."
        )


def _simplest(expression: Expression) -> Expression:
    """The same value for every row, missing values counted, in fewer words.

    A 0/1 number is the condition it was made of, and ``coalesce`` to what a missing value counts
    as anyway is left out.
    """
    while isinstance(expression, Call):
        args = expression.args
        if expression.op is Op.INDICATOR or (expression.op is Op.CASE and args[1:] == _ONE_OR_ZERO):
            expression = args[0]
        elif expression.op is Op.COALESCE and _is_what_missing_means(args):
            expression = build.coalesce(args[:-1])
        else:
            break
    return expression


def _is_what_missing_means(args: tuple[Expression, ...]) -> bool:
    last = args[-1]
    if last == build.FALSE:
        return True
    if not isinstance(last, Constant) or last.kind is not Kind.NUMBER:
        return False
    rest = range_of(build.coalesce(args[:-1]))
    return last.value == min(max(0.0, rest.low), rest.high)


def _how_to_bound(expression: Expression) -> str:
    names = unbounded_columns(expression)
    if names:
        name = names[0]
        shown = identifier(name)
        some = "column" if len(names) == 1 else "columns"
        return (
            f"No bounds are declared for {some} {', '.join(identifier(each) for each in names)}; "
            f"declare them with schema={{{name!r}: (low, high)}}, or write clip({shown}, low, "
            "high), or give bounds=(low, high)."
        )
    return (
        "The value has no finite bounds (a length, or a division by something that can be 0); "
        "wrap it in clip(..., low, high), or give bounds=(low, high)."
    )
