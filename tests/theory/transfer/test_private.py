"""Theorems D and P and the mutual information, against exact small worlds and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy import integrate
from scipy.stats import norm

from holdfast.errors import InvalidArgument
from holdfast.theory.transfer.differential_privacy import (
    gaussian_mutual_information,
    private_post_selected_half_width,
    private_post_selected_log_failure,
    private_shift,
    pure_private_shift,
)
from holdfast.theory.transfer.gaussian_noise import gaussian_max_noise
from tests.theory.coverage import too_many
from tests.theory.transfer.worst import worst_mean

LOG_05 = math.log(0.05)


# --------------------------------------------------------------------------------------------
# Theorem D: one row with a few values, a mechanism with a few outputs


def hockey_stick(laws: NDArray[np.float64], eps: float) -> float:
    """The least delta with which the mechanism (row value -> output law) is (eps, delta)-DP."""
    gaps = np.maximum(laws[:, None, :] - math.exp(eps) * laws[None, :, :], 0.0)
    return float(gaps.sum(axis=2).max())


def exact_shift_cvar(laws: NDArray[np.float64], prior: NDArray[np.float64], beta: float) -> float:
    mean = prior @ laws
    tv = 0.5 * (prior[:, None] * np.abs(laws - mean)).sum(axis=0) / mean
    return worst_mean(tv, mean, beta)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    values=st.integers(2, 4),
    outputs=st.integers(2, 6),
    spread=st.floats(0.05, 3),
    eps=st.floats(0, 4),
    beta=st.floats(0.001, 1),
)
def test_theorem_d_on_random_mechanisms(
    seed: int, values: int, outputs: int, spread: float, eps: float, beta: float
) -> None:
    generator = np.random.default_rng(seed)
    laws = np.exp(spread * generator.standard_normal((values, outputs)))
    laws /= laws.sum(axis=1, keepdims=True)
    prior = generator.dirichlet(np.ones(values))
    delta = hockey_stick(laws, eps)
    bound = private_shift([(eps, math.log(delta) if delta > 0 else -math.inf)], math.log(beta))
    assert exact_shift_cvar(laws, prior, beta) <= bound + 1e-12


@pytest.mark.parametrize("eps", [0.1, 1.0, 3.0])
def test_pure_shift_is_attained(eps: float) -> None:
    """Two values, two outputs: after the rare one the posterior has moved by tanh(eps/4)."""
    rare = 1e-9
    laws = np.array([[rare * math.exp(eps), 1 - rare * math.exp(eps)], [rare, 1 - rare]])
    weight = 1 / (1 + math.exp(eps / 2))
    prior = np.array([weight, 1 - weight])
    exact = exact_shift_cvar(laws, prior, 1e-12)
    assert exact <= pure_private_shift(eps) * (1 + 1e-12)
    assert 0.99999 * pure_private_shift(eps) < exact  # sabotage: 1e-5 too small


def test_delta_is_needed() -> None:
    """An output that tells all with probability delta: eps = 0 alone would claim no shift."""
    delta, beta = 0.01, 0.05
    laws = np.array([[delta, 0.0, 1 - delta], [0.0, delta, 1 - delta]])
    prior = np.array([0.5, 0.5])
    exact = exact_shift_cvar(laws, prior, beta)
    assert exact == pytest.approx(0.5 * delta / beta)
    assert exact <= private_shift([(0.0, math.log(delta))], math.log(beta))
    assert exact > private_shift([(0.0, -math.inf)], math.log(beta))


def test_best_point_of_a_curve() -> None:
    curve = [(0.1, -5.0), (0.5, -20.0), (2.0, -math.inf)]
    best = min(private_shift([point], LOG_05) for point in curve)
    assert private_shift(curve, LOG_05) == best
    assert private_shift(curve, -1000.0) == pytest.approx(math.tanh(0.5), rel=1e-12)
    assert private_shift([(0.0, 0.0)], -1000.0) == 1.0
    with pytest.raises(InvalidArgument, match="curve is empty"):
        private_shift([], LOG_05)


@pytest.mark.parametrize(("n", "k"), [(10**4, 10), (10**5, 1000), (10**6, 10**5)])
def test_gaussian_noise_through_its_privacy_curve(n: int, k: int) -> None:
    """With the exact Gaussian curve Theorem D stays above the width of fixed questions."""
    floor = math.sqrt(math.log(2 * k / 0.05) / (2 * n))
    best = math.inf
    for s in np.geomspace(0.2, 20, 40) * math.sqrt(math.sqrt(k) / n):
        mu = math.sqrt(k) / (n * s)
        curve = []
        for eps in np.linspace(0.5, 8, 60) * mu:
            delta = norm.cdf(mu / 2 - eps / mu) - math.exp(eps) * norm.cdf(-mu / 2 - eps / mu)
            curve.append((float(eps), math.log(max(float(delta), 1e-300))))
        best = min(best, s * gaussian_max_noise(k, LOG_05) + private_shift(curve, LOG_05))
    assert floor < best < 1.0


# --------------------------------------------------------------------------------------------
# Theorem P


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), [(0.05, 40_000), (0.001, 40_000)])
def test_theorem_p_on_randomised_response(beta: float, trials: int) -> None:
    """Fair bits, each reported truly with odds e^eps; then 'agrees with the report' is asked."""
    n, eps = 500, 0.5
    generator = np.random.default_rng(505)
    agree = generator.binomial(n, 1 / (1 + math.exp(-eps)), trials) / n
    width = private_post_selected_half_width(n, 1, eps, math.log(beta))
    assert not too_many(np.abs(agree - 0.5) > width, beta)
    ignorant = width - pure_private_shift(eps)
    assert too_many(np.abs(agree - 0.5) > ignorant, beta)  # sabotage: the selection is ignored
    low = private_post_selected_half_width(n, 1, 0.0, math.log(beta))
    assert low == pytest.approx(math.sqrt(math.log(2 / beta) / (2 * n)), rel=1e-12)


@given(
    n=st.integers(1, 10**9), k=st.integers(1, 10**6), eps=st.floats(0, 5), nats=st.floats(0, 900)
)
def test_width_and_failure_are_inverse(n: int, k: int, eps: float, nats: float) -> None:
    width = private_post_selected_half_width(n, k, eps, -nats)
    log_failure = private_post_selected_log_failure(n, eps, width)
    over = width - math.tanh(eps / 4)
    assert log_failure <= -nats - math.log(2 * k) + 4 * n * over * 1e-15 + 1e-9


# --------------------------------------------------------------------------------------------
# Mutual information


@pytest.mark.parametrize(("n", "k", "s"), [(1, 1, 2.0), (1, 5, 10.0), (3, 1, 1.0)])
def test_mutual_information_of_fair_bits(n: int, k: int, s: float) -> None:
    """n fair bits, their mean asked k times: h(answer) - h(noise), by quadrature."""
    scale = s / math.sqrt(k)  # the mean of k answers is sufficient
    weights = [math.comb(n, j) / 2**n for j in range(n + 1)]

    def density(x: float) -> float:
        return math.fsum(w * float(norm.pdf(x, j / n, scale)) for j, w in enumerate(weights))

    entropy, _ = integrate.quad(
        lambda x: -density(x) * math.log(density(x)), -12 * scale, 1 + 12 * scale, limit=200
    )
    exact = entropy - 0.5 * math.log(2 * math.pi * math.e * scale**2)
    bound = gaussian_mutual_information(n, k, s)
    assert exact <= bound
    assert 0.85 * bound < exact  # sabotage: 15 % too small
