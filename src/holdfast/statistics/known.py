"""What released answers imply for the variance of another question (Theorem L, public variances).

On the event that every earlier interval is true, anything that follows from them may set the radius
of a later question. Two consequences are used: a condition that holds more rarely than one already
answered (``a and b`` after ``a``), and a value that differs from a constant only inside a group
whose share is already answered. A bound that the analyst declared counts as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from holdfast.question import build
from holdfast.question.bounds import range_of
from holdfast.question.expression import Constant, Expression, Op, Operation
from holdfast.question.text import text_of
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.public_variance import group_variance, share_variance

__all__ = ["KnownAnswer", "KnownVariance", "known_variance"]

_MOST_CONJUNCTS = 6


class KnownAnswer(Protocol):
    """A finished look: its number among all, and its interval in its own unit."""

    @property
    def look(self) -> int | None: ...

    @property
    def interval(self) -> Interval: ...


@dataclass(frozen=True, slots=True)
class KnownVariance:
    """A bound on the variance, as a fraction of the squared range.

    It follows from the interval of look `implied_by`, which bounds the share of a group outside
    which the value is constant, and from the greatest distance inside it, `reach`; or it was
    declared, and both are None.
    """

    variance: float
    implied_by: int | None = None
    reach: float | None = None

    def __str__(self) -> str:
        if self.implied_by is None:
            return f"its variance was declared to be at most {self.variance:.4g} of its range^2"
        return (
            f"look {self.implied_by} implies a variance of at most {self.variance:.4g} of "
            "its range^2 (Bernstein)"
        )


def _implied_variance(share: float, reach: float) -> float:
    """The variance bound for a value that differs, by up to `reach`, in at most this share."""
    return share_variance(share) if reach == 1.0 else group_variance(share, reach)


def known_variance(
    statistic: Statistic, answered: Mapping[str, KnownAnswer]
) -> KnownVariance | None:
    """The least bound that is known for a mean of all rows; None if nothing is known."""
    if not isinstance(statistic, Mean):
        return None
    width = statistic.high - statistic.low
    found: list[KnownVariance] = []
    if statistic.variance is not None and width > 0:
        found.append(KnownVariance(statistic.variance / width / width))
    source = statistic.row.source
    if isinstance(source, Operation):
        for condition, reach in _groups(source, width):
            earlier = answered.get(f"avg({text_of(condition)})")
            if earlier is not None:
                share = min(1.0, max(0.0, earlier.interval.high))
                found.append(KnownVariance(_implied_variance(share, reach), earlier.look, reach))
    return min(found, key=lambda each: each.variance, default=None)


def _groups(source: Operation, width: float) -> Iterator[tuple[Expression, float]]:
    """Conditions outside which the value is constant, with its greatest distance inside."""
    if source.op is Op.AND and len(source.args) <= _MOST_CONJUNCTS:
        for size in range(1, len(source.args)):
            for chosen in combinations(source.args, size):
                yield build.conjunction(list(chosen)), 1.0
    if source.op is Op.CASE and len(source.args) == 3 and width > 0:
        condition, inside, outside = source.args
        if isinstance(outside, Constant) and isinstance(outside.value, float):
            low, high = range_of(inside)
            reach = max(abs(low - outside.value), abs(high - outside.value)) / width
            yield condition, min(1.0, reach * (1 + 2.0**-50))
