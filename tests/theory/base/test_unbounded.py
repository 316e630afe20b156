"""Means without a range, and families of tails: laws, coverage, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats

from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import (
    BoundedMean,
    Concentration,
    SubExponential,
    SubGaussian,
)
from holdfast.theory.base.dependence import GraphMean, MarkovMean, MDependentMean, PooledUnits
from holdfast.theory.base.gamma import (
    CatoniMean,
    MedianOfMeans,
    PolynomialTail,
    SubWeibull,
    TailTable,
    gamma_from_text,
    gamma_text,
)
from holdfast.theory.base.unbounded import (
    InUnits,
    Narrower,
    UnboundedMean,
    UnboundedUnits,
    Windowed,
    mean_square_log_p,
)
from tests.theory.coverage import too_many

LAWS = (
    "CatoniMean",
    "GraphMean",
    "MarkovMean",
    "MedianOfMeans",
    "PolynomialTail",
    "SubWeibull",
    "TailTable",
    "UnboundedMean",
    "UnboundedUnits",
    "Windowed",
)
Array = NDArray[np.float64]
FALLING = TailTable(((0.1, -1.0), (0.2, -3.0), (0.5, -30.0), (0.9, -500.0)))
PROFILES: list[Concentration] = [
    UnboundedMean(400, 2.0),
    UnboundedMean(400, 2.0, 3.0),
    UnboundedMean(400, 2.0, 3.0, 5),
    UnboundedUnits(400, 1600.0, 8.0, 2.0, 1.0),
    PooledUnits(400, 120, 4),
    PooledUnits(400, 100, 4, 2.0, 1.0),
    PooledUnits(400, None, 6),
    Windowed(SubGaussian(0.1), 400, -2000.0),
    SubWeibull(0.3, 0.5),
    PolynomialTail(6.0, 0.1),
    FALLING,
    MedianOfMeans(5000, 9, 4.0),
    CatoniMean(5000, 4.0, 0.02),
    InUnits(SubGaussian(0.01), 3.0),
    Narrower(SubGaussian(0.1), SubExponential(0.05, 0.2)),
]
each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda p: type(p).__name__)


@each_profile
@given(first=st.floats(-100, 0), second=st.floats(-100, 0))
def test_a_radius_keeps_its_level_and_grows_as_that_falls(
    profile: Concentration, first: float, second: float
) -> None:
    low, high = sorted((first, second))
    wide, narrow = profile.radius(low), profile.radius(high)
    assert wide >= narrow
    assert math.isinf(wide) or profile.log_tail(wide) <= low + 1e-6 * (1 - low)


@each_profile
@given(near=st.floats(0, 10), further=st.floats(0, 10))
def test_a_tail_never_rises(profile: Concentration, near: float, further: float) -> None:
    assert profile.log_tail(near + further) <= profile.log_tail(near) + 1e-12
    assert profile.log_tail(0.0) <= 0.0


@each_profile
def test_what_a_ledger_keeps_of_a_family_says_all_of_it(profile: Concentration) -> None:
    again = gamma_from_text(gamma_text(profile))
    assert again == profile
    assert gamma_text(again) == gamma_text(profile)


def test_independent_sub_gaussian_rows_are_as_wide_as_hoeffding_for_twice_their_scale() -> None:
    for log_p in (-1.0, -20.0, -300.0):
        found = UnboundedMean(1000, 0.5).radius(log_p)
        assert found == pytest.approx(BoundedMean(1000).radius(log_p), rel=1e-12)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([], "1 to 1,000"),
        ([(0.1, -1), (0.2, -0.5)], "a tail never rises"),
        ([(0.2, -1), (0.1, -2)], "deviations must rise"),
        ([(0.1, -1), (0.1, -2)], "deviations must rise"),
        ([(0.1, 0.5)], "log tail of the table"),
        ([(math.nan, -1)], "deviation of the table"),
        ([(0.1, math.nan)], "log tail of the table"),
        ([(0.1, -1, 2)], "must be a pair"),
        ([3.0], "a point is 3.0"),
    ],
)
def test_a_table_that_is_no_tail_is_refused(points: list[tuple[float, ...]], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        TailTable(points)  # type: ignore[arg-type]


def test_what_says_no_family_is_refused() -> None:
    for text in ("", "{}", '{"family":"cauchy"}', '{"family":"sub-gaussian"}', "[1]", "null"):
        with pytest.raises(InvalidArgument, match="no concentration"):
            gamma_from_text(text)


def test_a_level_beyond_a_table_or_an_estimator_has_no_radius() -> None:
    assert FALLING.radius(-501.0) == math.inf
    assert CatoniMean(100, 1.0, 0.1).radius(-60.0) == math.inf
    assert Windowed(SubGaussian(1.0), 10, -50.0).radius(-48.0) == math.inf
    assert InUnits(FALLING, 4.0).radius(-501.0) == 1.0


def _catoni(rows: Array, alpha: float) -> Array:
    """The estimator of each line of rows, by bisection."""
    low, high = rows.min(axis=1), rows.max(axis=1)
    for _ in range(60):
        middle = (low + high) / 2
        x = alpha * (rows - middle[:, None])
        size = np.log1p(np.abs(x) + x * x / 2)
        above = (np.sign(x) * size).sum(axis=1) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2)


def test_robust_means_hold_on_rows_without_a_fourth_moment() -> None:
    """Pareto rows with three moments, n = 200: at 5 % the intervals hold, and half of them not."""
    generator, n, trials = np.random.default_rng(12), 200, 1500
    rows = generator.pareto(2.5, (trials, n))
    mean, variance = 1 / 1.5, 2.5 / (1.5**2 * 0.5)
    beta, alpha = 0.05, math.sqrt(2 * math.log(40) / (n * variance))
    blocks = np.median(rows.reshape(trials, 5, 40).mean(axis=2), axis=1)
    found: list[tuple[Concentration, Array]] = [
        (CatoniMean(n, variance, alpha), _catoni(rows, alpha)),
        (MedianOfMeans(n, 5, variance), blocks),
    ]
    for profile, values in found:
        off = np.abs(values - mean)
        assert not too_many(off > profile.radius(math.log(beta)), beta)
        assert too_many(off > 0.3 * profile.radius(math.log(beta)), beta), "the twin must fail"


def _clusters(generator: np.random.Generator, trials: int) -> Array:
    """Means of 60 rows in 20 units of three equal, Laplace rows."""
    return np.asarray(generator.laplace(size=(trials, 20)).mean(axis=1))


# E e^{tX} = 1/(1 - t^2) of a Laplace row is at most e^{t^2 sigma^2/2} up to t = 1/b.
B = 2.0
SIGMA = B * math.sqrt(-2 * math.log1p(-1 / B**2))


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), [(0.05, 20_000), (0.001, 100_000)])
def test_dependent_sub_exponential_rows_are_covered(beta: float, trials: int) -> None:
    """Three equal rows each: rows of a graph of degree 2, or of units of 3."""
    off = np.abs(_clusters(np.random.default_rng(7), trials))
    log_beta = math.log(beta)
    radii = [
        UnboundedMean(60, SIGMA, B, colours=3).radius(log_beta),
        UnboundedUnits(60, 180.0, 3.0, SIGMA, B).radius(log_beta),
    ]
    assert radii[0] == pytest.approx(radii[1], rel=1e-12)
    assert not too_many(off > radii[0], beta)
    # As if the rows were independent.
    assert too_many(off > UnboundedMean(60, SIGMA, B).radius(log_beta) * 0.95, beta)


def test_the_window_fails_no_more_than_it_says_by_exact_computation() -> None:
    """Rows +-1 by coins, window end 4: a mean of 3 rows is read exactly, or its end is open.

    The theorem's three cases for every expectation mu: what is read is within the deviation of the
    truth cut at half the window, whenever no row deviates by more than a quarter of the window.
    """
    end, rows = 4.0, 3
    for mu in np.arange(-12.0, 12.1, 0.25):
        for signs in np.ndindex(*(2,) * rows):
            values = mu + (2.0 * np.array(signs) - 1.0) * end / 4
            read = np.clip(np.clip(values, -end, end).mean(), -end / 2, end / 2)
            truth = np.clip(mu, -end / 2, end / 2)
            assert abs(read - truth) <= abs(values.mean() - mu) + 1e-12


def _two_states(n: int, contraction: float) -> Array:
    """The law of the number of ones in n rows of a chain that stays with (1 + contraction)/2."""
    stay = (1 + contraction) / 2
    law = np.zeros((2, n + 1))  # the last row is 0 or 1; so many ones
    law[0, 0] = law[1, 1] = 0.5
    for _ in range(n - 1):
        zero = stay * law[0] + (1 - stay) * law[1]
        one = stay * law[1] + (1 - stay) * law[0]
        law = np.stack([zero, np.r_[0.0, one[:-1]]])
    return np.asarray(law.sum(axis=0))


@pytest.mark.parametrize("contraction", [0.0, 0.5, 0.9])
def test_a_markov_chain_keeps_every_level_by_exact_computation(contraction: float) -> None:
    n = 120
    law, off = _two_states(n, contraction), np.abs(np.arange(n + 1) / n - 0.5)
    assert law.sum() == pytest.approx(1.0)
    for log_p in (-1.0, -3.0, -7.0, -15.0):
        radius = MarkovMean(n, contraction).radius(log_p)
        assert law[off > radius].sum() <= math.exp(log_p)
    if contraction:  # taken for independent rows, it breaks
        radius = MarkovMean(n, 0.0).radius(-7.0)
        assert law[off > radius].sum() > math.exp(-7.0)


def test_rows_that_are_close_in_time_are_a_dependency_graph() -> None:
    """Each row depends on m on either side: degree 2 m, and m + 1 colours where order is known."""
    for m in (0, 1, 5):
        assert GraphMean(1000, 2 * m).radius(-5.0) >= MDependentMean(1000, m).radius(-5.0)
    assert GraphMean(10, 9).radius(-5.0) == GraphMean(10, 500).radius(-5.0)


@given(n=st.integers(2, 5000), ratio=st.floats(1.0, 30.0))
def test_the_squares_of_gaussian_rows_are_within_chernoffs_bound(n: int, ratio: float) -> None:
    exact = float(stats.chi2.logsf(n * ratio, n - 1))  # around their own mean
    assert exact <= mean_square_log_p(n, ratio)


def test_chernoffs_bound_on_squares_cannot_be_had_for_less() -> None:
    # Sabotage: 30 % more in the exponent, and Gaussian rows break it.
    exact = float(stats.chi2.logsf(1000 * 1.5, 999))
    assert mean_square_log_p(1000, 1.5) > exact > 1.3 * mean_square_log_p(1000, 1.5)
