"""What every law says of itself: the error, the reach and the charge, counted or drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import betainc

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.median_noise import Median
from holdfast.mechanisms.noise import (
    LAPLACE,
    NO_NOISE,
    NORMAL,
    UNIFORM,
    Grid,
    Law,
    Noise,
    grid_within,
)
from holdfast.theory.leakage.nats import rounding_log_charge
from holdfast.theory.leakage.release import DiscreteUniform
from tests.theory.coverage import counts_refute, most_failures

SECRET = bytes(range(32))


class Known(NamedTuple):
    """P[Z = z] of a law, by hand, and the scale at which it is looked at."""

    law: Law
    scale: int
    probability: Callable[[int], float]


def median_cell(order: int, scale: int) -> Callable[[int], float]:
    """The median of 2 order + 1 uniform numbers on [-M, M) is a beta variable, cut at units."""

    def up_to(unit: int) -> float:
        part = min(1.0, max(0.0, (unit + scale) / (2 * scale)))
        return float(betainc(order + 1, order + 1, part))

    return lambda z: up_to((z + 1) // 2) - up_to((z - 1) // 2) if z % 2 else 0.0


def normal_cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


KNOWN = [
    Known(UNIFORM, 5, lambda z: (abs(z) <= 5) / 11),
    Known(NO_NOISE, 0, lambda z: float(z == 0)),
    Known(LAPLACE, 5, lambda z: math.tanh(0.1) * math.exp(-abs(z) / 5)),
    Known(NORMAL, 5, lambda z: normal_cdf((z + 0.5) / 5) - normal_cdf((z - 0.5) / 5)),
    Known(Median(2), 5, median_cell(2, 5)),
    Known(Median(3), 5, median_cell(3, 5)),
]
LAWS = [known.law for known in KNOWN]
UNBOUNDED = [law for law in LAWS if law.reach(law.resolution) is None]
every_known = pytest.mark.parametrize("known", KNOWN, ids=lambda known: repr(known.law))
every_law = pytest.mark.parametrize("law", LAWS, ids=repr)


@pytest.mark.statistical
@every_known
def test_it_is_drawn_as_said(known: Known) -> None:
    law, scale, probability = known
    drawn = [law.draw(Noise(SECRET, str(j)), scale) for j in range(4_000)]
    cells = [z for z in range(-40, 41) if 4_000 * probability(z) > 20]
    counts = [drawn.count(z) for z in cells]
    expected = [4_000 * probability(z) for z in cells]

    def refuted(expected: list[float]) -> bool:
        outside = 4_000 - sum(expected)
        if outside < 20:  # hardly anything is left, and none may be drawn that cannot be
            return counts_refute(counts, np.array(expected) * sum(counts) / sum(expected))
        return counts_refute([*counts, 4_000 - sum(counts)], [*expected, outside])

    if len(cells) == 1:
        assert counts == [4_000]
        return
    assert not refuted(expected)
    moved = [4_000 * max(1e-3, probability(z + law.parts)) for z in cells]
    assert refuted(moved), "sabotage: the law moved by one cell"


@every_known
@pytest.mark.parametrize("steps", [0, 1, 3, 30])
def test_the_charge_is_the_sum_of_the_largest_probabilities(known: Known, steps: int) -> None:
    """Theorem L's kappa, counted over all places of a cell that makes so many steps."""
    law, scale, probability = known
    grid = Grid(law.parts * 2**20, scale, law.reach(scale))
    radius = steps / 2**21  # so many units; median noise moves in units of two cells
    places = [law.parts * step for step in range(steps + 1)]
    reach = range(-150, 151 + places[-1])
    kappa = math.fsum(max(probability(z - place) for place in places) for z in reach)
    charge = law.log_charge(radius, grid)
    assert charge >= math.log(kappa) - 1e-12
    slack = 0.3 if isinstance(law, Median) else 1e-9  # its theorem is about the real noise
    assert charge <= math.log(kappa) + slack


@every_law
@given(room=st.fractions(Fraction(1, 10**6), Fraction(1, 2)), log_beta=st.floats(-50, -1e-3))
def test_a_grid_within_a_room_is_the_coarsest(law: Law, room: Fraction, log_beta: float) -> None:
    grid = grid_within(law, room, log_beta)
    off = Fraction(law.error(grid.scale, log_beta)) + Fraction(1, 2)
    assert off / Fraction(grid.cells) <= room
    if grid.scale:
        assert off / (Fraction(grid.cells) - 1) > room
    else:
        assert off / Fraction(math.nextafter(grid.cells, 0)) > room
    assert grid.reach == law.reach(grid.scale)


@every_known
def test_a_bounded_law_keeps_to_its_reach(known: Known) -> None:
    law, scale, probability = known
    reach = law.reach(scale)
    if reach is None:
        assert all(probability(z) > 0 for z in range(-30, 31))
        return
    assert law.error(scale, -1e9) == reach
    assert math.fsum(probability(z) for z in range(-reach, reach + 1)) == pytest.approx(1.0)
    assert all(abs(law.draw(Noise(SECRET, str(j)), scale)) <= reach for j in range(300))


@pytest.mark.statistical
@pytest.mark.parametrize("law", UNBOUNDED, ids=repr)
@pytest.mark.parametrize(("beta", "draws"), [(0.05, 4_000), (0.001, 12_000)])
def test_the_error_is_exceeded_as_rarely_as_said(law: Law, beta: float, draws: int) -> None:
    scale = 2**20
    error = law.error(scale, math.log(beta))
    sizes = np.abs([law.draw(Noise(SECRET, str(j)), scale) for j in range(draws)])
    assert np.count_nonzero(sizes > error) <= most_failures(draws, beta)
    assert np.count_nonzero(sizes > 0.7 * error) > most_failures(draws, beta)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("cells", None), ("cells", "9"), ("cells", 0), ("cells", math.nan), ("scale", -1),
     ("scale", None), ("scale", 0.5), ("reach", -1), ("reach", "0")],
)  # fmt: skip
def test_what_is_no_grid_is_refused(name: str, wrong: Any) -> None:
    """Ledgers name grids: whoever forged one is told so, in words."""
    with pytest.raises(InvalidArgument, match=f"{name} is"):
        replace(Grid(9, 1, 1), **{name: wrong})


# Grids ------------------------------------------------------------------------------------------


@given(
    cells=st.integers(1, 10**12) | st.floats(1, 1e9),
    numerator=st.integers(0, 10**9),
    more=st.integers(1, 10**9),
)
def test_the_cell_is_the_nearest(cells: int | float, numerator: int, more: int) -> None:
    grid, q = Grid(cells, 0, 0), Fraction(numerator, numerator + more)
    cell = grid.cell(numerator, numerator + more)
    assert cell == math.floor(q * Fraction(cells) + Fraction(1, 2))
    assert abs(grid.place(cell) - q) <= 1 / (2 * Fraction(cells))
    assert 0 <= cell <= grid.last


@given(cells=st.integers(1, 10**9), scale=st.integers(0, 10**6), radius=st.floats(0, 1))
def test_uniform_noise_is_charged_as_its_theorem_says(
    cells: int, scale: int, radius: float
) -> None:
    charge = UNIFORM.log_charge(radius, Grid(cells, scale, scale))
    assert charge == DiscreteUniform(cells, scale).log_charge(radius)


@given(half_pitch=st.floats(1e-6, 0.5), radius=st.floats(0, 0.5))
def test_rounding_is_charged_as_its_theorem_says(half_pitch: float, radius: float) -> None:
    """Up to a cell, where the double that says how many cells there are is on the other side."""
    grid = grid_within(NO_NOISE, Fraction(half_pitch), 0.0)
    charge = NO_NOISE.log_charge(radius, grid)
    theorem = min(rounding_log_charge(radius, half_pitch), math.log(grid.last + 1))
    met = Fraction(radius) / Fraction(half_pitch)
    on_the_edge = abs(met - round(met)) < Fraction(1, 10**9)
    assert charge == pytest.approx(theorem, rel=1e-12) or on_the_edge
    assert charge >= theorem - 1e-12
