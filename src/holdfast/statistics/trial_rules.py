"""Effects of randomised arms: the average effect in these rows, from how the arms were drawn.

The truth is about what each of these rows would show in either arm. Values of conditions are
counted exactly; others go down and up to the next point of a grid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holdfast.data.randomised import CellCounts, Randomised, cell_counts
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, condition_row
from holdfast.statistics.grid_rules import Gridded, effect_of
from holdfast.statistics.rule import UNKNOWN, Evidence, Look, Symbols
from holdfast.theory.base.safeside import level_share
from holdfast.theory.direct.trials import (
    Stratum,
    coin_bets_interval,
    coin_trial_interval,
    shuffled_effect_interval,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["trial_look"]

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
