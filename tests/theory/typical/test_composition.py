"""The composition theorems of the papers: what the repair changes.

Where our copies are false: tests/theory/test_source_notes.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.composition import (
    Composed,
    approximate_composed_eta,
    approximate_composition,
    approximate_composition_bf1_printed,
    approximate_composition_printed,
    composed_eta,
    pure_composition,
    pure_composition_bf1_printed,
    pure_composition_printed,
)
from holdfast.theory.typical.sharp_composition import (
    log_geometric_sum,
    optimal_composition_log_delta,
)


@given(t=st.integers(1, 400), eta=st.floats(1e-3, 3), log_tau_prime=st.floats(-300, -0.5))
def test_azuma_covers_the_worst_composition(t: int, eta: float, log_tau_prime: float) -> None:
    # The privacy loss exceeds eta_t with probability >= delta_t(eta_t); Azuma must not be below.
    eta_t = composed_eta(t, eta, log_tau_prime)
    assert optimal_composition_log_delta(t, eta, eta_t) <= log_tau_prime


@given(
    t=st.integers(1, 400),
    eta=st.floats(0.01, 1.5),
    log_tau=st.floats(-100, math.log(0.01 / 50)),
    log_tau_prime=st.floats(-300, -0.5),
)
def test_the_approximate_form_covers_the_worst_composition(
    t: int, eta: float, log_tau: float, log_tau_prime: float
) -> None:
    eta_t = approximate_composed_eta(t, eta, log_tau, log_tau_prime)
    tau_hat = 2 * math.exp(log_tau) / -math.expm1(-eta)
    allowed = math.exp(log_tau_prime) + t * tau_hat
    delta = math.exp(optimal_composition_log_delta(t, eta, eta_t, log_tau))
    assert delta <= allowed * (1 + 1e-9)


@given(t=st.integers(1, 10**6), eta=st.floats(1e-3, 1.5), log_tau_prime=st.floats(-900, -1e-3))
def test_without_tau_the_approximate_loss_is_the_pure_loss_of_steps_twice_as_large(
    t: int, eta: float, log_tau_prime: float
) -> None:
    # The drift 2 eta (e^{2 eta} - 1) is that of a pure step with 2 eta.
    limit = approximate_composed_eta(t, eta, -1000.0, log_tau_prime)
    assert limit == pytest.approx(composed_eta(t, 2 * eta, log_tau_prime), rel=1e-12)


@given(eta=st.floats(1e-3, 12.5), log_nu=st.floats(-900, 0), log_tau_prime=st.floats(-900, -1e-3))
def test_one_step_needs_no_sum(eta: float, log_nu: float, log_tau_prime: float) -> None:
    repaired = pure_composition(1, eta, log_nu, log_tau_prime)
    printed = pure_composition_printed(1, eta, log_nu, log_tau_prime)
    assert repaired.log_tau == pytest.approx(printed.log_tau, rel=1e-12, abs=1e-12)
    assert repaired.eta == pytest.approx(3 * composed_eta(1, eta, log_tau_prime), rel=1e-12)
    assert repaired.eta == pytest.approx(printed.eta, rel=1e-12)


def test_the_subscript_decides_for_many_steps_only() -> None:
    # e^{eta t} is the better of two sound exponents while t eta < eta_t, and hopeless afterwards.
    few = {"eta": 0.1, "log_nu": -60.0, "log_tau_prime": -60.0}
    many = {"eta": 0.01, "log_nu": -100.0, "log_tau_prime": -60.0}
    assert pure_composition_printed(20, **few).log_tau < pure_composition(20, **few).log_tau
    assert pure_composition(10**5, **many).log_tau < -5
    assert pure_composition_printed(10**5, **many).log_tau > 400


@given(k=st.integers(1, 1000), eta=st.floats(1e-3, 10))
def test_eta_under_the_root_is_larger_below_one_and_smaller_above(k: int, eta: float) -> None:
    first = pure_composition_bf1_printed(k, eta, -50.0, -50.0)
    second = pure_composition_printed(k, eta, -50.0, -50.0)
    assert first.log_tau == second.log_tau
    if abs(eta - 1) > 1e-6:
        assert (first.eta > second.eta) == (eta < 1)


@given(
    k=st.integers(2, 200),
    eta=st.floats(0.01, 0.49),
    log_tau=st.floats(-100, math.log(0.01 / 50)),
)
def test_bf1_divides_tau_hat_by_too_little(k: int, eta: float, log_tau: float) -> None:
    arguments = (k, eta, log_tau, -900.0, -900.0)
    first = approximate_composition_bf1_printed(*arguments)
    second = approximate_composition_printed(*arguments)
    assert first.eta == second.eta
    assert first.log_tau < second.log_tau


@pytest.mark.parametrize("compose", [pure_composition, pure_composition_printed])
def test_a_million_steps(compose: object) -> None:
    assert callable(compose)
    composed = compose(10**6, 1e-3, -100.0, -60.0)
    assert isinstance(composed, Composed)
    assert math.isfinite(composed.eta)
    assert math.isfinite(composed.log_tau)
    assert composed.stability().tau <= 1.0


def test_the_sum_is_that_of_the_terms() -> None:
    k, eta, log_tau_prime, log_nu = 500, 0.02, -30.0, -50.0
    terms = [composed_eta(t, eta, log_tau_prime) for t in range(1, k)]
    mass = k * math.exp(log_tau_prime) + math.exp(log_nu) * (1 + sum(map(math.exp, terms)))
    expected = 5 * math.sqrt(mass / eta)
    found = pure_composition(k, eta, log_nu, log_tau_prime)
    assert math.exp(found.log_tau) == pytest.approx(expected, rel=1e-10)


@given(eta=st.floats(0, 2), terms=st.integers(1, 300))
def test_the_geometric_sum(eta: float, terms: int) -> None:
    exact = float(np.logaddexp.reduce(np.arange(terms) * eta))
    assert exact - 1e-12 <= log_geometric_sum(eta, terms)
    assert log_geometric_sum(eta, terms) == pytest.approx(exact, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize(
    "arguments",
    [
        (0, 0.1, -5.0, -5.0),
        (10, 0.0, -5.0, -5.0),
        (10, 500.1, -5.0, -5.0),
        (10, 0.1, 0.1, -5.0),
        (10, 0.1, -5.0, 0.0),
        (10, math.nan, -5.0, -5.0),
    ],
)
def test_the_pure_domain_is_checked(arguments: tuple[int, float, float, float]) -> None:
    with pytest.raises(InvalidArgument):
        pure_composition(*arguments)


@pytest.mark.parametrize(
    "arguments", [(10, 1.6, -20.0, -5.0, -5.0), (10, 0.5, math.log(0.011), -5.0, -5.0)]
)
def test_the_approximate_domain_is_checked(
    arguments: tuple[int, float, float, float, float],
) -> None:
    for compose in (
        approximate_composition,
        approximate_composition_printed,
        approximate_composition_bf1_printed,
    ):
        with pytest.raises(InvalidArgument):
            compose(*arguments)
