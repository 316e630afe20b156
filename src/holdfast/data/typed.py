"""Values from outside as one of the four types that a column may arrive with.

Boolean, 64-bit integer, double or text, as questions know them. None, NULL and NaN are one missing
value; -0.0 is 0.0. Whole numbers and other numbers together are doubles, if no whole number loses
a digit by that; nothing else is mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType

import numpy as np
import polars as pl

from holdfast.data.plain import column_type
from holdfast.errors import InvalidArgument
from holdfast.question.expression import ColumnType

__all__ = ["VALUE_TYPES", "from_python", "typed"]

VALUE_TYPES = (pl.Boolean, pl.Int64, pl.Float64, pl.String)

_NAMES: dict[type, str] = {bool: "boolean", int: "integer", float: "float", str: "text"}
_DTYPES = {
    frozenset({bool}): pl.Boolean(),
    frozenset({int}): pl.Int64(),
    frozenset({float}): pl.Float64(),
    frozenset({int, float}): pl.Float64(),
    frozenset({str}): pl.String(),
}
_EXACT = 2**53  # the whole numbers up to here are doubles
_WHAT_IS_READ = "give booleans, whole numbers, numbers or text, of one type"


def from_python(what: str, values: Sequence[object]) -> pl.Series:
    """Python's values, and numpy's single ones, as a column."""
    types = set(map(type, values))
    if any(issubclass(each, np.generic) for each in types):
        values = [value.item() if isinstance(value, np.generic) else value for value in values]
        types = set(map(type, values))
    types.discard(NoneType)
    if not types:
        raise InvalidArgument(f"{what} holds no value at all; {_WHAT_IS_READ}.")
    dtype = _DTYPES.get(frozenset(types))
    if dtype is None:
        found = " and ".join(sorted(_NAMES.get(each, each.__name__) for each in types))
        raise InvalidArgument(f"{what} holds {found} values; {_WHAT_IS_READ}.")
    if len(types) == 2 and any(isinstance(each, int) and abs(each) > _EXACT for each in values):
        raise InvalidArgument(
            f"{what} mixes numbers with whole numbers beyond 2^53, which would lose digits; make "
            "all of them whole, or all of them floats."
        )
    try:
        return typed(what, pl.Series(values, dtype=dtype, strict=len(types) == 1))
    except (OverflowError, TypeError, UnicodeEncodeError, pl.exceptions.PolarsError):
        raise _beyond(what, "whole numbers beyond 64 bits, or half characters") from None


def typed(what: str, series: pl.Series) -> pl.Series:
    """A Polars column as one of the four types."""
    match column_type(series.dtype):
        case ColumnType.BOOLEAN:
            return series
        case ColumnType.INTEGER:
            try:
                return series.cast(pl.Int64)
            except pl.exceptions.PolarsError:
                raise _beyond(what, "whole numbers beyond 64 bits") from None
        case ColumnType.FLOAT:
            return _one_zero(series.cast(pl.Float64).fill_nan(None))
        case ColumnType.TEXT:
            return series.cast(pl.String)
    if series.dtype == pl.Object:
        return from_python(what, series.to_list())
    if series.dtype == pl.Null:
        raise InvalidArgument(f"{what} holds no value at all; {_WHAT_IS_READ}.")
    raise InvalidArgument(f"{what} holds {series.dtype} values; {_WHAT_IS_READ}.")


def _one_zero(numbers: pl.Series) -> pl.Series:
    """0.0 in place of -0.0; Polars leaves an addition of 0 out."""
    chosen = pl.when(numbers == 0.0).then(0.0).otherwise(numbers)
    return pl.select(chosen.alias(numbers.name)).to_series()


def _beyond(what: str, found: str) -> InvalidArgument:
    return InvalidArgument(f"{what} holds {found}; {_WHAT_IS_READ}, that 64 bits can hold.")
