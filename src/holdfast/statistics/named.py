"""Statistics by name that have not met their table yet: what people and texts ask for.

Wherever a value of a row is wanted, text (``"arr_delay > 15"``), a Polars expression or a
`row_function` will do; with `bounds` it is cut to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import Expression
from holdfast.question.functions import RowFunction
from holdfast.question.scale import Scale

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Better", "Bounds", "By", "Call", "TableCall", "What", "grouped", "pair_of"]

Better: TypeAlias = Literal["higher", "lower"]
Bounds: TypeAlias = tuple[float, float] | None
By: TypeAlias = str | Sequence[str]
What: TypeAlias = "str | Expression | RowFunction | pl.Expr"


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A statistic by name: one number, answered with one interval."""

    name: str
    arguments: tuple[Any, ...]
    where: str | Expression | None = None
    bounds: Bounds = None
    variance: float | None = None
    better: Better | None = None
    scale: Scale | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TableCall:
    """Several numbers at once: a statistic for each value of one or two columns, or a histogram."""

    name: str
    arguments: tuple[Any, ...]
    where: str | Expression | None = None
    bounds: Bounds = None
    by: tuple[str, ...] = ()


def pair_of(bounds: Bounds) -> Bounds:
    """The bounds that were given, if any, as two numbers in order."""
    if bounds is None:
        return None
    low, high = bounds_pair(bounds)
    return low, high


_MOST_COLUMNS = 2  # the groups of three columns are asked with where
_NO_GROUPS = ("count", "sum")


def grouped(call: Call, by: By | None) -> Call | TableCall:
    """The statistic itself, or for each value of the columns that are named."""
    if by is None:
        return call
    names = (by,) if isinstance(by, str) else require.items("by", by, "one or two columns")
    columns = tuple(require.text("by", name) for name in names)
    if not 1 <= len(set(columns)) == len(columns) <= _MOST_COLUMNS:
        raise InvalidArgument(f"by is {by!r}; it must be one column, or two different ones.")
    if call.variance is not None:
        raise InvalidArgument("variance= is declared for a mean of all rows, without by=.")
    if call.scale is not None:
        raise InvalidArgument("sigma= is declared for a mean of all rows, without by=.")
    if call.name in _NO_GROUPS:
        raise InvalidArgument(
            f"{call.name} needs the size of its population, which is another one in each group; "
            "ask with where= for each group."
        )
    return TableCall(call.name, call.arguments, call.where, call.bounds, columns)
