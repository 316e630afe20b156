"""Columns joined to a table by its key are, on every engine, as if it had always had them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.data import fingerprint, open_sample
from holdfast.data.keys import key_order, ordered
from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.data.source import FileSample
from holdfast.data.sql.duckdb import DuckDBSample
from holdfast.errors import DataChanged, InvalidArgument, InvalidQuestion
from holdfast.question import Schema, parse_row, row_function, row_value
from holdfast.question.functions import bind_function
from holdfast.question.row import GRID, RowValue
from tests.data.engines import duckdb_connection
from tests.data.loading import postgres_sample

NUMBERS = count()
TEXTS = ["good", "mark = 'a'", "clip(score * y, -9, 9)", "votes > 2", "y > 0", "good and y > score"]
FRAME = pl.DataFrame({"id": [3, 1, 2], "y": [0.5, -1.0, 2.0]})
VOTES = pl.DataFrame({"id": [1, 2, 3], "votes": [10, 20, 30]})


def _database(frame: pl.DataFrame, folder: Path) -> Sample:
    path = folder / f"{next(NUMBERS)}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("rows", frame)
        connection.execute("CREATE TABLE given AS SELECT * FROM rows")
    return open_sample(path)


def _parquet(frame: pl.DataFrame, folder: Path) -> Sample:
    path = folder / f"{next(NUMBERS)}.parquet"
    frame.write_parquet(path)
    return open_sample(path)


def _csv(frame: pl.DataFrame, folder: Path) -> Sample:
    path = folder / f"{next(NUMBERS)}.csv"
    frame.write_csv(path)
    return open_sample(path)


def _relation(frame: pl.DataFrame, folder: Path) -> Sample:
    path = folder / f"{next(NUMBERS)}.parquet"
    frame.write_parquet(path)
    return DuckDBSample(duckdb_connection().sql(f"SELECT * FROM '{path}'"))


ENGINES: dict[str, Callable[[pl.DataFrame, Path], Sample]] = {
    "memory": lambda frame, _: open_sample(frame),
    "parquet": _parquet,
    "csv": _csv,
    "database": _database,
    "relation": _relation,
    "postgresql": lambda frame, _: postgres_sample(frame),
}
every_engine = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("joined")


def rows_of(texts: list[str], sample: Sample) -> list[RowValue]:
    return [row_value(parse_row(text, Schema(sample.types))) for text in texts]


doubles = st.floats(-8, 8, allow_subnormal=False)
ROW = st.tuples(
    doubles, st.none() | doubles, st.none() | st.booleans(), st.sampled_from(["a", "b", "é", None])
)


@every_engine
@settings(max_examples=8)
@given(
    rows=st.lists(ROW, min_size=1, max_size=25),
    text=st.booleans(),
    absent=st.integers(0, 3),
    data=st.data(),
)
def test_sums_are_those_of_a_table_that_had_the_columns_from_the_start(
    folder: Path,
    engine: str,
    rows: list[tuple[Any, ...]],
    text: bool,
    absent: int,
    data: st.DataObject,
) -> None:
    keys: list[Any] = [f"id {place}" if text else place for place in range(len(rows))]
    y, score, good, mark = zip(*rows, strict=True)
    brought = pl.DataFrame(
        {"id": keys, "good": good, "mark": mark, "score": score, "votes": range(len(rows))},
        schema_overrides={"good": pl.Boolean, "mark": pl.String, "score": pl.Float64},
    )
    table = pl.DataFrame({"id": keys, "y": y})
    table = table[data.draw(st.permutations(range(len(rows))))]
    brought = brought[data.draw(st.permutations(range(len(rows))))].slice(absent)
    whole = PolarsSample(table.join(brought, on="id", how="left"))
    sample = ENGINES[engine](table, folder)
    joined = sample.joined("id", brought.select("id", "good", "mark"))
    again = brought[data.draw(st.permutations(range(brought.height)))]
    joined = joined.joined("id", again.select("id", "votes", "score"))
    assert joined.n == sample.n == table.height
    assert set(joined.types.items()) == set(whole.types.items())
    assert list(sample.types) == ["id", "y"]
    wanted = rows_of(TEXTS, whole)
    joined.prepare(wanted)
    assert joined.sums(wanted) == whole.sums(wanted)
    assert joined.moments(wanted) == whole.moments(wanted)
    assert fingerprint(joined) == fingerprint(whole)


@every_engine
def test_the_order_of_keys_is_the_same(folder: Path, engine: str) -> None:
    for keys in ([3, 1, 2], ["c", "é", "B"]):
        frame = pl.DataFrame({"id": keys, "y": [0.5, -1.0, 2.0]})
        assert key_order(ENGINES[engine](frame, folder), "id") == ordered("id", frame["id"])


@every_engine
def test_names_that_begin_alike_are_different_names(folder: Path, engine: str) -> None:
    """Of a name of more than 63 bytes PostgreSQL by itself would forget the end."""
    one, other = f"{'é' * 40}1", f"{'é' * 40}2"
    joined = ENGINES[engine](FRAME, folder).joined("id", VOTES.rename({"votes": one}))
    joined = joined.joined("id", VOTES.select("id", (pl.col("votes") + 5).alias(other)))
    rows = rows_of([f'"{one}" < "{other}"', f'"{other}" = 35'], joined)
    joined.prepare(rows)
    assert joined.sums(rows) == [3 * GRID, GRID]
    assert sorted(pl.concat(joined.frames([other]))[other]) == [15, 25, 35]


@every_engine
def test_functions_of_batches_see_joined_columns(folder: Path, engine: str) -> None:
    joined = ENGINES[engine](FRAME, folder).joined("id", VOTES)
    double = row_function(
        lambda rows: rows["votes"] * rows["y"],
        columns=["votes", "y"],
        bounds=(-40, 40),
        name="vy",
        version="1",
    )
    row = bind_function(double, Schema(joined.types))
    whole = open_sample(FRAME.join(VOTES, on="id"))
    assert joined.sums([row]) == whole.sums([row])


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Int32, pl.Categorical, pl.String])
@pytest.mark.parametrize("engine", ["memory", "parquet", "database"])
def test_a_key_is_found_however_the_engine_holds_it(folder: Path, engine: str, dtype: Any) -> None:
    text = dtype in (pl.Categorical, pl.String)
    held = FRAME.with_columns(pl.col("id").cast(pl.String).cast(dtype))
    brought = VOTES.with_columns(pl.col("id").cast(pl.String if text else pl.Int64))
    joined = ENGINES[engine](held, folder).joined("id", brought)
    assert joined.sums(rows_of(["votes = 10 and y = -1", "votes = 30 and y = 0.5"], joined)) == (
        joined.sums(rows_of(["y = -1", "y = 0.5"], joined))
    )


def test_keys_that_differ_only_in_capitals_are_different_whatever_the_collation() -> None:
    connection = duckdb_connection()
    connection.execute("CREATE TABLE rows (id VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO rows VALUES ('a'), ('A')")
    sample = DuckDBSample(connection.table("rows"), connection=connection)
    joined = sample.joined("id", pl.DataFrame({"id": ["a", "A"], "good": [True, False]}))
    (total,) = joined.sums(rows_of(["good"], joined))
    assert total == GRID


REFUSED: dict[str, tuple[str, pl.DataFrame, str]] = {
    "no such key": ("key", VOTES, "'key'"),
    "no key in the frame": ("id", VOTES.rename({"id": "item"}), "'id'"),
    "another type": (
        "id",
        VOTES.with_columns(pl.col("id").cast(pl.String)),
        "is integer, and text",
    ),
    "a name that is taken": ("id", VOTES.rename({"votes": "y"}), "has a column 'y'"),
    "taken but for capitals": ("id", VOTES.rename({"votes": "Y"}), "has a column 'y'"),
    "a pattern": ("id", VOTES.rename({"votes": "^v.*$"}), "is a pattern"),
    "a key twice": ("id", pl.concat([VOTES, VOTES.head(2)]), "2 keys (1, 2) come more than once"),
}


@pytest.mark.parametrize("engine", ["memory", "parquet", "database"])
@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_joined_is_refused(folder: Path, engine: str, why: str) -> None:
    key, frame, words = REFUSED[why]
    with pytest.raises(InvalidArgument) as refused:
        ENGINES[engine](FRAME, folder).joined(key, frame)
    assert words in str(refused.value)


def test_files_under_joined_columns_are_still_watched(folder: Path) -> None:
    joined = _parquet(FRAME, folder).joined("id", VOTES)
    assert isinstance(joined, FileSample)
    Path(joined.stamps[0].path).touch()
    with pytest.raises(DataChanged):
        joined.sums(rows_of(["votes > 10"], joined))


@pytest.mark.parametrize("engine", ["parquet", "database"])
def test_a_question_about_other_columns_joins_nothing(
    folder: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined = ENGINES[engine](FRAME, folder).joined("id", VOTES)
    own, other = rows_of(["y > 0", "votes > 10"], joined)
    assert isinstance(joined, FileSample)
    for joins in ("holdfast.data.sql.duckdb.JoinedTable.joined_to", "polars.LazyFrame.join"):
        monkeypatch.setattr(joins, lambda *_, **__: pytest.fail("joined"))
    joined.sums([own])
    with pytest.raises(pytest.fail.Exception):
        joined.sums([other])


@every_engine
def test_what_an_engine_cannot_take_is_refused_before_it_is_paid_for(
    folder: Path, engine: str
) -> None:
    joined = ENGINES[engine](FRAME, folder).joined("id", VOTES)
    (row,) = rows_of(["votes > 10"], joined)
    joined.prepare([row])
    with pytest.raises(InvalidQuestion):
        ENGINES[engine](FRAME, folder).prepare([row])


@every_engine
def test_a_key_may_have_been_joined_itself(folder: Path, engine: str) -> None:
    joined = ENGINES[engine](FRAME, folder).joined("id", VOTES)
    joined = joined.joined("votes", pl.DataFrame({"votes": [20, 30], "w": [True, True]}))
    assert list(joined.types) == ["id", "y", "votes", "w"]
    assert joined.sums(rows_of(["w"], joined)) == [2 * GRID]


def test_two_that_come_from_one_do_not_know_each_other() -> None:
    sample = open_sample(FRAME)
    first, second = (pl.DataFrame({"id": [1, 2, 3], "v": list(v)}) for v in ((3, 1, 2), (1, 2, 3)))
    extra = pl.DataFrame({"v": [1, 2, 3], "w": [True, False, False]})
    for beside in (first, second):
        joined = sample.joined("id", beside).joined("v", extra)
        whole = open_sample(FRAME.join(beside, on="id").join(extra, on="v"))
        (row,) = rows_of(["w and y < 0"], whole)
        assert joined.sums([row]) == whole.sums([row])
    for values in ([0.5, 1.5, 2.5], [0.5, float("nan"), 2.5]):
        joined = sample.joined("id", pl.DataFrame({"id": [1, 2, 3], "v": values}))
        (row,) = rows_of(["v > 1"], joined)
        assert joined.sums([row]) == open_sample(pl.DataFrame({"v": values})).sums([row])


def test_a_hundred_columns_one_after_the_other(folder: Path) -> None:
    rng = np.random.default_rng(4)
    brought = {f"v{place}": rng.normal(size=3) for place in range(100)}
    whole = open_sample(FRAME.sort("id").with_columns(pl.DataFrame(brought)))
    texts = [f"v{place} > v{99 - place}" for place in range(50)]
    for engine in ("memory", "parquet"):
        sample = ENGINES[engine](FRAME, folder)
        for name, values in brought.items():
            sample = sample.joined("id", pl.DataFrame({"id": [1, 2, 3], name: values}))
        wanted = rows_of(texts, sample)
        assert sample.sums(wanted) == whole.sums(wanted)
