"""Releases of whole vectors: cells that can come out are counted, and balls are not left."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chi2

from holdfast.theory.leakage.release import (
    sub_gaussian_vector_l1_radius,
    sub_gaussian_vector_radius,
    vector_gaussian_log_charge,
    vector_mean_radius,
    vector_uniform_log_charge,
)
from tests.theory.coverage import too_many


def reachable(d: int, radius: float, m: int, centre: tuple[float, ...]) -> int:
    """How many cells come out for some vector within the radius of the centre.

    A cell does if the cube of vectors that can lead to it is no further than the radius.
    """
    most = math.ceil(radius) + m + 2
    return sum(
        math.dist(
            centre,
            [min(max(c, z - m - 0.5), z + m + 0.5) for c, z in zip(centre, cell, strict=True)],
        )
        <= radius
        for cell in product(range(-most, most + 1), repeat=d)
    )


@pytest.mark.parametrize("centre", [(0.0, 0.0, 0.0), (0.5, 0.5, 0.5), (0.3, -0.2, 0.4)])
@pytest.mark.parametrize(("d", "radius", "m"), [(1, 2.0, 3), (2, 3.0, 2), (2, 0.4, 0), (3, 2.5, 1)])
def test_no_more_cells_can_be_reached(
    d: int, radius: float, m: int, centre: tuple[float, ...]
) -> None:
    found = reachable(d, radius, m, centre[:d])
    assert math.log(found / (2 * m + 1) ** d) <= vector_uniform_log_charge(d, radius, m)
    if radius > 1:  # the twin: a ball of half the radius is left
        assert math.log(found / (2 * m + 1) ** d) > vector_uniform_log_charge(d, radius / 2, 50)


@given(st.integers(1, 100), st.floats(0.001, 3.0))
def test_a_ball_is_never_dearer_than_the_box_around_it(d: int, ratio: float) -> None:
    m = 2**20
    box = d * math.log1p(ratio)
    assert vector_uniform_log_charge(d, ratio * m, m) <= box + d * 1e-5
    wide = d * math.log1p(ratio * math.sqrt(2 / math.pi))
    assert vector_gaussian_log_charge(d, ratio) <= wide + 1e-9


@pytest.mark.parametrize(("d", "n"), [(1, 40), (3, 40), (100, 25)])
def test_means_of_unit_vectors_stay_in_their_ball(d: int, n: int) -> None:
    rng = np.random.default_rng([20_26, d])
    drawn = rng.normal(size=(4_000, n, d))
    drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
    lengths = np.linalg.norm(drawn.mean(axis=1), axis=1)
    for beta in (0.5, 0.05):
        assert not too_many(lengths > vector_mean_radius(n, 2.0, 1.0, math.log(beta)), beta)
    # The twin forgets that vectors in many directions add up to something at all.
    assert too_many(lengths > vector_mean_radius(n, 2.0, 0.0, math.log(0.9)), 0.9) == (d > 3)


@pytest.mark.parametrize("d", [1, 2, 7, 48, 256])
@pytest.mark.parametrize("log_p", [-0.7, -3.0, -20.0, -200.0])
def test_normal_vectors_stay_in_the_ball_of_their_scale(d: int, log_p: float) -> None:
    """The square of the length has a chi-square law: exactly, however rare."""
    radius = sub_gaussian_vector_radius(9, d, 2.0, log_p)
    assert chi2.logsf((radius * 3 / 2) ** 2, d) <= log_p
    if log_p <= -20:  # the twin forgets the last term
        assert chi2.logsf(d + 2 * math.sqrt(-log_p * d), d) > log_p


@pytest.mark.parametrize("d", [2, 40])
def test_signed_sums_are_in_their_ball_in_l1(d: int) -> None:
    """Independent coordinates of scale sigma/sqrt(d): all signed sums have the scale sigma."""
    rng = np.random.default_rng([20_27, d])
    lengths = np.abs(rng.normal(size=(40_000, d)) / math.sqrt(d)).sum(axis=1)
    for beta in (0.5, 0.01):
        radius = sub_gaussian_vector_l1_radius(1, d, 1.0, math.log(beta))
        assert not too_many(lengths > radius, beta)
    # The twin forgets the union over signs.
    assert too_many(lengths > math.sqrt(2 * math.log(1 / 0.5)), 0.5) == (d > 2)
