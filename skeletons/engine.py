"""Skeleton of an engine: a table that comes in batches, each a Polars frame.

An engine counts rows and sums row values exactly, to the last bit as all others do. This one lets
`steps_of_frame` compute the steps of each row; one with a language of its own writes expressions
in it (`question/writing.py`; `data/sql/duckdb.py` and `data/polars.py` do).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from holdfast.data.histogram import Histogram, histograms
from holdfast.data.keys import require_joinable
from holdfast.data.plain import column_type, plain
from holdfast.data.sample import Moments, added, check_names, complete, prepare
from holdfast.data.values import steps_of_frame
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.row import RowValue


class BatchSample:
    """Frames with the same columns, one after another; they must never change."""

    def __init__(self, batches: Sequence[pl.DataFrame]) -> None:
        check_names(batches[0].columns)
        self._batches = list(batches)
        self._n = sum(batch.height for batch in batches)

    @property
    def n(self) -> int:
        return self._n

    @property
    def types(self) -> Mapping[str, ColumnType]:
        return {name: column_type(dtype) for name, dtype in self._batches[0].schema.items()}

    def prepare(self, rows: Sequence[RowValue]) -> None:
        # Tried on no rows, before anything is charged.
        prepare(BatchSample([self._batches[0].clear()]).sums, rows)

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        return [total for total, _ in self.moments(rows)]

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        # Whole numbers of steps, which neither overflow nor depend on the order; then grid units.
        totals = [(0, 0)] * len(rows)
        columns = sorted({column for row in rows for column in row.columns})
        for frame in self.frames(columns):
            for place, steps in enumerate(steps_of_frame(frame, rows)):
                totals[place] = added(totals[place], steps)
        return [row.grid.moments(*total) for row, total in zip(rows, totals, strict=True)]

    def histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        return histograms(self, asked)

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        # `complete` turns a failure on the way into words that quote no data.
        return complete((batch.select(columns) for batch in self._batches), self._n)

    def joined(self, key: str, frame: pl.DataFrame) -> BatchSample:
        # A row's own values, by its key; NULL where its key is not in the frame.
        require_joinable(self.types, key, frame)
        beside = frame.rename({key: "key/of"})
        return BatchSample(
            [
                batch.with_columns(plain(key, batch.schema[key]).alias("key/of"))
                .join(beside, on="key/of", how="left", maintain_order="left")
                .drop("key/of")
                for batch in self._batches
            ]
        )
