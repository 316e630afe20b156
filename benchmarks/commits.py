"""Ledger commits: questions and bare durable commits a second, on SQLite and on PostgreSQL."""

from __future__ import annotations

import itertools
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import holdfast
from benchmarks.engines import PostgreSQL
from benchmarks.measure import side_by_side
from benchmarks.page import Line, Scale, Section

__all__ = ["SECTION", "bare_sqlite", "bytes_per_question", "holdout_of_few_rows"]

ROWS, AT_ONCE, ENTRY = 1_000, 50, "x" * 600
SAID: dict[str, Any] = {"name": "bench", "questions": 10**6, "tolerance": 0.49}


@contextmanager
def holdout_of_few_rows(ledger: str | Path, **said: Any) -> Iterator[Callable[[], None]]:
    """Checks that scan next to nothing: what remains is reading, pricing and two commits."""
    frame = pl.DataFrame({"x": np.random.default_rng(1).random(ROWS)})
    numbers = itertools.count()
    with holdfast.open(frame, ledger=ledger, **SAID, **said) as holdout:

        def checks() -> None:
            for _ in range(AT_ONCE):
                holdout.check(f"avg(x > 0.5 + {next(numbers)}e-9)", guess=0.5)

        yield checks


@contextmanager
def bare_sqlite(path: Path) -> Iterator[Callable[[], None]]:
    """Two commits for each question, as a ledger makes them, and nothing else."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = FULL")
        file.execute("CREATE TABLE entries (text)")

        def commits() -> None:
            for _ in range(2 * AT_ONCE):
                file.execute("BEGIN IMMEDIATE")
                file.execute("INSERT INTO entries VALUES (?)", (ENTRY,))
                file.execute("COMMIT")

        yield commits


@contextmanager
def bare_postgres() -> Iterator[Callable[[], None]]:
    """The same in PostgreSQL."""
    from tests.postgres import server

    with closing(server().connected()) as connection:
        connection.execute("CREATE TABLE public.bare_entries (text text)")

        def commits() -> None:
            for _ in range(2 * AT_ONCE):
                connection.execute("INSERT INTO public.bare_entries VALUES (%s)", (ENTRY,))

        yield commits
        connection.execute("DROP TABLE public.bare_entries")


def bytes_per_question(path: Path) -> float:
    """What a check adds to a ledger's file, its index and all."""
    with holdout_of_few_rows(path) as checks:
        checks()
        before = _size(path)
        for _ in range(4):
            checks()
        return (_size(path) - before) / (4 * AT_ONCE)


def _size(path: Path) -> int:
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA wal_checkpoint")
        pages, size = (file.execute(f"PRAGMA {what}").fetchone()[0] for what in _PAGES)
    return int(pages) * int(size)


_PAGES = ("page_count", "page_size")


def lines(scale: Scale) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            holdout_of_few_rows(folder / "file.ledger") as checks,
            bare_sqlite(folder / "bare.db") as commits,
        ):
            yield _line("SQLite", checks, commits, scale)
        missing = PostgreSQL().missing()
        if missing is not None:
            yield f"PostgreSQL needs {missing}: it was left out."
        else:
            from tests.postgres import server

            with (
                holdout_of_few_rows(server().ledger(), secret=folder / "secret") as checks,
                bare_postgres() as commits,
            ):
                yield _line("PostgreSQL", checks, commits, scale)
        each = bytes_per_question(folder / "size.ledger")
    yield f"A check adds {each:,.0f} bytes to a ledger in SQLite."


def _line(
    home: str, checks: Callable[[], None], commits: Callable[[], None], scale: Scale
) -> tuple[str, ...]:
    found = side_by_side(checks, commits, scale.repeats)
    return (
        home,
        f"{AT_ONCE / found.ours.clock:,.0f}",
        f"{2 * AT_ONCE / found.theirs.clock:,.0f}",
        f"{1000 * found.ours.processor / AT_ONCE:.2f}",
        f"{found.ratio.clock:.2f}",
    )


SECTION = Section(
    "commits",
    "Ledger commits",
    """
Checks of a table of a thousand rows, one after the other: two durable commits each (reserved
before the rows are touched, settled after). Beside them, two bare commits of 600 bytes for each
check in the same kind of place, in turns. The processor's milliseconds are this process's.
""",
    ("ledger", "checks a second", "bare commits a second", "ms of the processor", "ratio"),
    lines,
)
