"""Canonical text: the identity of a question, and something a person can read.

`parse` of the text gives the same tree back. The wording is a promise to every ledger written so
far: it may gain new operations but never change for an old one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, time

from holdfast.question.expression import Call, Column, Constant, Expression, Op

__all__ = ["identifier", "number", "string", "text"]

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


def text(expression: Expression) -> str:
    """The canonical text of a row expression."""
    return _render(expression)[0]


def identifier(name: str) -> str:
    """A column name, quoted only where it must be."""
    if _PLAIN_NAME.fullmatch(name) and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def number(value: float) -> str:
    """A number in its shortest exact form; whole numbers without a decimal point."""
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def string(value: str) -> str:
    """A text literal."""
    return "'" + value.replace("'", "''") + "'"


def _constant(constant: Constant) -> tuple[str, int]:
    value = constant.value
    if value is None:
        return "null", _ATOM
    if isinstance(value, bool):
        return ("true" if value else "false"), _ATOM
    if isinstance(value, float):
        return number(value), _NEGATE if value < 0 else _ATOM
    if isinstance(value, datetime):
        if value.time() == time.min:
            return f"date '{value.date().isoformat()}'", _ATOM
        return f"timestamp '{value.isoformat(sep=' ')}'", _ATOM
    return string(value), _ATOM


def _inside(expression: Expression, least: int) -> str:
    rendered, binding = _render(expression)
    return rendered if binding >= least else f"({rendered})"


def _render(expression: Expression) -> tuple[str, int]:
    if isinstance(expression, Column):
        return identifier(expression.name), _ATOM
    if isinstance(expression, Constant):
        return _constant(expression)
    return _call(expression)


def _call(call: Call) -> tuple[str, int]:
    op, args = call.op, call.args
    if op in _INFIX:
        binding = _INFIX[op]
        # Sums and products are read from the left; comparisons do not chain.
        left = _inside(args[0], binding + (binding == _COMPARE))
        return f"{left} {op} {_inside(args[1], binding + 1)}", binding
    if op in _FORMS:
        return _FORMS[op](args)
    return f"{op}({', '.join(text(arg) for arg in args)})", _ATOM


def _and(args: tuple[Expression, ...]) -> tuple[str, int]:
    return " and ".join(_inside(arg, _NOT) for arg in args), _AND


def _or(args: tuple[Expression, ...]) -> tuple[str, int]:
    return " or ".join(_inside(arg, _AND) for arg in args), _OR


def _not(args: tuple[Expression, ...]) -> tuple[str, int]:
    (operand,) = args
    if isinstance(operand, Call) and operand.op is Op.IS_NULL:
        return f"{_inside(operand.args[0], _SUM)} is not null", _COMPARE
    return f"not {_inside(operand, _COMPARE)}", _NOT


def _case(args: tuple[Expression, ...]) -> tuple[str, int]:
    *branches, otherwise = args
    pairs = zip(branches[::2], branches[1::2], strict=True)
    body = " ".join(f"when {text(when)} then {text(then)}" for when, then in pairs)
    if isinstance(otherwise, Constant) and otherwise.value is None:
        return f"case {body} end", _ATOM
    return f"case {body} else {text(otherwise)} end", _ATOM


_FORMS: dict[Op, Callable[[tuple[Expression, ...]], tuple[str, int]]] = {
    Op.AND: _and,
    Op.OR: _or,
    Op.NOT: _not,
    Op.IS_NULL: lambda args: (f"{_inside(args[0], _SUM)} is null", _COMPARE),
    Op.NEGATE: lambda args: (f"-{_inside(args[0], _ATOM)}", _NEGATE),
    # A condition where a number is needed is written as the condition itself.
    Op.INDICATOR: lambda args: _render(args[0]),
    Op.CASE: _case,
}
