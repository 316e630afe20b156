"""The PostgreSQL engine: its dialect, and a table of a database, with columns beside it.

**Arithmetic that cannot fail.** PostgreSQL raises an error where IEEE arithmetic gives an infinity
or 0: when a result is too large or too small for a double. So each operation looks at its operands
first, in numbers that are scaled by powers of two, exactly, and says infinity or 0 itself. What it
says is what other engines compute to the last bit; the tests compare them where it matters, at both
ends of the doubles. For a product of two small numbers that means: 0, if the product is at most
2^-1075, half of the smallest double. The product of the scaled factors is compared with 1; if it
was rounded to 1 the sign of its rounding error decides, which Dekker's algorithm gives exactly.

**Scans.** One transaction for each scan, which only reads. Sums and bins are computed by the
server, and by as many of its processes as it likes; bins are counted by it where tables are large,
and else here. Rows, where they are needed, are streamed by COPY: that takes a fraction of the time
of a cursor and as little memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.data.database import DatabaseUrl
from holdfast.data.histogram import (
    Histogram,
    bin_count,
    bin_shift,
    histogram_of,
    histogram_of_bins,
)
from holdfast.data.sample import BATCH_ROWS, needed, reading, sources
from holdfast.data.sql.language import Dialect, quoted_name, quoted_text
from holdfast.data.sql.postgres_watch import TableSession, column_type_of
from holdfast.data.sql.sql_sample import Selection, SqlSample
from holdfast.errors import HoldfastError
from holdfast.question.expression import ColumnType, Expression, Op, ValueKind
from holdfast.question.row import RowValue, condition_row

if TYPE_CHECKING:
    import polars as pl
    import psycopg


def _float8(value: float) -> str:
    return f"'{value!r}'::float8"


def _text(value: str) -> str:
    return f'({quoted_text(value)}::text COLLATE "C")'


def _power(exponent: int) -> str:
    return _float8(2.0**exponent)


_INFINITY = _float8(float("inf"))
_HUGE, _LARGE = _power(1023), _power(960)


def _signed_infinity(positive: str) -> str:
    return f"CASE WHEN {positive} THEN {_INFINITY} ELSE -{_INFINITY} END"


def _finite(a: str, b: str) -> str:
    """Whether both are numbers: NaN is above infinity here, and NULL neither."""
    return f"(abs({a}) < {_INFINITY} AND abs({b}) < {_INFINITY})"


def _sum(op: Op, args: list[str]) -> str:
    (a, b), sign = args, op.value
    plain, half = f"({a} {sign} {b})", _power(-1)
    return (
        f"(CASE WHEN abs({a}) < {_HUGE} AND abs({b}) < {_HUGE} THEN {plain} "
        f"WHEN NOT {_finite(a, b)} OR abs({a}) < {_LARGE} OR abs({b}) < {_LARGE} THEN {plain} "
        f"WHEN abs({a} * {half} {sign} {b} * {half}) >= {_HUGE} "
        f"THEN {_signed_infinity(f'{a} > 0')} ELSE {plain} END)"
    )


def _product(_op: Op, args: list[str]) -> str:
    a, b = args
    plain, down = f"({a} * {b})", _power(-512)
    least, most = f"least(abs({a}), abs({b}))", f"greatest(abs({a}), abs({b}))"
    x, y = f"({least} * {_power(600)})", f"({most} * {_power(475)})"
    small = (
        f"CASE WHEN {least} >= {_power(-530)} THEN {plain} "
        f"WHEN {x} * {y} > 1 THEN {plain} WHEN {x} * {y} < 1 THEN {_float8(0.0)} "
        f"WHEN {_is_above_one(x, y)} THEN {plain} ELSE {_float8(0.0)} END"
    )
    large = (
        f"CASE WHEN abs(({a} * {down}) * ({b} * {down})) >= 1 "
        f"THEN {_signed_infinity(f'({a} > 0) = ({b} > 0)')} ELSE {plain} END"
    )
    return (
        f"(CASE WHEN NOT {_finite(a, b)} OR {a} = 0 OR {b} = 0 THEN {plain} "
        f"WHEN abs({a}) >= 1 AND abs({b}) >= 1 THEN {large} "
        f"WHEN abs({a}) < 1 AND abs({b}) < 1 THEN {small} ELSE {plain} END)"
    )


def _is_above_one(x: str, y: str) -> str:
    """Whether a product that was rounded to 1 is more than 1."""
    (xh, xl), (yh, yl) = map(_halves, (x, y))
    return f"((({xh} * {yh} - 1) + {xh} * {yl} + {xl} * {yh}) + {xl} * {yl} > 0)"


def _halves(x: str) -> tuple[str, str]:
    """A number as the sum of two of half as many bits each.

    Written out: in a sub-select they would have names, but no worker of the server computes one.
    """
    split = f"{x} * {_float8(2.0**27 + 1)}"
    high = f"({split} - ({split} - {x}))"
    return high, f"({x} - {high})"


def _quotient(_op: Op, args: list[str]) -> str:
    a, b = args
    plain = f"({a} / {b})"
    # Where it is looked at, a is above 2^-74. A smaller constant would be an error all the same:
    # what has no column in it is computed when the query is planned, in every branch.
    scaled = f"(greatest(abs({a}), {_power(-80)}) * {_power(-540)}) / ({b} * {_power(540)})"
    large = (
        f"CASE WHEN abs({a}) > abs({b}) * {_power(1000)} THEN "
        f"CASE WHEN abs({scaled}) >= {_power(-56)} "
        f"THEN {_signed_infinity(f'({a} > 0) = ({b} > 0)')} ELSE {plain} END ELSE {plain} END"
    )
    small = (
        f"CASE WHEN (abs({a}) * {_power(537)}) * {_power(537)} <= abs({b}) * {_power(-1)} "
        f"THEN {_float8(0.0)} ELSE {plain} END"
    )
    return (
        f"(CASE WHEN NOT {_finite(a, b)} OR {a} = 0 THEN {plain} WHEN abs({b}) < 1 THEN {large} "
        f"WHEN abs({a}) < {_power(-51)} THEN {small} ELSE {plain} END)"
    )


POSTGRES = Dialect(
    types={
        ValueKind.BOOLEAN: "boolean",
        ValueKind.NUMBER: "float8",
        ValueKind.TEXT: "text",
        ValueKind.MOMENT: "timestamp",
    },
    text=_text,
    like=lambda value, pattern: f"({value} LIKE {_text(pattern)} ESCAPE '')",  # \\ is a backslash
    without_nan=lambda value: f"NULLIF({value}, {_float8(float('nan'))})",  # it equals itself
    weekday="isodow",
    spelling={
        **dict.fromkeys((Op.ADD, Op.SUBTRACT), _sum),
        Op.MULTIPLY: _product,
        Op.DIVIDE: _quotient,
        Op.INDICATOR: lambda _op, args: f"({args[0]})::int::float8",
    },
    # Those of arithmetic, which are looked at; and of AND and OR, which stop at the first that
    # decides: the time it saves would tell about the rows.
    named_operands=frozenset({Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.AND, Op.OR}),
    whole=lambda value: f"({value})::bigint",
    counted=lambda condition: f"sum(({condition})::int)",  # sooner than to count, with a filter
    wide_sums=True,
)


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
MOST_SENT = 1 << 24  # rows whose steps are sent one by one: 64 MB
_MIDDLE = 1 << 31  # of the 2^32 steps, which are sent as signed numbers of four bytes
_ROOM_FOR_BINS = "SET LOCAL work_mem = '32MB'"  # they are at most 2^16, of about 100 bytes each
_FIRST, _LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"


def open_database_table(url: str, table: str | None) -> PostgresSample:
    """A table of a PostgreSQL database; the only one, if none is named."""
    return PostgresSample(TableSession(DatabaseUrl.read("data", url), table))


class PostgresSample(SqlSample):
    """A table of a database, and what was joined to it by its key."""

    dialect = POSTGRES

    def __init__(self, session: TableSession) -> None:
        super().__init__({name: column_type_of(dtype) for name, dtype in session.types.items()})
        self._session = session
        self._accepted = None  # what has no column in it is computed when a query is planned
        self._engine_types = dict(session.types)
        self._beside: tuple[JoinedRows, ...] = ()

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._session.n

    def require_unchanged(self) -> None:
        """Refuse a table that is gone, or has other columns than at the opening."""
        self._session.require_unchanged()

    def _histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        """Counts in bins: a scan for each, in one transaction."""
        with reading(), self._watched() as connection:
            connection.execute(_ROOM_FOR_BINS)
            return [self._binned(connection, *each) for each in asked]

    def _batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        types = {name: self._engine_types[name] for name in columns}
        wanted = ", ".join(["0", *(_projected(name, dtype) for name, dtype in types.items())])
        quoted = [kept_name(name) for name, dtype in types.items() if _is_text(dtype)]
        how = "FORMAT csv" + (f", FORCE_QUOTE ({', '.join(quoted)})" if quoted else "")
        rows = f"SELECT {wanted} FROM {self._from(columns)} WHERE {self._session.is_known}"
        count = 0
        with self._watched() as connection:
            lines: list[bytes] = []
            with connection.cursor().copy(f"COPY ({rows}) TO STDOUT ({how})") as copied:
                for line in copied:  # each is one row: so says libpq
                    count += 1
                    lines.append(bytes(line))
                    if len(lines) == BATCH_ROWS:
                        yield _frame(b"".join(lines), types)
                        lines.clear()
            self._session.require_count(count)
            if lines:
                yield _frame(b"".join(lines), types)

    def _join(self, key: str, frame: pl.DataFrame) -> Mapping[str, ColumnType]:
        beside = JoinedRows.of(key, frame)
        beside.require_on(self._session.connection)
        self._engine_types = {**self._engine_types, **beside.types}
        self._beside = (*self._beside, beside)
        return {name: column_type_of(dtype) for name, dtype in beside.types.items()}

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
        """A scan, in a transaction of its own in which the table means what it meant."""
        with self._with_joined(), self._session.scan() as connection:
            yield connection

    @contextmanager
    def _with_joined(self) -> Iterator[None]:
        """What was joined is there; what fails because the table is another one says so."""
        try:
            for beside in self._beside:
                beside.require_on(self._session.connection)
            yield
        except HoldfastError:
            raise
        except Exception as error:
            if type(error).__module__.startswith("psycopg"):
                self._session.require_unchanged()
                self._session.require_known(error)
            raise

    def _aggregated(self, selection: Selection, aggregates: Sequence[str]) -> list[int]:
        select = self._select(selection, self._session.is_known)
        statement = f"SELECT {', '.join(['count(*)', *aggregates])} FROM ({select}) AS steps"
        with reading(), self._watched() as connection:
            ((count, *totals),) = connection.execute(statement).fetchall()
            self._session.require_count(count)
            return [int(total or 0) for total in totals]  # a sum of no rows is NULL

    def _try(self, selection: Selection) -> None:
        with self._with_joined():
            self._session.connection.execute(self._select(selection, "FALSE"))

    def _binned(
        self, connection: psycopg.Connection[Any], value: RowValue, where: Expression | None
    ) -> Histogram:
        shift, inside = bin_shift(value), None if where is None else "k1"
        rows = [value, *([] if where is None else [condition_row(where)])]
        sent = self.n <= MOST_SENT
        # What is sent is mentioned once; beside a condition it is to be computed for every row.
        reused = not sent or where is not None
        selection = self._steps(sources(rows), from_low=not sent, reused=reused)
        select = self._select(selection, self._session.is_known)
        steps = "coalesce(k0::int, 0)" if value.is_condition else "k0"
        if sent:
            return self._counted_here(connection, value, steps, inside, select)
        counted, remainder = f"({steps} >> {shift})::int", f"({steps} & {(1 << shift) - 1})::int"
        if inside is not None:
            counted = f"CASE WHEN {inside} THEN {counted} ELSE {_OUTSIDE} END"
            remainder = f"CASE WHEN {inside} THEN {remainder} ELSE 0 END"
        statement = (
            f"SELECT {counted} AS bin, count(*), sum({remainder}) FROM ({select}) AS steps "
            "GROUP BY bin"
        )
        lines = connection.execute(statement).fetchall()
        bins = np.array(lines, dtype=np.int64).reshape(-1, 3)
        self._session.require_count(int(bins[:, 1].sum()))
        return histogram_of_bins(value, bins[bins[:, 0] != _OUTSIDE])

    def _counted_here(
        self,
        connection: psycopg.Connection[Any],
        value: RowValue,
        steps: str,
        inside: str | None,
        select: str,
    ) -> Histogram:
        """The steps of all rows as bytes: to group by bins takes a server twice as long.

        Without a condition they say themselves how many rows there are.
        """
        sent = f"int4send(({steps} - ({value.grid.first + _MIDDLE}))::int)"
        wanted = f"string_agg({sent}, NULL)"
        if inside is not None:
            wanted = f"string_agg(CASE WHEN {inside} THEN {sent} END, NULL), count(*)"
        statement = f"SELECT {wanted} FROM ({select}) AS steps"
        ((found, *rows),) = connection.execute(statement, binary=True).fetchall()
        content = found or b""
        self._session.require_count(rows[0] if rows else len(content) // 4)
        total, counts = 0, np.zeros(bin_count(value), np.int64)
        for start in range(0, len(content), 4 * BATCH_ROWS):
            batch = np.frombuffer(content[start : start + 4 * BATCH_ROWS], ">i4").astype(np.int64)
            batch += _MIDDLE
            total += int(batch.sum())
            np.add.at(counts, batch >> bin_shift(value), 1)
        return histogram_of(value, counts, total)

    def _cleaned(self, column: str) -> str:
        """The column as row expressions see it.

        The rows are those of the opening, where NaN was looked for.
        """
        name, dtype = kept_name(column), self._engine_types[column]
        match self._types[column]:
            case ColumnType.FLOAT if dtype == "float8" and self._has_no_nan(column):
                return name
            case ColumnType.INTEGER:
                return f"{name}::float8"
            case ColumnType.FLOAT:
                return POSTGRES.without_nan(f"{name}::float8")
            case ColumnType.TEXT:
                return f'({name}::text COLLATE "C")'
            case ColumnType.DATE | ColumnType.DATETIME:
                return f"CASE WHEN {_in_calendar(name, dtype)} THEN {_naive(name, dtype)} END"
            case _:
                return name

    def _has_no_nan(self, column: str) -> bool:
        return column in self._session.types and column not in self._session.with_nan

    def _select(self, selection: Selection, where: str) -> str:
        """Selects over the table, one inside the other; each is fenced whose values are reused."""
        plain = set(selection.cleaned.values()) <= {kept_name(each) for each in selection.columns}
        first = [] if plain or not selection.stages else [_FENCE]
        source = self._from(selection.columns)
        table = f"{_selected(selection.cleaned, *first)} FROM {source} WHERE {where}"
        for stage in selection.stages:
            table = f"{_selected(stage, '*', _FENCE)} FROM ({table}) AS stage"
        last = [_FENCE] if selection.reused else []
        return f"{_selected(selection.results, *last)} FROM ({table}) AS stages"


def _selected(named: Mapping[str, str], *first: str) -> str:
    """What begins a select: values under their names, and others."""
    return f"SELECT {', '.join([*first, *(f'{code} AS {name}' for name, code in named.items())])}"


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
    dtypes: dict[ColumnType, Any] = {
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
        pl.col(place).cast(dtypes.get(kind, schema[place])).alias(name)
        for (place, kind), name in zip(places.items(), kinds, strict=True)
    )
