"""Polars expressions to row expressions: read from how Polars writes them down, never run.

What Polars says of an expression is not enough to know that a row's value depends on that row
alone, and to run one may abort the process. So its JSON is read through a list of nodes that mean
in Polars what they mean here, and becomes the tree that text would have become: the same question,
on every engine. Whatever is not on the list, in any version of Polars, is refused.

Numbers are doubles, as in text, and NaN is NULL. In Polars, integers have a width: a length, a part
of a date or a condition is so narrow that arithmetic wraps around, and a clip of integers rounds
its bounds. Where that could happen, the expression is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.bounds import range_of
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType, Expression, Op, ValueKind
from holdfast.question.parse import MAX_PATTERN, column_value

if TYPE_CHECKING:
    import polars as pl

_Node: TypeAlias = Any  # a piece of Polars' JSON


class _Width(IntEnum):
    """What Polars computes a value with; of two, the wider."""

    ANY = 0  # a whole literal, or no number
    NARROW = 1  # integers of fewer than 64 bits
    WHOLE = 2
    REAL = 3


class _Value(NamedTuple):
    """An expression, None for NULL, and its width in Polars."""

    expression: Expression | None
    width: _Width


def _literal(inside: _Node) -> _Value:
    constant: tuple[Expression | None, _Width]
    match inside:
        case {"Dyn": {"Int": int(whole)}}:
            constant = build.constant(whole), _Width.ANY
        case {"Scalar": {"Int64": int(whole)}}:
            constant = build.constant(whole), _Width.WHOLE
        case {"Dyn": {"Float": float(real)}} | {"Scalar": {"Float64": float(real)}}:
            constant = build.constant(real), _Width.REAL
        case {"Scalar": {"Boolean": bool(value)} | {"String": str(value)}}:
            constant = build.constant(value), _Width.NARROW
        case {"Scalar": {"Date": int(days)}}:
            constant = _moment(timedelta(days=1), days), _Width.NARROW
        case {"Scalar": {"Datetime": [int(count), "Microseconds", None]}}:
            constant = _moment(timedelta(microseconds=1), count), _Width.NARROW
        case {"Scalar": {"Null": "Null"}}:
            constant = None, _Width.ANY
        case _:
            raise InvalidQuestion(
                "A literal of the Polars expression is not a finite number, text, a Boolean, a "
                "date or a time without zone; write the question as text."
            )
    return _Value(*constant)


def _moment(unit: timedelta, count: int) -> Expression:
    try:
        return build.constant(datetime(1970, 1, 1) + unit * count)
    except OverflowError:
        raise InvalidQuestion("A date of the question is not in the calendar.") from None


def _members(node: _Node) -> list[Expression]:
    """The values of a list that was written into the expression."""
    import polars as pl

    match node:
        case {"Literal": {"Scalar": {"List": list(packed)}} | {"Series": list(packed)}}:
            values = pl.read_ipc_stream(bytes(packed)).to_series().to_list()
        case _:
            raise InvalidQuestion(
                "is_in looks a value up in a list that is written out; a column as the list would "
                "mix rows."
            )
    return [_member(value) for value in values]


def _member(value: object) -> Expression:
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    naive = isinstance(value, datetime) and value.tzinfo is None
    finite = isinstance(value, int | float) and math.isfinite(value)
    if naive or finite or isinstance(value, str):
        return build.constant(value)  # type: ignore[arg-type]
    raise InvalidQuestion(
        "is_in of a Polars expression looks for numbers, text, dates and times without zone, not "
        "for null; write the question as text."
    )


_MAX_LENGTH = 500_000  # characters of an expression as Polars writes it down
_INSTEAD = (
    "write it as text (docs/questions.md says what can be written), or use row_function(...)."
)

_ARITHMETIC = {
    "Plus": Op.ADD,
    "Minus": Op.SUBTRACT,
    "Multiply": Op.MULTIPLY,
    "TrueDivide": Op.DIVIDE,
}
_COMPARISONS = {
    "Eq": Op.EQUAL,
    "NotEq": Op.UNEQUAL,
    "Lt": Op.BELOW,
    "LtEq": Op.AT_MOST,
    "Gt": Op.ABOVE,
    "GtEq": Op.AT_LEAST,
}
_JUNCTIONS = {"And": build.conjunction, "Or": build.disjunction}
_UNARY: dict[tuple[str, str], Callable[[Expression], Expression]] = {
    ("Boolean", "Not"): build.negation,
    ("Boolean", "IsNull"): build.is_null,
    ("Boolean", "IsNotNull"): lambda value: build.negation(build.is_null(value)),
    ("StringExpr", "LenChars"): partial(build.function, Op.LENGTH),
    ("TemporalExpr", "Year"): partial(build.function, Op.YEAR),
    ("TemporalExpr", "Month"): partial(build.function, Op.MONTH),
    ("TemporalExpr", "Day"): partial(build.function, Op.DAY),
    ("TemporalExpr", "Hour"): partial(build.function, Op.HOUR),
    ("TemporalExpr", "Minute"): partial(build.function, Op.MINUTE),
    ("TemporalExpr", "WeekDay"): partial(build.function, Op.WEEKDAY),
}
_HORIZONTAL = {
    ("Boolean", "AllHorizontal"): build.conjunction,
    ("Boolean", "AnyHorizontal"): build.disjunction,
}
_ENDS = {
    "Both": (Op.AT_LEAST, Op.AT_MOST),
    "Left": (Op.AT_LEAST, Op.BELOW),
    "Right": (Op.ABOVE, Op.AT_MOST),
    "None": (Op.ABOVE, Op.BELOW),
}
_INTEGERS = frozenset({f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)})


def from_polars(expression: object, schema: Schema, *, bounded: bool = True) -> Expression:
    """The row expression that a Polars expression spells; `bounded` as in `parse_row`."""
    try:
        expression_read = _Reader(schema).read(_serialized(expression), bounded).expression
    except InvalidQuestion:
        raise
    except RecursionError:
        raise _refused("A Polars expression that is nested so deep") from None
    except (ValueError, TypeError):  # more or fewer operands than the version known here writes
        raise _refused("A Polars expression of this form") from None
    if expression_read is None:
        raise _refused("A Polars expression that is null")
    return expression_read


def _refused(part: str) -> InvalidQuestion:
    return InvalidQuestion(f"{part} cannot be read as a value of each row by itself; {_INSTEAD}")


def _serialized(expression: object) -> _Node:
    import polars as pl

    if not isinstance(expression, pl.Expr):
        raise InvalidQuestion(
            "A value of a row is text such as \"origin = 'JFK'\", a Polars expression or a "
            f"row_function, not {type(expression).__name__}."
        )
    try:
        packed = _packed(expression)
    except (Exception, pl.exceptions.PanicException):  # Polars writes no Python functions down
        raise InvalidQuestion(
            "The Polars expression holds code that cannot be written down; use row_function(...)."
        ) from None
    if len(packed) > _MAX_LENGTH:
        raise InvalidQuestion(
            f"The Polars expression takes more than {_MAX_LENGTH:,} characters; make it smaller."
        )
    return json.loads(packed)


def _packed(expression: pl.Expr) -> str:
    return expression.meta.serialize(format="json")


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads nodes; `bounded` says whether declared bounds apply where the node stands."""

    schema: Schema

    def read(self, node: _Node, bounded: bool) -> _Value:
        name, inside = _only(node)
        match name, inside:
            case "Alias", [aliased, str()]:
                value_read = self.read(aliased, bounded)
            case "Column", str():
                value_read = self._column(inside, bounded)
            case "Literal", _:
                value_read = _literal(inside)
            case "BinaryExpr", {"left": left, "op": str(op), "right": right, **more} if not more:
                value_read = self._binary(op, left, right, bounded)
            case "Ternary", _:
                value_read = self._ternary(node, bounded)
            case "Cast", {"expr": value, "dtype": {"Literal": str(to)}, "options": _, **more} if (
                not more
            ):
                value_read = self._cast(value, to, bounded)
            case "Function", {"input": list(operands), "function": function, **more} if not more:
                value_read = self._function(function, operands, bounded)
            case _:
                raise _refused(f"{_quoted_name(name)} in a Polars expression")
        return value_read

    def _some(self, node: _Node, bounded: bool = False) -> _Value:
        value = self.read(node, bounded)
        _not_null(value)
        return value

    def _raw(self, node: _Node) -> Expression:
        return _not_null(self._some(node))

    def _column(self, name: str, bounded: bool) -> _Value:
        number = column_value(self.schema, name, quoted=True, bounded=bounded)
        column = self.schema.column(name, quoted=True)
        width = {ColumnType.FLOAT: _Width.REAL, ColumnType.INTEGER: _Width.WHOLE}
        return _Value(number, width.get(column.type, _Width.NARROW))

    def _binary(self, op: str, left: _Node, right: _Node, bounded: bool) -> _Value:
        if op in _COMPARISONS:
            condition = build.comparison(_COMPARISONS[op], self._raw(left), self._raw(right))
            return _Value(condition, _Width.NARROW)
        if op in _JUNCTIONS:
            return _Value(_JUNCTIONS[op]([self._raw(left), self._raw(right)]), _Width.NARROW)
        if op == "Xor":
            sides = [self._raw(left), self._raw(right)]
            if all(side.kind is ValueKind.BOOLEAN for side in sides):
                return _Value(build.comparison(Op.UNEQUAL, *sides), _Width.NARROW)
        if op in _ARITHMETIC:
            return self._arithmetic(_ARITHMETIC[op], left, right, bounded)
        raise _refused(f"The operation {_quoted_name(op)} of a Polars expression")

    def _arithmetic(self, op: Op, left: _Node, right: _Node, bounded: bool) -> _Value:
        a, b = (_wide(self._some(side, bounded)) for side in (left, right))
        if op is Op.DIVIDE:
            divisor = range_of(build.as_number(_not_null(b), "'/'"))
            if divisor.low <= 0 <= divisor.high:
                raise InvalidQuestion(
                    "The Polars expression divides by what may be 0, which gives an infinity "
                    "there and NULL here; write the quotient as text."
                )
        width = _Width.REAL if op is Op.DIVIDE else max(a.width, b.width)
        return _Value(build.arithmetic(op, _not_null(a), _not_null(b)), width)

    def _ternary(self, node: _Node, bounded: bool) -> _Value:
        branches: list[tuple[Expression, _Value]] = []
        while _only(node)[0] == "Ternary":
            match _only(node)[1]:
                case {"predicate": when, "truthy": then, "falsy": node, **more} if not more:
                    branches.append((self._raw(when), self.read(then, bounded)))
                case _:
                    raise _refused("A choice of this form in a Polars expression")
        otherwise = self.read(node, bounded)
        values = [(when, then.expression) for when, then in branches]
        width = max(each.width for each in (*(then for _, then in branches), otherwise))
        return _Value(build.case(values, otherwise.expression), width)

    def _cast(self, node: _Node, to: str, bounded: bool) -> _Value:
        value = self._some(node, bounded)
        operand = _not_null(value)
        if operand.kind is ValueKind.BOOLEAN and (to == "Float64" or to in _INTEGERS):
            width = _Width.REAL if to == "Float64" else _Width.NARROW
            return _Value(build.as_number(operand, "cast"), width)
        if operand.kind is ValueKind.NUMBER and to == "Float64":
            return _Value(operand, _Width.REAL)
        raise _refused(f"A cast to {_quoted_name(to)} in a Polars expression")

    def _function(self, function: _Node, operands: list[_Node], bounded: bool) -> _Value:
        family, name = _only(function) if isinstance(function, dict) else ("", function)
        options: _Node = None
        if family in ("Boolean", "StringExpr", "TemporalExpr"):
            if isinstance(name, dict):
                name, options = _only(name)
        elif family:
            name, options, family = family, name, ""
        key = (family, name) if isinstance(name, str) else ("", "")
        if key in _UNARY and options is None:
            (operand,) = operands
            return _Value(_UNARY[key](self._raw(operand)), _Width.NARROW)
        if key in _HORIZONTAL and options is None:
            return _Value(_HORIZONTAL[key]([self._raw(each) for each in operands]), _Width.NARROW)
        if key not in _FUNCTIONS:
            raise _refused(f"The function {_quoted_name(name)} of a Polars expression")
        return _FUNCTIONS[key](self, operands, options, bounded)

    def _negate(self, operands: list[_Node], _options: _Node, bounded: bool) -> _Value:
        (value,) = (_wide(self._some(each, bounded)) for each in operands)
        return _Value(build.negate(_number(value)), value.width)

    def _abs(self, operands: list[_Node], _options: _Node, bounded: bool) -> _Value:
        (value,) = (self._some(each, bounded) for each in operands)
        return _Value(build.function(Op.ABS, _number(value)), value.width)

    def _clip(self, operands: list[_Node], options: _Node, _bounded: bool) -> _Value:
        value, *ends = (self._some(each) for each in operands)
        bounds = [range_of(_number(end)) for end in ends]
        if any(bound.low != bound.high for bound in bounds):
            raise _refused("A clip between bounds that are not numbers")
        if value.width is not _Width.REAL and any(not bound.low.is_integer() for bound in bounds):
            raise InvalidQuestion(
                "The Polars expression clips integers at bounds that are not whole, which Polars "
                "rounds; cast the value to pl.Float64 first."
            )
        number = _number(value)
        match options:
            case {"has_min": True, "has_max": True, **more} if not more:
                return _Value(build.clip(number, *(bound.low for bound in bounds)), value.width)
            case {"has_min": bool(low), "has_max": bool(high), **more} if not more and low != high:
                op = Op.GREATEST if low else Op.LEAST
                return _Value(build.extreme(op, [number, _not_null(ends[0])]), value.width)
        raise _refused("A clip of this form in a Polars expression")

    def _coalesce(self, operands: list[_Node], _options: _Node, bounded: bool) -> _Value:
        values = [self._some(each, bounded) for each in operands]
        chosen = build.coalesce([_not_null(value) for value in values])
        return _Value(chosen, max(value.width for value in values))

    def _between(self, operands: list[_Node], options: _Node, _bounded: bool) -> _Value:
        closed = options.get("closed") if isinstance(options, dict) else None
        if closed not in _ENDS:
            raise _refused("is_between of this form")
        value, *ends = (self._raw(each) for each in operands)
        pairs = zip(_ENDS[closed], ends, strict=True)
        return _Value(
            build.conjunction([build.comparison(op, value, end) for op, end in pairs]),
            _Width.NARROW,
        )

    def _in(self, operands: list[_Node], options: _Node, _bounded: bool) -> _Value:
        value, listed = operands
        wanted = _members(listed)
        if options != {"nulls_equal": False} or not wanted:
            raise _refused("is_in of no values, or of nulls,")
        subject = self._raw(value)
        return _Value(
            build.disjunction([build.comparison(Op.EQUAL, subject, member) for member in wanted]),
            _Width.NARROW,
        )

    def _contains(self, operands: list[_Node], options: _Node, _bounded: bool) -> _Value:
        literal = isinstance(options, dict) and options.get("literal") is True
        return self._like(operands, "%", "%", literal=literal)

    def _like(self, operands: list[_Node], before: str, after: str, *, literal: bool) -> _Value:
        value, wanted = (self._raw(each) for each in operands)
        text = getattr(wanted, "value", None)
        if not isinstance(text, str) or len(text) > MAX_PATTERN - 2:
            raise InvalidQuestion(
                f"Text is looked for in quotes, by at most {MAX_PATTERN - 2} characters."
            )
        plain = text if literal else "".join(sign for sign in text if sign.isalnum() or sign == " ")
        if plain != text or "%" in text or "_" in text:
            raise InvalidQuestion(
                "A Polars expression looks for text without signs of its own meaning (regular "
                "expressions, % and _); write a 'like' as text, or use row_function(...)."
            )
        return _Value(build.like(value, f"{before}{text}{after}"), _Width.NARROW)


_FUNCTIONS: dict[tuple[str, str], Callable[[_Reader, list[_Node], _Node, bool], _Value]] = {
    ("", "Negate"): _Reader._negate,
    ("", "Abs"): _Reader._abs,
    ("", "Clip"): _Reader._clip,
    ("", "FillNull"): _Reader._coalesce,
    ("", "Coalesce"): _Reader._coalesce,
    ("Boolean", "IsBetween"): _Reader._between,
    ("Boolean", "IsIn"): _Reader._in,
    ("StringExpr", "Contains"): _Reader._contains,
    ("StringExpr", "StartsWith"): lambda reader, operands, _, __: reader._like(
        operands, "", "%", literal=True
    ),
    ("StringExpr", "EndsWith"): lambda reader, operands, _, __: reader._like(
        operands, "%", "", literal=True
    ),
}


def _only(node: _Node) -> tuple[str, _Node]:
    """The name of a node and what it holds."""
    if isinstance(node, dict) and len(node) == 1:
        ((name, inside),) = node.items()
        return name, inside
    return (node, None) if isinstance(node, str) else ("", None)


def _quoted_name(name: object) -> str:
    return repr(name[:40]) if isinstance(name, str) and name else "something"


def _not_null(value: _Value) -> Expression:
    if value.expression is None:
        raise _refused("A Polars expression with null outside of then and otherwise")
    return value.expression


def _number(value: _Value) -> Expression:
    operand = _not_null(value)
    if operand.kind is not ValueKind.NUMBER:
        raise InvalidQuestion(f"The Polars expression computes with {operand.kind}; cast it first.")
    return operand


def _wide(value: _Value) -> _Value:
    """A number that arithmetic does not make wrap around."""
    numeric = (ValueKind.NUMBER, ValueKind.BOOLEAN)
    if value.width is _Width.NARROW and _not_null(value).kind in numeric:
        raise InvalidQuestion(
            "The Polars expression computes with a condition, a length or a part of a date, which "
            "are small integers in Polars; cast it with .cast(pl.Float64) first."
        )
    return value
