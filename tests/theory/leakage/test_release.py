"""Laws of the discrete uniform release, all of them in exact fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument, ToleranceTooTight
from holdfast.papers.theorems.other_accounts import discrete_uniform_log_charge
from holdfast.theory.leakage.nats import ask_log_cost, rounding_log_charge
from holdfast.theory.leakage.release import (
    RESOLUTION,
    DiscreteUniform,
    discrete_uniform_for,
    discrete_uniform_overhead,
)

LAWS = ("discrete_uniform_for", "discrete_uniform_overhead")

GRID = st.integers(1, 10**12)
NOISE_CELLS = st.integers(0, 2**20)


@st.composite
def sums(draw: st.DrawFn) -> tuple[int, int, int]:
    """An exact sum S of n values on a 1/B grid in [0, 1]."""
    n, B = draw(st.integers(1, 10**9)), draw(st.integers(1, 2**30))
    return draw(st.integers(0, n * B)), n, B


@given(sample=sums(), G=GRID)
def test_the_cell_is_the_rounded_value_in_integers(sample: tuple[int, int, int], G: int) -> None:
    total, n, B = sample
    cell = DiscreteUniform(G, 0).cell(total, n * B)
    assert cell == math.floor(Fraction(total, n * B) * G + Fraction(1, 2))
    assert 0 <= cell <= G


def test_halves_are_rounded_up_where_round_would_go_to_even() -> None:
    release = DiscreteUniform(10, 0)
    assert [release.cell(odd, 20) for odd in (1, 3, 5, 7)] == [1, 2, 3, 4]
    assert [round(odd / 2) for odd in (1, 3, 5, 7)] == [0, 2, 2, 4]


@given(sample=sums(), G=GRID, m=NOISE_CELLS, data=st.data())
def test_the_answer_is_always_within_reach_of_the_sample_value(
    sample: tuple[int, int, int], G: int, m: int, data: st.DataObject
) -> None:
    total, n, B = sample
    release = DiscreteUniform(G, m)
    cell = release.cell(total, n * B)
    for noise in (-m, m, data.draw(st.integers(-m, m))):
        assert abs(release.answer(cell, noise) - Fraction(total, n * B)) <= release.reach


@given(tolerance=st.floats(1e-9, 10), share=st.floats(0, 1, exclude_max=True), m=NOISE_CELLS)
def test_reach_and_radius_fit_in_the_tolerance_and_no_coarser_grid_does(
    tolerance: float, share: float, m: int
) -> None:
    radius = share * tolerance
    if radius >= tolerance:
        return
    release = discrete_uniform_for(tolerance, radius, m)
    assert release.m == m
    assert release.reach + Fraction(radius) <= Fraction(tolerance)
    if release.G > 1:
        coarser = DiscreteUniform(release.G - 1, m)
        assert coarser.reach + Fraction(radius) > Fraction(tolerance)


@pytest.mark.parametrize("radius", [0.1, math.nextafter(0.1, 1), 5.0])
def test_no_noise_fits_below_the_radius(radius: float) -> None:
    with pytest.raises(ToleranceTooTight, match=r"tolerance is 0\.1"):
        discrete_uniform_for(0.1, radius)


def test_arguments_are_checked() -> None:
    for build in (
        lambda: DiscreteUniform(0, 1),
        lambda: DiscreteUniform(10, -1),
        lambda: DiscreteUniform(10, 1).log_charge(-0.1),
        lambda: discrete_uniform_for(0.1, -0.1),
        lambda: discrete_uniform_log_charge(0.1, Fraction(-1, 7), 1),
    ):
        with pytest.raises(InvalidArgument):
            build()


def _least_kappa(release: DiscreteUniform, alpha: Fraction, theta: Fraction) -> Fraction:
    """Sum over all answers of the largest probability that a value within alpha can give it."""
    G, m = release.G, release.m
    low, high = max(theta - alpha, Fraction(0)), min(theta + alpha, Fraction(1))
    # Values at the interval's ends and at every cell's edge meet every cell that can be met.
    edges = (Fraction(2 * c + 1, 2 * G) for c in range(G))
    values = {low, high, *(edge for edge in edges if low <= edge <= high)}
    cells = {release.cell(value.numerator, value.denominator) for value in values}
    return sum(
        (
            max(Fraction(abs(answer - cell) <= m, 2 * m + 1) for cell in cells)
            for answer in range(-m, G + m + 1)
        ),
        Fraction(0),
    )


@pytest.mark.parametrize(("G", "m"), list(itertools.product([1, 2, 3, 5], [0, 1, 2, 4])))
def test_the_charge_is_the_largest_likelihood_ratio_bound_and_attained(G: int, m: int) -> None:
    """Over all outputs and every kind of position of the truth: spread, and beside edges."""
    release, sliver = DiscreteUniform(G, m), Fraction(1, 10**9)
    edges = [Fraction(2 * c + 1, 2 * G) for c in range(G)]
    for step in range(8 * G + 3):
        alpha = Fraction(step / (8 * G))
        beside = (e + s * alpha + d for e in edges for s in (-1, 1) for d in (-sliver, 0, sliver))
        spread = (Fraction(i, 12) for i in range(13))
        thetas = [theta for theta in (*beside, *spread) if 0 <= theta <= 1]
        worst = max(_least_kappa(release, alpha, theta) for theta in thetas)
        charge = release.log_charge(float(alpha))
        assert charge >= math.log(worst)
        # An interval that leaves [0, 1] on no side (or on both) meets as many cells as charged.
        if 2 * alpha <= 1 - Fraction(1, G) or alpha >= 1:
            assert charge == pytest.approx(math.log(worst), rel=1e-12, abs=1e-300)


@given(G=st.integers(1, 1000), m=st.integers(0, 1000), radius=st.floats(0, 2))
def test_the_charge_is_that_of_the_grid_up_to_the_whole_range(
    G: int, m: int, radius: float
) -> None:
    charge = DiscreteUniform(G, m).log_charge(radius)
    unbounded = discrete_uniform_log_charge(radius, Fraction(1, G), m)
    assert charge == min(unbounded, discrete_uniform_log_charge(0.5, Fraction(1, G), m))


@given(G=st.sampled_from([2**i for i in range(12)]), radius=st.floats(0, 0.5))
def test_without_noise_the_release_is_rounding(G: int, radius: float) -> None:
    assert DiscreteUniform(G, 0).log_charge(radius) == pytest.approx(
        rounding_log_charge(radius, 0.5 / G), rel=1e-12, abs=1e-300
    )


@given(
    tolerance=st.floats(1e-6, 0.5),
    share=st.floats(0, 0.999999),
    m=st.sampled_from([1, 2, 5, 100, RESOLUTION]),
)
def test_the_grid_costs_little_more_than_continuous_noise(
    tolerance: float, share: float, m: int
) -> None:
    radius = share * tolerance
    cost = discrete_uniform_for(tolerance, radius, m).log_charge(radius)
    assert cost <= ask_log_cost(radius, tolerance) + discrete_uniform_overhead(m)


@given(
    t=st.floats(1e-6, 0.5),
    ratio=st.floats(1e-3, 0.999),
    narrower=st.floats(1e-6, 1.0),
    m=NOISE_CELLS,
)
def test_a_smaller_radius_is_narrower_for_the_charge_of_the_larger(
    t: float, ratio: float, narrower: float, m: int
) -> None:
    """No higher charge; no wider; and one float less has a grid that spans more cells."""
    radius, narrow = ratio * t, narrower * ratio * t
    wide = discrete_uniform_for(t, radius, m)
    found = wide.narrowed(radius, narrow)
    assert narrow < found <= t
    release = discrete_uniform_for(found, narrow, m)
    assert release.reach + Fraction(narrow) <= Fraction(found)
    assert release.log_charge(narrow) <= wide.log_charge(radius)
    spanned = math.ceil(2 * Fraction(radius) * wide.G)
    if spanned <= wide.G:  # not more than all cells
        finer = discrete_uniform_for(math.nextafter(found, 0.0), narrow, m)
        assert math.ceil(2 * Fraction(narrow) * finer.G) > spanned
