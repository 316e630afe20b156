"""The most memory that a question takes, beside Polars asked for the same, each in a new process.

What is told is the peak of the process beyond that of one which imports the same and does nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.engines import HEAP, Spark, written_table
from benchmarks.page import Line, Scale, Section

SPARK = Spark()
QUESTIONS = {
    "ask, a mean": 'holdout.ask("avg(clip(x0, -1.25, 3))", tolerance=0.4)',
    "described mean": 'holdout.ask("avg(clip(x0, -1.25, 3))")',
    "described median": 'holdout.ask("median(clip(x0, -3, 3))")',
    "described mean by group": 'holdout.ask("avg(x0 > 0) where x1 > 0.5 and x2 > 0")',
    "asked AUC": 'holdout.ask("auc(x0 + x1, y)", tolerance=0.4)',
    "described AUC": 'holdout.ask("auc(x0 + x1, y)")',
}
RAW = {
    "Polars: the mean": "scan.select(pl.col('x0').clip(-1.25, 3).mean())",
    "Polars: the median": "scan.select(pl.col('x0').clip(-3, 3).median())",
    "Polars: the ranks of an AUC": "scan.select((pl.col('x0') + pl.col('x1')).rank().sum())",
}
ASKED = """
import holdfast
said = dict(questions=100, tolerance=0.4, design=["y"])
with holdfast.open({path!r}, ledger={ledger!r}, **said) as holdout:
    {question}
"""
ALONE = "import holdfast, polars as pl\nholdfast.open, pl.scan_parquet\n"
BY_POLARS = """
import polars as pl
scan = pl.scan_parquet({path!r})
{question}.collect(engine="streaming")
"""
BY_SPARK = """
import time
from benchmarks.engines import HEAP, spark_session
spark = spark_session(HEAP)
import holdfast
began, table = time.perf_counter(), spark.read.parquet({path!r})
with holdfast.open(table, ledger={ledger!r}, name="large", questions=100, tolerance=0.4) as holdout:
    opened = time.perf_counter()
    holdout.ask("avg(clip(x0, -1.25, 3))", tolerance=0.4)
    asked = time.perf_counter()
java = spark._jvm.java.lang.ProcessHandle.current().pid()
print(opened - began, asked - opened, java)
"""
OWN_PEAK = """
from benchmarks.measure import peak_memory
print(peak_memory("self"))
"""
PEAK_OF_JAVA = "print(peak_memory(java))"


def peak(code: str) -> float:
    """Megabytes of a new process at its largest."""
    return float(_printed(code + OWN_PEAK)[-1])


def _printed(code: str) -> list[str]:
    """What a new process prints, word by word."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def _of_spark(path: Path, rows: int, alone: float) -> Iterator[Line]:
    """Opening and a question of a table in Spark: of this process, and of its Java."""
    ledger = str(path.with_suffix(".spark.ledger"))
    code = BY_SPARK.format(path=str(path), ledger=ledger) + OWN_PEAK + PEAK_OF_JAVA
    opened, asked, _, *peaks = _printed(code)
    here, java = map(float, peaks)
    yield "Spark: ask, a mean", f"{rows:,}", f"{max(0.0, here - alone):,.0f}"
    yield f"Spark: its Java, with {HEAP} MB for objects", f"{rows:,}", f"{java:,.0f}"
    yield (
        f"Spark opened {rows:,} rows in {float(opened):,.1f} s, its start included, and was asked "
        f"in {float(asked):,.1f} s."
    )


def lines(scale: Scale) -> Iterator[Line]:
    if not Path("/proc/self/status").exists():
        yield "The peak of a process is read from /proc, which is not here: it was left out."
        return
    sizes = [rows for rows in scale.rows if rows > 100_000] or list(scale.rows[-1:])
    alone = peak(ALONE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in sizes:
            path = written_table(folder / f"{rows}.parquet", rows)
            for place, (what, question) in enumerate(QUESTIONS.items()):
                ledger = folder / f"{rows}-{place}.ledger"
                code = ASKED.format(path=str(path), ledger=str(ledger), question=question)
                yield what, f"{rows:,}", f"{max(0.0, peak(code) - alone):,.0f}"
            for what, question in RAW.items():
                code = BY_POLARS.format(path=str(path), question=question)
                yield what, f"{rows:,}", f"{max(0.0, peak(code) - alone):,.0f}"
            if SPARK.missing() is None:
                yield from _of_spark(path, rows, alone)
            path.unlink()
    yield f"A process that imports all of it and does nothing has {alone:,.0f} MB."


SECTION = Section(
    "memory",
    "Peak memory",
    """
A new process opens a Parquet file of four columns of doubles (its fingerprint included), asks one
question, and tells its peak, here beyond that of a process which only imports Holdfast and Polars.
Pages of the file count as far as Polars maps them into memory. A table in Spark is read on two
threads of this machine; its Java is a process of its own, with little room for objects.
""",
    ("what", "rows", "megabytes"),
    lines,
    grows=True,
)
