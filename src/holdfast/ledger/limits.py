"""Intervals and the limits of what they are about: ranges, claims, and grids that have an end."""

from __future__ import annotations

import math

from holdfast.theory.base.intervals import Interval

__all__ = ["interval_between", "lies_in", "open_ended", "plain_interval"]

_ROUNDING = 1e-9  # intervals are rounded outwards by less than this part of themselves


def lies_in(interval: Interval, claim: tuple[float, float]) -> bool:
    """Whether a part of a range is within a claim; the ends of the range bind nothing."""
    low, high = claim
    above = low <= 0.0 or interval.low >= low - _ROUNDING
    return above and (high >= 1.0 or interval.high <= high + _ROUNDING)


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
