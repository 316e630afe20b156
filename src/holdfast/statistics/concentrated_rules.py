"""Means without a range as they are described, by the concentration that is declared for them.

The radius of a mean is public, so all that crosses the door is the value on a grid of it: 512 cells
of the radius, or where answers are rounded 2, of which the described event leaves 5 symbols. That
of a group of alike rows is public once its size is told, which is a symbol before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from holdfast import require
from holdfast.question.expression import Expression
from holdfast.question.row import GRID
from holdfast.statistics.rule import (
    UNKNOWN,
    Evidence,
    Ground,
    GroupSizes,
    Look,
    Symbols,
    Told,
    group_of_rows,
    register_rule,
)
from holdfast.statistics.statistic import ConcentratedGroupMean, ConcentratedMean
from holdfast.theory.base.intervals import Interval, clopper_pearson
from holdfast.theory.base.safeside import float_above, float_below, round_up
from holdfast.theory.base.unbounded import UnboundedMean, Windowed, scale_in_group
from holdfast.theory.length.levels import grid_symbols

__all__ = [
    "ConcentratedGroupRule",
    "ConcentratedRule",
    "concentrated_group_look",
    "concentrated_look",
]

_EXACT, _ROUNDED = 512, 2  # cells in a radius


@register_rule
@dataclass(frozen=True, slots=True)
class ConcentratedRule:
    """A value that is within `radius` of the truth, in cells of a part of that radius."""

    name: ClassVar[str] = "concentrated mean/1"
    method: ClassVar[str] = "the declared scale"
    theorems: ClassVar[tuple[str, ...]] = ()
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

    def decode(self, symbols: Symbols) -> Told:
        (cell,) = symbols
        last = math.ceil(1 / self._pitch)
        middle = require.integer_between("cell", cell, 0, last) * self._pitch
        reach = Fraction(self.radius) + self._pitch / 2
        low, high = float_below(middle - reach), float_above(middle + reach)
        value = float(min(Fraction(1), middle))
        return Told(value, Interval(max(0.0, low), min(1.0, high)), (self.rows, self.rows))

    def encode(self, value: Fraction) -> Symbols:
        """The symbol of a value of the range."""
        return (math.floor(value / self._pitch + Fraction(1, 2)),)


@register_rule
@dataclass(frozen=True, slots=True)
class ConcentratedGroupRule:
    """The mean of the rows of a group, after their number; a scale is declared of all rows.

    `sigma` and `b` are parts of the range, `error` is that of computing it. A row is too far out to
    be read with probability `log_row`.
    """

    name: ClassVar[str] = "concentrated group mean/1"
    method: ClassVar[str] = "the declared scale, and the number of the group's rows,"
    theorems: ClassVar[tuple[str, ...]] = ("UnboundedMean", "scale_in_group", "clopper_pearson")
    rows: int
    log_p: float
    log_sizes: tuple[float, ...]
    sigma: float
    b: float | None
    error: float
    log_row: float
    cells: int = _EXACT

    @property
    def symbols(self) -> int:
        return self._sizes.symbols * grid_symbols(1.0, float_below(Fraction(1, self.cells)))

    def decode(self, symbols: Symbols) -> Told:
        size, missing, (cell,) = self._sizes.read(symbols)
        around = self._around(size)
        if around is None:
            return Told(None, UNKNOWN, (size, size), missing)
        return around.decode((cell,))

    def encode(self, size: int, value: Fraction) -> Symbols:
        """The symbols of a group of so many rows with this mean, a part of the range."""
        around = self._around(size)
        return (size, *((0,) if around is None else around.encode(value)))

    def _around(self, size: int) -> ConcentratedRule | None:
        """The rule of the mean of so many rows; None if nothing can be said of it."""
        share = clopper_pearson(self.rows, size, self.log_sizes[-1]).low if size else 0.0
        if share <= _NO_SHARE:
            return None
        group = UnboundedMean(size, scale_in_group(self.sigma, share), self.b)
        radius = round_up(Windowed(group, self.rows, self.log_row).radius(self.log_p) + self.error)
        return ConcentratedRule(size, self.log_p, radius, self.cells) if radius < 1.0 else None

    @property
    def _sizes(self) -> GroupSizes:
        return GroupSizes(self.rows, self.log_sizes, known=False)


_NO_SHARE = 2.0**-20  # of all rows: of a smaller group nothing is said


def concentrated_look(
    mean: ConcentratedMean | ConcentratedGroupMean, ground: Ground, log_p: float
) -> Look:
    """The mean by its declared concentration, read on the grid that is scaled to it."""
    rows, profile = mean.rows(ground.rows), mean.concentration(ground.rows, ground.sampling)
    radius = min(1.0, round_up(profile.radius(log_p) + mean.error))
    rule = ConcentratedRule(rows, log_p, radius, _ROUNDED if ground.rounded else _EXACT)

    def symbols_of(evidence: Evidence) -> Symbols:
        return rule.encode(mean.part_of(evidence.sums[0], rows))

    sums = (mean.value,) if isinstance(mean, ConcentratedMean) else mean.summed()
    return Look(rule, symbols_of, sums=sums)


def concentrated_group_look(
    whole: ConcentratedMean, where: Expression, ground: Ground, log_p: float
) -> Look | None:
    """The mean in a group: by design, or of alike rows; None where no theorem has it."""
    if ground.design.covers(where):
        group = ground.design.group(where)
        mean = ConcentratedGroupMean(whole, where, group=group)
        return concentrated_look(mean, ground, log_p) if group.size else None
    sizes = group_of_rows(where, ground)
    if not ground.alike or ground.rounded or sizes is None:
        return None
    mean = ConcentratedGroupMean(whole, where)
    width, scale = whole.high - whole.low, whole.scale
    rule = ConcentratedGroupRule(
        ground.rows,
        log_p,
        sizes.log_sizes,
        round_up(scale.sigma / width),
        None if scale.b is None else round_up(scale.b / width),
        whole.error,
        whole.log_row,
    )

    def symbols_of(evidence: Evidence) -> Symbols:
        total, counted = evidence.sums
        size = counted // GRID
        return rule.encode(size, mean.part_of(total, size))

    return Look(rule, symbols_of, sums=mean.summed())
