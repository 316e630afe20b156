"""`python -m benchmarks.long_ledgers`: a ledger of 200,000 entries, and one of 10,000 columns.

Prints a table: what each tenth of it took to write, opening, a question, the
audit, and the size of the files. Every check is two commits that wait for the disk: a folder in
memory (`TMPDIR`) shows what Holdfast takes by itself. Other numbers are named:
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
    ledger, numbers = folder / "long.ledger", itertools.count()

    def check(holdout: holdfast.Holdout, column: str = "x0") -> None:
        holdout.check(f"avg({column} > {next(numbers)}e-9)", guess=0.5)

    said: dict[str, Any] = {"questions": 10**7, "tolerance": 0.49}
    many = entries // 2  # a check is two entries
    yield from _of(ledger, f"{entries:,} entries", said, many, check, check)
    wide, rng, places = folder / "wide.ledger", np.random.default_rng(2), itertools.count()

    def attach(holdout: holdfast.Holdout) -> None:
        holdout.attach(f"v{next(places)}", rng.random(ROWS))

    def check_last(holdout: holdfast.Holdout) -> None:
        check(holdout, f"v{columns - 1}")

    said["key"] = "id"
    yield from _of(wide, f"{columns:,} attached columns", said, columns, attach, check_last)


def _of(
    ledger: Path,
    what: str,
    said: dict[str, Any],
    many: int,
    write: Callable[[holdfast.Holdout], None],
    check: Callable[[holdfast.Holdout], None],
) -> Iterator[Line]:
    frame = table(ROWS)

    def line(done: str, work: Callable[[], object]) -> Line:
        took = timed(work)
        return f"{what}: {done}", f"{took.clock:.3f}", f"{took.processor:.3f}"

    with holdfast.open(frame, ledger=ledger, **said) as holdout:
        tenth = max(1, many // 10)
        for start in range(0, many, tenth):

            def some(these: int = min(tenth, many - start)) -> None:
                for _ in range(these):
                    write(holdout)

            yield line(f"written, {start:,} to {min(many, start + tenth):,} of {many:,}", some)
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
