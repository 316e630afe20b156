"""The most memory that a question takes, beside Polars asked for the same, each in a new process.

What is told is the peak of the process beyond that of one which imports the same and does nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.engines import written_table
from benchmarks.page import Line, Scale, Section

MEGABYTE = 1 << 20
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
# What `getrusage` tells of a new process is at least what its parent had.
PEAK = """
from pathlib import Path
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


def peak(code: str) -> float:
    """Megabytes of a new process at its largest."""
    command = [sys.executable, "-W", "ignore", "-c", code + PEAK]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1]) * 1024 / MEGABYTE


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
            path.unlink()
    yield f"A process that imports all of it and does nothing has {alone:,.0f} MB."


SECTION = Section(
    "memory",
    "Peak memory",
    """
A new process opens a Parquet file of four columns of doubles (its fingerprint included), asks one
question, and tells its peak, here beyond that of a process which only imports Holdfast and Polars.
Pages of the file count as far as Polars maps them into memory.
""",
    ("what", "rows", "megabytes"),
    lines,
    grows=True,
)
