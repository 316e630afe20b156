"""The noise is calibrated exactly: the ratio is e^eta, the hockey stick is tau, the error beta."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.typical_noise import (
    gaussian_mechanism_error,
    gaussian_mechanism_error_printed,
    gaussian_scale_bf1_printed,
    gaussian_scale_printed,
    gaussian_scale_printed_eta_max,
    laplace_mechanism_error,
    laplace_scale,
    laplace_scale_set_form,
)
from holdfast.theory.typical.calibrated_noise import gaussian_scale

LOG_TAU = st.floats(-1000, -1e-3)


def log_hockey_stick(mu: float, eta: float, digits: int) -> mpmath.mpf:
    """ln of Phi(mu/2 - eta/mu) - e^eta Phi(-mu/2 - eta/mu), from high precision."""
    with mpmath.workdps(digits):
        m, e = mpmath.mpf(mu), mpmath.mpf(eta)
        return mpmath.log(mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m))


@given(alpha=st.floats(1e-3, 1e3), eta=st.floats(1e-3, 50))
def test_the_laplace_ratio_is_e_to_the_eta(alpha: float, eta: float) -> None:
    answers = np.linspace(-5 * alpha, 5 * alpha, 2001)

    def largest_log_ratio(scale: float, distance: float) -> float:
        log_densities = (-np.abs(answers - distance) / scale, -np.abs(answers) / scale)
        return float(np.max(log_densities[0] - log_densities[1]))

    assert largest_log_ratio(laplace_scale(alpha, eta), alpha) == pytest.approx(eta, rel=1e-13)
    assert largest_log_ratio(0.999 * laplace_scale(alpha, eta), alpha) > eta
    # Set form: two typical samples are 2 alpha apart.
    two_apart = largest_log_ratio(laplace_scale_set_form(alpha, eta), 2 * alpha)
    assert two_apart == pytest.approx(eta, rel=1e-12)


@pytest.mark.parametrize(
    ("eta", "log_tau", "digits"),
    [
        (0.01, -5.0, 40),
        (1e-3, -100.0, 120),
        (0.5, -1.0, 40),
        (1.0, -13.8, 40),
        (3.0, -0.05, 40),
        (20.0, -40.0, 60),
        (50.0, -1e-3, 60),
        (1.0, -1000.0, 480),
        (30.0, -1000.0, 480),
    ],
)
def test_the_gaussian_hockey_stick_is_tau(eta: float, log_tau: float, digits: int) -> None:
    s = gaussian_scale(1.0, eta, log_tau)
    attained = log_hockey_stick(1 / s, eta, digits)
    assert attained <= log_tau
    assert float(attained) == pytest.approx(log_tau, rel=1e-8)
    assert log_hockey_stick(1 / (s * (1 - 1e-6)), eta, digits) > log_tau


@given(alpha=st.floats(1e-3, 1e3), eta=st.floats(1e-3, 50), log_tau=LOG_TAU)
def test_noise_scales_with_the_radius(alpha: float, eta: float, log_tau: float) -> None:
    assert gaussian_scale(alpha, eta, log_tau) == pytest.approx(
        alpha * gaussian_scale(1.0, eta, log_tau), rel=1e-12
    )


@given(log_tau=st.floats(-5, -1e-2))
def test_without_eta_the_noise_bounds_total_variation(log_tau: float) -> None:
    s = gaussian_scale(1.0, 1e-12, log_tau)
    assert math.erf(1 / (2 * math.sqrt(2) * s)) == pytest.approx(math.exp(log_tau), rel=1e-6)


@given(eta=st.floats(1e-2, 40), log_tau=LOG_TAU)
def test_the_printed_noise_is_enough_exactly_up_to_eta_max(eta: float, log_tau: float) -> None:
    exact, printed = gaussian_scale(1.0, eta, log_tau), gaussian_scale_printed(1.0, eta, log_tau)
    eta_max = gaussian_scale_printed_eta_max(log_tau)
    assert eta_max >= 4.95
    if eta < eta_max * (1 - 1e-6):
        assert printed >= exact
    elif eta > eta_max * (1 + 1e-6):
        assert printed < exact


@given(eta=st.floats(1e-3, 40), log_tau=LOG_TAU)
def test_the_inferred_noise_is_enough_exactly_up_to_its_eta_max(eta: float, log_tau: float) -> None:
    exact = gaussian_scale(2.0, eta, log_tau)
    inferred = gaussian_scale_bf1_printed(1.0, eta, log_tau)
    eta_max = gaussian_scale_printed_eta_max(log_tau, 1.0)
    if eta < eta_max * (1 - 1e-6):
        assert inferred >= exact
    elif eta > eta_max * (1 + 1e-6):
        assert inferred < exact


def test_the_printed_noise_fails_just_beyond_its_range() -> None:
    tau, eta = 0.8, 5.0
    mu = 1 / gaussian_scale_printed(1.0, eta, math.log(tau))
    assert math.exp(log_hockey_stick(mu, eta, 40)) > tau


@given(
    alpha=st.floats(1e-3, 1e3),
    share=st.floats(1e-3, 0.999),
    log_tau=LOG_TAU,
    log_beta=st.floats(-1000, -1e-3),
)
def test_the_error_is_never_looser_than_printed(
    alpha: float, share: float, log_tau: float, log_beta: float
) -> None:
    eta = share * gaussian_scale_printed_eta_max(log_tau)
    exact = gaussian_mechanism_error(alpha, eta, log_tau, log_beta)
    assert exact <= gaussian_mechanism_error_printed(alpha, eta, log_tau, log_beta)


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), [(0.05, 200_000), (0.001, 400_000)])
@pytest.mark.parametrize("shape", ["laplace", "gaussian"])
def test_the_error_is_exceeded_with_probability_beta(shape: str, beta: float, trials: int) -> None:
    rng, alpha, eta, log_tau = np.random.default_rng(20), 0.3, 0.7, -12.0
    if shape == "laplace":
        noise = rng.laplace(scale=laplace_scale(alpha, eta), size=trials)
        error = laplace_mechanism_error(alpha, eta, math.log(beta))
    else:
        noise = rng.normal(scale=gaussian_scale(alpha, eta, log_tau), size=trials)
        error = gaussian_mechanism_error(alpha, eta, log_tau, math.log(beta))
    allowed = binom.isf(1e-9, trials, beta)
    assert np.count_nonzero(np.abs(noise) > error) <= allowed
    # Sabotage: nine tenths of the error.
    assert np.count_nonzero(np.abs(noise) > 0.9 * error) > allowed


@pytest.mark.parametrize(
    "arguments",
    [(0.0, 1.0, -1.0), (1.0, 0.0, -1.0), (1.0, 1.0, 0.0), (1.0, 1.0, math.nan), (math.inf, 1, -1)],
)
def test_the_domain_is_checked(arguments: tuple[float, float, float]) -> None:
    for function in (gaussian_scale, gaussian_scale_printed, gaussian_scale_bf1_printed):
        with pytest.raises(InvalidArgument):
            function(*arguments)
