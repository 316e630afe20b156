"""The row expression: an immutable tree that gives one value for one row.

Three nodes are enough: a column, a constant, and an operation on expressions. Every operation is
total: for every row it gives a value of its kind or NULL, and nothing in the data can make it fail.

* Numbers are IEEE doubles, infinities included. NaN does not exist: it is NULL wherever it would
  appear (a NaN in a column, inf - inf, 0 * inf). Anything divided by zero is NULL.
* Conditions follow SQL's three-valued logic. Every operation gives NULL for a NULL operand, except
  AND/OR (a false, or a true, decides alone), IS NULL, COALESCE and CASE (NULL chooses no branch).
* Text is compared by its bytes; LOWER and UPPER change the letters A-Z only, LENGTH counts code
  points. These do not depend on a collation, a locale or a version of Unicode.
* Moments (dates and date-times) are microseconds without time zone, years 1 to 9999, NULL outside;
  a column with a time zone is read in UTC, a finer one is rounded down.

Trees are made by `holdfast.question.build`, which checks kinds and puts every tree in one normal
form, so that two spellings of one question are one tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from holdfast.errors import InvalidQuestion

__all__ = [
    "MAX_SIZE",
    "Call",
    "Column",
    "ColumnType",
    "Constant",
    "Expression",
    "Kind",
    "Op",
    "column_names",
    "walk",
]


MAX_SIZE = 2_000  # nodes; BETWEEN, IN and NULLIF repeat an operand, so short text can be large


class Kind(StrEnum):
    """What kind of value an expression gives, in words."""

    BOOLEAN = "a condition"
    NUMBER = "a number"
    TEXT = "text"
    MOMENT = "a date or time"


class ColumnType(StrEnum):
    """The logical type of a column; width, encoding and unit are the engine's business."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    TEXT = "text"
    DATE = "date"
    DATETIME = "datetime"
    OTHER = "other"

    @property
    def kind(self) -> Kind | None:
        """The kind of value in a question, or None: such a column cannot be used in one."""
        return _COLUMN_KIND.get(self)


_COLUMN_KIND = {
    ColumnType.BOOLEAN: Kind.BOOLEAN,
    ColumnType.INTEGER: Kind.NUMBER,
    ColumnType.FLOAT: Kind.NUMBER,
    ColumnType.TEXT: Kind.TEXT,
    ColumnType.DATE: Kind.MOMENT,
    ColumnType.DATETIME: Kind.MOMENT,
}


class Op(StrEnum):
    """Every operation there is."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    NEGATE = "negate"
    ABS = "abs"
    LEAST = "least"
    GREATEST = "greatest"
    CLIP = "clip"
    INDICATOR = "indicator"
    LENGTH = "length"
    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    HOUR = "hour"
    MINUTE = "minute"
    WEEKDAY = "weekday"
    EQUAL = "="
    UNEQUAL = "!="
    BELOW = "<"
    AT_MOST = "<="
    ABOVE = ">"
    AT_LEAST = ">="
    AND = "and"
    OR = "or"
    NOT = "not"
    IS_NULL = "is null"
    LIKE = "like"
    LOWER = "lower"
    UPPER = "upper"
    COALESCE = "coalesce"
    CASE = "case"


_BOOLEAN_OPS = frozenset(
    {Op.EQUAL, Op.UNEQUAL, Op.BELOW, Op.AT_MOST, Op.ABOVE, Op.AT_LEAST}
    | {Op.AND, Op.OR, Op.NOT, Op.IS_NULL, Op.LIKE}
)
_TEXT_OPS = frozenset({Op.LOWER, Op.UPPER})


@dataclass(frozen=True, slots=True)
class Column:
    """The value of one column."""

    name: str
    type: ColumnType

    @property
    def kind(self) -> Kind:
        """The kind of the column's values."""
        return _COLUMN_KIND[self.type]


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal of a kind, or NULL of that kind (None). Numbers are finite floats."""

    kind: Kind  # first, so that the number 1 and the condition true are different constants
    value: bool | float | str | datetime | None


@dataclass(frozen=True, slots=True)
class Call:
    """An operation on expressions.

    CLIP holds (value, low, high); CASE holds (condition, value, ..., condition, value, otherwise);
    LIKE holds (text, pattern); AND, OR, LEAST, GREATEST and COALESCE hold two or more operands.
    """

    op: Op
    args: tuple[Expression, ...]
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        size = 1 + sum(arg.size if isinstance(arg, Call) else 1 for arg in self.args)
        if size > MAX_SIZE:
            raise InvalidQuestion(
                f"The question has more than {MAX_SIZE:,} parts when written out; make it smaller."
            )
        object.__setattr__(self, "size", size)

    @property
    def kind(self) -> Kind:
        """The kind of the result."""
        if self.op in _BOOLEAN_OPS:
            return Kind.BOOLEAN
        if self.op in _TEXT_OPS:
            return Kind.TEXT
        if self.op is Op.COALESCE:
            return self.args[0].kind
        if self.op is Op.CASE:
            return self.args[1].kind
        return Kind.NUMBER


Expression: TypeAlias = Column | Constant | Call


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside it, parents first."""
    pending = [expression]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, Call):
            pending.extend(reversed(node.args))


def column_names(expression: Expression) -> list[str]:
    """The names of the columns the expression reads, sorted, each once."""
    return sorted({node.name for node in walk(expression) if isinstance(node, Column)})
