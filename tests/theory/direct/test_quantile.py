"""Order statistics, DKW and the binomial band."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from holdfast.theory.base.intervals import (
    Interval,
    band_points,
    cdf_band_lower,
    dkw_radius,
    quantile_ranks,
    threshold_interval,
)
from tests.theory.coverage import LEVELS, too_many
from tests.theory.direct.worlds import World, miss

LAWS = ("cdf_band_lower", "dkw_radius", "quantile_ranks")


def _tail(n: int, q: Fraction, least: int) -> Fraction:
    """P[Bin(n, q) >= least]."""
    return sum(
        (math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(least, n + 1)), Fraction(0)
    )


@pytest.mark.parametrize("p", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 64)])
def test_ranks_are_the_closest_that_are_allowed(q: Fraction, p: float) -> None:
    """Without ties the miss is these binomial sums: below the level, and above it one rank in."""
    n = 60
    low, high = quantile_ranks(n, float(q), math.log(p))
    half = Fraction(p) / 2
    assert 1 - _tail(n, q, low) <= half
    assert 1 - _tail(n, q, low + 1) > half
    assert _tail(n, q, high) <= half
    assert high == n + 1 or _tail(n, q, high - 1) > half


@pytest.mark.parametrize("p", [0.1, 1e-3])
def test_exact_coverage_with_ties(p: float) -> None:
    """A column of three values: the quantile sits on an atom, the interval is closed."""
    values = [0.1, 0.5, 0.8]
    world = World(25, (Fraction(3, 10), Fraction(2, 5), Fraction(3, 10)))
    for q, truth in ((0.3, 0.1), (0.31, 0.5), (0.7, 0.5), (0.71, 0.8)):

        def interval(counts: tuple[int, ...], q: float = q) -> Interval:
            ordered = [0.0, *np.repeat(values, counts), 1.0]
            low, high = quantile_ranks(world.n, q, math.log(p))
            return Interval(float(ordered[low]), float(ordered[high]))

        def sabotaged(counts: tuple[int, ...], q: float = q) -> Interval:
            rows = np.sort(np.repeat(values, counts))
            low, high = quantile_ranks(world.n, q, math.log(p))
            inner = rows[min(low + 3, world.n) - 1], rows[max(high - 4, 0)]
            return Interval(float(inner[0]), float(inner[1]))

        assert miss(world.samples(), interval, truth) <= p
        assert miss(world.samples(), sabotaged, truth) > p


@given(n=st.integers(1, 2000), q=st.floats(0.001, 0.999), log_p=st.floats(-700, -0.1))
def test_ranks_enclose_the_sample_quantile_and_mirror(n: int, q: float, log_p: float) -> None:
    low, high = quantile_ranks(n, q, log_p)
    assert 0 <= low <= math.ceil(n * q)
    assert math.ceil(n * q) <= high <= n + 1
    wide = quantile_ranks(n, q, log_p, alike=False)
    assert wide[0] <= low
    assert high <= wide[1]
    share = Fraction(q).limit_denominator(2**20)
    there = quantile_ranks(n, float(1 - share), log_p)
    here = quantile_ranks(n, float(share), log_p)
    assert abs(here[0] + there[1] - n - 1) <= 1  # 1 - q is rounded


def test_published_ranks_at_e_to_the_minus_20() -> None:
    assert quantile_ranks(1000, 0.5, -20.0) == (406, 595)
    assert quantile_ranks(10_000, 0.5, -20.0) == (4700, 5301)
    assert quantile_ranks(100_000, 0.5, -20.0) == (49052, 50949)


@pytest.mark.parametrize(
    ("share", "width"), [(0.5, 0.0347), (0.1, 0.0220), (0.02, 0.0104), (0.005, 0.0055)]
)
def test_published_widths_of_the_band(share: float, width: float) -> None:
    n, count = 10_000, round(share * 10_000)
    low = cdf_band_lower(n, count, -20.0)
    high = 1 - cdf_band_lower(n, n - count, -20.0)
    assert 0.5 * (high - low) == pytest.approx(width, abs=1e-4)
    assert dkw_radius(n, -20.0) == pytest.approx(0.0322, abs=1e-4)


@given(n=st.integers(1, 5000), share=st.floats(0, 1), log_p=st.floats(-100, -0.1))
@settings(max_examples=50)
def test_thresholds_hold_the_sample(n: int, share: float, log_p: float) -> None:
    count = round(share * n)
    for alike in (True, False):
        low, high = threshold_interval(n, count, log_p, alike=alike)
        assert 0.0 <= low <= count / n <= high <= 1.0
    assert band_points(n, log_p) >= 1


def _band(n: int, log_p: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low = np.array([cdf_band_lower(n, count, log_p) for count in range(n + 1)])
    return low, 1 - low[::-1]


def _crossed(
    low: NDArray[np.float64], high: NDArray[np.float64], rows: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether F(x) = x leaves the band anywhere: at a row from below, just before it from above."""
    return np.asarray(np.any((low[1:] > rows) | (rows > high[:-1]), axis=1))


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_the_band_covers_all_thresholds_at_once(beta: float, trials: int) -> None:
    n = 30
    rows = np.sort(np.random.default_rng(5).random((trials, n)), axis=1)
    assert not too_many(_crossed(*_band(n, math.log(beta)), rows), beta)
    # The sabotage: each quantile at almost 20 times its level.
    assert too_many(_crossed(*_band(n, math.log(beta) + math.log(19.9)), rows), beta)


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_dkw_covers_all_thresholds_at_once(beta: float, trials: int) -> None:
    n = 30
    rows = np.sort(np.random.default_rng(6).random((trials, n)), axis=1)
    steps = np.arange(n + 1) / n
    for factor, refuted in ((1.0, False), (0.85, True)):
        radius = factor * dkw_radius(n, math.log(beta))
        assert too_many(_crossed(steps - radius, steps + radius, rows), beta) is refuted


@given(st.integers(1, 5000), st.floats(-60, -0.5), st.floats(0, 1), st.data())
def test_what_is_known_beyond_another_bound_is_all_that_is_missed(
    n: int, log_p: float, beyond: float, data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, n))
    alone = cdf_band_lower(n, count, log_p)
    found = cdf_band_lower(n, count, log_p, beyond=beyond)
    assert found == (alone if alone > beyond else 0.0)
