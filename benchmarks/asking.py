"""Asking, against raw commits and against a clock."""

from __future__ import annotations

import itertools
import math
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import holdfast
from benchmarks.measure import Row, compare, within
from holdfast.data.sampling import Independent
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.description import Prior, described
from holdfast.statistics.rule import Ground

LARGE, SMALL, COLUMNS = 10_000_000, 100_000, 10


def table(rows: int) -> pl.DataFrame:
    """Doubles in ten columns, a fixed seed."""
    rng = np.random.default_rng(1)
    return pl.DataFrame({f"x{i}": rng.normal(size=rows) for i in range(COLUMNS)})


def small(folder: Path) -> list[Row]:
    """A hundred thousand rows in memory: an ask against the two commits it needs."""
    holdout = holdfast.open(
        table(SMALL), ledger=folder / "small.ledger", questions=10**5, tolerance=0.4
    )
    fresh = (f"avg(x0 > {i}e-4)" for i in itertools.count())
    raw = sqlite3.connect(folder / "raw.db", isolation_level=None)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("CREATE TABLE entries (text)")

    def commits() -> None:
        for _ in range(2):
            raw.execute("BEGIN IMMEDIATE")
            raw.execute("INSERT INTO entries VALUES (?)", ("x" * 600,))
            raw.execute("COMMIT")

    return [
        compare(
            "ask, 100k rows in memory",
            lambda: holdout.ask(next(fresh)),
            "two durable SQLite commits",
            commits,
            at_most=4.0,
            repeats=200,
        ),
        _left(folder),
    ]


def _left(folder: Path) -> Row:
    """Saying what is left after a check, against the check."""
    holdout = holdfast.open(
        table(SMALL), ledger=folder / "left.ledger", questions=500, tolerance=0.025
    )
    texts = (f"avg(x1 > {i}e-4)" for i in itertools.count())
    answers = [holdout.check(next(texts), guess=0.5)]
    return compare(
        "what is left, 100k rows in memory",
        lambda: answers.pop().left.remaining,
        "a check",
        lambda: answers.append(holdout.check(next(texts), guess=0.5)),
        at_most=0.1,
        repeats=100,
    )


def described_texts() -> list[Row]:
    """A thousand described questions: their prices; and all of it, from the text to the rule."""
    types = dict.fromkeys((f"x{i}" for i in range(COLUMNS)), ColumnType.FLOAT)
    bounds = dict.fromkeys(types, (-3.0, 3.0))
    schema = Schema({**types, "origin": ColumnType.TEXT}).declare(
        {**bounds, "origin": {"values": ["EWR", "JFK", "LGA"]}}
    )
    ground = Ground(SMALL, Independent(), Prior(schema), math.log(0.02))
    texts = [f"avg(x0 > {i}e-3) where origin = 'JFK' and x1 < 1" for i in range(1_000)]
    questions = [ground.prior.read(text) for text in texts]
    return [
        within(
            "1,000 prices of descriptions",
            lambda: [ground.prior.of(question) for question in questions],
            at_most=1.0,
        ),
        within(
            "1,000 texts read, priced and given a rule",
            lambda: [described(ground.prior.read(text), ground) for text in texts],
            at_most=2.0,
        ),
    ]


def imports() -> list[Row]:
    """`import holdfast` against `import numpy`, whole processes."""

    def run(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    return [
        compare(
            "python -c 'import holdfast'",
            lambda: run("import holdfast"),
            "python -c 'import numpy'",
            lambda: run("import numpy"),
            at_most=2.0,
            repeats=9,
        )
    ]


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            *imports(),
            *described_texts(),
            *small(folder),
        ]
