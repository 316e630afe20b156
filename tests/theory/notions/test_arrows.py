"""Laws of the arrows: exact where they say so, consistent with one another, never optimistic."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.notions import (
    approx_dp_to_tv,
    approx_dp_to_tv_printed,
    pure_dp_to_approx_dp,
    pure_dp_to_tv_printed,
    zcdp_of_gaussians_to_gdp,
    zcdp_to_approx_dp,
)
from holdfast.theory.notions.arrows import (
    gdp_to_approx_dp,
    gdp_to_tv,
    gdp_to_zcdp,
    pure_dp_to_tv,
    pure_dp_to_zcdp,
    zcdp_to_approx_dp_sharp,
)
from holdfast.theory.notions.composing import GDP, ZCDP, ApproxDP, PureDP

LAWS = (
    "approx_dp_to_tv",
    "approx_dp_to_tv_printed",
    "gdp_to_approx_dp",
    "gdp_to_tv",
    "pure_dp_to_tv",
    "zcdp_of_gaussians_to_gdp",
    "zcdp_to_approx_dp_sharp",
)

EPSILON = st.floats(0, 50)
LOG_DELTA = st.floats(-1000, 0)


@given(epsilon=EPSILON)
def test_randomised_response_attains_the_distance_of_pure_dp(epsilon: float) -> None:
    bound = pure_dp_to_tv(PureDP(epsilon)).distance
    with mpmath.workdps(60):
        lie = mpmath.exp(-mpmath.mpf(epsilon))  # as against the truth
        attained = -mpmath.expm1(-mpmath.mpf(epsilon)) / (1 + lie)
        assert attained <= bound <= attained * (1 + mpmath.mpf(1e-14)) + mpmath.mpf(1e-300)


@given(epsilon=EPSILON, delta=st.floats(0, 1))
def test_a_leak_before_randomised_response_attains_the_distance_of_approximate_dp(
    epsilon: float, delta: float
) -> None:
    truth = 1 / (1 + math.exp(-epsilon))
    attained = delta + (1 - delta) * (2 * truth - 1)
    step = ApproxDP(epsilon, math.log(delta) if delta else -math.inf)
    assert approx_dp_to_tv(step).distance == pytest.approx(attained, rel=1e-12)


@given(epsilon=EPSILON, log_delta=LOG_DELTA, more=st.floats(0, 5))
def test_the_distance_of_approximate_dp_grows_with_both_parameters(
    epsilon: float, log_delta: float, more: float
) -> None:
    here = approx_dp_to_tv(ApproxDP(epsilon, log_delta)).distance
    assert here <= approx_dp_to_tv(ApproxDP(epsilon + more, log_delta)).distance * (1 + 1e-15)
    assert here <= approx_dp_to_tv(ApproxDP(epsilon, min(0.0, log_delta + more))).distance


@given(epsilon=st.floats(0, 800), log_delta=LOG_DELTA | st.just(-math.inf))
def test_exact_distances_are_below_the_printed_ones(epsilon: float, log_delta: float) -> None:
    exact = pure_dp_to_tv(PureDP(epsilon)).distance
    assert exact <= pure_dp_to_tv_printed(PureDP(epsilon)) * (1 + 1e-15) + 1e-300
    step = ApproxDP(epsilon, log_delta)
    assert approx_dp_to_tv(step).distance <= approx_dp_to_tv_printed(step) * (1 + 1e-15) + 1e-300
    assert approx_dp_to_tv(pure_dp_to_approx_dp(PureDP(epsilon))).distance == pytest.approx(exact)


def test_the_printed_distance_exceeds_one_beyond_ln_3() -> None:
    assert pure_dp_to_tv_printed(PureDP(math.log(3) + 1e-9)) > 1
    assert pure_dp_to_tv(PureDP(math.log(3))).distance == pytest.approx(0.5)


def test_the_printed_step_to_half_of_y_is_false_and_the_exact_one_true() -> None:
    for y in (1e-3, 0.1, 1.0):
        assert pure_dp_to_tv_printed(PureDP(y)) > y / 2 > pure_dp_to_tv(PureDP(y)).distance


def _exact_curve(mu: float, epsilon: float) -> mpmath.mpf:
    """delta(epsilon) by integrating the hockey stick of N(mu, 1) against N(0, 1)."""
    with mpmath.workdps(40):
        crossing = mpmath.mpf(epsilon) / mu + mpmath.mpf(mu) / 2
        ends = [crossing + step / (1 + crossing) for step in (0, 1, 2, 4, 8, 16, 40, 100)]
        return mpmath.quad(
            lambda x: mpmath.npdf(x, mu) - mpmath.exp(epsilon) * mpmath.npdf(x), ends
        )


@pytest.mark.parametrize("mu", [0.05, 0.3, 1.0, 2.5, 6.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 0.2, 1.0, 3.0, 10.0])
def test_the_curve_is_the_integral_of_the_hockey_stick(mu: float, epsilon: float) -> None:
    curve = gdp_to_approx_dp(GDP(mu), epsilon).log_delta
    assert curve == pytest.approx(float(mpmath.log(_exact_curve(mu, epsilon))), abs=1e-9)


@given(log_mu=st.floats(-30, 3), epsilon=st.floats(0, 40))
def test_the_curve_is_never_below_the_closed_form(log_mu: float, epsilon: float) -> None:
    mu = math.exp(log_mu)
    with mpmath.workdps(2500 if epsilon / mu > 60 else 60):
        first = mpmath.ncdf(mpmath.mpf(mu) / 2 - mpmath.mpf(epsilon) / mu)
        second = mpmath.ncdf(-mpmath.mpf(mu) / 2 - mpmath.mpf(epsilon) / mu)
        exact = mpmath.log(first - mpmath.exp(epsilon) * second)
        curve = gdp_to_approx_dp(GDP(mu), epsilon).log_delta
        assert exact <= curve <= exact + abs(exact) * 1e-12 + 1e-6


@given(mu=st.floats(0, 30))
def test_the_curve_at_zero_is_the_total_variation_distance(mu: float) -> None:
    at_zero = gdp_to_approx_dp(GDP(mu), 0.0)
    distance = gdp_to_tv(GDP(mu)).distance
    assert at_zero.delta == pytest.approx(distance, rel=1e-12)
    assert approx_dp_to_tv(at_zero).distance == pytest.approx(distance, rel=1e-12)


@given(mu=st.floats(1e-3, 5), epsilon=st.floats(0, 20))
def test_a_point_of_the_curve_never_gives_a_smaller_distance(mu: float, epsilon: float) -> None:
    through_dp = approx_dp_to_tv(gdp_to_approx_dp(GDP(mu), epsilon)).distance
    assert gdp_to_tv(GDP(mu)).distance <= through_dp * (1 + 1e-12)


@pytest.mark.parametrize("arrow", [zcdp_to_approx_dp, zcdp_to_approx_dp_sharp])
@given(mu=st.floats(1e-4, 10), log_delta=LOG_DELTA)
def test_zcdp_gives_no_more_than_the_exact_gaussian_curve(
    arrow: Callable[[ZCDP, float], ApproxDP], mu: float, log_delta: float
) -> None:
    through_zcdp = arrow(gdp_to_zcdp(GDP(mu)), log_delta)
    exact = gdp_to_approx_dp(GDP(mu), through_zcdp.epsilon)
    assert exact.log_delta <= log_delta + 1e-9


@given(rho=st.floats(0, 50), log_delta=LOG_DELTA)
def test_the_sharp_arrow_is_never_above_the_plain_one(rho: float, log_delta: float) -> None:
    sharp = zcdp_to_approx_dp_sharp(ZCDP(rho), log_delta)
    plain = zcdp_to_approx_dp(ZCDP(rho), log_delta)
    assert sharp.epsilon <= plain.epsilon
    assert sharp.log_delta == plain.log_delta == log_delta


@given(mu=st.floats(1e-6, 1e3))
def test_gdp_to_zcdp_and_back_is_the_same_for_gaussians(mu: float) -> None:
    assert zcdp_of_gaussians_to_gdp(gdp_to_zcdp(GDP(mu))).mu == pytest.approx(mu, rel=1e-14)


@given(mus=st.lists(st.floats(0, 5), min_size=1, max_size=6))
def test_composing_and_converting_gaussians_commute(mus: list[float]) -> None:
    first, *rest = (GDP(mu) for mu in mus)
    converted, *others = (gdp_to_zcdp(step) for step in (first, *rest))
    there = gdp_to_zcdp(first.compose(*rest)).rho
    assert converted.compose(*others).rho == pytest.approx(there, rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("order", [1.01, 2.0, 8.0, 64.0])
def test_randomised_response_is_within_its_zcdp_bound(epsilon: float, order: float) -> None:
    p = 1 / (1 + math.exp(-epsilon))
    renyi = math.log(p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order))
    assert renyi / (order - 1) <= order * pure_dp_to_zcdp(PureDP(epsilon)).rho


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="log_delta"):
        zcdp_to_approx_dp(ZCDP(0.1), 0.5)
    with pytest.raises(InvalidArgument, match="epsilon"):
        gdp_to_approx_dp(GDP(1.0), -1.0)


def test_far_outside_the_floats_the_curve_stays_finite() -> None:
    assert gdp_to_approx_dp(GDP(0.0), 1.0).log_delta == -math.inf
    assert gdp_to_approx_dp(GDP(1e-160), 1e-10).log_delta < -1e290
    assert gdp_to_approx_dp(GDP(1e-300), 1.0).log_delta < -1e290
    assert gdp_to_approx_dp(GDP(1e300), 1.0).log_delta == 0
