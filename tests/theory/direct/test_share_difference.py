"""The difference of two shares: its exact probability of a miss, everywhere and just below each
end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, norm

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval, clopper_pearson
from holdfast.theory.direct.difference import (
    CountBlocks,
    share_difference_interval,
    share_difference_lower,
    share_order,
)

LAWS = ("share_difference_lower",)

Array = NDArray[np.float64]
Lower = Callable[[int, int, int, int, float], float]


@cache
def ends(n1: int, n2: int, q: float) -> Array:
    """The lower end of every sample."""
    return _ends(share_difference_lower, n1, n2, q)


def _ends(lower: Lower, n1: int, n2: int, q: float) -> Array:
    log_q = math.log(q)
    return np.array([[lower(n1, i, n2, j, log_q) for j in range(n2 + 1)] for i in range(n1 + 1)])


def worst_miss(low: Array, pairs: tuple[Array, Array], delta: Array) -> float:
    """The largest probability of a lower end above delta, over the pairs of shares."""
    (n1, n2), (p1, p2) = (size - 1 for size in low.shape), pairs
    first = binom.pmf(np.arange(n1 + 1), n1, p1[:, None])
    second = binom.pmf(np.arange(n2 + 1), n2, p2[:, None])
    missed = low[None] > delta[:, None, None]
    return float(np.einsum("ki,kj,kij->k", first, second, missed).max())


def everywhere() -> tuple[Array, Array]:
    shares = np.concatenate([np.linspace(0, 1, 34), [1e-3, 5e-3, 0.015, 0.02, 0.98, 0.985, 0.999]])
    p1, p2 = np.meshgrid(shares, shares)
    return p1.ravel(), p2.ravel()


@pytest.mark.parametrize("q", [0.025, 5e-4, 1e-7])
@pytest.mark.parametrize(("n1", "n2"), [(8, 8), (12, 5)])
def test_exact_coverage_at_every_pair_of_shares(n1: int, n2: int, q: float) -> None:
    pairs = everywhere()
    delta = pairs[0] - pairs[1]
    low = ends(n1, n2, q)
    assert worst_miss(low, pairs, delta) <= q

    estimate = np.arange(n1 + 1)[:, None] / n1 - np.arange(n2 + 1) / n2
    assert worst_miss(estimate - 0.9 * (estimate - low), pairs, delta) > q
    wald = _ends(_wald, n1, n2, q)
    assert worst_miss(wald, pairs, delta) > 5 * q


def _wald(n1: int, i: int, n2: int, j: int, log_q: float) -> float:
    p1, p2 = i / n1, j / n2
    z = float(norm.isf(math.exp(log_q)))
    return p1 - p2 - z * math.sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)


@pytest.mark.parametrize("q", [0.025, 5e-4, 1e-7])
@pytest.mark.parametrize(("n1", "n2"), [(1, 1), (8, 8), (12, 5), (2, 40)])
def test_exact_coverage_just_below_each_end(n1: int, n2: int, q: float) -> None:
    """Where the miss jumps: differences a little below each end, at every p2."""
    low = ends(n1, n2, q)
    levels = np.unique(low[low > -1.0]) - 1e-12
    if not levels.size:
        return
    p2 = np.linspace(0.0, 1.0, 101)
    delta, second = (each.ravel() for each in np.meshgrid(levels, p2))
    possible = (second + delta >= 0.0) & (second + delta <= 1.0)
    delta, second = delta[possible], second[possible]
    worst = worst_miss(low, (second + delta, second), delta)
    assert worst <= q
    if n1 + n2 >= 15:
        assert worst > 0.4 * q  # hardly anything is given away


def _boxes(n1: int, i: int, n2: int, j: int, q: float) -> list[Interval]:
    """What both shares may be: each of the four ends fails with q/80."""
    return [clopper_pearson(n, count, math.log(q / 40)) for n, count in ((n1, i), (n2, j))]


def _in_boxes(boxes: list[Interval], p2: Array, delta: float) -> NDArray[np.bool_]:
    first, second = boxes
    p1 = p2 + delta
    return (first.low <= p1) & (p1 <= first.high) & (second.low <= p2) & (p2 <= second.high)


@pytest.mark.parametrize(
    ("n1", "i", "n2", "j", "q"),
    [
        (25, 18, 35, 5, 1e-3),
        (40, 30, 60, 3, 1e-12),
        (20, 0, 30, 5, 1e-3),
        (300, 299, 200, 190, 0.01),
    ],
)
def test_the_end_is_where_the_worst_probability_is_the_level(
    n1: int, i: int, n2: int, j: int, q: float
) -> None:
    low = share_difference_lower(n1, i, n2, j, math.log(q))
    z = float(norm.isf(q))
    region = np.array(
        [
            [share_order(n1, a, n2, b, z) >= share_order(n1, i, n2, j, z) for b in range(n2 + 1)]
            for a in range(n1 + 1)
        ]
    )
    boxes = _boxes(n1, i, n2, j, q)

    def worst(delta: float) -> float:
        p2 = np.linspace(max(0.0, -delta), min(1.0, 1.0 - delta), 2001)
        p2 = p2[_in_boxes(boxes, p2, delta)]
        first = binom.pmf(np.arange(n1 + 1), n1, (p2 + delta)[:, None])
        second = binom.pmf(np.arange(n2 + 1), n2, p2[:, None])
        return float(np.einsum("ki,kj,ij->k", first, second, region).max())

    assert worst(low) <= 0.95 * q
    assert worst(low + 1e-3) > 0.95 * q


@pytest.mark.parametrize(("n1", "n2"), [(300_000, 300_000), (300_000, 50), (50, 300_000)])
def test_blocks_are_on_the_safe_side_and_cost_little(n1: int, n2: int) -> None:
    """So many counts are likely that they are taken in blocks: the exact sum at the end."""
    i, j, q = round(0.3 * n1), round(0.2 * n2), 1e-4
    low = share_difference_lower(n1, i, n2, j, math.log(q))
    z = float(norm.isf(q))
    least = share_order(n1, i, n2, j, z)
    reach = round(4.5 * math.sqrt(n1))
    first = np.arange(max(0, i - reach), min(n1, i + reach) + 1)
    # The region's edge rises with the first count.
    edge, last = [], -1
    for count in first.tolist():
        while last < n2 and share_order(n1, count, n2, last + 1, z) >= least:
            last += 1 if share_order(n1, count, n2, min(n2, last + 200), z) < least else 200
        edge.append(last)
    far = np.linspace(-1.0, 1.0, 9)
    boxes = _boxes(n1, i, n2, j, q)

    def worst(delta: float) -> float:
        p2 = np.concatenate([0.2 + far / math.sqrt(n2), 0.3 - delta + far / math.sqrt(n1)])
        inside = p2[_in_boxes(boxes, p2, delta)][:, None]
        chances = binom.pmf(first, n1, inside + delta) * binom.cdf(edge, n2, inside)
        above = binom.sf(first[-1], n1, inside + delta)
        return float((chances.sum(axis=1, keepdims=True) + above).max())

    half = 0.3 - 0.2 - low
    assert worst(low) <= 0.95 * q
    assert worst(low + 0.03 * half) > 0.95 * q


def test_a_block_has_at_most_what_is_said_and_hardly_less() -> None:
    n, p = 3000, 0.2
    edges = np.concatenate([np.arange(450.0, 720.0, 4.0), [720.0]])
    counts = CountBlocks.of(n, edges)
    (said,) = counts.masses(np.array([p]))
    exact = [binom.pmf(np.arange(a, b), n, p).sum() for a, b in pairwise(edges)]
    assert np.all(said >= np.array(exact) * (1 - 1e-10))
    assert np.all(said <= np.array(exact) * 1.03)


@pytest.mark.parametrize(
    ("n", "p", "ratio"),
    [(400, 1e-3, 1.02), (400, 1e-9, 1.02), (10_000, 1e-4, 1.02), (10**6, 1e-6, 1.03)],
)
def test_width_against_the_normal_one_of_the_same_level(n: int, p: float, ratio: float) -> None:
    low, high = share_difference_interval(n, round(0.3 * n), n, round(0.22 * n), math.log(p))
    normal = float(norm.isf(p / 2)) * math.sqrt((0.3 * 0.7 + 0.22 * 0.78) / n)
    assert (high - low) / 2 < ratio * normal


@given(
    n1=st.integers(1, 400),
    n2=st.integers(1, 400),
    first=st.floats(0, 1),
    second=st.floats(0, 1),
    log_p=st.floats(-40, -0.5),
)
@settings(max_examples=40, deadline=None)
def test_intervals_hold_the_sample_exchange_mirror_and_widen(
    n1: int, n2: int, first: float, second: float, log_p: float
) -> None:
    i, j = round(first * n1), round(second * n2)
    low, high = share_difference_interval(n1, i, n2, j, log_p)
    assert -1.0 <= low <= i / n1 - j / n2 <= high <= 1.0
    assert share_difference_interval(n2, j, n1, i, log_p) == (-high, -low)
    mirrored = share_difference_interval(n1, n1 - i, n2, n2 - j, log_p)
    assert mirrored == pytest.approx((-high, -low), abs=1e-3)
    wider = share_difference_interval(n1, i, n2, j, log_p - 1.0)
    assert wider.low <= low + 5e-4
    assert wider.high >= high - 5e-4


def test_where_little_can_be_said() -> None:
    assert share_difference_interval(0, 0, 5, 3, -3.0) == Interval(-1.0, 1.0)
    assert share_difference_interval(5, 3, 0, 0, -3.0) == Interval(-1.0, 1.0)
    # One row each: P[I = 1, J = 0] is at most ((1 + delta)/2)^2.
    one = 2.0 * math.sqrt(0.95 * math.exp(-3.0)) - 1.0
    assert one - 5e-4 < share_difference_lower(1, 1, 1, 0, -3.0) <= one
    deep = share_difference_interval(5000, 4000, 5000, 1000, -650.0)  # the box takes its place
    just = share_difference_interval(5000, 4000, 5000, 1000, -598.0)
    assert deep.low < just.low < 0.6 < just.high < deep.high
    assert share_difference_lower(9, 8, 9, 1, -0.1) == share_difference_lower(9, 8, 9, 1, -1.3)


def test_counts_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="i is"):
        share_difference_lower(10, 11, 5, 3, -3.0)
    with pytest.raises(InvalidArgument, match="j is"):
        share_difference_interval(10, 5, 5, 6, -3.0)
