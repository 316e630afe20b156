"""Statistics whose window is not known in public: value and both ends on a grid of the range.

Quantiles by order statistics, spread and relation by bets on deviations, AUC by bets on blocks, and
means of rows that depend on each other. Each is computed inside the door; what crosses it are three
places on the grid, and the size of a group.
"""

from __future__ import annotations

import math
import sys
from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from holdfast import require
from holdfast.data.orders import random_orders
from holdfast.data.ranking import paired_numbers, shuffled_classes
from holdfast.data.values import (
    distinct_unit_values,
    unit_sums,
    unit_sums_of_groups,
    unit_values_of,
)
from holdfast.question import build
from holdfast.question.expression import Expression
from holdfast.question.row import GRID, GRID_ERROR, RowValue, condition_row
from holdfast.statistics.entry import Part
from holdfast.statistics.log_scale import from_log_scale, interval_from_log_scale
from holdfast.statistics.rounded_rules import RoundedSizes
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
    register_rule,
    within,
)
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.intervals import Interval, quantile_ranks, threshold_interval
from holdfast.theory.base.safeside import (
    largest_integer,
    level_share,
    round_down,
    round_up,
    smallest_integer,
)
from holdfast.theory.direct.auc import auc_interval, block_counts, rank_areas
from holdfast.theory.direct.bounded_mean import enclosed_mean_interval
from holdfast.theory.direct.correlation import (
    block_concordance,
    correlation_by_bets,
    kendall_block_interval,
    kendall_blocks,
    sum_of_signs,
)
from holdfast.theory.direct.difference import enclosed_difference_interval
from holdfast.theory.direct.losses import loss_ratio_lower, root_interval
from holdfast.theory.direct.spread import covariance_by_bets, enclosed_std_by_bets
from holdfast.theory.direct.symbols import POINTS, GridSymbol, grid_answer, grid_symbol
from holdfast.theory.direct.unit_sums import (
    UnitSums,
    group_mean_interval,
    m_dependent_mean_interval,
    pooled_mean_interval,
    unit_difference_interval,
    unit_mean_interval,
)
from holdfast.theory.length.levels import whole_grid_symbols

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from holdfast.data.histogram import Histogram
    from holdfast.data.sample import Sample

    _Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GridMethod:
    """How places on the grid come about, in words, and by which theorems.

    `truth` is what the answer is about, in words, where that is not the population.
    """

    words: str
    theorems: tuple[str, ...] = ()
    truth: str | None = None


# By the name that `Gridded.by` records; a method of a new statistic is added beside its look.
GRID_METHODS: dict[str, GridMethod] = {
    "quantile": GridMethod("order statistics", ("quantile_ranks",)),
    "spread": GridMethod("bets on squared deviations", ("variance_by_bets",)),
    "covariance": GridMethod("bets on products of deviations", ("covariance_by_bets",)),
    "correlation": GridMethod("bets on products of deviations", ("correlation_by_bets",)),
    "rmse": GridMethod("bets on squared errors", ("bounded_mean_interval",)),
    "r2": GridMethod("bets on both losses", ("loss_ratio_lower",)),
    "auc": GridMethod("bets on blocks of both classes", ("auc_block_interval",)),
    "kendall": GridMethod("bets on blocks of rows", ("kendall_block_interval",)),
    "units": GridMethod(
        "a betting interval on cluster totals, and Hoeffding's bound,",
        ("pooled_mean_interval", "PooledUnits", "unit_mean_interval"),
    ),
    "units in a group": GridMethod("a betting interval on cluster totals", ("unit_mean_interval",)),
    "m-dependent rows": GridMethod("bets on blocks of rows", ("m_dependent_mean_interval",)),
    "concentration": GridMethod("the declared concentration"),
    "unlike group": GridMethod("bets on the group's rows, which need not be alike"),
    "unlike groups": GridMethod(
        "bets on each group's rows, which need not be alike,", ("difference_interval",)
    ),
    "design arms": GridMethod(
        "one bet on the rows of both arms, taken as fixed, which need not be alike,",
        ("design_difference_lower",),
    ),
    "units in both groups": GridMethod(
        "betting intervals on the cluster totals of each group,",
        ("unit_mean_interval", "difference_interval"),
    ),
    "units of both groups": GridMethod(
        "a betting interval on the cluster totals of both groups", ("unit_difference_lower",)
    ),
    "coin effect": GridMethod(
        "the law of the coins",
        ("coin_effect_interval", "coin_bets_interval", "shuffled_effect_lower"),
        truth="average effect in these rows, arms by coins",
    ),
    "shuffled effect": GridMethod(
        "bets on all pairs of rows in different arms of a stratum",
        ("shuffled_effect_lower",),
        truth="average effect in these rows, arms shuffled within strata (each weighed by its "
        "smaller arm)",
    ),
}


@register_rule
@dataclass(frozen=True, slots=True)
class Gridded:
    """Three places on `points` points of the range; of what, and at which level, `by` says.

    With `log_sizes` the sizes of groups are symbols too, as `GroupSizes` tells them, exact or
    `rounded`. Of rows that are not alike no event says where a size may be: any number is a symbol,
    up to `groups` times all rows, one for a group or disjoint ones, two for any two together; if it
    is `known`, it is that of all rows that have a value. `squared`: the places are those of a
    standard deviation, and its square is told.
    """

    name: ClassVar[str] = "grid/1"
    by: str
    rows: int
    log_p: float
    log_free: float | None = None
    log_sizes: tuple[float, ...] = ()
    points: int = POINTS
    squared: bool = False
    rounded: bool = False
    known: bool = False
    groups: int = 0

    @property
    def theorems(self) -> tuple[str, ...]:
        band = ("cdf_band_lower",) if self.log_free else ()
        return (*GRID_METHODS[self.by].theorems, *band)

    @property
    def method(self) -> str:
        return GRID_METHODS[self.by].words

    @property
    def truth(self) -> str | None:
        """What its interval holds, in words; None: what the question says of the population."""
        return GRID_METHODS[self.by].truth

    @property
    def symbols(self) -> int:
        sizes = self._last_size + 1 if self.groups else self._sizes.symbols
        return sizes * whole_grid_symbols(self.points)

    def decode(self, symbols: Symbols) -> Told:
        rows, missing, places = self._rows_of(symbols)
        value, interval = grid_answer(GridSymbol(*places), UNKNOWN, self.points)
        if self.squared:
            low, high = (end * end for end in interval)
            value = value * value
            interval = Interval(max(0.0, round_down(low)), min(1.0, round_up(high)))
        return Told(value if rows[1] else None, interval, rows, missing)

    @property
    def _sizes(self) -> GroupSizes | RoundedSizes:
        sizes_class = RoundedSizes if self.rounded else GroupSizes
        return sizes_class(self.rows, self.log_sizes, self.known)

    def _rows_of(self, symbols: Symbols) -> tuple[tuple[int, int], tuple[int, int], Symbols]:
        """The least and the greatest number of rows it may be about, and missing; three places."""
        if self.groups:
            least, most = self._sizes_of(symbols[0])
            missing = (self.rows - most, self.rows - least) if self.known else (0, 0)
            return (least, most), missing, symbols[1:]
        sizes = self._sizes
        if isinstance(sizes, RoundedSizes):
            return sizes.read(symbols)
        size, missing, places = sizes.read(symbols)
        return (size, size), missing, places

    def encode(
        self, size: int, value: float | None, interval: Interval, around: Symbols = ()
    ) -> Symbols:
        """The symbols of a value with its interval, both as fractions of the range.

        `size` is that of its group, and those of the groups `around` it stand before.
        What is read of a row is off its value by less than `GRID_ERROR`, and so is a mean.
        """
        if value is None:
            value, interval = 0.5, UNKNOWN
        wider = Interval(interval.low - GRID_ERROR, interval.high + GRID_ERROR)
        places = grid_symbol(value, wider, UNKNOWN, self.points)
        if self.groups:
            return (size * self._last_size // self._most_rows, *places)
        told = (*around, size) if self.log_sizes else ()
        sizes = self._sizes
        return (*(sizes.cells(told) if isinstance(sizes, RoundedSizes) else told), *places)

    @property
    def _most_rows(self) -> int:
        return self.groups * self.rows

    @property
    def _last_size(self) -> int:
        """The last symbol of a size: where answers are rounded, sizes are told on the grid."""
        return min(self._most_rows, self.points) if self.rounded else self._most_rows

    def _sizes_of(self, size: int) -> tuple[int, int]:
        """The least and the greatest number of rows that a symbol of `groups` stands for."""
        last, most = self._last_size, self._most_rows
        size = require.integer_between("size", size, 0, last)
        return -(-size * most // last), min(most, -(-(size + 1) * most // last) - 1)


_LOG_POINTS = 8  # times those of a range: the scale is 15 factors of ten on either side of 1


@register_rule
@dataclass(frozen=True, slots=True)
class LogGridded(Gridded):
    """Places on the logarithmic scale of numbers without a range: its range is that of T."""

    name: ClassVar[str] = "log grid/1"

    def in_unit(self, part: float) -> float:
        """The number at a part of the scale."""
        return from_log_scale(part)

    def in_unit_outwards(self, interval: Interval) -> Interval:
        """The numbers at these parts of the scale; at its ends, those where the grid ends."""
        return interval_from_log_scale(interval)


def quantile_look(
    value: RowValue, group: GroupRows | None, level: float, rule: Gridded, *, alike: bool
) -> Look:
    """The quantile of a value at a level: order statistics, known up to a bin."""

    def symbols_of(evidence: Evidence) -> Symbols:
        (histogram,) = evidence.histograms
        size, around = histogram.rows, tuple(counts(evidence))
        if size == 0:
            return rule.encode(0, None, UNKNOWN, around)
        ranks = [quantile_ranks(size, level, rule.log_p, alike=alike)]
        if rule.log_free is not None:
            ranks.append(_free_ranks(size, level, rule.log_free, alike=alike))
        interval = within([_between(histogram, *each) for each in ranks])
        low, high = histogram.between(math.ceil(level * size))
        return rule.encode(size, (low + high) / 2, interval, around)

    return _histogram_look(value, group, rule, symbols_of)


def _histogram_look(
    value: RowValue,
    group: GroupRows | None,
    rule: Gridded,
    symbols_of: Callable[[Evidence], Symbols],
) -> Look:
    """A look at the rows of a group, or at all rows, in the bins of a value."""
    if group is None:
        return Look(rule, symbols_of, histograms=((value, None),))
    return Look(rule, symbols_of, group.around, ((value, group.inside),))


def _free_ranks(size: int, level: float, log_p: float, *, alike: bool) -> tuple[int, int]:
    """Ranks around a quantile by what is known of all thresholds at once.

    Below X_(r) at most r - 1 rows lie; if F is surely below the level there, the quantile is not.
    """

    def share(count: int) -> Interval:
        return threshold_interval(size, count, log_p, alike=alike)

    low = largest_integer(lambda r: share(r - 1).high < level, most=size)
    high = smallest_integer(lambda s: share(s).low >= level, most=size)
    return low, size + 1 if high is None else high


def _between(histogram: Histogram, low: int, high: int) -> Interval:
    """The interval of two order statistics; ranks beyond the rows are ends of the range."""
    return Interval(
        histogram.between(low)[0] if low >= 1 else 0.0,
        histogram.between(high)[1] if high <= histogram.rows else 1.0,
    )


def _read(values: tuple[RowValue, ...], where: Expression | None) -> tuple[RowValue, ...]:
    return values if where is None else (*values, condition_row(where))


def spread_look(value: RowValue, group: GroupRows | None, rule: Gridded) -> Look:
    """The standard deviation of a value: a half of the range at most."""

    def symbols_of(evidence: Evidence) -> Symbols:
        (histogram,) = evidence.histograms
        low, high, times = histogram.low, histogram.high, histogram.counts
        around = tuple(counts(evidence))
        if not histogram.rows:
            return rule.encode(0, None, UNKNOWN, around)
        least, most = enclosed_std_by_bets(low, high, rule.log_p, times)
        middle = (low + high) / 2
        squares = (middle - np.average(middle, weights=times)) ** 2
        spread = 2 * float(np.average(squares, weights=times)) ** 0.5
        return rule.encode(histogram.rows, spread, Interval(2 * least, min(1.0, 2 * most)), around)

    return _histogram_look(value, group, rule, symbols_of)


def relation_look(
    values: tuple[RowValue, RowValue], group: GroupRows | None, form: str, rule: Gridded
) -> Look:
    """The covariance of two values, a quarter of both ranges at most; or their correlation."""
    interval_of, scale = {
        "covariance": (covariance_by_bets, 4.0),
        "correlation": (correlation_by_bets, 1.0),
    }[form]
    inside, sums = (None, ()) if group is None else (group.inside, group.around)

    def symbols_of(evidence: Evidence) -> Symbols:
        (x, y), times = distinct_unit_values(evidence.sample, values, inside)
        rows, around = int(times.sum()), tuple(counts(evidence))
        together = _together(x, y, times, form) if rows else None
        if together is None:
            return rule.encode(rows, None, UNKNOWN, around)
        low, high = interval_of(x, y, rule.log_p, times)
        interval = _outwards(scale * low - 8 * GRID_ERROR, scale * high + 8 * GRID_ERROR)
        return rule.encode(rows, _around_half(scale * together), interval, around)

    return Look(rule, symbols_of, sums, others=_read(values, inside))


def _together(x: _Array, y: _Array, times: NDArray[np.int64], form: str) -> float | None:
    """The sample's covariance, or its correlation where both values differ among rows."""
    X, Y = (each - np.average(each, weights=times) for each in (x, y))
    covariance, first, second = (
        float(np.average(each, weights=times)) for each in (X * Y, X * X, Y * Y)
    )
    if form == "covariance":
        return covariance
    return covariance / (first * second) ** 0.5 if first > 0.0 and second > 0.0 else None


def root_mean_look(value: RowValue, group: GroupRows | None, rule: Gridded) -> Look:
    """The root of the mean of a value that begins at 0, as a part of the root of its range."""

    def symbols_of(evidence: Evidence) -> Symbols:
        (histogram,) = evidence.histograms
        around = tuple(counts(evidence))
        if not histogram.rows:
            return rule.encode(0, None, UNKNOWN, around)
        low, high, times = histogram.low, histogram.high, histogram.counts
        mean = enclosed_mean_interval(low, high, rule.log_p, times)
        # What is read of a mean is off by GRID_ERROR, which near 0 is much of its root.
        wider = Interval(mean.low - GRID_ERROR, mean.high + GRID_ERROR)
        middle = float(np.average((low + high) / 2, weights=times))
        return rule.encode(histogram.rows, middle**0.5, root_interval(wider), around)

    return _histogram_look(value, group, rule, symbols_of)


def loss_ratio_look(
    values: tuple[RowValue, RowValue], group: GroupRows | None, rule: Gridded
) -> Look:
    """1 minus the ratio of two means of values that begin at 0, as a part of [-1, 1]."""
    loss, base = values
    scale = loss.high / base.high
    inside, sums = (None, ()) if group is None else (group.inside, group.around)

    def symbols_of(evidence: Evidence) -> Symbols:
        (x, y), times = distinct_unit_values(evidence.sample, values, inside)
        rows, around = int(times.sum()), tuple(counts(evidence))
        total = float((y * times).sum())
        if not total:
            return rule.encode(rows, None, UNKNOWN, around)
        value = max(-1.0, 1.0 - scale * float((x * times).sum()) / total)
        low, high = (
            _ratio_lower(*pair, level_share(rule.log_p), times) for pair in ((x, y), (y, x))
        )
        least = 1.0 - round_up(scale / high) if high > 0.0 else -1.0
        interval = _outwards(max(-1.0, least), 1.0 - round_down(scale * low))
        return rule.encode(rows, _around_half(value), interval, around)

    return Look(rule, symbols_of, sums, others=_read(values, inside))


def _ratio_lower(x: _Array, y: _Array, log_q: float, times: NDArray[np.int64]) -> float:
    """A lower bound on E x / E y: both are read up to GRID_ERROR, to the side that claims less."""
    least, most = np.maximum(x - GRID_ERROR, 0.0), np.minimum(y + GRID_ERROR, 1.0)
    return loss_ratio_lower(least, most, 1.0, log_q, times)


def auc_look(score: Expression, positive: Expression, rule: Gridded) -> Look:
    """P[score of a positive row > score of a negative one]."""
    ranked = ranked_score(score, positive)

    def symbols_of(evidence: Evidence) -> Symbols:
        with shuffled_classes(evidence.sample, ranked, positive, evidence.key) as classes:
            doubled, n1, n0 = astuple(classes.pairs)
            if n1 == 0 or n0 == 0:
                return rule.encode(n1, None, UNKNOWN)
            counts = block_counts(n1, n0)
            both = zip(classes.positives.orders(), classes.negatives.orders(), strict=True)
            areas = [[rank_areas(*ranks, blocks) for blocks in counts] for ranks in both]
        area = doubled / (2 * n1 * n0)
        few, many = (np.stack(each) for each in zip(*areas, strict=True))
        return rule.encode(n1, area, auc_interval(area, n1, n0, few, many, rule.log_p))

    unranked = build.is_null(score)  # which reads what the score reads
    return Look(rule, symbols_of, others=(condition_row(positive), condition_row(unranked)))


def kendall_look(
    values: tuple[Expression, Expression], group: GroupRows | None, rule: Gridded
) -> Look:
    """Kendall's tau of two numbers, by blocks of rows in orders that the ledger's key draws."""
    inside, sums = (None, ()) if group is None else (group.inside, group.around)

    def symbols_of(evidence: Evidence) -> Symbols:
        x, y = paired_numbers(evidence.sample, values, inside)
        rows, around = x.size, tuple(counts(evidence))
        if rows < _PAIR:
            return rule.encode(rows, None, UNKNOWN, around)
        orders = random_orders(x.view(np.uint64), y.view(np.uint64), evidence.key, _PARTITIONS)
        blocks = kendall_blocks(rows)
        lines = np.stack([block_concordance(x[order], y[order], blocks) for order in orders])
        tau = sum_of_signs(x, y) / (rows * (rows - 1) // 2)
        return rule.encode(
            rows, *effect_of(tau, *kendall_block_interval(lines, rule.log_p)), around
        )

    read = (condition_row(build.is_null(each)) for each in values)  # which reads what they read
    return Look(rule, symbols_of, sums, others=_read(tuple(read), inside))


_PAIR, _PARTITIONS = 2, 8


# The rows and the mean of a group of the sample, with its interval at a level; None without rows.
_GroupMean: TypeAlias = "Callable[[Sample, RowValue, Expression | None, float], _Found | None]"
_Found: TypeAlias = tuple[int, float, Interval]


def unit_mean(
    sample: Sample,
    value: RowValue,
    where: Expression | None,
    log_p: float,
    *,
    column: str,
    largest: int,
) -> _Found | None:
    """The mean of rows in independent units: the ratio of the expected sums."""
    sums, sizes = unit_sums(sample, value, where, column)
    rows = int(sizes.sum())
    if rows == 0:
        return None
    # Of a group a unit may have no row: how many it has in all is not bounded from below.
    interval = pooled_mean_interval if where is None else unit_mean_interval
    return rows, float(sums.sum()) / rows, interval(sums, sizes, largest, log_p)


def unlike_group_mean(
    sample: Sample, value: RowValue, where: Expression | None, log_p: float, *, rows: int
) -> _Found | None:
    """The mean in a group of independent rows that are not alike: one bet on all rows."""
    (x,) = unit_values_of(sample, (value,), where)
    return (x.size, float(x.mean()), group_mean_interval(x, rows, log_p)) if x.size else None


def group_look(
    value: RowValue, where: Expression | None, mean_of: _GroupMean, rule: Gridded
) -> Look:
    """One mean, of all rows or of a group."""

    def symbols_of(evidence: Evidence) -> Symbols:
        mean = mean_of(evidence.sample, value, where, rule.log_p)
        return rule.encode(0, None, UNKNOWN) if mean is None else rule.encode(*mean)

    return Look(rule, symbols_of, others=_read((value,), where))


def apart_look(
    value: RowValue, groups: tuple[Expression, Expression], mean_of: _GroupMean, rule: Gridded
) -> Look:
    """One group's mean minus the other's, each at half of the level."""

    def symbols_of(evidence: Evidence) -> Symbols:
        half = level_share(rule.log_p, 0.5)
        first, second = (mean_of(evidence.sample, value, group, half) for group in groups)
        if first is None or second is None:
            return rule.encode(0, None, UNKNOWN)
        (rows, one, mine), (others, other, theirs) = first, second
        spare = 2 * GRID_ERROR  # each mean is read that much off; sums of doubles far less
        interval = _outwards(mine.low - theirs.high - spare, mine.high - theirs.low + spare)
        return rule.encode(rows + others, _around_half(one - other), interval)

    return Look(rule, symbols_of, others=(value, *map(condition_row, groups)))


def units_look(
    value: RowValue,
    groups: tuple[Expression, Expression],
    units: tuple[str, int],
    rule: Gridded,
) -> Look:
    """The mean in one group minus that in another that shares no row with it, by one bet on units.

    `units` are the column that tells them apart, and the most rows of one.
    """
    column, largest = units

    def symbols_of(evidence: Evidence) -> Symbols:
        first, second = (
            UnitSums.of(*each)
            for each in unit_sums_of_groups(evidence.sample, value, groups, column)
        )
        rows = int(first.sizes.sum() + second.sizes.sum())
        if not first.sizes.any() or not second.sizes.any():
            return rule.encode(0, None, UNKNOWN)
        low, high = unit_difference_interval(first, second, largest, rule.log_p)
        spare = 2 * GRID_ERROR  # each mean is read that much off
        return rule.encode(rows, *effect_of(first.mean - second.mean, low - spare, high + spare))

    return Look(rule, symbols_of, others=(value, *map(condition_row, groups)))


def arms_look(
    value: RowValue,
    groups: tuple[Expression, Expression],
    arms: tuple[int, int],
    rule: Gridded,
) -> Look:
    """The mean in one arm of a design minus that in another, of so many rows each, or in groups
    inside both arms."""

    def symbols_of(evidence: Evidence) -> Symbols:
        first, second = evidence.histograms
        rows = first.rows + second.rows
        if not first.rows or not second.rows:
            return rule.encode(0, None, UNKNOWN)
        sides = [(each.low, each.high, each.counts) for each in (first, second)]
        interval = enclosed_difference_interval(sides[0], sides[1], rule.log_p, arms)
        one, other = (Fraction(each.total, each.rows * GRID) for each in (first, second))
        return rule.encode(rows, *effect_of(float(one - other), *interval))

    return Look(rule, symbols_of, histograms=tuple((value, group) for group in groups))


def m_dependent_look(
    value: RowValue, where: tuple[RowValue, RowValue] | None, m: int, rule: Gridded
) -> Look:
    """The mean of m-dependent rows; in a group, the two means of all rows, divided.

    `where` is the value inside the group, 0 elsewhere, and the group.
    """
    values = (value,) if where is None else where

    def symbols_of(evidence: Evidence) -> Symbols:
        inside, *group = unit_values_of(evidence.sample, values, None)
        if not group:
            interval = m_dependent_mean_interval(inside, m, rule.log_p)
            return rule.encode(rule.rows, float(inside.mean()), interval)
        half = level_share(rule.log_p, 0.5)
        sums, shares = (m_dependent_mean_interval(each, m, half) for each in (inside, *group))
        share = float(group[0].mean())
        rows = int(np.count_nonzero(group[0]))
        if shares.low == 0.0:  # as it is of nobody
            return rule.encode(rows, None, UNKNOWN)
        low, high = round_down(sums.low / shares.high), round_up(sums.high / shares.low)
        interval = Interval(max(0.0, low), min(1.0, high))
        return rule.encode(rows, float(inside.mean()) / share, interval)

    return Look(rule, symbols_of, others=values)


def profile_look(value: RowValue, profile: Concentration, rule: Gridded) -> Look:
    """The mean of all rows, by a concentration that was declared."""

    def symbols_of(evidence: Evidence) -> Symbols:
        (x,) = unit_values_of(evidence.sample, (value,), None)
        mean, radius = float(x.mean()), profile.radius(rule.log_p)
        low, high = round_down(mean - radius), round_up(mean + radius)
        return rule.encode(rule.rows, mean, Interval(max(0.0, low), min(1.0, high)))

    return Look(rule, symbols_of, others=(value,))


def effect_of(value: float, low: float, high: float) -> tuple[float, Interval]:
    """A value of [-1, 1] with its interval, as fractions of that."""
    return _around_half(value), _outwards(low, high)


def _around_half(place: float) -> float:
    """A number of [-1, 1] as a fraction of it."""
    return (place + 1.0) / 2.0


def _outwards(low: float, high: float) -> Interval:
    return Interval(max(0.0, round_down(_around_half(low))), min(1.0, round_up(_around_half(high))))


def ranked_score(score: Expression, positive: Expression) -> Expression:
    """The score that rows are ranked by: a missing one is the worst that its class can have."""
    low, high = (build.constant(end) for end in (-sys.float_info.max, sys.float_info.max))
    return build.coalesce([score, build.case([(positive, low)], high)])


def gridded_rule(
    by: str, part: Part, group: GroupRows | None, ground: Ground, **more: Any
) -> Gridded:
    """The rule of a part on the grid, of all rows or of a group of alike ones."""
    return Gridded(**_facts(by, part, group, ground), **more)


def log_gridded_rule(
    by: str, part: Part, group: GroupRows | None, ground: Ground, **more: Any
) -> LogGridded:
    """The same on the logarithmic scale, on as many points as a histogram has bins."""
    facts = _facts(by, part, group, ground)
    return LogGridded(**facts | {"points": _LOG_POINTS * ground.points}, **more)


def _facts(by: str, part: Part, group: GroupRows | None, ground: Ground) -> dict[str, Any]:
    log_sizes, known = ((), False) if group is None else (group.log_sizes, group.known)
    return {
        "by": by,
        "rows": ground.rows,
        "log_p": ground.log_level(part),
        "log_sizes": log_sizes,
        "points": ground.points,
        "rounded": ground.rounded,
        "known": known,
    }
