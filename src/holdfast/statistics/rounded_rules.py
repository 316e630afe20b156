"""Rounded answers: few symbols, so that what is not described stays cheap beside them.

A value is told to the nearest half of alpha, its public radius: one of five that the described
event leaves, and the truth is within 1.25 alpha of it. A group's size is told in the same way, and
alpha is that of the smallest group it may be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from holdfast import require
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.statistics.rule import UNKNOWN, Evidence, Symbols, Told, counts, register_rule
from holdfast.theory.base.concentration import BoundedMean, SubGaussian
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below, level_share, round_up
from holdfast.theory.direct.unit_sums import f1_of_share
from holdfast.theory.length.levels import ROUNDED_SYMBOLS, rounded_half_width


@dataclass(frozen=True, slots=True)
class RoundedSize:
    """How many of `rows` alike rows are in a group, told by one of five symbols."""

    rows: int
    log_p: float

    def cell(self, size: int) -> int:
        """The symbol of a size."""
        return _cell(Fraction(size, self.rows), self._alpha)

    def sizes(self, cell: int) -> tuple[int, int]:
        """The least and the greatest size that a symbol may stand for."""
        half = Fraction(self._alpha) / 4
        middle = 2 * require.integer_between("size", cell, 0, math.ceil(1 / half)) * half
        least, most = ((middle - half) * self.rows, (middle + half) * self.rows)
        return max(0, math.ceil(least)), min(self.rows, math.floor(most))

    def least(self, cell: int) -> int:
        """The smallest group that a symbol may stand for."""
        return self.sizes(cell)[0]

    @property
    def _alpha(self) -> float:
        return _radius(self.rows, self.log_p)


@dataclass(frozen=True, slots=True)
class RoundedSizes:
    """The sizes of groups, each inside the one before, as `GroupSizes` tells them, rounded."""

    rows: int
    log_sizes: tuple[float, ...]
    known: bool = False

    @property
    def symbols(self) -> int:
        return int(ROUNDED_SYMBOLS ** len(self.log_sizes))

    def cells(self, sizes: Sequence[int]) -> Symbols:
        """The symbols of sizes."""
        return tuple(one.cell(size) for one, size in zip(self._each, sizes, strict=True))

    def read(self, symbols: Symbols) -> tuple[tuple[int, int], tuple[int, int], Symbols]:
        """The least and the greatest size of the last group, and number of missing; the rest."""
        sizes = symbols[: len(self.log_sizes)]
        ends = [one.sizes(cell) for one, cell in zip(self._each, sizes, strict=True)]
        ranges = [(self.rows, self.rows), *ends]
        missing = (0, 0)
        if self.known:
            (low, high), (least, most) = ranges[-2:]
            missing = max(0, low - most), max(0, high - least)
        return ranges[-1], missing, symbols[len(sizes) :]

    @property
    def _each(self) -> list[RoundedSize]:
        return [RoundedSize(self.rows, level) for level in self.log_sizes]


@register_rule
@dataclass(frozen=True, slots=True)
class RoundedMean:
    """The mean of a bounded value, conditions included, over `rows` independent rows."""

    name: ClassVar[str] = "rounded mean/1"
    method: ClassVar[str] = "Hoeffding's interval, rounded"
    theorems: ClassVar[tuple[str, ...]] = ("BoundedMean", "rounded_half_width")
    rows: int
    log_p: float

    @property
    def symbols(self) -> int:
        return ROUNDED_SYMBOLS

    @property
    def half_width(self) -> float:
        """That of every answer, but for what lies beyond the range."""
        return rounded_half_width(_radius(self.rows, self.log_p))

    def decode(self, symbols: Symbols) -> Told:
        (cell,) = symbols
        value, interval = _cell_estimate(cell, _radius(self.rows, self.log_p))
        return Told(value, interval, (self.rows, self.rows))

    def encode(self, evidence: Evidence) -> Symbols:
        mean = Fraction(evidence.sums[0], self.rows * GRID)
        return (_cell(mean, _radius(self.rows, self.log_p)),)


@register_rule
@dataclass(frozen=True, slots=True)
class RoundedGroupMean:
    """The mean inside a group of alike rows, and its size, as `RoundedSizes` tells it."""

    name: ClassVar[str] = "rounded group mean/1"
    method: ClassVar[str] = "Hoeffding's interval of the group's rows, rounded"
    theorems: ClassVar[tuple[str, ...]] = ("BoundedMean", "rounded_half_width")
    rows: int
    log_p: float
    log_sizes: tuple[float, ...]
    known: bool = False

    @property
    def symbols(self) -> int:
        return self._sizes.symbols * ROUNDED_SYMBOLS

    def decode(self, symbols: Symbols) -> Told:
        (least, most), missing, (cell,) = self._sizes.read(symbols)
        if least == 0:
            return Told(None, UNKNOWN, (least, most), missing)
        value, interval = _cell_estimate(cell, _radius(least, self.log_p))
        return Told(value, interval, (least, most), missing)

    def encode(self, evidence: Evidence) -> Symbols:
        """The symbols of a group's sum and of the sizes that are told, the last its own."""
        total, sizes = evidence.sums[0], counts(evidence)[1:]
        cells = self._sizes.cells(sizes)
        (least, _), _, _ = self._sizes.read(cells)
        if least == 0:
            return (*cells, 0)
        return (*cells, _cell(Fraction(total, sizes[-1] * GRID), _radius(least, self.log_p)))

    @property
    def _sizes(self) -> RoundedSizes:
        return RoundedSizes(self.rows, self.log_sizes, self.known)


@register_rule
@dataclass(frozen=True, slots=True)
class RoundedOverlap:
    """F1: the rounded share of rows where both conditions hold among those where either does."""

    name: ClassVar[str] = "rounded overlap/1"
    method: ClassVar[str] = "Hoeffding's interval of the rows where either holds, rounded"
    theorems: ClassVar[tuple[str, ...]] = ()
    rows: int
    log_p: float
    log_share: float

    @property
    def symbols(self) -> int:
        return self._share.symbols

    def decode(self, symbols: Symbols) -> Told:
        share = self._share.decode(symbols)
        if share.value is None:
            return share
        return Told(2 * share.value / (1 + share.value), f1_of_share(share.interval), share.rows)

    def encode(self, evidence: Evidence) -> Symbols:
        either, both = evidence.sums
        return self._share.encode(Evidence((both, either), (), evidence.sample, evidence.key))

    @property
    def _share(self) -> RoundedGroupMean:
        return RoundedGroupMean(self.rows, self.log_p, (self.log_share,))


@register_rule
@dataclass(frozen=True, slots=True)
class RoundedContrast:
    """The difference of one value's means in two groups of alike rows, as a part of [-1, 1].

    Given who is in them, means of `disjoint` groups are independent and their variances add; of
    others each has half the level.
    """

    name: ClassVar[str] = "rounded contrast/1"
    method: ClassVar[str] = "Hoeffding's interval of both groups' rows, rounded"
    theorems: ClassVar[tuple[str, ...]] = ()
    rows: int
    log_p: float
    log_sizes: tuple[tuple[float, ...], tuple[float, ...]]
    disjoint: bool

    @property
    def symbols(self) -> int:
        first, second = (sizes.symbols for sizes in self._sizes)
        return first * second * ROUNDED_SYMBOLS

    def decode(self, symbols: Symbols) -> Told:
        ends, missing, (cell,) = self._read(symbols)
        least, most = (sum(each) for each in zip(*ends, strict=True))
        most = min(most, self.rows) if self.disjoint else most
        alpha = self._radius([low for low, _ in ends])
        if alpha is None:
            return Told(None, UNKNOWN, (least, most), missing)
        value, interval = _cell_estimate(cell, alpha)
        return Told(value, interval, (least, most), missing)

    def encode(self, evidence: Evidence) -> Symbols:
        """The symbols of both groups' sums and of the sizes that are told, in this order."""
        first_sizes, second_sizes = self._sizes
        totals, told_sizes = evidence.sums[:2], counts(evidence)[2:]
        depth = len(first_sizes.log_sizes)
        sizes = told_sizes[:depth], told_sizes[depth:]
        cells = (*first_sizes.cells(sizes[0]), *second_sizes.cells(sizes[1]))
        ends, _, _ = self._read(cells)
        alpha = self._radius([low for low, _ in ends])
        if alpha is None:
            return (*cells, 0)
        first, second = (
            Fraction(total, own[-1] * GRID) for total, own in zip(totals, sizes, strict=True)
        )
        return (*cells, _cell((first - second + 1) / 2, alpha))

    def _read(self, symbols: Symbols) -> tuple[list[tuple[int, int]], tuple[int, int], Symbols]:
        """The sizes of both groups, how many are missing of both together, the other symbols."""
        groups, lost = [], []
        for sizes in self._sizes:
            size, missing, symbols = sizes.read(symbols)
            groups.append(size)
            lost.append(missing)
        least, most = (sum(each) for each in zip(*lost, strict=True))
        return groups, (least, most), symbols

    @property
    def _sizes(self) -> tuple[RoundedSizes, RoundedSizes]:
        first, second = (
            RoundedSizes(self.rows, each, known=len(each) > 1) for each in self.log_sizes
        )
        return first, second

    def _radius(self, sizes: list[int]) -> float | None:
        """How far the difference may be from the truth; None if a group may be empty."""
        if 0 in sizes:
            return None
        if self.disjoint:
            sigma = math.hypot(*(BoundedMean(size).sigma for size in sizes))
            return _gridded(SubGaussian(round_up(sigma)).radius(self.log_p) / 2)
        half = level_share(self.log_p, 0.5)
        return _gridded(sum(BoundedMean(size).radius(half) for size in sizes) / 2)


def _radius(rows: int, log_p: float) -> float:
    """How far a mean of so many rows may be from the truth."""
    return _gridded(BoundedMean(rows).radius(log_p))


def _gridded(radius: float) -> float:
    """A radius with the rounding of rows to their grid, within the range."""
    return min(1.0, round_up(radius + GRID_ERROR))


def _cell(value: Fraction, alpha: float) -> int:
    return round(value / (Fraction(alpha) / 2))


def _cell_estimate(cell: int, alpha: float) -> tuple[float, Interval]:
    cell = require.integer_between("cell", cell, 0, math.ceil(2 / Fraction(alpha)))
    value, reach = cell * Fraction(alpha) / 2, Fraction(rounded_half_width(alpha))
    low, high = (
        float_below(max(Fraction(0), value - reach)),
        float_above(min(Fraction(1), value + reach)),
    )
    return min(1.0, float(value)), Interval(low, high)
