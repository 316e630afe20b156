"""Means without a range, by the concentration that is declared for them.

The radius is public, so all that crosses the door is the value on a grid of it: 512 cells of the
radius, or where answers are rounded 2, of which the described event leaves 5 symbols.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from holdfast import require
from holdfast.described.ground import Ground
from holdfast.described.rule import Evidence, Look, Symbols, Told
from holdfast.statistics.concentrated import ConcentratedMean
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below, round_up
from holdfast.theory.length.coexistence import grid_symbols

__all__ = ["ConcentratedRule", "concentrated_look"]

_EXACT, _ROUNDED = 512, 2  # cells in a radius


@dataclass(frozen=True, slots=True)
class ConcentratedRule:
    """A value that is within `radius` of the truth, in cells of a part of that radius."""

    rows: int
    log_p: float
    radius: float
    cells: int = _EXACT

    @property
    def symbols(self) -> int:
        return grid_symbols(self.radius, float_below(self._pitch))

    @property
    def half_width(self) -> float:
        """That of every answer, but for what lies beyond the range."""
        return float_above(Fraction(self.radius) + self._pitch / 2)

    @property
    def _pitch(self) -> Fraction:
        return Fraction(self.radius) / self.cells

    def found(self, symbols: Symbols) -> Told:
        (cell,) = symbols
        last = math.ceil(1 / self._pitch)
        middle = require.integer_between("cell", cell, 0, last) * self._pitch
        reach = Fraction(self.radius) + self._pitch / 2
        low, high = float_below(middle - reach), float_above(middle + reach)
        value = float(min(Fraction(1), middle))
        return Told(value, Interval(max(0.0, low), min(1.0, high)), (self.rows, self.rows))

    def seen(self, value: Fraction) -> Symbols:
        """The symbol of a value of the range."""
        return (math.floor(value / self._pitch + Fraction(1, 2)),)


def concentrated_look(mean: ConcentratedMean, ground: Ground, log_p: float) -> Look:
    """The mean by its declared concentration, read on the grid that is scaled to it."""
    rows, profile = ground.rows, mean.concentration(ground.rows, ground.sampling)
    radius = min(1.0, round_up(profile.radius(log_p) + mean.error))
    rule = ConcentratedRule(rows, log_p, radius, _ROUNDED if ground.rounded else _EXACT)

    def symbols_of(found: Evidence) -> Symbols:
        return rule.seen(mean.part_of(found.sums[0], rows))

    return Look(rule, symbols_of, sums=(mean.value,))
