"""The range of a row expression, by interval arithmetic on doubles.

Rounding to nearest is monotone, so the ends computed here in the order the engines compute the
values enclose every value an engine can produce: nothing is widened and nothing escapes.
An end that is not finite means "no bound known".
"""

from __future__ import annotations

import math
from typing import NamedTuple

from holdfast.question.expression import (
    Column,
    Constant,
    Expression,
    Op,
    Operation,
    ValueKind,
    bottom_up,
)

__all__ = [
    "ARITHMETIC",
    "Range",
    "few_values",
    "may_be_nan",
    "range_of",
    "shows_column",
    "unbounded_columns",
]


class Range(NamedTuple):
    """All values lie in [low, high]."""

    low: float
    high: float

    @property
    def finite(self) -> bool:
        """Both ends are known."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def within(self, other: Range) -> bool:
        """No value of this range is outside the other."""
        return other.low <= self.low and self.high <= other.high


ARITHMETIC = frozenset({Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE})

_EVERYTHING = Range(-math.inf, math.inf)
_UNIT = Range(0.0, 1.0)
_FIXED = {
    Op.INDICATOR: _UNIT,
    Op.LENGTH: Range(0.0, math.inf),
    Op.YEAR: Range(1.0, 9999.0),
    Op.MONTH: Range(1.0, 12.0),
    Op.DAY: Range(1.0, 31.0),
    Op.HOUR: Range(0.0, 23.0),
    Op.MINUTE: Range(0.0, 59.0),
    Op.WEEKDAY: Range(1.0, 7.0),
}


@bottom_up
def range_of(expression: Expression) -> Range:
    """The range of a number, or [0, 1] for a condition; NULL is not a value and not counted."""
    if expression.kind is ValueKind.BOOLEAN:
        return _UNIT
    if isinstance(expression, Constant):
        value = expression.value
        return Range(value, value) if isinstance(value, float) else _EVERYTHING
    if isinstance(expression, Column) or expression.kind is not ValueKind.NUMBER:
        return _EVERYTHING
    if expression.op in _FIXED:
        return _FIXED[expression.op]
    ranges = [range_of(value) for value in _values(expression)]
    if expression.op in (Op.CASE, Op.COALESCE):
        return Range(min(each.low for each in ranges), max(each.high for each in ranges))
    return _combine(expression.op, ranges)


@bottom_up
def few_values(expression: Expression) -> frozenset[float]:
    """The numbers that it can be, where its words alone tell them; none where they do not."""
    if isinstance(expression, Constant) and isinstance(expression.value, float):
        return frozenset({expression.value})
    if not isinstance(expression, Operation):
        return frozenset()
    if expression.op is Op.INDICATOR:
        return frozenset({0.0, 1.0})
    sets = [few_values(value) for value in _values(expression)]
    if expression.op not in (Op.CASE, Op.COALESCE, Op.SUBTRACT) or not all(sets):
        return frozenset()
    if expression.op is Op.SUBTRACT:
        first, second = sets
        return frozenset(x - y for x in first for y in second)
    return frozenset().union(*sets)


def unbounded_columns(expression: Expression) -> list[str]:
    """The columns whose missing bounds make the expression unbounded, sorted."""
    names: set[str] = set()
    pending = [expression]
    while pending:
        each = pending.pop()
        if range_of(each).finite:
            continue
        if isinstance(each, Column):
            names.add(each.name)
        elif isinstance(each, Operation) and each.op is not Op.LENGTH:
            pending += _values(each)
    return sorted(names)


@bottom_up
def shows_column(expression: Expression) -> bool:
    """Whether a column's own number, not cut by a clip, is among what the value is made of."""
    if not isinstance(expression, Operation):
        return isinstance(expression, Column) and expression.kind is ValueKind.NUMBER
    if expression.op is Op.CLIP or expression.kind is ValueKind.BOOLEAN:
        return False
    return any(shows_column(value) for value in _values(expression))


@bottom_up
def may_be_nan(expression: Expression) -> bool:
    """Whether arithmetic could give NaN: by inf - inf, 0 * inf or inf / inf, here or inside."""
    if not isinstance(expression, Operation) or expression.op not in ARITHMETIC:
        return False
    left, right = (range_of(arg) for arg in expression.args)
    if expression.op is Op.MULTIPLY:
        here = (not left.finite and right.low <= 0 <= right.high) or (
            not right.finite and left.low <= 0 <= left.high
        )
    else:
        here = not left.finite and not right.finite
    return here or any(may_be_nan(arg) for arg in expression.args)


def _values(node: Operation) -> list[Expression]:
    """The operands whose values the result is made of: not a CASE's conditions, not NULL."""
    operands = node.args if node.op is not Op.CASE else (*node.args[1:-1:2], node.args[-1])
    return [each for each in operands if not (isinstance(each, Constant) and each.value is None)]


def _absolute(of: Range) -> Range:
    least = 0.0 if of.low <= 0 <= of.high else min(abs(of.low), abs(of.high))
    return Range(least, max(abs(of.low), abs(of.high)))


def _clipped(of: Range, low: float, high: float) -> Range:
    return Range(min(max(of.low, low), high), min(max(of.high, low), high))


def _combine(op: Op, ranges: list[Range]) -> Range:
    match op:
        case Op.NEGATE:
            return Range(-ranges[0].high, -ranges[0].low)
        case Op.ABS:
            return _absolute(ranges[0])
        case Op.CLIP:
            return _clipped(ranges[0], ranges[1].low, ranges[2].low)
        case Op.LEAST | Op.GREATEST:
            end = min if op is Op.LEAST else max
            return Range(end(each.low for each in ranges), end(each.high for each in ranges))
        case _:
            return _arithmetic(op, *ranges)


def _arithmetic(op: Op, left: Range, right: Range) -> Range:
    if op is Op.DIVIDE and right.low <= 0 <= right.high:
        return _EVERYTHING
    if op is Op.ADD:
        ends = [left.low + right.low, left.high + right.high]
    elif op is Op.SUBTRACT:
        ends = [left.low - right.high, left.high - right.low]
    else:
        pairs = [(x, y) for x in left for y in right]
        ends = [x * y for x, y in pairs] if op is Op.MULTIPLY else [x / y for x, y in pairs]
    if any(math.isnan(end) for end in ends):
        return _EVERYTHING
    return Range(min(ends), max(ends))
