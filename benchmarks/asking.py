"""Asking, against the raw engine, against raw commits, and against a short ledger."""

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
from holdfast.described.question import Ground, described
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.words.prior import Prior

LARGE, SMALL, COLUMNS, MANY = 10_000_000, 100_000, 10, 200


def table(rows: int) -> pl.DataFrame:
    """Doubles in ten columns, a fixed seed."""
    rng = np.random.default_rng(1)
    return pl.DataFrame({f"x{i}": rng.normal(size=rows) for i in range(COLUMNS)})


def large(folder: Path) -> list[Row]:
    """Ten million rows of Parquet: one question, and 200 together, against Polars itself."""
    path = folder / "large.parquet"
    table(LARGE).write_parquet(path)
    holdout = holdfast.open(
        str(path), ledger=folder / "large.ledger", questions=10**6, tolerance=0.4
    )
    fresh = (f"avg(clip(x0, -{i}.5, 3))" for i in itertools.count(1))
    conditions = (f"x0 > 0.{i}7" for i in itertools.count(1))
    lazy = pl.scan_parquet(path)

    def many() -> list[str]:
        return [f"avg(clip(x{i % COLUMNS}, -{next(places)}.25, 3))" for i in range(MANY)]

    def many_conditions() -> list[str]:
        return [f"avg(x{i % COLUMNS} > 0.{next(places)}7)" for i in range(MANY)]

    def raw(*wanted: pl.Expr) -> pl.DataFrame:
        return lazy.select(wanted).collect(engine="streaming")

    places = itertools.count(1)
    raw_many = [
        pl.col(f"x{i % COLUMNS}").clip(-1.0 - i, 3).mean().alias(str(i)) for i in range(MANY)
    ]
    raw_conditions = [
        (pl.col(f"x{i % COLUMNS}") > i / MANY).mean().alias(str(i)) for i in range(MANY)
    ]
    above = pl.col("x0") > 0.3
    return [
        compare(
            "described condition, 10M rows of Parquet",
            lambda: holdout.ask(f"avg({next(conditions)})"),
            "Polars: the same share",
            lambda: raw(above.mean()),
            at_most=1.3,
            repeats=5,
        ),
        compare(
            "described condition in a group, 10M rows",
            lambda: holdout.ask(f"avg({next(conditions)}) where x1 > 0.5"),
            "Polars: the same share",
            lambda: raw(above.filter(pl.col("x1") > 0.5).mean()),
            at_most=1.3,
            repeats=5,
        ),
        compare(
            "200 described conditions together, 10M rows",
            lambda: holdout.ask_many(many_conditions()),
            "Polars: the same 200 shares",
            lambda: raw(*raw_conditions),
            at_most=1.4,
            repeats=3,
        ),
        compare(
            "described mean, 10M rows",
            lambda: holdout.ask(next(fresh)),
            "Polars: the same average",
            lambda: raw(pl.col("x0").clip(-1.5, 3).mean()),
            at_most=3.0,
            repeats=5,
        ),
        compare(
            "ask of the ledger, 10M rows",
            lambda: holdout.ask(next(fresh), tolerance=0.4),
            "Polars: the same average",
            lambda: raw(pl.col("x0").clip(-1.5, 3).mean()),
            at_most=1.3,
            repeats=5,
        ),
        compare(
            "ask_many of 200 of the ledger, 10M rows",
            lambda: holdout.ask_many(many(), tolerance=0.4),
            "Polars: the same 200 averages",
            lambda: raw(*raw_many),
            at_most=1.4,
            repeats=3,
        ),
    ]


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


def long_ledger(folder: Path) -> list[Row]:
    """An ask with 100,000 entries in the ledger, against ten; opening it again, against a hundred.

    Checks that are confirmed cost little, so that a long ledger still has room to ask.
    """
    frame, holdouts = table(1_000), {}
    for name, batches in (("ten", 5), ("hundred", 50), ("long", 50_000)):
        holdouts[name] = holdout = holdfast.open(
            frame, ledger=folder / f"{name}.ledger", questions=10**6, tolerance=0.49
        )
        for number in range(batches):
            holdout.check(f"avg(x0 > {number}e-9)", guess=0.5)
    fresh = (f"avg(x1 > {i}e-4)" for i in itertools.count())

    def opened(name: str) -> None:
        with holdfast.open(frame, ledger=folder / f"{name}.ledger") as holdout:
            holdout.check("avg(x0 > 3e-9)", guess=0.5)

    return [
        compare(
            "ask, 100,000 entries",
            lambda: holdouts["long"].ask(next(fresh)),
            "ask, 10 entries",
            lambda: holdouts["ten"].ask(next(fresh)),
            at_most=1.5,
            repeats=200,
        ),
        compare(
            "open and repeat, 100,000 entries",
            lambda: opened("long"),
            "open and repeat, 100 entries",
            lambda: opened("hundred"),
            at_most=3.0,
            repeats=50,
        ),
    ]


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
            *long_ledger(folder),
            *large(folder),
        ]
