"""Laws and coverage of the concentration profiles, for independent and for dependent rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.printed import (
    sub_exponential_log_tail_printed,
    sub_gaussian_log_tail_printed,
)
from holdfast.theory.base.concentration import (
    Bernstein,
    BoundedDifferences,
    BoundedMean,
    Concentration,
    DeclaredTail,
    SubExponential,
    SubGaussian,
    TwoSampleU,
)
from holdfast.theory.base.dependence import (
    ClusteredDifferences,
    ClusteredRows,
    ClusteredUnits,
    MDependentMean,
)
from tests.theory.coverage import LEVELS, too_many

LAWS = (
    "Bernstein",
    "BoundedDifferences",
    "BoundedMean",
    "ClusteredDifferences",
    "ClusteredRows",
    "ClusteredUnits",
    "DeclaredTail",
    "MDependentMean",
    "SubExponential",
    "SubGaussian",
    "TwoSampleU",
)

Array = NDArray[np.float64]
LOG_P = st.floats(-1000, 0)
SCALE = st.floats(1e-3, 1e3)
ROWS = st.integers(1, 10**9)


def _sub_gaussian(variance: str) -> Callable[[mpmath.mpf], mpmath.mpf]:
    return lambda a: mpmath.log(2) - a**2 / (2 * mpmath.mpf(variance))


def _sub_exponential(a: mpmath.mpf) -> mpmath.mpf:
    """Scale sigma = 3, b = 1/2: the knee is at a = 18."""
    return mpmath.log(2) - (a**2 / 18 if a <= 18 else 2 * a - 18)


# A profile and its log-tail (uncut) written out again, in 40 digits.
WRITTEN_OUT: list[tuple[Concentration, Callable[[mpmath.mpf], mpmath.mpf]]] = [
    (SubGaussian(1.5), _sub_gaussian("2.25")),
    (BoundedDifferences(400, 0.25), _sub_gaussian("6.25")),
    (BoundedMean(64, -2.0, 6.0), _sub_gaussian("0.25")),
    (TwoSampleU(25, 100), _sub_gaussian("0.01")),
    (MDependentMean(400, 3), _sub_gaussian("0.0025")),
    (ClusteredUnits(16), _sub_gaussian("0.015625")),
    (ClusteredRows(10, 28), _sub_gaussian("0.07")),
    (ClusteredDifferences(28, 0.5), _sub_gaussian("1.75")),
    (SubExponential(3.0, 0.5), _sub_exponential),
    (Bernstein(10, 0.5, 2.0), lambda a: mpmath.log(2) - 5 * a**2 / (0.5 + 2 * a / 3)),
]
written_out = pytest.mark.parametrize(
    ("profile", "log_tail"), WRITTEN_OUT, ids=[repr(profile) for profile, _ in WRITTEN_OUT]
)


@written_out
@given(log_p=LOG_P)
def test_radius_is_the_inverse_of_the_tail_and_on_the_safe_side(
    profile: Concentration, log_tail: Callable[[mpmath.mpf], mpmath.mpf], log_p: float
) -> None:
    radius = profile.radius(log_p)
    with mpmath.workdps(40):
        assert log_tail(mpmath.mpf(radius)) <= log_p
        assert log_tail(mpmath.mpf(radius * (1 - 1e-13))) > log_p
    assert profile.log_tail(radius) == pytest.approx(log_p, rel=1e-13, abs=1e-13)


@written_out
@given(size=st.floats(1.2, 40))
def test_tail_is_the_inverse_of_the_radius_and_rounded_up(
    profile: Concentration, log_tail: Callable[[mpmath.mpf], mpmath.mpf], size: float
) -> None:
    a = size * profile.radius(0.0)
    with mpmath.workdps(40):
        assert profile.log_tail(a) >= log_tail(mpmath.mpf(a))
    assert profile.radius(profile.log_tail(a)) == pytest.approx(a, rel=1e-12)


@written_out
def test_ends_of_the_tail(profile: Concentration, log_tail: object) -> None:
    assert profile.log_tail(0.0) == 0.0
    assert profile.log_tail(0.5 * profile.radius(0.0)) == 0.0
    deep = profile.radius(-1000.0)
    assert math.isfinite(deep)
    assert profile.log_tail(deep) == pytest.approx(-1000.0, rel=1e-13)
    with pytest.raises(InvalidArgument):
        profile.radius(0.1)
    with pytest.raises(InvalidArgument):
        profile.log_tail(-0.1)


@given(sigma=SCALE, b=SCALE, log_p=LOG_P)
def test_sub_exponential_is_never_narrower_and_tends_to_sub_gaussian(
    sigma: float, b: float, log_p: float
) -> None:
    gaussian = SubGaussian(sigma).radius(log_p)
    assert SubExponential(sigma, b).radius(log_p) >= gaussian * (1 - 1e-14)
    assert SubExponential(sigma, 1e-6 * sigma).radius(log_p) == gaussian


@given(sigma=SCALE, b=SCALE)
def test_sub_exponential_tail_has_no_jump_at_its_knee(sigma: float, b: float) -> None:
    profile, knee = SubExponential(sigma, b), sigma**2 / b
    after = profile.log_tail(knee * (1 + 1e-12))
    assert after == pytest.approx(profile.log_tail(knee), rel=1e-9, abs=1e-9)


@given(n=ROWS, v=st.floats(1e-6, 0.25), log_p=LOG_P)
def test_bernstein_between_its_limits(n: int, v: float, log_p: float) -> None:
    """No range: sub-Gaussian with sigma^2 = v/n; no variance: 2 L R/(3 n), linear in L."""
    radius = Bernstein(n, v).radius(log_p)
    sub_gaussian = SubGaussian(math.sqrt(v / n)).radius(log_p)
    linear = 2 * (math.log(2) - log_p) / (3 * n)
    assert max(sub_gaussian, linear) * (1 - 1e-12) <= radius <= sub_gaussian + linear * (1 + 1e-12)
    assert Bernstein(n, v, 1e-12).radius(log_p) == pytest.approx(sub_gaussian, rel=1e-3)
    assert Bernstein(n, 0.0).radius(log_p) == pytest.approx(linear, rel=1e-12)


def test_a_public_variance_pays_for_rare_events_only() -> None:
    log_p = math.log(0.05)
    assert Bernstein(10_000, 0.01).radius(log_p) < 0.25 * BoundedMean(10_000).radius(log_p)
    assert Bernstein(10_000, 0.25).radius(log_p) > BoundedMean(10_000).radius(log_p)


@given(n=st.integers(1, 10**6), low=st.floats(-5, 5), width=st.floats(0.1, 9), log_p=LOG_P)
def test_profiles_agree_where_they_describe_the_same(
    n: int, low: float, width: float, log_p: float
) -> None:
    mean = BoundedMean(n, low, low + width).radius(log_p)
    assert mean == pytest.approx(BoundedDifferences(n, width / n).radius(log_p), rel=1e-9)
    unit = BoundedMean(n).radius(log_p)
    assert MDependentMean(n, 0).radius(log_p) == pytest.approx(unit, rel=1e-14)
    assert ClusteredRows(n, n).radius(log_p) == pytest.approx(unit, rel=1e-14)
    assert ClusteredUnits(n).radius(log_p) == pytest.approx(unit, rel=1e-14)
    assert TwoSampleU(n, n + 3).radius(log_p) == pytest.approx(unit, rel=1e-14)
    whole = MDependentMean(n, n - 1).radius(log_p)
    assert whole == pytest.approx(BoundedMean(1).radius(log_p), rel=1e-14)
    assert MDependentMean(n, 5 * n).radius(log_p) == whole
    rows = BoundedDifferences(n, width).radius(log_p)
    assert ClusteredDifferences(n, width).radius(log_p) == pytest.approx(rows, rel=1e-14)


@given(sizes=st.lists(st.integers(1, 50), min_size=1, max_size=30), log_p=LOG_P)
def test_clusters_count_for_less_than_rows_and_more_than_their_largest(
    sizes: list[int], log_p: float
) -> None:
    profile = ClusteredRows.of_sizes(sizes)
    assert profile == ClusteredRows(sum(sizes), sum(size**2 for size in sizes))
    radius = profile.radius(log_p)
    # A mean is a statistic that one row moves by 1/n.
    differences = ClusteredDifferences.of_sizes(sizes, 1 / sum(sizes))
    assert differences.radius(log_p) == pytest.approx(radius, rel=1e-14)
    # Equal sizes are the best case for a number of units; one unit alone is the worst.
    assert ClusteredUnits(len(sizes)).radius(log_p) <= radius * (1 + 1e-12)
    assert radius <= BoundedMean(1).radius(log_p) * (1 + 1e-12)
    equal = ClusteredRows.of_sizes([7] * len(sizes))
    assert equal.radius(log_p) == pytest.approx(ClusteredUnits(len(sizes)).radius(log_p), rel=1e-12)


def test_impossible_clusters_are_refused() -> None:
    for rows, squares in ((10, 9), (10, 101)):
        with pytest.raises(InvalidArgument, match="sum_of_squares"):
            ClusteredRows(rows, squares)
    with pytest.raises(InvalidArgument, match="unit size"):
        ClusteredRows.of_sizes([3, 0])
    with pytest.raises(InvalidArgument, match="unit size"):
        ClusteredDifferences.of_sizes([3, 0], 0.1)
    with pytest.raises(InvalidArgument, match="delta"):
        ClusteredDifferences(9, 0.0)


@given(sigma=SCALE, log_p=st.floats(-1000, -1e-6))
def test_a_declared_tail_is_inverted_like_the_profile_it_copies(sigma: float, log_p: float) -> None:
    profile = SubGaussian(sigma)
    declared = DeclaredTail(profile.log_tail, largest=50 * sigma)
    radius = declared.radius(log_p)
    assert profile.log_tail(radius) <= log_p, "the safe end of the bracket"
    assert radius == pytest.approx(profile.radius(log_p), rel=1e-9)
    assert declared.log_tail(radius) == profile.log_tail(radius)


def test_a_declared_tail_may_jump_and_is_cut_at_probability_one() -> None:
    """A deviation is 0, 1 or 2: the tail is a staircase, the radius one of its steps."""
    declared = DeclaredTail(
        lambda a: 3.0 if a < 1 else math.log(0.01) if a < 2 else -math.inf, largest=3.0
    )
    assert declared.log_tail(0.5) == 0.0
    assert declared.radius(math.log(0.05)) == pytest.approx(1.0)
    assert declared.radius(-1000.0) == pytest.approx(2.0)
    assert declared.radius(math.log(0.05)) >= 1.0
    assert declared.radius(-1000.0) >= 2.0


def test_a_declared_tail_must_be_non_increasing_and_reach_far_enough() -> None:
    with pytest.raises(InvalidArgument, match="non-increasing"):
        DeclaredTail(lambda a: -2 * a if a < 0.5 else -a)
    with pytest.raises(InvalidArgument, match="nan"):
        DeclaredTail(lambda a: math.nan)
    with pytest.raises(InvalidArgument, match="largest"):
        DeclaredTail(lambda a: -a, largest=5.0).radius(-6.0)


@given(sigma=SCALE, b=SCALE, size=st.floats(0, 40))
def test_printed_tails_lack_a_factor_two_and_saturate(sigma: float, b: float, size: float) -> None:
    a = size * sigma
    sound, printed = SubGaussian(sigma).log_tail(a), sub_gaussian_log_tail_printed(sigma, a)
    assert sound == pytest.approx(min(0.0, printed + math.log(2)), abs=1e-12)
    assume(a <= sigma**2 / b)
    flat = sub_exponential_log_tail_printed(sigma, b, a)
    assert flat == pytest.approx(printed, rel=1e-12)
    floor = -0.5 * (sigma / b) ** 2
    assert sub_exponential_log_tail_printed(sigma, b, 1e3 * sigma**2 / b) == pytest.approx(floor)


def test_a_fair_coin_refutes_the_printed_tail() -> None:
    """It is 1/2-sub-Gaussian and deviates by 1/2 surely: by more than .499 with probability 1."""
    assert sub_gaussian_log_tail_printed(0.5, 0.499) < math.log(0.61)
    assert SubGaussian(0.5).log_tail(0.499) == 0.0


@dataclass(frozen=True)
class Instance:
    """Deviations q - theta of a fixed question, its profile and a sabotaged radius."""

    profile: Concentration
    deviations: Callable[[np.random.Generator, int], Array]
    # A factor on the radius, or the profile of someone who overlooks something.
    sabotage: float | Concentration


def _coin_mean(n: int) -> Callable[[np.random.Generator, int], Array]:
    return lambda generator, trials: generator.binomial(n, 0.5, trials) / n - 0.5


def _rare_events(generator: np.random.Generator, trials: int) -> Array:
    return generator.binomial(1000, 0.01, trials) / 1000 - 0.01


SIZES = np.array([40] * 5 + [10] * 20 + [1] * 100)


def _unequal_clusters(generator: np.random.Generator, trials: int) -> Array:
    """All rows of a unit equal one coin: binomial counts of units of each size."""
    ones = sum(
        size * generator.binomial(np.count_nonzero(size == SIZES), 0.5, trials)
        for size in np.unique(SIZES)
    )
    return np.asarray(ones / SIZES.sum() - 0.5)


def _auc_with_ties(generator: np.random.Generator, trials: int) -> Array:
    """A positive scores 0 or 2, a negative nearly always 1: by symmetry the truth is 1/2."""
    n_pos, n_neg = 300, 5000
    above = generator.binomial(n_pos, 0.5, trials) / n_pos
    zero, one, two = generator.multinomial(n_neg, [0.02, 0.96, 0.02], trials).T / n_neg
    return np.asarray(above * (zero + one + two / 2) + (1 - above) * zero / 2 - 0.5)


# A Laplace variable has E e^{tX} = 1/(1 - t^2), at most e^{t^2 sigma^2/2} up to t = 1/b for this
# sigma.
B_LAPLACE = 1.15
SIGMA_LAPLACE = B_LAPLACE * math.sqrt(-2 * math.log1p(-1 / B_LAPLACE**2))

INSTANCES = {
    "gaussian": Instance(SubGaussian(2.0), lambda g, trials: 2.0 * g.standard_normal(trials), 0.65),
    "coins, Hoeffding": Instance(BoundedMean(400), _coin_mean(400), 0.65),
    "coins, McDiarmid": Instance(BoundedDifferences(400, 1 / 400), _coin_mean(400), 0.65),
    # Each positive is above or below all negatives: the AUC is a mean of n_pos coins.
    "auc": Instance(TwoSampleU(300, 5000), _coin_mean(300), TwoSampleU(5000, 5000)),
    "auc with ties": Instance(TwoSampleU(300, 5000), _auc_with_ties, 0.65),
    "rare events": Instance(Bernstein(1000, 0.01 * 0.99), _rare_events, 0.5),
    "laplace": Instance(
        SubExponential(SIGMA_LAPLACE, B_LAPLACE), lambda g, trials: g.laplace(size=trials), 0.45
    ),
    "equal clusters": Instance(ClusteredUnits(200), _coin_mean(200), BoundedMean(200 * 10)),
    "unequal clusters": Instance(
        ClusteredRows.of_sizes(SIZES.tolist()), _unequal_clusters, BoundedMean(int(SIZES.sum()))
    ),
    "unequal clusters, McDiarmid": Instance(
        ClusteredDifferences.of_sizes(SIZES.tolist(), 1 / int(SIZES.sum())),
        _unequal_clusters,
        BoundedDifferences(int(SIZES.sum()), 1 / int(SIZES.sum())),
    ),
    # Blocks of five equal rows: rows further than four apart are independent.
    "blocks in time": Instance(MDependentMean(1000, 4), _coin_mean(200), MDependentMean(1000, 0)),
    # The same blocks, a public group of the first three rows of each: no five places hold more.
    "group in time": Instance(MDependentMean(600, 2), _coin_mean(200), BoundedMean(600)),
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_coverage(name: str, beta: float, trials: int) -> None:
    instance = INSTANCES[name]
    deviations = np.abs(instance.deviations(np.random.default_rng(2024), trials))
    radius = instance.profile.radius(math.log(beta))
    assert not too_many(deviations > radius, beta)
    shrunk = (
        instance.sabotage * radius
        if isinstance(instance.sabotage, float)
        else instance.sabotage.radius(math.log(beta))
    )
    assert too_many(deviations > shrunk, beta), "the sabotaged radius must fail"
