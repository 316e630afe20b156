"""Means without a range, and families of tails: laws, coverage, and what is refused."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import special, stats

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
    GroupOfRows,
    InUnits,
    Narrower,
    SpreadOfRows,
    UnboundedMean,
    UnboundedUnits,
    Windowed,
    difference_scale,
    mean_square_log_p,
    scale_in_group,
    square_scale,
)
from tests.theory.coverage import too_many

LAWS = (
    "CatoniMean",
    "GraphMean",
    "GroupOfRows",
    "MarkovMean",
    "MedianOfMeans",
    "PolynomialTail",
    "SpreadOfRows",
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
    GroupOfRows(400, 0.3, 2.0),
    GroupOfRows(4000, 0.3, 2.0, 3.0, 4, -9.0),
    SpreadOfRows(UnboundedMean(4000, 8.44, 64.0), UnboundedMean(4000, 2.0)),
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


# Means of groups: by enumeration, and by the law for which all of the spread is in the group.


def _log_off(n: int, p: float, counted: bool, radius: float) -> float:
    """ln P[the mean of N signs is `radius` or more from 0, or N = 0]; N is n, or Bin(n, p)."""
    sizes = np.array([n]) if counted else np.arange(n + 1)
    weights = np.zeros(1) if counted else stats.binom.logpmf(sizes, n, p)
    # N signs with h heads have the mean 2 h/N - 1, here +-radius or beyond: both sides alike.
    most = np.floor((1.0 - radius) * sizes / 2 + 1e-12)
    tails = np.log(2.0) + stats.binom.logcdf(most, sizes, 0.5)
    return float(special.logsumexp(weights + np.where(sizes == 0, 0.0, np.minimum(tails, 0.0))))


@pytest.mark.parametrize("p", [0.35, 0.5, 0.8])
@pytest.mark.parametrize("log_p", [-3.0, -12.0, -40.0])
def test_a_group_with_all_of_the_spread_is_covered_and_no_narrower_radius_covers_it(
    p: float, log_p: float
) -> None:
    """Rows are 0 outside the group and a sign in it: sub-Gaussian with sigma^2 = p, if p >= 1/3.

    The twins: the radius of a mean of all rows, and of as many rows as the group has, as if
    membership had nothing to do with the value.
    """
    n, sigma = 2_000, math.sqrt(p)
    for profile in (GroupOfRows(n, p, sigma), UnboundedMean(n, scale_in_group(sigma, p))):
        counted = isinstance(profile, UnboundedMean)
        radius = profile.radius(log_p)
        assert _log_off(n, p, counted, radius) <= log_p
        if log_p > -12.0:
            continue
        # Chernoff's bound gives away little at small levels.
        assert _log_off(n, p, counted, 0.85 * radius) > log_p
        rows = n if counted else p * n
        for twin in (sigma / math.sqrt(n), sigma / math.sqrt(rows)):
            short = twin * math.sqrt(2 * (math.log(2) - log_p))
            assert short >= 0.85 * radius or _log_off(n, p, counted, short) > log_p


@given(
    inside=st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 9)), min_size=1, max_size=4),
    outside=st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 9)), max_size=4),
    t=st.floats(-2.0, 2.0),
)
def test_no_group_is_further_spread_at_any_exponent_than_its_scale(
    inside: list[tuple[int, int]], outside: list[tuple[int, int]], t: float
) -> None:
    """E e^{t(x - theta)} given the group against the e^{psi/p} of all rows, by enumeration."""

    def log_mean(rows: list[tuple[int, int]], centre: float) -> float:
        logs = [math.log(weight) + t * (x - centre) for x, weight in rows]
        return float(special.logsumexp(logs)) - math.log(sum(weight for _, weight in rows))

    def expected(rows: list[tuple[int, int]]) -> float:
        return sum(x * weight for x, weight in rows) / sum(weight for _, weight in rows)

    every = inside + outside
    p = sum(weight for _, weight in inside) / sum(weight for _, weight in every)
    psi = log_mean(every, expected(every))
    assert log_mean(inside, expected(inside)) <= psi / p * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(("p", "t", "psi"), [(0.1, 0.3, 0.2), (0.5, -1.0, 0.7), (0.9, 2.0, 2.0)])
def test_the_scale_of_a_group_cannot_be_smaller(p: float, t: float, psi: float) -> None:
    """For each t a law attains e^{psi/p}: one value outside, and fair signs about d inside."""
    u = -psi * (1 - p) / p  # t d, where the proof has its greatest value
    inside = math.exp(u) * math.exp(psi / p)  # signs as far from d as that takes
    outside = math.exp(-u * p / (1 - p))
    assert math.log(p * inside + (1 - p) * outside) == pytest.approx(psi)
    sigma = math.sqrt(2 * psi) / abs(t)
    assert psi / p == pytest.approx((t * scale_in_group(sigma, p)) ** 2 / 2)


@given(
    values=st.lists(st.integers(0, 6), min_size=2, max_size=4, unique=True),
    weights=st.lists(st.integers(1, 5), min_size=8, max_size=8),
    n=st.integers(1, 3),
    a=st.floats(0.1, 8.0),
)
def test_no_group_of_bounded_rows_is_further_off_than_its_tail(
    values: list[int], weights: list[int], n: int, a: float
) -> None:
    """Every law of a value and a membership on small integers; half the range is a sigma."""
    cells = [(x, inside) for x in values for inside in (True, False)]
    shares = np.array(weights[: len(cells)], float)
    shares /= shares.sum()
    p = sum(w for w, (_, inside) in zip(shares, cells, strict=True) if inside)
    truth = sum(w * x for w, (x, inside) in zip(shares, cells, strict=True) if inside) / p
    off = 0.0
    for rows in itertools.product(range(len(cells)), repeat=n):
        group = [cells[row][0] for row in rows if cells[row][1]]
        if not group or abs(sum(group) / len(group) - truth) >= a:
            off += math.prod(shares[row] for row in rows)
    sigma = (max(values) - min(values)) / 2
    assert off <= math.exp(GroupOfRows(n, p, sigma).log_tail(a)) * (1 + 1e-9)


def test_the_difference_of_opposite_values_has_all_of_the_scale() -> None:
    """y = -x 5/3 of a Gaussian x: the difference is Gaussian with the sum of both sigmas."""
    sigma, b = difference_scale(0.3, 0.5)
    assert sigma == pytest.approx(0.8, rel=1e-15)
    assert b is None
    # Laplace values of scale 1 have E e^{tx} = 1/(1 - t^2) <= e^{t^2 sigma^2/2} for |t| <= 1/b.
    one, reach = 2.0 * math.sqrt(math.log(2.0)), math.sqrt(2.0)
    both, wide = difference_scale(one, 2 * one, reach, 2 * reach)
    assert wide is not None
    assert wide == pytest.approx(3 * reach)
    for t in np.linspace(0.01, 1 / wide, 9):
        assert 1 / (1 - (3 * t) ** 2) <= math.exp(t * t * both * both / 2)  # x + 2 x


# Variances: the inequality that their scale rests on, laws that come near it, and exact tails.


def test_the_inequality_of_squares_holds_everywhere() -> None:
    """3z/2 + 3.78 (e^{3z/8} - 1) is never below 512 (e^{z/16} - 1 - z/16), by whole numbers.

    The difference over z is a series of which all terms are positive but that of z. On a piece of
    1/128 that one is taken at the right end, the others, up to the 12th, at the left.
    """
    wide, narrow = Fraction(3, 8), Fraction(1, 16)
    series = [
        (Fraction(378, 100) * wide**j - (512 * narrow**j if j > 1 else 0)) / math.factorial(j)
        for j in range(1, 13)
    ]
    series[0] += Fraction(3, 2)
    assert [j for j, each in enumerate(series) if each < 0] == [1]
    # All later coefficients are positive too: 6^j is above 512/3.78 for j >= 3.
    assert 512 / 3.78 < 6**3
    ends = [Fraction(i, 128) for i in range(60 * 128 + 1)]
    for left, right in itertools.pairwise(ends):
        rest = sum(each * left**j for j, each in enumerate(series) if j != 1)
        assert rest + series[1] * right > 0
    assert series[2] * 60 > -series[1]  # so beyond 60 the square alone is enough
    scale = Fraction(211, 100) ** 2
    assert Fraction(10213, 10000) * (Fraction(378, 100) + Fraction(9, 16)) < scale
    u = -1 / 16
    assert (math.exp(-u) - 1 + u) / (u * u / 2) < 1.0213


def _rare(height: float) -> float:
    """The most that +-height may weigh, beside 0, for a value that is sub-Gaussian with 1."""
    t = np.linspace(1e-3, 12.0, 20_000)
    with np.errstate(over="ignore"):
        return float(np.min(np.expm1(t * t / 2) / (np.cosh(t * height) - 1.0)))


@pytest.mark.parametrize("height", [1.3, 1.6, 2.0, 2.3, 3.0])
@pytest.mark.parametrize("log_p", [-3.0, -20.0, -60.0])
def test_rare_squares_are_covered_and_those_of_a_gaussian_are_not_enough(
    height: float, log_p: float
) -> None:
    """z is height^2 with the greatest weight q, or 0: the mean of n is a binomial share."""
    n, q = 4_000, _rare(height)
    assert q * height**2 <= 1.0 + 1e-6
    radius = UnboundedMean(n, *square_scale(1.0)).radius(log_p)

    def log_off(radius: float) -> float:
        above, below = (n * (q * height**2 + side * radius) / height**2 for side in (1, -1))
        logs = stats.binom.logsf(math.ceil(above) - 1, n, q), stats.binom.logcdf(below, n, q)
        return float(special.logsumexp(logs))

    assert log_off(radius) <= log_p
    if height == 2.3 and log_p < -3.0:  # which alone takes 1.78
        assert log_off(radius * math.sqrt(2.0) / 2.11) > log_p


@pytest.mark.parametrize("log_p", [-3.0, -12.0, -60.0, -300.0])
@pytest.mark.parametrize("n", [2_000, 100_000])
def test_the_variance_of_gaussian_rows_is_covered_at_every_level(n: int, log_p: float) -> None:
    """n V has a chi-square law with n - 1 degrees of freedom; of many rows .6 is too short."""
    squares, mean = UnboundedMean(n, *square_scale(1.0)), UnboundedMean(n, 1.0)
    radius = SpreadOfRows(squares, mean).radius(log_p)

    def log_off(radius: float) -> float:
        above = stats.chi2.logsf(n * (1.0 + radius), n - 1)
        below = stats.chi2.logcdf(n * (1.0 - radius), n - 1) if radius < 1.0 else -math.inf
        return float(special.logsumexp([above, below]))

    assert log_off(radius) <= log_p
    if n == 100_000 and log_p < -12.0:
        assert log_off(0.6 * radius) > log_p


def test_a_mean_that_is_off_lowers_the_variance_by_its_square() -> None:
    """Rows that are all alike have no variance: of colours without bound, c^2 is all there is."""
    n = 400
    alone = UnboundedMean(n, 1.0, colours=n)  # all rows are one
    spread = SpreadOfRows(UnboundedMean(n, *square_scale(1.0), n), alone)
    for log_p in (-2.0, -10.0):
        assert spread.radius(log_p) >= 1.0 + alone.radius(log_p) ** 2 / 2
        assert spread.log_tail(spread.radius(log_p)) <= log_p * (1 - 1e-12)
        assert spread.log_tail(spread.radius(log_p) * 0.99) > log_p
