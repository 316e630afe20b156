"""Parquet in folders of partitions and in buckets; what is larger than memory."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest

import holdfast
from holdfast.data import fingerprint, open_sample
from holdfast.data.source import BUCKETS
from holdfast.data.sql.duckdb import lock
from holdfast.errors import DataChanged, InvalidArgument
from holdfast.question import Schema, parse_row, row_value
from holdfast.question.row import GRID

FRAME = pl.DataFrame(
    {
        "x": [0.5, None, float("nan"), 2.0, -1.0, 7.0],
        "year": [2013, 2013, 2014, 2014, 2014, 2015],
        "carrier": ["AA", "it's", None, "AA", "é b", "AA"],
    }
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The rows by year and carrier, as Hive and Spark lay them out."""
    FRAME.write_parquet(tmp_path / "flights", partition_by=["year", "carrier"])
    return tmp_path / "flights"


def counted(data: object, text: str) -> int:
    sample = open_sample(data)
    (total,) = sample.sums([row_value(parse_row(text, Schema(sample.types)))])
    return total // GRID


def test_the_names_of_folders_are_columns(folder: Path) -> None:
    sample = open_sample(folder)
    assert fingerprint(sample) == fingerprint(open_sample(FRAME))
    assert counted(str(folder), "carrier = 'it''s' or year > 2014") == 2
    with holdfast.open(folder, ledger=folder.parent / "l") as holdout:
        holdout.ask("avg(year > 2013)")
    with holdfast.open(str(folder), ledger=folder.parent / "l") as again:
        assert again.ask("avg(year > 2013)").status == "repeated"


def test_files_of_a_folder_are_watched_and_nothing_else_is_read(folder: Path) -> None:
    (folder / "_SUCCESS").touch()
    (folder / "notes.txt").write_text("no table")
    sample = open_sample(folder)
    next(folder.rglob("*.parquet")).touch()
    with pytest.raises(DataChanged):
        sample.sums([row_value(parse_row("year > 1", Schema(sample.types)))])


def test_a_folder_is_read_and_nothing_beside_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[duckdb.DuckDBPyConnection] = []

    def locked(connection: duckdb.DuckDBPyConnection) -> None:
        lock(connection)
        connections.append(connection)

    monkeypatch.setattr("holdfast.data.sql.duckdb.lock", locked)
    FRAME.write_parquet(folder.parent / "other.parquet")
    sample = open_sample(folder)
    (connection,) = connections
    for beyond in (
        f"SELECT * FROM read_parquet('{folder.parent / 'other.parquet'}')",
        "SET allowed_directories = ['/']",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(beyond)
    assert sample.n == FRAME.height


def test_files_that_do_not_belong_together_are_refused(folder: Path) -> None:
    next(folder.rglob("*.parquet")).write_bytes(b"PAR1 and no more")
    with pytest.raises(InvalidArgument, match="Parquet files one cannot be read"):
        open_sample(folder)


def test_a_bucket_is_copied(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As any bucket, but for the network: files of this machine, by an extension that is there.
    monkeypatch.setitem(BUCKETS, "file", "parquet")
    url = f"file://{folder}/**/*.parquet"
    sample = open_sample(url)
    assert fingerprint(sample) == fingerprint(open_sample(FRAME))
    next(folder.rglob("*.parquet")).touch()
    assert sample.sums([row_value(parse_row("year > 2014", Schema(sample.types)))]) == [GRID]
    with holdfast.open(url, ledger=folder.parent / "l") as holdout:
        assert holdout.source == url
    with pytest.raises(InvalidArgument, match="can read no Parquet files"):
        open_sample(f"file://{folder}/nothing/*.parquet")
