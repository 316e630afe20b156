"""The session of the demo on four engines: with one secret, the same answers to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from examples import flights

import holdfast
from tests.data.loading import loaded
from tests.postgres import server
from tests.spark import NEEDS_SPARK, spark_frame

NOISY: dict[str, Any] = {"questions": 50, "tolerance": 0.2, "described": "off"}
ASKED = ["avg(arr_delay > 15)", "avg(arr_delay)", "avg(month > 6 and carrier = 'AA')"]
COLUMNS = ["arr_delay", "dep_delay", "month", "hour", "origin", "carrier", "dest"]


def _database(frame: pl.DataFrame, folder: Path) -> dict[str, Any]:
    path = folder / "flights.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("rows", frame)
        connection.execute("CREATE TABLE flights AS SELECT * FROM rows")
    return {"data": path}


ENGINES: dict[str, Callable[[pl.DataFrame, Path], dict[str, Any]]] = {
    "Polars": lambda frame, _: {"data": frame},
    "DuckDB": _database,
    "PostgreSQL": lambda frame, _: {"data": server().url(), "table": loaded(frame)},
    "Spark": lambda frame, _: {"data": spark_frame(frame)},
}


@pytest.fixture(scope="module")
def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Flights to explore and to protect; fewer than in the demo."""
    train, hold, _ = flights.parts()
    return train.select(COLUMNS), hold.select(COLUMNS).gather_every(4)


@pytest.fixture(scope="module")
def told(
    tables: tuple[pl.DataFrame, pl.DataFrame], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What the session is told when the rows are in memory, by question."""
    folder = tmp_path_factory.mktemp("demo")
    with _opened(tables, folder, "Polars") as holdout:
        flights.drill_down(flights.Analyst(holdout), tables[0])
        flights.other_statistics(holdout)
        return {line.question: _said(line) for line in holdout.ledger}


@pytest.fixture(scope="module")
def with_noise(
    tables: tuple[pl.DataFrame, pl.DataFrame], tmp_path_factory: pytest.TempPathFactory
) -> list[str]:
    """What answers with noise are."""
    with _opened(tables, tmp_path_factory.mktemp("noise"), "Polars", **NOISY) as holdout:
        return list(map(str, holdout.ask_many(ASKED)))


def _opened(
    tables: tuple[pl.DataFrame, pl.DataFrame], folder: Path, engine: str, **said: Any
) -> holdfast.Holdout:
    train, hold = tables
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.ledger.store.secrets.token_bytes", bytes)  # one secret for all
        return holdfast.open(
            **ENGINES[engine](hold, folder),
            schema=flights.declared(train),
            ledger=folder / "flights.ledger",
            **said,
        )


def _said(line: Any) -> str:
    return f"{line.value!r} {line.interval!r}"


@pytest.mark.parametrize(
    "engine",
    [
        "DuckDB",
        "PostgreSQL",
        pytest.param("Spark", marks=[NEEDS_SPARK, pytest.mark.campaign]),
    ],
)
def test_every_engine_tells_the_same(
    tables: tuple[pl.DataFrame, pl.DataFrame],
    told: dict[str, str],
    with_noise: list[str],
    tmp_path: Path,
    engine: str,
) -> None:
    """All questions of the session at once: one by one they take Spark a minute."""
    assert len(told) > flights.FORTY
    with _opened(tables, tmp_path, engine) as holdout:
        holdout.ask_many(list(told))
        assert {line.question: _said(line) for line in holdout.ledger} == told
    (tmp_path / "noise").mkdir()
    with _opened(tables, tmp_path / "noise", engine, **NOISY) as holdout:
        assert list(map(str, holdout.ask_many(ASKED))) == with_noise
