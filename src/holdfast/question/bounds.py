"""The range of a row expression, by interval arithmetic on doubles.

Rounding to nearest is monotone, so the ends computed here in the order the engines compute the
values enclose every value an engine can produce: nothing is widened and nothing escapes.
An end that is not finite means "no bound known". Only ln and exp are not monotone in the last bits:
their ends are moved outwards by what they may be wrong.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from holdfast.question.elementary import MOST_EXPONENT, PRECISION, exp_of, ln_of
from holdfast.question.expression import (
    Column,
    Constant,
    Expression,
    Op,
    Operation,
    ValueKind,
    bottom_up,
)


class Range(NamedTuple):
    """All values lie in [low, high]."""

    low: float
    high: float

    @property
    def finite(self) -> bool:
        """Both ends are known."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def within(self, outer: Range) -> bool:
        """No value of this range is outside the other."""
        return outer.low <= self.low and self.high <= outer.high


ARITHMETIC = frozenset({Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE})
ELEMENTARY = frozenset({Op.LN, Op.EXP, Op.SQRT})

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


def elementary_error(expression: Expression) -> float:
    """A bound on what ln and exp, which are not exact, change in the value of any row.

    All else is what doubles are by definition: sums are rounded, and comparisons are of these.
    """
    return _error(expression).most(_size(expression).high)


class _Error(NamedTuple):
    """A value is computed as its multiple by 1 +- `relative`, and at most `absolute` from that."""

    relative: float
    absolute: float

    def most(self, size: float) -> float:
        """How far a value of at most this size may be off."""
        return _product(self.relative, size) + self.absolute


_EXACT = _Error(0.0, 0.0)


@bottom_up
def _error(expression: Expression) -> _Error:
    if not isinstance(expression, Operation) or expression.kind is not ValueKind.NUMBER:
        return _EXACT
    operands = _values(expression)
    errors = [_error(each) for each in operands]
    if expression.op not in (Op.LN, Op.EXP) and not any(map(any, errors)):
        return _EXACT
    return _combined_error(expression, errors, [_size(each) for each in operands])


def _combined_error(node: Operation, errors: list[_Error], sizes: list[Range]) -> _Error:
    relative, absolute = errors[0]
    match node.op:
        case Op.ADD | Op.SUBTRACT if _same_sign(node):
            relative = max(each.relative for each in errors)
            absolute = sum(each.absolute for each in errors)
        case Op.ADD | Op.SUBTRACT:
            pairs = zip(errors, sizes, strict=True)
            relative, absolute = 0.0, sum(error.most(size.high) for error, size in pairs)
        case Op.CLIP:
            relative, absolute = 0.0, errors[0].most(_size(node).high)
        case Op.MULTIPLY:
            relative += errors[1].relative
            beside = _product(errors[1].absolute, sizes[0].high)
            absolute = _product(absolute, sizes[1].high) + beside
        case Op.DIVIDE:
            relative += errors[1].relative
            beside = _product(errors[1].absolute, _size(node).high)
            absolute = _quotient(absolute + beside, sizes[1].low)
        case Op.LN:
            relative, absolute = PRECISION, relative + _quotient(absolute, sizes[0].low)
        case Op.EXP:
            relative, absolute = PRECISION + errors[0].most(sizes[0].high), exp_of(-MOST_EXPONENT)
        case Op.SQRT:
            absolute = math.sqrt(absolute)
        case _:  # one of them is chosen
            relative = max(each.relative for each in errors)
            absolute = max(each.absolute for each in errors)
    return _Error(relative, absolute)


def _same_sign(node: Operation) -> bool:
    """Whether the terms of a sum or a difference never cancel each other."""
    left, right = (range_of(each) for each in node.args)
    if node.op is Op.SUBTRACT:
        right = Range(-right.high, -right.low)
    return (left.low >= 0 and right.low >= 0) or (left.high <= 0 and right.high <= 0)


def _size(expression: Expression) -> Range:
    """The least and the greatest distance of a value from 0."""
    return _absolute(range_of(expression))


def _product(error: float, size: float) -> float:
    return error * size if error else 0.0


def _quotient(error: float, size: float) -> float:
    if not error:
        return 0.0
    return error / size if size else math.inf


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
        case Op.LN | Op.EXP | Op.SQRT:
            return _elementary(op, ranges[0])
        case _:
            return _arithmetic(op, *ranges)


def _elementary(op: Op, of: Range) -> Range:
    if op is Op.SQRT:
        return Range(math.sqrt(of.low), math.sqrt(of.high))
    low, high = (ln_of(end) if op is Op.LN else exp_of(end) for end in of)
    return Range(low - 2 * PRECISION * abs(low), high + 2 * PRECISION * abs(high))


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
