"""The Polars engine: frames in memory, and files of any size by streaming."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from holdfast.data.plain import cleaned, column_type
from holdfast.data.polars_code import PolarsLanguage
from holdfast.data.sample import (
    BATCH_ROWS,
    Moments,
    check_names,
    complete,
    reading,
    row_moments,
    squares,
)
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.row import GRID, RowValue
from holdfast.question.writing import Writer

__all__ = ["PolarsSample"]

# Below this many rows in memory, starting the streaming engine costs more than it saves.
_STREAMING_ROWS = 1_000_000


class PolarsSample:
    """A table held by Polars."""

    def __init__(self, frame: pl.DataFrame | pl.LazyFrame) -> None:
        self._eager = frame if isinstance(frame, pl.DataFrame) else None
        self._frame = frame.lazy()
        with reading():
            self._dtypes = dict(self._frame.collect_schema())
            check_names(list(self._dtypes))
            count = self._frame.select(pl.len()).collect(engine="streaming")
        self._n = int(count.item())
        self._types = {name: column_type(dtype) for name, dtype in self._dtypes.items()}

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._n

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The columns and their types."""
        return self._types

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        """Exact sums of grid units."""
        return [total for total, _ in row_moments(self, rows, self._sums)]

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        """Exact sums of grid units and of their squares."""
        return row_moments(self, rows, self._moments)

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Batches of the columns."""
        if self._eager is not None:
            return self._eager.select(columns).iter_slices(BATCH_ROWS)
        chosen = self._frame.select(columns)
        batches = chosen.collect_batches(chunk_size=BATCH_ROWS, maintain_order=False, lazy=True)
        return complete(batches, self._n)

    def _sums(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        frame, units = self._units(rows)
        sums = [code.sum().alias(name) for name, code in units.items()]
        found = self._collected(frame.select(pl.len().alias("rows"), *sums))
        return [
            (int(found[f"u{place}"]) * (GRID if row.is_condition else 1), 0)
            for place, (row, _) in enumerate(rows)
        ]

    def _moments(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        frame, units = self._units(rows)
        frame = frame.select(code.alias(name) for name, code in units.items())
        wanted = [pl.len().alias("rows")]
        for place, (row, _) in enumerate(rows):
            unit = pl.col(f"u{place}")
            wanted.append(unit.sum().alias(f"sum{place}"))
            if not row.is_condition:
                high, low = unit // 2**15, unit % 2**15
                products = {"hh": high * high, "hl": high * low, "ll": low * low}
                wanted += [code.sum().alias(f"{name}{place}") for name, code in products.items()]
        found = self._collected(frame.select(wanted))
        totals: list[Moments] = []
        for place, (row, _) in enumerate(rows):
            total = int(found[f"sum{place}"])
            if row.is_condition:
                totals.append((total * GRID, total * GRID**2))
            else:
                parts = (int(found[f"{name}{place}"]) for name in ("hh", "hl", "ll"))
                totals.append((total, squares(*parts)))
        return totals

    def _units(
        self, rows: Sequence[tuple[RowValue, Expression]]
    ) -> tuple[pl.LazyFrame, dict[str, pl.Expr]]:
        """A frame, and over it the grid units u0, u1, ... of every row value.

        Conditions stay Boolean: their sum counts the rows where they are true.
        """
        columns = sorted({column for row, _ in rows for column in row.columns})
        names = {column: f"c{place}" for place, column in enumerate(columns)}
        writer = Writer(PolarsLanguage(names))
        units = {}
        for place, (row, expression) in enumerate(rows):
            code = writer.write(expression)
            units[f"u{place}"] = code if row.is_condition else _on_grid(row, code)
        frame = self._frame.select(
            cleaned(column, self._dtypes[column]).alias(name) for column, name in names.items()
        )
        for stage in writer.stages:
            frame = frame.with_columns(code.alias(name) for name, code in stage.items())
        return frame, units

    def _collected(self, frame: pl.LazyFrame) -> dict[str, int]:
        in_memory = self._eager is not None and self._n <= _STREAMING_ROWS
        with reading():
            result = frame.collect(engine="in-memory" if in_memory else "streaming")
            found = result.row(0, named=True)
            if found["rows"] != self._n:
                raise EOFError
        return found


def _on_grid(row: RowValue, value: pl.Expr) -> pl.Expr:
    value = value.fill_null(row.missing)
    shifted = value - row.low if row.low else value
    # Not below 0, so that the cast rounds down; in range by the interval arithmetic of the
    # question, so that the cast need not check it again.
    return (shifted * row.scale).cast(pl.Int64, wrap_numerical=True)
