"""The SQL sample: row values written in SQL, summed and counted where a database has the rows.

What a scan computes is the same in every database: columns are cleaned, values that are used twice
get names, stage by stage, and the steps k0, k1, ... of every row value are summed. A database's own
sample says how its columns are cleaned, how selects are put over one another and run, how rows come
out of it and what is joined to them.
"""

from __future__ import annotations

import copy
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from holdfast.data.histogram import Histogram, histograms
from holdfast.data.keys import require_joinable
from holdfast.data.sample import (
    AcceptedShapes,
    Moments,
    complete,
    moments_of_sums,
    prepare,
    reading,
    row_moments,
    sources,
)
from holdfast.data.sql.language import Dialect, SqlLanguage
from holdfast.data.values import steps_of_frame
from holdfast.question.expression import ColumnType, Expression, Op, Operation, subtrees
from holdfast.question.row import RowValue
from holdfast.question.writing import write_rows

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Selection:
    """Selects that are put over one another: columns that are cleaned, named values, results.

    Each maps names to SQL. A stage keeps what is below it, the results are all that is left. They
    are `reused` if more than one aggregate mentions them.
    """

    columns: Sequence[str]
    cleaned: Mapping[str, str]
    stages: Sequence[Mapping[str, str]]
    results: Mapping[str, str]
    reused: bool = False


class SqlSample(ABC):
    """Rows of a database; the methods without a body are what differs between databases."""

    dialect: ClassVar[Dialect]
    most_sums: ClassVar[int] = sys.maxsize  # in one query, of values without ln and exp

    def __init__(self, types: Mapping[str, ColumnType]) -> None:
        self._types = dict(types)
        # By the database; None where what it takes depends on constants, too.
        self._accepted: AcceptedShapes | None = AcceptedShapes()
        self._accepted_here = AcceptedShapes()  # by Polars

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of rows."""

    @abstractmethod
    def _cleaned(self, column: str) -> str:
        """The column as row expressions see it: doubles without NaN, text, naive microseconds."""

    @abstractmethod
    def _aggregated(self, selection: Selection, aggregates: Sequence[str]) -> list[int]:
        """Aggregates over the results of all rows; one scan, refused if it is of other rows."""

    @abstractmethod
    def _try(self, selection: Selection) -> None:
        """Run the selection on no rows; what the database says is for the caller."""

    @abstractmethod
    def _batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The columns of all rows; types that Polars may not know come as text."""

    @abstractmethod
    def _join(self, key: str, frame: pl.DataFrame) -> Mapping[str, ColumnType]:
        """Put columns beside the rows, in a scan that asks for them; their types."""

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The columns and their types."""
        return self._types

    def prepare(self, rows: Sequence[RowValue]) -> None:
        """Refuse what the database cannot take, or Polars, which computes functions of batches."""
        if self._accepted is None:
            prepare(self._try_all, rows)
        else:
            self._accepted.try_others(rows, partial(prepare, self._try_all))
        self._accepted_here.try_others(rows, self._try_here)

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        """Exact sums of grid units."""
        return [total for total, _ in row_moments(self, rows, partial(self._sums, squares=False))]

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        """Exact sums of grid units and of their squares."""
        return row_moments(self, rows, partial(self._sums, squares=True))

    def histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        """Exact counts in narrow bins; by batches, where a function of them is among the values."""
        if len(sources(value for value, _ in asked)) < len(asked):
            return histograms(self, asked)
        return self._histograms(asked)

    def _histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        """Counts for row expressions only."""
        return histograms(self, asked)

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Batches of the columns; types that Polars may not know come as text."""
        return complete(self._batches(columns), self.n)

    def joined(self, key: str, frame: pl.DataFrame) -> Self:
        """The same rows with more columns, which are joined in every scan that asks for them."""
        require_joinable(self._types, key, frame)
        joined = copy.copy(self)
        joined._accepted = None if self._accepted is None else AcceptedShapes()
        joined._accepted_here = AcceptedShapes()
        with reading():
            joined._types = {**self._types, **joined._join(key, frame)}
        return joined

    def _try_here(self, rows: Sequence[RowValue]) -> None:
        prepare(partial(steps_of_frame, _without_rows(self._types)), rows)

    def _try_all(self, rows: Sequence[RowValue]) -> None:
        for chunk in self._chunks(sources(rows), squares=False):
            self._try(self._steps(chunk))

    def _sums(self, rows: Sequence[tuple[RowValue, Expression]], *, squares: bool) -> list[Moments]:
        """Sums of the steps of every row value, a scan for so many as one query takes."""
        return [
            moments
            for chunk in self._chunks(rows, squares=squares)
            for moments in self._scanned(chunk, squares=squares)
        ]

    def _scanned(
        self, rows: Sequence[tuple[RowValue, Expression]], *, squares: bool
    ) -> list[Moments]:
        values = [row for row, _ in rows]
        # What every row has in common is taken off afterwards, where a sum has room for it.
        from_low = squares or not self.dialect.wide_sums
        summed = (_summed(place, row, squares) for place, row in enumerate(values))
        aggregates = [
            self.dialect.counted(part) if row.is_condition else self._sum(part)
            for row, parts in zip(values, summed, strict=True)
            for part in parts
        ]
        totals = self._aggregated(self._steps(rows, from_low=from_low, reused=squares), aggregates)
        if squares:
            return moments_of_sums(values, totals)
        common = [0 if from_low or row.is_condition else self.n * row.grid.first for row in values]
        return [(total - each, 0) for total, each in zip(totals, common, strict=True)]

    def _sum(self, code: str) -> str:
        """The exact sum of whole numbers of at most 33 bits, or of any if sums are wide."""
        return f"sum({code})"

    def _selection(self, expressions: Sequence[Expression]) -> Selection:
        """The values v0, v1, ... of expressions; NULL where they are missing."""
        code = write_rows(expressions, partial(SqlLanguage, dialect=self.dialect))
        return Selection(
            list(code.names),
            {name: self._cleaned(column) for column, name in code.names.items()},
            code.stages,
            {f"v{place}": each for place, each in enumerate(code.codes)},
        )

    def _steps(
        self,
        rows: Sequence[tuple[RowValue, Expression]],
        *,
        from_low: bool = True,
        reused: bool = False,
    ) -> Selection:
        """The steps k0, k1, ... of every row; those of a condition are the condition."""
        values = self._selection([expression for _, expression in rows])
        steps = {
            f"k{place}": code if row.is_condition else self._step(row, code, from_low)
            for place, ((row, _), code) in enumerate(
                zip(rows, values.results.values(), strict=True)
            )
        }
        return Selection(values.columns, values.cleaned, values.stages, steps, reused)

    def _step(self, row: RowValue, code: str, from_low: bool) -> str:
        """The steps of a value, missing or not: an exact product, rounded to even.

        The product with the reciprocal of a large step may underflow, which is an error in some
        databases: there the value is rounded before, as Polars does it, by adding what leaves no
        bit below a step.
        """
        grid, double = row.grid, self.dialect.double
        value = f"coalesce({code}, {double(row.missing)})"
        if grid.origin:
            value = f"({value} - {double(grid.origin)})"
        if grid.step > 1:
            value = f"(({value} + {double(grid.shift)}) - {double(grid.shift)})"
        steps = self.dialect.whole(f"{value} * {double(1 / grid.step)}")
        return f"({steps} - ({grid.first}))" if from_low else steps

    def _chunks(
        self, rows: Sequence[tuple[RowValue, Expression]], *, squares: bool
    ) -> Iterator[list[tuple[RowValue, Expression]]]:
        """The rows, in order, so many at a time that their sums fit into one query."""
        chunk: list[tuple[RowValue, Expression]] = []
        size = 0
        for row, expression in rows:
            code = len(_summed(0, row, squares)) + _SERIES_AS_SUMS * _series_in(expression)
            if chunk and size + code > self.most_sums:
                yield chunk
                chunk, size = [], 0
            chunk.append((row, expression))
            size += code
        if chunk:
            yield chunk


_SERIES_AS_SUMS = 25  # how many sums are as much code as the stages of one ln or exp


def _series_in(expression: Expression) -> int:
    """How many times ln and exp are written out in an expression, each a series of its own."""
    return sum(
        isinstance(node, Operation) and node.op in (Op.LN, Op.EXP) for node in subtrees(expression)
    )


def _summed(place: int, row: RowValue, squares: bool) -> list[str]:
    """What is to be summed of the steps of a row value, squares in parts that fit 64 bits."""
    steps = f"k{place}"
    if row.is_condition or not squares:
        return [steps]
    high, low = f"({steps} >> 16)", f"({steps} & 65535)"
    return [steps, *(f"{a} * {b}" for a, b in ((high, high), (high, low), (low, low)))]


def _without_rows(types: Mapping[str, ColumnType]) -> pl.DataFrame:
    """A frame of the types that batches have."""
    import polars as pl

    dtypes: dict[ColumnType, Any] = {
        ColumnType.BOOLEAN: pl.Boolean,
        ColumnType.INTEGER: pl.Int64,
        ColumnType.FLOAT: pl.Float64,
        ColumnType.DATE: pl.Date,
        ColumnType.DATETIME: pl.Datetime("us"),
    }
    return pl.DataFrame(schema={name: dtypes.get(kind, pl.String) for name, kind in types.items()})
