"""Columns of 0 and 1 that are conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import polars as pl

from holdfast.data.plain import column_type
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column
from holdfast.question.expression import ColumnType
from holdfast.question.text import identifier

__all__ = ["flagged", "require_flags", "require_zero_or_one"]

_Frame = TypeVar("_Frame", pl.DataFrame, pl.LazyFrame)
_NUMBERS = (ColumnType.INTEGER, ColumnType.FLOAT)


def flagged(frame: _Frame, flags: Sequence[str]) -> _Frame:
    """The frame with its flags as conditions; what is neither 0 nor 1 is missing there."""
    return frame.with_columns(_condition(name) for name in _numeric(frame, flags))


def require_zero_or_one(frame: pl.LazyFrame, flags: Sequence[str]) -> None:
    """Refuse flags that hold other numbers: to take them for missing would change answers."""
    names = _numeric(frame, flags)
    if not names:
        return
    numbers = {name: pl.col(name).cast(pl.Float64).fill_nan(None) for name in names}
    strange = [
        (numbers[name].is_not_null() & _condition(name).is_null()).any().alias(name)
        for name in names
    ]
    for name, is_strange in frame.select(strange).collect().row(0, named=True).items():
        if is_strange:
            raise InvalidArgument(
                f"flags names {name!r}, a column that holds other numbers than 0 and 1; leave it "
                f"out, and write a condition in questions: {identifier(name)} > 0."
            )


def require_flags(types: Mapping[str, ColumnType], flags: Sequence[str]) -> None:
    """Refuse flags that are no columns, or none that could be read as conditions."""
    for name in flags:
        if name not in types:
            raise InvalidArgument(f"flags names {no_column(name, types)}")
        if types[name] is not ColumnType.BOOLEAN:
            raise InvalidArgument(
                f"flags names {name!r}, a column of type {types[name]}; it must hold 0 and 1, in a "
                "file or a table in memory."
            )


def _numeric(frame: pl.DataFrame | pl.LazyFrame, flags: Sequence[str]) -> list[str]:
    """The flags that the frame has as numbers."""
    schema = frame.collect_schema()
    return [name for name in flags if name in schema and column_type(schema[name]) in _NUMBERS]


def _condition(name: str) -> pl.Expr:
    flag = pl.col(name)
    return pl.when(flag == 1).then(True).when(flag == 0).then(False).alias(name)
