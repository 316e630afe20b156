"""The correlation by bets: exact capital in small worlds, laws, coverage, widths."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import StakeLadder
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.correlation import PairBets, correlation_by_bets
from tests.theory.coverage import too_many
from tests.theory.direct.worlds import World, mean_of, shrunk

LAWS = ("correlation_by_bets",)

x, y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
WORLD = World(9, (Fraction(5, 12), Fraction(1, 12), Fraction(1, 12), Fraction(5, 12)))
RHO = 2 / 3  # both means 1/2, both deviations 1/2


def _capital(
    counts: tuple[int, ...], rho0: float, sign: int, w: float, stretch: float, flip: bool = False
) -> float:
    """ln least capital, the boxes off centre by half their size and around the truth."""
    a0, b0 = 0.5 + 0.5 * w, 0.5 - 0.5 * w
    Y = (b0 - y) if flip else (y - b0)
    deltas = Interval(-2.0 * w, 0.0) if flip else Interval(-1.5 * w, 0.5 * w)
    near = Interval(0.5 - w, 0.5 + w)
    pair = PairBets(
        x - a0,
        Y,
        (a0, 1 - b0 if flip else b0),
        (near, near),
        deltas,
        Interval(-w, w),
        Interval(1.0 / stretch, stretch),
        1.0,
        np.array(counts, dtype=float),
        StakeLadder((0.3, 0.9, 1.5), (0.3, 0.4, 0.3)),
        0.0,
    )
    return pair.excess(rho0, sign)


@pytest.mark.parametrize("sign", [1, -1], ids=["lower", "upper"])
@pytest.mark.parametrize(("w", "stretch"), [(0.0, 1.0), (0.02, 1.0), (0.0, 1.1), (0.05, 1.2)])
def test_least_capital_has_mean_one_at_most(sign: int, w: float, stretch: float) -> None:
    """At the true rho, and at any candidate on the far side of it, wherever the truth is."""

    def grown(rho0: float) -> float:
        return mean_of(WORLD.samples(), lambda c: _capital(c, rho0, sign, w, stretch))

    assert grown(RHO) <= 1.0
    assert grown(RHO + 0.2 * sign) <= 1.0
    if w == 0.0 and stretch == 1.0:
        assert grown(RHO) == pytest.approx(1.0, abs=1e-9)
        # The sabotage: a candidate on the near side is rejected by capital that grows.
        assert grown(RHO - 0.2 * sign) > 1.1


@pytest.mark.parametrize("w", [0.0, 0.03])
def test_the_test_of_zero_is_below_the_flipped_test(w: float) -> None:
    """For a negative truth (here -2/3 of x and 1 - y), sample by sample: one event for one end."""
    for counts, _ in WORLD.samples():
        zero = _capital(counts, 0.0, 1, w, 1.05, flip=True)
        true = _capital(counts, RHO, -1, 0.0, 1.0)
        assert zero <= true + 1e-9


@given(
    rows=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12),
    copies=st.integers(1, 60),
)
@settings(max_examples=20)
def test_intervals_hold_the_sample_and_mirror(rows: list[tuple[float, float]], copies: int) -> None:
    first, second = (np.array(column) for column in zip(*rows, strict=True))
    times = np.full(first.size, copies)
    low, high = correlation_by_bets(first, second, -4.0, times)
    assert -1.0 <= low <= high <= 1.0
    spread = first.std() * second.std()
    if spread > 1e-6:
        seen = float(((first - first.mean()) * (second - second.mean())).mean() / spread)
        assert low - 1e-6 <= seen <= high + 1e-6
    flipped = correlation_by_bets(first, 1 - second, -4.0, times)
    assert flipped == pytest.approx((-high, -low), abs=1e-4)


def _normals(rng: np.random.Generator, n: int, rho: float) -> tuple[list[float], list[float]]:
    z = rng.normal(size=(2, n))
    second = rho * z[0] + math.sqrt(1 - rho * rho) * z[1]
    columns = (np.clip(0.5 + 0.12 * v, 0, 1) for v in (z[0], second))
    first, other = (list(map(float, column)) for column in columns)
    return first, other


@pytest.mark.statistical
def test_coverage() -> None:
    """Clipping at four deviations moves the correlation by less than 1e-4."""
    rng = np.random.default_rng(21)
    missed, twins = [], []
    for _ in range(20):
        first, second = _normals(rng, 300, -0.6)
        interval = correlation_by_bets(first, second, math.log(0.1))
        inner = shrunk(interval, float(np.corrcoef(first, second)[0, 1]), 0.03)
        missed.append(not interval.low <= -0.6 <= interval.high)
        twins.append(not inner.low <= -0.6 <= inner.high)
    assert not too_many(missed, 0.1)
    assert too_many(twins, 0.1)


def test_width_against_the_normal_limit() -> None:
    """At L = 20 and 30,000 rows each side is below 5 times the 95 % normal half-width."""
    first, second = _normals(np.random.default_rng(22), 30_000, 0.6)
    low, high = correlation_by_bets(first, second, -20.0)
    normal = 1.96 * (1 - 0.36) / math.sqrt(30_000)
    seen = float(np.corrcoef(first, second)[0, 1])
    assert 3.06 < (seen - low) / normal < 5.0
    assert 3.06 < (high - seen) / normal < 5.0


def test_nothing_is_known_without_rows_or_spread() -> None:
    everything = Interval(-1.0, 1.0)
    assert correlation_by_bets([], [], -3.0) == everything
    assert correlation_by_bets([0.5] * 100, [0.2, 0.4] * 50, -3.0) == everything
    assert correlation_by_bets([0.0, 1.0], [0.0, 1.0], -3.0) == everything
    with pytest.raises(InvalidArgument, match="x has 2 values and y has 1"):
        correlation_by_bets([0.1, 0.2], [0.3], -3.0)
