"""Variance and covariance by bets: exact coverage, laws, widths."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.spread import (
    covariance_by_bets,
    enclosed_std_by_bets,
    enclosed_variance_by_bets,
    variance_by_bets,
)
from tests.theory.direct.worlds import World, miss, shrunk

LAWS = ("covariance_by_bets", "variance_by_bets")


@pytest.mark.parametrize(("p", "factor"), [(0.1, 0.25), (1e-3, 0.4)])
def test_exact_coverage_of_a_variance(p: float, factor: float) -> None:
    values = np.array([0.0, 0.5, 1.0])
    world = World(12, (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5)))
    truth = world.mean([Fraction(0), Fraction(1, 4), Fraction(1)]) - Fraction(1, 4)
    table = {c: variance_by_bets(values, math.log(p), c) for c, _ in world.samples()}
    assert miss(world.samples(), table.__getitem__, truth) <= p

    def sabotaged(counts: tuple[int, ...]) -> Interval:
        return shrunk(table[counts], float(np.var(np.repeat(values, counts))), factor)

    assert miss(world.samples(), sabotaged, truth) > p


@pytest.mark.parametrize(("p", "factor"), [(0.1, 0.25), (1e-3, 0.4)])
def test_exact_coverage_of_a_covariance(p: float, factor: float) -> None:
    x, y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    world = World(7, (Fraction(4, 10), Fraction(1, 10), Fraction(1, 10), Fraction(4, 10)))
    truth = Fraction(4, 10) - Fraction(1, 4)
    table = {c: covariance_by_bets(x, y, math.log(p), c) for c, _ in world.samples()}
    assert miss(world.samples(), table.__getitem__, truth) <= p

    def sabotaged(counts: tuple[int, ...]) -> Interval:
        seen = float(np.cov(x, y, bias=True, fweights=counts)[0, 1])
        return shrunk(table[counts], seen, factor)

    assert miss(world.samples(), sabotaged, truth) > p


columns = st.lists(st.floats(0, 1), min_size=1, max_size=25)


@given(x=columns, below=st.floats(0, 0.2), above=st.floats(0, 0.2), log_p=st.floats(-40, -0.5))
@settings(max_examples=25)
def test_what_is_known_less_exactly_has_a_wider_interval(
    x: list[float], below: float, above: float, log_p: float
) -> None:
    low, high = np.maximum(0.0, np.array(x) - below), np.minimum(1.0, np.array(x) + above)
    wide, exact = enclosed_variance_by_bets(low, high, log_p), variance_by_bets(x, log_p)
    assert wide.low <= exact.low + 1e-9
    assert exact.high <= wide.high + 1e-9
    deviation = enclosed_std_by_bets(low, high, log_p)
    assert deviation == pytest.approx([math.sqrt(end) for end in wide], abs=1e-12)


def test_bins_cost_little() -> None:
    x = np.random.default_rng(3).beta(2, 3, 20_000)
    bins = np.arange(2**16) / 2**16
    times = np.bincount((x * 2**16).astype(int), minlength=2**16)
    binned = enclosed_std_by_bets(bins, bins + 2.0**-16, -20.0, times)
    assert binned == pytest.approx(enclosed_std_by_bets(x, x, -20.0), abs=2.0**-16)


@given(x=columns, log_p=st.floats(-40, -0.5))
@settings(max_examples=25)
def test_variances_hold_the_sample_and_mirror(x: list[float], log_p: float) -> None:
    low, high = variance_by_bets(x, log_p)
    seen = float(np.var(x))
    assert 0.0 <= low <= seen + 1e-9
    assert seen - 1e-9 <= high <= 0.25
    mirrored = variance_by_bets([1 - v for v in x], log_p)
    assert mirrored == pytest.approx((low, high), abs=1e-6)
    root = enclosed_std_by_bets(x, x, log_p)
    assert root.low**2 == pytest.approx(low, abs=1e-9)
    assert root.high**2 == pytest.approx(high, abs=1e-9)


@given(rows=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
@settings(max_examples=15)
def test_covariances_hold_the_sample_and_mirror(rows: list[tuple[float, float]]) -> None:
    x, y = (list(column) for column in zip(*rows, strict=True))
    low, high = covariance_by_bets(x, y, -5.0)
    seen = float(np.mean(np.multiply(x, y)) - np.mean(x) * np.mean(y))
    assert -0.25 <= low <= seen + 1e-9
    assert seen - 1e-9 <= high <= 0.25
    assert covariance_by_bets(y, x, -5.0) == pytest.approx((low, high), abs=1e-6)
    flipped = covariance_by_bets(x, [1 - v for v in y], -5.0)
    assert flipped == pytest.approx((-high, -low), abs=1e-6)


def test_a_tight_column_keeps_its_variance() -> None:
    """Where the variance is tiny, stakes that some declared value could ruin are not placed."""
    x = np.where(np.arange(400) % 2, 0.5, 0.500001)
    low, high = variance_by_bets(x, -3.0)
    assert low <= 2.5e-13
    assert high > 2.5e-13


def test_no_rows_say_nothing_and_columns_must_match() -> None:
    assert variance_by_bets([], -3.0) == Interval(0.0, 0.25)
    assert covariance_by_bets([], [], -3.0) == Interval(-0.25, 0.25)
    with pytest.raises(InvalidArgument, match="x has 2 values and y has 1"):
        covariance_by_bets([0.1, 0.2], [0.3], -3.0)
    with pytest.raises(InvalidArgument, match="not in"):
        variance_by_bets([1.5], -3.0)


def test_width_against_the_normal_limit() -> None:
    """At L = 20, where the limit is 3.06."""
    x = np.clip(np.random.default_rng(3).gamma(1.2, 0.09, 20_000) + 0.1, 0, 1)
    std, fourth = float(x.std()), float(np.mean((x - x.mean()) ** 4))
    unit = 1.96 * math.sqrt((fourth - std**4) / x.size) / (2 * std)
    low, high = enclosed_std_by_bets(x, x, -20.0)
    assert 2.6 < (std - low) / unit < 3.7
    assert 3.0 < (high - std) / unit < 5.5
