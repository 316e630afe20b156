"""Symbols of a direct interval: the numbers of steps that cross the door, and the interval again.

The ends of these intervals depend on the whole sample. Where undescribed questions are to stay
possible on the same rows, only a symbol of a public alphabet may be shown: for a mean or difference
its value on a public grid and how many steps of alpha/64 each end is away, inside Hoeffding's
containment v +- alpha; for other statistics value and both ends on 4,096 points of the range. Each
end goes outwards to its symbol, and from the symbol to the interval by exact arithmetic.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below, level_share

STEPS = 64
POINTS = 4096


class StepSymbol(NamedTuple):
    """How many steps of alpha/64, 1 to 64, the two ends are away from the value."""

    below: int
    above: int


class GridSymbol(NamedTuple):
    """Places of the value and of both ends among the 4,096 points of the declared range."""

    value: int
    low: int
    high: int


def contained_levels(log_p: float) -> tuple[float, float]:
    """The level of the direct interval and that of Hoeffding's containment: 99 and 1 per cent.

    alpha is the radius at the second one. Both parts together miss with at most e^{log_p}.
    """
    return level_share(log_p, 0.99), level_share(log_p, 0.01)


def step_symbol(value: float, interval: Interval, alpha: float) -> StepSymbol:
    """The steps that enclose the interval's part inside v +- alpha."""
    step = Fraction(require.positive("alpha", alpha)) / STEPS
    centre = Fraction(require.finite("value", value))
    below, above = centre - Fraction(interval.low), Fraction(interval.high) - centre
    return StepSymbol(*(min(STEPS, max(1, math.ceil(side / step))) for side in (below, above)))


def step_interval(value: float, symbol: StepSymbol, alpha: float) -> Interval:
    """The interval that a symbol stands for: a function of public numbers, rounded outwards."""
    step = Fraction(require.positive("alpha", alpha)) / STEPS
    centre = Fraction(require.finite("value", value))
    below, above = (require.integer_between("steps", side, 1, STEPS) for side in symbol)
    return Interval(float_below(centre - below * step), float_above(centre + above * step))


def grid_symbol(
    value: float, interval: Interval, declared: Interval, points: int = POINTS
) -> GridSymbol:
    """The nearest point to the value, the next one below the low end and above the high end."""
    return GridSymbol(
        math.floor(_place(value, declared, points) + Fraction(1, 2)),
        math.floor(_place(interval.low, declared, points)),
        math.ceil(_place(interval.high, declared, points)),
    )


def grid_answer(
    symbol: GridSymbol, declared: Interval, points: int = POINTS
) -> tuple[float, Interval]:
    """The value and interval that a symbol stands for, the interval rounded outwards."""
    low, width = Fraction(declared.low), _width(declared)
    places = [require.integer_between("place", place, 0, points - 1) for place in symbol]
    value, first, last = (low + width * place / (points - 1) for place in places)
    return float(value), Interval(float_below(first), float_above(last))


def _width(declared: Interval) -> Fraction:
    if not declared.low < declared.high:
        raise InvalidArgument(
            f"the declared range is [{declared.low!r}, {declared.high!r}]; its low end must be "
            "below its high end."
        )
    return Fraction(declared.high) - Fraction(declared.low)


def _place(number: float, declared: Interval, points: int) -> Fraction:
    """Place of a number among the points, from 0; one outside the range is at its end."""
    share = (Fraction(number) - Fraction(declared.low)) / _width(declared)
    return min(max(share, Fraction(0)), Fraction(1)) * (points - 1)
