"""The DuckDB engine: relations, partitioned Parquet, and database files opened locked down."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.data.sample import Sample, check_names, needed, reading
from holdfast.data.source import BUCKETS, FileSample, file_stamps
from holdfast.data.sql.language import Dialect, quoted_name, quoted_text, sql_column_type
from holdfast.data.sql.sql_sample import Selection, SqlSample
from holdfast.errors import InvalidArgument
from holdfast.question.expression import ColumnType, Expression, ValueKind
from holdfast.question.row import RowValue

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from numpy.typing import NDArray

DUCKDB = Dialect(
    types={
        ValueKind.BOOLEAN: "BOOLEAN",
        ValueKind.NUMBER: "DOUBLE",
        ValueKind.TEXT: "VARCHAR",
        ValueKind.MOMENT: "TIMESTAMP",
    },
    text=quoted_text,
    like=lambda value, pattern: f"({value} LIKE {quoted_text(pattern)})",
    without_nan=lambda value: f"(CASE WHEN isnan({value}) THEN NULL ELSE {value} END)",
    weekday="isodow",
    spelling={},
    # Arithmetic is total here, and the cast of a condition computes all of it.
    named_operands=frozenset(),
    whole=lambda value: f"CAST({value} AS BIGINT)",
    # Counted, a condition is computed whole; as a filter, DuckDB would stop at what decides it.
    counted=lambda condition: f"count_if({condition})",
    wide_sums=True,
)


# What is put beside the rows of a DuckDB table, by its key.


_NUMBERS = itertools.count(1)  # of temporary tables
_OWN_KEY = {
    ColumnType.INTEGER: "TRY_CAST(own.{} AS BIGINT)",
    ColumnType.TEXT: 'CAST(own.{} AS VARCHAR) COLLATE "C"',  # whatever the column's own collation
}


@dataclass(frozen=True, slots=True)
class Stream:
    """Rows as nothing but a stream: a database that is locked takes nothing else."""

    rows: DuckDBPyRelation | pl.DataFrame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)


@dataclass(frozen=True, slots=True)
class JoinedTable:
    """A key and the columns that belong to it, in a table of their own."""

    key: str
    columns: frozenset[str]
    rows: DuckDBPyRelation

    @classmethod
    def create(cls, connection: DuckDBPyConnection, key: str, frame: pl.DataFrame) -> JoinedTable:
        """A temporary table of the connection, which goes with it."""
        name = f"holdfast_joined_{next(_NUMBERS)}"
        connection.register(f"{name}_given", Stream(frame))
        connection.execute(f"CREATE TEMPORARY TABLE {name} AS SELECT * FROM {name}_given")
        connection.unregister(f"{name}_given")
        return cls(key, frozenset(frame.columns) - {key}, connection.table(name))

    def joined_to(self, table: DuckDBPyRelation, key_type: ColumnType) -> DuckDBPyRelation:
        """Every row of the table once, with the columns of its key or with NULL."""
        key = quoted_name(self.key)
        columns = ", ".join(f"beside.{quoted_name(name)}" for name in sorted(self.columns))
        both = table.set_alias("own").join(
            self.rows.set_alias("beside"),
            f"{_OWN_KEY[key_type].format(key)} = beside.{key}",
            how="left",
        )
        return both.project(f"own.*, {columns}")


# DuckDB knows the least and the greatest number of a column. From these it would conclude what a
# condition is, and not compute what stands beside it: how long that takes would tell about the
# rows. And statistics of a Parquet file leave NaN out: from them it would conclude that there is
# none. So it concludes nothing.
_WITHOUT = "statistics_propagation"
# What SQL written here needs, and nothing more: no files, no extensions, no Python variables.
UNLOCKED = {
    "disabled_optimizers": _WITHOUT,
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_LOCKS = {"enable_external_access": "false", "lock_configuration": "true"}
LOCKED = {**UNLOCKED, **_LOCKS}
_INTEGERS = ("tinyint", "smallint", "integer", "bigint")
_TYPES = {
    "boolean": ColumnType.BOOLEAN,
    **dict.fromkeys(_INTEGERS, ColumnType.INTEGER),
    **dict.fromkeys((f"u{name}" for name in _INTEGERS), ColumnType.INTEGER),
    "float": ColumnType.FLOAT,
    "double": ColumnType.FLOAT,
    "varchar": ColumnType.TEXT,
    "enum": ColumnType.TEXT,
    "date": ColumnType.DATE,
    "timestamp": ColumnType.DATETIME,
    "timestamp_s": ColumnType.DATETIME,
    "timestamp_ms": ColumnType.DATETIME,
    "timestamp_ns": ColumnType.DATETIME,
    "timestamp with time zone": ColumnType.DATETIME,
}
_LAST = {
    "date": "9999-12-31",
    "timestamp_s": "9999-12-31 23:59:59",
    "timestamp_ms": "9999-12-31 23:59:59.999",
    "timestamp": "9999-12-31 23:59:59.999999",
}
_DATABASE = "data"  # what the file is called where it is attached
_TABLES = (
    "SELECT table_schema, table_name, table_type FROM information_schema.tables "
    f"WHERE table_catalog = '{_DATABASE}' ORDER BY ALL"
)
_SETTING = "current_setting('disabled_optimizers')"


def open_table(path: Path, table: str | None = None) -> Sample:
    """A table of a DuckDB database file, opened for reading only.

    A view is copied: what it computes may differ from one reading to the next, and the file not.
    """
    duckdb = duckdb_library()
    # What a writer has not yet moved into the database is in its log, and is read too.
    log = path.with_name(f"{path.name}.wal")
    stamps = file_stamps([path, log] if log.exists() else [path])
    try:
        connection = open_database(path)
        tables = connection.execute(_TABLES).fetchall()
    except duckdb.Error:
        raise InvalidArgument(
            f"The file {str(path)!r} cannot be opened as a DuckDB database; another program may "
            "hold it open for writing."
        ) from None
    schema, table, kind = _only_table(path, table, tables)
    try:
        relation = connection.table(".".join(map(quoted_name, (_DATABASE, schema, table))))
        if kind == "VIEW":
            return copied(relation)
        return FileSample(DuckDBSample(relation, connection=connection), stamps)
    except duckdb.Error:
        raise InvalidArgument(
            f"The table {table!r} of {str(path)!r} cannot be read: a view may name a table that is "
            "gone, or files, which are not read through a database; save it as a table, or name "
            "the files."
        ) from None


def _only_table(
    path: Path, table: str | None, tables: Sequence[tuple[str, str, str]]
) -> tuple[str, str, str]:
    """The schema, name and kind of a table; the only one, if none is named."""
    fitting = [
        each for each in tables if table is None or table in (each[1], f"{each[0]}.{each[1]}")
    ]
    if len(fitting) == 1:
        return fitting[0]
    names = [name if schema == "main" else f"{schema}.{name}" for schema, name, _ in tables]
    if fitting and table is not None:
        names = [f"{schema}.{name}" for schema, name, _ in fitting]
        raise InvalidArgument(
            f"table is {table!r}, and {len(fitting):,} schemas of the database {str(path)!r} have "
            f"one: {', '.join(map(repr, names))}. Give it with its schema."
        )
    listed = ", ".join(map(repr, sorted(names))) or "no tables"
    raise InvalidArgument(f"table is {table!r}; the database {str(path)!r} holds {listed}.")


def open_database(path: Path) -> DuckDBPyConnection:
    """A connection that reads a database file and nothing else.

    The file is attached to a database of our own: a macro that is kept in it may have the name of a
    function, and is found before that one in SQL of the file's own database.
    """
    connection: DuckDBPyConnection = duckdb_library().connect(config=dict(UNLOCKED))
    connection.execute(f"ATTACH {quoted_text(str(path))} AS {_DATABASE} (READ_ONLY, TYPE duckdb)")
    lock(connection)
    return connection


def lock(connection: DuckDBPyConnection) -> None:
    """Let a connection that was opened as `UNLOCKED` read no more than what it has by now."""
    for name, value in _LOCKS.items():
        connection.execute(f"SET {name} = {value}")


def copied(relation: DuckDBPyRelation) -> DuckDBSample:
    """The rows of a relation in a database of their own.

    What a relation reads (tables, files, frames, a clock, random numbers) may change at any time,
    and nothing tells whether it has.
    """
    with reading():
        types = _engine_types(relation)
        own, connection = _own_copy(relation)
    return DuckDBSample(own, types, connection)


def _own_copy(relation: DuckDBPyRelation) -> tuple[DuckDBPyRelation, DuckDBPyConnection]:
    """A copy of the rows, and its connection; types that others may not know become text."""
    connection: DuckDBPyConnection = duckdb_library().connect(config=dict(LOCKED))
    connection.register("given", Stream(relation.project(_projection(_engine_types(relation)))))
    connection.execute("CREATE TABLE rows AS SELECT * FROM given")
    connection.unregister("given")
    return connection.table("rows"), connection


def duckdb_library() -> Any:
    """DuckDB; or which extra brings it."""
    with require.installed("DuckDB files", "duckdb"):
        import duckdb

    return duckdb


class DuckDBSample(SqlSample):
    """A DuckDB relation. Keeps the relation's connection.

    `engine_types` are those that the columns had before they were copied. Nothing is created on the
    connection but temporary tables of joined columns, and these only if it is given as our own.
    """

    dialect = DUCKDB

    def __init__(
        self,
        relation: DuckDBPyRelation,
        engine_types: Mapping[str, str] | None = None,
        connection: DuckDBPyConnection | None = None,
    ) -> None:
        self._engine_types = engine_types or _engine_types(relation)
        super().__init__(_column_types(self._engine_types))
        self._relation = relation
        self._connection = connection
        self._beside: tuple[JoinedTable, ...] = ()
        with reading():
            ((without,),) = relation.limit(0).aggregate("count(*)").project(_SETTING).fetchall()
        if without != _WITHOUT:
            raise ValueError("a connection of DuckDB that was not opened by this module")
        self._n, self._with_nan = _looked_at(relation, self._types)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._n

    def step_batches(
        self, rows: Sequence[tuple[RowValue, Expression]]
    ) -> Iterator[list[NDArray[np.int64]]]:
        """The steps of row values, computed by Polars from DuckDB's stream."""
        from holdfast.data.plain import cleaned
        from holdfast.data.polars import in_batches, steps_of_batches, valued

        stream = self._stream(sorted({column for row, _ in rows for column in row.columns}))
        dtypes = stream.collect_schema()
        values = valued(stream, lambda column: cleaned(column, dtypes[column]), rows)
        return steps_of_batches(in_batches(values), rows, self._n)

    def _batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        from holdfast.data.polars import in_batches

        return in_batches(self._stream(columns))

    def _stream(self, columns: Sequence[str]) -> pl.LazyFrame:
        import polars as pl

        chosen = _projection({name: self._engine_types[name] for name in columns})
        with reading():
            return pl.scan_arrow_c_stream(self._table(columns).project(chosen))

    def _join(self, key: str, frame: pl.DataFrame) -> Mapping[str, ColumnType]:
        if self._connection is None:  # it is somebody else's
            self._relation, self._connection = _own_copy(self._relation)
        beside = JoinedTable.create(self._connection, key, frame)
        added = _engine_types(beside.rows)
        del added[key]
        self._engine_types = {**self._engine_types, **added}
        types = _column_types(added)
        _, with_nan = _looked_at(beside.rows, types)
        self._with_nan |= with_nan
        self._beside = (*self._beside, beside)
        return types

    def _table(self, columns: Sequence[str]) -> DuckDBPyRelation:
        """A relation that has these columns: what was joined is joined only if it is needed."""
        table = self._relation
        for beside in needed(self._beside, columns):
            table = beside.joined_to(table, self._types[beside.key])
        return table

    def _aggregated(self, selection: Selection, aggregates: Sequence[str]) -> list[int]:
        with reading():
            relation = _selected(self._table(selection.columns), selection)
            ((rows, *totals),) = relation.aggregate(", ".join(["count(*)", *aggregates])).fetchall()
            if rows != self._n:
                raise EOFError
            return [int(total or 0) for total in totals]  # a sum of no rows is NULL

    def _try(self, selection: Selection) -> None:
        _selected(self._table(selection.columns).limit(0), selection).fetchall()

    def _cleaned(self, column: str) -> str:
        """The column as row expressions see it.

        The rows are those of the opening, where NaN was looked for.
        """
        name = quoted_name(column)
        match self._types[column]:
            case ColumnType.FLOAT if column in self._with_nan:
                return DUCKDB.without_nan(_double(column))
            case ColumnType.INTEGER | ColumnType.FLOAT:
                return _double(column)
            case ColumnType.TEXT:  # whatever the column's own collation
                return f'CAST({name} AS VARCHAR) COLLATE "C"'
            case ColumnType.DATE | ColumnType.DATETIME:  # what fails, such as infinity, is NULL
                return f"TRY({_moment(name, self._engine_types[column])})"
            case _:
                return name


def _selected(relation: DuckDBPyRelation, selection: Selection) -> DuckDBPyRelation:
    """Selects over a relation."""
    relation = relation.project(_named(selection.cleaned))
    for stage in selection.stages:
        relation = relation.project(f"*, {_named(stage)}")
    return relation.project(_named(selection.results))


def _named(codes: Mapping[str, str]) -> str:
    return ", ".join(f"{code} AS {name}" for name, code in codes.items())


def _engine_types(relation: DuckDBPyRelation) -> dict[str, str]:
    names = list(relation.columns)
    check_names(names)
    return {
        name: str(dtype).lower() if dtype.id == "decimal" else str(dtype.id)
        for name, dtype in zip(names, relation.types, strict=True)
    }


def _looked_at(
    relation: DuckDBPyRelation, types: Mapping[str, ColumnType]
) -> tuple[int, frozenset[str]]:
    """The number of rows, and the columns that hold NaN; one scan."""
    floats = [name for name, kind in types.items() if kind is ColumnType.FLOAT]
    wanted = ["count(*)", *(f"count_if(isnan({_double(name)}))" for name in floats)]
    with reading():
        ((rows, *counts),) = relation.aggregate(", ".join(wanted)).fetchall()
    return int(rows), frozenset(name for name, nan in zip(floats, counts, strict=True) if nan)


def _projection(types: Mapping[str, str]) -> str:
    """The columns; those of types that others may not know come as text."""
    return ", ".join(
        f"CAST({quoted_name(name)} AS VARCHAR) AS {quoted_name(name)}"
        if sql_column_type(dtype, _TYPES) is ColumnType.OTHER
        else quoted_name(name)
        for name, dtype in types.items()
    )


def _column_types(types: Mapping[str, str]) -> dict[str, ColumnType]:
    return {name: sql_column_type(dtype, _TYPES) for name, dtype in types.items()}


def _moment(name: str, dtype: str) -> str:
    """A date or time as TIMESTAMP in UTC, rounded down, NULL outside the years 1 to 9999."""
    if dtype == "timestamp with time zone":
        name = f"make_timestamp(epoch_us({name}))"
    elif dtype == "timestamp_ns":
        nanoseconds = f"epoch_ns({name})"
        before = f"CASE WHEN {nanoseconds} % 1000 < 0 THEN 1 ELSE 0 END"
        name = f"make_timestamp({nanoseconds} // 1000 - {before})"
    sql_type = dtype if dtype in _LAST else "timestamp"
    in_calendar = f"{name} BETWEEN {sql_type} '0001-01-01' AND {sql_type} '{_LAST[sql_type]}'"
    return f"CASE WHEN {in_calendar} THEN CAST({name} AS TIMESTAMP) END"


def _double(column: str) -> str:
    return f"CAST({quoted_name(column)} AS DOUBLE)"


# Parquet in many files, read by DuckDB: a folder of partitions, or a bucket.
#
# In a folder of Hive's kind (`year=2013/carrier=AA/part.parquet`) what the names of folders say
# is a column, too. Its files are watched as any others. What lies in a bucket may change at any
# time and nothing tells whether it has: it is copied, once.


def open_folder(folder: Path, files: Sequence[Path]) -> Sample:
    """The Parquet files of a folder as one table; nothing else is read."""
    stamps = file_stamps(files)  # before anything is read: what changes later is noticed
    connection = duckdb_library().connect(config=dict(UNLOCKED))
    connection.execute(f"SET allowed_directories = [{quoted_text(f'{folder.resolve()}/')}]")
    lock(connection)
    try:
        with reading():
            rows = connection.read_parquet([str(file) for file in files], hive_partitioning=True)
            return FileSample(DuckDBSample(rows, connection=connection), stamps)
    except InvalidArgument:
        raise
    except Exception:
        raise InvalidArgument(
            f"data is {str(folder)!r}, of whose {len(files):,} Parquet files one cannot be read; "
            "see that they are whole and have the same columns."
        ) from None


def open_bucket(url: str) -> Sample:
    """A copy of the Parquet files that an address of a bucket names; it may be a pattern."""
    if "?" in url:
        raise InvalidArgument(
            "data is the address of a bucket with a question mark, behind which keys are written; "
            "keep them as a secret of DuckDB (CREATE PERSISTENT SECRET)."
        )
    duckdb = duckdb_library()
    extension = BUCKETS[url.partition("://")[0].lower()]
    connection = duckdb.connect(config=dict(UNLOCKED))
    try:
        connection.execute(f"LOAD {extension}")
    except duckdb.Error:
        raise InvalidArgument(
            f"data is {url!r}, which DuckDB reads by its extension {extension!r}, and that is not "
            f"installed; run INSTALL {extension} in DuckDB once, where there is a network, or copy "
            "the files to this machine."
        ) from None
    try:
        rows = connection.read_parquet(url, hive_partitioning=True)
        return copied(rows)
    except InvalidArgument:
        raise
    except Exception:
        raise InvalidArgument(
            f"data is {url!r}, where DuckDB can read no Parquet files; see that they are there, "
            "that the network is, and that DuckDB has a secret for the bucket (CREATE SECRET)."
        ) from None
