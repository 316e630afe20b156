"""Laws of the generalisation bound from total variation, and of subsamples that answer alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

from holdfast.errors import InvalidArgument, ToleranceTooTight
from holdfast.papers.theorems.notions import gaussian_tv_printed
from holdfast.papers.theorems.tv_generalisation import (
    gaussian_scale_for_expected_error,
    gaussian_scale_for_expected_error_printed,
    subsample_size,
    subsample_size_printed,
    tv_expected_error,
    tv_expected_error_printed,
    tv_least_expected_error,
)
from holdfast.theory.notions.distances import gaussian_tv

LAWS = (
    "gaussian_scale_for_expected_error",
    "gaussian_scale_for_expected_error_printed",
    "subsample_size",
    "tv_expected_error",
    "tv_least_expected_error",
)

ROWS = st.integers(1, 10**9)
LOG_DELTA = st.floats(-1000, 0)


@given(distance=st.floats(0, 1), n=ROWS, log_delta=LOG_DELTA)
def test_the_printed_bound_is_looser_by_at_most_sqrt_2(
    distance: float, n: int, log_delta: float
) -> None:
    sound = tv_expected_error(distance, n, log_delta)
    printed = tv_expected_error_printed(distance, n, log_delta)
    assert sound < printed < math.sqrt(2) * sound * (1 + 1e-12)


@given(n=ROWS, log_delta=LOG_DELTA)
def test_without_any_instability_the_least_error_remains(n: int, log_delta: float) -> None:
    least = tv_least_expected_error(n, log_delta)
    assert tv_expected_error(0.0, n, log_delta) == pytest.approx(least, rel=1e-14)


def _failure(p: float, n: int, radius: float) -> float:
    """P over n fair bits that |E_coins error| > radius, exactly.

    With probability p the interaction outputs the question 'equals the majority', else 'equals 1':
    one row moves its law by at most p, and its expected error is (1 - p)(m - 1/2) + p |m - 1/2|.
    """
    means = np.arange(n + 1) / n - 0.5
    errors = np.abs((1 - p) * means + p * np.abs(means))
    return float(binom.pmf(np.arange(n + 1), n, 0.5)[errors > radius].sum())


@pytest.mark.parametrize("delta", [0.05, 0.001])
@pytest.mark.parametrize("p", [0.0, 0.002])
def test_the_bound_holds_for_a_majority_question_and_a_smaller_radius_does_not(
    p: float, delta: float
) -> None:
    radius = tv_expected_error(p, 101, math.log(delta))
    assert radius < 0.5
    assert _failure(p, 101, radius) <= delta
    assert _failure(p, 101, 0.4 * radius) > delta


@given(
    n=st.integers(10**4, 10**9),
    k=st.integers(1, 10**6),
    tau=st.floats(0.3, 1),
    log_delta=st.floats(-500, 0),
)
def test_the_noise_makes_the_bound_tau_and_no_less_does(
    n: int, k: int, tau: float, log_delta: float
) -> None:
    s = gaussian_scale_for_expected_error(n, k, tau, log_delta)
    assert tv_expected_error(gaussian_tv(n, k, s), n, log_delta) <= tau * (1 + 1e-9)
    assert tv_expected_error(gaussian_tv(n, k, s * 0.99), n, log_delta) > tau


@given(n=st.integers(1, 10**7), log_delta=LOG_DELTA, share=st.floats(0.01, 1))
def test_what_is_impossible_is_refused_with_the_least_possible(
    n: int, log_delta: float, share: float
) -> None:
    least = tv_least_expected_error(n, log_delta)
    tau = share * min(1.0, least)
    with pytest.raises(ToleranceTooTight, match=f"not above {least:.6g}, the least"):
        gaussian_scale_for_expected_error(n, 10, tau, log_delta)


def test_just_above_the_least_is_possible() -> None:
    least = tv_least_expected_error(10_000, math.log(0.05))
    assert gaussian_scale_for_expected_error(10_000, 1, least * 1.001, math.log(0.05)) > 1
    assert gaussian_scale_for_expected_error(10_000, 1, 1.0, math.log(0.05)) < 1


@given(
    n=st.integers(1, 10**9), k=st.integers(1, 10**6), tau=st.floats(1e-3, 1), log_delta=LOG_DELTA
)
def test_the_printed_noise_is_sound_where_its_condition_holds(
    n: int, k: int, tau: float, log_delta: float
) -> None:
    s = gaussian_scale_for_expected_error_printed(n, k, tau, log_delta)
    if s < math.inf:
        assert tv_expected_error_printed(gaussian_tv(n, k, s), n, log_delta) <= tau * (1 + 1e-12)
        assert gaussian_scale_for_expected_error(n, k, tau, log_delta) <= s * (1 + 1e-12)


def test_sigma_below_one_is_not_enough_for_the_printed_step() -> None:
    """k = 1, sigma = .9: solving the printed last line for sigma misses the printed first line."""
    n, s, log_delta = 10_000, 0.9, math.log(0.05)
    root = math.sqrt(math.log(40) / n)
    tau = (1 / n + 3 * root) / (math.sqrt(2 * math.pi) * s)
    assert tv_expected_error_printed(gaussian_tv_printed(n, 1, s), n, log_delta) > tau
    assert gaussian_scale_for_expected_error_printed(n, 1, tau, log_delta) == math.inf


@pytest.mark.parametrize(("k", "alpha"), [(1, 0.3), (4, 0.4), (10, 0.5)])
def test_a_subsample_of_that_size_exists(k: int, alpha: float) -> None:
    """Seeded sets of k questions on 12 rows: some multiset of n' rows answers all within alpha."""
    rows, size = 12, subsample_size(k, alpha)
    generator = np.random.default_rng(5)
    for _ in range(20):
        table = generator.integers(0, 2, size=(k, rows))
        draws = generator.integers(0, rows, size=(2_000, size))
        errors = np.abs(table[:, draws].mean(axis=2) - table.mean(axis=1)[:, None]).max(axis=0)
        assert errors.min() <= alpha


@given(k=st.integers(1, 10**6), alpha=st.floats(1e-6, 1))
def test_a_subsample_is_just_large_enough(k: int, alpha: float) -> None:
    size = subsample_size(k, alpha)
    assert math.log(2 * k) - 2 * size * alpha**2 < 0
    assert math.log(2 * k) - 2 * (size - 1) * alpha**2 > -1e-9
    assert size <= subsample_size_printed(k, alpha)


def test_arguments_are_checked() -> None:
    for wrong in (
        lambda: tv_expected_error(1.5, 10, -1.0),
        lambda: tv_expected_error(0.5, 0, -1.0),
        lambda: gaussian_scale_for_expected_error(10, 1, 0.0, -1.0),
        lambda: gaussian_scale_for_expected_error_printed(0, 1, 0.5, -1.0),
        lambda: subsample_size(0, 0.1),
        lambda: subsample_size_printed(5, 0.0),
    ):
        with pytest.raises(InvalidArgument):
            wrong()
