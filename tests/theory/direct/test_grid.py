"""Values go to the safe side of their grid: on a coarse one no interval is narrower anywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.auc import auc_block_interval
from holdfast.theory.direct.bounded_mean import (
    above_half_log_p,
    bounded_mean_interval,
    enclosed_mean_interval,
    half_each_interval,
)
from holdfast.theory.direct.difference import (
    design_difference_lower,
    enclosed_difference_interval,
)
from holdfast.theory.direct.trials import coin_bets_interval
from holdfast.theory.direct.unit_sums import enclosed_group_interval, m_dependent_mean_interval
from tests import seam

LEVEL = -3.0
X = [((31 * row) % 97) / 97.3 for row in range(97)]
Y = [((59 * row + 7) % 97) / 96.1 for row in range(97)]
ABOVE = [min(1.0, x + 0.01) for x in X]
ONE, OTHER = (X, ABOVE, None), (Y[:60], Y[:60], None)
WHOLE = ([row % 65 / 64 for row in range(97)],) * 2 + (None,)  # on the coarse grid, too
ORDER = [(29 * rank) % 97 for rank in range(97)]

INTERVALS: dict[str, Callable[[], Interval]] = {
    "mean": lambda: bounded_mean_interval(X, LEVEL),
    "enclosed mean": lambda: enclosed_mean_interval(X, ABOVE, LEVEL),
    "half each": lambda: half_each_interval(X, ABOVE, [1] * 97, ORDER, LEVEL),
    "area": lambda: auc_block_interval(np.asarray([X[:48], Y[:48]]), LEVEL),
    "difference": lambda: enclosed_difference_interval(ONE, OTHER, LEVEL),
    "difference by design": lambda: enclosed_difference_interval(
        ONE, (Y, Y, None), LEVEL, (97, 97)
    ),
    "coins": lambda: coin_bets_interval(ONE, OTHER, LEVEL),
    "rare coins": lambda: coin_bets_interval(ONE, OTHER, LEVEL, 0.2, 0.3),
    "coins, one arm moves": lambda: coin_bets_interval(ONE, WHOLE, LEVEL),
    "coins, the other moves": lambda: coin_bets_interval(WHOLE, OTHER, LEVEL),
    "difference, one arm moves": lambda: enclosed_difference_interval(ONE, WHOLE, LEVEL),
    "difference, the other moves": lambda: enclosed_difference_interval(WHOLE, OTHER, LEVEL),
    "group": lambda: enclosed_group_interval(X, ABOVE, 200, LEVEL),
    "rows in order": lambda: m_dependent_mean_interval(X, 2, LEVEL),
    "lower": lambda: Interval(design_difference_lower(X, Y[:60], (97, 60), LEVEL), 1.0),
    "p-value": lambda: Interval(-1.0, above_half_log_p([0.4 + 0.5 * x for x in X], -30.0)),
}


@pytest.mark.parametrize("name", INTERVALS)
def test_a_coarse_grid_makes_no_interval_narrower(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine = INTERVALS[name]()
    monkeypatch.setattr(seam.GRID_OF_VALUES, 2.0**6)
    coarse = INTERVALS[name]()
    assert coarse.low <= fine.low
    assert fine.high <= coarse.high
    assert coarse != fine


def _coarse(values: ArrayLike, *, up: bool = False) -> NDArray[np.float64]:
    return np.asarray((np.ceil if up else np.floor)(np.asarray(values) * 64) / 64)


@pytest.mark.parametrize("name", [name for name in INTERVALS if "coins" in name])
def test_coins_are_on_the_safe_side_before_they_are_scaled(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their grid alone: that of the scaled values would hide it."""
    fine = INTERVALS[name]()
    monkeypatch.setattr("holdfast.theory.direct.trials.unit_values", _coarse)
    coarse = INTERVALS[name]()
    assert coarse.low <= fine.low
    assert fine.high <= coarse.high
    assert coarse != fine
