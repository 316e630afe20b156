"""Theorem T: against its closed form, an exact posterior, and a simulation of the noise."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate
from scipy.stats import norm

from holdfast.errors import InvalidArgument
from holdfast.theory.transfer.gaussian_noise import (
    gaussian_half_width,
    gaussian_max_noise,
    gaussian_questions,
    gaussian_rows,
    gaussian_shift,
    log_shift_excess,
    transfer_half_width,
)

LOG_05 = math.log(0.05)


def closed_form_log_excess(b: float, m: float) -> float:
    """F as the specification prints it, in 60 digits."""
    with mp.workdps(60):

        def Q(z: mp.mpf) -> mp.mpf:
            return mp.erfc(z / mp.sqrt(2)) / 2

        exact_b, exact_m = mp.mpf(b), mp.mpf(m)
        r = mp.sqrt(exact_b)
        above = (mp.log(1 + r) + exact_m**2 / 2) / exact_m
        below = (mp.log(1 - r) + exact_m**2 / 2) / exact_m
        growth = mp.exp(exact_m**2)
        upper = growth * Q(above - 2 * exact_m) - 2 * Q(above - exact_m) + (1 - exact_b) * Q(above)
        lower = growth * Q(2 * exact_m - below) - 2 * Q(exact_m - below) + (1 - exact_b) * Q(-below)
        return float(mp.log(upper + lower))


@given(
    b=st.floats(0, 0.99),
    scale=st.floats(0.05, 40),
    m=st.floats(-13, 2.3).map(math.exp),
    near=st.booleans(),
)
def test_excess_is_the_closed_form_rounded_up(b: float, scale: float, m: float, near: bool) -> None:
    b = min((scale * m) ** 2, 0.99) if near else b
    exact, ours = closed_form_log_excess(b, m), log_shift_excess(b, m)
    assert 0.0 <= ours - exact <= 2.2e-11 + 2e-15 * abs(exact)


def test_excess_at_the_end_of_its_range() -> None:
    for m in (1e-6, 1e-3, 0.1, 1.0, 10.0):
        assert log_shift_excess(math.nextafter(1.0, 0.0), m) <= log_shift_excess(0.999, m)
    with pytest.raises(InvalidArgument, match="b is 1"):
        log_shift_excess(1.0, 0.1)


# --------------------------------------------------------------------------------------------
# An instance whose posterior is known: one fair bit, asked k times


def exact_fair_bit_cvar(m: float, beta: float) -> float:
    """CVaR_beta of TV(posterior, prior) of a fair bit whose log-odds are N(+-mu^2/2, mu^2).

    mu = sqrt(k)/(n s) = 2m, and TV = tanh(|log-odds|/2)/2 grows with |log-odds|.
    """
    mu = 2.0 * m

    def survival(x: float) -> float:
        return float(norm.sf((x - mu * mu / 2) / mu) + norm.cdf((-x - mu * mu / 2) / mu))

    low, high = 0.0, mu * mu / 2 + 40 * mu
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if survival(middle) > beta else (low, middle)
    slope, _ = integrate.quad(
        lambda x: 0.25 / math.cosh(x / 2) ** 2 * survival(x),
        low,
        low + 12 * mu,
        epsabs=0,
        limit=200,
    )
    return 0.5 * math.tanh(low / 2) + float(slope) / beta


@pytest.mark.parametrize("beta", [0.5, 0.05, 0.001, 1e-9])
@pytest.mark.parametrize("m", [0.003, 0.02])
def test_shift_bounds_the_exact_posterior_and_is_nearly_tight(m: float, beta: float) -> None:
    exact, bound = exact_fair_bit_cvar(m, beta), gaussian_shift(m, math.log(beta))
    assert exact <= bound
    assert 0.93 * bound < exact  # sabotage: 7 % too small


def test_shift_is_within_two_percent_where_the_signal_is_weak() -> None:
    bound, exact = gaussian_shift(0.003, LOG_05), exact_fair_bit_cvar(0.003, 0.05)
    assert exact <= bound <= 1.02 * exact


def test_shift_approaches_its_first_order() -> None:
    """CVaR(B) ~ (m/2) sqrt(CVaR_beta(Z^2)), 2.36 at beta = .05."""
    z = norm.isf(0.025)
    root = math.sqrt(1 + 2 * z * norm.pdf(z) / 0.05)
    assert root == pytest.approx(2.36, rel=2e-3)
    assert gaussian_shift(1e-5, LOG_05) / 1e-5 == pytest.approx(root / 2, rel=1e-4)


# --------------------------------------------------------------------------------------------
# The largest noise


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), [(0.05, 40_000), (0.001, 200_000)])
def test_largest_noise_by_simulation(beta: float, trials: int) -> None:
    k, generator = 20, np.random.default_rng(501)
    largest = np.abs(generator.standard_normal((trials, k), dtype=np.float32)).max(axis=1)
    worst = np.sort(largest)[-round(beta * trials) :].astype(float)
    error = 6 * worst.std() / math.sqrt(len(worst)) + 6 * 0.4 * (worst.mean() - worst.min()) / (
        math.sqrt(len(worst))
    )
    value = gaussian_max_noise(k, math.log(beta))
    assert worst.mean() - error <= value <= worst.mean() + error
    assert not 0.93 * value >= worst.mean() - error  # sabotage: 7 % too small


def test_largest_noise_limits() -> None:
    assert gaussian_max_noise(1, 0.0) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-10)
    for k in (1, 10, 10**6, 10**12):
        for log_beta in (-0.5, -3.0, -30.0, -31.0, -300.0, -1000.0):
            quantile = math.sqrt(2 * (math.log(2 * k) - log_beta))
            assert 0.5 * quantile <= gaussian_max_noise(k, log_beta) <= quantile + 1.0
    # The two branches for ln(1 - (1 - beta)^{1/k}) meet at beta = e^-30.
    left, right = gaussian_max_noise(7, -30.0 - 1e-9), gaussian_max_noise(7, -30.0)
    assert left == pytest.approx(right, rel=1e-9)


# --------------------------------------------------------------------------------------------
# Width, questions, rows


def floor_width(n: int, k: int, log_beta: float) -> float:
    """Hoeffding with a union bound, for questions fixed in advance."""
    return math.sqrt((math.log(2 * k) - log_beta) / (2 * n))


@settings(max_examples=60)
@given(
    n=st.integers(10, 10**9),
    k=st.integers(1, 10**9),
    log_beta=st.one_of(st.floats(-100, -0.1), st.floats(-1000, -0.1)),
)
def test_never_below_the_width_of_fixed_questions(n: int, k: int, log_beta: float) -> None:
    floor = floor_width(n, k, log_beta)
    assert gaussian_half_width(n, k, log_beta).half_width >= min(floor, 1.0)


def test_parts_add_up_at_the_returned_noise() -> None:
    n, k = 50_000, 700
    design = gaussian_half_width(n, k, LOG_05)
    m = math.sqrt(k) / (2 * n * design.noise_scale)
    noise = design.noise_scale * gaussian_max_noise(k, LOG_05)
    assert design.noise_part == pytest.approx(noise, rel=1e-12)
    assert design.shift_part == pytest.approx(gaussian_shift(m, LOG_05), rel=1e-7)
    assert design.half_width >= noise + design.shift_part
    assert design.half_width == pytest.approx(transfer_half_width(noise, design.shift_part))
    for factor in (0.8, 0.95, 1.05, 1.25):
        s = factor * design.noise_scale
        other = s * gaussian_max_noise(k, LOG_05) + gaussian_shift(m / factor, LOG_05)
        assert design.half_width <= other


@given(
    n=st.integers(100, 10**8),
    tolerance=st.floats(0.002, 0.45),
    log_beta=st.one_of(st.floats(-20, -0.1), st.floats(-1000, -0.1)),
)
def test_questions_fit_and_no_more_would(n: int, tolerance: float, log_beta: float) -> None:
    k = gaussian_questions(n, tolerance, log_beta)
    if k > 0:
        assert gaussian_half_width(n, k, log_beta).half_width <= tolerance
    more = max(k + 1, math.ceil(k * (1 + 1e-5)))
    assert gaussian_half_width(n, more, log_beta).half_width > tolerance * (1 - 1e-7)


@given(k=st.integers(1, 10**12), tolerance=st.floats(0.002, 0.45), log_beta=st.floats(-1000, -0.1))
def test_rows_are_enough_and_fewer_are_not(k: int, tolerance: float, log_beta: float) -> None:
    n = gaussian_rows(k, tolerance, log_beta)
    assert gaussian_half_width(n, k, log_beta).half_width <= tolerance
    fewer = min(n - 1, math.floor(n * (1 - 1e-5)))
    if fewer > 0:
        assert gaussian_half_width(fewer, k, log_beta).half_width > tolerance * (1 - 1e-7)


def test_nothing_under_or_overflows() -> None:
    for n, k, log_beta in [(1, 1, 0.0), (1, 10**12, -1000.0), (10**15, 1, -1000.0), (7, 2, -1e-9)]:
        design = gaussian_half_width(n, k, log_beta)
        assert all(0.0 < part < math.inf for part in (design.half_width, design.noise_scale))
    assert gaussian_shift(100.0, -3.0) == 1.0
    assert gaussian_questions(1, 0.1, LOG_05) == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0, 0.0])
def test_arguments_are_checked(bad: float) -> None:
    with pytest.raises(InvalidArgument, match="m is"):
        gaussian_shift(bad, LOG_05)
    with pytest.raises(InvalidArgument, match="tolerance is"):
        gaussian_questions(100, bad, LOG_05)
    with pytest.raises(InvalidArgument, match="log_beta is"):
        gaussian_max_noise(3, 0.1)
