"""SQL engines: row values in SQL, and a cache of expression shapes they have accepted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.question.expression import (
    Constant,
    Expression,
    Operation,
    ValueKind,
    bottom_up,
    column_names,
)
from holdfast.question.row import RowValue
from holdfast.question.sql import Dialect, SqlLanguage
from holdfast.question.writing import Writer

__all__ = ["Taken", "WrittenRows", "from_origin", "step_sums", "written_rows"]


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """Row expressions in SQL: their values are `codes`, over the cleaned columns and the stages.

    `names` are those of the cleaned columns, by column. Each of the `stages` gives names to values
    that are computed from the columns and the stages before it.
    """

    names: Mapping[str, str]
    stages: Sequence[Mapping[str, str]]
    codes: Sequence[str]


def written_rows(expressions: Sequence[Expression], dialect: Dialect) -> WrittenRows:
    """The values of all expressions in one select over the columns that they read."""
    columns = sorted({column for each in expressions for column in column_names(each)})
    names = {column: f"c{place}" for place, column in enumerate(columns)}
    writer = Writer(SqlLanguage(names, dialect))
    codes = [writer.write(expression) for expression in expressions]
    return WrittenRows(names, writer.stages, codes)


def from_origin(row: RowValue, code: str, dialect: Dialect) -> str:
    """The value of every row, missing or not, above the origin of its grid."""
    value = f"coalesce({code}, {dialect.double(row.missing)})"
    origin = row.grid.origin
    return f"({value} - {dialect.double(origin)})" if origin else value


def step_sums(rows: Sequence[RowValue], *, squares: bool) -> list[list[str]]:
    """What is to be summed of the steps k0, k1, ... of each row value.

    With squares in the parts that `holdfast.data.sample.moments_of_sums` takes.
    """
    return [_summed(f"k{place}", row, squares) for place, row in enumerate(rows)]


def _summed(steps: str, row: RowValue, squares: bool) -> list[str]:
    if row.is_condition or not squares:
        return [steps]
    high, low = f"({steps} >> 16)", f"({steps} & 65535)"
    return [steps, *(f"{a} * {b}" for a, b in ((high, high), (high, low), (low, low)))]


# What an engine was seen to take: with other numbers it takes it, too.


_MOST, _SMALL = 1_000, 50  # of so many small questions it is known
_NUMBER = Constant(ValueKind.NUMBER, 0.5)


@dataclass(slots=True)
class Taken:
    """The shapes of small questions that were tried without rows."""

    _shapes: set[Expression] = field(default_factory=set)

    def try_others(
        self, rows: Sequence[RowValue], trial: Callable[[Sequence[RowValue]], None]
    ) -> None:
        """Try one row value of each shape that is new; what the trial raises is for the caller."""
        shapes = {_shape(row.source): row for row in rows if isinstance(row.source, Expression)}
        unknown = {shape: row for shape, row in shapes.items() if shape not in self._shapes}
        if not unknown:
            return
        trial(list(unknown.values()))
        if len(self._shapes) < _MOST:
            self._shapes |= {shape for shape in unknown if _is_small(shape)}


@bottom_up
def _shape(node: Expression) -> Expression:
    """An expression but for its numbers, which are all written alike."""
    match node:
        case Operation():
            return Operation(node.op, tuple(map(_shape, node.args)))
        case Constant(ValueKind.NUMBER, float()):
            return _NUMBER
        case _:
            return node


def _is_small(shape: Expression) -> bool:
    return not isinstance(shape, Operation) or shape.size <= _SMALL
