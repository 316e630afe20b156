"""What is put beside the rows of a PostgreSQL table, by its key: a temporary table."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING, Any

from holdfast.question.sql import quoted_name

if TYPE_CHECKING:
    import polars as pl
    import psycopg

__all__ = ["JoinedRows", "kept_name"]

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
