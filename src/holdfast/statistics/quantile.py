"""Quantiles: from answers about F(v) = P[x <= v] at public thresholds, found by binary search."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import cache

from holdfast.question import build
from holdfast.question.expression import Op
from holdfast.question.row import RowValue, row_value
from holdfast.question.text import number
from holdfast.statistics.derived import Estimate, counted
from holdfast.statistics.mean import Average
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import quantile_interval

__all__ = ["Quantile"]

Search = Generator[float, Interval, None]


@dataclass(frozen=True, slots=True)
class Quantile:
    """The lower quantile of a value at a level: the least v with P[value <= v] >= level.

    Thresholds are `step` apart, from the lower end of the value's range.
    """

    value: RowValue
    level: float
    step: float
    average: Callable[[RowValue], Average]

    @property
    def text(self) -> str:
        among = self.threshold(self.value.low).among
        return f"quantile({self.value.text}, {number(self.level)}, {number(self.step)}){among}"

    @property
    def low(self) -> float:
        return self.value.low

    @property
    def high(self) -> float:
        return self.value.high

    @property
    def cells(self) -> int:
        """How many steps the range has."""
        return max(1, math.ceil((self.value.high - self.value.low) / self.step))

    def most_questions(self, known: Mapping[float, Interval]) -> int:
        """No search asks more new thresholds than this, where some are `known`; 0 for a repeat."""
        walk, steps = self.search(), 0
        try:
            v = next(walk)
            while v in known:
                steps += 1
                v = walk.send(known[v])
        except StopIteration:
            return 0
        return _most(self.cells + 1) - steps

    def threshold(self, v: float) -> Average:
        """The share of rows with a value of at most v."""
        below = build.compare(Op.AT_MOST, counted(self.value), build.constant(v))
        return self.average(row_value(below))

    def threshold_of(self, question: str) -> float | None:
        """The v of a threshold's canonical text; None for the text of anything else."""
        end = number(self.low)
        before, _, after = self.threshold(self.low).text.rpartition(f"<= {end})")
        before, after = f"{before}<= ", f"){after}"
        if not (question.startswith(before) and question.endswith(after)):
            return None
        try:
            v = float(question[len(before) : len(question) - len(after)])
        except ValueError:
            return None
        return v if math.isfinite(v) and self.threshold(v).text == question else None

    def claims(self, guess: float, reach: float) -> dict[float, tuple[float, float]]:
        """What F must be, and where, for the quantile to be within `reach` of a guess."""
        # Below the quantile F is below the level, which doubles say with the next one down.
        both = {
            guess - reach: (0.0, math.nextafter(self.level, 0.0)),
            guess + reach: (self.level, 1.0),
        }
        return {v: claim for v, claim in both.items() if self.low <= v < self.high}

    def is_about(self, guess: float, interval: Interval, tolerance: float) -> bool:
        """Whether an interval says that it is within the tolerance (a part of the range) of it."""
        reach = tolerance * (self.high - self.low)
        return guess - reach <= interval.low and interval.high <= guess + reach

    def place(self, cell: int) -> float:
        """The threshold after so many steps."""
        return min(self.value.high, self.value.low + cell * self.step)

    def search(self) -> Search:
        """Yields thresholds and is sent F's intervals: both ends of the quantile's, one by one.

        A threshold is surely below the quantile, surely not below it, or undecided. The search
        halves until something is undecided, then finds the ends to its left and to its right.
        """
        below, above = -1, self.cells
        while above - below > 1:
            middle = (below + above) // 2
            share = yield self.place(middle)
            if share.high < self.level:
                below = middle
            elif share.low >= self.level:
                above = middle
            else:
                yield from self._edge(below, middle, lambda found: found.high < self.level)
                yield from self._edge(middle, above, lambda found: found.low < self.level)
                return

    def _edge(self, left: int, right: int, belongs: Callable[[Interval], bool]) -> Search:
        """Halve (left, right) around the last threshold for which something holds."""
        while right - left > 1:
            middle = (left + right) // 2
            if belongs((yield self.place(middle))):
                left = middle
            else:
                right = middle

    def join(self, shares: Mapping[float, Estimate]) -> Estimate:
        """What follows from the answers about the thresholds."""
        points = sorted(shares)
        lows, highs = ([shares[v].interval[end] for v in points] for end in (0, 1))
        found = quantile_interval(self.level, points, lows, highs, self.low, self.high)
        return Estimate(self._value(shares), found).within(self.low, self.high)

    def _value(self, shares: Mapping[float, Estimate]) -> float:
        """Where the line through the nearest answers reaches the level."""
        under = [(v, each.value) for v, each in shares.items() if each.value < self.level]
        over = [(v, each.value) for v, each in shares.items() if each.value >= self.level]
        left, low = max(under, default=(self.low, 0.0))
        right, high = min(over, default=(self.high, 1.0))
        if right <= left:
            return left
        part = (self.level - low) / (high - low) if high > low else 0.5
        return left + (right - left) * min(1.0, max(0.0, part))


@cache
def _most(gap: int) -> int:
    """The longest search between two thresholds that are `gap` steps apart."""
    if gap <= 1:
        return 0
    small, large = gap // 2, gap - gap // 2
    edges = (small - 1).bit_length() + (large - 1).bit_length()
    return 1 + max(_most(large), edges)
