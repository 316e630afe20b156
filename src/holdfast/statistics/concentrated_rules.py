"""Means and variances without a range as they are described, by their declared concentration.

The radius of a mean is public, so all that crosses the door is the value on a grid of it: 512 cells
of the radius, or where answers are rounded 2, of which the described event leaves 5 symbols. That
of a group of alike rows is public once its size is told, which is a symbol before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
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
from holdfast.statistics.statistic import (
    SPREAD_ERROR,
    SPREAD_LOG_ROW,
    ConcentratedGroupMean,
    ConcentratedMean,
    ConcentratedVariance,
    spread_of,
)
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.intervals import Interval, clopper_pearson
from holdfast.theory.base.safeside import float_above, float_below, round_up
from holdfast.theory.base.unbounded import (
    SpreadOfRows,
    UnboundedMean,
    Windowed,
    scale_in_group,
    square_scale,
)
from holdfast.theory.length.levels import grid_symbols

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
        tail, error = self._tail_and_error(size, scale_in_group(self.sigma, share))
        read = Windowed(tail, self.rows, self.log_row)
        radius = round_up(read.radius(self.log_p) + error)
        return ConcentratedRule(size, self.log_p, radius, self.cells) if radius < 1.0 else None

    def _tail_and_error(self, size: int, sigma: float) -> tuple[Concentration, float]:
        """Those of the value of so many rows with this sigma."""
        return UnboundedMean(size, sigma, self.b), self.error

    @property
    def _sizes(self) -> GroupSizes:
        return GroupSizes(self.rows, self.log_sizes, known=False)


_NO_SHARE = 2.0**-20  # of all rows: of a smaller group nothing is said


@register_rule
@dataclass(frozen=True, slots=True)
class ConcentratedGroupSpread(ConcentratedGroupRule):
    """The variance of the rows of a group, after their number, in a range that is as far below 0.

    The square of `sigma` is a part of that range, `error` a part of the square of the group's own.
    """

    name: ClassVar[str] = "concentrated group variance/1"
    theorems: ClassVar[tuple[str, ...]] = (
        "SpreadOfRows",
        "square_scale",
        "scale_in_group",
        "clopper_pearson",
    )

    def decode(self, symbols: Symbols) -> Told:
        # Written out: super() does not know a class with slots.
        mean = ConcentratedGroupRule.decode(self, symbols)
        value = None if mean.value is None else max(_NOTHING, mean.value)
        low, high = mean.interval
        return replace(mean, value=value, interval=Interval(max(_NOTHING, low), high))

    def _tail_and_error(self, size: int, sigma: float) -> tuple[Concentration, float]:
        squares = UnboundedMean(size, *square_scale(sigma))
        error = round_up(self.error * sigma**2)
        return SpreadOfRows(squares, UnboundedMean(size, sigma)), error


_NOTHING = 0.5  # no variance, as a part of its range


def concentrated_look(
    mean: ConcentratedMean | ConcentratedGroupMean | ConcentratedVariance,
    ground: Ground,
    log_p: float,
) -> Look:
    """A value by its declared concentration, read on the grid that is scaled to it."""
    rows, profile = mean.rows(ground.rows), mean.concentration(ground.rows, ground.sampling)
    radius = min(1.0, round_up(profile.radius(log_p) + mean.error))
    rule = ConcentratedRule(rows, log_p, radius, _ROUNDED if ground.rounded else _EXACT)

    if isinstance(mean, ConcentratedVariance):

        def symbols_read(evidence: Evidence) -> Symbols:
            read = mean.read(evidence.sample)
            return rule.encode(Fraction(read.numerator, read.denominator))

        return Look(rule, symbols_read, others=mean.read_values)

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


def concentrated_spread_look(
    whole: ConcentratedMean, where: Expression, ground: Ground, log_p: float
) -> Look | None:
    """The variance in a group: by design, or of alike rows; None where no theorem has it."""
    if ground.design.covers(where):
        group = ground.design.group(where)
        by_design = ConcentratedVariance(ConcentratedGroupMean(whole, where, group=group))
        return concentrated_look(by_design, ground, log_p) if group.size else None
    sizes = group_of_rows(where, ground)
    if not ground.alike or ground.rounded or sizes is None:
        return None
    variance = ConcentratedVariance(ConcentratedGroupMean(whole, where))
    sigma = round_up(whole.scale.sigma / math.sqrt(variance.high - variance.low))
    rule = ConcentratedGroupSpread(
        ground.rows, log_p, sizes.log_sizes, sigma, None, SPREAD_ERROR, SPREAD_LOG_ROW
    )

    def symbols_of(evidence: Evidence) -> Symbols:
        size, value = spread_of(evidence.sample, whole, where)
        return rule.encode(size, variance.part_of(value))

    return Look(rule, symbols_of, others=variance.read_values)
