"""`python -m benchmarks.long_ledgers`: a ledger of 200,000 entries, and one of 10,000 columns.

Prints a table: opening, a question, the audit, and the size of the files. Other numbers are named:
`python -m benchmarks.long_ledgers 20000 1000`.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import holdfast
from benchmarks.growth import table
from benchmarks.measure import timed
from holdfast.ledger.audit import audit

ROWS = 1_000
Line = tuple[str, str, str]


def lines(entries: int, columns: int, folder: Path) -> Iterator[Line]:
    """What each ledger takes, line by line."""
    frame = table(ROWS)
    ledger, numbers = folder / "long.ledger", itertools.count()

    def check(holdout: holdfast.Holdout, column: str = "x0") -> None:
        holdout.check(f"avg({column} > {next(numbers)}e-9)", guess=0.5)

    def filled() -> None:
        with holdfast.open(frame, ledger=ledger, questions=10**7, tolerance=0.49) as holdout:
            for _ in range(entries // 2):  # a check is two entries
                check(holdout)

    yield from _of(ledger, f"{entries:,} entries", filled, check)
    wide, rng = folder / "wide.ledger", np.random.default_rng(2)

    def attached() -> None:
        said: dict[str, Any] = {"key": "id", "questions": 10**7, "tolerance": 0.49}
        with holdfast.open(frame, ledger=wide, **said) as holdout:
            for place in range(columns):
                holdout.attach(f"v{place}", rng.random(ROWS))

    last = f"v{columns - 1}"
    yield from _of(wide, f"{columns:,} attached columns", attached, lambda to: check(to, last))


def _of(
    ledger: Path, what: str, filled: Callable[[], None], check: Callable[[holdfast.Holdout], None]
) -> Iterator[Line]:
    frame = table(ROWS)

    def line(done: str, work: Callable[[], object]) -> Line:
        took = timed(work)
        return f"{what}: {done}", f"{took.clock:.3f}", f"{took.processor:.3f}"

    yield line("written", filled)
    yield line("open and close", lambda: holdfast.open(frame, ledger=ledger).close())
    with holdfast.open(frame, ledger=ledger) as holdout:
        yield line("first check", lambda: check(holdout))
        yield line("next check", lambda: check(holdout))
    wrong: list[str] = []
    yield line("audit", lambda: wrong.extend(str(x) for x in audit(ledger) if not x.fine))
    if wrong:
        sys.exit("; ".join(wrong))
    files = [path for path in ledger.parent.rglob("*") if ledger.name in str(path)]
    size = sum(path.stat().st_size for path in files if path.is_file())
    yield f"{what}: {size / 1e6:.1f} MB in its files", "", ""


def main(arguments: list[str]) -> None:
    entries, columns = map(int, arguments or ("200000", "10000"))
    print("| what | seconds | of the processor |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        for line in lines(entries, columns, Path(name)):
            print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
