"""SQL in PostgreSQL's dialect, from the tree, where no arithmetic can fail.

PostgreSQL raises an error where IEEE arithmetic gives an infinity or 0: when a result is too large
or too small for a double. So each operation looks at its operands first, in numbers that are scaled
by powers of two, exactly, and says infinity or 0 itself. What it says is what other engines compute
to the last bit; the tests compare them where it matters, at both ends of the doubles.

For a product of two small numbers that means: 0, if the product is at most 2^-1075, half of the
smallest double. The product of the scaled factors is compared with 1; if it was rounded to 1 the
sign of its rounding error decides, which Dekker's algorithm gives exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from holdfast.question.expression import Constant, Op, ValueKind
from holdfast.question.sql import PARTS, common_operation, quoted_text

__all__ = ["PostgresLanguage", "float8"]

_TYPES = {
    ValueKind.BOOLEAN: "boolean",
    ValueKind.NUMBER: "float8",
    ValueKind.TEXT: "text",
    ValueKind.MOMENT: "timestamp",
}


def float8(value: float) -> str:
    """A literal that is a double."""
    return f"'{value!r}'::float8"


def _text(value: str) -> str:
    return f'({quoted_text(value)}::text COLLATE "C")'


@dataclass(frozen=True, slots=True)
class PostgresLanguage:
    """SQL over a sub-select of cleaned columns, which go by the names in `names`."""

    names: Mapping[str, str]

    @property
    def named_operands(self) -> frozenset[Op]:
        """Those of arithmetic, which are looked at; and of AND and OR, which stop at the first that
        decides: the time it saves would tell about the rows.
        """
        return _NAMED

    def column(self, name: str) -> str:
        """A cleaned column."""
        return self.names[name]

    def named(self, name: str) -> str:
        """A value of an earlier stage."""
        return name

    def constant(self, constant: Constant) -> str:
        """A literal."""
        value = constant.value
        if value is None:
            return f"NULL::{_TYPES[constant.kind]}"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, float):
            return float8(value)
        if isinstance(value, datetime):
            return f"'{value.isoformat(sep=' ')}'::timestamp"
        return _text(value)

    def operation(self, op: Op, args: list[str]) -> str:
        """One operation."""
        spelled = _SPELLING.get(op)
        return common_operation(op, args) if spelled is None else spelled(op, args)

    def like(self, value: str, pattern: str) -> str:
        """Whether text fits a pattern; a backslash is a backslash."""
        return f"({value} LIKE {_text(pattern)} ESCAPE '')"

    def without_nan(self, value: str) -> str:
        """NULL in place of NaN, which equals itself here."""
        return f"NULLIF({value}, {float8(float('nan'))})"


def _power(exponent: int) -> str:
    return float8(2.0**exponent)


_INFINITY = float8(float("inf"))
_HUGE, _LARGE = _power(1023), _power(960)


def _signed_infinity(positive: str) -> str:
    return f"CASE WHEN {positive} THEN {_INFINITY} ELSE -{_INFINITY} END"


def _finite(a: str, b: str) -> str:
    """Whether both are numbers: NaN is above infinity here, and NULL neither."""
    return f"(abs({a}) < {_INFINITY} AND abs({b}) < {_INFINITY})"


def _sum(op: Op, args: list[str]) -> str:
    (a, b), sign = args, op.value
    plain, half = f"({a} {sign} {b})", _power(-1)
    return (
        f"(CASE WHEN abs({a}) < {_HUGE} AND abs({b}) < {_HUGE} THEN {plain} "
        f"WHEN NOT {_finite(a, b)} OR abs({a}) < {_LARGE} OR abs({b}) < {_LARGE} THEN {plain} "
        f"WHEN abs({a} * {half} {sign} {b} * {half}) >= {_HUGE} "
        f"THEN {_signed_infinity(f'{a} > 0')} ELSE {plain} END)"
    )


def _product(_op: Op, args: list[str]) -> str:
    a, b = args
    plain, down = f"({a} * {b})", _power(-512)
    least, most = f"least(abs({a}), abs({b}))", f"greatest(abs({a}), abs({b}))"
    x, y = f"({least} * {_power(600)})", f"({most} * {_power(475)})"
    small = (
        f"CASE WHEN {least} >= {_power(-530)} THEN {plain} "
        f"WHEN {x} * {y} > 1 THEN {plain} WHEN {x} * {y} < 1 THEN {float8(0.0)} "
        f"WHEN {_is_above_one(x, y)} THEN {plain} ELSE {float8(0.0)} END"
    )
    large = (
        f"CASE WHEN abs(({a} * {down}) * ({b} * {down})) >= 1 "
        f"THEN {_signed_infinity(f'({a} > 0) = ({b} > 0)')} ELSE {plain} END"
    )
    return (
        f"(CASE WHEN NOT {_finite(a, b)} OR {a} = 0 OR {b} = 0 THEN {plain} "
        f"WHEN abs({a}) >= 1 AND abs({b}) >= 1 THEN {large} "
        f"WHEN abs({a}) < 1 AND abs({b}) < 1 THEN {small} ELSE {plain} END)"
    )


def _is_above_one(x: str, y: str) -> str:
    """Whether a product that was rounded to 1 is more than 1."""
    splitter = float8(2.0**27 + 1)
    return (
        "(SELECT ((xh * yh - 1) + xh * (y - yh) + (x - xh) * yh) + (x - xh) * (y - yh) > 0 FROM "
        f"(SELECT x, y, x * {splitter} - (x * {splitter} - x) AS xh, "
        f"y * {splitter} - (y * {splitter} - y) AS yh FROM "
        f"(SELECT {x} AS x, {y} AS y) AS factors) AS parts)"
    )


def _quotient(_op: Op, args: list[str]) -> str:
    a, b = args
    plain = f"({a} / {b})"
    scaled = f"({a} * {_power(-540)}) / ({b} * {_power(540)})"
    large = (
        f"CASE WHEN abs({a}) > abs({b}) * {_power(1000)} THEN "
        f"CASE WHEN abs({scaled}) >= {_power(-56)} "
        f"THEN {_signed_infinity(f'({a} > 0) = ({b} > 0)')} ELSE {plain} END ELSE {plain} END"
    )
    small = (
        f"CASE WHEN (abs({a}) * {_power(537)}) * {_power(537)} <= abs({b}) * {_power(-1)} "
        f"THEN {float8(0.0)} ELSE {plain} END"
    )
    return (
        f"(CASE WHEN NOT {_finite(a, b)} OR {a} = 0 THEN {plain} WHEN abs({b}) < 1 THEN {large} "
        f"WHEN abs({a}) < {_power(-51)} THEN {small} ELSE {plain} END)"
    )


_SPELLING: dict[Op, Callable[[Op, list[str]], str]] = {
    **dict.fromkeys((Op.ADD, Op.SUBTRACT), _sum),
    **dict.fromkeys(PARTS, lambda op, args: f"extract({PARTS[op]} FROM {args[0]})::float8"),
    Op.MULTIPLY: _product,
    Op.DIVIDE: _quotient,
    Op.LENGTH: lambda _op, args: f"length({args[0]})::float8",
    Op.INDICATOR: lambda _op, args: f"({args[0]})::int::float8",
}
_NAMED = frozenset({Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.AND, Op.OR})
