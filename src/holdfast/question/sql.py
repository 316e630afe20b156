"""SQL as a language for the writer, always from the tree and never from the analyst's text.

Numbers are DOUBLE throughout (each literal too), and nothing written here can fail on any row. The
dialect is DuckDB's; `common_operation` is what other dialects spell as it does.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from holdfast.question.expression import Constant, Op, ValueKind

__all__ = ["PARTS", "SqlLanguage", "common_operation", "double", "quoted_name", "quoted_text"]

_SQL_TYPE = {
    ValueKind.BOOLEAN: "BOOLEAN",
    ValueKind.NUMBER: "DOUBLE",
    ValueKind.TEXT: "VARCHAR",
    ValueKind.MOMENT: "TIMESTAMP",
}
PARTS = {
    Op.YEAR: "year",
    Op.MONTH: "month",
    Op.DAY: "day",
    Op.HOUR: "hour",
    Op.MINUTE: "minute",
    Op.WEEKDAY: "isodow",
}
_COMPARE = {
    Op.EQUAL: "=",
    Op.UNEQUAL: "<>",
    Op.BELOW: "<",
    Op.AT_MOST: "<=",
    Op.ABOVE: ">",
    Op.AT_LEAST: ">=",
}
_LETTERS = {
    Op.LOWER: (string.ascii_uppercase, string.ascii_lowercase),
    Op.UPPER: (string.ascii_lowercase, string.ascii_uppercase),
}


def double(value: float) -> str:
    """A DOUBLE literal: plain 1.0 would be a DECIMAL."""
    return f"CAST('{value!r}' AS DOUBLE)"


def quoted_name(name: str) -> str:
    """A column name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(value: str) -> str:
    """A text literal."""
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class SqlLanguage:
    """SQL over a sub-select of cleaned columns, which go by the names in `names`."""

    names: Mapping[str, str]

    def column(self, name: str) -> str:
        """A cleaned column."""
        return self.names[name]

    @property
    def named_operands(self) -> frozenset[Op]:
        """None: arithmetic is total here, and the cast of a condition computes all of it."""
        return frozenset()

    def named(self, name: str) -> str:
        """A value of an earlier stage."""
        return name

    def constant(self, constant: Constant) -> str:
        """A literal."""
        return _constant(constant)

    def operation(self, op: Op, args: list[str]) -> str:
        """One operation."""
        spelled = _SPELLING.get(op)
        return common_operation(op, args) if spelled is None else spelled(op, args)

    def like(self, value: str, pattern: str) -> str:
        """Whether text fits a pattern."""
        return f"({value} LIKE {quoted_text(pattern)})"

    def without_nan(self, value: str) -> str:
        """NULL in place of NaN."""
        return f"(CASE WHEN isnan({value}) THEN NULL ELSE {value} END)"


def _constant(constant: Constant) -> str:
    value = constant.value
    if value is None:
        return f"CAST(NULL AS {_SQL_TYPE[constant.kind]})"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return double(value)
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    return quoted_text(value)


def _infix(op: Op, args: list[str]) -> str:
    return f"({args[0]} {op} {args[1]})"


def _comparison(op: Op, args: list[str]) -> str:
    return f"({args[0]} {_COMPARE[op]} {args[1]})"


def _junction(op: Op, args: list[str]) -> str:
    return "(" + f" {op.upper()} ".join(args) + ")"


def _clip(_op: Op, args: list[str]) -> str:
    value, low, high = args
    body = f"WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value}"
    return f"(CASE {body} END)"


def _letters(op: Op, args: list[str]) -> str:
    old, new = _LETTERS[op]
    return f"translate({args[0]}, '{old}', '{new}')"


def _case(_op: Op, args: list[str]) -> str:
    *branches, otherwise = args
    pairs = zip(branches[::2], branches[1::2], strict=True)
    body = " ".join(f"WHEN {when} THEN {then}" for when, then in pairs)
    return f"(CASE {body} ELSE {otherwise} END)"


def common_operation(op: Op, args: list[str]) -> str:
    """An operation that DuckDB and PostgreSQL spell alike."""
    return _COMMON[op](op, args)


_Spelling: TypeAlias = dict[Op, Callable[[Op, list[str]], str]]
_COMMON: _Spelling = {
    **dict.fromkeys(_COMPARE, _comparison),
    **dict.fromkeys(_LETTERS, _letters),
    Op.AND: _junction,
    Op.OR: _junction,
    Op.NOT: lambda _op, args: f"(NOT {args[0]})",
    Op.NEGATE: lambda _op, args: f"(-{args[0]})",
    Op.ABS: lambda _op, args: f"abs({args[0]})",
    Op.IS_NULL: lambda _op, args: f"({args[0]} IS NULL)",
    Op.COALESCE: lambda _op, args: f"coalesce({', '.join(args)})",
    Op.CLIP: _clip,
    Op.CASE: _case,
}
_SPELLING: _Spelling = {
    **dict.fromkeys((Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE), _infix),
    **dict.fromkeys(PARTS, lambda op, args: f"CAST({PARTS[op]}({args[0]}) AS DOUBLE)"),
    Op.LENGTH: lambda _op, args: f"CAST(length({args[0]}) AS DOUBLE)",
    Op.INDICATOR: lambda _op, args: f"CAST({args[0]} AS DOUBLE)",
}
