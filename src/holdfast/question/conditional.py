"""Sub-populations: the mean of a value among the rows for which a condition holds.

How many rows that are is not public, so the mean is not asked as a ratio. Two averages over all
rows are asked: the share of the group, E[1_c], and the residual E[(value - pivot) 1_c] around the
middle of the value's range; the group's mean follows from their intervals (`theory.conditional`).
A missing value counts in the group as it counts everywhere; a condition that is NULL does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.columns import Schema
from holdfast.question.expression import Call, Column, ColumnType, Constant, Expression, Kind, Op
from holdfast.question.parse import parse_row
from holdfast.question.row import RowValue, row_value
from holdfast.question.statistic import Mean
from holdfast.question.text import text

__all__ = ["Conditional", "conditional", "group"]

_GROUPING = (ColumnType.BOOLEAN, ColumnType.INTEGER, ColumnType.TEXT)


@dataclass(frozen=True, slots=True)
class Conditional:
    """The mean of `value` among the rows where `condition` holds."""

    value: RowValue
    condition: Expression

    @property
    def text(self) -> str:
        """The canonical text."""
        return f"avg({self.value.text}) where {text(self.condition)}"

    @property
    def pivot(self) -> float:
        """The middle of the range: public, and the same whoever asks."""
        return self.value.low + (self.value.high - self.value.low) / 2

    def share(self) -> Mean:
        """The share of the group among all rows."""
        return Mean(row_value(self.condition))

    def residual(self) -> Mean:
        """The average over all rows of value - pivot in the group, and 0 outside."""
        source = self.value.source
        if not isinstance(source, Column | Constant | Call):
            raise InvalidQuestion("where= and by= need a row expression, not a Python function.")
        number = build.number(source, "a mean")
        total = build.coalesce([number, build.constant(self.value.missing)])
        rest = build.arithmetic(Op.SUBTRACT, total, build.constant(self.pivot))
        return Mean(row_value(build.case([(self.condition, rest)], build.constant(0.0))))


def conditional(value: Mean, where: str, schema: Schema) -> Conditional:
    """The mean of `value` where a condition, written as text, holds."""
    condition = parse_row(where, schema)
    if condition.kind is not Kind.BOOLEAN:
        raise InvalidQuestion(f"where= needs a condition, and this is a {condition.kind}.")
    return Conditional(value.row, condition)


def group(value: Mean, by: str, member: bool | float | str, schema: Schema) -> Conditional:
    """The mean of `value` among the rows that have one value in the column `by`."""
    column = schema.column(by)
    if column.type not in _GROUPING:
        raise InvalidQuestion(
            f"by= needs a column of text, whole numbers or booleans, and {by!r} is {column.type}."
        )
    condition = (
        column if member is True else build.compare(Op.EQUAL, column, build.constant(member))
    )
    return Conditional(value.row, condition)
