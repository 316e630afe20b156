"""Theorem M: against exact posteriors, by simulation, and its inverses on the safe side."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument
from holdfast.theory.transfer.gaussian_noise import gaussian_half_width, gaussian_shift
from holdfast.theory.transfer.likelihood_cover import fisher_information, peak_density
from holdfast.theory.transfer.median_width import (
    exact_shift,
    median_max_noise,
    median_noise_half_width,
    median_noise_questions,
    median_noise_rows,
    median_shift,
)
from tests.theory.transfer.worst import worst_mean

LAWS = ("median_noise_half_width", "median_noise_questions", "median_noise_rows")

LOG_05 = math.log(0.05)


# --------------------------------------------------------------------------------------------
# A fair bit, asked k times: TV = |p+ - p-|/(p+ + p-)/2, p+- = f(v -+ t)


@pytest.mark.parametrize("beta", [0.5, 0.05, 0.01])
@pytest.mark.parametrize(("a", "t"), [(2, 0.01), (3, 0.02), (2, 0.05)])
def test_one_answer_against_the_exact_posterior(a: int, t: float, beta: float) -> None:
    v = np.linspace(-1 - t, 1 + t, 400_001)

    def density(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return peak_density(a) * np.maximum(1 - x * x, 0.0) ** a

    high, low = density(v - t), density(v + t)
    total = np.maximum(high + low, 1e-300)
    exact = worst_mean(0.5 * np.abs(high - low) / total, total, beta)
    n = 1000
    bound = median_shift(n, 1, 1 / (2 * n * t), a, math.log(beta))
    assert exact <= bound
    assert 0.6 * bound < exact  # sabotage: 40 % too small; one heavy-tailed ratio leaves slack


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("a", "k", "m", "beta", "trials"),
    [(3, 100, 0.02, 0.05, 60_000), (2, 100, 0.01, 0.05, 60_000), (4, 20, 0.02, 0.001, 500_000)],
)
def test_many_answers_against_the_simulated_posterior(
    a: int, k: int, m: float, beta: float, trials: int
) -> None:
    """The log-odds of a fair bit are the sum of log f(v - t)/f(v + t), infinite outside."""
    generator = np.random.default_rng(503)
    n, t = 10_000, m / math.sqrt(k * fisher_information(a))
    log_odds = np.zeros(trials)
    for _ in range(k):
        v = 2.0 * generator.beta(a + 1, a + 1, trials) - 1.0 + t  # the bit is 1
        inside = v < 1.0 - t
        x = np.where(inside, v, 0.0)
        step = a * (np.log1p(-((x - t) ** 2)) - np.log1p(-((x + t) ** 2)))
        log_odds += np.where(inside, step, np.inf)
    tv = 0.5 * np.tanh(0.5 * np.abs(log_odds))
    worst = np.sort(tv)[-round(beta * trials) :]
    error = 6 * worst.std() / math.sqrt(len(worst))
    bound = median_shift(n, k, 1 / (2 * n * t), a, math.log(beta))
    assert worst.mean() - error <= bound
    assert 0.8 * bound < worst.mean() - error  # sabotage: a fifth too small


# --------------------------------------------------------------------------------------------
# The two parts


@pytest.mark.statistical
@pytest.mark.parametrize(("a", "k"), [(2, 5), (3, 40)])
def test_largest_noise_by_simulation(a: int, k: int) -> None:
    """Medians of uniforms, drawn as medians."""
    trials, beta, generator = 20_000, 0.05, np.random.default_rng(504)
    largest = np.zeros(trials)
    for _ in range(k):
        draws = generator.uniform(-1, 1, (trials, 2 * a + 1))
        largest = np.maximum(largest, np.abs(np.median(draws, axis=1)))
    worst = np.sort(largest)[-round(beta * trials) :]
    error = 8 * worst.std() / math.sqrt(len(worst))
    value = median_max_noise(k, a, math.log(beta))
    assert abs(worst.mean() - value) <= error
    assert abs(worst.mean() - 0.96 * value) > error  # sabotage: 4 % too small


def test_largest_noise_limits() -> None:
    # E|V| = 2 f(0) int_0^1 x (1 - x^2)^a dx = f(0)/(a + 1).
    for a in (2, 3, 7):
        assert median_max_noise(1, a, 0.0) == pytest.approx(peak_density(a) / (a + 1), rel=2e-11)
    assert median_max_noise(10**12, 2, -1000.0) == 1.0
    assert all(median_max_noise(k, 2, -1000.0) <= 1.0 for k in (1, 10**6))


@pytest.mark.parametrize(("k", "rel"), [(10**5, 0.006), (10**8, 0.003)])
def test_shift_tends_to_the_gaussian_one(k: int, rel: float) -> None:
    n, m = 10**7, 0.02
    D = math.sqrt(k * fisher_information(2)) / (2 * n * m)
    assert median_shift(n, k, D, 2, LOG_05) == pytest.approx(gaussian_shift(m, LOG_05), rel=rel)


def test_shift_is_total_and_says_nothing_where_there_is_nothing_to_say() -> None:
    assert median_shift(1000, 10, 0.1, 3, -1000.0) == 1.0
    assert median_shift(1000, 10**13, 0.1, 3, LOG_05) == 1.0
    assert median_shift(1, 1, 0.001, 2, LOG_05) == 1.0
    assert median_shift(10**9, 1, 0.5, 2, 0.0) < 1e-8
    assert math.inf == exact_shift(1, 1, 0.001, 2, LOG_05).H


# --------------------------------------------------------------------------------------------
# Width, questions, rows


def test_width_is_the_sum_of_its_parts() -> None:
    n, k = 40_000, 700
    design = median_noise_half_width(n, k, LOG_05)
    assert median_max_noise(k, design.a, LOG_05) == design.C
    shift = median_shift(n, k, design.D, design.a, LOG_05)
    assert shift == pytest.approx(design.H + design.theta_over_beta, rel=1e-12)
    assert design.half_width == pytest.approx(design.D * design.C + shift, rel=1e-12)
    for factor in (0.7, 0.9, 1.1, 1.4):
        D = factor * design.D
        other = D * design.C + median_shift(n, k, D, design.a, LOG_05)
        assert design.half_width <= other * (1 + 1e-4)


@pytest.mark.parametrize(("n", "k"), [(300, 3), (3000, 40), (10**5, 10), (10**6, 2000)])
def test_never_below_the_width_of_fixed_questions(n: int, k: int) -> None:
    for log_beta in (-0.5, LOG_05, -7.0, -12.0):
        floor = math.sqrt((math.log(2 * k) - log_beta) / (2 * n))
        assert median_noise_half_width(n, k, log_beta).half_width > floor


def test_width_moves_the_right_way() -> None:
    base = median_noise_half_width(20_000, 300, -3.0).half_width
    assert median_noise_half_width(22_000, 300, -3.0).half_width < base
    assert median_noise_half_width(20_000, 330, -3.0).half_width > base
    assert median_noise_half_width(20_000, 300, -3.3).half_width > base


@pytest.mark.parametrize(("n", "k"), [(10**5, 1000), (10**6, 10**4), (10**6, 10**5)])
def test_narrower_than_gaussian_noise_for_many_questions(n: int, k: int) -> None:
    median = median_noise_half_width(n, k, LOG_05).half_width
    assert median < 0.86 * gaussian_half_width(n, k, LOG_05).half_width


def test_higher_orders_help_when_beta_is_small() -> None:
    log_beta = math.log(0.05) - 10.0
    default = median_noise_half_width(10**6, 10**4, log_beta).half_width
    wider_choice = median_noise_half_width(10**6, 10**4, log_beta, (2, 3, 4, 5))
    assert wider_choice.a > 3
    assert wider_choice.half_width < 0.97 * default
    assert wider_choice.half_width < 0.8 * gaussian_half_width(10**6, 10**4, log_beta).half_width


@settings(max_examples=8)
@given(n=st.integers(2000, 10**6), tolerance=st.floats(0.03, 0.3), log_beta=st.floats(-6, -1))
def test_questions_fit_and_hardly_more_would(n: int, tolerance: float, log_beta: float) -> None:
    k = median_noise_questions(n, tolerance, log_beta)
    if k > 0:
        assert median_noise_half_width(n, k, log_beta).half_width <= tolerance
    more = max(k + 1, math.ceil(1.003 * k))
    assert median_noise_half_width(n, more, log_beta).half_width > tolerance


@settings(max_examples=8)
@given(k=st.integers(1, 2000), tolerance=st.floats(0.03, 0.3), log_beta=st.floats(-6, -1))
def test_rows_are_enough_and_hardly_fewer_are(k: int, tolerance: float, log_beta: float) -> None:
    n = median_noise_rows(k, tolerance, log_beta)
    assert n is not None
    assert median_noise_half_width(n, k, log_beta).half_width <= tolerance
    fewer = min(n - 1, math.floor(n / 1.003))
    assert median_noise_half_width(fewer, k, log_beta).half_width > tolerance


def test_searches_are_total() -> None:
    assert median_noise_questions(1, 0.1, LOG_05) == 0
    assert median_noise_questions(100, 0.01, LOG_05) == 0
    assert median_noise_questions(10**6, 0.1, -1000.0) == 0
    assert median_noise_rows(10, 0.1, -1000.0) is None
    assert median_noise_half_width(1, 10**12, -1000.0).half_width >= 1.0
    assert median_noise_half_width(1, 1, 0.0).half_width > 0.0


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="D is"):
        median_shift(10, 10, 0.0, 2, LOG_05)
    with pytest.raises(InvalidArgument, match="a is 9"):
        median_noise_half_width(10, 10, LOG_05, (2, 9))
    with pytest.raises(InvalidArgument, match="tolerance is"):
        median_noise_rows(10, math.nan, LOG_05)
