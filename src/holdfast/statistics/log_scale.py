"""The logarithmic scale: numbers without a range as numbers in one, in the same order.

T(x) = ln(1 + S x) for x >= 0 and -ln(1 + S |x|) below, with x cut at +-`FARTHEST` and S = 2^20: it
rises strictly between the cuts. So an order statistic of T(x) is T of that of x, a quantile of T(x)
is T of that of x, and an interval of the one is an interval of the other (docs/unbounded.md). Away
from 0 equal steps of T are equal parts of the value; within 10^-6 of it they are equal steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from holdfast.question import build
from holdfast.question.expression import Expression, Op, text_of
from holdfast.question.row import RowValue
from holdfast.theory.base.intervals import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Array = NDArray[np.float64]

FARTHEST = 1e15  # from 0: beyond it an interval is open
_S = 2.0**20
_TOP = 48.5  # a little above T of the farthest
# Doubles lose less on the way back: a part of 2^-50 of 1 + S |x|, and some 2^-46 of a place on T.
_OUTWARDS = 2.0**-40


def on_log_scale(value: Expression) -> RowValue:
    """T of a number, for every row: in a range, whatever it is of."""
    sides = (build.as_number(value, "a quantile"), build.negate(value))
    above, below = (
        build.function(
            Op.LN,
            build.arithmetic(
                Op.ADD,
                build.arithmetic(Op.MULTIPLY, build.clip(side, 0.0, FARTHEST), build.constant(_S)),
                build.constant(1.0),
            ),
        )
        for side in sides
    )
    scaled = build.arithmetic(Op.SUBTRACT, above, below)
    return RowValue(scaled, -_TOP, _TOP, text_of(scaled), is_condition=False)


def from_log_scale(part: float) -> float:
    """The number whose T is at this part of its range."""
    return _number(_place(part))


def interval_from_log_scale(parts: Interval) -> Interval:
    """The numbers whose T is in an interval of parts of its range, rounded outwards."""
    low, high = map(_place, parts)
    return Interval(_number(low - _OUTWARDS), _number(high + _OUTWARDS))


def part_of_log_scale(size: float) -> float:
    """Where in its range T of a number from 0 on is, as a part of it; 1 beyond the farthest."""
    return 1.0 if size >= FARTHEST else (math.log1p(_S * size) / _TOP + 1.0) / 2.0


def sizes_from_log_scale(parts: _Array, error: float) -> tuple[_Array, _Array]:
    """The least and greatest numbers that are not negative whose T may have been read as `parts`.

    Each was read up to `error`. What may have been cut at the farthest may be anything above.
    """
    spare = error * 2 * _TOP + _OUTWARDS
    t = (2 * parts - 1.0) * _TOP
    low, high = (np.expm1(np.maximum(each, 0.0)) / _S for each in (t - spare, t + spare))
    return low, np.where(high >= FARTHEST, math.inf, high)


def _place(part: float) -> float:
    return (2 * part - 1.0) * _TOP


def _number(t: float) -> float:
    """The number whose T is t, cut at the farthest."""
    return math.copysign(min(FARTHEST, math.expm1(abs(t)) / _S), t)
