"""The Spark engine: a DataFrame, classic or Connect, computed where its cluster is.

Sums and counts are computed by Spark; rows, where they are needed themselves, come as batches of
Arrow, one partition at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.data.evaluate import steps_of_frame
from holdfast.data.histogram import Histogram, histograms
from holdfast.data.joining import needed, require_joinable
from holdfast.data.sample import (
    BATCH_ROWS,
    Moments,
    complete,
    moments_of_sums,
    prepare,
    reading,
    row_moments,
)
from holdfast.data.spark_joined import JoinedFrame
from holdfast.data.spark_table import WatchedTable, asking_spark
from holdfast.data.sql_steps import from_origin, step_sums, written_rows
from holdfast.errors import InvalidArgument
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.row import RowValue
from holdfast.question.spark_sql import SPARK, always_computed

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["SparkSample"]

_T = TypeVar("_T")

# Sums in one query: with more, the code that Spark generates is too long for Java to compile.
_MOST_SUMS = 50
_NUMBERS = count(1)  # of joined columns
# A moment where questions know one, in the years 1 to 9999.
_IN_CALENDAR = {
    ColumnType.DATE: "DATE '0001-01-01' AND DATE '9999-12-31'",
    ColumnType.DATETIME: "TIMESTAMP_NTZ '0001-01-01 00:00:00' "
    "AND TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'",
}


class SparkSample:
    """The rows of a DataFrame, and what was joined to them by their key."""

    def __init__(self, frame: DataFrame) -> None:
        self._table = WatchedTable(frame)
        self._types = dict(self._table.types)
        self._names = dict(self._table.names)
        self._beside: tuple[JoinedFrame, ...] = ()

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._table.n

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The columns and their types."""
        return self._types

    def require_unchanged(self) -> None:
        """Nothing to see without a scan: whether rows changed, a scan tells."""

    def prepare(self, rows: Sequence[RowValue]) -> None:
        """Refuse what Spark cannot take, or Polars, which computes functions of batches."""
        prepare(self._prepared, rows)
        prepare(partial(steps_of_frame, _empty(self._types)), rows)

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        """Exact sums of grid units."""
        return [total for total, _ in row_moments(self, rows, self._sums)]

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        """Exact sums of grid units and of their squares."""
        return row_moments(self, rows, self._moments)

    def histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        """Exact counts in narrow bins."""
        return histograms(self, asked)

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Batches of the columns; of types that Polars may not know, as text."""
        return complete(self._streamed(columns), self.n)

    def joined(self, key: str, frame: pl.DataFrame) -> SparkSample:
        """The same rows with more columns, which are joined in every scan that asks for them."""
        require_joinable(self._types, key, frame)
        names = {name: f"also{next(_NUMBERS)}" for name in frame.columns if name != key}
        with reading(), asking_spark():
            beside = JoinedFrame.made(self._table.rows.sparkSession, key, frame, names)
        joined = copy.copy(self)
        joined._names = {**self._names, **names}
        joined._types = {**self._types, **beside.types}
        joined._beside = (*self._beside, beside)
        return joined

    def _rows(self, columns: Sequence[str]) -> tuple[DataFrame, list[str]]:
        """The table with these columns and the hashes of its rows; and the columns of its own.

        What was joined is joined only if it is needed.
        """
        joined = needed(self._beside, columns)
        read = {*columns, *(beside.key for beside in joined)}
        own = sorted(read & self._table.types.keys())
        wanted = [*(self._names[name] for name in own), *self._table.watched(own)]
        table = self._table.rows.selectExpr(*wanted)
        for beside in joined:
            table = beside.joined_to(table, self._names[beside.key])
        return table, own

    def _streamed(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        import polars as pl

        with asking_spark():
            table, own = self._rows(columns)
            hashes = [name for name in table.columns if name.startswith("w")]
            chosen = [self._names[name] for name in columns]
            packed = table.select(*chosen, *hashes).mapInArrow(_packing(BATCH_ROWS), "rows binary")
            batches = iter(packed.toLocalIterator())
        totals = [0] * (1 + 2 * len(hashes))
        while (content := self._next_batch(batches)) is not None:
            batch = pl.read_ipc_stream(content)
            found = [batch.height, *self._table.hashes_in([batch[name] for name in hashes])]
            totals = [total + more for total, more in zip(totals, found, strict=True)]
            yield batch.select(
                pl.col(each).alias(name) for each, name in zip(chosen, columns, strict=True)
            )
        self._table.require_rows(own, totals)

    def _next_batch(self, batches: Iterator[Any]) -> bytes | None:
        try:
            with asking_spark():
                row = next(batches, None)
        except Exception:
            self._require_workers()
            raise
        return None if row is None else bytes(row[0])

    def _require_workers(self) -> None:
        """Say so, if Spark's workers cannot give rows of any table."""
        numbers = self._table.rows.sparkSession.range(1)
        try:
            with asking_spark():
                numbers.mapInArrow(_packing(1), "rows binary").collect()
        except Exception:
            raise InvalidArgument(
                "Spark's workers cannot run Python with pyarrow, by which rows come out of Spark; "
                "install pyarrow for them, and set PYSPARK_PYTHON to that Python before the "
                "session starts."
            ) from None

    def _sums(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        return [(total, 0) for total in self._run(rows, squares=False)]

    def _moments(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        return moments_of_sums([row for row, _ in rows], self._run(rows, squares=True))

    def _prepared(self, rows: Sequence[RowValue]) -> None:
        with asking_spark():
            for chunk in _chunks(rows, [[row.text] for row in rows]):
                expressions = [(row, row.source) for row in chunk]
                self._steps(expressions)[0].limit(0).collect()

    def _run(self, rows: Sequence[tuple[RowValue, Expression]], *, squares: bool) -> list[int]:
        """Sums of the steps of every row value, a scan for so many as Spark computes at once."""
        found: list[int] = []
        for chunk in _chunks(rows, step_sums([row for row, _ in rows], squares=squares)):
            found += self._scan(chunk, squares=squares)
        return found

    def _scan(self, rows: Sequence[tuple[RowValue, Expression]], *, squares: bool) -> list[int]:
        summed = step_sums([row for row, _ in rows], squares=squares)
        wanted = [self._table.summed(each) for part in summed for each in part]
        with reading(), asking_spark():
            steps, own = self._steps(rows)
            watched = self._table.sums_of(own)
            (found,) = steps.selectExpr(*watched, *wanted).collect()
            self._table.require_rows(own, found[: len(watched)])
            return [int(total or 0) for total in found[len(watched) :]]

    def _steps(self, rows: Sequence[tuple[RowValue, Expression]]) -> tuple[DataFrame, list[str]]:
        """The steps k0, k1, ... of every row, and the hashes; and the columns that were read."""
        written = written_rows(rows, SPARK)
        table, own = self._rows(list(written.names))
        hashes = [name for name in table.columns if name.startswith("w")]
        cleaned = [f"{self._cleaned(column)} AS {name}" for column, name in written.names.items()]
        table = table.selectExpr(*cleaned, *hashes)
        for stage in written.stages:
            named = (f"{always_computed(code)} AS {name}" for name, code in stage.items())
            table = table.selectExpr("*", *named)
        steps = (
            f"{_steps(row, code)} AS k{place}"
            for place, ((row, _), code) in enumerate(zip(rows, written.codes, strict=True))
        )
        return table.selectExpr(*steps, *hashes), own

    def _cleaned(self, column: str) -> str:
        """The column as row expressions see it: doubles without NaN, text, naive microseconds."""
        name, kind = self._names[column], self._types[column]
        match kind:
            case ColumnType.INTEGER:
                return always_computed(f"CAST({name} AS DOUBLE)")
            case ColumnType.FLOAT:
                return always_computed(SPARK.without_nan(name))
            case ColumnType.DATE | ColumnType.DATETIME:
                known = f"{name} BETWEEN {_IN_CALENDAR[kind]}"
                return always_computed(f"CASE WHEN {known} THEN CAST({name} AS TIMESTAMP_NTZ) END")
            case _:
                return always_computed(name)


def _steps(row: RowValue, code: str) -> str:
    """The steps of a value above the lowest one, an exact product, rounded to even."""
    if row.is_condition:
        return f"coalesce(CAST({code} AS BIGINT), 0)"
    product = f"{from_origin(row, code, SPARK)} * {SPARK.double(1 / row.grid.step)}"
    return f"(CAST(rint({product}) AS BIGINT) - ({row.grid.first}))"


def _chunks(rows: Sequence[_T], sums: Sequence[Sequence[object]]) -> Iterator[list[_T]]:
    """The rows, in order, so many at a time that their sums fit into one query."""
    chunk: list[_T] = []
    size = 0
    for row, parts in zip(rows, sums, strict=True):
        if chunk and size + len(parts) > _MOST_SUMS:
            yield chunk
            chunk, size = [], 0
        chunk.append(row)
        size += len(parts)
    if chunk:
        yield chunk


def _packing(most_rows: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a worker does with the rows of a partition: many of them become one value of bytes.

    The function that is made here is sent to the workers as it is, and knows nothing of Holdfast.
    """

    def packed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        def content(held: list[Any]) -> Any:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, held[0].schema) as stream:
                stream.write_table(pa.Table.from_batches(held).combine_chunks())
            return pa.RecordBatch.from_pydict({"rows": [sink.getvalue().to_pybytes()]})

        held: list[Any] = []
        for batch in batches:
            held.append(batch)
            if sum(each.num_rows for each in held) >= most_rows:
                yield content(held)
                held = []
        if held:
            yield content(held)

    return packed


def _empty(types: Mapping[str, ColumnType]) -> pl.DataFrame:
    """A frame without rows, as batches are."""
    import polars as pl

    dtypes: dict[ColumnType, Any] = {
        ColumnType.BOOLEAN: pl.Boolean,
        ColumnType.INTEGER: pl.Int64,
        ColumnType.FLOAT: pl.Float64,
        ColumnType.DATE: pl.Date,
        ColumnType.DATETIME: pl.Datetime("us"),
    }
    return pl.DataFrame(schema={name: dtypes.get(kind, pl.String) for name, kind in types.items()})
