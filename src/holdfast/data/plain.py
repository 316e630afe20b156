"""Polars types, and the few plain ones that questions are made of."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import polars as pl

from holdfast.data.sample import EXACT_DIGITS
from holdfast.question.expression import ColumnType

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min - _EPOCH) // _MICROSECOND
_LAST = (datetime.max - _EPOCH) // _MICROSECOND
_SIMPLE: dict[type[pl.DataType], ColumnType] = {
    pl.Boolean: ColumnType.BOOLEAN,
    pl.String: ColumnType.TEXT,
    pl.Categorical: ColumnType.TEXT,
    pl.Enum: ColumnType.TEXT,
    pl.Date: ColumnType.DATE,
    pl.Datetime: ColumnType.DATETIME,
    **dict.fromkeys(
        (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
        ColumnType.INTEGER,
    ),
    pl.Float32: ColumnType.FLOAT,
    pl.Float64: ColumnType.FLOAT,
}


def column_type(dtype: pl.DataType) -> ColumnType:
    """The logical type of a Polars type."""
    if isinstance(dtype, pl.Decimal):
        exact = dtype.precision is not None and dtype.precision <= EXACT_DIGITS
        return ColumnType.FLOAT if exact else ColumnType.OTHER
    return _SIMPLE.get(type(dtype), ColumnType.OTHER)


def cleaned(name: str, dtype: pl.DataType) -> pl.Expr:
    """The column as row expressions see it: doubles without NaN, text, naive microseconds."""
    column = pl.col(name)
    match column_type(dtype):
        case ColumnType.INTEGER:
            return column.cast(pl.Float64)
        case ColumnType.FLOAT:
            return column.cast(pl.Float64).fill_nan(None)
        case ColumnType.TEXT:
            return column.cast(pl.String)
        case ColumnType.DATE:
            return _in_calendar(column).cast(pl.Datetime("us"))
        case ColumnType.DATETIME:
            since_epoch = _microseconds(column, dtype)
            in_range = since_epoch.is_between(_FIRST, _LAST)
            return pl.when(in_range).then(since_epoch).cast(pl.Datetime("us"))
        case _:
            return column


def plain(name: str, dtype: pl.DataType) -> pl.Expr:
    """The column as functions of batches see it: like `cleaned`, but integers and dates stay."""
    match column_type(dtype):
        case ColumnType.INTEGER:
            return pl.col(name).cast(pl.Int64, strict=False)
        case ColumnType.DATE:
            return _in_calendar(pl.col(name))
        case _:
            return cleaned(name, dtype)


def told_apart(name: str, dtype: pl.DataType) -> pl.Expr:
    """The column with one value for all that no question can tell apart.

    NaN is missing, and so is a moment outside the calendar, which some engines cannot hold.
    """
    match column_type(dtype):
        case ColumnType.FLOAT | ColumnType.TEXT | ColumnType.DATETIME:
            return cleaned(name, dtype)
        case ColumnType.DATE:
            return _in_calendar(pl.col(name))
        case _:
            return pl.col(name)


def _microseconds(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Whole microseconds since 1970 (in UTC, where there is a time zone), rounded down.

    Milliseconds too far away to be counted in microseconds become NULL.
    """
    since_epoch = column.to_physical()
    match dtype:
        case pl.Datetime(time_unit="ns"):
            return since_epoch // 1_000
        case pl.Datetime(time_unit="ms"):
            in_range = since_epoch.is_between(_FIRST // 1_000, _LAST // 1_000)
            return pl.when(in_range).then(since_epoch) * 1_000
        case _:
            return since_epoch


def _in_calendar(column: pl.Expr) -> pl.Expr:
    return pl.when(column.is_between(date.min, date.max)).then(column)
