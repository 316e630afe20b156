"""Row values in SQL: what all engines have in common that are asked in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.question.expression import Expression, column_names
from holdfast.question.row import RowValue
from holdfast.question.sql import Dialect, SqlLanguage
from holdfast.question.writing import Writer

__all__ = ["WrittenRows", "from_origin", "step_sums", "written_rows"]


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
