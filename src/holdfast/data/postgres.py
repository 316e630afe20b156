"""The PostgreSQL engine: a table of a database, read where it is, with columns beside it.

One transaction for each scan, which only reads. Sums and counts in bins are computed by the server,
and by as many of its processes as it likes; rows, where they are needed, are streamed by COPY: that
takes a fraction of the time of a cursor and as little memory.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any

from holdfast.data.database import DatabaseUrl
from holdfast.data.histogram import Histogram, bin_shift, histogram_of_bins, histograms
from holdfast.data.keys import needed, require_joinable
from holdfast.data.postgres_table import TableSession, column_type_of
from holdfast.data.sample import (
    BATCH_ROWS,
    Moments,
    complete,
    moments_of_sums,
    prepare,
    reading,
    row_moments,
)
from holdfast.data.sql_engine import from_origin, step_sums, written_rows
from holdfast.data.values import steps_of_frame
from holdfast.errors import HoldfastError
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.postgres_sql import POSTGRES
from holdfast.question.row import RowValue, condition_row
from holdfast.question.sql import quoted_name

if TYPE_CHECKING:
    import polars as pl
    import psycopg

__all__ = ["JoinedRows", "PostgresSample", "kept_name", "open_database_table"]


# What is put beside the rows of a PostgreSQL table, by its key: a temporary table.


_NUMBERS = itertools.count(1)  # of temporary tables
_BLOCK = 1 << 20
_LONGEST_NAME = 63  # bytes: of a longer one PostgreSQL forgets the end


def kept_name(column: str) -> str:
    """What SQL calls a column; one whose name is too long for PostgreSQL, by a hash of it."""
    content = column.encode()
    if len(content) <= _LONGEST_NAME:
        return quoted_name(column)
    return quoted_name(f"long_{blake2b(content, digest_size=16).hexdigest()}")


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """A key and the columns that belong to it; each connection has them in a table of its own."""

    key: str
    alias: str
    types: Mapping[str, str]
    frame: pl.DataFrame

    @classmethod
    def of(cls, key: str, frame: pl.DataFrame) -> JoinedRows:
        """A key and columns of plain types."""
        added = {name: _type(dtype) for name, dtype in frame.schema.items() if name != key}
        return cls(key, f"holdfast_joined_{next(_NUMBERS)}", added, frame)

    @property
    def columns(self) -> frozenset[str]:
        """The names of what is joined."""
        return frozenset(self.types)

    def joined_by(self, key: str) -> str:
        """What follows LEFT JOIN: every row of the table stays once."""
        return f"pg_temp.{self.alias} ON {key} = {self.alias}.{self.alias}"

    def require_on(self, connection: psycopg.Connection[Any]) -> None:
        """Have the table on this connection; one that was made again has lost it."""
        ((there,),) = connection.execute(
            "SELECT to_regclass(%s)", [f"pg_temp.{self.alias}"]
        ).fetchall()
        if there is None:
            with connection.transaction():
                connection.execute("SET TRANSACTION READ WRITE")  # others of the session only read
                self._make(connection)

    def _make(self, connection: psycopg.Connection[Any]) -> None:
        key_type = f'{_type(self.frame.schema[self.key])} COLLATE "C"'
        if self.frame.schema[self.key].is_integer():
            key_type = "int8"
        named = [
            f"{self.alias} {key_type} PRIMARY KEY",
            *(f"{kept_name(name)} {dtype}" for name, dtype in self.types.items()),
        ]
        connection.execute(f"CREATE TEMPORARY TABLE {self.alias} ({', '.join(named)})")
        rows = BytesIO()
        self.frame.select(self.key, *self.types).write_csv(
            rows, include_header=False, quote_style="non_numeric", null_value=""
        )
        with connection.cursor().copy(f"COPY {self.alias} FROM STDIN (FORMAT csv)") as into:
            content = rows.getbuffer()
            for start in range(0, len(content), _BLOCK):
                into.write(content[start : start + _BLOCK])
        connection.execute(f"ANALYZE {self.alias}")


def _type(dtype: pl.DataType) -> str:
    """The database's type for a plain one."""
    if dtype.is_integer():
        return "int8"
    if dtype.is_float():
        return "float8"
    return {"Boolean": "bool", "Date": "date", "Datetime": "timestamp"}.get(
        type(dtype).__name__, "text"
    )


# Beside a value that may change from one call to the next, the planner leaves a select as it is:
# what has a name there is computed once, and for every row. So it does with an OFFSET, but then
# no worker helps to scan the table. This one is the cheapest that is left to workers.
_FENCE = "pg_is_in_recovery()"
_OUTSIDE = -1  # in place of a bin, for rows that a condition leaves out
_ROOM_FOR_BINS = "SET LOCAL work_mem = '32MB'"  # they are at most 2^16, of about 100 bytes each
_FIRST, _LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"


def open_database_table(url: str, table: str | None) -> PostgresSample:
    """A table of a PostgreSQL database; the only one, if none is named."""
    return PostgresSample(TableSession(DatabaseUrl.read("data", url), table))


class PostgresSample:
    """A table of a database, and what was joined to it by its key."""

    def __init__(self, session: TableSession) -> None:
        self._session = session
        self._engine_types = dict(session.types)
        self._types = {name: column_type_of(dtype) for name, dtype in session.types.items()}
        self._beside: tuple[JoinedRows, ...] = ()

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._session.n

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The columns and their types."""
        return self._types

    def require_unchanged(self) -> None:
        """Refuse a table that is gone, or has other columns than at the opening."""
        self._session.require_unchanged()

    def prepare(self, rows: Sequence[RowValue]) -> None:
        """Refuse what PostgreSQL cannot take, or Polars, which computes functions of batches."""
        prepare(self._prepared, rows)
        prepare(partial(steps_of_frame, _frame(b"", self._engine_types)), rows)

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        """Exact sums of grid units."""
        return [total for total, _ in row_moments(self, rows, self._sums)]

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        """Exact sums of grid units and of their squares."""
        return row_moments(self, rows, self._moments)

    def histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        """Exact counts in narrow bins, by the server: a scan for each, in one transaction.

        Where a function of batches is among them, all are counted from batches.
        """
        if not all(isinstance(value.source, Expression) for value, _ in asked):
            return histograms(self, asked)
        with reading(), self._watched() as connection:
            connection.execute(_ROOM_FOR_BINS)
            return [self._binned(connection, *each) for each in asked]

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Batches of the columns; types that Polars may not know come as text."""
        types = {name: self._engine_types[name] for name in columns}
        wanted = ", ".join(["0", *(_projected(name, dtype) for name, dtype in types.items())])
        quoted = [kept_name(name) for name, dtype in types.items() if _is_text(dtype)]
        how = "FORMAT csv" + (f", FORCE_QUOTE ({', '.join(quoted)})" if quoted else "")
        rows = f"SELECT {wanted} FROM {self._from(columns)} WHERE {self._session.is_known}"
        statement = f"COPY ({rows}) TO STDOUT ({how})"
        return complete(self._streamed(statement, types), self.n)

    def _streamed(self, statement: str, types: Mapping[str, str]) -> Iterator[pl.DataFrame]:
        found = 0
        with self._watched() as connection:
            lines: list[bytes] = []
            with connection.cursor().copy(statement) as rows:
                for line in rows:  # each is one row: so says libpq
                    found += 1
                    lines.append(bytes(line))
                    if len(lines) == BATCH_ROWS:
                        yield _frame(b"".join(lines), types)
                        lines.clear()
            self._session.require_count(found)
            if lines:
                yield _frame(b"".join(lines), types)

    def joined(self, key: str, frame: pl.DataFrame) -> PostgresSample:
        """The same rows with more columns, which are joined in every scan that asks for them."""
        require_joinable(self._types, key, frame)
        with reading():
            beside = JoinedRows.of(key, frame)
            beside.require_on(self._session.connection)
        joined = copy.copy(self)
        joined._engine_types = {**self._engine_types, **beside.types}
        joined._types = {
            name: column_type_of(dtype) for name, dtype in joined._engine_types.items()
        }
        joined._beside = (*self._beside, beside)
        return joined

    def _from(self, columns: Sequence[str]) -> str:
        """The table with these columns: what was joined is joined only if it is needed."""
        tables = f"{self._session.name} AS own"
        homes: dict[str, str] = {}
        for beside in needed(self._beside, columns):
            home = homes.get(beside.key, "own")
            key = _key(f"{home}.{kept_name(beside.key)}", self._types[beside.key])
            tables += f" LEFT JOIN {beside.joined_by(key)}"
            homes |= dict.fromkeys(beside.columns, beside.alias)
        return tables

    @contextmanager
    def _watched(self) -> Iterator[Any]:
        """A scan; if it fails because the table is another one, that is what is said."""
        try:
            for beside in self._beside:
                beside.require_on(self._session.connection)
            with self._session.scan() as connection:
                yield connection
        except HoldfastError:
            raise
        except Exception as error:
            if type(error).__module__.startswith("psycopg"):
                self._session.require_unchanged()
                self._session.require_known(error)
            raise

    def _sums(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        wanted = [
            f"count(*) FILTER (WHERE k{place})" if row.is_condition else f"sum(k{place})"
            for place, (row, _) in enumerate(rows)
        ]
        found = self._run(self._stepped(rows, _from_origin), wanted)
        # What every row has in common is taken off afterwards.
        return [
            (total if row.is_condition else total - self.n * row.grid.first, 0)
            for (row, _), total in zip(rows, found, strict=True)
        ]

    def _moments(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        values = [row for row, _ in rows]
        summed = chain.from_iterable(step_sums(values, squares=True))
        steps = self._stepped(rows, _steps, fenced=True)
        found = self._run(steps, [f"sum({each})" for each in summed])
        return moments_of_sums(values, found)

    def _binned(
        self, connection: psycopg.Connection[Any], value: RowValue, where: Expression | None
    ) -> Histogram:
        import numpy as np

        shift, inside = bin_shift(value), "TRUE"
        rows = _with_sources([value])
        if where is not None:
            rows.append((condition_row(where), where))
            inside = "k1 = 1"
        steps = self._stepped(rows, _steps, fenced=True)
        statement = (
            f"SELECT CASE WHEN {inside} THEN (k0 >> {shift})::int ELSE {_OUTSIDE} END AS bin, "
            f"count(*), sum(CASE WHEN {inside} THEN (k0 & {(1 << shift) - 1})::int ELSE 0 END) "
            f"FROM ({steps}) AS steps GROUP BY bin"
        )
        found = connection.execute(statement).fetchall()
        bins = np.array(found, dtype=np.int64).reshape(-1, 3)
        self._session.require_count(int(bins[:, 1].sum()))
        return histogram_of_bins(value, bins[bins[:, 0] != _OUTSIDE])

    def _prepared(self, rows: Sequence[RowValue]) -> None:
        steps = self._stepped(_with_sources(rows), _steps, where="FALSE")
        with self._watched() as connection:
            connection.execute(f"SELECT * FROM ({steps}) AS steps")

    def _run(self, steps: str, aggregates: Sequence[str]) -> list[int]:
        """One scan: aggregates over a select of steps."""
        statement = f"SELECT {', '.join(['count(*)', *aggregates])} FROM ({steps}) AS steps"
        with reading(), self._watched() as connection:
            ((count, *found),) = connection.execute(statement).fetchall()
            self._session.require_count(count)
            return [int(total or 0) for total in found]  # a sum of no rows is NULL

    def _cleaned(self, column: str) -> str:
        """The column as row expressions see it: doubles without NaN, text, naive microseconds.

        The rows are those of the opening, where NaN was looked for.
        """
        name, dtype = kept_name(column), self._engine_types[column]
        match self._types[column]:
            case ColumnType.FLOAT if dtype == "float8" and self._has_no_nan(column):
                return name
            case ColumnType.INTEGER:
                return f"{name}::float8"
            case ColumnType.FLOAT:
                return f"NULLIF({name}::float8, 'NaN'::float8)"
            case ColumnType.TEXT:
                return f'({name}::text COLLATE "C")'
            case ColumnType.DATE | ColumnType.DATETIME:
                return f"CASE WHEN {_in_calendar(name, dtype)} THEN {_naive(name, dtype)} END"
            case _:
                return name

    def _has_no_nan(self, column: str) -> bool:
        return column in self._session.types and column not in self._session.with_nan

    def _stepped(
        self,
        rows: Sequence[tuple[RowValue, Expression]],
        steps_of: Callable[[RowValue, str], str],
        *,
        fenced: bool = False,
        where: str | None = None,
    ) -> str:
        """A select of the steps k0, k1, ... of every row; `fenced` if they are used twice."""
        where = where or self._session.is_known
        written = written_rows([expression for _, expression in rows], POSTGRES)
        cleaned = {name: self._cleaned(column) for column, name in written.names.items()}
        steps = {
            f"k{place}": steps_of(row, code)
            for place, ((row, _), code) in enumerate(zip(rows, written.codes, strict=True))
        }
        plain = set(cleaned.values()) <= {kept_name(column) for column in written.names}
        first = [] if plain or not written.stages else [_FENCE]
        table = f"{_selected(cleaned, *first)} FROM {self._from(list(written.names))} WHERE {where}"
        for stage in written.stages:
            table = f"{_selected(stage, '*', _FENCE)} FROM ({table}) AS stage"
        last = [_FENCE] if fenced else []
        return f"{_selected(steps, *last)} FROM ({table}) AS stages"


def _selected(named: Mapping[str, str], *others: str) -> str:
    """What begins a select: values under their names, and others."""
    return f"SELECT {', '.join([*others, *(f'{code} AS {name}' for name, code in named.items())])}"


def _with_sources(rows: Sequence[RowValue]) -> list[tuple[RowValue, Expression]]:
    """The row values that are expressions."""
    return [(row, row.source) for row in rows if isinstance(row.source, Expression)]


def _key(name: str, key_type: ColumnType) -> str:
    """The key as that of a joined table: a whole number, or text whatever its collation."""
    return f"{name}::bigint" if key_type is ColumnType.INTEGER else f'{name}::text COLLATE "C"'


def _in_calendar(name: str, dtype: str) -> str:
    """Whether a date or time is in the years 1 to 9999; infinite ones are not."""
    zone = "+00" if dtype == "timestamptz" else ""
    last = _LAST[:10] if dtype == "date" else _LAST + zone
    return f"{name} BETWEEN '{_FIRST}{zone}'::{dtype} AND '{last}'::{dtype}"


def _naive(name: str, dtype: str) -> str:
    return f"{name} AT TIME ZONE 'UTC'" if dtype == "timestamptz" else f"{name}::timestamp"


def _steps(row: RowValue, code: str) -> str:
    """The steps of a value above the lowest one; of a condition 1 where it holds."""
    if row.is_condition:
        return f"coalesce(({code})::int, 0)"
    return f"({_from_origin(row, code)} - ({row.grid.first})::bigint)"


def _from_origin(row: RowValue, code: str) -> str:
    """The steps of a value from the grid's origin: an exact product, rounded to even by the cast.

    The product with the reciprocal of a large step would be an error where it underflows: there the
    value is rounded before, as Polars does it, by adding what leaves no bit below a step. A
    condition stays one.
    """
    if row.is_condition:
        return code
    step, shifted = row.grid.step, from_origin(row, code, POSTGRES)
    if step > 1:
        shift = POSTGRES.double(row.grid.shift)
        shifted = f"(({shifted} + {shift}) - {shift})"
    return f"({shifted} * {POSTGRES.double(1 / step)})::bigint"


def _is_text(dtype: str) -> bool:
    return column_type_of(dtype) in (ColumnType.TEXT, ColumnType.OTHER)


def _projected(column: str, dtype: str) -> str:
    """The column in a form that text keeps exactly: dates and times as numbers."""
    name = kept_name(column)
    match column_type_of(dtype):
        case ColumnType.FLOAT:
            code = f"{name}::float8"
        case ColumnType.TEXT | ColumnType.OTHER:
            code = f"{name}::text"
        case ColumnType.BOOLEAN:
            code = f"{name}::int"
        case ColumnType.DATE:
            code = f"CASE WHEN isfinite({name}) THEN {name} - DATE '1970-01-01' END"
        case ColumnType.DATETIME:
            code = (
                f"CASE WHEN {_in_calendar(name, dtype)} "
                f"THEN (extract(epoch FROM {name}) * 1000000)::bigint END"
            )
        case _:
            code = name
    return f"{code} AS {name}"


def _frame(lines: bytes, types: Mapping[str, str]) -> pl.DataFrame:
    """Rows of COPY's CSV as Polars holds them; each begins with a number, so that none is empty."""
    import polars as pl

    stored: dict[ColumnType, Any] = {
        ColumnType.BOOLEAN: pl.Int8,
        ColumnType.INTEGER: pl.Int64,
        ColumnType.FLOAT: pl.Float64,
        ColumnType.DATE: pl.Int32,
        ColumnType.DATETIME: pl.Int64,
    }
    meant: dict[ColumnType, Any] = {
        ColumnType.BOOLEAN: pl.Boolean,
        ColumnType.DATE: pl.Date,
        ColumnType.DATETIME: pl.Datetime("us"),
    }
    kinds = {name: column_type_of(dtype) for name, dtype in types.items()}
    places = {f"column_{place}": kind for place, kind in enumerate(kinds.values())}
    schema = {
        "first": pl.Int8,
        **{name: stored.get(kind, pl.String) for name, kind in places.items()},
    }
    table = pl.read_csv(lines, has_header=False, schema=schema, raise_if_empty=False)
    return table.select(
        pl.col(place).cast(meant.get(kind, schema[place])).alias(name)
        for (place, kind), name in zip(places.items(), kinds, strict=True)
    )
