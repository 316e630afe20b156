"""Means of bounded values, differences of groups, and means by declared concentration.

The ends of an interval by bets depend on the whole sample. What crosses the door is the value on a
grid of 512 steps of alpha, and how many steps of alpha/64 each end is away; alpha is Hoeffding's
radius, which has a hundredth of the level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast import require
from holdfast.data.sampling import Clustered, Independent
from holdfast.question import build
from holdfast.question.expression import Constant, Expression, Op, Operation
from holdfast.question.row import GRID, GRID_ERROR, RowValue, row_value
from holdfast.statistics.entry import Part
from holdfast.statistics.grid_rules import (
    Gridded,
    apart_look,
    arms_look,
    unit_mean,
    units_look,
    unlike_group_mean,
)
from holdfast.statistics.mean import expression_of, within_group
from holdfast.statistics.rounded_rules import RoundedContrast
from holdfast.statistics.rule import (
    UNKNOWN,
    Evidence,
    Ground,
    GroupRows,
    GroupSizes,
    Look,
    Symbols,
    Told,
    counts,
    group_of_rows,
    own_rows,
    register_rule,
)
from holdfast.statistics.spelling import counted_value
from holdfast.statistics.trial_rules import trial_look, within_units_look
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import difference_interval
from holdfast.theory.base.safeside import (
    float_below,
    level_share,
    round_down,
    round_up,
)
from holdfast.theory.direct.bounded_mean import enclosed_mean_interval
from holdfast.theory.direct.difference import (
    enclosed_difference_interval,
    share_difference_interval,
)
from holdfast.theory.direct.paired import paired_difference_interval
from holdfast.theory.direct.symbols import (
    STEPS,
    StepSymbol,
    contained_levels,
    step_interval,
    step_symbol,
)
from holdfast.theory.length.levels import count_symbols, grid_symbols

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.data.histogram import Histogram

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

    def encode(self, value: Fraction, interval: Interval) -> Symbols:
        """The symbols of a value with its interval."""
        cell = round(value / self.pitch)
        return (cell, *step_symbol(self.value(cell), interval, self.alpha))

    def decode(self, symbols: Symbols, rows: int) -> Told:
        cell, below, above = symbols
        value = self.value(require.integer_between("cell", cell, 0, math.ceil(1 / self.pitch)))
        low, high = step_interval(value, StepSymbol(below, above), self.alpha)
        return Told(value, Interval(max(0.0, low), min(1.0, high)), (rows, rows))


@register_rule
@dataclass(frozen=True, slots=True)
class MeanRule:
    """The mean of a bounded value over `rows` rows, alike or not."""

    name: ClassVar[str] = "mean/1"
    method: ClassVar[str] = "bets on the mean"
    theorems: ClassVar[tuple[str, ...]] = ("bounded_mean_interval",)
    rows: int
    log_p: float

    @property
    def symbols(self) -> int:
        return self.window.symbols

    @property
    def window(self) -> StepWindow:
        return _window(self.log_p, self.rows)

    def decode(self, symbols: Symbols) -> Told:
        return self.window.decode(symbols, self.rows)

    def encode(self, histogram: Histogram) -> Symbols:
        """The symbols of rows with this histogram."""
        encode = partial(self.window.encode, Fraction(histogram.total, self.rows * GRID))
        return encode(_by_bets(histogram, contained_levels(self.log_p)[0], encode))


@register_rule
@dataclass(frozen=True, slots=True)
class ContainedMean:
    """The mean of a bounded value over `rows` rows, never wider than was planned.

    By bets, and inside Hoeffding's interval, each at half of the level.
    """

    name: ClassVar[str] = "contained mean/1"
    method: ClassVar[str] = "bets on the mean and Hoeffding's interval"
    theorems: ClassVar[tuple[str, ...]] = ("bounded_mean_interval",)
    rows: int
    log_p: float

    @property
    def symbols(self) -> int:
        return self.window.symbols

    @property
    def window(self) -> StepWindow:
        return StepWindow.of(BoundedMean(self.rows).radius(self._log_half))

    @property
    def _log_half(self) -> float:
        return level_share(self.log_p, 0.5)

    def decode(self, symbols: Symbols) -> Told:
        return self.window.decode(symbols, self.rows)

    def encode(self, histogram: Histogram) -> Symbols:
        """The symbols of rows with this histogram."""
        encode = partial(self.window.encode, Fraction(histogram.total, self.rows * GRID))
        return encode(_by_bets(histogram, self._log_half, encode))


@register_rule
@dataclass(frozen=True, slots=True)
class GroupMeanRule:
    """The mean inside a group of alike rows, and its size, as `GroupSizes` tells it."""

    name: ClassVar[str] = "group mean/1"
    theorems: ClassVar[tuple[str, ...]] = ("bounded_mean_interval",)
    rows: int
    log_p: float
    log_sizes: tuple[float, ...]
    known: bool = False

    @property
    def method(self) -> str:
        return f"bets on the mean of {own_rows(self.log_sizes, known=self.known)}"

    @property
    def symbols(self) -> int:
        return self._sizes.symbols * _window(self.log_p, self.rows).symbols

    def decode(self, symbols: Symbols) -> Told:
        size, missing, rest = self._sizes.read(symbols)
        if size == 0:
            return Told(None, UNKNOWN, (0, 0), missing)
        return replace(MeanRule(size, self.log_p).decode(rest), missing=missing)

    def encode(self, histogram: Histogram, around: Symbols = ()) -> Symbols:
        """The symbols of a group with this histogram, and of the group `around` it."""
        size = histogram.rows
        if size == 0:
            return (*around, 0, 0, 0, 0)
        return (*around, size, *MeanRule(size, self.log_p).encode(histogram))

    @property
    def _sizes(self) -> GroupSizes:
        return GroupSizes(self.rows, self.log_sizes, self.known)


@register_rule
@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of one value's means in two groups of alike rows, with both sizes.

    For `disjoint` groups by one joint bet, otherwise by the box of both means. Its range is
    [-1, 1], of which fractions are taken. `log_sizes` are those of `GroupSizes`, for each group.
    """

    name: ClassVar[str] = "contrast/1"
    method: ClassVar[str] = "bets on both groups' means"
    rows: int
    log_p: float
    log_sizes: tuple[tuple[float, ...], tuple[float, ...]]
    disjoint: bool

    @property
    def theorems(self) -> tuple[str, ...]:
        if self.disjoint:
            return ("group_difference_lower",)
        return ("bounded_mean_interval", "difference_interval")

    @property
    def symbols(self) -> int:
        first, second = (sizes.symbols for sizes in self._sizes)
        return first * second * self.window(self.rows, self.rows).symbols

    def decode(self, symbols: Symbols) -> Told:
        first, second = self._sizes
        one, (missing, _), symbols = first.read(symbols)
        other, (also_missing, _), symbols = second.read(symbols)
        lost = missing + also_missing
        if not one or not other:
            return Told(None, UNKNOWN, (0, 0), (lost, lost))
        answer = self.window(one, other).decode(symbols, one + other)
        return replace(answer, missing=(lost, lost))

    def encode(
        self, groups: tuple[Histogram, Histogram], around: tuple[Symbols, Symbols] = ((), ())
    ) -> Symbols:
        """The symbols of groups with these histograms, and of those `around` them."""
        sizes = tuple(group.rows for group in groups)
        symbols = tuple(
            each for outer, size in zip(around, sizes, strict=True) for each in (*outer, size)
        )
        if 0 in sizes:
            return (*symbols, 0, 0, 0)
        first, second = (Fraction(group.total, group.rows * GRID) for group in groups)
        interval = self._interval(groups, contained_levels(self.log_p)[0])
        place = (first - second + 1) / 2
        return (*symbols, *self.window(*sizes).encode(place, _halved(interval)))

    @property
    def _sizes(self) -> tuple[GroupSizes, GroupSizes]:
        return _two_sizes(self.rows, self.log_sizes)

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


@register_rule
@dataclass(frozen=True, slots=True)
class ShareContrast:
    """The difference of one condition's shares in two disjoint groups of alike rows, exactly.

    Sizes and counts of both groups are told, and the interval is a function of them. A hundredth
    of the level is for how far the counts may be off. Its range is [-1, 1]; `log_sizes` are those
    of `GroupSizes`, for each group.
    """

    name: ClassVar[str] = "share contrast/1"
    method: ClassVar[str] = "the exact law of both groups' counts"
    theorems: ClassVar[tuple[str, ...]] = ("share_difference_lower",)
    rows: int
    log_p: float
    log_sizes: tuple[tuple[float, ...], tuple[float, ...]]

    @property
    def symbols(self) -> int:
        first, second = (sizes.symbols for sizes in self._sizes)
        level = level_share(contained_levels(self.log_p)[1], 0.5)
        count = count_symbols(self.rows, BoundedMean(self.rows).radius(level))
        return first * second * count**2

    def decode(self, symbols: Symbols) -> Told:
        first, second = self._sizes
        one, (missing, _), symbols = first.read(symbols)
        other, (also_missing, _), symbols = second.read(symbols)
        lost = (missing + also_missing,) * 2
        i, j = symbols
        i = require.integer_between("count", i, 0, one)
        j = require.integer_between("count", j, 0, other)
        if not one or not other:
            return Told(None, UNKNOWN, (0, 0), lost)
        interval = share_difference_interval(one, i, other, j, contained_levels(self.log_p)[0])
        value = float((Fraction(i, one) - Fraction(j, other) + 1) / 2)
        return Told(value, _halved(interval), (one + other,) * 2, lost)

    @property
    def _sizes(self) -> tuple[GroupSizes, GroupSizes]:
        return _two_sizes(self.rows, self.log_sizes)


def _two_sizes(
    rows: int, log_sizes: tuple[tuple[float, ...], tuple[float, ...]]
) -> tuple[GroupSizes, GroupSizes]:
    """The sizes of two groups: each is told with its missing rows around it, or has none."""
    first, second = (GroupSizes(rows, each, known=len(each) > 1) for each in log_sizes)
    return first, second


@register_rule
@dataclass(frozen=True, slots=True)
class PairedRule:
    """How much more often one condition holds than another on the same rows, in [-1, 1].

    Where they are those that have both values, `log_size` is the level of their number.
    """

    name: ClassVar[str] = "paired/1"
    method: ClassVar[str] = "the rows in which the two conditions differ"
    rows: int
    log_p: float
    alike: bool
    log_size: float | None = None

    @property
    def theorems(self) -> tuple[str, ...]:
        exact = ("exact_paired_lower",) if self.alike else ()
        return ("paired_difference_lower", *exact)

    @property
    def symbols(self) -> int:
        return self._sizes.symbols * count_symbols(2 * self.rows, self.window.alpha) * STEPS**2

    @property
    def window(self) -> StepWindow:
        return _window(self.log_p, self.rows)

    def decode(self, symbols: Symbols) -> Told:
        rows, missing, (more, below, above) = self._sizes.read(symbols)
        if rows == 0:
            return Told(None, UNKNOWN, (0, 0), missing)
        more = require.integer_between("difference", more, -rows, rows)
        value, alpha = (more / rows + 1) / 2, _window(self.log_p, rows).alpha
        low, high = step_interval(value, StepSymbol(below, above), alpha)
        return Told(value, Interval(max(0.0, low), min(1.0, high)), (rows, rows), missing)

    def encode(self, first_alone: int, second_alone: int, *size: int) -> Symbols:
        """The symbols of rows where one holds alone; of how many, unless that is public."""
        log_p, _ = contained_levels(self.log_p)
        rows = size[0] if size else self.rows
        if rows == 0:
            return (0, 0, 0, 0)
        interval = paired_difference_interval(
            rows, first_alone, second_alone, log_p, alike=self.alike
        )
        more = first_alone - second_alone
        value, alpha = (more / rows + 1) / 2, _window(self.log_p, rows).alpha
        return (*size, more, *step_symbol(value, _halved(interval), alpha))

    @property
    def _sizes(self) -> GroupSizes:
        log_sizes = () if self.log_size is None else (self.log_size,)
        return GroupSizes(self.rows, log_sizes, known=bool(log_sizes))


def _window(log_p: float, rows: int) -> StepWindow:
    return StepWindow.of(BoundedMean(rows).radius(contained_levels(log_p)[1]))


def _by_bets(
    histogram: Histogram, log_p: float, seen: Callable[[Interval], Symbols] | None = None
) -> Interval:
    return enclosed_mean_interval(histogram.low, histogram.high, log_p, histogram.counts, seen)


def _halved(interval: Interval) -> Interval:
    """A part of [-1, 1] as fractions of it, rounded outwards."""
    low, high = ((end + 1.0) / 2.0 for end in interval)
    return Interval(round_down(low), round_up(high))


def mean_look(value: RowValue, where: Expression | None, rule: MeanRule | ContainedMean) -> Look:
    """The mean of a value, of all rows or of so many where a condition holds."""
    return Look(
        rule, lambda evidence: rule.encode(evidence.histograms[0]), histograms=((value, where),)
    )


def group_mean_look(value: RowValue, group: GroupRows, rule: GroupMeanRule) -> Look:
    """The mean of a value among the rows of a group."""
    return Look(
        rule,
        lambda evidence: rule.encode(evidence.histograms[0], tuple(counts(evidence))),
        group.around,
        ((value, group.inside),),
    )


def contrast_look(value: RowValue, groups: tuple[GroupRows, GroupRows], rule: Contrast) -> Look:
    """The mean of a value in one group minus that in another."""
    first, second = groups

    def symbols_of(evidence: Evidence) -> Symbols:
        sizes = counts(evidence)
        around = tuple(sizes[: len(first.around)]), tuple(sizes[len(first.around) :])
        return rule.encode((evidence.histograms[0], evidence.histograms[1]), around)

    return Look(
        rule,
        symbols_of,
        (*first.around, *second.around),
        ((value, first.inside), (value, second.inside)),
    )


def share_contrast_look(
    condition: RowValue, groups: tuple[GroupRows, GroupRows], rule: Contrast
) -> Look:
    """The share of rows with a condition in one group minus that in another, both disjoint."""
    exact = ShareContrast(rule.rows, rule.log_p, rule.log_sizes)
    sizes = tuple(each for group in groups for each in group.conditions)
    both = tuple(
        row_value(build.conjunction([group.inside, expression_of(condition)])) for group in groups
    )
    return Look(exact, lambda evidence: tuple(counts(evidence)), (*sizes, *both))


def paired_look(
    first_alone: RowValue, second_alone: RowValue, rule: PairedRule, known: tuple[RowValue, ...]
) -> Look:
    """Rows where the first condition holds and not the second, and the other way round.

    `known` are those that have both, unless all have.
    """
    return Look(
        rule, lambda evidence: rule.encode(*counts(evidence)), (first_alone, second_alone, *known)
    )


# Whether two groups surely share no row, by their conditions alone.


_ABOVE, _BELOW = (Op.ABOVE, Op.AT_LEAST), (Op.BELOW, Op.AT_MOST)


def are_disjoint(first: Expression, second: Expression) -> bool:
    """Whether no row can be in both; in doubt they are taken to overlap.

    One conjunct of each must exclude the other: two values of one subject, ranges that do not
    meet, or a condition and its opposite.
    """
    return any(_excludes(one, other) for one in _conjuncts(first) for other in _conjuncts(second))


def _conjuncts(condition: Expression) -> tuple[Expression, ...]:
    if isinstance(condition, Operation) and condition.op is Op.AND:
        return condition.args
    return (condition,)


def _excludes(one: Expression, other: Expression) -> bool:
    if one == build.negation(other) or other == build.negation(one):
        return True
    match one, other:
        case Operation(op, (subject, Constant(kind, a))), Operation(
            against, (same, Constant(its_kind, b))
        ) if subject == same and kind is its_kind and a is not None and b is not None:
            return _cannot_both(op, a, against, b)
    return False


def _cannot_both(op: Op, a: Any, against: Op, b: Any) -> bool:
    """Whether no x has both x op a and x against b."""
    if op in _ABOVE and against in _BELOW:
        op, a, against, b = against, b, op, a
    if op in _BELOW and against in _ABOVE:
        both_closed = op is Op.AT_MOST and against is Op.AT_LEAST
        return bool(a < b if both_closed else a <= b)
    return op is against is Op.EQUAL and bool(a != b)


# How much larger a mean is in one group than in another.
#
# Groups of alike rows, arms of a design, and groups in units that share no row have one bet on
# both. Of others each group has its own mean's interval at half of the level.


_Groups = tuple[Expression, Expression]
_BY_COUNTS, _BY_UNITS = 2, 4  # since these rules of a ledger
_DRAWN = {"coins": "coin effect", "shuffled": "shuffled effect"}


def contrast(_question: object, part: Part, ground: Ground) -> Look | None:
    """The look at a contrast, or None where no theorem covers it."""
    tree, one_side, other_side = part.trees
    sides = one_side, other_side
    shared = [] if part.where is None else [part.where]
    first, second = (build.conjunction([*shared, group]) for group in sides)
    value = counted_value(tree)
    one, other = (group_of_rows(group, ground, value) for group in (first, second))
    if one is None or other is None:
        return None
    arms, complete = ground.arms, not one.known and not other.known
    # Rows that lack a value may lack it because of their arm.
    if arms is not None and complete and arms.compares(sides[0], sides[1], part.where):
        rule = on_grid(part, ground, _DRAWN[arms.by], groups=1)
        return trial_look(value, (one.inside, other.inside), arms, rule)
    within = ground.generation >= _BY_COUNTS and all(map(ground.alike_within, sides))
    if not ground.alike and not within:
        return _apart(value, (one.inside, other.inside), part, ground)
    alike = Contrast(
        ground.rows,
        ground.log_level(part),
        (one.log_sizes, other.log_sizes),
        are_disjoint(first, second),
    )
    return of_groups(value, (one, other), alike, ground)


def of_groups(
    value: RowValue, groups: tuple[GroupRows, GroupRows], rule: Contrast, ground: Ground
) -> Look:
    """The look at two groups of alike rows."""
    exact = ground.generation >= _BY_COUNTS and rule.disjoint and value.is_condition
    if not ground.rounded and exact:
        return share_contrast_look(value, groups, rule)
    if not ground.rounded:
        return contrast_look(value, groups, rule)
    rounded = RoundedContrast(rule.rows, rule.log_p, rule.log_sizes, rule.disjoint)
    sums = (within_group(value, group.inside) for group in groups)
    sizes = (each for group in groups for each in group.conditions)
    return Look(rounded, rounded.encode, (*sums, *sizes))


def on_grid(part: Part, ground: Ground, by: str, *, groups: int, known: bool = False) -> Gridded:
    """The rule of a mean of rows that are not alike, or of so many groups of them."""
    return Gridded(
        by,
        ground.rows,
        ground.log_level(part),
        points=ground.points,
        rounded=ground.rounded,
        known=known,
        groups=groups,
    )


def _apart(value: RowValue, groups: _Groups, part: Part, ground: Ground) -> Look | None:
    """Arms of a design together, else each group by itself, where a theorem has the mean of one."""
    # Together disjoint groups have no more rows than there are.
    gridded = partial(on_grid, part, ground, groups=1 if are_disjoint(*groups) else 2)
    match ground.sampling:
        case Independent():
            arms = _arm_sizes(groups, part, ground) if ground.generation >= _BY_COUNTS else None
            if arms is not None:
                return arms_look(value, groups, arms, gridded("design arms"))
            mean_of = partial(unlike_group_mean, rows=ground.rows)
            return apart_look(value, groups, mean_of, gridded("unlike groups"))
        case Clustered(differences="within") as units:
            rule = gridded("within units")
            return within_units_look(value, groups, units, rule) if are_disjoint(*groups) else None
        case Clustered(column=column, largest=int(largest)):
            if ground.generation >= _BY_UNITS and are_disjoint(*groups):
                return units_look(value, groups, (column, largest), gridded("units of both groups"))
            mean_of = partial(unit_mean, column=column, largest=largest)
            return apart_look(value, groups, mean_of, gridded("units in both groups"))
    return None


def _arm_sizes(groups: _Groups, part: Part, ground: Ground) -> tuple[int, int] | None:
    """How many rows the design has in each of two arms, around groups that share no row."""
    _, *sides = part.trees
    design = ground.design
    if not all(map(design.covers, sides)) or not are_disjoint(*groups):
        return None
    first, second = (
        design.group(group if design.covers(group) else side).size
        for group, side in zip(groups, sides, strict=True)
    )
    return (first, second) if first and second else None
