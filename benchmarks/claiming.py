"""Claims about columns that arrive later, through a holdout: against the table's own, and Polars.

What is left, beside a check, is in `asking`.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import holdfast
from benchmarks.measure import Row, compare, within

ITEMS, ROWS, CANDIDATES, TOGETHER, ATTACHED = 100_000, 1_000_000, 300, 200, 20


def items() -> tuple[pl.DataFrame, np.random.Generator]:
    """Items whose rows are in no order of their keys, with a label and a number."""
    rng = np.random.default_rng(1)
    order = rng.permutation(ITEMS)
    columns = {"id": order, "label": order % 2 == 0, "x": rng.random(ITEMS)}
    return pl.DataFrame(columns), rng


def attaching(folder: Path) -> Row:
    """Columns of 100k values, digested, stored and written down, after a first one."""
    frame, rng = items()
    columns = [rng.random(ITEMS) for _ in range(ATTACHED + 1)]
    with holdfast.open(frame, ledger=folder / "attach.ledger", key="id", questions=10) as holdout:
        holdout.attach("first", columns.pop())
        return within(
            f"attach 100k values, {ATTACHED} times, to a holdout",
            lambda: [holdout.attach(f"v{i}", column) for i, column in enumerate(columns)],
            at_most=0.01 * ATTACHED,
        )


def checking(folder: Path) -> Row:
    """A check of a condition on an attached column, and on one of the table."""
    frame, rng = items()
    holdout = holdfast.open(
        frame, ledger=folder / "check.ledger", key="id", questions=1_000, tolerance=0.1
    )
    holdout.attach("v", rng.random(ITEMS))
    number = itertools.count(5_000_000)
    return compare(
        "check of an attached condition, 100k rows",
        lambda: holdout.check(f"avg(v > {next(number)}e-7)", guess=0.5),
        "check of the table's own",
        lambda: holdout.check(f"avg(x > {next(number)}e-7)", guess=0.5),
        at_most=1.1,
        repeats=40,
    )


def together(folder: Path) -> Row:
    """Two hundred checks in one scan."""
    frame = pl.DataFrame({"x": np.random.default_rng(1).random(ROWS)})
    holdout = holdfast.open(frame, ledger=folder / "many.ledger", questions=10_000, tolerance=0.1)
    number = itertools.count(5_000_000)
    shares = [(pl.col("x") > 0.5 + i * 1e-7).mean().alias(str(i)) for i in range(TOGETHER)]

    def checks() -> None:
        texts = [f"avg(x > {next(number)}e-7)" for _ in range(TOGETHER)]
        holdout.check_many(texts, [0.5] * TOGETHER)

    return compare(
        "check_many of 200 conditions, 1M rows in memory",
        checks,
        "Polars: the same 200 shares",
        lambda: frame.lazy().select(shares).collect(engine="streaming"),
        at_most=1.5,
        repeats=5,
        by_processor=True,
    )


def candidates(folder: Path) -> Row:
    """An evaluation loop: a model's answers brought, and its accuracy checked, again and again."""
    frame, rng = items()
    label = np.arange(ITEMS) % 2 == 0  # in the order of keys
    answers = [label ^ (rng.random(ITEMS) < 0.2) for _ in range(CANDIDATES)]
    holdout = holdfast.open(
        frame, ledger=folder / "loop.ledger", key="id", questions=CANDIDATES, tolerance=0.05
    )

    def loop() -> None:
        for version, answer in enumerate(answers):
            holdout.attach(f"v{version}", answer)
            holdout.check(f"avg(v{version} = label)", guess=0.8)

    return within("300 candidates on 100k rows, attach and check", loop, at_most=5.0)


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [measured(folder) for measured in (attaching, checking, together, candidates)]
