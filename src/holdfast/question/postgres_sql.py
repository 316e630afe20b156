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

from holdfast.question.expression import Op, ValueKind
from holdfast.question.sql import Dialect, quoted_text

__all__ = ["POSTGRES"]


def _float8(value: float) -> str:
    return f"'{value!r}'::float8"


def _text(value: str) -> str:
    return f'({quoted_text(value)}::text COLLATE "C")'


def _power(exponent: int) -> str:
    return _float8(2.0**exponent)


_INFINITY = _float8(float("inf"))
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
        f"WHEN {x} * {y} > 1 THEN {plain} WHEN {x} * {y} < 1 THEN {_float8(0.0)} "
        f"WHEN {_is_above_one(x, y)} THEN {plain} ELSE {_float8(0.0)} END"
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
    (xh, xl), (yh, yl) = map(_halves, (x, y))
    return f"((({xh} * {yh} - 1) + {xh} * {yl} + {xl} * {yh}) + {xl} * {yl} > 0)"


def _halves(x: str) -> tuple[str, str]:
    """A number as the sum of two of half as many bits each.

    Written out: in a sub-select they would have names, but no worker of the server computes one.
    """
    split = f"{x} * {_float8(2.0**27 + 1)}"
    high = f"({split} - ({split} - {x}))"
    return high, f"({x} - {high})"


def _quotient(_op: Op, args: list[str]) -> str:
    a, b = args
    plain = f"({a} / {b})"
    # Where it is looked at, a is above 2^-74. A smaller constant would be an error all the same:
    # what has no column in it is computed when the query is planned, in every branch.
    scaled = f"(greatest(abs({a}), {_power(-80)}) * {_power(-540)}) / ({b} * {_power(540)})"
    large = (
        f"CASE WHEN abs({a}) > abs({b}) * {_power(1000)} THEN "
        f"CASE WHEN abs({scaled}) >= {_power(-56)} "
        f"THEN {_signed_infinity(f'({a} > 0) = ({b} > 0)')} ELSE {plain} END ELSE {plain} END"
    )
    small = (
        f"CASE WHEN (abs({a}) * {_power(537)}) * {_power(537)} <= abs({b}) * {_power(-1)} "
        f"THEN {_float8(0.0)} ELSE {plain} END"
    )
    return (
        f"(CASE WHEN NOT {_finite(a, b)} OR {a} = 0 THEN {plain} WHEN abs({b}) < 1 THEN {large} "
        f"WHEN abs({a}) < {_power(-51)} THEN {small} ELSE {plain} END)"
    )


POSTGRES = Dialect(
    types={
        ValueKind.BOOLEAN: "boolean",
        ValueKind.NUMBER: "float8",
        ValueKind.TEXT: "text",
        ValueKind.MOMENT: "timestamp",
    },
    text=_text,
    like=lambda value, pattern: f"({value} LIKE {_text(pattern)} ESCAPE '')",  # \\ is a backslash
    without_nan=lambda value: f"NULLIF({value}, {_float8(float('nan'))})",  # it equals itself
    weekday="isodow",
    spelling={
        **dict.fromkeys((Op.ADD, Op.SUBTRACT), _sum),
        Op.MULTIPLY: _product,
        Op.DIVIDE: _quotient,
        Op.INDICATOR: lambda _op, args: f"({args[0]})::int::float8",
    },
    # Those of arithmetic, which are looked at; and of AND and OR, which stop at the first that
    # decides: the time it saves would tell about the rows.
    named_operands=frozenset({Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.AND, Op.OR}),
)
