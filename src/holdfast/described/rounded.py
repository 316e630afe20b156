"""Rounded answers: few symbols, so that what is not described stays cheap beside them.

A value is told to the nearest half of alpha, its public radius: one of five that the described
event leaves, and the truth is within 1.25 alpha of it. A group's size is told in the same way, and
alpha is that of the smallest group it may be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from holdfast import require
from holdfast.described.rule import UNKNOWN, Evidence, Symbols, Told
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below, round_up
from holdfast.theory.length.coexistence import ROUNDED_SYMBOLS, rounded_half_width

__all__ = ["RoundedGroupMean", "RoundedMean"]


@dataclass(frozen=True, slots=True)
class RoundedMean:
    """The mean of a bounded value, conditions included, over `rows` independent rows."""

    rows: int
    log_p: float

    @property
    def symbols(self) -> int:
        return ROUNDED_SYMBOLS

    @property
    def half_width(self) -> float:
        """That of every answer, but for what lies beyond the range."""
        return rounded_half_width(_radius(self.rows, self.log_p))

    def found(self, symbols: Symbols) -> Told:
        (cell,) = symbols
        value, interval = _told(cell, _radius(self.rows, self.log_p))
        return Told(value, interval, (self.rows, self.rows))

    def seen(self, found: Evidence) -> Symbols:
        return (_cell(Fraction(found.sums[0], self.rows * GRID), self.rows, self.log_p),)


@dataclass(frozen=True, slots=True)
class RoundedGroupMean:
    """The mean inside a group of alike rows; `log_share` is its size's own level."""

    rows: int
    log_p: float
    log_share: float

    @property
    def symbols(self) -> int:
        return ROUNDED_SYMBOLS**2

    def found(self, symbols: Symbols) -> Told:
        size, cell = symbols
        least, most = self._sizes(size)
        if least == 0:
            return Told(None, UNKNOWN, (least, most))
        value, interval = _told(cell, _radius(least, self.log_p))
        return Told(value, interval, (least, most))

    def seen(self, found: Evidence) -> Symbols:
        total, size = found.sums[0], found.sums[1] // GRID
        told = _cell(Fraction(size, self.rows), self.rows, self.log_share)
        least, _ = self._sizes(told)
        if least == 0:
            return (told, 0)
        return (told, _cell(Fraction(total, size * GRID), least, self.log_p))

    def _sizes(self, cell: int) -> tuple[int, int]:
        """The sizes that a symbol of the size may stand for."""
        half = Fraction(_radius(self.rows, self.log_share)) / 4
        middle = 2 * require.integer_between("size", cell, 0, math.ceil(1 / half)) * half
        least, most = ((middle - half) * self.rows, (middle + half) * self.rows)
        return max(0, math.ceil(least)), min(self.rows, math.floor(most))


def _radius(rows: int, log_p: float) -> float:
    """How far a mean of so many rows may be from the truth, the grid's rounding counted."""
    return min(1.0, round_up(BoundedMean(rows).radius(log_p) + GRID_ERROR))


def _cell(value: Fraction, rows: int, log_p: float) -> int:
    return round(value / (Fraction(_radius(rows, log_p)) / 2))


def _told(cell: int, alpha: float) -> tuple[float, Interval]:
    cell = require.integer_between("cell", cell, 0, math.ceil(2 / Fraction(alpha)))
    value, reach = cell * Fraction(alpha) / 2, Fraction(rounded_half_width(alpha))
    low, high = (
        float_below(max(Fraction(0), value - reach)),
        float_above(min(Fraction(1), value + reach)),
    )
    return min(1.0, float(value)), Interval(low, high)
