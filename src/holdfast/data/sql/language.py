"""SQL as a language for the writer, always from the tree and never from the analyst's text.

Numbers are doubles throughout (each literal too), and nothing written here can fail on any row. A
dialect says how a database spells what others spell otherwise, and no more; each database's module
has its own.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from holdfast.data.sample import EXACT_DIGITS
from holdfast.question.expression import ColumnType, Constant, Op, ValueKind

_DECIMAL = re.compile(r"(?:decimal|numeric)\((\d+),-?\d+\)")
_Spelling: TypeAlias = Mapping[Op, Callable[[Op, list[str]], str]]

_PARTS = {
    Op.YEAR: "year",
    Op.MONTH: "month",
    Op.DAY: "day",
    Op.HOUR: "hour",
    Op.MINUTE: "minute",
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


def sql_column_type(dtype: str, types: Mapping[str, ColumnType]) -> ColumnType:
    """What questions take a type of a database for; decimals are numbers if doubles hold them."""
    decimal = _DECIMAL.fullmatch(dtype)
    if decimal:
        return ColumnType.FLOAT if int(decimal[1]) <= EXACT_DIGITS else ColumnType.OTHER
    return types.get(dtype, ColumnType.OTHER)


def quoted_name(name: str) -> str:
    """A column name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(value: str) -> str:
    """A text literal."""
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a database spells in its own way.

    `types` are its names of types, `text` writes a literal, `like` compares a value with a pattern,
    `without_nan` gives NULL in place of NaN, and may mention a value twice. `weekday` is the part
    of a moment that is 1 on Mondays. `spelling` has the operations that it spells otherwise than
    others, and `named_operands` those whose operands must be named.

    `whole` is the nearest whole number, of two the even one, as an integer of 64 bits, and
    `counted` the number of rows where a condition holds. `wide_sums`: a sum of such integers is
    exact however large they are.
    """

    types: Mapping[ValueKind, str]
    text: Callable[[str], str]
    like: Callable[[str, str], str]
    without_nan: Callable[[str], str]
    weekday: str
    spelling: _Spelling
    named_operands: frozenset[Op]
    whole: Callable[[str], str]
    counted: Callable[[str], str]
    wide_sums: bool

    def double(self, value: float) -> str:
        """A literal that is a double: plain 1.0 would be a decimal."""
        return f"CAST('{value!r}' AS {self.types[ValueKind.NUMBER]})"

    def constant(self, constant: Constant) -> str:
        """A literal."""
        value = constant.value
        if value is None:
            return f"CAST(NULL AS {self.types[constant.kind]})"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, float):
            return self.double(value)
        if isinstance(value, datetime):
            return f"CAST('{value.isoformat(sep=' ')}' AS {self.types[ValueKind.MOMENT]})"
        return self.text(value)

    def operation(self, op: Op, args: list[str]) -> str:
        """One operation."""
        spelled = self.spelling.get(op) or _SPELLING.get(op)
        return spelled(op, args) if spelled is not None else self._number(op, args[0])

    def _number(self, op: Op, value: str) -> str:
        """A length, a part of a moment or a condition as a double."""
        match op:
            case Op.LENGTH:
                value = f"length({value})"
            case Op.WEEKDAY:
                value = f"extract({self.weekday} FROM {value})"
            case op if op in _PARTS:
                value = f"extract({_PARTS[op]} FROM {value})"
        return f"CAST({value} AS {self.types[ValueKind.NUMBER]})"


@dataclass(frozen=True, slots=True)
class SqlLanguage:
    """SQL over a sub-select of cleaned columns, which go by the names in `names`."""

    names: Mapping[str, str]
    dialect: Dialect

    @property
    def named_operands(self) -> frozenset[Op]:
        """Those of the dialect."""
        return self.dialect.named_operands

    def column(self, name: str) -> str:
        """A cleaned column."""
        return self.names[name]

    def named(self, name: str) -> str:
        """A value of an earlier stage."""
        return name

    def constant(self, constant: Constant) -> str:
        """A literal."""
        return self.dialect.constant(constant)

    def operation(self, op: Op, args: list[str]) -> str:
        """One operation."""
        return self.dialect.operation(op, args)

    def harmless(self, op: Op, left: str, right: str) -> str:
        """Arithmetic on numbers for which nothing fails."""
        return _infix(op, [left, right])

    def like(self, value: str, pattern: str) -> str:
        """Whether text fits a pattern."""
        return self.dialect.like(value, pattern)

    def without_nan(self, value: str) -> str:
        """NULL in place of NaN."""
        return self.dialect.without_nan(value)


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


_SPELLING: _Spelling = {
    **dict.fromkeys((Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE), _infix),
    **dict.fromkeys(_COMPARE, _comparison),
    **dict.fromkeys(_LETTERS, _letters),
    Op.AND: _junction,
    Op.OR: _junction,
    Op.NOT: lambda _op, args: f"(NOT {args[0]})",
    Op.NEGATE: lambda _op, args: f"(-{args[0]})",
    Op.ABS: lambda _op, args: f"abs({args[0]})",
    Op.SQRT: lambda _op, args: f"sqrt({args[0]})",
    Op.IS_NULL: lambda _op, args: f"({args[0]} IS NULL)",
    Op.COALESCE: lambda _op, args: f"coalesce({', '.join(args)})",
    Op.CLIP: _clip,
    Op.CASE: _case,
}
