"""CSV files: found from all rows what their columns are, or read as what they are known to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from holdfast.data.form import TableForm
from holdfast.data.plain import column_type
from holdfast.errors import InvalidArgument
from holdfast.question.declaring import shortened
from holdfast.question.expression import ColumnType

__all__ = ["misread", "scan_csv"]

# To look for types in all rows takes longer than to read them. Where the types are known, the first
# rows say how times are written, and no more.
_FIRST_ROWS = 1_000
_OTHER_SEPARATORS = (";", "\t", "|")
_READ_AS: dict[ColumnType, pl.DataType] = {
    ColumnType.BOOLEAN: pl.Boolean(),
    ColumnType.INTEGER: pl.Int64(),
    ColumnType.FLOAT: pl.Float64(),
    ColumnType.TEXT: pl.String(),
    ColumnType.DATE: pl.Date(),
    ColumnType.DATETIME: pl.Datetime("us"),
}


def scan_csv(
    paths: Sequence[str], form: TableForm, known: Mapping[str, ColumnType]
) -> pl.LazyFrame:
    """The rows of the files; flags are still numbers there.

    A column whose type is `known` is read as that: whatever else it holds ends the reading. Of the
    others all rows are looked at, so that no later row can surprise a question.
    """
    return pl.scan_csv(list(paths), schema=_schema(paths, form, known), **_written(form))


def misread(
    paths: Sequence[str], form: TableForm, known: Mapping[str, ColumnType]
) -> tuple[str, ColumnType] | None:
    """A column that cannot be read as what it is said to be, and what all rows look like."""
    for name, dtype in _found(paths, form, None).items():
        kind, read = column_type(dtype), _read_as(name, form, known)
        numbers = kind is ColumnType.INTEGER and read == pl.Float64()
        if name in known and not (numbers or read in (dtype, pl.String(), None)):
            return name, kind
    return None


def _schema(
    paths: Sequence[str], form: TableForm, known: Mapping[str, ColumnType]
) -> dict[str, pl.DataType]:
    if not known:
        found = _found(paths, form, None)
        _require_separated(paths[0], list(found))
        return found
    first = _found(paths, form, _FIRST_ROWS)
    schema = {
        name: dtype if column_type(dtype) is known.get(name) else _read_as(name, form, known)
        for name, dtype in first.items()
    }
    found = _found(paths, form, None) if None in schema.values() else {}
    return {name: found[name] if dtype is None else dtype for name, dtype in schema.items()}


def _require_separated(path: str, names: Sequence[str]) -> None:
    """Refuse a file of one column whose name looks like those of many."""
    separators = [each for each in _OTHER_SEPARATORS if each in names[0]]
    if len(names) == 1 and separators:
        raise InvalidArgument(
            f"the file {path!r} has one column, {shortened(names[0])}; are its cells separated by "
            f"{separators[0]!r}? Say so: separator={separators[0]!r} (--separator)."
        )


def _read_as(name: str, form: TableForm, known: Mapping[str, ColumnType]) -> pl.DataType | None:
    """How a column is read whose type is known; None where only all rows can say it."""
    if name in form.flags and known.get(name) is ColumnType.BOOLEAN:
        return pl.Float64()  # 0 and 1, however they are written
    return _READ_AS.get(known.get(name, ColumnType.OTHER))


def _found(paths: Sequence[str], form: TableForm, rows: int | None) -> dict[str, pl.DataType]:
    """What the first rows, or all, look like."""
    scan = pl.scan_csv(
        list(paths), infer_schema_length=rows, try_parse_dates=True, **_written(form)
    )
    return dict(scan.collect_schema())


def _written(form: TableForm) -> dict[str, Any]:
    return {"separator": form.separator, "null_values": list(form.null) or None}
