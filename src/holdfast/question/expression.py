"""The row expression: an immutable tree that gives one value for one row.

Three nodes are enough: a column, a constant, and an operation on expressions. Every operation is
total: for every row it gives a value of its kind or NULL, and nothing in the data can make it fail.

* Numbers are IEEE doubles, infinities included. NaN does not exist: it is NULL wherever it would
  appear (a NaN in a column, inf - inf, 0 * inf). Anything divided by zero is NULL.
* LN needs a value that is above 0 by its range, SQRT one that is not below 0, EXP one of at most
  690: any other is refused before there is a row. They are the same to the last bit on every
  engine, and within one part in 2^51 of the true value.
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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from holdfast.errors import InvalidQuestion

__all__ = [
    "MAX_SIZE",
    "Column",
    "ColumnType",
    "Constant",
    "Expression",
    "Op",
    "Operation",
    "ValueKind",
    "bottom_up",
    "column_names",
    "subtrees",
]

_T = TypeVar("_T")

MAX_SIZE = 10_000  # nodes; BETWEEN, IN and NULLIF repeat an operand, so short text can be large


class ValueKind(StrEnum):
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
    def kind(self) -> ValueKind | None:
        """The kind of value in a question, or None: such a column cannot be used in one."""
        return _COLUMN_KIND.get(self)


_COLUMN_KIND = {
    ColumnType.BOOLEAN: ValueKind.BOOLEAN,
    ColumnType.INTEGER: ValueKind.NUMBER,
    ColumnType.FLOAT: ValueKind.NUMBER,
    ColumnType.TEXT: ValueKind.TEXT,
    ColumnType.DATE: ValueKind.MOMENT,
    ColumnType.DATETIME: ValueKind.MOMENT,
}


class Op(StrEnum):
    """Every operation there is."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    NEGATE = "negate"
    ABS = "abs"
    LN = "ln"
    EXP = "exp"
    SQRT = "sqrt"
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
    """The value of one column; a row without one is left out of statistics if it is `nullable`."""

    name: str
    type: ColumnType
    nullable: bool = False

    @property
    def kind(self) -> ValueKind:
        """The kind of the column's values."""
        return _COLUMN_KIND[self.type]


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal of a kind, or NULL of that kind (None). Numbers are finite floats."""

    kind: ValueKind  # first, so that the number 1 and the condition true are different constants
    value: bool | float | str | datetime | None


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """An operation on expressions.

    CLIP holds (value, low, high); CASE holds (condition, value, ..., condition, value, otherwise);
    LIKE holds (text, pattern); AND, OR, LEAST, GREATEST and COALESCE hold two or more operands.

    A sum of a thousand terms is a thousand levels deep, so nothing here is recursive: `size` counts
    the nodes and `height` the levels, and `known` holds what `bottom_up` has found.
    """

    op: Op
    args: tuple[Expression, ...]
    kind: ValueKind = field(init=False, repr=False)
    size: int = field(init=False, repr=False)
    height: int = field(init=False, repr=False)
    known: dict[Callable[..., Any], Any] = field(init=False, repr=False)
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        nodes = [arg for arg in self.args if isinstance(arg, Operation)]
        size = 1 + len(self.args) + sum(node.size - 1 for node in nodes)
        if size > MAX_SIZE:
            raise InvalidQuestion(
                f"The question has more than {MAX_SIZE:,} parts when written out; make it smaller."
            )
        object.__setattr__(self, "kind", self._kind())
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "height", 1 + max((node.height for node in nodes), default=0))
        object.__setattr__(self, "known", {})
        object.__setattr__(self, "_hash", hash((self.op, self.args)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Operation], tuple[Op, tuple[Expression, ...]]]:
        return Operation, (self.op, self.args)  # what was found out is found out again

    def __eq__(self, other: object) -> bool:
        pending: list[tuple[object, object]] = [(self, other)]
        while pending:
            left, right = pending.pop()
            if left is right:
                continue
            if not isinstance(left, Operation) or not isinstance(right, Operation):
                if isinstance(left, Operation) or isinstance(right, Operation) or left != right:
                    return False
            elif (left._hash, left.op, len(left.args)) != (right._hash, right.op, len(right.args)):
                return False
            else:
                pending += zip(left.args, right.args, strict=True)
        return True

    def _kind(self) -> ValueKind:
        if self.op in _BOOLEAN_OPS:
            return ValueKind.BOOLEAN
        if self.op in _TEXT_OPS:
            return ValueKind.TEXT
        if self.op is Op.COALESCE:
            return self.args[0].kind
        if self.op is Op.CASE:
            return self.args[1].kind
        return ValueKind.NUMBER


Expression: TypeAlias = Column | Constant | Operation


def subtrees(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside it, parents first."""
    pending = [expression]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, Operation):
            pending.extend(reversed(node.args))


def bottom_up(find: Callable[[Any], _T]) -> Callable[[Expression], _T]:
    """`find`, done for the parts of an expression before the whole and then remembered.

    However deep the tree, what `find` asks of an operand is known when it asks.
    """

    @wraps(find)
    def remembered(expression: Expression) -> _T:
        if not isinstance(expression, Operation):
            return find(expression)
        pending = [] if find in expression.known else [expression]
        while pending:
            node = pending[-1]
            unknown = [
                arg for arg in node.args if isinstance(arg, Operation) and find not in arg.known
            ]
            if unknown:
                pending += unknown
            else:
                node.known[find] = find(node)
                pending.pop()
        result: _T = expression.known[find]
        return result

    return remembered


def column_names(expression: Expression) -> tuple[str, ...]:
    """The names of the columns the expression reads, sorted, each once."""
    return tuple(sorted(_columns_in(expression)))


@bottom_up
def _columns_in(node: Expression) -> frozenset[str]:
    match node:
        case Column():
            return frozenset((node.name,))
        case Operation():
            return frozenset().union(*map(_columns_in, node.args))
        case _:
            return frozenset()
