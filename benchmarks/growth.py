"""How the time of a question grows: with questions at once, the ledger's length, and columns."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import holdfast
from benchmarks.measure import Beside, side_by_side
from benchmarks.page import Line, Scale, Section

ROWS, FEW_ROWS, FEW = 1_000_000, 1_000, 10
TOGETHER = (1, 10, 50, 200)
ATTACHED = (1, 10, 50)


def table(rows: int) -> pl.DataFrame:
    """Keys, and doubles in four columns, a fixed seed."""
    rng = np.random.default_rng(1)
    columns = {f"x{place}": rng.random(rows) for place in range(4)}
    return pl.DataFrame({"id": rng.permutation(rows), **columns})


def questions(folder: Path, scale: Scale) -> Iterator[Line]:
    """So many questions in one scan, beside one question."""
    said: dict[str, Any] = {"questions": 100_000, "tolerance": 0.4}
    with holdfast.open(table(ROWS), ledger=folder / "together.ledger", **said) as holdout:
        numbers = itertools.count(1)

        def asked(many: int) -> None:
            texts = [f"avg(x{i % 4} > {next(numbers)}e-6)" for i in range(many)]
            holdout.ask_many(texts, tolerance=0.4)

        for many in TOGETHER:
            found = side_by_side(partial(asked, many), partial(asked, 1), scale.repeats)
            yield _line(f"ask_many({many}), {ROWS:,} rows in memory", "one question", found)


def ledger_length(folder: Path, scale: Scale) -> Iterator[Line]:
    """Checks with so many entries before them, beside one with few; and opening such a ledger.

    Checks that are confirmed cost little, so that a long ledger still has room.
    """
    frame, holdouts = table(FEW_ROWS), {}
    lengths = FEW, scale.entries // 10, scale.entries
    for length in lengths:
        holdouts[length] = holdout = holdfast.open(
            frame, ledger=folder / f"{length}.ledger", questions=10**6, tolerance=0.49
        )
        for number in range(length // 2):  # a check is two entries
            holdout.check(f"avg(x0 > {number}e-9)", guess=0.5)
    numbers = itertools.count()

    def checked(length: int) -> None:
        for _ in range(20):
            holdouts[length].check(f"avg(x1 > {next(numbers)}e-9)", guess=0.5)

    def opened(length: int) -> None:
        with holdfast.open(frame, ledger=folder / f"{length}.ledger") as holdout:
            holdout.check("avg(x0 > 3e-9)", guess=0.5)

    for length in lengths[1:]:
        for what, work in (("20 checks", checked), ("open and repeat", opened)):
            found = side_by_side(partial(work, length), partial(work, FEW), scale.repeats)
            yield _line(f"{what}, {length:,} entries in the ledger", f"{FEW} entries", found)
    for holdout in holdouts.values():
        holdout.close()


def attached_columns(folder: Path, scale: Scale) -> Iterator[Line]:
    """A check of an attached column among so many, beside one of the table's own."""
    frame, rng = table(ROWS // 10), np.random.default_rng(2)
    said: dict[str, Any] = {"key": "id", "questions": 100_000, "tolerance": 0.4}
    with holdfast.open(frame, ledger=folder / "columns.ledger", **said) as holdout:
        numbers, there = itertools.count(1), 0

        def checked(column: str) -> None:
            holdout.check(f"avg({column} > 0.5 + {next(numbers)}e-9)", guess=0.5)

        for many in ATTACHED:
            for place in range(there, many):
                holdout.attach(f"v{place}", rng.random(frame.height))
            there = many
            last = partial(checked, f"v{many - 1}")
            found = side_by_side(last, partial(checked, "x0"), 4 * scale.repeats)
            what = f"check of an attached column, {many} of them, {frame.height:,} rows"
            yield _line(what, "a column of the table", found)


def lines(scale: Scale) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield from questions(folder, scale)
        yield from ledger_length(folder, scale)
        yield from attached_columns(folder, scale)


def _line(what: str, beside: str, found: Beside) -> Line:
    times = f"{found.ours.clock:.4f}", f"{found.theirs.clock:.4f}"
    return (what, beside, *times, f"{found.ratio.clock:.2f}", f"{found.ratio.processor:.2f}")


SECTION = Section(
    "growth",
    "Growth",
    """
With rows it is in the first table: what is beyond the commits grows as the raw scan does. Here are
questions that are put together, the length of the ledger and the number of attached columns, each
beside the smallest of its kind, in turns.
""",
    ("what", "beside", "seconds", "beside", "ratio", "by the processor"),
    lines,
)
