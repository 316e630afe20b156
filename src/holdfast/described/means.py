"""Means of bounded values by bets, of all rows, inside a group, and differences of two groups.

The ends of an interval by bets depend on the whole sample. What crosses the door is the value on a
grid of 512 steps of alpha, and how many steps of alpha/64 each end is away; alpha is Hoeffding's
radius, which has a hundredth of the level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from holdfast import require
from holdfast.described.rule import UNKNOWN, Look, Symbols, Told
from holdfast.question.expression import Expression
from holdfast.question.row import GRID, GRID_ERROR, RowValue
from holdfast.theory.base.bets import level_share
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import difference_interval
from holdfast.theory.base.safeside import float_below, round_down, round_up
from holdfast.theory.direct.difference import enclosed_difference_interval
from holdfast.theory.direct.mean import enclosed_mean_interval
from holdfast.theory.direct.paired import paired_difference_interval
from holdfast.theory.direct.symbols import (
    STEPS,
    StepSymbol,
    contained_levels,
    step_interval,
    step_symbol,
)
from holdfast.theory.length.coexistence import count_symbols, grid_symbols

if TYPE_CHECKING:
    from holdfast.data.histogram import Histogram

__all__ = [
    "Contrast",
    "GroupMeanRule",
    "MeanRule",
    "PairedRule",
    "StepWindow",
    "contrast_look",
    "mean_look",
    "paired_look",
]

_CELLS = 512  # of a value, in alpha


@dataclass(frozen=True, slots=True)
class StepWindow:
    """Where a mean is, given alpha: its value on a grid of it, and both ends in steps of it."""

    alpha: float

    @classmethod
    def of(cls, *radii: float) -> StepWindow:
        """Room for radii, and for the roundings to the grids."""
        return cls(round_up(min(1.0, sum(radii)) * (1 + 1 / _CELLS) + GRID_ERROR))

    @property
    def pitch(self) -> Fraction:
        return Fraction(self.alpha) / _CELLS

    @property
    def symbols(self) -> int:
        """How many values and ends the events allow."""
        return grid_symbols(self.alpha, float_below(self.pitch)) * STEPS**2

    def value(self, cell: int) -> float:
        """What a cell stands for, inside the range."""
        return float(min(Fraction(1), max(Fraction(0), cell * self.pitch)))

    def seen(self, value: Fraction, interval: Interval) -> Symbols:
        """The symbols of a value with its interval."""
        cell = round(value / self.pitch)
        return (cell, *step_symbol(self.value(cell), interval, self.alpha))

    def found(self, symbols: Symbols, rows: int) -> Told:
        cell, below, above = symbols
        value = self.value(require.integer_between("cell", cell, 0, math.ceil(1 / self.pitch)))
        low, high = step_interval(value, StepSymbol(below, above), self.alpha)
        return Told(value, Interval(max(0.0, low), min(1.0, high)), (rows, rows))


@dataclass(frozen=True, slots=True)
class MeanRule:
    """The mean of a bounded value over `rows` rows, alike or not."""

    rows: int
    log_p: float

    @property
    def symbols(self) -> int:
        return self.window.symbols

    @property
    def window(self) -> StepWindow:
        return _window(self.log_p, self.rows)

    def found(self, symbols: Symbols) -> Told:
        return self.window.found(symbols, self.rows)

    def seen(self, histogram: Histogram) -> Symbols:
        """The symbols of rows with this histogram."""
        interval = _by_bets(histogram, contained_levels(self.log_p)[0])
        return self.window.seen(Fraction(histogram.total, self.rows * GRID), interval)


@dataclass(frozen=True, slots=True)
class GroupMeanRule:
    """The mean inside a group of alike rows, and its size; `log_share` is the size's own level."""

    rows: int
    log_p: float
    log_share: float

    @property
    def symbols(self) -> int:
        return _sizes(self.rows, self.log_share) * _window(self.log_p, self.rows).symbols

    def found(self, symbols: Symbols) -> Told:
        size, *rest = symbols
        size = require.integer_between("size", size, 0, self.rows)
        if size == 0:
            return Told(None, UNKNOWN, (0, 0))
        return MeanRule(size, self.log_p).found(tuple(rest))

    def seen(self, histogram: Histogram) -> Symbols:
        size = histogram.rows
        if size == 0:
            return (0, 0, 0, 0)
        return (size, *MeanRule(size, self.log_p).seen(histogram))


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of one value's means in two groups of alike rows, with both sizes.

    For `disjoint` groups by one joint bet, otherwise by the box of both means. Its range is
    [-1, 1], of which fractions are taken.
    """

    rows: int
    log_p: float
    log_shares: tuple[float, float]
    disjoint: bool

    @property
    def symbols(self) -> int:
        first, second = (_sizes(self.rows, level) for level in self.log_shares)
        return first * second * self.window(self.rows, self.rows).symbols

    def found(self, symbols: Symbols) -> Told:
        first, second, *rest = symbols
        sizes = [require.integer_between("size", size, 0, self.rows) for size in (first, second)]
        if 0 in sizes:
            return Told(None, UNKNOWN, (0, 0))
        return self.window(*sizes).found(tuple(rest), sum(sizes))

    def seen(self, groups: tuple[Histogram, Histogram]) -> Symbols:
        sizes = tuple(group.rows for group in groups)
        if 0 in sizes:
            return (*sizes, 0, 0, 0)
        first, second = (Fraction(group.total, group.rows * GRID) for group in groups)
        interval = self._interval(groups, contained_levels(self.log_p)[0])
        place = (first - second + 1) / 2
        return (*sizes, *self.window(*sizes).seen(place, _halved(interval)))

    def window(self, first: int, second: int) -> StepWindow:
        """Where the difference of groups of these sizes may be."""
        level = level_share(contained_levels(self.log_p)[1], 0.5)
        return StepWindow.of(*(BoundedMean(size).radius(level) / 2 for size in (first, second)))

    def _interval(self, groups: tuple[Histogram, Histogram], log_p: float) -> Interval:
        if self.disjoint:
            first, second = groups
            return enclosed_difference_interval(
                (first.low, first.high, first.counts),
                (second.low, second.high, second.counts),
                log_p,
            )
        boxes = [_by_bets(group, level_share(log_p, 0.5)) for group in groups]
        return difference_interval(*boxes[0], *boxes[1])


@dataclass(frozen=True, slots=True)
class PairedRule:
    """How much more often one condition holds than another on the same rows, in [-1, 1]."""

    rows: int
    log_p: float
    alike: bool

    @property
    def symbols(self) -> int:
        return count_symbols(2 * self.rows, self.window.alpha) * STEPS**2

    @property
    def window(self) -> StepWindow:
        return _window(self.log_p, self.rows)

    def found(self, symbols: Symbols) -> Told:
        more, below, above = symbols
        more = require.integer_between("difference", more, -self.rows, self.rows)
        value = (more / self.rows + 1) / 2
        low, high = step_interval(value, StepSymbol(below, above), self.window.alpha)
        return Told(value, Interval(max(0.0, low), min(1.0, high)), (self.rows, self.rows))

    def seen(self, first_alone: int, second_alone: int) -> Symbols:
        log_p, _ = contained_levels(self.log_p)
        interval = paired_difference_interval(
            self.rows, first_alone, second_alone, log_p, alike=self.alike
        )
        more = first_alone - second_alone
        value = (more / self.rows + 1) / 2
        return (more, *step_symbol(value, _halved(interval), self.window.alpha))


def _window(log_p: float, rows: int) -> StepWindow:
    return StepWindow.of(BoundedMean(rows).radius(contained_levels(log_p)[1]))


def _sizes(rows: int, log_share: float) -> int:
    return count_symbols(rows, BoundedMean(rows).radius(log_share))


def _by_bets(histogram: Histogram, log_p: float) -> Interval:
    return enclosed_mean_interval(histogram.low, histogram.high, log_p, histogram.counts)


def _halved(interval: Interval) -> Interval:
    """A part of [-1, 1] as fractions of it, rounded outwards."""
    low, high = ((end + 1.0) / 2.0 for end in interval)
    return Interval(round_down(low), round_up(high))


def mean_look(value: RowValue, where: Expression | None, rule: MeanRule | GroupMeanRule) -> Look:
    """The mean of a value, of all rows or among those where a condition holds."""
    return Look(rule, lambda found: rule.seen(found.histograms[0]), histograms=((value, where),))


def contrast_look(value: RowValue, groups: tuple[Expression, Expression], rule: Contrast) -> Look:
    """The mean of a value in one group minus that in another."""
    first, second = groups
    return Look(
        rule,
        lambda found: rule.seen((found.histograms[0], found.histograms[1])),
        histograms=((value, first), (value, second)),
    )


def paired_look(first_alone: RowValue, second_alone: RowValue, rule: PairedRule) -> Look:
    """Rows where the first condition holds and not the second, and the other way round."""
    return Look(
        rule,
        lambda found: rule.seen(found.sums[0] // GRID, found.sums[1] // GRID),
        (first_alone, second_alone),
    )
