"""Shares of rows: of all of them, and inside a group whose size is a symbol too.

Given which rows are in the group, its 0/1 values are those of alike rows, so that its own size may
be used. Plain and free levels are events of their own, and their intervals are intersected; all
of them are functions of the count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from holdfast import require
from holdfast.question import build
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.mean import expression_of
from holdfast.statistics.rule import (
    UNKNOWN,
    GroupRows,
    GroupSizes,
    Look,
    Rule,
    Symbols,
    Told,
    counts,
    own_rows,
    register_rule,
    within,
)
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import Interval, clopper_pearson, independent_clopper_pearson
from holdfast.theory.direct.order_statistics import threshold_interval
from holdfast.theory.direct.unit_sums import f1_interval
from holdfast.theory.length.levels import count_symbols, group_symbols

__all__ = [
    "GroupShare",
    "Overlap",
    "Share",
    "group_share_look",
    "overlap_counts",
    "overlap_look",
    "share_look",
]


@register_rule
@dataclass(frozen=True, slots=True)
class Share:
    """How many of `rows` rows: Clopper and Pearson, and for free thresholds DKW and the band."""

    name: ClassVar[str] = "share/1"
    method: ClassVar[str] = "Clopper and Pearson's interval"
    rows: int
    log_p: float
    log_free: tuple[float, ...]
    alike: bool

    @property
    def theorems(self) -> tuple[str, ...]:
        exact = "clopper_pearson" if self.alike else "independent_clopper_pearson_upper"
        return (exact, *(["cdf_band_lower"] if self.log_free else []))

    @property
    def symbols(self) -> int:
        return count_symbols(self.rows, BoundedMean(self.rows).radius(self.log_p))

    def decode(self, symbols: Symbols) -> Told:
        (count,) = symbols
        count = require.integer_between("count", count, 0, self.rows)
        interval = _interval(self.rows, count, self.log_p, self.log_free, alike=self.alike)
        return Told(count / self.rows, interval, (self.rows, self.rows))


@register_rule
@dataclass(frozen=True, slots=True)
class GroupShare:
    """How many rows are in a group, and how many of those.

    `log_sizes` and `known` are those of `GroupSizes`.
    """

    name: ClassVar[str] = "group share/1"
    rows: int
    log_p: float
    log_free: tuple[float, ...]
    log_sizes: tuple[float, ...]
    known: bool = False

    @property
    def theorems(self) -> tuple[str, ...]:
        return ("clopper_pearson", *(["cdf_band_lower"] if self.log_free else []))

    @property
    def method(self) -> str:
        return f"Clopper and Pearson's interval of {own_rows(self.log_sizes, known=self.known)}"

    @property
    def symbols(self) -> int:
        return self._sizes.symbols * count_symbols(
            self.rows, BoundedMean(self.rows).radius(self.log_p)
        )

    def decode(self, symbols: Symbols) -> Told:
        size, missing, (count,) = self._sizes.read(symbols)
        count = require.integer_between("count", count, 0, size)
        if size == 0:
            return Told(None, UNKNOWN, (0, 0), missing)
        interval = _interval(size, count, self.log_p, self.log_free, alike=True)
        return Told(count / size, interval, (size, size), missing)

    @property
    def _sizes(self) -> GroupSizes:
        return GroupSizes(self.rows, self.log_sizes, self.known)


@register_rule
@dataclass(frozen=True, slots=True)
class Overlap:
    """F1: rows where either condition holds, and rows where both do; a share in disguise."""

    name: ClassVar[str] = "overlap/1"
    method: ClassVar[str] = "Clopper and Pearson's interval of the rows where either holds"
    theorems: ClassVar[tuple[str, ...]] = ("f1_interval",)
    rows: int
    log_p: float
    log_share: float

    @property
    def symbols(self) -> int:
        return _in_group(self.rows, self.log_share, self.log_p)

    def decode(self, symbols: Symbols) -> Told:
        either, both = _group_counts(symbols, self.rows)
        if either == 0:
            return Told(None, UNKNOWN, (0, 0))
        interval = f1_interval(both, either - both, 0, self.log_p)
        return Told(2 * both / (either + both), interval, (either, either))


def _group_counts(symbols: Symbols, rows: int) -> tuple[int, int]:
    """The size of a group and a count inside it, of so many rows."""
    size, count = symbols
    size = require.integer_between("size", size, 0, rows)
    return size, require.integer_between("count", count, 0, size)


def _in_group(rows: int, log_share: float, log_p: float) -> int:
    size_alpha, alpha = (BoundedMean(rows).radius(level) for level in (log_share, log_p))
    return group_symbols(rows, size_alpha, alpha)


def _interval(
    rows: int, count: int, log_p: float, log_free: Sequence[float], *, alike: bool
) -> Interval:
    exact = clopper_pearson if alike else independent_clopper_pearson
    free = (threshold_interval(rows, count, level, alike=alike) for level in log_free)
    return within([exact(rows, count, log_p), *free])


def share_look(condition: RowValue, rule: Rule) -> Look:
    """The share of rows where a condition holds."""
    return _counts((condition,), rule)


def group_share_look(condition: RowValue, group: GroupRows, rule: Rule) -> Look:
    """The share among the rows of a group."""
    both = row_value(build.conjunction([group.inside, expression_of(condition)]))
    return _counts((*group.counted, both), rule)


def overlap_look(first: RowValue, second: RowValue, where: Expression | None, rule: Rule) -> Look:
    """How many rows have either of two conditions, and how many both."""
    return _counts(overlap_counts(first, second, where), rule)


def overlap_counts(
    first: RowValue, second: RowValue, where: Expression | None
) -> tuple[RowValue, RowValue]:
    """The rows where either of two conditions holds, and where both do."""
    sides = [expression_of(first), expression_of(second)]
    inside = [] if where is None else [where]
    return (
        row_value(build.conjunction([*inside, build.disjunction(sides)])),
        row_value(build.conjunction([*inside, *sides])),
    )


def _counts(conditions: tuple[RowValue, ...], rule: Rule) -> Look:
    return Look(rule, lambda evidence: tuple(counts(evidence)), conditions)
