"""SQL as a language for the writer, always from the tree and never from the analyst's text.

Numbers are DOUBLE throughout (each literal too), and nothing written here can fail on any row. The
dialect is DuckDB's.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from holdfast.question.expression import Constant, Op, ValueKind

__all__ = ["SqlLanguage", "double", "quoted_name"]

_SQL_TYPE = {
    ValueKind.BOOLEAN: "BOOLEAN",
    ValueKind.NUMBER: "DOUBLE",
    ValueKind.TEXT: "VARCHAR",
    ValueKind.MOMENT: "TIMESTAMP",
}
_PART = {
    Op.YEAR: "year",
    Op.MONTH: "month",
    Op.DAY: "day",
    Op.HOUR: "hour",
    Op.MINUTE: "minute",
    Op.WEEKDAY: "isodow",
    Op.LENGTH: "length",
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


def _quoted_text(value: str) -> str:
    """A text literal."""
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class SqlLanguage:
    """SQL over a sub-select of cleaned columns, which go by the names in `names`."""

    names: Mapping[str, str]

    def column(self, name: str) -> str:
        """A cleaned column."""
        return self.names[name]

    def named(self, name: str) -> str:
        """A value of an earlier stage."""
        return name

    def constant(self, constant: Constant) -> str:
        """A literal."""
        return _constant(constant)

    def operation(self, op: Op, args: list[str]) -> str:
        """One operation."""
        return _SPELLING[op](op, args)

    def like(self, value: str, pattern: str) -> str:
        """Whether text fits a pattern."""
        return f"({value} LIKE {_quoted_text(pattern)})"

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
    return _quoted_text(value)


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


_SPELLING: dict[Op, Callable[[Op, list[str]], str]] = {
    **dict.fromkeys((Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE), _infix),
    **dict.fromkeys(_COMPARE, _comparison),
    **dict.fromkeys(_PART, lambda op, args: f"CAST({_PART[op]}({args[0]}) AS DOUBLE)"),
    **dict.fromkeys(_LETTERS, _letters),
    Op.AND: _junction,
    Op.OR: _junction,
    Op.NOT: lambda _op, args: f"(NOT {args[0]})",
    Op.NEGATE: lambda _op, args: f"(-{args[0]})",
    Op.ABS: lambda _op, args: f"abs({args[0]})",
    Op.INDICATOR: lambda _op, args: f"CAST({args[0]} AS DOUBLE)",
    Op.IS_NULL: lambda _op, args: f"({args[0]} IS NULL)",
    Op.COALESCE: lambda _op, args: f"coalesce({', '.join(args)})",
    Op.CLIP: _clip,
    Op.CASE: _case,
}
