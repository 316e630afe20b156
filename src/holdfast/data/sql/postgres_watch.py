"""A table of a PostgreSQL database that is watched: every scan is of the very rows of the opening.

Each row carries the number of the transaction that wrote it (`xmin`), and an update writes a row
anew. So as long as there are as many rows as at the opening, all in the same tables (`tableoid`)
and written by the transactions that had written those, they are the same rows. That is a condition
of the scan, and an error where it does not hold: a server that returns `xmin` to be counted copies
every row, and takes half as long again. The error is only an alarm. What is told is what is found
by counting afterwards.

What the rows mean may change while no row does: a column is dropped and another gets its name,
names are swapped, a partition is put in the place of another, an enum has other labels, a generated
column another expression. So the definition is looked at, too: of the table, its partitions and
heirs, every column's number, type, collation and value for rows that were written before it. A scan
first locks the table (ACCESS SHARE, as every reader does), then compares, then reads: nobody can
change a definition between the two. Only an enum's labels can change under that lock, and they are
compared again at the end.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.data.database import DatabaseUrl, connected, reason_of
from holdfast.data.sample import check_names
from holdfast.data.sql.language import quoted_name, sql_column_type
from holdfast.errors import DataChanged, HoldfastError, InvalidArgument
from holdfast.question.expression import ColumnType

if TYPE_CHECKING:
    import psycopg

_SETTINGS = {
    # A statement after the lock sees what was committed before the lock was given.
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "on",
    "row_security": "off",  # it would leave rows out without a word
    "statement_timeout": "3600000",  # milliseconds
}
_MOST_SHOWN = 20  # tables
_MOST_WRITERS = 100_000  # transactions that wrote the rows
_TYPES = {
    "bool": ColumnType.BOOLEAN,
    **dict.fromkeys(("int2", "int4", "int8"), ColumnType.INTEGER),
    **dict.fromkeys(("float4", "float8"), ColumnType.FLOAT),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "enum"), ColumnType.TEXT),
    "date": ColumnType.DATE,
    "timestamp": ColumnType.DATETIME,
    "timestamptz": ColumnType.DATETIME,
}
_OTHER_ROWS = "rows were added, removed or changed"
_ALARM = "22P02"  # the error of text that is no number
_WITH_NAN = frozenset({"float4", "float8"})
_KINDS = {"v": "a view", "f": "a foreign table"}
_TABLES = """
    SELECT c.oid, n.nspname, c.relname, c.relkind::text FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f') AND NOT c.relispartition
        AND n.nspname NOT IN ('information_schema', 'holdfast') AND n.nspname NOT LIKE 'pg\\_%%'
"""
_NAMED = f"{_TABLES} AND %(name)s::text IN (c.relname::text, n.nspname || '.' || c.relname)"
# All that says what the rows mean: nothing if the table does not have its name any more.
_DEFINITION = """
    WITH RECURSIVE tree(oid) AS (
        SELECT %(oid)s::oid WHERE %(oid)s::oid = to_regclass(%(name)s)
        UNION SELECT i.inhrelid FROM pg_inherits i JOIN tree ON i.inhparent = tree.oid)
    SELECT c.oid::bigint, c.relkind::text, a.attname::text,
        CASE WHEN t.typtype = 'e' THEN 'enum'
            WHEN t.typtype <> 'b' OR t.typnamespace <> 'pg_catalog'::regnamespace THEN 'other'
            WHEN t.typname = 'numeric' THEN format_type(a.atttypid, a.atttypmod)
            ELSE t.typname::text END,
        a.attnum, a.atttypid::bigint, a.atttypmod, a.attcollation::bigint, a.attmissingval::text,
        CASE WHEN t.typtype = 'e' THEN (SELECT array_agg(e.enumlabel::text ORDER BY e.oid)::text
            FROM pg_enum e WHERE e.enumtypid = t.oid) END,
        CASE WHEN a.attgenerated <> '' THEN (SELECT pg_get_expr(d.adbin, d.adrelid)
            FROM pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum) END
    FROM tree JOIN pg_class c ON c.oid = tree.oid
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_type t ON t.oid = a.atttypid
    ORDER BY c.oid, a.attnum
"""


def column_type_of(dtype: str) -> ColumnType:
    """What questions take a type of the database for."""
    return sql_column_type(dtype, _TYPES)


def _let_go(process: int, connection: psycopg.Connection[Any]) -> None:
    if os.getpid() == process:  # a fork would end the connection of the other
        connection.close()


@dataclass(frozen=True, slots=True)
class _Found:
    """A table as it was found: its number, what SQL calls it, and the definition of its rows."""

    oid: int
    name: str
    definition: tuple[tuple[Any, ...], ...]

    @property
    def types(self) -> dict[str, str]:
        """The columns, and the types that the database has for them."""
        return {
            column: dtype
            for oid, _, column, dtype, *_ in self.definition
            if oid == self.oid and column is not None
        }

    @property
    def tables(self) -> dict[int, str]:
        """The tables that hold rows, itself and its partitions and heirs, and their kinds."""
        return {oid: kind for oid, kind, *_ in self.definition}


class TableSession:
    """A connection to the database of a table, made again when it was lost.

    `types` are the columns with the types that the database has for them; `is_known` is SQL that is
    true of a row that was there at the opening, and an error for any other; `with_nan` are the
    columns in which a NaN is to be turned into NULL.
    """

    def __init__(self, url: DatabaseUrl, table: str | None) -> None:
        self._url = url
        self._asked = table
        self._connection = self._opened()
        try:
            with self._opening_trouble():
                self._found = self._looked_up()
                check_names(list(self._found.types))
                self.types = self._found.types
                self.n, self._known, self.with_nan = self._rows()
        except BaseException:
            self._connection.close()
            raise

    @property
    def name(self) -> str:
        """The table, as SQL names it."""
        return self._found.name

    @property
    def is_known(self) -> str:
        """True of a row of the opening, an error for another; only a CASE is sure not to try it."""
        return f"CASE WHEN {self._known} THEN TRUE ELSE ('row of ' || own.xmin)::int IS NULL END"

    @property
    def connection(self) -> psycopg.Connection[Any]:
        """A connection that works, or did a moment ago."""
        if self._connection.closed:
            self._connection = self._opened()
        return self._connection

    @contextmanager
    def scan(self) -> Iterator[psycopg.Connection[Any]]:
        """One transaction, which only reads, and in which the table means what it meant."""
        connection = self.connection
        with connection.transaction():
            connection.execute(f"SELECT FROM {self.name} LIMIT 0")  # locks it, with its partitions
            self._require_definition()
            yield connection
            if "enum" in self.types.values():
                self._require_definition()

    def require_count(self, count: int) -> None:
        """Refuse what a scan saw, unless it is all the rows of the opening."""
        if count != self.n:
            raise self._changed(_OTHER_ROWS)

    def require_known(self, error: Exception) -> None:
        """Refuse a table with other rows, if a scan ended with the error that they are."""
        if getattr(error, "sqlstate", None) == _ALARM:
            with self._opening_trouble(), self.scan() as connection:
                ((strangers,),) = connection.execute(
                    f"SELECT count(*) FROM {self.name} AS own WHERE NOT ({self._known})"
                ).fetchall()
            if strangers:
                raise self._changed(_OTHER_ROWS)

    def require_unchanged(self) -> None:
        """Refuse a table that is gone, or means something else; its rows are for a scan to see."""
        with self._opening_trouble():
            self._require_definition()

    def _require_definition(self) -> None:
        definition = self._definition_of(self._found.oid, self.name)
        if not definition:
            raise self._changed("it is gone")
        if definition != self._found.definition:
            raise self._changed(
                "a column was added, removed, renamed or given another type or meaning, or a "
                "partition was changed"
            )

    def _changed(self, how: str) -> DataChanged:
        return DataChanged(
            f"the table {self._found.name} of {str(self._url)!r} is not as it was opened: {how}. "
            "Open the ledger again, with the original table."
        )

    def _opened(self) -> psycopg.Connection[Any]:
        with self._opening_trouble():
            connection = connected(self._url, "data", **_SETTINGS)
            ((encoding,),) = connection.execute("SHOW server_encoding").fetchall()
            if encoding != "UTF8":
                connection.close()
                raise InvalidArgument(
                    f"the database {str(self._url)!r} is in the encoding {encoding}; tables are "
                    "read from databases in UTF8."
                )
            # A session that nobody holds any more lets go of its connection by itself, and quietly.
            weakref.finalize(self, _let_go, os.getpid(), connection)
            return connection

    @contextmanager
    def _opening_trouble(self) -> Iterator[None]:
        try:
            yield
        except HoldfastError:
            raise
        except Exception as error:
            if not type(error).__module__.startswith("psycopg"):
                raise
            raise InvalidArgument(
                f"the database {str(self._url)!r} cannot be read ({reason_of(error, self._url)}); "
                "check that its server runs, can be reached and lets this user read the table."
            ) from None

    def _looked_up(self) -> _Found:
        named = _TABLES if self._asked is None else _NAMED
        rows = self._connection.execute(named, {"name": self._asked}).fetchall()
        if len(rows) != 1:
            raise self._no_single_table(rows)
        ((oid, schema, name, kind),) = rows
        if kind in _KINDS:
            raise InvalidArgument(
                f"the table {schema}.{name} is {_KINDS[kind]}: what it gives may differ from one "
                "reading to the next. Save it as a table or a materialized view, and open that."
            )
        full_name = f"{quoted_name(schema)}.{quoted_name(name)}"
        watched = _Found(oid, full_name, self._definition_of(oid, full_name))
        foreign = sum(each == "f" for each in watched.tables.values())
        if foreign:
            raise InvalidArgument(
                f"the table {schema}.{name} has {foreign:,} foreign tables as partitions: what "
                "they give may differ from one reading to the next. Copy it (CREATE TABLE ... AS "
                "SELECT), and open the copy."
            )
        return watched

    def _no_single_table(self, rows: list[tuple[Any, ...]]) -> InvalidArgument:
        listed = rows or self._connection.execute(_TABLES, {}).fetchall()
        names = sorted(f"{schema}.{name}" for _, schema, name, _ in listed)
        examples = ", ".join(map(repr, names[:_MOST_SHOWN])) or "no tables"
        more = f" and {len(names) - _MOST_SHOWN:,} more" if len(names) > _MOST_SHOWN else ""
        if rows and self._asked is not None:
            return InvalidArgument(
                f"table is {self._asked!r}, and {len(rows):,} schemas of the database "
                f"{str(self._url)!r} have one: {examples}{more}. Give it with its schema."
            )
        return InvalidArgument(
            f"table is {self._asked!r}; the database {str(self._url)!r} holds {examples}{more}. "
            "Give one that it holds, and that this user may see, as table."
        )

    def _definition_of(self, oid: int, name: str) -> tuple[tuple[Any, ...], ...]:
        """What says what the rows of a table mean; nothing if it does not have this name."""
        parameters = {"oid": oid, "name": name}
        return tuple(map(tuple, self.connection.execute(_DEFINITION, parameters).fetchall()))

    def _rows(self) -> tuple[int, str, frozenset[str]]:
        floats = [name for name, each in self.types.items() if each in _WITH_NAN]
        wanted = [f"bool_or({quoted_name(name)} = 'NaN')" for name in floats]
        with self.scan() as connection:
            rows = connection.execute(
                f"SELECT {', '.join(['xmin::text', 'count(*)', *wanted])} FROM {self.name} "
                "GROUP BY xmin"
            ).fetchall()
        if len(rows) > _MOST_WRITERS:
            raise InvalidArgument(
                f"the rows of {self.name} were written by {len(rows):,} transactions, of which at "
                f"most {_MOST_WRITERS:,} can be watched; copy the table (CREATE TABLE ... AS "
                "SELECT), and open the copy."
            )
        writers, counts, *nans = zip(*rows, strict=True) if rows else ((), ())
        condition = f"own.xmin = {_one_of(writers, 'xid')}"
        if len(self._found.tables) > 1:
            condition += f" AND own.tableoid = {_one_of(self._found.tables, 'oid')}"
        with_nan = {name for name, flags in zip(floats, nans, strict=False) if any(flags)}
        return sum(counts), condition, frozenset(with_nan)


def _one_of(numbers: Collection[object], dtype: str) -> str:
    """What follows an equals sign; a single number is compared faster than an array of one."""
    listed = ",".join(map(str, numbers))
    return f"'{listed}'::{dtype}" if len(numbers) == 1 else f"ANY('{{{listed}}}'::{dtype}[])"
