"""Private answers: the largest noise by simulation, compositions against each other and by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm

from holdfast.theory.notions.arrows import gdp_to_approx_dp, gdp_to_tv, pure_dp_to_tv
from holdfast.theory.notions.composing import GDP, PureDP
from holdfast.theory.notions.distances import advanced_composition, laplace_tv
from holdfast.theory.transfer.differential_privacy import (
    composed_private_shift,
    gdp_at_delta,
    laplace_max_noise,
    optimal_composition_at_delta,
    private_laplace_half_width,
    pure_dp_to_gdp,
    pure_private_shift,
)


@pytest.mark.parametrize(("k", "beta"), [(1, 0.05), (20, 0.05), (20, 0.5), (300, 0.01)])
def test_the_largest_noise_by_its_integral(k: int, beta: float) -> None:
    x = np.linspace(0, 80, 400_001)
    above = -np.expm1(k * np.log1p(-np.exp(-np.maximum(x, 1e-12))))
    tail = np.append(np.cumsum(above[::-1])[::-1][1:], 0.0) * (x[1] - x[0])
    exact = float((x + tail / beta).min())
    found = laplace_max_noise(k, math.log(beta))
    assert exact * (1 - 1e-3) <= found <= exact * (1 + beta) + 1e-3


@given(eps=st.floats(1e-6, 30))
def test_randomised_response_attains_the_gaussian_arrow(eps: float) -> None:
    mu = pure_dp_to_gdp(PureDP(eps))
    assert gdp_to_tv(mu).distance == pytest.approx(
        pure_dp_to_tv(PureDP(eps)).distance, rel=1e-7, abs=1e-12
    )
    # At the kink the trade-off function of mu-GDP is that of randomised response, elsewhere below.
    kink = 1 / (1 + math.exp(eps))
    for share in (0.1, 0.5, 1.0):
        alpha = kink * share
        response = max(0.0, 1 - math.exp(eps) * alpha, math.exp(-eps) * (1 - alpha))
        assert norm.cdf(norm.isf(alpha) - mu.mu) <= response * (1 + 1e-6) + 1e-12


@given(eps=st.floats(1e-3, 2), k=st.integers(1, 200), log_delta=st.floats(-40, -1))
def test_exact_composition_is_the_best_and_k_copies_are_a_list(
    eps: float, k: int, log_delta: float
) -> None:
    exact = optimal_composition_at_delta(PureDP(eps), k, log_delta).epsilon
    assert exact <= k * eps * (1 + 1e-12)
    assert exact <= advanced_composition(PureDP(eps), k, log_delta).epsilon * (1 + 1e-9)


@given(mu=st.floats(1e-3, 10), log_delta=st.floats(-100, -1))
def test_the_curve_read_at_a_delta_is_the_curve(mu: float, log_delta: float) -> None:
    epsilon = gdp_at_delta(GDP(mu), log_delta).epsilon
    assert gdp_to_approx_dp(GDP(mu), epsilon).log_delta <= log_delta
    if epsilon > 1e-6:
        assert gdp_to_approx_dp(GDP(mu), epsilon * (1 - 1e-6)).log_delta > log_delta


def test_a_single_answer_has_the_pure_shift_and_many_less() -> None:
    log_beta = math.log(0.05)
    assert composed_private_shift(1, 0.3, log_beta) == pytest.approx(pure_private_shift(0.3))
    assert composed_private_shift(1000, 0.002, log_beta) < 0.2 * pure_private_shift(2.0)
    assert composed_private_shift(50, 0.0, log_beta) <= 1e-300


def test_noise_and_shift_pull_in_opposite_directions() -> None:
    widths = [private_laplace_half_width(10**4, 20, e, math.log(0.05)) for e in (1e-4, 0.016, 1.0)]
    assert widths[1] < min(widths[0], widths[2])


def laplace_distance(steps: int, scale: int) -> float:
    z = np.arange(-2_000, 2_001)
    law = math.tanh(1 / (2 * scale)) * np.exp(-np.abs(z) / scale)
    return 0.5 * float(np.abs(law[steps:] - law[:-steps]).sum() + 2 * law[:steps].sum())


@pytest.mark.parametrize("steps", [2, 6, 20, 40])
def test_even_shifts_of_discrete_laplace_laws_have_the_continuous_distance(steps: int) -> None:
    scale = 10
    assert laplace_distance(steps, scale) == pytest.approx(laplace_tv(steps / scale), abs=1e-12)
    # An odd shift is further apart than the continuous laws, but not than the next even one.
    odd = laplace_distance(steps - 1, scale)
    assert laplace_tv((steps - 1) / scale) < odd < laplace_tv(steps / scale)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 3),
    outputs=st.integers(2, 5),
    spread=st.floats(0.05, 2),
)
def test_theorem_d_for_every_statistic_of_bounded_differences(
    seed: int, n: int, outputs: int, spread: float
) -> None:
    """All data sets of n bits: whatever is chosen after the transcript moved by n lambda tanh."""
    rng = np.random.default_rng(seed)
    worlds = list(itertools.product((0, 1), repeat=n))
    laws = np.exp(spread * rng.standard_normal((len(worlds), outputs)))
    laws /= laws.sum(axis=1, keepdims=True)
    ones = rng.uniform(0.05, 0.95, n)
    prior = np.array(
        [math.prod(p if bit else 1 - p for p, bit in zip(ones, w, strict=True)) for w in worlds]
    )
    neighbours = [
        (a, b)
        for a, first in enumerate(worlds)
        for b, second in enumerate(worlds)
        if sum(x != y for x, y in zip(first, second, strict=True)) == 1
    ]
    eps = max(float(np.abs(np.log(laws[a] / laws[b])).max()) for a, b in neighbours)
    for _ in range(5):
        q = rng.random(len(worlds))
        change = max(abs(float(q[a] - q[b])) for a, b in neighbours)
        posterior = prior[:, None] * laws / (prior @ laws)
        moved = float(np.abs(q @ posterior - q @ prior).max())
        assert moved <= n * change * pure_private_shift(eps) + 1e-12


def test_the_bound_for_bounded_differences_is_attained() -> None:
    """Randomised response of one bit with the right prior, and the bit itself."""
    eps = 1.5
    laws = np.array([[math.exp(eps), 1.0], [1.0, math.exp(eps)]]) / (1 + math.exp(eps))
    best = 0.0
    for p in np.linspace(0.01, 0.99, 981):
        prior = np.array([p, 1 - p])
        posterior = prior[:, None] * laws / (prior @ laws)
        best = max(best, float(np.abs(posterior[0] - prior[0]).max()))
    assert 0.999 * pure_private_shift(eps) < best <= pure_private_shift(eps)
