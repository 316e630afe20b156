"""Design columns that somebody decided, and the groups of a table with their sizes.

They are declared when a ledger is opened, and are public from then on: how many rows have each
combination of their values is written down, so that groups made of them have public sizes. Every
promise is then about the population *with the design as it is in these rows*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.data.histogram import value_counts
from holdfast.data.sample import Sample
from holdfast.data.sampling import Clustered, Sampling
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column
from holdfast.question.expression import ColumnType, Expression, column_names

if TYPE_CHECKING:
    import polars as pl

DesignValue = bool | int | float | str | None  # a float of a column with declared values

MOST_CELLS = 10_000


def in_order(values: Sequence[DesignValue]) -> tuple[tuple[str, Any], ...]:
    """What to sort groups by: their values, which within a column are of one type."""
    return tuple((type(value).__name__, value) for value in values)


_TYPES = (ColumnType.BOOLEAN, ColumnType.INTEGER, ColumnType.TEXT)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of rows of public size; `squares` adds up the squared sizes of its parts by unit."""

    size: int
    squares: int


@dataclass(frozen=True, slots=True)
class Design:
    """How many rows there are in each cell: each combination of values of the columns.

    `squares` adds up, for each cell, the squared number of its rows in each sampling unit (rows
    drawn one by one are units of 1); `straddling` says whether a unit has rows in several cells.
    """

    columns: tuple[str, ...]
    types: tuple[ColumnType, ...]
    cells: tuple[tuple[DesignValue, ...], ...]
    counts: tuple[int, ...]
    squares: tuple[int, ...]
    straddling: bool

    def covers(self, condition: Expression) -> bool:
        """Whether the condition is about design columns alone."""
        return set(column_names(condition)) <= set(self.columns)

    def members(self, column: str) -> list[DesignValue]:
        """The values of a design column, in order; missing ones are left out."""
        return [value for (value,) in self.combinations([column])]

    def combinations(self, columns: Sequence[str]) -> list[tuple[DesignValue, ...]]:
        """What design columns have together, in order; where one is missing it is left out."""
        places = [self.columns.index(column) for column in columns]
        chosen = {tuple(cell[place] for place in places) for cell in self.cells}
        return sorted((values for values in chosen if None not in values), key=in_order)

    def group(self, condition: Expression) -> Group:
        """The rows for which a condition about design columns holds."""
        inside = [place for place, holds in enumerate(self._holds(condition)) if holds]
        squares = sum(self.squares[place] for place in inside)
        # A unit in several cells counts (a + b + ...)^2, at most their number times a^2 + b^2...
        squares *= len(inside) if self.straddling else 1
        return Group(sum(self.counts[place] for place in inside), squares)

    def _holds(self, condition: Expression) -> list[bool]:
        from holdfast.data.values import evaluate

        (holds,) = evaluate(self._table(), [condition])
        return [value is True for value in holds.to_list()]

    def _table(self) -> pl.DataFrame:
        import polars as pl

        # Row expressions see whole numbers as doubles, however large they are.
        dtypes = {ColumnType.BOOLEAN: pl.Boolean, ColumnType.INTEGER: pl.Float64}
        return pl.DataFrame(
            [
                pl.Series(
                    column,
                    [
                        float(v) if kind is ColumnType.INTEGER and v is not None else v
                        for v in values
                    ],
                    dtypes.get(kind, pl.String),
                )
                for column, kind, values in zip(
                    self.columns, self.types, zip(*self.cells, strict=True), strict=True
                )
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the ledger."""
        return {
            "columns": list(self.columns),
            "types": [str(kind) for kind in self.types],
            "cells": [list(cell) for cell in self.cells],
            "counts": list(self.counts),
            "squares": list(self.squares),
            "straddling": self.straddling,
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Design:
        return cls(
            tuple(body["columns"]),
            tuple(ColumnType(kind) for kind in body["types"]),
            tuple(tuple(cell) for cell in body["cells"]),
            tuple(body["counts"]),
            tuple(body["squares"]),
            body["straddling"],
        )


NO_DESIGN = Design((), (), (), (), (), False)


@dataclass(frozen=True, slots=True)
class _AnyGroup(Design):
    """Every group may be asked about: to read a question no size is needed."""

    def covers(self, condition: Expression) -> bool:  # noqa: ARG002
        return True

    def group(self, condition: Expression) -> Group:  # noqa: ARG002
        return Group(1, 1)


ANY_GROUP = _AnyGroup((), (), (), (2,), (2,), False)


def design_of(sample: Sample, columns: Sequence[str], sampling: Sampling) -> Design:
    """The cells of the declared columns, and what is public of the units in them."""
    if isinstance(columns, str) or not all(isinstance(column, str) for column in columns):
        raise InvalidArgument("design must be a list with the names of columns.")
    names = sorted(set(columns))
    if not names:
        return NO_DESIGN
    for column in names:
        if column not in sample.types:
            raise InvalidArgument(f"design names {no_column(column, sample.types)}")
        if sample.types[column] not in _TYPES:
            raise InvalidArgument(
                f"design names {column!r}, a column of {sample.types[column]}; design columns are "
                "text, whole numbers or booleans with few values."
            )
    import polars as pl

    unit = sampling.column if isinstance(sampling, Clustered) else None
    sizes = _sizes(sample, names, unit)
    count = pl.col("rows").sum()
    squares = count if unit is None else (pl.col("rows") ** 2).sum()
    cells = sizes.group_by("cell").agg(count=count, squares=squares).sort("cell")
    return Design(
        tuple(names),
        tuple(sample.types[name] for name in names),
        tuple(tuple(cell.values()) for cell in cells["cell"].to_list()),
        tuple(cells["count"].to_list()),
        tuple(cells["squares"].to_list()),
        unit is not None and bool(sizes["unit"].is_duplicated().any()),
    )


def _sizes(sample: Sample, names: Sequence[str], unit: str | None) -> pl.DataFrame:
    """Rows by cell and sampling unit; refused when there are too many cells to write down."""
    import polars as pl

    counts = value_counts(sample, names if unit is None else [*names, unit])
    cell = pl.struct(pl.col(f"v{place}").alias(name) for place, name in enumerate(names))
    unit_of = pl.lit(0) if unit is None else pl.col(f"v{len(names)}")
    sizes = counts.select(cell=cell, unit=unit_of, rows="rows")
    count = sizes["cell"].n_unique()
    if count > MOST_CELLS:
        raise InvalidArgument(
            f"the design columns {', '.join(names)} have {count:,} combinations of values; at most "
            f"{MOST_CELLS:,} can be public. Declare columns with few values."
        )
    return sizes


# The groups of a table: which combinations of values there are, and how many rows have each.


def group_sizes(sample: Sample, columns: Sequence[str]) -> Mapping[tuple[DesignValue, ...], int]:
    """How many rows have each combination of values; rows that miss one of them are left out."""
    counts = value_counts(sample, columns).drop_nulls()
    return {tuple(values): rows for *values, rows in counts.iter_rows()}
