"""A table of a PostgreSQL database that is watched: every scan is of the very rows of the opening.

Each row carries the number of the transaction that wrote it (`xmin`), and an update writes a row
anew. So as long as there are as many rows as at the opening, all written by the transactions that
had written those, they are the same rows. That is looked at in the same transaction as the scan.
What they mean may change without them: an enum's labels, what a generated column computes. Both are
looked at with the columns' types.

It is a condition of the scan, and an error where it does not hold: a server that returns `xmin` to
be counted copies every row, and takes half as long again. The error is only an alarm. What is told
is what is found by counting afterwards.
"""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.data.database import DatabaseUrl, connected, reason_of
from holdfast.data.sample import check_names
from holdfast.errors import DataChanged, HoldfastError, InvalidArgument
from holdfast.question.expression import ColumnType
from holdfast.question.sql import quoted_name

if TYPE_CHECKING:
    import psycopg

__all__ = ["TableSession", "column_type_of"]

_SETTINGS = {
    "default_transaction_isolation": "repeatable read",
    "default_transaction_read_only": "on",
    "row_security": "off",  # it would leave rows out without a word
    "statement_timeout": "3600000",  # milliseconds
}
_EXACT_DIGITS = 15  # as in holdfast.data.plain: such decimals are one exact division
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
_DECIMAL = re.compile(r"numeric\((\d+),\d+\)")
_KINDS = {"v": "a view", "f": "a foreign table"}
_TABLES = """
    SELECT c.oid, n.nspname, c.relname, c.relkind::text FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f') AND NOT c.relispartition
        AND n.nspname NOT IN ('information_schema', 'holdfast') AND n.nspname NOT LIKE 'pg\\_%%'
"""
_NAMED = f"""{_TABLES} AND (n.nspname || '.' || c.relname = %(name)s
    OR (c.relname = %(name)s AND pg_table_is_visible(c.oid)))"""
_COLUMNS = """
    SELECT a.attname::text, CASE WHEN t.typtype = 'e' THEN 'enum' WHEN t.typtype <> 'b' THEN 'other'
        WHEN t.typname = 'numeric' THEN format_type(a.atttypid, a.atttypmod)
        ELSE t.typname::text END,
        CASE WHEN t.typtype = 'e' THEN (SELECT string_agg(e.enumlabel, ' ' ORDER BY e.oid)
            FROM pg_enum e WHERE e.enumtypid = t.oid) END,
        CASE WHEN a.attgenerated <> '' THEN (SELECT pg_get_expr(d.adbin, d.adrelid)
            FROM pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum) END
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = %s {} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


def column_type_of(dtype: str) -> ColumnType:
    """What questions take a type of the database for."""
    decimal = _DECIMAL.fullmatch(dtype)
    if decimal:
        return ColumnType.FLOAT if int(decimal[1]) <= _EXACT_DIGITS else ColumnType.OTHER
    return _TYPES.get(dtype, ColumnType.OTHER)


def _let_go(process: int, connection: psycopg.Connection[Any]) -> None:
    if os.getpid() == process:  # a fork would end the connection of the other
        connection.close()


@dataclass(frozen=True, slots=True)
class _Found:
    """A table as it was found: its number, what SQL calls it, and its columns.

    Of each its type, the labels of an enum, and what a generated one computes.
    """

    oid: int
    name: str
    columns: Mapping[str, tuple[str, ...]]


class TableSession:
    """A connection to the database of a table, made again when it was lost.

    `is_known` is SQL that is true of a row that was there at the opening, and an error for any
    other; `with_nan` are the columns in which a NaN is to be turned into NULL.
    """

    def __init__(self, url: DatabaseUrl, table: str | None) -> None:
        self._url = url
        self._asked = table
        self._connection = self._opened()
        try:
            with self._opening_trouble():
                self._found = self._looked_up()
                check_names(list(self._found.columns))
                self.n, self._known, self.with_nan = self._rows()
        except BaseException:
            self._connection.close()
            raise

    @property
    def name(self) -> str:
        """The table, as SQL names it."""
        return self._found.name

    @property
    def types(self) -> Mapping[str, str]:
        """The columns, and the types that the database has for them."""
        return {name: dtype for name, (dtype, *_) in self._found.columns.items()}

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
        """One transaction; as all of the session it only reads, and sees one moment."""
        connection = self.connection
        with connection.transaction():
            yield connection

    def require_count(self, known: int) -> None:
        """Refuse what a scan saw, unless it is all the rows of the opening."""
        if known != self.n:
            raise self._changed(_OTHER_ROWS)

    def require_known(self, error: Exception) -> None:
        """Refuse a table with other rows, if a scan ended with the error that they are."""
        if getattr(error, "sqlstate", None) == _ALARM:
            with self._opening_trouble(), self.scan() as connection:
                ((others,),) = connection.execute(
                    f"SELECT count(*) FROM {self.name} AS own WHERE NOT {self._known}"
                ).fetchall()
            if others:
                raise self._changed(_OTHER_ROWS)

    def require_unchanged(self) -> None:
        """Refuse a table that is gone, or has other columns; its rows are for a scan to see."""
        with self._opening_trouble():
            found = self._same_place()
        if found is None:
            raise self._changed("it is gone")
        if found != self._found.columns:
            raise self._changed(
                "a column was added, removed, renamed or given another type or meaning"
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
        found = self._connection.execute(named, {"name": self._asked}).fetchall()
        if len(found) != 1:
            listed = found or self._connection.execute(_TABLES, {}).fetchall()
            names = sorted(f"{schema}.{name}" for _, schema, name, _ in listed)
            shown = ", ".join(map(repr, names[:_MOST_SHOWN])) or "no tables"
            more = f" and {len(names) - _MOST_SHOWN:,} more" if len(names) > _MOST_SHOWN else ""
            raise InvalidArgument(
                f"table is {self._asked!r}; the database {str(self._url)!r} holds {shown}{more}. "
                "Give one that it holds, and that this user may see, as table."
            )
        ((oid, schema, name, kind),) = found
        if kind in _KINDS:
            raise InvalidArgument(
                f"the table {schema}.{name} is {_KINDS[kind]}: what it gives may differ from one "
                "reading to the next. Save it as a table or a materialized view, and open that."
            )
        return _Found(oid, f"{quoted_name(schema)}.{quoted_name(name)}", self._columns_of(oid))

    def _same_place(self) -> dict[str, tuple[str, ...]] | None:
        """The columns of the table of this number, if it still has this name."""
        return self._columns_of(self._found.oid, self.name) or None

    def _columns_of(self, oid: int, name: str | None = None) -> dict[str, tuple[str, ...]]:
        """Those of the table of this number; none, if it does not have the name that is given."""
        here = "" if name is None else "AND a.attrelid = to_regclass(%s)::oid"
        given = [oid] if name is None else [oid, name]
        found = self.connection.execute(_COLUMNS.format(here), given).fetchall()
        return {column: tuple(facts) for column, *facts in found}

    def _rows(self) -> tuple[int, str, frozenset[str]]:
        floats = [name for name, each in self.types.items() if each in _WITH_NAN]
        wanted = [f"bool_or({quoted_name(name)} = 'NaN')" for name in floats]
        found = self._connection.execute(
            f"SELECT {', '.join(['xmin::text', 'count(*)', *wanted])} FROM {self.name} "
            "GROUP BY xmin"
        ).fetchall()
        if len(found) > _MOST_WRITERS:
            raise InvalidArgument(
                f"the rows of {self.name} were written by {len(found):,} transactions, of which at "
                f"most {_MOST_WRITERS:,} can be watched; copy the table (CREATE TABLE ... AS "
                "SELECT), and open the copy."
            )
        writers, counts, *nans = zip(*found, strict=True) if found else ((), ())
        several = f"ANY('{{{','.join(writers)}}}'::xid[])"
        known = f"'{writers[0]}'::xid" if len(writers) == 1 else several
        held = {name for name, seen in zip(floats, nans, strict=False) if any(seen)}
        return sum(counts), f"own.xmin = {known}", frozenset(held)
