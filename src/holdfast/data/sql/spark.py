"""The Spark engine: its dialect, and a DataFrame, classic or Connect, read where its cluster is.

SQL means the same with ANSI mode on and off. A text is written as its bytes: whether a backslash in
quotes is one depends on a setting of the session. Divisors that may be 0 are NULL where they are
(`holdfast.question.writing`), so that ANSI mode finds nothing to complain of.

Sums and counts are computed by Spark; rows, where they are needed themselves, come as batches of
Arrow, one partition at a time.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any

from holdfast.data.fingerprint import WordSums, added_words, words_of_frame
from holdfast.data.histogram import Histogram, bin_count, bin_shift, histogram_of
from holdfast.data.plain import column_type
from holdfast.data.sample import BATCH_ROWS, needed, reading, sources
from holdfast.data.sql.language import Dialect
from holdfast.data.sql.spark_watch import EPOCH, Watch, WatchedTable, asking_spark
from holdfast.data.sql.sql_sample import Selection, SqlSample
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.question.expression import ColumnType, Expression, Op, ValueKind
from holdfast.question.row import RowValue, condition_row

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession

_NO_ESCAPE = "%_'\\"  # characters that cannot be written as the escape of a pattern


def always_computed(code: str) -> str:
    """The same value, computed for every row and where it stands.

    What may differ from one run to the next (as the number of a partition may) is neither moved
    into the branch of a CASE that needs it nor left out where no row does: the time that Spark
    would save by it would tell about the rows.
    """
    return f"if(spark_partition_id() < 0, NULL, {code})"


def _text(value: str) -> str:
    return f"CAST(X'{value.encode().hex()}' AS STRING)"


def _like(value: str, pattern: str) -> str:
    used = _NO_ESCAPE + pattern
    escape = next(each for each in map(chr, range(33, 0x110000)) if each not in used)
    return f"({value} LIKE {_text(pattern)} ESCAPE '{escape}')"


SPARK = Dialect(
    types={
        ValueKind.BOOLEAN: "BOOLEAN",
        ValueKind.NUMBER: "DOUBLE",
        ValueKind.TEXT: "STRING",
        ValueKind.MOMENT: "TIMESTAMP_NTZ",
    },
    text=_text,
    like=_like,
    without_nan=lambda value: f"(CASE WHEN isnan({value}) THEN NULL ELSE {value} END)",
    weekday="DAYOFWEEK_ISO",
    spelling={},
    named_operands=frozenset({Op.AND, Op.OR}),  # they stop at the first that decides
    whole=lambda value: f"CAST(rint({value}) AS BIGINT)",
    counted=lambda condition: f"count_if({condition})",
    wide_sums=False,  # in ANSI mode more than 64 bits are an error, and without it they are lost
)


# What is put beside the rows of a Spark table, by its key.


@dataclass(frozen=True, slots=True)
class JoinedFrame:
    """A key and the columns that belong to it, as a DataFrame of their own."""

    key: str
    types: Mapping[str, ColumnType]
    rows: DataFrame
    key_name: str

    @classmethod
    def create(
        cls, session: SparkSession, key: str, frame: pl.DataFrame, names: Mapping[str, str]
    ) -> JoinedFrame:
        """A key and columns of plain types, which go by these names."""
        import polars as pl

        types = {name: column_type(dtype) for name, dtype in frame.schema.items() if name != key}
        key_name = f"key_{'_'.join(names.values())}"
        # Whole numbers of microseconds: what Spark takes moments for depends on its settings.
        moments = [names[name] for name, kind in types.items() if kind is ColumnType.DATETIME]
        renamed = frame.rename({key: key_name, **names}).with_columns(
            pl.col(moments).dt.cast_time_unit("us").to_physical()
        )
        rows = session.createDataFrame(renamed.to_arrow()).selectExpr(
            *(
                f"timestampadd(MICROSECOND, {name}, {EPOCH}) AS {name}" if name in moments else name
                for name in renamed.columns
            )
        )
        return cls(key, types, rows, key_name)

    @property
    def columns(self) -> frozenset[str]:
        """The names of what is joined."""
        return frozenset(self.types)

    def joined_to(self, table: DataFrame, key: str) -> DataFrame:
        """Every row of the table once, with the columns of its key or with NULL."""
        keyed = table.selectExpr("*", f"{key} AS {self.key_name}")
        return keyed.join(self.rows, on=self.key_name, how="left").drop(self.key_name)


# Rows of Spark as batches of Arrow: so many at a time as fit into memory.


def arrow_batches(rows: DataFrame) -> Iterator[pl.DataFrame]:
    """The rows, in their order; one partition after the other is fetched."""
    import polars as pl

    with asking_spark():
        packed = rows.mapInArrow(_packing(BATCH_ROWS), "rows binary")
        batches = iter(packed.toLocalIterator())
    while True:
        try:
            with asking_spark():
                row = next(batches, None)
        except Exception:
            _require_workers(rows)
            raise
        if row is None:
            return
        yield pl.read_ipc_stream(bytes(row[0]))


def _require_workers(rows: DataFrame) -> None:
    """Say so, if Spark's workers cannot give rows of any table."""
    try:
        with asking_spark():
            rows.sparkSession.range(1).mapInArrow(_packing(1), "rows binary").collect()
    except Exception:
        raise InvalidArgument(
            "Spark's workers cannot run Python with pyarrow, by which rows come out of Spark; "
            "install pyarrow for them, and set PYSPARK_PYTHON to that Python before the session "
            "starts."
        ) from None


def _packing(most_rows: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a worker does with the rows of a partition: many of them become one value of bytes.

    The function that is made here is sent to the workers as it is, and knows nothing of Holdfast.
    """

    def packed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        def content(waiting: list[Any]) -> Any:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, waiting[0].schema) as stream:
                stream.write_table(pa.Table.from_batches(waiting).combine_chunks())
            return pa.RecordBatch.from_pydict({"rows": [sink.getvalue().to_pybytes()]})

        waiting: list[Any] = []
        for batch in batches:
            waiting.append(batch)
            if sum(each.num_rows for each in waiting) >= most_rows:
                yield content(waiting)
                waiting = []
        if waiting:
            yield content(waiting)

    return packed


# Counts by group, computed by Spark: every row is in one group, so the hashes add up by group.


@dataclass(frozen=True, slots=True)
class CountedGroups:
    """The rows of a table by keys, and the sums of some whole numbers; both have names."""

    table: DataFrame
    watch: Watch
    keys: Mapping[str, str]
    summed: Mapping[str, str] = field(default_factory=dict)

    def collected(self, rows: str) -> pl.DataFrame:
        """Each group once, and how many rows it has in the column `rows`."""
        import polars as pl

        groups = pl.DataFrame(self._group_sums(rows).toArrow())
        self.watch.require(int(groups[rows].sum()), [int(groups[t].sum()) for t in self._parts])
        return self._plain(groups, rows)

    def ascending(self, rows: str) -> Iterator[pl.DataFrame]:
        """The same in the order of the keys, in batches."""
        count, parts = 0, [0] * len(self._parts)
        for batch in arrow_batches(self._group_sums(rows).orderBy(*self.keys)):
            count += int(batch[rows].sum())
            sums = (int(batch[name].sum()) for name in self._parts)
            parts = [a + b for a, b in zip(parts, sums, strict=True)]
            yield self._plain(batch, rows)
        self.watch.require(count, parts)

    @property
    def _parts(self) -> list[str]:
        return [f"t{place}" for place in range(len(self.watch.parts))]

    def _group_sums(self, rows: str) -> DataFrame:
        exact = self.watch.table.exact
        sums = {rows: exact("1L"), **{name: exact(code) for name, code in self.summed.items()}}
        sums |= dict(zip(self._parts, self.watch.parts, strict=True))
        wanted = (f"{code} AS {name}" for name, code in {**self.keys, **sums}.items())
        grouped = self.table.selectExpr(*wanted).groupBy(*self.keys)
        return grouped.sum(*sums).toDF(*self.keys, *sums)

    def _plain(self, groups: pl.DataFrame, rows: str) -> pl.DataFrame:
        import polars as pl

        return groups.drop(self._parts).with_columns(pl.col(rows, *self.summed).cast(pl.Int64))


def binned(steps: DataFrame, watch: Watch, bins: Sequence[tuple[int, str, str]]) -> pl.DataFrame:
    """How many rows are in each bin of several values, and the sums of their steps; one scan.

    A value is (bits that a bin leaves out, steps, condition). Each row becomes one for each value;
    the first of them has the hashes, the others 0.
    """
    import polars as pl

    parts, none = watch.parts, watch.table.exact("0L")
    copies = [
        {
            "value": f"{place}",
            "bin": f"CASE WHEN {inside} THEN shiftright({code}, {shift}) ELSE -1L END",
            "total": watch.table.exact(f"(CASE WHEN {inside} THEN {code} ELSE 0L END)"),
            "times": watch.table.exact("1L"),
            **{f"t{n}": part if place == 0 else none for n, part in enumerate(parts)},
        }
        for place, (shift, code, inside) in enumerate(bins)
    ]
    exploded = _in_turn(steps, copies)
    sums = ["total", "times", *(f"t{n}" for n in range(len(parts)))]
    groups = exploded.groupBy("value", "bin").sum(*sums).toDF("value", "bin", *sums)
    bins_found = pl.DataFrame(groups.toArrow())
    rows = int(bins_found.filter(pl.col("value") == 0)["times"].sum())
    watch.require(rows, [int(bins_found[name].sum()) for name in sums[2:]])
    return bins_found


def _in_turn(table: DataFrame, copies: Sequence[Mapping[str, str]]) -> DataFrame:
    """For each row one row of each of these selections; a single one needs no array of them."""
    if len(copies) == 1:
        return table.selectExpr(*(f"{code} AS {name}" for name, code in copies[0].items()))
    structs = (
        f"named_struct({', '.join(f'{name!r}, {code}' for name, code in each.items())})"
        for each in copies
    )
    return table.selectExpr(f"inline(array({', '.join(structs)}))")


def bins_of(table: pl.DataFrame, value: int, bins: int) -> tuple[NDArray[np.int64], int]:
    """The counts of one value, and the sum of its steps."""
    import numpy as np
    import polars as pl

    own = table.filter((pl.col("value") == value) & (pl.col("bin") >= 0))
    counts = np.zeros(bins, dtype=np.int64)
    counts[own["bin"].to_numpy()] = own["times"].cast(pl.Int64).to_numpy()
    return counts, int(own["total"].sum())


# The words of a Spark table's rows, summed where the rows are.
#
# A fingerprint is made of sums, so that each worker adds up the words of its own rows, and only
# the sums travel. It takes a Python with Holdfast to compute them; where a worker has none, or
# one that makes other words, the rows come to this machine instead.


_FAR = 2_932_897  # days from 1970 to a date that questions do not know
_SUMS = "rows bigint, words array<bigint>, parts array<bigint>"


def summed_words(
    rows: DataFrame, types: Mapping[str, ColumnType], names: Mapping[str, str], watch: Watch
) -> WordSums | None:
    """The sums over all rows, whose columns go by these names; None if a worker cannot tell."""
    kinds = {name: str(kind) for name, kind in types.items()}
    summing = _summing(kinds, dict(names), watch.hashes, *_example())
    try:
        with asking_spark():
            partitions = rows.mapInArrow(summing, _SUMS).collect()
    except HoldfastError:
        raise
    except Exception:  # whatever a worker ends with that has no Holdfast, no Arrow or no Python
        return None
    total, parts = WordSums(), [0] * len(watch.parts)
    for row_count, words, of_partition in partitions:
        total = added_words(total, WordSums(row_count, *(word % 2**64 for word in words)))
        parts = [a + b for a, b in zip(parts, of_partition, strict=True)]
    watch.require(total.rows, parts)
    return total


def _example() -> tuple[bytes, tuple[int, int]]:
    """A row of every kind as a stream of Arrow, and the words that this process makes of it."""
    import polars as pl

    far = pl.Series([_FAR], dtype=pl.Int32).cast(pl.Date)
    frame = pl.DataFrame({"date": far, "number": [math.nan], "text": ["é"], "whole": [-1]})
    types = {name: column_type(dtype) for name, dtype in frame.schema.items()}
    stream, words = BytesIO(), words_of_frame(frame, types)
    frame.write_ipc_stream(stream, compat_level=pl.CompatLevel.oldest())
    return stream.getvalue(), (words.first, words.second)


def _summing(
    kinds: Mapping[str, str],
    names: Mapping[str, str],
    hashes: list[str],
    example: bytes,
    wanted: tuple[int, int],
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a worker does with the rows of a partition; it is sent there as it is.

    It fails unless that worker's Holdfast makes the wanted words of the example.
    """

    def summed(batches: Iterator[Any]) -> Iterator[Any]:
        import polars as pl
        import pyarrow as pa

        from holdfast.data.fingerprint import WordSums, added_words, words_of_frame
        from holdfast.data.plain import column_type
        from holdfast.data.sql.spark_watch import parts_of_hashes
        from holdfast.question.expression import ColumnType

        row = pl.DataFrame(pa.ipc.open_stream(example).read_all())
        made = words_of_frame(row, {name: column_type(kind) for name, kind in row.schema.items()})
        if (made.first, made.second) != wanted:
            raise RuntimeError("this Holdfast makes other words of a row")
        types = {name: ColumnType(kind) for name, kind in kinds.items()}
        total, parts = WordSums(), [0] * (2 * len(hashes))
        for batch in batches:
            frame = pl.DataFrame(batch)
            own = frame.select(pl.col(names[name]).alias(name) for name in types)
            total = added_words(total, words_of_frame(own, types))
            of_batch = parts_of_hashes([frame[each] for each in hashes])
            parts = [a + b for a, b in zip(parts, of_batch, strict=True)]
        words = [(word ^ 1 << 63) - (1 << 63) for word in (total.first, total.second)]
        yield pa.RecordBatch.from_pydict(
            {
                "rows": [total.rows],
                "words": [words],
                "parts": pa.array([parts], pa.list_(pa.int64())),
            }
        )

    return summed


_MOST_BINNED = 16  # histograms in one query
_NUMBERS = count(1)  # of joined columns
# A moment where questions know one, in the years 1 to 9999.
_IN_CALENDAR = {
    ColumnType.DATE: "DATE '0001-01-01' AND DATE '9999-12-31'",
    ColumnType.DATETIME: "TIMESTAMP_NTZ '0001-01-01 00:00:00' "
    "AND TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'",
}


_THROUGH_HERE = (
    "Not every worker of Spark has this version of Holdfast in its Python, so all rows come "
    "through this machine once, to be recognised at later openings; install holdfast for the "
    "workers, and only sums will."
)


class SparkSample(SqlSample):
    """The rows of a DataFrame, and what was joined to them by their key."""

    dialect = SPARK
    most_sums = 10  # of more the code that Spark generates is one method too long to be compiled

    def __init__(self, frame: DataFrame) -> None:
        self._table = WatchedTable(frame)
        super().__init__(self._table.types)
        self._names = dict(self._table.names)
        self._beside: tuple[JoinedFrame, ...] = ()

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._table.n

    def require_unchanged(self) -> None:
        """Refuse a table whose session is gone; its rows are for a scan to see."""
        with reading(), asking_spark():
            _ = self._table.rows.sparkSession.version

    def word_sums(self) -> WordSums | None:
        """The sums of a fingerprint, by the workers; None where they cannot make them."""
        with reading(), asking_spark():
            table, watch = self._rows(list(self._types))
            total = summed_words(table, self._types, self._names, watch)
        if total is None:
            warnings.warn(_THROUGH_HERE, stacklevel=2)
        return total

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
        condition = "TRUE" if inside is None else f"coalesce(k{len(rows)}, FALSE)"
        steps = {f"k{place}": _whole(place, row) for place, (row, _) in enumerate(rows)}
        keys = {name: f"CASE WHEN {condition} THEN {code} END" for name, code in steps.items()}
        with reading(), asking_spark():
            table, watch = self._select(self._steps(wanted))
            groups = CountedGroups(table, watch, keys | {"inside": condition}).collected("times")
        return groups.filter("inside").drop("inside")

    def class_counts(self, score: Expression, positive: Expression) -> Iterator[pl.DataFrame]:
        """Each score once, ascending, with the rows of both classes that have it."""
        import polars as pl

        with reading(), asking_spark():
            table, watch = self._select(self._selection([score, positive]))
            lowest, zero = SPARK.double(float("-inf")), SPARK.double(0.0)
            # Adding 0 turns -0 into 0: they are equal scores.
            key = {"score": f"coalesce(CAST(v0 AS DOUBLE), {lowest}) + {zero}"}
            positives = {"positives": "coalesce(CAST(v1 AS BIGINT), 0)"}
            groups = CountedGroups(table, watch, key, positives)
        with reading():
            for batch in groups.ascending("rows"):
                yield batch.with_columns(negatives=pl.col("rows") - pl.col("positives"))

    def _histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        results: list[Histogram] = []
        for start in range(0, len(asked), _MOST_BINNED):
            results += self._binned(asked[start : start + _MOST_BINNED])
        return results

    def _binned(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        rows: list[RowValue] = []
        bins = []
        for value, where in asked:
            steps, inside = _whole(len(rows), value), "TRUE"
            rows.append(value)
            if where is not None:
                inside = f"k{len(rows)}"
                rows.append(condition_row(where))
            bins.append((bin_shift(value), steps, inside))
        with reading(), asking_spark():
            table = binned(*self._select(self._steps(sources(rows))), bins)
        return [
            histogram_of(value, *bins_of(table, place, bin_count(value)))
            for place, (value, _) in enumerate(asked)
        ]

    def _batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
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

    def _join(self, key: str, frame: pl.DataFrame) -> Mapping[str, ColumnType]:
        names = {name: f"also{next(_NUMBERS)}" for name in frame.columns if name != key}
        with asking_spark():
            beside = JoinedFrame.create(self._table.rows.sparkSession, key, frame, names)
        self._names = {**self._names, **names}
        self._beside = (*self._beside, beside)
        return beside.types

    def _rows(self, columns: Sequence[str]) -> tuple[DataFrame, Watch]:
        """The table with these columns and the hashes of its rows.

        What was joined is joined only if it is needed.
        """
        joined = needed(self._beside, columns)
        columns_read = {*columns, *(beside.key for beside in joined)}
        own, watch = (
            sorted(columns_read & self._table.types.keys()),
            self._table.watch(columns_read),
        )
        table = self._table.rows.selectExpr(*(self._names[name] for name in own), *watch.selected)
        for beside in joined:
            table = beside.joined_to(table, self._names[beside.key])
        return table, watch

    def _sum(self, code: str) -> str:
        return f"sum({self._table.exact(code)})"

    def _aggregated(self, selection: Selection, aggregates: Sequence[str]) -> list[int]:
        with reading(), asking_spark():
            steps, watch = self._select(selection)
            hashed = (f"sum({part})" for part in watch.parts)
            (line,) = steps.selectExpr("count(*)", *hashed, *aggregates).collect()
            rows, *totals = (int(each or 0) for each in line)  # a sum of no rows is NULL
            watch.require(rows, totals[: len(watch.parts)])
            return totals[len(watch.parts) :]

    def _try(self, selection: Selection) -> None:
        with asking_spark():
            self._select(selection)[0].limit(0).collect()

    def _select(self, selection: Selection) -> tuple[DataFrame, Watch]:
        """Selects over the table, each with the hashes of its rows."""
        table, watch = self._rows(selection.columns)
        table = table.selectExpr(*_named(selection.cleaned), *watch.hashes)
        for stage in selection.stages:
            computed = {name: always_computed(code) for name, code in stage.items()}
            table = table.selectExpr("*", *_named(computed))
        return table.selectExpr(*_named(selection.results), *watch.hashes), watch

    def _cleaned(self, column: str) -> str:
        name, kind = self._names[column], self._types[column]
        match kind:
            case ColumnType.INTEGER:
                return always_computed(f"CAST({name} AS DOUBLE)")
            case ColumnType.FLOAT:
                return always_computed(SPARK.without_nan(name))
            case ColumnType.DATE | ColumnType.DATETIME:
                in_calendar = f"{name} BETWEEN {_IN_CALENDAR[kind]}"
                return always_computed(
                    f"CASE WHEN {in_calendar} THEN CAST({name} AS TIMESTAMP_NTZ) END"
                )
            case _:
                return always_computed(name)


def _named(codes: Mapping[str, str]) -> list[str]:
    return [f"{code} AS {name}" for name, code in codes.items()]


def _whole(place: int, row: RowValue) -> str:
    """The steps of a row value as a whole number; of a condition 1 where it holds."""
    return f"coalesce(CAST(k{place} AS BIGINT), 0L)" if row.is_condition else f"k{place}"
