"""A tail and its radius are one function, read in two directions, at every level."""

from __future__ import annotations

import math

import pytest

from holdfast.theory.base.concentration import (
    Bernstein,
    BinomialMean,
    BoundedMean,
    Concentration,
    DeclaredTail,
    SubExponential,
    SubGaussian,
    TwoSampleU,
)
from holdfast.theory.base.dependence import (
    ClusteredRows,
    ClusteredUnits,
    GraphMean,
    MarkovMean,
    MDependentMean,
    PooledUnits,
)
from holdfast.theory.base.gamma import CatoniMean, MedianOfMeans, PolynomialTail, SubWeibull
from holdfast.theory.base.unbounded import (
    GroupOfRows,
    InUnits,
    Narrower,
    SpreadOfRows,
    UnboundedMean,
    UnboundedUnits,
    Windowed,
    square_scale,
)

OPEN = UnboundedMean(1000, 1.3)
PROFILES: list[Concentration] = [
    SubGaussian(1.5),
    SubExponential(3.0, 0.5),
    Bernstein(10, 0.5, 2.0),
    BoundedMean(64),
    TwoSampleU(25, 100),
    BinomialMean(60),
    MDependentMean(400, 3),
    GraphMean(400, 3),
    MarkovMean(400, 0.5),
    ClusteredRows(10, 28),
    ClusteredUnits(16),
    PooledUnits(900, 300, 4, 0.5, 0.2),
    SubWeibull(0.7, 1.4),
    PolynomialTail(4.0, 0.2),
    MedianOfMeans(1100, 11, 4.0),
    CatoniMean(1000, 1.0, 0.05),
    DeclaredTail(lambda a: -3.0 * a, 400.0),
    OPEN,
    UnboundedMean(1000, 1.3, 0.2, 3),
    UnboundedUnits(900, 2700.0, 5.0, 1.3, 0.2),
    GroupOfRows(900, 0.3, 1.3, 0.2, 2, -3.0),
    Windowed(OPEN, 1000, -800.0),
    InUnits(OPEN, 0.5),
    Narrower(OPEN, SubGaussian(0.04)),
    SpreadOfRows(UnboundedMean(400, *square_scale(1.0)), UnboundedMean(400, 1.0)),
]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda each: type(each).__name__)
def test_a_tail_and_its_radius_are_one_function(profile: Concentration) -> None:
    tried = 0
    for log_p in (-0.003, -0.1, -0.5, -0.7, -1.5, -3.0, -30.0, -300.0):
        radius = profile.radius(log_p)
        if 0.0 < radius < math.inf and profile.log_tail(0.999 * radius) < 0.0:
            assert profile.log_tail(radius) <= log_p * (1 - 1e-9)
            assert profile.log_tail(0.999 * radius) >= log_p
            tried += 1
    assert tried


@pytest.mark.parametrize("profile", PROFILES, ids=lambda each: type(each).__name__)
def test_nothing_is_more_than_certain(profile: Concentration) -> None:
    """Up to the radius of the whole level, and a bit further."""
    whole = profile.radius(0.0)
    for radius in (0.0, 0.5 * whole, whole, math.nextafter(whole, math.inf), 1.001 * whole):
        if radius < math.inf:
            assert profile.log_tail(radius) <= 0.0
