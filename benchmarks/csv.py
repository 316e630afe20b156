"""Commands on a CSV file against the same on Parquet: the processor's time of whole processes.

Types of a CSV are looked for once, by `init`, here beside Polars' own reading of a large file; the
ledger keeps them.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import Row
from benchmarks.starting import seconds

__all__ = ["rows"]

N, LARGE = 160_000, 1_440_000  # 17 MB of CSV, and 156
REPEATS = 3


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        table = _flights(N)
        table.write_csv(folder / "hold.csv")
        table.write_parquet(folder / "hold.parquet")
        for kind in ("csv", "parquet"):
            _holdfast(folder, "init", f"hold.{kind}", "--name", kind)
        size = (folder / "hold.csv").stat().st_size / 1e6
        for what, *words in (("ask", "avg(delay3 > {})"), ("audit",)):
            yield _compared(folder, f"{what} on {size:.0f} MB of CSV", what, words)
        yield _read(folder)


def _read(folder: Path) -> Row:
    """The median ratio of opening a large file and reading it, side by side."""
    _flights(LARGE).write_csv(folder / "large.csv")
    size = (folder / "large.csv").stat().st_size / 1e6
    read = "import polars; polars.read_csv('large.csv', try_parse_dates=True)"
    pairs = []
    for number in range(REPEATS):
        ours = _holdfast(folder, "init", "large.csv", "--name", f"large{number}")
        pairs.append((ours, seconds(["-c", read], folder)))
    took = statistics.median(ours for ours, _ in pairs)
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    return Row(f"init of {size:.0f} MB of CSV", "Polars: its own read", took, ratio, 2.0)


def _compared(folder: Path, what: str, command: str, words: list[str]) -> Row:
    """The median ratio of commands side by side; no question is asked twice."""
    pairs = []
    for number in range(REPEATS):
        asked = [word.format(number) for word in words]
        took = [_holdfast(folder, command, name, *asked) for name in ("csv", "parquet")]
        pairs.append(took)
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    return Row(what, "Parquet", statistics.median(ours for ours, _ in pairs), ratio, 1.5)


def _holdfast(folder: Path, *words: str) -> float:
    """Seconds of the processor that a command takes, from its start to its end."""
    return seconds(["-m", "holdfast", *words], folder)


def _flights(rows: int) -> pl.DataFrame:
    """As wide as the flights from New York: whole numbers, numbers, codes and a time."""
    rng = np.random.default_rng(0)
    whole = {f"n{place}": rng.integers(0, 10_000, rows) for place in range(9)}
    numbers = {f"delay{place}": rng.normal(5, 40, rows).round(1) for place in range(5)}
    codes = {f"code{place}": rng.choice(["AA", "B6", "UA", "DL"], rows) for place in range(4)}
    start = np.datetime64("2013-01-01T05:00:00", "us")
    moments = {"at": start + rng.integers(0, 365 * 24, rows).astype("timedelta64[h]")}
    return pl.DataFrame({**whole, **numbers, **codes, **moments})


if __name__ == "__main__":
    for row in rows():
        print(row)
