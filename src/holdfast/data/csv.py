"""The types of the columns of CSV files: found from all rows once, and known by name afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

__all__ = ["csv_schema", "named"]

# All that is found in CSV files. Looking for them takes longer than to read the rows.
_FOUND = {
    str(dtype): dtype
    for dtype in (
        pl.Boolean(),
        pl.Int64(),
        pl.Int128(),
        pl.Float64(),
        pl.String(),
        pl.Date(),
        pl.Datetime("us"),
        pl.Datetime("us", "UTC"),
        pl.Time(),
    )
}


def csv_schema(paths: Sequence[str], known: Mapping[str, str]) -> dict[str, pl.DataType]:
    """The columns and their types: those that are known, or else what all rows together say."""
    if known and set(known.values()) <= _FOUND.keys():
        return {column: _FOUND[name] for column, name in known.items()}
    # All rows are looked at, so that no later row can surprise a question.
    found = pl.scan_csv(list(paths), infer_schema_length=None, try_parse_dates=True)
    return dict(found.collect_schema())


def named(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """The types by their names, to be kept."""
    return {column: str(dtype) for column, dtype in schema.items()}
