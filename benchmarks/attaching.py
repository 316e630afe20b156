"""Columns that arrive later: to bring one, and to ask about it, against a column of the table."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import Row, compare
from holdfast.data import Sample, open_sample
from holdfast.data.attached import Fields, column_values
from holdfast.data.keys import key_order
from holdfast.question import Schema, parse_row, row_value
from holdfast.question.row import RowValue

BROUGHT, ROWS = 100_000, 1_000_000


def table(rows: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A table whose rows are in no order of their keys, and values for it in another order."""
    rng = np.random.default_rng(1)
    held = pl.DataFrame({"id": rng.permutation(rows), "x": rng.normal(size=rows)})
    brought = pl.DataFrame({"id": rng.permutation(rows), "v": rng.normal(size=rows)})
    return held, brought


def bringing() -> Row:
    """Values by their keys: read, matched, digested and put beside the rows."""
    held, brought = table(BROUGHT)
    sample = open_sample(held)
    order = key_order(sample, "id")

    def attach() -> None:
        column = column_values(brought, order, Fields("v"))
        column.digest()
        sample.joined("id", column.frame("v"))

    return compare(
        "attach 100k values after the first",
        attach,
        "Polars: one left join of them",
        lambda: held.join(brought, on="id", how="left"),
        at_most=1.5,
    )


def in_memory() -> Row:
    """A condition on an attached column, and the same one on the table's own."""
    held, brought = table(ROWS)
    sample = open_sample(held)
    joined = sample.joined("id", brought)
    own, attached = conditions(joined, "x", "v")
    return compare(
        "sum over an attached condition, 1M rows",
        lambda: joined.sums([attached]),
        "over a column of the table",
        lambda: sample.sums([own]),
        at_most=1.1,
        repeats=25,
    )


def in_files(folder: Path) -> Row:
    """A table in a file takes the column along in every scan that asks for it."""
    held, brought = table(ROWS)
    path = folder / "held.parquet"
    held.write_parquet(path)
    joined = open_sample(path).joined("id", brought)
    (attached,) = conditions(joined, "v")
    raw = pl.scan_parquet(path).join(brought.lazy(), on="id", how="left")
    return compare(
        "sum over an attached condition, 1M rows of Parquet",
        lambda: joined.sums([attached]),
        "Polars: the same join and sum",
        lambda: raw.select((pl.col("v") > 0.5).sum()).collect(engine="streaming"),
        at_most=1.3,
    )


def conditions(sample: Sample, *columns: str) -> list[RowValue]:
    """That each column is above a half."""
    schema = Schema(sample.types)
    return [row_value(parse_row(f"{column} > 0.5", schema)) for column in columns]


def rows() -> list[Row]:
    """All rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        return [bringing(), in_memory(), in_files(Path(folder))]
