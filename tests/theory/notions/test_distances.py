"""Laws of the exact distances and of the noise that reaches them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.notions import (
    advanced_composition_printed,
    gaussian_scale_for_tv,
    gaussian_scale_for_zcdp,
    gaussian_tv_printed,
    laplace_log_tail,
    laplace_scale_for_dp,
    laplace_scale_for_tv,
    zcdp_to_approx_dp,
)
from holdfast.theory.notions.arrows import (
    gdp_to_approx_dp,
    gdp_to_zcdp,
    pure_dp_to_tv,
    pure_dp_to_zcdp,
)
from holdfast.theory.notions.composing import GDP, PureDP
from holdfast.theory.notions.distances import (
    advanced_composition,
    advanced_composition_of,
    gaussian_answers,
    gaussian_scale_for_approx_dp,
    gaussian_tv,
    laplace_tv,
)

LAWS = (
    "advanced_composition",
    "advanced_composition_of",
    "gaussian_answers",
    "gaussian_scale_for_approx_dp",
    "gaussian_scale_for_tv",
    "gaussian_scale_for_zcdp",
    "gaussian_tv",
    "laplace_log_tail",
    "laplace_scale_for_dp",
    "laplace_scale_for_tv",
    "laplace_tv",
)

ROWS = st.integers(1, 10**7)
COUNT = st.integers(1, 10**6)
SCALE = st.floats(1e-6, 10)


def _total_variation(density: Callable[[Any], Any], shift: float, crossing: float) -> float:
    """int of (density(x - shift) - density(x))_+ from the crossing point up."""
    with mpmath.workdps(30):
        ends = [crossing, shift, *(shift + 2**j for j in range(8))]
        return float(mpmath.quad(lambda x: density(x - shift) - density(x), ends))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0])
def test_laplace_distance_is_the_integral(epsilon: float) -> None:
    exact = _total_variation(lambda y: mpmath.exp(-abs(y)) / 2, epsilon, epsilon / 2)
    assert laplace_tv(epsilon) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("n", "s"), [(100, 0.1), (1000, 0.001), (50, 0.01)])
def test_gaussian_distance_is_the_integral(n: int, s: float) -> None:
    shift = 1 / (n * s)
    assert gaussian_tv(n, 1, s) == pytest.approx(
        _total_variation(mpmath.npdf, shift, shift / 2), rel=1e-12
    )


def test_k_gaussian_answers_are_told_apart_exactly_that_well() -> None:
    """The best test of k answers that all move by 1/n, on 400,000 seeded transcripts of each."""
    n, k, s, trials = 100, 9, 0.03, 400_000
    noise = np.random.default_rng(7).normal(0, s, size=(2, trials, k))
    is_moved = (noise + np.array([0, 1 / n])[:, None, None]).sum(axis=2) > k / (2 * n)
    advantage = is_moved[1].mean() - is_moved[0].mean()
    assert advantage == pytest.approx(gaussian_tv(n, k, s), abs=6 / math.sqrt(trials))
    assert abs(advantage - gaussian_tv_printed(n, k, s)) > 100 / math.sqrt(trials)


@given(n=ROWS, k=COUNT, s=SCALE)
def test_the_exact_gaussian_distance_is_below_the_printed_one(n: int, k: int, s: float) -> None:
    assert gaussian_tv(n, k, s) <= gaussian_tv_printed(n, k, s) * (1 + 1e-14)


@given(n=ROWS, k=st.integers(1, 100), s=SCALE)
def test_k_answers_are_k_single_answers_composed(n: int, k: int, s: float) -> None:
    single = gaussian_answers(n, 1, s)
    together = gaussian_answers(n, k, s)
    assert single.compose(*[single] * (k - 1)).mu == pytest.approx(together.mu, rel=1e-13)
    assert gdp_to_zcdp(together).rho == pytest.approx(k / (2 * n**2 * s**2), rel=1e-13)


@given(epsilon=st.floats(0, 100))
def test_laplace_is_no_worse_than_the_worst_dp_step(epsilon: float) -> None:
    assert laplace_tv(epsilon) <= pure_dp_to_tv(PureDP(epsilon)).distance * (1 + 1e-12) + 1e-300


@given(n=ROWS, k=COUNT, distance=st.floats(1e-9, 0.999))
def test_gaussian_scale_reaches_the_distance_and_no_less_does(
    n: int, k: int, distance: float
) -> None:
    s = gaussian_scale_for_tv(n, k, distance)
    assert gaussian_tv(n, k, s) <= distance * (1 + 1e-14)
    assert gaussian_tv(n, k, s * 0.999) > distance


@given(n=ROWS, k=COUNT, rho=st.floats(1e-6, 1e3))
def test_gaussian_scale_reaches_zcdp(n: int, k: int, rho: float) -> None:
    s = gaussian_scale_for_zcdp(n, k, rho)
    assert gdp_to_zcdp(gaussian_answers(n, k, s)).rho == pytest.approx(rho, rel=1e-12)


@given(n=ROWS, k=COUNT, epsilon=st.floats(0, 30), log_delta=st.floats(-600, -1e-3))
def test_gaussian_scale_reaches_approximate_dp_and_no_less_does(
    n: int, k: int, epsilon: float, log_delta: float
) -> None:
    s = gaussian_scale_for_approx_dp(n, k, epsilon, log_delta)
    assert gdp_to_approx_dp(gaussian_answers(n, k, s), epsilon).log_delta <= log_delta + 1e-9
    smaller = gdp_to_approx_dp(gaussian_answers(n, k, s * 0.999), epsilon)
    assert smaller.log_delta > log_delta


def test_noise_beyond_the_floats_is_infinite_and_delta_one_is_refused() -> None:
    assert gaussian_scale_for_approx_dp(1, 1, 0.0, -1000.0) == math.inf
    with pytest.raises(InvalidArgument, match="log_delta is 0"):
        gaussian_scale_for_approx_dp(1, 1, 1.0, 0.0)


@given(distance=st.floats(1e-9, 0.999), sensitivity=st.floats(1e-6, 1e3))
def test_laplace_scale_reaches_the_distance(distance: float, sensitivity: float) -> None:
    b = laplace_scale_for_tv(distance, sensitivity)
    assert laplace_tv(sensitivity / b) == pytest.approx(distance, rel=1e-9)


@given(epsilon=st.floats(1e-3, 1e3), sensitivity=st.floats(1e-3, 1e3), x=st.floats(0, 100))
def test_laplace_tail_is_that_of_the_scale(epsilon: float, sensitivity: float, x: float) -> None:
    b = laplace_scale_for_dp(epsilon, sensitivity)
    assert laplace_log_tail(x * b, epsilon, sensitivity) == pytest.approx(-x, rel=1e-12, abs=1e-300)


def test_laplace_noise_has_that_tail() -> None:
    epsilon, sensitivity, D, trials = 0.5, 0.01, 0.05, 400_000
    scale = laplace_scale_for_dp(epsilon, sensitivity)
    noise = np.random.default_rng(3).laplace(0, scale, size=trials)
    tail = math.exp(laplace_log_tail(D, epsilon, sensitivity))
    assert (np.abs(noise) > D).mean() == pytest.approx(tail, abs=6 / math.sqrt(4 * trials))


@given(
    epsilons=st.lists(st.floats(0, 3), min_size=1, max_size=10),
    log_delta=st.floats(-1000, 0),
    data=st.data(),
)
def test_advanced_composition_does_not_depend_on_the_order(
    epsilons: list[float], log_delta: float, data: st.DataObject
) -> None:
    steps = [PureDP(epsilon) for epsilon in epsilons]
    shuffled = data.draw(st.permutations(steps))
    assert advanced_composition_of(steps, log_delta) == advanced_composition_of(shuffled, log_delta)


@given(epsilon=st.floats(0, 3), k=st.integers(1, 200), log_delta=st.floats(-1000, 0))
def test_advanced_composition_of_k_copies_is_that_of_a_list(
    epsilon: float, k: int, log_delta: float
) -> None:
    copies = advanced_composition(PureDP(epsilon), k, log_delta)
    listed = advanced_composition_of([PureDP(epsilon)] * k, log_delta)
    assert copies.epsilon == pytest.approx(listed.epsilon, rel=1e-12, abs=1e-300)
    assert copies.log_delta == log_delta


@given(epsilon=st.floats(0, 800), k=COUNT, log_delta=st.floats(-1000, 0))
def test_advanced_composition_is_below_the_printed_and_below_the_basic_one(
    epsilon: float, k: int, log_delta: float
) -> None:
    sharp = advanced_composition(PureDP(epsilon), k, log_delta).epsilon * (1 - 1e-14)
    assert sharp <= advanced_composition_printed(PureDP(epsilon), k, log_delta) + 1e-300
    assert sharp <= PureDP(epsilon).repeated(k).epsilon + 1e-300


def test_advanced_composition_beats_zcdp_only_a_little() -> None:
    """Both bound the same privacy loss: they must agree to first order."""
    step, k, log_delta = PureDP(0.01), 1000, math.log(1e-6)
    through_zcdp = zcdp_to_approx_dp(pure_dp_to_zcdp(step).repeated(k), log_delta)
    assert advanced_composition(step, k, log_delta).epsilon == pytest.approx(
        through_zcdp.epsilon, rel=1e-4
    )


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 20), (0.5, 20), (0.3, 60)])
def test_advanced_composition_holds_for_randomised_response(epsilon: float, k: int) -> None:
    """The worst step there is: the exact delta of k of them, by summing over their outcomes."""
    p = 1 / (1 + math.exp(-epsilon))
    for log_delta in (math.log(1e-3), math.log(1e-6)):
        promised = advanced_composition(PureDP(epsilon), k, log_delta).epsilon
        exact = math.fsum(
            math.comb(k, j)
            * max(
                0.0,
                p ** (k - j) * (1 - p) ** j - math.exp(promised) * p**j * (1 - p) ** (k - j),
            )
            for j in range(k + 1)
        )
        assert exact <= math.exp(log_delta)


def test_arguments_are_checked() -> None:
    for wrong in (
        lambda: gaussian_answers(0, 1, 1.0),
        lambda: gaussian_answers(10, 1, 0.0),
        lambda: gaussian_scale_for_tv(10, 1, 1.0),
        lambda: laplace_log_tail(-1.0, 1.0, 1.0),
        lambda: advanced_composition_of([], -1.0),
    ):
        with pytest.raises(InvalidArgument):
            wrong()


def test_only_rows_times_noise_matters() -> None:
    assert (
        gaussian_answers(10, 1, 0.2)
        == gaussian_answers(20, 1, 0.1)
        == GDP(gaussian_answers(1, 1, 2.0).mu)
    )
