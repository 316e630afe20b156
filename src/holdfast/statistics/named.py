"""Statistics by name that have not met their table yet: what people and texts ask for.

Wherever a value of a row is wanted, text (``"arr_delay > 15"``), a Polars expression or a
`row_function` will do; with `bounds` it is cut to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from holdfast.question.columns import bounds_pair
from holdfast.question.expression import Expression
from holdfast.question.functions import RowFunction

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Better", "Bounds", "Call", "TableCall", "What", "pair_of"]

Better: TypeAlias = Literal["higher", "lower"]
Bounds: TypeAlias = tuple[float, float] | None
What: TypeAlias = "str | Expression | RowFunction | pl.Expr"


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A statistic by name: one number, answered with one interval."""

    name: str
    arguments: tuple[Any, ...]
    where: str | None = None
    bounds: Bounds = None
    variance: float | None = None
    better: Better | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TableCall:
    """Several numbers at once: a statistic for each value of a column, or a histogram."""

    name: str
    arguments: tuple[Any, ...]
    where: str | None = None
    bounds: Bounds = None
    by: str | None = None


def pair_of(bounds: Bounds) -> Bounds:
    """The bounds that were given, if any, as two numbers in order."""
    if bounds is None:
        return None
    low, high = bounds_pair(bounds)
    return low, high
