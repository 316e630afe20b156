"""AUC: block bets and pairs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import ArrayLike, NDArray

from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import Tally, log_bets
from holdfast.theory.direct.auc import (
    auc_block_interval,
    auc_interval,
    auc_kl_interval,
    block_counts,
    rank_areas,
)
from tests.theory.coverage import too_many
from tests.theory.direct.areas import area_under_curve, block_areas
from tests.theory.direct.worlds import coin, miss, shrunk

LAWS = ("auc_block_interval", "auc_kl_interval")

Scores = NDArray[np.float64]


@given(
    positives=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    negatives=st.lists(st.integers(0, 5), min_size=1, max_size=12),
)
def test_the_area_counts_pairs(positives: list[int], negatives: list[int]) -> None:
    won = sum(
        Fraction(1 if a > b else 0) + (Fraction(1, 2) if a == b else 0)
        for a, b in product(positives, negatives)
    )
    exact = won / (len(positives) * len(negatives))
    assert area_under_curve(positives, negatives) == pytest.approx(float(exact), abs=1e-15)


def test_the_geometric_mean_of_partitions_cannot_grow_and_their_product_can() -> None:
    """All 2^12 worlds of six positives and six negatives with scores 0 and 1, two partitions."""
    n, a, b = 6, 0.75, 0.25
    theta = a * (1 - b) + 0.5 * (a * b + (1 - a) * (1 - b))
    odds = theta / (1 - theta)
    orders, both = np.array([range(n), [3, 0, 5, 1, 2, 4]]), np.array([range(n)] * 2)
    mean = {1: 0.0, 2: 0.0}
    for scores in product((0.0, 1.0), repeat=2 * n):
        s1, s0 = np.array(scores[:n]), np.array(scores[n:])
        areas = block_areas(s1, s0, orders, both, 3).ravel()
        weight = math.prod(a if s else 1 - a for s in s1) * math.prod(b if s else 1 - b for s in s0)
        for root in mean:
            tally = Tally.of_values(areas, np.ones(areas.size), root=root)
            mean[root] += weight * math.exp(log_bets(tally, [0.9], [1.0], odds))
    assert 0.9 < mean[2] <= 1.0
    assert mean[1] > 1.0


@pytest.mark.parametrize(("p", "factor"), [(0.1, 0.4), (1e-3, 0.6)])
def test_exact_coverage_of_pairs(p: float, factor: float) -> None:
    """Positives score 1 with chance 3/4, all negatives 1/2: AUC is a coin's mean."""
    n = 60
    world = coin(n, Fraction(3, 4))
    kl = {c: auc_kl_interval(c[1] / n, n, n, math.log(p)) for c, _ in world.samples()}
    bets = {c: auc_block_interval([np.repeat([0.0, 1.0], c)], math.log(p)) for c in kl}
    for table in (kl, bets):
        assert miss(world.samples(), table.__getitem__, Fraction(3, 4)) <= p
    for table, share in ((kl, factor), (bets, 0.7 * factor)):
        inner = {c: shrunk(interval, c[1] / n, share) for c, interval in table.items()}
        assert miss(world.samples(), inner.__getitem__, Fraction(3, 4)) > p


def _sample(rng: np.random.Generator, n1: int, n0: int) -> tuple[Scores, Scores]:
    return rng.normal(1.19, 1.0, n1), rng.normal(0.0, 1.0, n0)


def _orders(rng: np.random.Generator, n: int, count: int = 8) -> NDArray[np.int64]:
    return np.array([rng.permutation(n) for _ in range(count)])


def _tables(rng: np.random.Generator, s1: Scores, s0: Scores) -> list[Scores]:
    orders = _orders(rng, s1.size), _orders(rng, s0.size)
    return [block_areas(s1, s0, *orders, blocks) for blocks in block_counts(s1.size, s0.size)]


def _ranks(scores: Scores) -> NDArray[np.int64]:
    return np.where(np.isinf(scores), 0, scores + 4).astype(np.int64)


@settings(max_examples=100)
@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=30),
    st.lists(st.integers(-3, 3), min_size=1, max_size=30),
    st.data(),
)
def test_blocks_are_parts_of_both_classes(
    positives: list[int], negatives: list[int], data: st.DataObject
) -> None:
    """Against cutting the classes and counting the pairs of each part."""
    blocks = data.draw(st.integers(1, min(len(positives), len(negatives))))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    s1, s0 = np.array(positives, dtype=float), np.array([*negatives, -math.inf])
    orders1, orders0 = _orders(rng, s1.size, 3), _orders(rng, s0.size, 3)
    found = block_areas(s1, s0, orders1, orders0, blocks)
    for areas, order1, order0 in zip(found, orders1, orders0, strict=True):
        parts = (np.array_split(s[order], blocks) for s, order in ((s1, order1), (s0, order0)))
        assert areas.tolist() == [area_under_curve(*pair) for pair in zip(*parts, strict=True)]
        few = rank_areas(_ranks(s1[order1]), _ranks(s0[order0]), blocks, most=7)
        assert few.tolist() == areas.tolist()


def test_more_blocks_than_rows_of_a_class_are_refused() -> None:
    order = np.array([[0]])
    with pytest.raises(InvalidArgument, match="B is 2"):
        block_areas(np.ones(1), np.zeros(1), order, order, 2)


@pytest.mark.statistical
def test_coverage_of_blocks() -> None:
    rng = np.random.default_rng(11)
    truth = 0.5 * (1 + math.erf(1.19 / 2))
    missed, twins = [], []
    for _ in range(150):
        s1, s0 = _sample(rng, 30, 50)
        areas = _tables(rng, s1, s0)[0]
        interval = auc_block_interval(areas, math.log(0.1))
        inner = shrunk(interval, area_under_curve(s1, s0), 0.2)
        missed.append(not interval.low <= truth <= interval.high)
        twins.append(not inner.low <= truth <= inner.high)
    assert not too_many(missed, 0.1)
    assert too_many(twins, 0.1)


def test_width_of_the_combined_interval() -> None:
    """3.9 to 4.1 times the normal half-width at L = 20 for AUC .8; pairs alone have 5.06."""
    rng = np.random.default_rng(4)
    s1, s0 = _sample(rng, 3000, 7000)
    auc = area_under_curve(s1, s0)
    few, many = _tables(rng, s1, s0)
    low, high = auc_interval(auc, 3000, 7000, few, many, -20.0)
    assert low <= auc <= high
    ranks1 = np.searchsorted(np.sort(s0), s1) / s0.size
    ranks0 = 1 - np.searchsorted(np.sort(s1), s0) / s1.size
    normal = 1.96 * math.sqrt(ranks1.var() / s1.size + ranks0.var() / s0.size)
    assert 3.06 < 0.5 * (high - low) / normal < 4.2
    pairs = auc_kl_interval(auc, 3000, 7000, -20.0)
    assert 0.5 * (pairs.high - pairs.low) / normal == pytest.approx(5.06, abs=0.1)


def test_block_numbers_are_public() -> None:
    assert block_counts(500, 500) == (164, 378)
    assert block_counts(1, 10**6) == (1, 1)
    assert block_counts(100, 900) == (56, 100)


def test_tables_are_checked() -> None:
    shapes: list[ArrayLike] = [[0.5, 0.6], [[]], 0.5]
    for bad in shapes:
        with pytest.raises(InvalidArgument, match="block AUCs"):
            auc_block_interval(bad, -3.0)
