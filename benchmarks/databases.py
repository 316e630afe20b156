"""PostgreSQL, against SQLite as a ledger and against its own SQL as an engine.

Part of `make bench`, and alone: `python -m benchmarks.databases`.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import holdfast
from benchmarks.measure import Row, compare
from holdfast.data import open_sample
from holdfast.question import Schema, parse_row, row_value
from tests.data.loading import loaded
from tests.postgres import server

ROWS, ASKED, MANY = 1_000_000, 20, 20
SAID: dict[str, Any] = {"name": "bench", "questions": 10**6, "tolerance": 0.4, "described": "off"}


def table(rows: int) -> pl.DataFrame:
    """Doubles in four columns, a fixed seed."""
    rng = np.random.default_rng(1)
    return pl.DataFrame({f"x{i}": rng.normal(size=rows) for i in range(4)})


def ledger(folder: Path) -> list[Row]:
    """A question of few rows: most of its time is two commits."""
    rows, numbers = table(1_000), itertools.count()
    places = (server().ledger(), folder / "database-secret"), (folder / "bench.ledger", None)
    with (
        holdfast.open(rows, ledger=places[0][0], secret=places[0][1], **SAID) as database,
        holdfast.open(rows, ledger=places[1][0], **SAID) as file,
    ):

        def asked(holdout: holdfast.Holdout) -> None:
            for _ in range(ASKED):
                holdout.ask(f"avg(x0 > {next(numbers)}e-6)")

        return [
            compare(
                f"{ASKED} questions, ledger in PostgreSQL",
                lambda: asked(database),
                "the same, ledger in SQLite",
                lambda: asked(file),
                at_most=2.0,
                repeats=5,
            )
        ]


def engine() -> list[Row]:
    """A million rows: one average, a condition, and twenty averages, against the plain SQL."""
    name = loaded(table(ROWS))
    sample = open_sample(server().url(), table=name)
    schema = Schema(sample.types)
    texts = {
        "an average": ["clip(x0, -1.5, 3)"],
        "a share": ["x0 > 0.5 and x1 < 1"],
        f"{MANY} averages": [f"clip(x{i % 4}, -{i + 1}.25, 3)" for i in range(MANY)],
    }
    raw = {
        "an average": ["avg(least(greatest(x0, -1.5), 3))"],
        "a share": ["avg((x0 > 0.5 and x1 < 1)::int)"],
        f"{MANY} averages": [
            f"avg(least(greatest(x{i % 4}, -{i + 1}.25), 3))" for i in range(MANY)
        ],
    }
    found = []
    with closing(server().connected()) as connection:
        connection.execute("SET jit = off")
        for what, asked in texts.items():
            rows = [row_value(parse_row(text, schema)) for text in asked]
            statement = f"SELECT {', '.join(raw[what])} FROM {name}"
            found.append(
                compare(
                    f"{what}, 1M rows in PostgreSQL",
                    lambda rows=rows: sample.sums(rows),  # type: ignore[misc]
                    "the same in SQL",
                    lambda statement=statement: connection.execute(statement).fetchall(),  # type: ignore[misc]
                    at_most=1.3,
                    repeats=5,
                )
            )
    return found


def rows() -> list[Row]:
    """Every line of this table."""
    with tempfile.TemporaryDirectory() as folder:
        return [*ledger(Path(folder)), *engine()]


def main() -> None:
    warnings.simplefilter("ignore", holdfast.errors.SecondLedger)  # one table stands for many here
    for row in rows():
        print(row, f"load {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
