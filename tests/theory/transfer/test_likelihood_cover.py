"""The cover: masses kept, every hockey stick raised, convolutions and windows on the safe side."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import integrate
from scipy.optimize import brentq
from scipy.special import betainc

from holdfast.errors import InvalidArgument
from holdfast.theory.transfer.likelihood_cover import (
    LatticePair,
    coarser,
    convolution_powers,
    fisher_information,
    fold,
    peak_density,
    shift_cells,
    shift_cover,
    window,
)

LAWS = ("shift_cover",)

ORDERS = st.integers(2, 7)
SHIFTS = st.floats(-9.0, -1.2).map(math.exp)


def upper_tail(a: int, x: float) -> float:
    return float(betainc(a + 1, a + 1, min(max((1 - x) / 2, 0.0), 1.0)))


def true_hockey_stick(a: int, t: float, threshold: float) -> float:
    """sup_x P[V + t > x] - threshold P[V > x], the ratio's level found by root search."""

    def log_ratio(x: float) -> float:
        return a * (math.log1p(-((x - t) ** 2)) - math.log1p(-x * x)) - math.log(threshold)

    low, high = -1 + t + 1e-15, 1 - 1e-15
    if log_ratio(low) >= 0:
        x = low
    elif log_ratio(high) <= 0:
        x = high
    else:
        x = float(brentq(log_ratio, low, high, xtol=1e-16, rtol=1e-14))
    return upper_tail(a, x - t) - threshold * upper_tail(a, x)


def test_constants_of_the_noise() -> None:
    assert [peak_density(a) for a in (2, 3)] == pytest.approx([15 / 16, 35 / 32], rel=1e-14)
    assert [fisher_information(a) for a in (2, 3)] == pytest.approx([10.0, 10.5], rel=1e-14)
    for a in range(2, 8):
        mass, _ = integrate.quad(lambda x, a=a: peak_density(a) * (1 - x * x) ** a, -1, 1)
        score, _ = integrate.quad(
            lambda x, a=a: peak_density(a) * 4 * a * a * x * x * (1 - x * x) ** (a - 2), -1, 1
        )
        assert (mass, score) == pytest.approx((1.0, fisher_information(a)), rel=1e-12)


@given(
    a=ORDERS, t=SHIFTS, fineness=st.floats(0.02, 2), low=st.floats(0.01, 3), high=st.floats(0.01, 3)
)
def test_cover_keeps_both_masses(
    a: int, t: float, fineness: float, low: float, high: float
) -> None:
    pair = shift_cover(a, t, fineness * t * math.sqrt(fisher_information(a)), low, high)
    assert np.all(pair.mass >= 0)
    assert min(pair.at_zero, pair.at_infinity) >= 0
    assert pair.mass.sum() + pair.at_zero == pytest.approx(1.0, abs=1e-12)
    p_mass = float((pair.mass * np.exp(pair.log_ratios)).sum()) + pair.at_infinity
    assert p_mass == pytest.approx(1.0, abs=1e-12)


@given(
    a=ORDERS,
    t=SHIFTS,
    fineness=st.floats(0.02, 2),
    reach=st.floats(0.05, 3),
    log_thresholds=st.lists(st.floats(-2.0, 2.0), min_size=8, max_size=8),
)
def test_cover_raises_every_hockey_stick(
    a: int, t: float, fineness: float, reach: float, log_thresholds: list[float]
) -> None:
    sigma = t * math.sqrt(fisher_information(a))
    pair = shift_cover(a, t, fineness * sigma, reach, reach)
    for threshold in (1.0, *(math.exp(x) for x in log_thresholds)):
        for scaled in (threshold, threshold ** (3 * sigma)):
            true = true_hockey_stick(a, t, scaled)
            assert pair.hockey_stick(scaled) >= true * (1 - 1e-11) - 1e-15


def test_a_fine_cover_hardly_raises_them() -> None:
    a, t = 3, 1e-3
    sigma = t * math.sqrt(fisher_information(a))
    fine, coarse = (shift_cover(a, t, step * sigma, 1.0, 1.0) for step in (0.03, 0.3))
    for threshold in (1 - sigma, 1.0, 1 + sigma, 1 + 2 * sigma):
        true = true_hockey_stick(a, t, threshold)
        assert fine.hockey_stick(threshold) <= true * (1 + 1e-3)
        assert coarse.hockey_stick(threshold) > fine.hockey_stick(threshold)


def test_sabotaged_cover_is_caught() -> None:
    """All of a cell's mass at its lower ratio loses p-mass, and hockey sticks fall."""
    a, t = 2, 0.01
    step = 0.3 * t * math.sqrt(fisher_information(a))
    pair = shift_cover(a, t, step, 1.0, 1.0)
    lower, upper = shift_cells(a, t, step, pair.index)
    floored = np.append(lower + upper, 0.0)
    sabotaged = LatticePair(step, pair.index, floored, pair.at_zero, pair.at_infinity)
    assert sabotaged.hockey_stick(1.0) < true_hockey_stick(a, t, 1.0)


@pytest.mark.parametrize("t", [1e-7, 1e-3, 0.2])
def test_cells_against_plain_quadrature(t: float) -> None:
    """Masses between knots from the distribution function of V."""
    a, step = 2, 0.1 * t
    knots = np.array([-400, -100, -10, -1, 0, 1, 7, 50, 300])
    lower, upper = shift_cells(a, t, step, knots)

    def place(log_ratio: float) -> float:
        e = math.expm1(log_ratio / a)
        return (e + t * t) / (t + math.sqrt(t * t + e * (e + t * t)))

    x = [place(step * i) for i in knots]
    masses = [upper_tail(a, left) - upper_tail(a, right) for left, right in pairwise(x)]
    shifted = [upper_tail(a, left - t) - upper_tail(a, right - t) for left, right in pairwise(x)]
    assert lower + upper == pytest.approx(masses, rel=1e-9)
    kept = lower * np.exp(step * knots[:-1]) + upper * np.exp(step * knots[1:])
    assert kept == pytest.approx(shifted, rel=1e-9)


# --------------------------------------------------------------------------------------------
# Convolution, coarsening, windows


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_powers_are_direct_convolutions_rounded_up(k: int) -> None:
    pair = shift_cover(2, 0.05, 0.01, 0.6, 0.6)
    first, last = int(pair.index[0]), int(pair.index[-1])
    dense = np.zeros(last - first + 1)
    dense[pair.index - first] = pair.mass
    direct = dense
    for _ in range(k - 1):
        direct = np.convolve(direct, dense)
    (powers,) = convolution_powers(pair.index, pair.mass, (k,), k * first, k * last)
    assert np.all(powers >= direct)
    assert np.max(powers - direct) < 1e-12


def test_mass_that_wraps_around_only_adds() -> None:
    pair = shift_cover(2, 0.05, 0.01, 0.6, 0.6)
    (whole,) = convolution_powers(pair.index, pair.mass, (4,), -240, 240)
    (part,) = convolution_powers(pair.index, pair.mass, (4,), -20, 20)
    assert np.all(part >= whole[220:261] * (1 - 1e-12))
    assert part.sum() > whole[220:261].sum() + 1e-3


@given(factor=st.integers(1, 30), first=st.integers(-80, 0), seed=st.integers(0, 2**32 - 1))
def test_coarsening_keeps_masses_and_raises_hockey_sticks(
    factor: int, first: int, seed: int
) -> None:
    step, mass = 0.01, np.random.default_rng(seed).exponential(size=90)
    mass /= mass.sum()
    start, covered = coarser(first, mass, step, factor)
    fine = LatticePair(step, np.arange(first, first + 90), mass, 0.0, 0.0)
    index = np.arange(start, start + covered.size)
    coarse = LatticePair(step * factor, index, covered, 0.0, 0.0)
    assert covered.sum() == pytest.approx(1.0, rel=1e-12)
    assert coarse.hockey_stick(0.0) == pytest.approx(fine.hockey_stick(0.0), rel=1e-12)
    for threshold in np.exp(np.linspace(-0.9, 0.9, 19)):
        assert coarse.hockey_stick(threshold) >= fine.hockey_stick(threshold) - 1e-15


@pytest.mark.parametrize("k", [2, 5])
def test_window_and_fold_account_for_what_is_outside(k: int) -> None:
    pair = shift_cover(2, 0.05, 0.01, 0.6, 0.6)
    scale = 0.05 * math.sqrt(10 * k)
    log_loss = math.log(1e-3)
    seen = window(pair, k, scale, log_loss, log_loss)
    first = int(pair.index[0])
    dense = np.zeros(int(pair.index[-1]) - first + 1)
    dense[pair.index - first] = pair.mass
    law = dense
    for _ in range(k - 1):
        law = np.convolve(law, dense)
    index = k * first + np.arange(law.size)
    ratios = np.exp(pair.step * index)
    assert 0 < law[index < seen.first].sum() <= math.exp(log_loss)
    assert 0 < (law * ratios)[index > seen.last].sum() <= math.exp(log_loss)
    folded = fold(pair, k, scale, log_loss, log_loss)
    direct = LatticePair(pair.step, index, law, k * pair.at_zero, k * pair.at_infinity)
    for threshold in (0.7, 1.0, 1.2):
        assert folded.hockey_stick(threshold) >= direct.hockey_stick(threshold)


def test_a_window_that_is_cut_loses_what_the_best_power_says() -> None:
    """Chernoff's bound at its last point, of the best of many powers on either side."""
    pair, k, most = shift_cover(2, 0.05, 1e-6, 0.6, 0.6), 3, 2**19
    ratios, powers, far = pair.step * pair.index, np.linspace(0.1, 60.0, 600), most * pair.step

    def loss(power: float, beyond: float) -> float:
        return k * math.log(float((pair.mass * np.exp(power * ratios)).sum())) - beyond * far

    least = min(loss(-p, p) for p in powers), min(loss(1 + p, p) for p in powers)
    seen = window(pair, k, 0.05 * math.sqrt(10 * k), math.log(1e-9), math.log(1e-9))
    assert (seen.first, seen.last) == (-most, most)
    assert seen.lost == pytest.approx(sum(map(math.exp, least)), rel=0.02)


@given(rho=st.floats(0.0, 0.99), k=st.integers(1, 4))
def test_excess_is_the_plain_sum(rho: float, k: int) -> None:
    pair = fold(shift_cover(3, 0.04, 0.02, 0.8, 0.8), k, 0.2, math.log(1e-6), math.log(1e-6))
    plain = math.fsum(
        mass * max(math.expm1(x) ** 2 - rho * rho, 0.0)
        for mass, x in zip(pair.mass, pair.log_ratios, strict=True)
    )
    plain += (1 - rho * rho) * pair.at_zero
    assume(plain > 1e-14)
    ours = math.exp(pair.excess()(rho))
    assert plain <= ours <= plain * (1 + 3e-9)


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="a is 8"):
        shift_cover(8, 0.1, 0.1, 1.0, 1.0)
    with pytest.raises(InvalidArgument, match="a is 1"):
        shift_cover(1, 0.1, 0.1, 1.0, 1.0)
    with pytest.raises(InvalidArgument, match=r"t is 0\.5"):
        shift_cover(2, 0.5, 0.1, 1.0, 1.0)
