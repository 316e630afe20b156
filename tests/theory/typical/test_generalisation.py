"""Near independence is attained, needs no hypotheses, and beats both printed forms."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.printed import (
    generalisation_bf1_printed,
    generalisation_printed,
    near_independence_bf1_printed,
    near_independence_printed,
)
from holdfast.theory.typical.generalisation import generalisation, near_independence

LOG = st.floats(-1000, 0) | st.just(-math.inf)
SMALL = st.floats(-1000, math.log(0.0999))


@pytest.mark.parametrize("eta", [0.0, 0.7, 3.0])
def test_near_independence_is_attained_in_a_tiny_world(eta: float) -> None:
    # 100 samples, 5 of them untypical. Answers are sample names or "none". The event: the answer
    # names the sample (or, for an untypical one, says anything at all that the oracle never says).
    n, untypical, tau, named = 100, 5, 0.02, 0.004
    typical = n - untypical
    oracle_names_x = named  # W names each typical sample with this probability
    assert typical * oracle_names_x <= 1
    joint = (typical * (math.exp(eta) * oracle_names_x + tau) + untypical * 1.0) / n
    product = typical * oracle_names_x / n
    bound = near_independence(math.log(product), eta, math.log(tau), math.log(untypical / n))
    assert joint <= math.exp(bound)
    assert math.exp(bound) == pytest.approx(joint, rel=1e-12)


@given(log_p=LOG, eta=st.floats(0, 0.999), log_tau=LOG, log_nu=SMALL)
def test_never_looser_than_printed(log_p: float, eta: float, log_tau: float, log_nu: float) -> None:
    exact = near_independence(log_p, eta, log_tau, log_nu)
    first = near_independence_bf1_printed(log_p, eta, log_tau, log_nu)
    second = near_independence_printed(log_p, eta, log_tau, log_nu)
    assert exact <= first <= second


@given(eta=st.floats(0, 50), log_tau=LOG, log_nu=LOG)
def test_generalisation_never_looser_than_printed_without_hypotheses(
    eta: float, log_tau: float, log_nu: float
) -> None:
    exact = generalisation(log_nu, eta, log_tau, log_nu)
    assert exact <= generalisation_bf1_printed(log_nu, eta, log_tau)
    assert exact <= generalisation_printed(eta, log_tau, log_nu)


@given(log_p=st.floats(-1000, -1e-9))
def test_perfect_stability_costs_nothing(log_p: float) -> None:
    bound = near_independence(log_p, 0.0, -math.inf, -math.inf)
    assert log_p <= bound <= log_p + 1e-12
    assert near_independence(-math.inf, 5.0, -math.inf, -math.inf) == -math.inf


@given(log_p=LOG, eta=st.floats(0, 50), log_tau=LOG)
def test_certain_failure_stays_certain(log_p: float, eta: float, log_tau: float) -> None:
    assert near_independence(log_p, eta, log_tau, 0.0) == 0.0
    assert near_independence(0.0, eta, log_tau, -10.0) == 0.0


@pytest.mark.parametrize(("eta", "log_nu"), [(1.0, -9.0), (0.5, math.log(0.1))])
def test_printed_forms_ask_for_their_hypotheses(eta: float, log_nu: float) -> None:
    for printed in (near_independence_bf1_printed, near_independence_printed):
        with pytest.raises(InvalidArgument):
            printed(-5.0, eta, -5.0, log_nu)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.1])
def test_logs_of_probabilities_are_checked(bad: float) -> None:
    with pytest.raises(InvalidArgument):
        near_independence(bad, 0.5, -5.0, -5.0)
    with pytest.raises(InvalidArgument):
        generalisation(-5.0, 0.5, bad, -5.0)
