"""Canonical text: the identity of a question, and something a person can read.

`parse` of the text gives the same tree back. The wording is a promise to every ledger written so
far: it may gain new operations but never change for an old one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime, time
from typing import TypeAlias

from holdfast.question.expression import Column, Constant, Expression, Op, Operation

__all__ = ["identifier", "numeral", "string", "text_of"]

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
    pieces: list[str] = []
    pending: list[_Piece] = [expression]
    while pending:
        piece = pending.pop()
        if isinstance(piece, str):
            pieces.append(piece)
        elif isinstance(piece, Operation):
            pending += reversed(_operation(piece))
        else:
            pieces.append(_leaf(piece))
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
