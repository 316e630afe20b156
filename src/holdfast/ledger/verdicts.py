"""What differences say, where one sign of them is better."""

from __future__ import annotations

from typing import Literal, TypeAlias

from holdfast.statistics.named import Better
from holdfast.theory.base.intervals import Interval

__all__ = ["Judgement", "verdict_of"]

Judgement: TypeAlias = Literal["better", "worse", "cannot tell"]


def verdict_of(interval: Interval, better: Better | None) -> Judgement | None:
    """What the interval of a difference says, where one sign of it is better."""
    if better is None:
        return None
    if interval.low <= 0 <= interval.high:
        return "cannot tell"
    return "better" if (interval.low > 0) == (better == "higher") else "worse"
