"""Bounded means by bets: exact coverage in small worlds, laws, and what they cost in width."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import ArrayLike

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval, clopper_pearson
from holdfast.theory.direct.bounded_mean import (
    bet_excess,
    bet_lower,
    bounded_mean_interval,
    bounded_mean_lower,
    enclosed_mean_interval,
    outlier_floor_mass,
)
from tests.theory.direct.worlds import World, coin, miss, shrunk

LAWS = ("bet_lower", "bounded_mean_interval", "bounded_mean_lower", "outlier_floor_mass")

Bounds = Callable[[list[float], float, tuple[int, ...]], Interval]


def mixture(values: list[float], log_p: float, counts: tuple[int, ...]) -> Interval:
    return bounded_mean_interval(values, log_p, counts)


def bet_interval(
    values: ArrayLike, second_moment: float, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """Both ends by five bets, at half of the level each."""
    side, turned = log_p - math.log(2.0), 1.0 - np.asarray(values)
    upper = 1.0 - bet_lower(turned, second_moment, side, times)
    return Interval(bet_lower(values, second_moment, side, times), upper)


def five(values: list[float], log_p: float, counts: tuple[int, ...]) -> Interval:
    return bet_interval(values, 0.5, log_p, counts)


@pytest.mark.parametrize("bounds", [mixture, five])
@pytest.mark.parametrize(
    ("p", "factor"), [(0.1, 0.4), (1e-3, 0.6), (1e-6, 0.7)], ids=["p=.1", "p=1e-3", "p=1e-6"]
)
def test_exact_coverage_of_a_coin(bounds: Bounds, p: float, factor: float) -> None:
    n = 150
    counts = [c for c, _ in coin(n, Fraction(1, 2)).samples()]
    table = {c: bounds([0.0, 1.0], math.log(p), c) for c in counts}
    worst = worst_twin = 0.0
    for share in (Fraction(1, 50), Fraction(1, 10), Fraction(3, 10), Fraction(1, 2)):
        samples = list(coin(n, share).samples())
        worst = max(worst, miss(samples, table.__getitem__, share))
        worst_twin = max(
            worst_twin, miss(samples, lambda c: shrunk(table[c], c[1] / n, factor), share)
        )
    assert worst <= p
    assert worst_twin > p


def test_exact_coverage_of_three_values() -> None:
    values, p = [0.0, 0.25, 1.0], 1e-3
    world = World(20, (Fraction(3, 10), Fraction(6, 10), Fraction(1, 10)))
    truth = world.mean(values)
    table = {c: bounded_mean_interval(values, math.log(p), c) for c, _ in world.samples()}
    assert miss(world.samples(), table.__getitem__, truth) <= p

    def sabotaged(counts: tuple[int, ...]) -> Interval:
        centre = sum(v * c for v, c in zip(values, counts, strict=True)) / world.n
        return shrunk(table[counts], centre, 0.5)

    assert miss(world.samples(), sabotaged, truth) > p


def test_exact_coverage_of_rows_that_are_not_alike() -> None:
    """Half the rows are surely 0 or mostly so, half mostly 1: the truth is the average."""
    first, second = coin(30, Fraction(1, 20)), coin(30, Fraction(9, 10))
    truth = Fraction(1, 2) * (Fraction(1, 20) + Fraction(9, 10))
    p = 1e-3
    table = [bounded_mean_interval([0.0, 1.0], math.log(p), (60 - k, k)) for k in range(61)]
    pairs = [((a[1] + b[1],), wa * wb) for a, wa in first.samples() for b, wb in second.samples()]
    assert miss(pairs, lambda c: table[c[0]], truth) <= p
    twin = miss(pairs, lambda c: shrunk(table[c[0]], c[0] / 60, 0.3), truth)
    assert twin > p


columns = st.lists(st.floats(0, 1), min_size=1, max_size=40)
levels = st.floats(-80, -0.1)


@given(x=columns, log_p=levels)
@settings(max_examples=50)
def test_intervals_hold_the_sample_and_mirror(x: list[float], log_p: float) -> None:
    for bounds in (bounded_mean_interval, lambda v, level: bet_interval(v, 0.7, level)):
        low, high = bounds(x, log_p)
        mean = float(np.mean(x))
        assert 0.0 <= low <= mean + 1e-9
        assert mean - 1e-9 <= high <= 1.0
        mirrored = bounds([1.0 - v for v in x], log_p)
        assert mirrored.low == pytest.approx(1 - high, abs=1e-8)
        assert mirrored.high == pytest.approx(1 - low, abs=1e-8)


@given(x=st.lists(st.sampled_from([0.0, 0.3, 0.9, 1.0]), min_size=1, max_size=40), log_p=levels)
@settings(max_examples=25)
def test_counts_stand_for_rows_and_order_does_not_matter(x: list[float], log_p: float) -> None:
    values, counts = np.unique(x, return_counts=True)
    rows = bounded_mean_interval(x, log_p)
    assert bounded_mean_interval(values, log_p, counts) == pytest.approx(rows, abs=1e-9)
    assert bounded_mean_interval(x[::-1], log_p) == pytest.approx(rows, abs=1e-9)
    assert bounded_mean_lower(x, log_p - math.log(2)) == pytest.approx(rows.low, abs=1e-9)


@given(x=columns, log_p=levels, bins=st.sampled_from([1, 10, 1000]))
@settings(max_examples=25)
def test_a_histogram_is_wider_by_a_bin_at_most(x: list[float], log_p: float, bins: int) -> None:
    counts = np.histogram(x, bins=bins, range=(0, 1))[0]
    edges = np.linspace(0.0, 1.0, bins + 1)
    rough = enclosed_mean_interval(edges[:-1], edges[1:], log_p, counts)
    fine = bounded_mean_interval(x, log_p)
    assert rough.low <= fine.low + 1e-9
    assert fine.high <= rough.high + 1e-9
    if bins == 1000:
        assert fine.low - rough.low < 0.02


@given(x=columns, log_q=levels, d=st.floats(0.01, 1), least=st.floats(0.01, 0.99))
@settings(max_examples=50)
def test_the_test_of_a_claim_is_the_bound(
    x: list[float], log_q: float, d: float, least: float
) -> None:
    bound, excess = bet_lower(x, d, log_q), bet_excess(x, d, log_q, least)
    if least < bound * (1 - 1e-6):
        assert excess >= 0.0
    if least > bound * (1 + 1e-6):
        assert excess < 0.0


def _delays(n: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """A skewed column: most of it in a tenth of its range, a tail up to the end."""
    return np.clip(np.random.default_rng(3).gamma(1.2, 0.09, n) + 0.1, 0, 1)


@pytest.mark.parametrize(("L", "ideal"), [(12, 2.31), (20, 3.06), (28, 3.66)])
def test_width_against_the_normal_limit(L: float, ideal: float) -> None:
    """The ratio to the 95 % normal half-width, at most 1.25 times what no method can beat."""
    x = _delays(20_000)
    low, high = bounded_mean_interval(x, -L)
    ratio = 0.5 * (high - low) / (1.96 * x.std() / math.sqrt(x.size))
    assert ideal < ratio < 1.25 * ideal


def test_known_spread_is_a_little_narrower_and_a_coin_is_left_to_clopper_and_pearson() -> None:
    x = _delays(20_000)
    d = float(np.mean((2 * x - 1) ** 2))
    assert np.ptp(bet_interval(x, d, -20.0)) < 3 * np.ptp(bounded_mean_interval(x, -20.0))
    exact = clopper_pearson(1000, 500, -20.0)
    bets = bounded_mean_interval([0.0, 1.0], -20.0, [500, 500])
    fives = bet_interval([0.0, 1.0], 1.0, -20.0, [500, 500])
    assert np.ptp(exact) < np.ptp(fives) < np.ptp(bets) < 1.2 * np.ptp(exact)


def test_no_rows_say_nothing() -> None:
    assert bounded_mean_interval([], -3.0) == Interval(0.0, 1.0)
    assert bet_interval([], 0.5, -3.0) == Interval(0.0, 1.0)


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="log_p"):
        bounded_mean_interval([0.5], 0.1)
    with pytest.raises(InvalidArgument, match="second_moment"):
        bet_lower([0.5], 0.0, -3.0)
    with pytest.raises(InvalidArgument, match="least"):
        bet_excess([0.5], 0.5, -3.0, 1.0)


def test_the_outlier_floor_is_in_every_interval() -> None:
    """Ones of mass e cannot be excluded from a column of zeros; the bound is a little above."""
    n, log_p = 1000, -20.0
    assert bounded_mean_interval([0.0] * n, log_p).high > outlier_floor_mass(n, log_p)
    assert outlier_floor_mass(n, 0.0) == 0.0
    assert outlier_floor_mass(n, -0.3) == 0.0
