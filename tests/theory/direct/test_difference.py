"""The difference of two group means: exact coverage, laws, width against the box."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import ArrayLike

from holdfast.theory.base.bets import StakeLadder, log_least_capital
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import difference_interval
from holdfast.theory.direct.bounded_mean import bounded_mean_interval
from holdfast.theory.direct.difference import enclosed_difference_interval, group_difference_lower
from tests.theory.direct.worlds import World, coin, mean_of, miss, shrunk

LAWS = ("group_difference_lower",)

BINARY = [0.0, 1.0]


def _joint(log_p: float, counts: tuple[int, ...]) -> Interval:
    """Both ends by the joint bets, however few the rows; a coin is mirrored by its counts."""
    side, (a, b, c, d) = log_p - math.log(2), counts
    return Interval(
        group_difference_lower(BINARY, BINARY, side, (a, b), (c, d)),
        -group_difference_lower(BINARY, BINARY, side, (b, a), (d, c)),
    )


def _interval(x: ArrayLike, y: ArrayLike, log_p: float) -> Interval:
    return enclosed_difference_interval((x, x, None), (y, y, None), log_p)


def _either(log_p: float, counts: tuple[int, ...]) -> Interval:
    return enclosed_difference_interval(
        (BINARY, BINARY, counts[:2]), (BINARY, BINARY, counts[2:]), log_p
    )


@pytest.mark.parametrize("bounds", [_joint, _either])
@pytest.mark.parametrize(("p", "factor"), [(0.1, 0.25), (1e-3, 0.4)])
def test_exact_coverage(
    bounds: Callable[[float, tuple[int, ...]], Interval], p: float, factor: float
) -> None:
    first, second = coin(12, Fraction(1, 4)), coin(9, Fraction(3, 4))
    pairs = [((*a, *b), u * w) for a, u in first.samples() for b, w in second.samples()]
    truth = Fraction(-1, 2)
    table = {c: bounds(math.log(p), c) for c, _ in pairs}
    assert miss(pairs, table.__getitem__, truth) <= p

    def sabotaged(c: tuple[int, ...]) -> Interval:
        return shrunk(table[c], c[1] / first.n - c[3] / second.n, factor)

    assert miss(pairs, sabotaged, truth) > p


@pytest.mark.parametrize("n", [30, 120, 500])
def test_the_form_is_chosen_by_the_numbers_of_rows(n: int) -> None:
    """Never much wider than the box, and narrower than it where there are rows enough."""
    rng = np.random.default_rng(n)
    x, y = rng.beta(2, 5, n), rng.beta(2, 6, n)
    chosen = _interval(x, y, -20.0)
    parts = [bounded_mean_interval(column, -20.0 - math.log(2)) for column in (x, y)]
    box = difference_interval(*parts[0], *parts[1])
    if n < 250:
        assert chosen == pytest.approx(box, abs=1e-12)
    else:
        assert np.ptp(chosen) < 0.95 * np.ptp(box)


def test_one_product_for_shared_rows_would_be_false() -> None:
    """Two columns on the same rows: the product's capital grows, a factor for each row does not."""
    n, kappa = 12, 12.0
    # Cells: (x, y) = (1, 0), (0, 1), (0, 0), (1, 1).
    world = World(n, (Fraction(3, 8), Fraction(3, 8), Fraction(1, 8), Fraction(1, 8)))
    x, y = np.array([1.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    ladder = StakeLadder((kappa,), (1.0,))

    def product(counts: tuple[int, ...]) -> float:
        g = np.concatenate([(x - 0.5) / n, (0.5 - y) / n])
        return log_least_capital(ladder, [g], np.array(2 * counts, dtype=float), 0.5 / n, 1.0)

    def by_row(counts: tuple[int, ...]) -> float:
        g = 0.5 * ((x - 0.5) / n + (0.5 - y) / n)
        return log_least_capital(ladder, [g], np.array(counts, dtype=float), 0.5 / n, 1.0)

    assert mean_of(world.samples(), by_row) == pytest.approx(1.0, abs=1e-9)
    assert mean_of(world.samples(), product) > 2.0


columns = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(x=columns, y=columns, log_p=st.floats(-40, -0.5))
@settings(max_examples=25)
def test_intervals_hold_the_sample_and_mirror(x: list[float], y: list[float], log_p: float) -> None:
    low, high = _interval(x, y, log_p)
    seen = float(np.mean(x) - np.mean(y))
    assert -1.0 <= low <= seen + 1e-9
    assert seen - 1e-9 <= high <= 1.0
    mirrored = _interval([1 - v for v in x], [1 - v for v in y], log_p)
    assert mirrored == pytest.approx((-high, -low), abs=1e-5)


def test_an_empty_group_says_nothing() -> None:
    assert _interval([], [0.5], -3.0) == Interval(-1.0, 1.0)
    assert _interval([0.5], [], -3.0) == Interval(-1.0, 1.0)
    assert group_difference_lower([0.5], [0.5], -3.0, [0], [5]) == -1.0


@pytest.mark.parametrize("L", [12.0, 20.0])
def test_the_joint_bet_is_narrower_than_the_box(L: float) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.beta(2, 5, 3000), rng.beta(2, 6, 7000)
    joint = _interval(x, y, -L)
    parts = [bounded_mean_interval(column, -L - math.log(2)) for column in (x, y)]
    box = difference_interval(*parts[0], *parts[1])
    assert np.ptp(joint) < 0.8 * np.ptp(box)
    normal = 1.96 * math.sqrt(x.var() / x.size + y.var() / y.size)
    assert 0.5 * np.ptp(joint) < {12.0: 2.95, 20.0: 3.7}[L] * normal
