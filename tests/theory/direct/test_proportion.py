"""Exact binomial bounds for rows that are not alike, and proportions in disguise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import (
    Interval,
    bentkus_upper,
    clopper_pearson,
    clopper_pearson_upper,
    independent_clopper_pearson,
    independent_clopper_pearson_upper,
    log_binomial_cdf,
    share_interval,
    unlike_level,
)
from holdfast.theory.direct.unit_sums import f1_interval, f_beta_interval
from tests.theory.direct.worlds import World, miss, shrunk

LAWS = ("bentkus_upper", "f1_interval", "f_beta_interval", "independent_clopper_pearson_upper")


def poisson_binomial(rates: list[float]) -> list[float]:
    """The law of the number of successes of independent rows."""
    law = np.ones(1)
    for rate in rates:
        law = np.convolve(law, [1 - rate, rate])
    return [float(mass) for mass in law]


profiles = st.lists(
    st.one_of(st.floats(0, 1), st.floats(0.95, 1), st.sampled_from([0.0, 1.0])),
    min_size=1,
    max_size=25,
)


@given(rates=profiles, log_alpha=st.sampled_from([math.log(a) for a in (0.25, 0.05, 1e-3, 1e-6)]))
def test_unlike_rows_are_covered(rates: list[float], log_alpha: float) -> None:
    n, average = len(rates), math.fsum(rates) / len(rates)
    law = poisson_binomial(rates)
    missed = math.fsum(
        mass
        for count, mass in enumerate(law)
        if independent_clopper_pearson_upper(n, count, log_alpha) < average - 1e-12
    )
    assert missed <= math.exp(log_alpha) * (1 + 1e-9)


def test_the_level_is_needed_and_used_up() -> None:
    """One row at 1 - n e, the others sure: at alpha itself the miss is 1.07 alpha."""
    n, alpha = 20, 0.13
    log_alpha = math.log(alpha)
    upper = independent_clopper_pearson_upper(n, n - 1, log_alpha)
    average = upper + 1e-9
    missed = n * (1 - average)  # the one row fails
    assert 0.9 * alpha < missed <= alpha
    plain = clopper_pearson_upper(n, n - 1, log_alpha) + 1e-9
    assert n * (1 - plain) > 1.05 * alpha  # the sabotage: alike rows' level for unlike rows


@given(n=st.integers(1, 3000), log_p=st.floats(-500, -0.01), share=st.floats(0, 1))
@settings(max_examples=50)
def test_unlike_rows_cost_next_to_nothing(n: int, log_p: float, share: float) -> None:
    successes = round(share * n)
    wide, narrow = (
        independent_clopper_pearson(n, successes, log_p),
        clopper_pearson(n, successes, log_p),
    )
    assert wide.low <= narrow.low + 1e-15
    assert narrow.high <= wide.high + 1e-15
    if log_p < -30:
        assert wide == pytest.approx(narrow, rel=1e-9)


def test_the_unlike_level() -> None:
    assert unlike_level(0.0) == pytest.approx(math.log(0.25 * 0.75))
    assert unlike_level(math.log(0.1)) == pytest.approx(math.log(0.09))
    assert unlike_level(-1000.0) < -1000.0


@given(n=st.integers(1, 60), k=st.integers(-1, 61), p=st.fractions(0, 1, max_denominator=50))
def test_log_binomial_cdf_is_an_upper_bound(n: int, k: int, p: Fraction) -> None:
    exact = sum(
        (math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(min(k, n) + 1)), Fraction(0)
    )
    found = log_binomial_cdf(n, k, float(p))
    if exact == 0:
        assert found == -math.inf
    else:
        log_exact = math.log(exact.numerator) - math.log(exact.denominator)
        assert log_exact - 1e-12 <= found <= log_exact + 1e-8


@pytest.mark.parametrize(("p", "factor"), [(0.1, 0.5), (1e-3, 0.6)])
def test_exact_coverage_of_sums(p: float, factor: float) -> None:
    """Three values, so that the sum is not an integer."""
    values = [0.0, 0.5, 1.0]
    world = World(30, (Fraction(3, 10), Fraction(1, 10), Fraction(6, 10)))
    truth = world.mean(values)

    def upper(counts: tuple[int, ...], factor: float = 1.0) -> Interval:
        total = 0.5 * counts[1] + counts[2]
        high = bentkus_upper(world.n, total, math.log(p))
        return shrunk(Interval(0.0, high), total / world.n, factor)

    assert miss(world.samples(), upper, truth) <= p
    sabotaged = miss(world.samples(), lambda c: Interval(0.0, upper(c, factor).high), truth)
    assert sabotaged > p


def test_shares_of_the_rows_that_count() -> None:
    assert share_interval(0, 0, -3.0) == Interval(0.0, 1.0)
    assert share_interval(30, 70, -3.0) == clopper_pearson(100, 30, -3.0)
    assert f1_interval(0, 0, 0, -3.0) == Interval(0.0, 1.0)
    with pytest.raises(InvalidArgument, match="hits"):
        share_interval(-1, 3, -3.0)


# Cells: true positive, false positive, false negative, true negative.
CONFUSION = World(14, (Fraction(3, 10), Fraction(2, 10), Fraction(1, 10), Fraction(4, 10)))


@pytest.mark.parametrize(("p", "factor"), [(0.1, 0.6), (1e-3, 0.6)])
def test_exact_coverage_of_f1(p: float, factor: float) -> None:
    truth = Fraction(2 * 3, 2 * 3 + 2 + 1)
    table = {c: f1_interval(c[0], c[1], c[2], math.log(p)) for c, _ in CONFUSION.samples()}
    assert miss(CONFUSION.samples(), table.__getitem__, truth) <= p

    def sabotaged(counts: tuple[int, ...]) -> Interval:
        tp, fp, fn, _ = counts
        seen = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.5
        return shrunk(table[counts], seen, factor)

    assert miss(CONFUSION.samples(), sabotaged, truth) > p


def test_exact_coverage_of_f_beta() -> None:
    world = World(24, (Fraction(6, 10), Fraction(2, 10), Fraction(2, 10)))
    p = 0.05
    truth = Fraction(5 * 6, 5 * 6 + 4 * 2 + 2)
    table = {c: f_beta_interval(c[0], c[1], c[2], 60, 2.0, math.log(p)) for c, _ in world.samples()}
    assert miss(world.samples(), table.__getitem__, truth) <= p

    def sabotaged(counts: tuple[int, ...]) -> Interval:
        tp, fp, fn = counts
        seen = 5 * tp / (5 * tp + 4 * fn + fp)
        return shrunk(table[counts], seen, 0.3)

    assert miss(world.samples(), sabotaged, truth) > p


@given(
    counts=st.tuples(*[st.integers(0, 200)] * 3),
    more=st.integers(0, 500),
    log_p=st.floats(-50, -1),
)
@settings(max_examples=30)
def test_f_beta_of_one_is_f1_by_bets(counts: tuple[int, int, int], more: int, log_p: float) -> None:
    tp, fp, fn = counts
    low, high = f_beta_interval(tp, fp, fn, sum(counts) + more, 1.0, log_p)
    assert 0.0 <= low <= high <= 1.0
    if sum(counts):
        assert low - 1e-9 <= 2 * tp / (2 * tp + fp + fn) <= high + 1e-9
    with pytest.raises(InvalidArgument, match="rows"):
        f_beta_interval(tp, fp, fn, sum(counts) - 1, 1.0, log_p)
