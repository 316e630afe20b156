"""Kendall's tau by blocks: against pairs counted one by one, exact coverage, widths."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.correlation import (
    block_concordance,
    kendall_block_interval,
    kendall_blocks,
    sum_of_signs,
)
from tests.theory.direct.worlds import World, miss, shrunk

LAWS = ("kendall_block_interval",)


def _tau(x: list[int], y: list[int]) -> float:
    signs = [np.sign(x[a] - x[b]) * np.sign(y[a] - y[b]) for a, b in combinations(range(len(x)), 2)]
    return float(np.mean(signs))


@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=25),
    blocks=st.integers(1, 12),
)
@settings(max_examples=50, deadline=None)
def test_block_taus_are_those_of_their_pairs(rows: list[tuple[int, int]], blocks: int) -> None:
    x, y = ([row[side] for row in rows] for side in (0, 1))
    blocks = min(blocks, len(rows) // 2)
    parts = zip(np.array_split(x, blocks), np.array_split(y, blocks), strict=True)
    expected = [(1 + _tau(a.tolist(), b.tolist())) / 2 for a, b in parts]
    assert block_concordance(x, y, blocks) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("p", "factor"), [(0.05, 0.4), (1e-3, 0.5), (1e-6, 0.5)])
def test_exact_coverage_of_pairs(p: float, factor: float) -> None:
    """22 blocks of two rows are concordant (1/2), discordant (1/5) or tied: tau = .3."""
    world = World(22, (Fraction(1, 2), Fraction(1, 5), Fraction(3, 10)))
    values = np.array([1.0, 0.0, 0.5])
    samples = list(world.samples())
    table = {
        c: kendall_block_interval(np.repeat(values, c)[np.newaxis], math.log(p)) for c, _ in samples
    }
    truth = Fraction(3, 10)
    assert miss(samples, table.__getitem__, truth) <= p

    def sabotaged(c: tuple[int, ...]) -> Interval:
        return shrunk(table[c], (c[0] - c[1]) / world.n, factor)

    assert miss(samples, sabotaged, truth) > p


def test_partitions_of_one_sample_count_once() -> None:
    """The twin of the root: the lines of eight partitions laid end to end are as if 8 n rows."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=400)
    y = 0.5 * x + rng.normal(size=400)
    B = kendall_blocks(400)
    orders = [rng.permutation(400) for _ in range(8)]
    lines = np.stack([block_concordance(x[order], y[order], B) for order in orders])
    right = kendall_block_interval(lines, -8.0)
    wrong = kendall_block_interval(lines.reshape(1, -1), -8.0)
    single = kendall_block_interval(lines[:1], -8.0)
    assert np.ptp(wrong) < 0.5 * np.ptp(right)
    assert np.ptp(right) < np.ptp(single) * 1.05


@pytest.mark.parametrize(("n", "ratio"), [(1000, 1.8), (5000, 1.6)])
def test_width_against_the_normal_one(n: int, ratio: float) -> None:
    """The normal half-width from the projection: tau of a bivariate normal with rho = .5."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    y = 0.5 * x + math.sqrt(0.75) * rng.normal(size=n)
    B = kendall_blocks(n)
    orders = [rng.permutation(n) for _ in range(8)]
    lines = np.stack([block_concordance(x[order], y[order], B) for order in orders])
    p = 1e-4
    low, high = kendall_block_interval(lines, math.log(p))
    tau = 2 / math.pi * math.asin(0.5)
    assert low < tau < high
    variance = 4 * (1 / 9 - (2 / math.pi * math.asin(0.25)) ** 2) / n
    assert (high - low) / 2 < ratio * float(norm.isf(p / 2)) * math.sqrt(variance)


@given(
    lines=st.lists(st.lists(st.floats(0, 1), min_size=6, max_size=6), min_size=1, max_size=3),
    log_p=st.floats(-30, -0.5),
)
@settings(max_examples=25, deadline=None)
def test_intervals_hold_the_blocks_mirror_and_widen(lines: list[list[float]], log_p: float) -> None:
    table = np.array(lines)
    low, high = kendall_block_interval(table, log_p)
    assert -1.0 <= low <= 2 * table.mean() - 1 + 1e-9
    assert 2 * table.mean() - 1 - 1e-9 <= high <= 1.0
    mirrored = kendall_block_interval(1.0 - table, log_p)
    assert mirrored == pytest.approx((-high, -low), abs=1e-9)
    wider = kendall_block_interval(table, log_p - 1.0)
    assert wider.low <= low + 1e-9
    assert wider.high >= high - 1e-9


def test_blocks_have_two_rows() -> None:
    assert [kendall_blocks(n) for n in (2, 3, 5, 1000)] == [1, 1, 2, 130]
    with pytest.raises(InvalidArgument, match="B is"):
        block_concordance([1, 2, 3], [1, 2, 3], 2)
    with pytest.raises(InvalidArgument, match="same rows"):
        block_concordance([1, 2, 3], [1, 2], 1)
    with pytest.raises(InvalidArgument, match="n is"):
        kendall_blocks(1)


@given(
    rows=st.lists(st.tuples(st.integers(0, 6), st.sampled_from([-math.inf, 0.0, 1.5])), max_size=40)
)
@settings(max_examples=60, deadline=None)
def test_signs_are_summed_over_all_pairs(rows: list[tuple[int, float]]) -> None:
    pairs = combinations(rows, 2)
    signs = (((a > c) - (a < c)) * ((b > d) - (b < d)) for (a, b), (c, d) in pairs)
    assert sum_of_signs([a for a, _ in rows], [b for _, b in rows]) == sum(signs)
