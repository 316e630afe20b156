"""What is put beside the rows of a DuckDB table, by its key."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.question.expression import ColumnType
from holdfast.question.sql import quoted_name

if TYPE_CHECKING:
    import polars as pl
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["JoinedTable", "Stream"]

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
    def made(cls, connection: DuckDBPyConnection, key: str, frame: pl.DataFrame) -> JoinedTable:
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
