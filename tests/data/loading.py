"""A Polars frame as a table of the test server."""

from __future__ import annotations

import uuid
from contextlib import closing
from io import BytesIO
from typing import Any

import polars as pl

from holdfast.data.sql.language import quoted_name
from holdfast.data.sql.postgres import PostgresSample, open_database_table
from tests.postgres import server

_TYPES: dict[Any, str] = {
    pl.Boolean: "boolean",
    pl.Int8: "smallint",
    pl.UInt8: "smallint",
    pl.Int16: "smallint",
    pl.Int32: "integer",
    pl.Int64: "bigint",
    pl.UInt32: "bigint",
    pl.Float32: "real",
    pl.Float64: "double precision",
    pl.Date: "date",
}


def type_of(dtype: pl.DataType) -> str:
    """The type that a column of Polars has in PostgreSQL."""
    match dtype:
        case pl.Decimal(precision=precision, scale=scale):
            return f"numeric({precision},{scale})"
        case pl.Datetime(time_zone=zone):
            return "timestamp" if zone is None else "timestamptz"
        case _:
            return _TYPES.get(type(dtype), 'text COLLATE "C"')


def loaded(frame: pl.DataFrame, database: str = "postgres") -> str:
    """The name of a new table with the frame's rows."""
    table = f"t_{uuid.uuid4().hex}"
    columns = ", ".join(
        f"{quoted_name(each)} {type_of(dtype)}" for each, dtype in frame.schema.items()
    )
    rows = BytesIO()
    # Of times only microseconds are kept, rounded down, as questions see them.
    times = [
        pl.col(each).dt.replace_time_zone(None).dt.cast_time_unit("us")
        if dtype.time_zone is None
        else pl.col(each).dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        for each, dtype in frame.schema.items()
        if isinstance(dtype, pl.Datetime)
    ]
    frame.with_columns(times).write_csv(
        rows,
        include_header=False,
        quote_style="non_numeric",
        datetime_format="%Y-%m-%d %H:%M:%S%.6f",
    )
    with closing(server().connected(database)) as connection:
        connection.execute("SET timezone = 'UTC'")
        connection.execute(f"CREATE UNLOGGED TABLE public.{quoted_name(table)} ({columns})")
        copy = f"COPY public.{quoted_name(table)} FROM STDIN (FORMAT csv)"
        with connection.cursor().copy(copy) as into:
            into.write(rows.getvalue())
    return f"public.{table}"


def database_of(frame: pl.DataFrame) -> str:
    """The address of a database that holds the frame, and no other table."""
    name = f"own_{uuid.uuid4().hex}"
    with closing(server().connected()) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    loaded(frame, database=name)
    return server().url(name)


def postgres_sample(frame: pl.DataFrame) -> PostgresSample:
    """The frame as the PostgreSQL engine reads it."""
    return open_database_table(server().url(), loaded(frame))
