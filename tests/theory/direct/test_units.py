"""Clusters, groups among unlike rows, rows in a sequence: exact coverage where it is tight."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.dependence import ClusteredUnits
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.bounded_mean import bounded_mean_interval
from holdfast.theory.direct.unit_sums import (
    group_mean_interval,
    m_dependent_mean_interval,
    pooled_mean_interval,
    unit_mean_interval,
)
from tests.theory.direct.worlds import Weighted, World, coin, miss, shrunk

LAWS = ("m_dependent_mean_interval", "pooled_mean_interval", "unit_mean_interval")


@pytest.mark.parametrize(
    ("interval", "p", "factor"),
    [
        (unit_mean_interval, 0.1, 0.4),
        (unit_mean_interval, 1e-3, 0.5),
        (pooled_mean_interval, 1e-3, 0.5),
    ],
)
def test_exact_coverage_of_units_whose_size_tells(
    interval: Callable[..., Interval], p: float, factor: float
) -> None:
    """Units are (sum 1, size 1), (0, 4) or (2, 2): the truth is a ratio of expected sums."""
    sums, sizes = np.array([1, 0, 2]), np.array([1, 4, 2])
    world = World(22, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))
    truth = world.mean([1, 0, 2]) / world.mean([1, 4, 2])
    table = {
        c: interval(np.repeat(sums, c), np.repeat(sizes, c), 4, math.log(p))
        for c, _ in world.samples()
    }
    assert miss(world.samples(), table.__getitem__, truth) <= p

    def sabotaged(counts: tuple[int, ...]) -> Interval:
        return shrunk(table[counts], float(sums @ counts / (sizes @ counts)), factor)

    assert miss(world.samples(), sabotaged, truth) > p

    def rows_for_units(counts: tuple[int, ...]) -> Interval:
        ones, rows = int(sums @ counts), int(sizes @ counts)
        return bounded_mean_interval([0.0, 1.0], math.log(p), (rows - ones, ones))

    if p == 1e-3:  # the other sabotage: rows taken for independent
        assert miss(world.samples(), rows_for_units, truth) > p


@pytest.mark.parametrize(("p", "factor"), [(0.1, 0.4), (1e-3, 0.5)])
def test_exact_coverage_of_copied_rows(p: float, factor: float) -> None:
    """Three copies of each row are 2-dependent: the root makes them one."""
    world = coin(50, Fraction(3, 10))
    table = {
        c: m_dependent_mean_interval(np.repeat([0.0, 1.0], np.multiply(3, c)), 2, math.log(p))
        for c, _ in world.samples()
    }
    truth = Fraction(3, 10)
    assert miss(world.samples(), table.__getitem__, truth) <= p
    assert miss(world.samples(), lambda c: shrunk(table[c], c[1] / 50, factor), truth) > p
    single = {c: bounded_mean_interval([0.0, 1.0], math.log(p), c) for c in table}
    assert all(table[c] == pytest.approx(single[c], abs=1e-8) for c in table)


@pytest.mark.parametrize("p", [0.1, 1e-3])
def test_exact_coverage_of_a_group_among_unlike_rows(p: float) -> None:
    """Rows of one kind are members with value 1 or not at all, of the other members with 0."""
    ones, zeros = coin(25, Fraction(2, 5)), coin(25, Fraction(1, 5))
    truth = Fraction(2, 3)
    pairs: list[Weighted] = [
        ((a[1], b[1]), u * w) for a, u in ones.samples() for b, w in zeros.samples()
    ]
    table = {c: group_mean_interval([1.0, 0.0], 50, math.log(p), c) for c, _ in pairs}
    assert miss(pairs, table.__getitem__, truth) <= p
    twin = miss(
        pairs,
        lambda c: shrunk(table[c], c[0] / sum(c) if sum(c) else 0.5, 0.4),
        truth,
    )
    assert twin > p


@given(
    units=st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1)), min_size=1, max_size=30),
    log_p=st.floats(-40, -0.5),
)
@settings(max_examples=30)
def test_intervals_hold_the_sample_and_mirror(units: list[tuple[int, float]], log_p: float) -> None:
    sizes = np.array([size for size, _ in units], dtype=float)
    sums = sizes * [share for _, share in units]
    low, high = unit_mean_interval(sums, sizes, 5, log_p)
    assert 0.0 <= low <= high <= 1.0
    if sizes.sum():
        assert low - 1e-9 <= sums.sum() / sizes.sum() <= high + 1e-9
    mirrored = unit_mean_interval(sizes - sums, sizes, 5, log_p)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-6)


@pytest.mark.parametrize("rate", [0.15, 0.5])
def test_rows_that_are_equal_in_a_unit_are_hardly_wider_than_by_hoeffding(rate: float) -> None:
    """Bets alone are 15 % wider than Hoeffding's bound for decided sizes, at a rate of a half."""
    sums, sizes = np.where(np.arange(1_000) < 1_000 * rate, 4, 0), np.full(1_000, 4)
    for log_p in (-3.0, -7.0):
        decided = ClusteredUnits(1_000).radius(log_p)
        low, high = pooled_mean_interval(sums, sizes, 4, log_p)
        assert (high - low) / 2 < 1.1 * decided
        low, high = unit_mean_interval(sums, sizes, 4, log_p)
        assert rate < 0.5 or (high - low) / 2 > 1.1 * decided


def test_units_of_one_row_are_rows() -> None:
    x = np.random.default_rng(2).random(300)
    rows = bounded_mean_interval(x, -9.0)
    assert unit_mean_interval(x, np.ones(300), 1, -9.0) == pytest.approx(rows, abs=1e-7)
    assert m_dependent_mean_interval(x, 0, -9.0) == pytest.approx(rows, abs=1e-9)
    assert group_mean_interval(x, 300, -9.0) == pytest.approx(rows, abs=1e-9)
    assert group_mean_interval([], 300, -9.0) == Interval(0.0, 1.0)


def test_units_are_checked() -> None:
    for sums, sizes in (([2.0], [1]), ([0.0], [5]), ([0.5], [1.5]), ([0.5, 0.5], [1])):
        with pytest.raises(InvalidArgument, match="unit"):
            unit_mean_interval(sums, sizes, 4, -3.0)
    with pytest.raises(InvalidArgument, match="largest"):
        unit_mean_interval([0.0], [1], 2**21, -3.0)


def test_width_of_clusters() -> None:
    """537 children with 4 visits each: 3.63 times the normal half-width was measured at L = 20."""
    rng = np.random.default_rng(8)
    sums = rng.binomial(4, rng.beta(0.15 / 0.35 * 0.65, 0.85 / 0.35 * 0.65, 537))
    low, high = unit_mean_interval(sums, np.full(537, 4), 4, -20.0)
    normal = 1.96 * float(np.std(sums / 4)) / math.sqrt(537)
    assert 0.5 * (high - low) / normal == pytest.approx(3.6, abs=0.1)
