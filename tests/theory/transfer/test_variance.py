"""Theorems V1 and V2: against exact posteriors of rare bits, and the line against its curve."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.variance_line import (
    declared_variance_shift,
    least_variance_intercept,
    variance_line,
)
from holdfast.theory.transfer.likelihood_cover import peak_density
from holdfast.theory.transfer.median_width import (
    declared_variance_half_width,
    exact_shift,
    median_max_noise,
    median_shift,
    shift_excess,
)
from tests.theory.transfer.worst import worst_mean

LAWS = ("declared_variance_half_width", "variance_line")

LOG_05 = math.log(0.05)
N, K, D, A = 10_000, 100, 0.046, 3


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("beta", [0.5, 0.05])
def test_one_answer_about_a_rare_bit(rate: float, beta: float) -> None:
    """A row is 1 with probability `rate`; one answer; how far does its posterior mean move?"""
    a, t, n = 3, 0.02, 1000
    v = np.linspace(-1 - t, 1 + t, 400_001)
    high = rate * peak_density(a) * np.maximum(1 - (v - t) ** 2, 0.0) ** a
    low = (1 - rate) * peak_density(a) * np.maximum(1 - (v + t) ** 2, 0.0) ** a
    total = np.maximum(high + low, 1e-300)
    exact = worst_mean(np.abs(high / total - rate), total, beta)
    variance = rate * (1 - rate)
    bound = declared_variance_shift(n, 1, 1 / (2 * n * t), a, variance, math.log(beta))
    assert exact <= bound
    if rate == 0.5:  # sabotage: 40 % too small
        assert 0.6 * bound < exact


def test_without_a_useful_bound_it_is_theorem_m() -> None:
    whole = declared_variance_shift(N, K, D, A, 0.25, LOG_05)
    assert whole == pytest.approx(median_shift(N, K, D, A, LOG_05), rel=1e-12)


def test_h_is_not_capped() -> None:
    """Where H is above 1, capping it would claim a shift of only 2 sqrt(v)."""
    n, k, bound = 300, 200, 0.04
    assert exact_shift(n, k, bound, A, LOG_05).H > 1.5
    assert declared_variance_shift(n, k, bound, A, 1e-4, LOG_05) > 1.5 * 2 * math.sqrt(1e-4)


def test_small_variance_gives_narrow_intervals() -> None:
    widths = [
        declared_variance_half_width(100_000, 1000, v, LOG_05).half_width
        for v in (0.25, 0.09, 0.01, 1e-4)
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[2] < 0.5 * widths[0]
    assert declared_variance_half_width(100_000, 1100, 0.01, LOG_05).half_width > widths[2]
    assert declared_variance_half_width(110_000, 1000, 0.01, LOG_05).half_width < widths[2]


@settings(max_examples=20)
@given(
    aim=st.floats(1e-5, 0.25),
    log_beta=st.floats(-5, -0.5),
    k=st.integers(1, 400),
    bound=st.floats(0.03, 0.1),
)
def test_line_dominates_the_curve_and_touches_it(
    aim: float, log_beta: float, k: int, bound: float
) -> None:
    """y H(beta y) as Theorem M prints H, least over a fine grid of b, for the same cover."""
    line = variance_line(N, k, bound, A, aim, log_beta)
    assert line.kappa0 >= 0.0
    assert line.kappa1 >= 0.0
    found = shift_excess(N, k, bound, A, log_beta)
    assert found is not None
    log_excess, m, _ = found
    rho = np.geomspace(0.3 * m, min(30 * m, 0.99), 500)
    b, F = rho**2, np.exp([log_excess(float(x)) for x in rho])
    touch = 2 * math.sqrt(aim)
    for y in (1e-6, 0.003, 0.03, 0.2, 0.6, 1.0, touch):
        inner = (2 + F / (math.exp(log_beta) * y)) ** 2 / (4 * (1 - b)) - 1
        curve = y * float(0.5 * np.sqrt(inner.min()))
        assert line.kappa0 + line.kappa1 * y >= curve * (1 - 1e-4)
        if y == touch:
            assert line.kappa0 + line.kappa1 * y <= curve * (1 + 1e-6)


def test_scaling_h_alone_is_no_such_line() -> None:
    """The tempting kappa0 = 0, kappa1 = H lies below the curve, so it is refused."""
    H = exact_shift(N, K, D, A, LOG_05).H
    y = 0.05
    assert y * H < 0.9 * y * exact_shift(N, K, D, A, LOG_05 + math.log(y)).H
    assert least_variance_intercept(N, K, D, A, H, LOG_05) > 0.0


@settings(max_examples=15)
@given(aim=st.floats(1e-4, 0.25))
def test_a_tangent_needs_exactly_its_own_intercept(aim: float) -> None:
    line = variance_line(N, K, D, A, aim, LOG_05)
    least = least_variance_intercept(N, K, D, A, line.kappa1, LOG_05)
    assert least == pytest.approx(line.kappa0, rel=1e-5)
    assert least_variance_intercept(N, K, D, A, 1.1 * line.kappa1, LOG_05) < least


def test_half_widths_of_a_line() -> None:
    line = variance_line(N, K, D, A, 0.01, LOG_05)
    assert line.noise_part == pytest.approx(D * median_max_noise(K, A, LOG_05), rel=1e-12)
    for v in (0.0, 0.01, 0.25):
        by_hand = line.noise_part + line.theta_over_beta + line.kappa0
        assert line.half_width(v) == pytest.approx(by_hand + 2 * line.kappa1 * v**0.5, rel=1e-12)
    # Adaptive variances cost little more than declared ones, and never less.
    declared = declared_variance_shift(N, K, D, A, 0.01, LOG_05)
    assert declared < line.half_width(0.01) - line.noise_part < 1.6 * declared
    vacuous = variance_line(N, K, D, A, 0.01, -1000.0)
    assert vacuous.half_width(0.01) >= 1.0
    assert least_variance_intercept(N, K, D, A, 0.3, -1000.0) == 1.0


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="variance is"):
        declared_variance_shift(N, K, D, A, 0.3, LOG_05)
    with pytest.raises(InvalidArgument, match="aim is"):
        variance_line(N, K, D, A, 0.0, LOG_05)
    with pytest.raises(InvalidArgument, match="orders is empty"):
        declared_variance_half_width(N, K, 0.1, LOG_05, ())
