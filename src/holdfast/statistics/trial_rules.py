"""Effects with a truth of their own: of randomised arms in these rows, and within units.

What is true of arms that were drawn is about what each of these rows would show in either arm.
Values of conditions are counted exactly; others go down and up to the next point of a grid. Within
units it is the average difference of a unit's own two means.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holdfast.data.randomised import CellCounts, Randomised, cell_counts
from holdfast.data.sampling import Clustered
from holdfast.data.values import unit_sums_of_groups
from holdfast.question.expression import Expression
from holdfast.question.row import GRID_ERROR, RowValue, condition_row
from holdfast.statistics.grid_rules import GRID_METHODS, Gridded, GridMethod, effect_of
from holdfast.statistics.rule import UNKNOWN, Evidence, Look, Symbols, register_rule
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import level_share
from holdfast.theory.direct.trials import (
    Stratum,
    coin_bets_interval,
    coin_trial_interval,
    shuffled_effect_interval,
)
from holdfast.theory.direct.unit_sums import UnitSums, unit_floor, within_units_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_POINTS = 513  # of values between 0 and 1, for each arm of a stratum


def trial_look(
    value: RowValue,
    arms: tuple[Expression, Expression],
    randomised: Randomised,
    rule: Gridded,
) -> Look:
    """The average effect of the first arm against the second in these rows."""
    points = 2 if value.is_condition else _POINTS

    def symbols_of(evidence: Evidence) -> Symbols:
        cells = cell_counts(evidence.sample, value, arms, randomised.within, points)
        rows = int(cells.first.sum() + cells.second.sum())
        low, high = ([*_strata(cells, side, points)] for side in (cells.low, cells.high))
        if not any(stratum.pairs for stratum in low):
            return rule.encode(rows, None, UNKNOWN)
        if randomised.by == "coins":
            least, most = _by_coins(cells, low, high, rule.log_p)
        else:
            least, most = shuffled_effect_interval(low, high, rule.log_p)
        if least > most:  # arms so unequal that no coins drew them
            return rule.encode(rows, None, UNKNOWN)
        middle = (_difference(low) + _difference(high)) / 2.0
        return rule.encode(rows, *effect_of(min(most, max(least, middle)), least, most))

    return Look(rule, symbols_of, others=(value, *map(condition_row, arms)))


def _strata(cells: CellCounts, places: NDArray[np.int64], points: int) -> Iterator[Stratum]:
    """The strata, with every value at its place on the grid."""
    starts = np.flatnonzero(np.diff(cells.stratum, prepend=-1))
    for lines in np.split(np.arange(cells.stratum.size), starts[1:]):
        yield Stratum.of(
            *(
                np.bincount(places[lines], weights=arm[lines], minlength=points)
                for arm in (cells.first, cells.second)
            )
        )


def _by_coins(
    cells: CellCounts, low: list[Stratum], high: list[Stratum], log_p: float
) -> tuple[float, float]:
    """The ends by coins and, given the sizes of both arms, by shuffling: at half of the level each.

    The two need not meet.
    """
    points = low[0].first.size
    if points == 2:
        (x0, x1), (y0, y1) = (map(int, arm) for arm in (low[0].first, low[0].second))
        return coin_trial_interval(x0 + x1, x1, y0 + y1, y1, log_p)
    half = level_share(log_p)
    below, above = (places / (points - 1) for places in (cells.low, cells.high))
    coins = coin_bets_interval((below, above, cells.first), (below, above, cells.second), half)
    shuffled = shuffled_effect_interval(low, high, half)
    return max(coins.low, shuffled.low), min(coins.high, shuffled.high)


def _difference(strata: list[Stratum]) -> float:
    """The difference of the arms' averages, strata weighed by their smaller arm."""
    grid = np.arange(strata[0].first.size) / (strata[0].first.size - 1)
    pairs = [stratum.pairs for stratum in strata]
    return float(np.average([_apart(stratum, grid) for stratum in strata], weights=pairs))


def _apart(stratum: Stratum, grid: NDArray[np.float64]) -> float:
    if not stratum.pairs:
        return 0.0
    n1, n2 = stratum.sizes
    return float((grid * stratum.first).sum() / n1 - (grid * stratum.second).sum() / n2)


# Groups inside sampled units.


GRID_METHODS["within units"] = GridMethod(
    "bets on the difference inside each unit",
    ("within_units_lower",),
    truth="average difference within units, each weighed by its smaller group",
)


@register_rule
@dataclass(frozen=True, slots=True)
class UnitGridded(Gridded):
    """Places of a difference that rests on so many `units`: few of them may be what limits it."""

    name: ClassVar[str] = "unit grid/1"
    units: int = 0

    def floor(self, value: float) -> Interval:
        """What no interval can exclude around a difference that was told, as parts of [-1, 1]."""
        return effect_of(0.0, *unit_floor(2.0 * value - 1.0, self.units, self.log_p))[1]


def within_units_look(
    value: RowValue, groups: tuple[Expression, Expression], sampling: Clustered, on_grid: Gridded
) -> Look | None:
    """The mean in one group minus that in another that shares no row with it, inside units.

    A unit of at most `largest` rows has at most half of them in its smaller group.
    """
    largest, units = sampling.largest, sampling.units
    if largest is None or units is None:
        return None
    facts = {each.name: getattr(on_grid, each.name) for each in fields(on_grid)}
    rule = UnitGridded(**facts, units=units)

    def symbols_of(evidence: Evidence) -> Symbols:
        sides = unit_sums_of_groups(evidence.sample, value, groups, sampling.column)
        first, second = (UnitSums.of(*each) for each in sides)
        h = np.minimum(first.sizes, second.sizes)
        both = h > 0.0
        if not both.any():
            return rule.encode(0, None, UNKNOWN)
        one, other = (each.sums[both] / each.sizes[both] for each in (first, second))
        effect = float(np.average(one - other, weights=h[both]))
        low, high = within_units_interval(first, second, largest // 2, rule.log_p)
        spare = 2 * GRID_ERROR  # each mean is read that much off
        rows = int(first.sizes.sum() + second.sizes.sum())
        return rule.encode(rows, *effect_of(effect, low - spare, high + spare))

    return Look(rule, symbols_of, others=(value, *map(condition_row, groups)))
