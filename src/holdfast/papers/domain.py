"""Domain of finitely many cells: a few values for each column, in all their combinations.

Questions are evaluated on the cells as on rows. A question whose value does not change inside a
cell (a condition that cuts a column where its bins do) is about the domain exactly; any other is
about the values that stand for the cells, which makes its guess a little worse and nothing else.

Axes of the domain are its columns. A question uses few of them: it is evaluated on the cells of
those alone (a *face* of the domain), and sums run over the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from holdfast.data.values import evaluate
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.expression import ColumnType, Expression, ValueKind
from holdfast.question.row import RowValue
from holdfast.statistics.bind import read_again
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.bets import Array

MOST_DOMAIN_CELLS = 2**20
_MOST_WHOLE_NUMBERS = 64
_BINS = 8


@dataclass(frozen=True, slots=True)
class Cut:
    """A number cut at these edges; the middle of each bin stands for it."""

    edges: tuple[float, ...]

    def __init__(self, *edges: float) -> None:
        object.__setattr__(self, "edges", tuple(float(edge) for edge in edges))
        rising = all(low < high for low, high in pairwise(self.edges))
        if len(edges) < 2 or not rising or not all(map(math.isfinite, self.edges)):
            raise InvalidArgument("Cut needs two or more edges, each above the one before.")

    @property
    def middles(self) -> tuple[float, ...]:
        """The middle of each bin, in order."""
        return tuple((low + high) / 2 for low, high in pairwise(self.edges))


# What may be declared of a column: its values; a number of equal bins of its bounds; a Cut; or None
# for what is known of it anyway (booleans, whole numbers in bounds, columns of the design).
DeclaredValues: TypeAlias = Sequence[Any] | int | Cut | None


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """A question's values in [0, 1] on the cells of the columns it uses.

    `shape` is the domain's with neighbouring axes joined that are used, or not used, together;
    `values` has length 1 along axes that are not used. `is_condition`: only 0 and 1 occur.
    """

    shape: tuple[int, ...]
    values: Array
    is_condition: bool

    def weights(self, weights: Array) -> Array:
        """How much of the domain's weight is on each cell of the face."""
        marginal = weights.reshape(self.shape)
        for axis, length in enumerate(self.values.shape):
            if length == 1:  # one axis after the other, the slowest first: each sum is long
                marginal = marginal.sum(axis=axis, keepdims=True)
        return marginal

    def average(self, weights: Array) -> float:
        """The question's average under these weights of the domain."""
        return min(1.0, max(0.0, float(np.vdot(self.weights(weights), self.values))))

    def levels(self, weights: Array) -> tuple[Array, Array]:
        """Values that the question has, each with the domain's weight on it."""
        if self.is_condition:
            inside = self.average(weights)
            return np.array([0.0, 1.0]), np.array([1 - inside, inside])
        return self.values.ravel(), self.weights(weights).ravel()


@dataclass(frozen=True, slots=True)
class Domain:
    """Columns of a table with the values that stand for all there can be."""

    table: Table
    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.values)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def covers(self, statistic: Statistic) -> bool:
        """Whether it is a mean of all rows of an expression of the domain's columns."""
        return (
            isinstance(statistic, Mean)
            and isinstance(statistic.row.source, Expression)
            and set(statistic.row.columns) <= set(self.columns)
        )

    def face(self, row: RowValue) -> Face:
        """A row value on the cells of the columns that it uses."""
        if not isinstance(row.source, Expression):
            raise TypeError("only row expressions can be evaluated on a domain")
        used = [name in row.columns for name in self.columns]
        (evaluated,) = evaluate(self._cells(used), [row.source])
        if row.is_condition:
            values = evaluated.fill_null(value=False).cast(pl.Float64).to_numpy()
        else:
            width = row.high - row.low
            numbers = evaluated.fill_null(row.missing).to_numpy()
            values = np.clip((numbers - row.low) / width, 0, 1) if width else 0.0 * numbers
        blocks = [
            (use, math.prod(length for _, length in members))
            for use, members in groupby(zip(used, self.shape, strict=True), lambda pair: pair[0])
        ]
        shape = tuple(length for _, length in blocks)
        of_face = values.reshape([length if use else 1 for use, length in blocks])
        return Face(shape, of_face, row.is_condition)

    def face_of(self, question: str) -> Face | None:
        """The same for a question of a ledger; None if it is not about the domain."""
        try:
            statistic = read_again(question, self.table)
        except HoldfastError:
            return None
        if not isinstance(statistic, Mean) or not self.covers(statistic):
            return None
        return self.face(statistic.row)

    def _cells(self, used: Sequence[bool]) -> pl.DataFrame:
        """A table with one row for each cell of the used columns, the last of them fastest."""
        chosen = [place for place, use in enumerate(used) if use]
        columns, outer = [], 1
        inner = math.prod(len(self.values[place]) for place in chosen)
        for place in chosen:
            length = len(self.values[place])
            inner //= length
            along = np.arange(length, dtype=np.uint32).reshape(1, length, 1)
            indices = np.broadcast_to(along, (outer, length, inner)).ravel()
            columns.append(self._column(place).gather(pl.Series(indices)))
            outer *= length
        return pl.DataFrame(columns)

    def _column(self, place: int) -> pl.Series:
        name, values = self.columns[place], list(self.values[place])
        match self.table.schema.types[name].kind:
            case ValueKind.BOOLEAN:
                return pl.Series(name, values, pl.Boolean)
            case ValueKind.NUMBER:  # row expressions see whole numbers as doubles
                numbers = [None if value is None else float(value) for value in values]
                return pl.Series(name, numbers, pl.Float64)
            case ValueKind.TEXT:
                return pl.Series(name, values, pl.String)
            case _:
                return pl.Series(name, values)


def domain_of(table: Table, declared: Mapping[str, DeclaredValues] | None, most: int) -> Domain:
    """The domain that was declared, or that of every column whose values are known."""
    if declared is None:
        declared = {name: None for name in table.schema.types if _has_cells(table, name)}
    if not declared:
        raise InvalidArgument(
            "no column has values that are known without looking: declare some, for example "
            "columns={'origin': ['EWR', 'JFK', 'LGA'], 'delay': 8}."
        )
    values = {name: _values(table, name, each) for name, each in declared.items()}
    domain = Domain(table, tuple(values), tuple(values.values()))
    if not 2 <= domain.size <= most:
        raise InvalidArgument(
            f"the domain has {domain.size:,} cells ({' x '.join(map(str, domain.shape))}); it must "
            f"have from 2 to {most:,}. Declare fewer columns, or fewer values of them."
        )
    return domain


def _has_cells(table: Table, name: str) -> bool:
    kind = table.schema.types[name]
    return kind is ColumnType.BOOLEAN or name in table.schema.bounds or name in table.design.columns


def _values(table: Table, name: str, declared: DeclaredValues) -> tuple[Any, ...]:
    kind = table.schema.column(name, quoted=True).kind
    bounds = table.schema.bounds.get(name)
    match declared:
        case None:
            return _known_values(table, name)
        case Cut() if kind is ValueKind.NUMBER:
            return declared.middles
        case bool() | Cut():
            pass
        case int() if kind is ValueKind.NUMBER and bounds is not None and declared >= 1:
            return _equal_bins(bounds, declared)
        case str():
            pass
        case Sequence() if _are_values(declared, kind):
            return tuple(declared)
    raise InvalidArgument(
        f"the values of column {name!r} are declared as {declared!r}; declare a list of different "
        "values of its type, a Cut of numbers, or, where bounds are declared, a number of bins."
    )


def _known_values(table: Table, name: str) -> tuple[Any, ...]:
    kind, bounds = table.schema.types[name], table.schema.bounds.get(name)
    if name in table.design.columns:
        return tuple(table.design.members(name))
    if kind is ColumnType.BOOLEAN:
        return (False, True)
    if bounds is None:
        raise InvalidArgument(
            f"the values of column {name!r} are not known without looking; declare a list of them."
        )
    low, high = math.ceil(bounds.low), math.floor(bounds.high)
    if kind is ColumnType.INTEGER and high - low < _MOST_WHOLE_NUMBERS:
        return tuple(float(value) for value in range(low, high + 1))
    return _equal_bins(bounds, _BINS)


def _equal_bins(bounds: Range, count: int) -> tuple[float, ...]:
    width = (bounds.high - bounds.low) / count
    return tuple(bounds.low + (place + 0.5) * width for place in range(count))


def _are_values(values: Sequence[Any], kind: ValueKind) -> bool:
    types: dict[ValueKind, Any] = {
        ValueKind.BOOLEAN: bool,
        ValueKind.NUMBER: int | float,
        ValueKind.TEXT: str,
    }
    present = [value for value in values if value is not None]
    fitting = all(
        isinstance(value, types.get(kind, object))
        and (kind is not ValueKind.NUMBER or (not isinstance(value, bool) and math.isfinite(value)))
        for value in present
    )
    return bool(present) and fitting and len(set(values)) == len(values)
