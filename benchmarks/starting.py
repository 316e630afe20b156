"""What it takes to start: each command's seconds of the processor, beyond Python with numpy.

`python -m benchmarks.starting` prints them all. What a command does here is little (1,000 items):
what is seen is its start. Of those that do not end by themselves, or whose work is long, it is
their help.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import Row
from holdfast.cli import COMMANDS

ITEMS, REPEATS = 1_000, 9
AT_MOST = {"chart": 1.0, "plan": 0.3}  # others .4
_HELP = (
    *("serve", "publish", "retire", "mcp", "demo", "probe", "reveal", "board", "stability"),
    *("countersign", "declare"),
)
# Words of a command, where {} is a number that was never used before.
_WORDS: Mapping[str, Sequence[str]] = {
    "compare": ("others.csv", "scores.csv"),
    "plan": ("--rows", "1000", "--questions", "100"),
    "split": ("items.csv", "--train", "train{}.parquet", "--hold", "hold{}.parquet"),
    "init": ("items.csv", "--name", "t{}", "--questions", "100"),
    "ask": ("bench", "avg(x > 0.{})"),
    "check": ("bench", "avg(x > 0.{})", "--guess", "0.5"),
    "gate": ("bench", "scores.csv", "--as", "v{}"),
    "attach": ("bench", "a{}", "scores.csv"),
    "promote": ("bench", "v0", "--why", "better"),
    "columns": ("bench",),
    "final": ("bench", "avg(x > 0.{})", "--dry-run"),
    "token": ("list",),
    "budget": ("bench",),
    "ledger": ("bench",),
    "chart": ("bench", "chart.html"),
    "audit": ("bench",),
    "certificate": ("bench", "--output", "certificate.json"),
}
_NOT_SHOWN = 5


def seconds(words: Sequence[str], folder: Path) -> float:
    """Of the processor, by a new process; others on the machine do not count.

    Its modules are compiled once, as where the package is installed.
    """
    home = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    home["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    home.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=home, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, _NOT_SHOWN):
        raise RuntimeError(f"{' '.join(words)}: {done.stderr or done.stdout}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def command(name: str, number: int) -> list[str]:
    """The words of a command, never the same twice."""
    said = ("--help",) if name in _HELP else _WORDS.get(name, ())
    return ["-m", "holdfast", name, *(word.format(number) for word in said)]


def opened(folder: Path) -> None:
    """A ledger over items that a candidate has been compared on."""
    rng = np.random.default_rng(1)
    items = pl.DataFrame({"item": np.arange(ITEMS), "x": rng.random(ITEMS)})
    items.write_csv(folder / "items.csv")
    scores = items.select("item", score=pl.Series(rng.random(ITEMS) < 0.7).cast(pl.Int8))
    scores.write_csv(folder / "scores.csv")
    scores.with_columns(score=1 - pl.col("score")).write_csv(folder / "others.csv")
    named = ["-m", "holdfast", "init", "items.csv", "--name", "bench", "--key", "item"]
    seconds([*named, "--candidates", "100", "--questions", "100"], folder)
    for name, more in (("v0", ["--first"]), ("v1", [])):
        words = ["-m", "holdfast", "gate", "bench", "scores.csv", "--as", name]
        seconds([*words, *more], folder)


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        opened(folder)
        took: dict[str, list[float]] = {each: [] for each in ("", *COMMANDS)}
        for number in range(100, 100 + REPEATS):  # in turns: noise of the machine hits all alike
            for each, found in took.items():
                words = command(each, number) if each else ["-c", "import numpy"]
                found.append(seconds(words, folder))
        # The first of each compiles what the others load.
        numpy, *others = (statistics.median(each[1:]) for each in took.values())
        return [
            Row(
                f"holdfast {each}",
                "a second beyond numpy",
                found,
                found - numpy,
                AT_MOST.get(each, 0.4),
            )
            for each, found in zip(COMMANDS, others, strict=True)
        ]


if __name__ == "__main__":
    for row in rows():
        print(row)
