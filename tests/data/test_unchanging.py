"""A sample is the table as it was when it was opened, whatever happens to that afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from holdfast.data.fingerprint import fingerprint
from holdfast.data.polars import owned
from holdfast.data.sample import Sample
from holdfast.data.source import KnownTable, file_stamps, open_sample
from holdfast.errors import DataChanged, HoldfastError, InvalidArgument
from holdfast.question import GRID, Schema, parse_row, row_value

ROWS = 50


def count(sample: Sample, condition: str) -> int:
    """How many rows are like that."""
    (total,) = sample.sums([row_value(parse_row(condition, Schema(sample.types)))])
    return total // GRID


# In memory ----------------------------------------------------------------------------------------


def numpy_array() -> tuple[Any, Callable[[], None]]:
    values = np.ones(ROWS)
    return pl.DataFrame({"x": values}), lambda: values.fill(0.0)


def numpy_with_nulls() -> tuple[Any, Callable[[], None]]:
    values = np.ones(ROWS)
    frame = pl.DataFrame({"x": values, "k": range(ROWS)})
    return frame.with_columns(y=pl.when(pl.col("k") > 3).then("x")), lambda: values.fill(0.0)


def lazy_numpy() -> tuple[Any, Callable[[], None]]:
    values = np.ones(ROWS)
    return pl.DataFrame({"x": values}).lazy(), lambda: values.fill(0.0)


def pandas_frame() -> tuple[Any, Callable[[], None]]:
    frame = pd.DataFrame({"x": np.ones(ROWS)}, copy=False)

    def change() -> None:
        frame.loc[:, "x"] = 0.0

    return frame, change


def pandas_values() -> tuple[Any, Callable[[], None]]:
    values = np.ones((ROWS, 1))
    return pd.DataFrame(values, columns=["x"], copy=False), lambda: values.fill(0.0)


def arrow_buffer() -> tuple[Any, Callable[[], None]]:
    values = np.ones(ROWS)
    column = pa.Array.from_buffers(pa.float64(), ROWS, [None, pa.py_buffer(values)])
    return pa.table({"x": column}), lambda: values.fill(0.0)


def duckdb_table() -> tuple[Any, Callable[[], None]]:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT 1.0::DOUBLE AS x FROM range({ROWS})")
    return connection.table("t"), lambda: void(connection.execute("UPDATE t SET x = 0"))


def duckdb_table_removed() -> tuple[Any, Callable[[], None]]:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT 1.0::DOUBLE AS x FROM range({ROWS})")
    return connection.table("t"), lambda: void(connection.execute("DROP TABLE t"))


def void(_: object) -> None:
    """What changes something says nothing."""


SHARED = [
    numpy_array,
    numpy_with_nulls,
    lazy_numpy,
    pandas_frame,
    pandas_values,
    arrow_buffer,
    duckdb_table,
    duckdb_table_removed,
]


@pytest.mark.parametrize("make", SHARED, ids=lambda make: make.__name__)
def test_a_table_in_memory_is_a_copy(make: Callable[[], tuple[Any, Callable[[], None]]]) -> None:
    data, change = make()
    sample = open_sample(data)
    before = fingerprint(sample)
    change()
    assert count(sample, "x = 1") == ROWS
    assert fingerprint(sample) == before


def test_long_texts_are_copied_too() -> None:
    text = bytearray(b"a text that is too long to be kept in place" * 2)
    ends = np.array([0, len(text) // 2, len(text)], dtype=np.int64)
    column = pa.LargeStringArray.from_buffers(2, pa.py_buffer(ends), pa.py_buffer(text))
    frame = pl.DataFrame(pa.table({"s": column}))
    kept = owned(frame)
    text[:] = b"b" * len(text)
    assert kept["s"].to_list() == ["a text that is too long to be kept in place"] * 2


def test_a_copy_is_the_same_table() -> None:
    frame = pl.DataFrame(
        {
            "text": ["a", None, "é" * 20],
            "none": [None, None, None],
            "day": [date(2020, 1, 1), None, date(2021, 1, 1)],
            "list": [[1, 2], None, []],
            "struct": [{"a": 1}, {"a": None}, None],
            "bytes": [b"x", None, b"y" * 20],
            "category": pl.Series(["a", None, "b"], dtype=pl.Categorical),
            "enum": pl.Series(["a", None, "b"], dtype=pl.Enum(["a", "b"])),
            "decimal": pl.Series(["1.25", None, "3"]).cast(pl.Decimal(10, 2)),
            "flag": [True, None, False],
            "small": pl.Series([1, 2, 3], dtype=pl.Int8),
            "large": pl.Series([1, 2, 3], dtype=pl.Int128),
            "whole": pl.Series([1, 2, 2**64 - 1], dtype=pl.UInt64),
            "number": pl.Series([1.5, float("nan"), None], dtype=pl.Float32),
        }
    )
    for table in (frame, frame.head(1), frame.clear(), pl.concat([frame, frame], rechunk=False)):
        assert owned(table).equals(table)
        assert owned(table).schema == table.schema


# DuckDB -------------------------------------------------------------------------------------------

EVERY_TYPE = """
    SELECT i::INT AS k, i * 1.5::DOUBLE AS x, 'a' || i AS s, i % 2 = 0 AS flag,
           DATE '2020-01-01' + i::INT AS day, TIMESTAMP_S '2020-01-01' AS seconds,
           TIMESTAMP_NS '2020-01-01 00:00:00.123456789' AS ns,
           TIMESTAMPTZ '2020-01-01 00:00:00+05' AS zone, 'b'::ENUM('a', 'b') AS e,
           i::DECIMAL(9, 2) AS money, i::HUGEINT AS huge, i::DECIMAL(30, 2) AS wide,
           '00000000-0000-0000-0000-000000000001'::UUID AS u, [i] AS l
    FROM range(50) t(i)
"""


def test_a_copied_relation_is_the_same_table(tmp_path: Path) -> None:
    path = tmp_path / "all.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE t AS {EVERY_TYPE}")
    table = open_sample(path)
    relation = open_sample(duckdb.connect().sql(EVERY_TYPE))
    assert dict(relation.types) == dict(table.types)
    assert fingerprint(relation) == fingerprint(table)
    for condition in ("hour(zone) = 19", "money < 10", "e = 'b'", "day < '2020-01-11'", "k = 3"):
        assert count(relation, condition) == count(table, condition) > 0


@pytest.mark.parametrize("kind", ["relation", "view"])
def test_rows_that_differ_at_each_reading_are_read_once(tmp_path: Path, kind: str) -> None:
    query = f"SELECT random() AS x, now() AS t FROM range({ROWS})"
    with duckdb.connect(tmp_path / "v.duckdb") as database:
        database.execute(f"CREATE VIEW v AS {query}")
    data = tmp_path / "v.duckdb" if kind == "view" else duckdb.connect().sql(query)
    sample = open_sample(data)
    assert fingerprint(sample) == fingerprint(sample)
    assert fingerprint(open_sample(data)) != fingerprint(sample)


DDL = (
    "ALTER TABLE t RENAME x TO held; ALTER TABLE t RENAME y TO x; ALTER TABLE t RENAME held TO y",
    "ALTER TABLE t DROP x; ALTER TABLE t ADD COLUMN x DOUBLE DEFAULT 1",
    "ALTER TABLE t ALTER x TYPE VARCHAR",
    "CREATE OR REPLACE TABLE t AS SELECT y AS x, x AS y FROM t",
    "CREATE OR REPLACE VIEW v AS SELECT 1.0 AS x, 2.0 AS y FROM range(50)",
    "CREATE OR REPLACE MACRO count_if(x) AS 7",
    "CREATE OR REPLACE MACRO twice(x) AS x * 9",
    "DELETE FROM t WHERE y > 20",
    "DROP TABLE IF EXISTS t",
)


@pytest.mark.parametrize("data", ["t", "v"])
def test_random_definitions_of_a_duckdb_table_change_no_bit(data: str) -> None:
    random = Random(3)
    for _ in range(8):
        connection = duckdb.connect()
        connection.execute(
            f"CREATE TABLE t AS SELECT i::DOUBLE AS x, i / 3 AS y FROM range({ROWS}) r(i)"
        )
        connection.execute("CREATE MACRO twice(x) AS x * 2")
        connection.execute("CREATE VIEW v AS SELECT twice(x) AS x, y FROM t")
        sample = open_sample(connection.table(data))
        before = fingerprint(sample), count(sample, "x < 20"), count(sample, "y > 5")
        for change in random.sample(DDL, 3):
            for statement in change.split(";"):
                with suppress(duckdb.Error):
                    connection.execute(statement)
        assert (fingerprint(sample), count(sample, "x < 20"), count(sample, "y > 5")) == before


def test_a_duckdb_file_is_not_written_while_it_is_open(tmp_path: Path) -> None:
    path = write(tmp_path / "t.duckdb", FRAME)
    sample = open_sample(path)
    with pytest.raises(duckdb.Error, match="already attached"):
        duckdb.connect(path)
    assert count(sample, "x = 1") == ROWS


def test_nothing_is_created_on_a_relations_connection() -> None:
    connection = duckdb.connect()
    open_sample(connection.sql("SELECT 1 AS x, 2 AS y"))
    assert connection.execute("SHOW ALL TABLES").fetchall() == []


def test_macros_of_a_database_are_not_taken_for_functions(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    with duckdb.connect(path) as database:
        database.execute("CREATE TABLE t AS SELECT i::DOUBLE AS x FROM range(100) t(i)")
        for macro in ("count_if(x) AS 7", "isnan(x) AS true", "greatest(a, b) AS 50.0"):
            database.execute(f"CREATE MACRO {macro}")
        database.execute("CREATE VIEW v AS SELECT greatest(x, 1) AS x FROM t")
    sample = open_sample(path, table="t")
    assert count(sample, "x < 10") == 10
    assert count(sample, "greatest(x, 20) > 90") == 9
    assert count(open_sample(path, table="v"), "x = 50") == 100  # what it means there


def test_a_table_name_that_two_schemas_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "it's.duckdb"
    with duckdb.connect(path) as database:
        database.execute("CREATE SCHEMA lab; CREATE TABLE lab.t AS SELECT 1 AS x FROM range(2)")
        database.execute("CREATE TABLE t AS SELECT 1 AS x; CREATE TABLE lab.only AS SELECT 1 AS x")
    with pytest.raises(InvalidArgument, match=r"2 schemas of .* have one: 'lab\.t', 'main\.t'"):
        open_sample(path, table="t")
    with pytest.raises(InvalidArgument, match=r"holds 'lab\.only', 'lab\.t', 't'"):
        open_sample(path, table="u")
    assert open_sample(path, table="lab.t").n == 2
    assert open_sample(path, table="main.t").n == open_sample(path, table="only").n == 1


# Files --------------------------------------------------------------------------------------------

FRAME = pl.DataFrame({"x": np.ones(ROWS), "k": range(ROWS)})


def write(path: Path, frame: pl.DataFrame) -> Path:
    match path.suffix:
        case ".parquet":
            frame.write_parquet(path)
        case ".csv":
            frame.write_csv(path)
        case _:
            path.unlink(missing_ok=True)
            with duckdb.connect(path) as database:
                database.register("frame", frame.to_arrow())
                database.execute("CREATE TABLE t AS SELECT * FROM frame")
    return path


@pytest.fixture(params=["t.parquet", "t.csv", "t.duckdb"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write(tmp_path / request.param, FRAME)


def replaced(path: Path) -> None:
    """Another file under the name, as long as the old one and as old."""
    before = path.stat()
    other = path.with_name(f"other{path.suffix}")
    write(other, FRAME.with_columns(x=pl.lit(0.0)))
    other.replace(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def written_over(path: Path) -> None:
    """The same file with another byte, its time of writing put back."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"7")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: list[Callable[[Path], None]] = [replaced, written_over, Path.unlink]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_changed_file_is_not_read(path: Path, change: Callable[[Path], None]) -> None:
    sample = open_sample(path)
    assert count(sample, "x = 1") == ROWS
    change(path)
    row = row_value(parse_row("x = 1", Schema(sample.types)))
    for scan in (sample.sums, sample.moments):
        with pytest.raises(DataChanged, match=r"touched since it was opened|is gone or cannot"):
            scan([row])
    with pytest.raises(DataChanged):
        sample.histograms([(row, None)])
    with pytest.raises(DataChanged):
        next(iter(sample.frames(["x"])))


@pytest.mark.parametrize("named", ["as a link", "from its folder", "by a glob"])
def test_the_files_are_those_that_were_opened_wherever_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder, frame in ((here, FRAME), (there, FRAME.with_columns(x=pl.lit(0.0)))):
        folder.mkdir()
        write(folder / "t.csv", frame)
    link = tmp_path / "link.csv"
    link.symlink_to(here / "t.csv")
    monkeypatch.chdir(here)
    sample = open_sample({"as a link": link, "by a glob": "*.csv"}.get(named, "t.csv"))
    monkeypatch.chdir(there)
    link.unlink()
    link.symlink_to(there / "t.csv")
    assert count(sample, "x = 1") == ROWS


def test_a_view_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "outside.csv", FRAME)
    with duckdb.connect(tmp_path / "v.duckdb") as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS x")
        database.execute("CREATE VIEW gone AS SELECT * FROM t")
        database.execute(f"CREATE VIEW outside AS FROM read_csv('{tmp_path / 'outside.csv'}')")
        database.execute("DROP TABLE t")
    for view in ("gone", "outside"):
        with pytest.raises(InvalidArgument, match=f"The table '{view}' of .* cannot be read"):
            open_sample(tmp_path / "v.duckdb", table=view)


def test_a_file_that_changes_during_a_scan_gives_no_answer(path: Path) -> None:
    frames = open_sample(path).frames(["x"])
    assert next(frames).height == ROWS
    replaced(path)
    with pytest.raises(DataChanged, match="was changed, replaced"):
        list(frames)


def test_a_scan_that_fails_for_a_changed_file_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = open_sample(path)

    def broken(*_: object) -> list[int]:
        replaced(path)
        raise HoldfastError("The table could not be read to its end.")

    monkeypatch.setattr(type(sample.sample), "sums", broken)  # type: ignore[attr-defined]
    with pytest.raises(DataChanged):
        sample.sums([])


def test_a_file_that_is_only_read_is_the_same(path: Path) -> None:
    sample = open_sample(path)
    before = file_stamps([path])
    path.read_bytes()
    assert count(sample, "k < 10") == 10
    assert file_stamps([path]) == before == file_stamps([Path(str(path))])
    assert before[0].size == path.stat().st_size


# CSV ----------------------------------------------------------------------------------------------


def test_types_that_are_known_are_not_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "text,whole,number,flag,day,moment,utc,time,huge\n"
        "a,1,1.5,true,2020-01-01,2020-01-01 10:00:00,2020-01-01T10:00:00Z,10:00:00,"
        "99999999999999999999\n" * 5
    )
    sample = open_sample(path)
    before = fingerprint(sample)
    known = KnownTable(types=sample.types)
    real = pl.scan_csv

    def not_through_all_rows(*arguments: Any, **named: Any) -> pl.LazyFrame:
        assert "schema" in named or named["infer_schema_length"] is not None
        return real(*arguments, **named)

    monkeypatch.setattr(pl, "scan_csv", not_through_all_rows)
    again = open_sample(path, known=known)
    assert dict(again.types) == dict(sample.types)
    assert fingerprint(again) == before
    with pytest.raises(InvalidArgument):
        open_sample(path)
