"""The radius of a share of ones: against the binomial law itself, at its worst expectation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import BinomialMean, BoundedMean
from holdfast.theory.base.intervals import clopper_pearson

LAWS = ("BinomialMean",)

LEVELS = [0.3, 0.05, 1e-3, 1e-9]
every_level = pytest.mark.parametrize("p", LEVELS)


def _at_least(n: int, theta: Fraction, s: int) -> Fraction:
    """P[Bin(n, theta) >= s], exactly."""
    return sum(
        (math.comb(n, k) * theta**k * (1 - theta) ** (n - k) for k in range(s, n + 1)), Fraction(0)
    )


@every_level
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 24])
def test_no_expectation_is_missed_too_often(n: int, p: float) -> None:
    """In fractions. P[S >= s] grows with theta, so S/n - theta > a is likeliest just before the s
    that it needs becomes s + 1: at theta = s/n - a, for one s. The other side is the mirror."""
    a = Fraction(BinomialMean(n).radius(math.log(p)))
    for s in range(1, n + 1):
        theta = Fraction(s, n) - a
        if theta > 0:
            assert _at_least(n, theta, s) <= Fraction(p) / 2


@every_level
@pytest.mark.parametrize("n", [5, 12, 40])
def test_both_sides_at_once_on_a_fine_grid_of_expectations(n: int, p: float) -> None:
    a, counts = BinomialMean(n).radius(math.log(p)), np.arange(n + 1)
    for theta in np.linspace(0, 1, 1_001):
        off = np.abs(counts / n - theta) > a
        assert binom.pmf(counts[off], n, theta).sum() <= p * (1 + 1e-9)


def _worst(n: int, a: float) -> float:
    s = np.arange(1, n + 1)
    theta = s / n - a
    return float(binom.sf(s[theta > 0] - 1, n, theta[theta > 0]).max())


@every_level
@pytest.mark.parametrize("n", [200, 2_000, 20_000])
def test_large_samples(n: int, p: float) -> None:
    assert _worst(n, BinomialMean(n).radius(math.log(p))) <= p / 2 * (1 + 1e-9)


@every_level
@pytest.mark.parametrize("n", [2_000, 20_000])
def test_sabotage_a_radius_less_by_three_hundredths_is_missed_too_often(n: int, p: float) -> None:
    assert _worst(n, 0.97 * BinomialMean(n).radius(math.log(p))) > p / 2


@every_level
@pytest.mark.parametrize("n", [1, 2, 7, 50, 400])
def test_the_exact_interval_is_inside_the_radius(n: int, p: float) -> None:
    """One event for both (rule R1): wherever the truth is in the interval it is within the radius.

    The interval is rounded outwards, by less than a hundred-millionth.
    """
    a = BinomialMean(n).radius(math.log(p))
    for s in range(n + 1):
        low, high = clopper_pearson(n, s, math.log(p))
        assert s / n - a <= low + 1e-8
        assert high - 1e-8 <= s / n + a


@given(n=st.integers(1, 10**12), log_p=st.floats(-5_000, 0))
def test_it_is_never_wider_than_hoeffdings_and_inverts_its_tail(n: int, log_p: float) -> None:
    profile = BinomialMean(n)
    radius = profile.radius(log_p)
    assert 0 < radius <= BoundedMean(n).radius(log_p)
    assert profile.log_tail(radius) <= log_p + 1e-9 * max(1.0, -log_p)
    if log_p < -1e-3:
        assert profile.log_tail(radius * 0.999) > log_p
    assert profile.log_tail(0.0) == 0.0


def test_what_it_gains() -> None:
    """A fifth of Hoeffding's radius at the levels of ten questions on ten thousand rows."""
    for n, p, gain in ((10_000, 0.005, 0.18), (10_000, 1e-8, 0.06), (1_000_000, 0.005, 0.185)):
        binomial, hoeffding = (
            profile.radius(math.log(p)) for profile in (BinomialMean(n), BoundedMean(n))
        )
        assert binomial < (1 - gain) * hoeffding


def test_it_needs_rows() -> None:
    with pytest.raises(InvalidArgument):
        BinomialMean(0)
    with pytest.raises(InvalidArgument):
        BinomialMean(10).radius(0.1)
