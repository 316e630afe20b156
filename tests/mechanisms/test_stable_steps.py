"""Answers as typically stable steps: the finest noise of each kind of statistic is what counts."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.mechanism import Wish
from holdfast.mechanisms.noise import Grid
from holdfast.mechanisms.stable_steps import StableSteps
from holdfast.mechanisms.terms import Account
from holdfast.papers.stability import least_leakage
from holdfast.question.row import GRID_ERROR
from tests.mechanisms.fake import NUMBER, independent

N, LOG_NU = 2_000, math.log(1e-6)
SCALE = 1_000


def steps(*noisy: tuple[int, dict[str, Any] | None]) -> StableSteps:
    """One answer after another with so many cells in the range, and noise of 1,000 cells."""
    (plain,) = BOUNDED.offer(independent(N), Account(), [Wish(NUMBER, 0.3)])
    found = StableSteps()
    for cells, profile in noisy:
        offer = replace(plain, grid=Grid(cells, SCALE, None), profile=profile)
        found = found.after([offer])
    return found


def apart(radius: float, cells: int) -> Fraction:
    """Whole cells between the truth's and the sample's, in scales of the noise."""
    return Fraction(math.ceil(Fraction(radius) * cells), SCALE)


HOEFFDING = math.sqrt((math.log(2) - LOG_NU) / (2 * N)) + GRID_ERROR


@pytest.mark.parametrize("order", [(777, 40), (40, 777)])
def test_the_finest_grid_counts_whenever_it_came(order: tuple[int, int]) -> None:
    found = steps(*((cells, None) for cells in order))
    exactly = apart(HOEFFDING, 777)
    assert found.count == 2
    assert exactly <= Fraction(found.ratio(independent(N), LOG_NU)) <= exactly * (1 + 2**-40)


@pytest.mark.parametrize("order", [1, -1])
def test_the_kind_that_is_furthest_apart_counts(order: int) -> None:
    kinds = [(777, None), (777, {"sigma": 0.1, "b": None})][::order]
    exactly = apart(0.1 * math.sqrt(2 * (math.log(2) - LOG_NU)) + GRID_ERROR, 777)
    assert exactly > apart(HOEFFDING, 777)
    assert Fraction(steps(*kinds).ratio(independent(N), LOG_NU)) == pytest.approx(exactly)


def test_every_answer_leaks() -> None:
    found = least_leakage(3, [(0.1, -50.0), (0.2, -60.0)], math.log(0.01))
    assert found is not None
    assert found.eta == pytest.approx(3 * math.log1p(0.1))
    assert found.eta >= 3 * math.log1p(0.1)
    # P[Bad] is at most nu (1 + kappa + kappa^2), and no more than the level.
    assert found.log_delta == pytest.approx(-50 + math.log(1 + 1.1 + 1.1**2))
    assert least_leakage(3, [(0.1, math.log(0.01))], math.log(0.01)) is None
