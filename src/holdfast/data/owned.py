"""A table in memory that nobody else can change.

A Polars frame may share its memory with whatever it was made of: a numpy array, a pandas frame, an
Arrow table. Nothing tells whether it does, and whoever holds that can change a row between two
questions. So every table in memory is copied when it is opened, which takes less time than its
fingerprint.
"""

from __future__ import annotations

from io import BytesIO

import polars as pl

from holdfast.errors import InvalidArgument

__all__ = ["owned"]

_AS_IN_NUMPY = (pl.Int32, pl.Int64, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64)


def owned(frame: pl.DataFrame) -> pl.DataFrame:
    """The same rows in memory of their own."""
    return pl.DataFrame([_owned(column) for column in frame.get_columns()])


def _owned(column: pl.Series) -> pl.Series:
    """The column; to clone or to slice it would share what it holds."""
    if column.dtype == pl.String:
        return column + ""
    if column.dtype in _AS_IN_NUMPY and not column.has_nulls():
        return pl.Series(column.name, column.to_numpy().copy())
    return _read_again(column)


def _read_again(column: pl.Series) -> pl.Series:
    """A column of any type, written out and read."""
    written = BytesIO()
    try:
        column.to_frame().write_ipc(written)
        written.seek(0)
        return pl.read_ipc(written).to_series()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise InvalidArgument(
            f"Column {column.name!r} holds {column.dtype} values that cannot be written down; make "
            "them numbers, text, dates or booleans, or drop the column."
        ) from None
