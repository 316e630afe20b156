"""`python -m benchmarks.capacity`: how far one ledger goes, written into docs/capacity.md.

Seconds of the processor are fitted to measured questions, and printed beside them; what follows for
many analysts is a formula, printed beside a simulation; how many questions the statistics allow is
the planner's.
"""

from __future__ import annotations

import itertools
import os
import statistics
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

import holdfast
from benchmarks.commits import AT_ONCE, bare_sqlite, bytes_per_question
from benchmarks.crowd import Crowd, Desk, predicted, simulated
from benchmarks.engines import MANY, DuckDB, Engine, Polars, opened
from benchmarks.kinds import KINDS
from benchmarks.measure import timed
from benchmarks.page import ROOT

__all__ = ["ANALYSTS", "HEADS", "PAGE", "Costs", "Point", "fitted", "written"]

PAGE = ROOT / "docs" / "capacity.md"
ENGINES: tuple[Engine, ...] = (Polars(), DuckDB())
MEASURED = (100_000, 1_000_000, 10_000_000)
SIZES = (10**9, 10**10, 10**11, 10**12)
CORES = (2, 64, 1_024)
ANALYSTS, EACH_ASKS, DAY = 10_000, 100, 86_400
CROWDS = ((10**7, 2), (10**8, 64), (10**9, 64), (10**10, 1_024), (10**12, 1_024))
THINKING = (600, 3_600, DAY)
ONE = next(kind for kind in KINDS if kind.name == "ask")
TOGETHER = next(kind for kind in KINDS if kind.many)
HEADS = (
    ("engine", "a batch", "a question", "the first, for each row", "one more, for each row"),
    ("engine", "rows", "questions together", "measured", "predicted"),
    ("rows", "cores", "one question", "questions a day", f"a day in batches of {MANY}"),
    ("rows", "cores", "a question every", "predicted a day", "simulated a day", "wait"),
    ("rows", "ask", "ask, median noise", "check, none refuted", "described, 25 bits"),
)


@dataclass(frozen=True, slots=True)
class Point:
    """Seconds of the processor for so many questions together, of so many rows."""

    rows: int
    questions: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of the processor: of a batch, of a question, and of the rows for each."""

    batch: float
    question: float
    first_row: float
    more_row: float

    def seconds(self, rows: int, questions: int) -> float:
        """Of the processor, for so many questions together."""
        scan = rows * (self.first_row + (questions - 1) * self.more_row)
        return self.batch + questions * self.question + scan

    def desk(self, rows: int, cores: int, commit: float, most: int) -> Desk:
        """The same by the clock: rows are scanned by all cores, a ledger is written by one."""
        each = self.question + rows * self.more_row / cores
        fixed = 2 * commit + self.batch + rows * (self.first_row - self.more_row) / cores
        return Desk(fixed, each, most)


def fitted(points: Sequence[Point]) -> Costs:
    """The costs whose predictions are closest to the points, in parts of each; none is negative."""
    from scipy.optimize import nnls

    terms = [(1.0, p.questions, p.rows, p.rows * (p.questions - 1)) for p in points]
    parts = np.array(terms) / np.array([[p.seconds] for p in points])
    scales = parts.max(axis=0)
    found, _ = nnls(parts / scales, np.ones(len(points)))
    return Costs(*(float(each) for each in found / scales))


def measured(engine: Engine) -> Iterator[Point]:
    """New questions alone and together, by the processor."""
    for rows in MEASURED:
        with opened(engine, rows) as (holdout, *_):
            numbers = itertools.count(1)
            for kind, together, repeats in ((ONE, 1, 5), (TOGETHER, MANY, 1)):

                def asked() -> object:
                    texts = [kind.text(next(numbers)) for _ in range(together)]  # noqa: B023
                    return kind.ask(holdout, texts)  # noqa: B023

                if kind is ONE:
                    asked()  # what is done once
                took = [timed(asked).processor for _ in range(repeats)]
                yield Point(rows, together, statistics.median(took))


def commit_seconds(folder: Path) -> float:
    """One durable commit of SQLite by the clock: the least of several, others do not count."""
    with bare_sqlite(folder / "bare.db") as commits:
        return min(timed(commits).clock for _ in range(10)) / (2 * AT_ONCE)


def _one_line(costs: Costs, commit: float, rows: int, cores: int) -> tuple[str, ...]:
    alone, many = (costs.desk(rows, cores, commit, most) for most in (1, MANY))
    return (
        f"{rows:.0e}",
        f"{cores:,}",
        _time(alone.batch(1)),
        _count(DAY / alone.batch(1)),
        _count(DAY * MANY / many.batch(MANY)),
    )


def _crowd_line(costs: Costs, commit: float, rows: int, cores: int, think: int) -> tuple[str, ...]:
    crowd, desk = Crowd(ANALYSTS, think), costs.desk(rows, cores, commit, MANY)
    formula = predicted(crowd, desk)
    events = simulated(crowd, desk, questions=6 * ANALYSTS)
    flows = (_count(DAY * flow.throughput) for flow in (formula, events))
    return f"{rows:.0e}", f"{cores:,}", _time(think), *flows, _time(events.wait)


def _widths_line(rows: int) -> tuple[str, ...]:
    questions = ANALYSTS * EACH_ASKS
    exact = holdfast.plan(rows=rows, questions=questions)
    off = holdfast.plan(rows=rows, questions=questions, described="off")
    found = (
        exact["bounded noise"],
        off["median noise"],
        exact["guess and check, 0 wrong guesses"],
        exact["described, 25 bits"],
    )
    widths = (each.half_width for each in found)
    return f"{rows:.0e}", *("-" if width is None else f"{width:.2g}" for width in widths)


def written(
    costs: dict[str, Costs], points: dict[str, Sequence[Point]], commit: float, size: float
) -> str:
    """The page."""
    first = costs[ENGINES[0].name]
    constants = [
        (
            name,
            f"{1000 * cost.batch:.2f} ms",
            f"{1000 * cost.question:.2f} ms",
            f"{1e9 * cost.first_row:.2f} ns",
            f"{1e9 * cost.more_row:.2f} ns",
        )
        for name, cost in costs.items()
    ]
    checks = [
        (
            name,
            f"{point.rows:,}",
            str(point.questions),
            _time(point.seconds),
            _time(costs[name].seconds(point.rows, point.questions)),
        )
        for name, each in points.items()
        for point in each
    ]
    tables: tuple[Sequence[Sequence[str]], ...] = (
        constants,
        checks,
        [_one_line(first, commit, rows, cores) for rows in SIZES for cores in CORES],
        [_crowd_line(first, commit, *each, think) for each in CROWDS for think in THINKING],
        [_widths_line(rows) for rows in (10**6, *SIZES)],
    )
    shown = ("\n".join(_table(head, lines)) for head, lines in zip(HEADS, tables, strict=True))
    return TEXT.format(
        *shown,
        engine=ENGINES[0].name,
        commit=_time(commit),
        commits=_count(1 / commit),
        size=f"{size:,.0f}",
        total=f"{size * ANALYSTS * EACH_ASKS / 1e9:.1f}",
        analysts=f"{ANALYSTS:,}",
        asked=f"{ANALYSTS * EACH_ASKS:,}",
        load=f"{os.getloadavg()[0]:.1f}",
        many=MANY,
    )


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---:|" * len(head)
    yield from (f"| {' | '.join(line)} |" for line in lines)


def _time(seconds: float) -> str:
    for unit, name in ((DAY, "d"), (3_600, "h"), (60, "min"), (1, "s"), (1e-3, "ms")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{1e6 * seconds:.3g} us"


def _count(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


TEXT = """# Capacity

*Written by `python -m benchmarks.capacity`, the last step of `make bench`.* How long a question
takes when the table is larger than any that was tried here, how many one ledger answers when
thousands of analysts share it, and how many the statistics allow.

## The formula

One ledger answers one batch at a time: it writes what is reserved, scans the rows once, and
writes what was told. A batch is a call of `ask_many`, or whatever waits at a service while the
last batch is answered. With r rows, b questions in the batch, C cores (or executors of a
cluster) and c seconds for a durable commit it takes

    t(b) = 2c + f + b q + r (s + (b - 1) m)/C

seconds, of which f + b q read, price and write the questions, and s and m are what the rows
cost: for the first question of a scan, and for each further one. A ledger's throughput is at
most b/t(b). N analysts who think for Z seconds before each question are answered X = N/(Z + W)
times a second, where W is a batch and, as far as the ledger is busy, half of the one before it;
the batch is what arrived during the last one. Rows are read in batches and never held
([Benchmarks](benchmarks.md) has the peaks of memory), and the ledger grows by {size} bytes for each
question: {total} GB for {asked}.

## The constants

Seconds of the processor, fitted to the questions of the next table, averages of a column of
doubles from a Parquet file or a DuckDB file. A durable commit of SQLite takes {commit} here
({commits} a second).

{0}

Load of the machine {load}. The same questions, as they were measured and as the formula has them:

{1}

## One billion rows and more

What the formula says with {engine}'s constants, of one column of doubles; a column of a
cluster's files is read at the same pace if each of C cores gets its part.

{2}

A table of 1e12 rows is scanned by a cluster: Spark's executors are the cores, and the ledger is
on PostgreSQL. Whoever explores such a table asks a sample of it: widths at 1e9 rows are below.

## {analysts} analysts, one ledger

Batches of up to {many} questions. The formula beside a simulation of {analysts} analysts whose
pauses are exponential, event by event (`benchmarks/crowd.py`).

{3}

## What the statistics allow

Half-widths, of the range, for {asked} questions at 95 % for all of them together: {analysts}
analysts who ask a hundred each, everyone after seeing everything. Described questions may be any
number.

{4}

So for tables of a billion rows and more the statistics are not what limits: what the rows were
drawn from is. No interval here knows of a biased sample, of a shift, or of rows that depend on
each other in ways that were not declared, and at such sizes these are far larger than the
widths.
"""


@dataclass(frozen=True, slots=True)
class _Measured:
    points: dict[str, Sequence[Point]]
    commit: float
    size: float

    @classmethod
    def here(cls) -> Self:
        points: dict[str, Sequence[Point]] = {}
        for engine in ENGINES:
            missing = engine.missing()
            if missing is None:
                points[engine.name] = list(measured(engine))
            else:
                print(f"{engine.name} needs {missing}: it was left out.")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            return cls(points, commit_seconds(folder), bytes_per_question(folder / "size.ledger"))


def main() -> None:
    warnings.simplefilter("ignore", holdfast.errors.SecondLedger)
    found = _Measured.here()
    costs = {name: fitted(points) for name, points in found.points.items()}
    PAGE.write_text(written(costs, found.points, found.commit, found.size), encoding="utf-8")
    print(f"Written to {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
