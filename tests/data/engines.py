"""One table in every engine: the suites that all engines pass run on each of these."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.data.sql.duckdb import LOCKED, DuckDBSample
from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.bounds import range_of
from holdfast.question.expression import Column, ColumnType, Expression, Op, ValueKind
from holdfast.question.row import RowValue, row_value
from tests.data.loading import postgres_sample

_MOST_LOADED = 300_000  # rows: to load more takes longer than what is tested
POLARS_TYPES: dict[str, Any] = {
    "f": pl.Float64,
    "g": pl.Float64,
    "i": pl.Int64,
    "b": pl.Boolean,
    "t": pl.String,
    "u": pl.String,
    "d": pl.Date,
    "s": pl.Datetime("us"),
}


def duckdb_connection() -> duckdb.DuckDBPyConnection:
    """A connection that concludes nothing from statistics, as every one of Holdfast's own."""
    return duckdb.connect(config={"disabled_optimizers": LOCKED["disabled_optimizers"]})


def samples_of(
    frame: pl.DataFrame, path: Path, connection: duckdb.DuckDBPyConnection
) -> list[Sample]:
    """The frame in every engine: in memory, or from the file that is written."""
    frame.write_parquet(path)
    return [
        PolarsSample(frame),
        PolarsSample(pl.scan_parquet(path)),
        DuckDBSample(connection.sql(f"SELECT * FROM '{path}'")),
        *([postgres_sample(frame)] if _fits_postgres(frame) else []),
    ]


def _fits_postgres(frame: pl.DataFrame) -> bool:
    """Whether PostgreSQL can hold it: it knows no unsigned integers, and no NUL in text."""
    texts = frame.select(pl.col(pl.String)).get_columns()
    nul = any(each.str.contains("\0", literal=True).any() for each in texts)
    return frame.height <= _MOST_LOADED and pl.UInt64 not in frame.dtypes and not nul


def engines(
    table: list[dict[str, Any]],
    references: list[list[Any]],
    expressions: Sequence[Expression],
    folder: Path,
    connection: duckdb.DuckDBPyConnection,
) -> list[Sample]:
    """The table, with the expected values as columns r0, r1, ..., in every engine."""
    frame = with_references(table, references, expressions)
    return samples_of(frame, folder / "table.parquet", connection)


def equals_column(expression: Expression, name: str) -> RowValue:
    """True where the expression has exactly the value of the column, NULL included."""
    type_ = ColumnType.BOOLEAN if expression.kind is ValueKind.BOOLEAN else ColumnType.FLOAT
    return same_value(expression, Column(name, type_))


def same_value(a: Expression, b: Expression) -> RowValue:
    """True where both have exactly the same value, NULL included."""
    both_null = build.conjunction([build.is_null(a), build.is_null(b)])
    return row_value(build.disjunction([build.comparison(Op.EQUAL, a, b), both_null]))


def with_references(
    table: list[dict[str, Any]], references: list[list[Any]], expressions: Sequence[Expression]
) -> pl.DataFrame:
    """The table, with the expected values as columns r0, r1, ..."""
    frame = pl.DataFrame(table, schema=POLARS_TYPES)
    for place, (values, expression) in enumerate(zip(references, expressions, strict=True)):
        dtype = pl.Boolean if expression.kind is ValueKind.BOOLEAN else pl.Float64
        frame = frame.with_columns(pl.Series(f"r{place}", values, dtype=dtype))
    return frame


def moments_of(row: RowValue, values: Sequence[float]) -> tuple[int, int]:
    """What engines should find, one row at a time."""
    steps = [row.grid.steps(value) for value in values]
    assert all(0 <= step <= row.grid.top for step in steps), row.text
    return row.grid.moments(sum(steps), sum(step * step for step in steps))


def bounded(expression: Expression) -> RowValue | None:
    if expression.kind is ValueKind.NUMBER and not range_of(expression).finite:
        expression = build.clip(expression, -7.3, 1e6)
    try:
        return row_value(expression)
    except InvalidQuestion:  # uses no column, or its range is too wide or too narrow
        return None
