"""Whole-number noise: the charge is the sum that it stands for, and the tail is the law's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from holdfast.papers.theorems.other_accounts import gaussian_log_charge, laplace_log_charge
from holdfast.theory.leakage.release import (
    discrete_laplace_log_charge,
    discrete_laplace_noise_error,
    rounded_gaussian_log_charge,
    rounded_gaussian_noise_error,
)

Law = NDArray[np.float64]


def laplace_law(scale: int, z: Law) -> Law:
    return np.asarray(math.tanh(1 / (2 * scale)) * np.exp(-np.abs(z) / scale))


def gaussian_law(scale: int, z: Law) -> Law:
    return np.asarray(norm.cdf((z + 0.5) / scale) - norm.cdf((z - 0.5) / scale))


@pytest.mark.parametrize(
    ("law", "charge"),
    [
        (laplace_law, discrete_laplace_log_charge),
        (gaussian_law, rounded_gaussian_log_charge),
    ],
)
@given(spanned=st.integers(0, 60), scale=st.integers(1, 30))
def test_the_charge_is_the_integral_of_the_largest_probability(  # type: ignore[no-untyped-def]
    law, charge, spanned: int, scale: int
) -> None:
    z = np.arange(-60 * scale, 60 * scale + spanned + 1, dtype=float)
    largest = np.max([law(scale, z - cell) for cell in range(spanned + 1)], axis=0)
    assert math.exp(charge(spanned, scale)) == pytest.approx(float(largest.sum()), rel=1e-9)


@pytest.mark.parametrize("log_beta", [-0.1, -3.0, -20.0, -300.0])
@pytest.mark.parametrize("scale", [1, 7, 10**6])
def test_the_laplace_tail_is_never_heavier_than_said(scale: int, log_beta: float) -> None:
    error = discrete_laplace_noise_error(scale, log_beta)

    def log_tail(x: float) -> float:  # ln P[|Z| > x] = ln(2 r^(floor(x) + 1)/(1 + r))
        return math.log(2 / (1 + math.exp(-1 / scale))) - (math.floor(x) + 1) / scale

    assert log_tail(error) <= log_beta + 1e-9
    assert log_tail(error - 2) > log_beta  # sabotage: two cells less are not enough


@pytest.mark.parametrize("beta", [0.3, 0.05, 1e-6])
@pytest.mark.parametrize("scale", [1, 7, 10**6])
def test_the_gaussian_tail_is_never_heavier_than_said(scale: int, beta: float) -> None:
    error = rounded_gaussian_noise_error(scale, math.log(beta))

    def tail(x: float) -> float:  # |Z| > x: the number rounds to floor(x) + 1 or beyond
        return float(2 * norm.sf((math.floor(x) + 0.5) / scale))

    assert tail(error) <= beta * (1 + 1e-9)
    assert tail(error - 2) > beta


@given(radius=st.floats(1e-3, 0.4), b=st.floats(1e-3, 1))
def test_fine_grids_cost_what_the_continuous_noise_costs(radius: float, b: float) -> None:
    scale = 2**20
    cells = scale / b
    spanned = math.ceil(2 * radius * cells)
    for whole, real in (
        (discrete_laplace_log_charge(spanned, scale), laplace_log_charge(radius, b)),
        (rounded_gaussian_log_charge(spanned, scale), gaussian_log_charge(radius, b)),
    ):
        assert real - 1e-9 <= whole <= real + 2e-6
