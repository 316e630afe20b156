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

**Canonical text** (`text_of`) is the identity of a question, and something a person can read.
`parse` of it gives the same tree back. The wording is a promise to every ledger written so far: it
may gain new operations but never change for an old one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, time
from enum import StrEnum
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from holdfast.errors import InvalidQuestion

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
        size, height = 1 + len(self.args), 1
        for arg in self.args:
            if isinstance(arg, Operation):
                size, height = size + arg.size - 1, max(height, arg.height + 1)
        if size > MAX_SIZE:
            raise InvalidQuestion(
                f"The question has more than {MAX_SIZE:,} parts when written out; make it smaller."
            )
        object.__setattr__(self, "kind", self._kind())
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "height", height)
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


_SHALLOW = 20  # levels that are gone down one inside the other


def bottom_up(find: Callable[[Any], _T]) -> Callable[[Expression], _T]:
    """`find`, done for the parts of an expression before the whole and then remembered.

    However deep the tree, what `find` asks of an operand is known when it asks; in one that is not
    deep it is found out when it asks.
    """

    @wraps(find)
    def remembered(expression: Expression) -> _T:
        if not isinstance(expression, Operation):
            return find(expression)
        known: dict[Callable[..., _T], _T] = expression.known
        if find in known:
            return known[find]
        if expression.height <= _SHALLOW:
            known[find] = find(expression)
            return known[find]
        pending = [expression]
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
        return known[find]

    return remembered


@bottom_up
def column_names(node: Expression) -> tuple[str, ...]:
    """The names of the columns an expression reads, sorted, each once."""
    match node:
        case Column():
            return (node.name,)
        case Operation():
            return tuple(sorted({name for arg in node.args for name in column_names(arg)}))
        case _:
            return ()


_NUMBER = Constant(ValueKind.NUMBER, 0.5)


@bottom_up
def expression_shape(node: Expression) -> Expression:
    """An expression but for its numbers, which are all written alike."""
    match node:
        case Operation():
            return Operation(node.op, tuple(map(expression_shape, node.args)))
        case Constant(ValueKind.NUMBER, float()):
            return _NUMBER
        case _:
            return node


# Canonical text.

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")

# Words that would be read as something else than a column, in any version of the SQL reader.
_RESERVED_WORDS = """
    all alter and any array as asc avg between by case cast connect_by_root create cross
    current_catalog current_date current_time current_timestamp current_user date default delete
    desc describe distinct div drop else end escape except exists extract false fetch filter for
    from glob grant group having if ilike in inner insert intersect interval into is isnull join
    lateral left like limit localtime localtimestamp map not notnull null offset on or order outer
    over overlaps partition partitioned_by qualify regexp returning revoke right rlike rollback row
    select session_user set similar some straight_join struct symmetric table tablesample then
    time timestamp timestamptz to true try_cast uncache union unnest update using values when where
    window with within xor
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())

# How tightly each form binds; an operand that binds less than its place asks for is parenthesised.
_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _NEGATE, _ATOM = range(1, 9)
_INFIX = {
    Op.ADD: _SUM,
    Op.SUBTRACT: _SUM,
    Op.MULTIPLY: _PRODUCT,
    Op.DIVIDE: _PRODUCT,
    Op.EQUAL: _COMPARE,
    Op.UNEQUAL: _COMPARE,
    Op.BELOW: _COMPARE,
    Op.AT_MOST: _COMPARE,
    Op.ABOVE: _COMPARE,
    Op.AT_LEAST: _COMPARE,
    Op.LIKE: _COMPARE,
}
_BINDINGS = {
    **_INFIX,
    Op.OR: _OR,
    Op.AND: _AND,
    Op.NOT: _NOT,
    Op.IS_NULL: _COMPARE,
    Op.NEGATE: _NEGATE,
}

_Piece: TypeAlias = str | Expression  # text, or what is still to be written


def text_of(expression: Expression) -> str:
    """The canonical text of a row expression."""
    if not isinstance(expression, Operation):
        return _leaf(expression)
    if text_of not in expression.known:
        expression.known[text_of] = _written_out(expression)
    text: str = expression.known[text_of]
    return text


def _written_out(expression: Operation) -> str:
    pieces: list[str] = []
    pending: list[_Piece] = [expression]
    while pending:
        piece = pending.pop()
        if isinstance(piece, Operation):
            pending += reversed(_operation(piece))
        else:
            pieces.append(piece if isinstance(piece, str) else _leaf(piece))
    return "".join(pieces)


def identifier(name: str) -> str:
    """A column name, quoted only where it must be."""
    if _PLAIN_NAME.fullmatch(name) and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def numeral(value: float) -> str:
    """A number in its shortest exact form; whole numbers without a decimal point."""
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def string(value: str) -> str:
    """A text literal."""
    return "'" + value.replace("'", "''") + "'"


def _leaf(leaf: Column | Constant) -> str:
    if isinstance(leaf, Column):
        return identifier(leaf.name)
    value = leaf.value
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, float):
        return numeral(value)
    if isinstance(value, datetime):
        if value.time() == time.min:
            return f"date '{value.date().isoformat()}'"
        return f"timestamp '{value.isoformat(sep=' ')}'"
    return string(value)


def _binding(expression: Expression) -> int:
    """How tightly the text of an expression binds."""
    if isinstance(expression, Constant):
        negative = isinstance(expression.value, float) and expression.value < 0
        return _NEGATE if negative else _ATOM
    if isinstance(expression, Column):
        return _ATOM
    if expression.op is Op.INDICATOR:
        return _binding(expression.args[0])
    (operand, *_) = expression.args
    if expression.op is Op.NOT and isinstance(operand, Operation) and operand.op is Op.IS_NULL:
        return _COMPARE  # "is not null"
    return _BINDINGS.get(expression.op, _ATOM)


def _inside(expression: Expression, least: int) -> list[_Piece]:
    return [expression] if _binding(expression) >= least else ["(", expression, ")"]


def _joined(operands: Iterable[list[_Piece]], between: str) -> list[_Piece]:
    first, *rest = operands
    return [*first, *(piece for operand in rest for piece in (between, *operand))]


def _operation(node: Operation) -> list[_Piece]:
    op, args = node.op, node.args
    if op in _INFIX:
        binding = _INFIX[op]
        # Sums and products are read from the left; comparisons do not chain.
        left = _inside(args[0], binding + (binding == _COMPARE))
        return [*left, f" {op} ", *_inside(args[1], binding + 1)]
    if op in _FORMS:
        return _FORMS[op](args)
    return [f"{op}(", *_joined(([arg] for arg in args), ", "), ")"]


def _and(args: tuple[Expression, ...]) -> list[_Piece]:
    return _joined((_inside(arg, _NOT) for arg in args), " and ")


def _or(args: tuple[Expression, ...]) -> list[_Piece]:
    return _joined((_inside(arg, _AND) for arg in args), " or ")


def _not(args: tuple[Expression, ...]) -> list[_Piece]:
    (operand,) = args
    if isinstance(operand, Operation) and operand.op is Op.IS_NULL:
        return [*_inside(operand.args[0], _SUM), " is not null"]
    return ["not ", *_inside(operand, _COMPARE)]


def _case(args: tuple[Expression, ...]) -> list[_Piece]:
    *branches, otherwise = args
    pieces: list[_Piece] = ["case"]
    for when, then in zip(branches[::2], branches[1::2], strict=True):
        pieces += [" when ", when, " then ", then]
    if not (isinstance(otherwise, Constant) and otherwise.value is None):
        pieces += [" else ", otherwise]
    return [*pieces, " end"]


_FORMS: dict[Op, Callable[[tuple[Expression, ...]], list[_Piece]]] = {
    Op.AND: _and,
    Op.OR: _or,
    Op.NOT: _not,
    Op.IS_NULL: lambda args: [*_inside(args[0], _SUM), " is null"],
    Op.NEGATE: lambda args: ["-", *_inside(args[0], _ATOM)],
    # A condition where a number is needed is written as the condition itself.
    Op.INDICATOR: list,
    Op.CASE: _case,
}
