"""Limits of intervals: ranges, claims, ends of grids; and equality up to rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from holdfast.statistics.derived import is_unbounded
from holdfast.statistics.entry import Bound
from holdfast.statistics.grid_rules import LogGridded
from holdfast.statistics.rule import Rule
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below

__all__ = [
    "CLOSE",
    "ROUNDED_ENDS",
    "alike",
    "in_unit",
    "in_unit_outwards",
    "interval_between",
    "interval_told",
    "lies_in",
    "open_ended",
    "plain_interval",
    "stated_range",
    "value_told",
]


ROUNDED_ENDS = 2.0**-48  # of a range: what a few roundings come to


def lies_in(interval: Interval, claim: tuple[float, float], limits: Interval) -> bool:
    """Whether a part of a range is within a claim; the ends of the range bind nothing.

    The interval was rounded outwards in its own unit, where `limits` is its range, and no more is
    forgiven: without a range it is a tiny part of that of its grid.
    """
    low, high = claim
    width, largest = limits.high - limits.low, max(map(abs, limits))
    rounded = ROUNDED_ENDS + (4 * math.ulp(largest) / width if width else 0.0)
    above = low <= 0.0 or interval.low >= low - rounded
    return above and (high >= 1.0 or interval.high <= high + rounded)


def stated_range(question: Bound) -> tuple[float, float, bool]:
    """Its least and greatest value, and whether these are only the ends of a grid."""
    return question.low, question.high, is_unbounded(question)


def open_ended(interval: Interval, low: float, high: float) -> Interval:
    """The interval of a question without a range: at an end of its grid nothing bounds it."""
    return Interval(
        -math.inf if interval.low <= low else interval.low,
        math.inf if interval.high >= high else interval.high,
    )


def interval_between(low: float | None, high: float | None) -> Interval:
    """The interval with these ends, as `plain_interval` says them."""
    return Interval(-math.inf if low is None else low, math.inf if high is None else high)


def plain_interval(interval: Interval) -> dict[str, float | None]:
    """Both ends as JSON can have them: None where nothing bounds it."""
    return {
        name: end if math.isfinite(end) else None
        for name, end in zip(("low", "high"), interval, strict=True)
    }


# Fractions of a range, as offers and symbols have them, in the question's own unit.


_FRACTIONS = (0.0, 1.0)  # the range of a question whose unit is the fraction itself


def in_unit(fraction: float, low: float, high: float) -> float:
    """A fraction of the range [low, high] in the question's own unit, correctly rounded."""
    part = _in_range(fraction)
    return part if (low, high) == _FRACTIONS else float(_exactly(part, low, high))


def _in_range(fraction: float) -> float:
    return min(1.0, max(0.0, fraction))


def _exactly(part: float, low: float, high: float) -> Fraction:
    return Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(part)


def in_unit_outwards(interval: Interval, low: float, high: float) -> Interval:
    """The interval in the question's own unit, rounded outwards but not beyond the range."""
    first, last = map(_in_range, interval)
    if (low, high) == _FRACTIONS:
        return Interval(first, last)
    return Interval(float_below(_exactly(first, low, high)), float_above(_exactly(last, low, high)))


def value_told(part: float | None, limits: Interval, rule: Rule | None) -> float | None:
    """What a rule tells, if it tells anything, in the question's own unit."""
    if part is None:
        return None
    return rule.in_unit(part) if isinstance(rule, LogGridded) else in_unit(part, *limits)


def interval_told(
    parts: Interval, limits: Interval, rule: Rule | None, *, unbounded: bool
) -> Interval:
    """The interval of a question in its own unit; without a range, open where its grid ends."""
    if isinstance(rule, LogGridded):
        inside = rule.in_unit_outwards(parts)
    else:
        inside = in_unit_outwards(parts, *limits)
    return open_ended(inside, *limits) if unbounded else inside


# What was computed here and what was computed elsewhere: equal, but for the last digits.


# Numbers that were computed on another machine agree far better than this.
CLOSE = 1e-9


def alike(first: Any, second: Any) -> bool:
    """Equal; numbers, as nearly as machines compute them."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(
            alike(first[name], second[name]) for name in first
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=CLOSE, abs_tol=CLOSE**2)
    return bool(first == second)
