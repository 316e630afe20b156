"""The Spark engine: a DataFrame, classic or Connect, computed where its cluster is.

Sums and counts are computed by Spark; rows, where they are needed themselves, come as batches of
Arrow, one partition at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.data.evaluate import steps_of_frame
from holdfast.data.fingerprint import WordSums
from holdfast.data.histogram import Histogram, bin_count, bin_shift, histogram_of, histograms
from holdfast.data.joining import needed, require_joinable
from holdfast.data.sample import (
    Moments,
    complete,
    moments_of_sums,
    prepare,
    reading,
    row_moments,
)
from holdfast.data.spark_counts import CountedGroups, binned, bins_of
from holdfast.data.spark_joined import JoinedFrame
from holdfast.data.spark_stream import arrow_batches
from holdfast.data.spark_table import Watch, WatchedTable, asking_spark
from holdfast.data.spark_words import summed_words
from holdfast.data.sql_steps import from_origin, step_sums, written_rows
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.row import RowValue, condition_row
from holdfast.question.spark_sql import SPARK, always_computed

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["SparkSample"]

_T = TypeVar("_T")

# Sums in one query: with more, the code that Spark generates is too long for Java to compile.
_MOST_SUMS = 50
_MOST_BINNED = 16  # histograms in one query
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
        """Exact counts in narrow bins; where a function of batches is among them, of batches."""
        values = [value for value, _ in asked]
        if len(_with_sources(values)) < len(values):
            return histograms(self, asked)
        found: list[Histogram] = []
        for start in range(0, len(asked), _MOST_BINNED):
            found += self._binned(asked[start : start + _MOST_BINNED])
        return found

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

    def word_sums(self) -> WordSums | None:
        """The sums of a fingerprint, by the workers; None where they cannot make them."""
        with reading(), asking_spark():
            table, watch = self._rows(list(self._types))
            return summed_words(table, self._types, self._names, watch)

    def value_counts(self, columns: Sequence[str]) -> pl.DataFrame:
        """Each combination v0, v1, ... of values once, and how many rows have it."""
        keys = {f"v{place}": self._names[name] for place, name in enumerate(columns)}
        with reading(), asking_spark():
            table, watch = self._rows(columns)
            return CountedGroups(table, watch, keys).collected("rows")

    def step_counts(
        self, rows: Sequence[tuple[RowValue, Expression]], inside: Expression | None
    ) -> pl.DataFrame:
        """Each combination of steps k0, k1, ... once, of the rows in the condition."""
        wanted = [*rows, *([] if inside is None else [(condition_row(inside), inside)])]
        condition = "TRUE" if inside is None else f"k{len(rows)} = 1"
        steps = (f"k{place}" for place in range(len(rows)))
        keys = {name: f"CASE WHEN {condition} THEN {name} END" for name in steps}
        with reading(), asking_spark():
            table, watch = self._steps(wanted)
            counted = CountedGroups(table, watch, keys | {"inside": condition}).collected("times")
        return counted.filter("inside").drop("inside")

    def class_counts(self, score: Expression, positive: Expression) -> Iterator[pl.DataFrame]:
        """Each score once, ascending, with the rows of both classes that have it."""
        import polars as pl

        with reading(), asking_spark():
            table, (value, label), watch = self._written([score, positive])
            lowest, zero = SPARK.double(float("-inf")), SPARK.double(0.0)
            # Adding 0 turns -0 into 0: they are equal scores.
            key = {"score": f"coalesce(CAST({value} AS DOUBLE), {lowest}) + {zero}"}
            positives = {"positives": f"coalesce(CAST({label} AS BIGINT), 0)"}
            groups = CountedGroups(table, watch, key, positives)
        with reading():
            for batch in groups.ascending("rows"):
                yield batch.with_columns(negatives=pl.col("rows") - pl.col("positives"))

    def _binned(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        wanted = [
            row
            for value, where in asked
            for row in (value, *([] if where is None else [condition_row(where)]))
        ]
        places = iter(range(len(wanted)))
        bins = []
        for value, where in asked:
            steps, inside = f"k{next(places)}", "TRUE"
            if where is not None:
                inside = f"k{next(places)} = 1"
            bins.append((bin_shift(value), steps, inside))
        with reading(), asking_spark():
            counted = binned(*self._steps(_with_sources(wanted)), bins)
        return [
            histogram_of(value, *bins_of(counted, place, bin_count(value)))
            for place, (value, _) in enumerate(asked)
        ]

    def _rows(self, columns: Sequence[str]) -> tuple[DataFrame, Watch]:
        """The table with these columns and the hashes of its rows.

        What was joined is joined only if it is needed.
        """
        joined = needed(self._beside, columns)
        read = {*columns, *(beside.key for beside in joined)}
        own, watch = sorted(read & self._table.types.keys()), self._table.watch(read)
        table = self._table.rows.selectExpr(*(self._names[name] for name in own), *watch.selected)
        for beside in joined:
            table = beside.joined_to(table, self._names[beside.key])
        return table, watch

    def _streamed(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        import polars as pl

        with asking_spark():
            table, watch = self._rows(columns)
            chosen = [self._names[name] for name in columns]
            wanted = table.select(*chosen, *watch.hashes)
        rows, parts = 0, [0] * len(watch.parts)
        for batch in arrow_batches(wanted):
            rows += batch.height
            parts = [a + b for a, b in zip(parts, watch.parts_of(batch), strict=True)]
            yield batch.select(
                pl.col(each).alias(name) for each, name in zip(chosen, columns, strict=True)
            )
        watch.require(rows, parts)

    def _sums(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        return [(total, 0) for total in self._run(rows, squares=False)]

    def _moments(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        return moments_of_sums([row for row, _ in rows], self._run(rows, squares=True))

    def _prepared(self, rows: Sequence[RowValue]) -> None:
        with asking_spark():
            for chunk in _chunks(rows, [[row.text] for row in rows]):
                self._steps(_with_sources(chunk))[0].limit(0).collect()

    def _run(self, rows: Sequence[tuple[RowValue, Expression]], *, squares: bool) -> list[int]:
        """Sums of the steps of every row value, a scan for so many as Spark computes at once."""
        found: list[int] = []
        for chunk in _chunks(rows, step_sums([row for row, _ in rows], squares=squares)):
            found += self._scan(chunk, squares=squares)
        return found

    def _scan(self, rows: Sequence[tuple[RowValue, Expression]], *, squares: bool) -> list[int]:
        parts = chain.from_iterable(step_sums([row for row, _ in rows], squares=squares))
        with reading(), asking_spark():
            steps, watch = self._steps(rows)
            summed = [*watch.parts, *map(self._table.exact, parts)]
            (found,) = steps.selectExpr("count(*)", *(f"sum({each})" for each in summed)).collect()
            count, *totals = (int(each or 0) for each in found)  # a sum of no rows is NULL
            watch.require(count, totals[: len(watch.parts)])
            return totals[len(watch.parts) :]

    def _steps(self, rows: Sequence[tuple[RowValue, Expression]]) -> tuple[DataFrame, Watch]:
        """The steps k0, k1, ... of every row, and the hashes."""
        table, codes, watch = self._written([expression for _, expression in rows])
        steps = (
            f"{_steps_of(row, code)} AS k{place}"
            for place, ((row, _), code) in enumerate(zip(rows, codes, strict=True))
        )
        return table.selectExpr(*steps, *watch.hashes), watch

    def _written(self, expressions: Sequence[Expression]) -> tuple[DataFrame, Sequence[str], Watch]:
        """A table with the hashes and all that the values of the expressions are made of."""
        written = written_rows(expressions, SPARK)
        table, watch = self._rows(list(written.names))
        cleaned = [f"{self._cleaned(column)} AS {name}" for column, name in written.names.items()]
        table = table.selectExpr(*cleaned, *watch.hashes)
        for stage in written.stages:
            named = (f"{always_computed(code)} AS {name}" for name, code in stage.items())
            table = table.selectExpr("*", *named)
        return table, written.codes, watch

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


def _steps_of(row: RowValue, code: str) -> str:
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


def _with_sources(rows: Sequence[RowValue]) -> list[tuple[RowValue, Expression]]:
    """The row values that are expressions."""
    return [(row, row.source) for row in rows if isinstance(row.source, Expression)]


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
