"""The published half-widths: the table of how far they reach, and the laws of their minima."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from scipy.special import erfcinv

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.baselines import bonferroni_half_width
from holdfast.papers.theorems.published import (
    bassily_2016_half_width,
    dwork_2015_half_width,
    jung_2020_half_width,
    ladder_best_score_half_width,
    rogers_2020_check_log_level,
    rogers_2020_guess_and_check_half_width,
    russo_zou_half_width,
)
from holdfast.theory.base.safeside import largest_integer

LAWS = (
    "bassily_2016_half_width",
    "dwork_2015_half_width",
    "jung_2020_half_width",
    "rogers_2020_check_log_level",
    "russo_zou_half_width",
)

LOG_05 = math.log(0.05)
HalfWidth = Callable[[int, int, float], float]
REACH: list[tuple[HalfWidth, tuple[tuple[int, int], ...]]] = [
    (dwork_2015_half_width, ((0, 0), (0, 0), (1, 30), (83, 1_991))),
    (bassily_2016_half_width, ((0, 0), (2, 29), (161, 2_271), (12_720, 183_296))),
    (russo_zou_half_width, ((0, 2), (16, 263), (1_533, 21_216), (120_032, 1_664_512))),
    (jung_2020_half_width, ((0, 2), (11, 153), (834, 11_644), (65_504, 934_400))),
]
ALL: list[HalfWidth] = [
    *(half_width for half_width, _ in REACH),
    ladder_best_score_half_width,
    rogers_2020_guess_and_check_half_width,
]


@pytest.mark.parametrize(("half_width", "reach"), REACH)
def test_reach_is_that_of_the_published_table(
    half_width: HalfWidth, reach: tuple[tuple[int, int], ...]
) -> None:
    """Largest k at half-width .05 and .1, beta = .05, n = 1e4 ... 1e7, within 0.1 %."""
    for n, row in zip((10**4, 10**5, 10**6, 10**7), reach, strict=True):
        for tolerance, k in zip((0.05, 0.1), row, strict=True):
            assert abs(_reach(half_width, n, tolerance) - k) <= 0.001 * k


def _reach(half_width: HalfWidth, n: int, tolerance: float) -> int:
    return largest_integer(lambda k: half_width(n, k, LOG_05) <= tolerance, most=10**9)


@pytest.mark.parametrize("half_width", ALL)
@pytest.mark.parametrize("log_beta", [0.0, -1e-9, LOG_05, -1000.0, -1e5])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 10**9), (10**15, 1), (10**12, 10**9)])
def test_total(half_width: HalfWidth, n: int, k: int, log_beta: float) -> None:
    assert half_width(n, k, log_beta) > 0


@pytest.mark.parametrize("half_width", [half_width for half_width, _ in REACH])
@given(n=st.integers(1, 10**9), k=st.integers(1, 10**9), log_beta=st.floats(-50, -1e-3))
def test_none_is_below_the_floor_of_fixed_questions(
    half_width: HalfWidth, n: int, k: int, log_beta: float
) -> None:
    assert half_width(n, k, log_beta) > bonferroni_half_width(n, k, log_beta)


@pytest.mark.parametrize(("n", "k"), [(10**5, 30), (10**6, 3_000)])
def test_jung_is_the_minimum_of_its_formula(n: int, k: int) -> None:
    """Against a simplex search on the formula as it is written, from two starting points."""

    def formula(point: tuple[float, float]) -> float:
        R, delta = math.exp(point[0]), math.exp(point[1])
        if not 0 < delta < 1 or R > 10:
            return math.inf
        plain = R + 2 * math.sqrt(R * math.log(1 / delta))
        inside = math.log(math.sqrt(math.pi * R) / delta)
        epsilon = min(plain, R + 2 * math.sqrt(R * inside)) if inside > 0 else plain
        noise = math.sqrt(k / R) * float(erfcinv(delta / k)) / n
        return math.exp(epsilon) - 1 + 6 * delta / 0.05 + noise

    best = min(
        minimize(formula, start, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}).fun
        for start in ((-6, -9), (-9, -12))
    )
    assert jung_2020_half_width(n, k, LOG_05) == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize(("n", "k"), [(10**5, 30), (10**6, 3_000), (10**4, 1)])
def test_russo_zou_is_the_minimum_of_its_formula(n: int, k: int) -> None:
    """Against a grid on the formula as it is written, in the noise s and the inner l."""
    best = math.inf
    for step in range(400):
        s = math.exp(-12 + step * 0.03)
        information = k / (2 * n * s * s)
        inner = min(
            (2 * information - math.log1p(-share / 1000)) / (share / 1000)
            for share in range(1, 1000)
        )
        width = math.sqrt(inner / (2 * n * 0.05)) + s * math.sqrt(2 * math.log(4 * k / 0.05))
        best = min(best, width)
    found = russo_zou_half_width(n, k, LOG_05)
    assert found <= best <= found * 1.001


def test_the_levels_of_all_transcripts_sum_to_seven_tenths_of_beta() -> None:
    """Each round i and count f: C(i - 1, f) placements, with every rounded outcome.

    (6/pi^2)^2 times the sum of 1/(i^2 (f + 1)^2) over f < i is (1 + 2/5)/2.
    """
    log_outcomes = math.log(20)
    total = math.fsum(
        math.exp(
            math.log(math.comb(i - 1, f))
            + f * log_outcomes
            + rogers_2020_check_log_level(i, f, f * log_outcomes, LOG_05)
        )
        for i in range(1, 200)
        for f in range(i)
    )
    assert 0.69 * 0.05 < total < 0.7 * 0.05


def test_arguments_are_checked() -> None:
    wrongs: list[Callable[[], object]] = [
        lambda: jung_2020_half_width(0, 1, LOG_05),
        lambda: dwork_2015_half_width(10, 1, 0.1),
        lambda: rogers_2020_check_log_level(5, 5, 0.0, LOG_05),
        lambda: rogers_2020_guess_and_check_half_width(10, 5, LOG_05, failures=-1),
        lambda: rogers_2020_guess_and_check_half_width(10, 5, LOG_05, resolution=0.0),
    ]
    for wrong in wrongs:
        with pytest.raises(InvalidArgument):
            wrong()
