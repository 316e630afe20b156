"""The mean by two methods, half of the level each: coverage, twins, widths."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.bounded_mean import (
    NEAR,
    SERIES,
    block_powers,
    bounded_mean_interval,
    half_each_interval,
    half_each_lower,
    log_wealth,
    mean_cells,
    sum_of_series,
)
from tests.theory.coverage import too_many
from tests.theory.direct.worlds import shrunk

LAWS = ("half_each_lower",)

# A skewed law of a few values.
VALUES = np.array([0.0, 0.1, 0.2, 0.3, 1.0])
SHARES = np.array([0.1, 0.4, 0.3, 0.15, 0.05])
MU = float(VALUES @ SHARES)


Rows = tuple[NDArray[np.int64], NDArray[np.int64]]


def as_they_come(rows: NDArray[np.int64], values: int = 5) -> Rows:
    """How often each value occurs in rows (places of values), and the ranks as they come."""
    order = np.empty(rows.size, dtype=np.int64)
    order[np.argsort(rows, kind="stable")] = np.arange(rows.size)
    return np.bincount(rows, minlength=values), order


def _misses(samples: list[Rows], p: float) -> tuple[list[bool], list[bool]]:
    """Whether each interval misses the mean, and whether it does with its distances times .4."""
    missed, sabotaged = [], []
    for times, order in samples:
        interval = half_each_interval(VALUES, VALUES, times, order, math.log(p))
        mean = float(VALUES @ times / times.sum())
        missed.append(MU not in interval)
        sabotaged.append(MU not in shrunk(interval, mean, 0.4))
    return missed, sabotaged


def test_coverage_and_its_twin() -> None:
    rng = np.random.default_rng(13)
    drawn = [as_they_come(rng.choice(5, 250, p=SHARES)) for _ in range(100)]
    missed, sabotaged = _misses(drawn, 0.1)
    assert not too_many(np.array(missed), 0.1)
    assert too_many(np.array(sabotaged), 0.1)


def test_a_stored_order_breaks_it() -> None:
    """Rows that come sorted by value: what is still to come is not like what came."""
    rng = np.random.default_rng(14)
    drawn = [as_they_come(np.sort(rng.choice(5, 250, p=SHARES))) for _ in range(16)]
    missed, _ = _misses(drawn, 0.1)
    assert too_many(np.array(missed), 0.1)


@pytest.mark.parametrize("q", [5e-4, 1e-7])
def test_small_levels_by_importance_sampling(q: float) -> None:
    assert _missed_mass(q, 1.0) <= q
    assert _missed_mass(q, 0.6) > q


def _missed_mass(q: float, factor: float, trials: int = 60) -> float:
    """P[lower end > mean], distances times a factor: rows drawn where it happens, weighed back."""
    rng = np.random.default_rng(15)
    n, variance = 250, float(VALUES**2 @ SHARES) - MU**2
    tilt = factor * float(norm.isf(q)) / math.sqrt(n * variance)
    tilted = SHARES * np.exp(tilt * VALUES)
    log_ratios = np.log(tilted.sum()) - tilt * VALUES
    total = 0.0
    for _ in range(trials):
        rows = rng.choice(5, n, p=tilted / tilted.sum())
        low = half_each_lower(VALUES, *as_they_come(rows), math.log(q))
        mean = float(VALUES[rows].mean())
        if mean - factor * (mean - low) > MU:
            total += math.exp(log_ratios[rows].sum())
    return total / trials


def test_width_against_bets_without_an_order() -> None:
    rng = np.random.default_rng(16)
    x = np.round(rng.random(2000) * 256) / 256
    values, rows = np.unique(x, return_inverse=True)
    sample = as_they_come(rows, values.size)
    for p, most in ((1e-3, 1.12), (1e-7, 1.08)):
        low, high = half_each_interval(values, values, *sample, math.log(p))
        normal = float(norm.isf(p / 2) * x.std()) / math.sqrt(2000)
        assert (high - low) / 2 < most * normal
        alone = bounded_mean_interval(x, math.log(p))
        assert high - low < 0.93 * (alone.high - alone.low)


@given(rows=st.lists(st.integers(0, 4), min_size=1, max_size=60), log_p=st.floats(-30, -0.5))
@settings(max_examples=25, deadline=None)
def test_intervals_hold_the_mean_mirror_and_widen(rows: list[int], log_p: float) -> None:
    sample = as_they_come(np.array(rows))
    low, high = half_each_interval(VALUES, VALUES, *sample, log_p)
    mean = float(VALUES[rows].mean())
    cell = 1 / mean_cells(len(rows))
    assert 0.0 <= low <= mean + cell
    assert mean - cell <= high <= 1.0
    mirrored = half_each_interval(1 - VALUES, 1 - VALUES, *sample, log_p)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)
    enclosed = half_each_interval(np.maximum(0, VALUES - 0.1), VALUES, *sample, log_p)
    assert enclosed.low <= low + cell
    assert enclosed.high == high
    wider = half_each_interval(VALUES, VALUES, *sample, log_p - 2.0)
    assert wider.low <= low + cell
    assert wider.high >= high - cell


def test_the_series_is_below_the_logarithm() -> None:
    y = np.linspace(-NEAR, 4.0, 4001)
    below = sum_of_series(np.repeat(SERIES[:, np.newaxis], y.size, axis=1), y)
    assert np.all(below <= np.log1p(y) + 1e-15)
    inside = np.abs(y) <= 0.25
    assert np.all(below[inside] >= np.log1p(y[inside]) - 0.15 * 0.25**8)


@pytest.mark.parametrize("rows", [40, 700])
def test_sums_of_powers_are_those_of_each_block(rows: int) -> None:
    rng = np.random.default_rng(rows)
    x, means = rng.random(rows), np.array([0.2, 0.5, 0.99])
    ends = np.array([0, 3, rows // 2, rows])
    found = block_powers(x, ends, means)
    for block, (start, end) in enumerate(pairwise(ends)):
        for k in range(1, 9):
            right = ((x[start:end, np.newaxis] - means) ** k).sum(axis=0)
            assert found[k - 1, block] == pytest.approx(right, abs=1e-10 * rows)


@pytest.mark.parametrize("later", [0.0, 0.35, 1.0])
def test_no_bet_depends_on_later_rows(later: float) -> None:
    """To the last bit: else stakes follow what is still to come, and W is no martingale."""
    rng = np.random.default_rng(17)
    x, ends, means = 0.3 + 0.05 * rng.random(600), np.arange(0, 601, 5), np.linspace(0.29, 0.36, 64)
    other = x.copy()
    other[100:] = later
    for L in (5.0, 60.0):
        wealth, otherwise = (log_wealth(each, ends, means, L) for each in (x, other))
        assert np.array_equal(wealth[:20], otherwise[:20])
        assert not np.array_equal(wealth[20], otherwise[20])


def test_what_is_given_is_checked() -> None:
    nothing = np.zeros(5, dtype=np.int64), np.zeros(0, dtype=np.int64)
    assert half_each_interval(VALUES, VALUES, *nothing, -3.0) == Interval(0.0, 1.0)
    for order in ([0, 1], [0, 0, 1], [0, 1, 3], [-1, 0, 1]):
        with pytest.raises(InvalidArgument, match="each rank"):
            half_each_lower([0.1, 0.5], [1, 2], order, -3.0)
    with pytest.raises(InvalidArgument, match="whole number"):
        half_each_lower(VALUES, np.full(5, 0.5), [0], -3.0)
