"""The mean by two methods, half of the level each: coverage, twins, widths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.bounded_mean import bounded_mean_interval
from holdfast.theory.direct.half_each import (
    BLOCKS,
    half_each_interval,
    half_each_lower,
    in_blocks,
    mean_cells,
)
from tests.theory.coverage import too_many
from tests.theory.direct.worlds import shrunk

LAWS = ("half_each_lower",)

# A skewed law of a few values.
VALUES = np.array([0.0, 0.1, 0.2, 0.3, 1.0])
SHARES = np.array([0.1, 0.4, 0.3, 0.15, 0.05])
MU = float(VALUES @ SHARES)


def as_they_come(rows: NDArray[np.int64], blocks: int, values: int = 5) -> NDArray[np.int64]:
    """Block histograms of rows (places of values) in the order in which they come."""
    return np.stack([np.bincount(part, minlength=values) for part in np.array_split(rows, blocks)])


def _misses(counts: list[NDArray[np.int64]], p: float) -> tuple[list[bool], list[bool]]:
    """Whether each interval misses the mean, and whether it does with its distances times .4."""
    missed, sabotaged = [], []
    for blocks in counts:
        interval = half_each_interval(VALUES, VALUES, blocks, math.log(p))
        mean = float(VALUES @ blocks.sum(axis=0) / blocks.sum())
        missed.append(MU not in interval)
        sabotaged.append(MU not in shrunk(interval, mean, 0.4))
    return missed, sabotaged


def test_coverage_and_its_twin() -> None:
    rng = np.random.default_rng(13)
    drawn = [as_they_come(rng.choice(5, 250, p=SHARES), 25) for _ in range(100)]
    missed, sabotaged = _misses(drawn, 0.1)
    assert not too_many(np.array(missed), 0.1)
    assert too_many(np.array(sabotaged), 0.1)


def test_a_stored_order_breaks_it() -> None:
    """Rows that come sorted by value: what is still to come is not like what came."""
    rng = np.random.default_rng(14)
    drawn = [as_they_come(np.sort(rng.choice(5, 250, p=SHARES)), 25) for _ in range(16)]
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
        low = half_each_lower(VALUES, as_they_come(rows, 25), math.log(q))
        mean = float(VALUES[rows].mean())
        if mean - factor * (mean - low) > MU:
            total += math.exp(log_ratios[rows].sum())
    return total / trials


def test_width_against_bets_without_an_order() -> None:
    rng = np.random.default_rng(16)
    x = np.round(rng.random(2000) * 256) / 256
    values, rows = np.unique(x, return_inverse=True)
    blocks = as_they_come(rows, BLOCKS, values.size)
    for p, most in ((1e-3, 1.12), (1e-7, 1.08)):
        low, high = half_each_interval(values, values, blocks, math.log(p))
        normal = float(norm.isf(p / 2) * x.std()) / math.sqrt(2000)
        assert (high - low) / 2 < most * normal
        alone = bounded_mean_interval(x, math.log(p))
        assert high - low < 0.93 * (alone.high - alone.low)


@given(
    rows=st.lists(st.integers(0, 4), min_size=1, max_size=60),
    cut=st.integers(1, 20),
    log_p=st.floats(-30, -0.5),
)
@settings(max_examples=25, deadline=None)
def test_intervals_hold_the_mean_mirror_and_widen(rows: list[int], cut: int, log_p: float) -> None:
    blocks = as_they_come(np.array(rows), cut)
    low, high = half_each_interval(VALUES, VALUES, blocks, log_p)
    mean = float(VALUES[rows].mean())
    cell = 1 / mean_cells(len(rows))
    assert 0.0 <= low <= mean + cell
    assert mean - cell <= high <= 1.0
    mirrored = half_each_interval(1 - VALUES, 1 - VALUES, blocks, log_p)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)
    enclosed = half_each_interval(np.maximum(0, VALUES - 0.1), VALUES, blocks, log_p)
    assert enclosed.low <= low + cell
    assert enclosed.high == high
    wider = half_each_interval(VALUES, VALUES, blocks, log_p - 2.0)
    assert wider.low <= low + cell
    assert wider.high >= high - cell


@given(counts=st.lists(st.integers(0, 60), min_size=1, max_size=9), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_sorted_rows_in_an_order_are_cut_into_blocks(counts: list[int], seed: int) -> None:
    n = sum(counts)
    order = np.random.default_rng(seed).permutation(n)
    blocks = in_blocks(counts, order)
    assert blocks.sum(axis=0).tolist() == counts
    assert len(blocks) == max(1, min(n, BLOCKS))
    assert np.ptp(blocks.sum(axis=1)) <= 1
    place = 0
    for line in blocks:  # block by block, what stands at these places of the order
        ranks = order[place : place + int(line.sum())]
        place += ranks.size
        values = np.repeat(np.arange(len(counts)), counts)[ranks]
        assert np.bincount(values, minlength=len(counts)).tolist() == line.tolist()


def test_what_is_given_is_checked() -> None:
    assert half_each_interval(VALUES, VALUES, np.zeros((3, 5), int), -3.0) == Interval(0.0, 1.0)
    with pytest.raises(InvalidArgument, match="one line for each block"):
        half_each_lower(VALUES, np.zeros((3, 4), int), -3.0)
    for order in ([0, 1], [0, 0, 1]):
        with pytest.raises(InvalidArgument, match="each rank"):
            in_blocks([1, 2], order)
    with pytest.raises(InvalidArgument, match="whole number"):
        half_each_lower(VALUES, np.full((3, 5), 0.5), -3.0)
