"""Laws and coverage of the baselines."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.baselines import (
    bonferroni_half_width,
    one_look_half_width,
    sample_splitting_binomial_half_width,
    sample_splitting_half_width,
)
from holdfast.theory.base.safeside import largest_integer

LAWS = (
    "bonferroni_half_width",
    "sample_splitting_binomial_half_width",
    "sample_splitting_half_width",
)

ROWS = st.integers(1, 10**9)
LOG_BETA = st.floats(-1000, 0)
HalfWidth = Callable[[int, int, float], float]


@pytest.mark.parametrize(
    ("half_width", "reach"),
    [
        (
            sample_splitting_half_width,
            ((8, 28), (63, 219), (504, 1_788), (4_158, 15_012)),
        ),
        (
            sample_splitting_binomial_half_width,
            ((12, 40), (84, 288), (643, 2_227), (5_154, 18_512)),
        ),
    ],
)
def test_reach_is_that_of_the_published_table(
    half_width: HalfWidth, reach: tuple[tuple[int, int], ...]
) -> None:
    """Largest k at half-width .05 and .1, beta = .05, n = 1e4 ... 1e7."""
    for n, row in zip((10**4, 10**5, 10**6, 10**7), reach, strict=True):
        for tolerance, k in zip((0.05, 0.1), row, strict=True):
            assert abs(_reach(half_width, n, tolerance) - k) <= 0.01 * k


def _reach(half_width: HalfWidth, n: int, tolerance: float) -> int:
    return largest_integer(lambda k: half_width(n, k, math.log(0.05)) <= tolerance, most=n)


@given(n=ROWS, log_beta=LOG_BETA)
def test_with_one_question_all_are_the_same(n: int, log_beta: float) -> None:
    one_look = one_look_half_width(n, log_beta)
    assert sample_splitting_half_width(n, 1, log_beta) == one_look
    assert bonferroni_half_width(n, 1, log_beta) == one_look


@given(n=ROWS, k=st.integers(1, 10**9), log_beta=LOG_BETA)
def test_the_floor_is_between_one_look_and_splitting(n: int, k: int, log_beta: float) -> None:
    floor = bonferroni_half_width(n, k, log_beta)
    assert one_look_half_width(n, log_beta) <= floor
    assert floor <= sample_splitting_half_width(n, k, log_beta)


@given(n=st.integers(1, 10**9), k=st.integers(1, 10**4), log_beta=LOG_BETA)
def test_binomial_quantiles_are_never_above_hoeffding(n: int, k: int, log_beta: float) -> None:
    binomial = sample_splitting_binomial_half_width(n, k, log_beta)
    # A half-width below 1/(2m) holds only outcomes that are exactly 1/2.
    at_least_one_outcome = 0.5 / (n // k) if n >= k else math.inf
    assert binomial <= max(sample_splitting_half_width(n, k, log_beta), at_least_one_outcome)


@given(m=st.integers(1, 400), k=st.integers(1, 20), log_beta=st.floats(-30, -1e-6))
def test_the_binomial_half_width_is_the_least_that_holds(m: int, k: int, log_beta: float) -> None:
    """By summing the whole binomial law; one lattice step less fails."""
    half_width = sample_splitting_binomial_half_width(m * k, k, log_beta)
    outcomes = np.arange(m + 1)
    distances = np.abs(2 * outcomes - m) / (2 * m)
    mass = binom.pmf(outcomes, m, 0.5)
    share = math.exp(log_beta) / k
    assert mass[distances > half_width].sum() <= share * (1 + 1e-9)
    if half_width > 1 / m:
        assert mass[distances > half_width - 0.75 / m].sum() > share * (1 - 1e-9)


@pytest.mark.parametrize("log_beta", [-600.0, -1000.0])
@pytest.mark.parametrize("m", [2_000, 4_001, 100_000])
def test_far_out_the_binomial_tail_is_right_to_one_lattice_step(m: int, log_beta: float) -> None:
    """Against exact integers: the sum of binomial coefficients over 2^m."""
    half_width = sample_splitting_binomial_half_width(m, 1, log_beta)
    x = round(half_width * m + m / 2)
    target = log_beta - math.log(2)

    def log_tail(x: int) -> float:
        mass = total = math.comb(m, x + 1)
        for j in range(x + 1, m):
            mass = mass * (m - j) // (j + 1)
            total += mass
            if mass * 10**6 < total:
                break
        return math.log(total) - m * math.log(2)

    assert log_tail(x) <= target + 1e-5
    assert log_tail(x - 2) > target


def test_less_than_one_row_for_a_question_is_infinite() -> None:
    assert sample_splitting_half_width(10, 11, -1.0) == math.inf
    assert sample_splitting_binomial_half_width(10, 11, -1.0) == math.inf


def _fails(trials: int, m: int, k: int, half_width: float, seed: int) -> int:
    """How often any of k fresh means of m fair bits is outside the half-width."""
    sums = np.random.default_rng(seed).binomial(m, 0.5, size=(trials, k))
    # In whole numbers: a mean at the end of the interval is inside.
    outside = np.abs(2 * sums - m) > 2 * m * half_width * (1 + 1e-12)
    return int(outside.any(axis=1).sum())


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("half_width", "sabotage"),
    [(sample_splitting_binomial_half_width, 0.9), (sample_splitting_half_width, 0.7)],
)
@pytest.mark.parametrize(("beta", "trials"), [(0.05, 40_000), (0.001, 400_000)])
def test_coverage_of_sample_splitting(
    half_width: HalfWidth, sabotage: float, beta: float, trials: int
) -> None:
    """Fair bits are where the binomial form is tight; the shrunken half-width must fail."""
    m, k = 400, 5
    radius = half_width(m * k, k, math.log(beta))
    threshold = binom.isf(1e-9, trials, beta)
    assert _fails(trials, m, k, radius, seed=11) <= threshold
    assert _fails(trials, m, k, sabotage * radius, seed=11) > threshold


@pytest.mark.statistical
def test_one_look_does_not_hold_for_a_second_look() -> None:
    """Forty fixed questions, each with the interval of one look: far more than beta fail."""
    beta, trials, n, k = 0.05, 20_000, 400, 40
    threshold = binom.isf(1e-9, trials, beta)
    radius = one_look_half_width(n, math.log(beta))
    assert _fails(trials, n, 1, radius, seed=2) <= threshold
    assert _fails(trials, n, k, radius, seed=2) > threshold
    assert _fails(trials, n, k, bonferroni_half_width(n, k, math.log(beta)), seed=2) <= threshold


def test_arguments_are_checked() -> None:
    wrongs: list[Callable[[], object]] = [
        lambda: sample_splitting_half_width(0, 1, -1.0),
        lambda: sample_splitting_binomial_half_width(10, 0, -1.0),
        lambda: bonferroni_half_width(10, 1, 0.5),
        lambda: one_look_half_width(10, math.nan),
    ]
    for wrong in wrongs:
        with pytest.raises(InvalidArgument):
            wrong()
