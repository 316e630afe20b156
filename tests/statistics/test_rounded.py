"""Rounded answers of two groups and of F1: every world of a few rows is enumerated.

A truth is missed no more often than the level says, and no truth is left with more symbols than are
paid for. Each has a twin that tells more, or says it more narrowly, and is found out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

from holdfast.data.polars import PolarsSample
from holdfast.question.row import GRID
from holdfast.statistics.grid_rules import Gridded
from holdfast.statistics.rounded_rules import RoundedContrast, RoundedOverlap, RoundedSize
from holdfast.statistics.rule import UNKNOWN, Evidence, Symbols, Told
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import Interval
from tests.statistics.asking import ground_on, question_on, told

LEVEL, SIZE_LEVEL = math.log(0.2), math.log(0.8)
ROWS = 16
THETAS = (0.02, 0.2, 0.5, 0.7, 0.98)
TWIN = 0.35  # of the distances to the value


def evidence(*counts: int) -> Evidence:
    """What a scan finds of conditions: how many rows each holds for."""
    return Evidence([count * GRID for count in counts], [], None, b"")  # type: ignore[arg-type]


def holds(found: Told, truth: float, part: float = 1.0) -> bool:
    if found.value is None:
        return True
    low, high = (found.value + part * (end - found.value) for end in found.interval)
    return low <= truth <= high


def binomial(size: int, rate: float) -> list[float]:
    return [float(each) for each in stats.binom.pmf(range(size + 1), size, rate)]


def of_groups(rule: RoundedContrast, sizes: tuple[int, int]) -> dict[tuple[int, int], Told]:
    """What is told of every pair of counts in groups of these sizes."""
    first, second = sizes
    counts = product(range(first + 1), range(second + 1))
    return {pair: rule.decode(rule.encode(evidence(*pair, *sizes))) for pair in counts}


def missed_differences(sizes: tuple[int, int], *, disjoint: bool, part: float) -> float:
    """The largest probability of a miss, given the sizes, over all pairs of rates."""
    found = of_groups(RoundedContrast(ROWS, LEVEL, ((SIZE_LEVEL,),) * 2, disjoint), sizes)
    worst = 0.0
    for rates in product(THETAS, repeat=2):
        first, second = (binomial(size, rate) for size, rate in zip(sizes, rates, strict=True))
        truth = (rates[0] - rates[1] + 1) / 2
        missed = [pair for pair, each in found.items() if not holds(each, truth, part)]
        worst = max(worst, sum(first[a] * second[b] for a, b in missed))
    return worst


@pytest.mark.parametrize("disjoint", [True, False])
def test_a_rounded_contrast_misses_no_more_than_its_level(disjoint: bool) -> None:
    """Given who is in the groups, so all the more over all groups."""
    sizes = [(8, 8), (5, 11), (4, 9), (10, 6)]
    worst = [
        [missed_differences(each, disjoint=disjoint, part=part) for each in sizes]
        for part in (1.0, TWIN)
    ]
    assert max(worst[0]) <= math.exp(LEVEL) < max(worst[1])


def test_a_rounded_f1_misses_no_more_than_its_level() -> None:
    rule = RoundedOverlap(ROWS, LEVEL, SIZE_LEVEL)
    worst = {}
    for part in (1.0, TWIN):
        worst[part] = 0.0
        for either, share in product(range(4, ROWS + 1), THETAS):
            truth, law = 2 * share / (1 + share), binomial(either, share)
            found = [rule.decode(rule.encode(evidence(either, both))) for both in range(either + 1)]
            missed = sum(law[k] for k, each in enumerate(found) if not holds(each, truth, part))
            worst[part] = max(worst[part], missed)
    assert worst[1.0] <= math.exp(LEVEL) < worst[TWIN]


def near(truth: float, rows: int, log_p: float) -> list[int]:
    """The counts that are within Hoeffding's radius of their expectation."""
    alpha = BoundedMean(rows).radius(log_p) if rows else 1.0
    return [k for k in range(rows + 1) if rows == 0 or abs(k / rows - truth) <= alpha]


def all_near(truth: float, log_p: float) -> dict[int, list[int]]:
    return {size: near(truth, size, log_p) for size in range(ROWS + 1)}


def contrasts(rule: RoundedContrast, truth: tuple[float, ...]) -> Iterable[tuple[Symbols, Symbols]]:
    """What is told of which counts where shares and means are as near as their events say."""
    half = LEVEL - math.log(2)  # both means within their radii: so is the difference
    share_one, share_two, one, two = truth
    counts_one, counts_two = all_near(one, half), all_near(two, half)
    for sizes in product(near(share_one, ROWS, SIZE_LEVEL), near(share_two, ROWS, SIZE_LEVEL)):
        for pair in product(counts_one[sizes[0]], counts_two[sizes[1]]):
            yield (*pair, *sizes), rule.encode(evidence(*pair, *sizes))


@pytest.mark.parametrize("truth", [(0.5, 0.4, 0.5, 0.3), (0.7, 0.25, 0.9, 0.1)])
def test_no_truth_is_left_with_more_symbols_of_a_contrast_than_are_paid_for(
    truth: tuple[float, ...],
) -> None:
    rule = RoundedContrast(ROWS, LEVEL, ((SIZE_LEVEL,),) * 2, disjoint=False)
    found = list(contrasts(rule, truth))
    assert len({symbols for _, symbols in found}) <= rule.symbols == 125
    assert len({counts for counts, _ in found}) > 125  # told as they are


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("pi", [0.1, 0.5, 0.9])
def test_no_truth_is_left_with_more_symbols_of_f1_than_are_paid_for(
    share: float, pi: float
) -> None:
    rule = RoundedOverlap(ROWS, LEVEL, SIZE_LEVEL)
    counts = all_near(pi, LEVEL)
    told = {
        rule.encode(evidence(either, both))
        for either in near(share, ROWS, SIZE_LEVEL)
        for both in counts[either]
    }
    assert len(told) <= rule.symbols == 25


def test_the_size_of_a_group_beside_places_on_a_grid_is_one_of_five() -> None:
    rule = Gridded("quantile", 1000, LEVEL, log_sizes=(SIZE_LEVEL,), points=64, rounded=True)
    size = RoundedSize(1000, SIZE_LEVEL)
    for share in (0.03, 0.4, 0.97):
        sizes = near(share, 1000, SIZE_LEVEL)
        assert len({rule.encode(each, 0.5, Interval(0.2, 0.7)) for each in sizes}) <= 5
        for each in sizes:
            least, most = rule.decode(rule.encode(each, 0.5, Interval(0.2, 0.7))).rows
            assert (least, most) == size.sizes(size.cell(each))
            assert least <= each <= most
    assert rule.symbols == 5 * 64**3


def test_disjoint_groups_are_told_more_narrowly_than_others() -> None:
    """sqrt(1/n1 + 1/n2) instead of the sum of two roots at half the level."""
    frame = pl.DataFrame({"g": ["a"] * 4000 + ["b"] * 6000, "x": [0.0, 1.0] * 5000})
    ground = ground_on(PolarsSample(frame), {"x": (0, 1)}, rounded=True)
    text = "difference(avg(x) where g = 'a', avg(x) where g = 'b')"
    other = "difference(avg(x) where g = 'a', avg(x) where x >= 0)"
    apart, together = (told(frame, each, ground) for each in (text, other))
    assert apart.value is not None
    assert abs(apart.value - 0.5) < 0.02
    rule = question_on(ground, text).rule
    assert isinstance(rule, RoundedContrast)
    sizes = [RoundedSize(10_000, level) for (level,) in rule.log_sizes]
    least = [size.least(size.cell(rows)) for size, rows in zip(sizes, (4000, 6000), strict=True)]
    by_hand = 1.25 * math.sqrt((1 / least[0] + 1 / least[1]) * (math.log(2) - rule.log_p) / 8)
    assert (apart.interval.high - apart.interval.low) / 2 == pytest.approx(by_hand, rel=1e-3)
    assert together.interval.high - together.interval.low > (
        apart.interval.high - apart.interval.low
    )


def test_rows_of_both_groups_are_told_by_their_least_and_their_most() -> None:
    rule = RoundedContrast(ROWS, LEVEL, ((SIZE_LEVEL,),) * 2, disjoint=True)
    for sizes in product(range(ROWS // 2 + 1), repeat=2):
        found = rule.decode(rule.encode(evidence(0, 0, *sizes)))
        assert found.rows[0] <= sum(sizes) <= found.rows[1] <= ROWS
        assert found.value is not None or found.interval == UNKNOWN


def test_a_difference_of_means_is_rounded_to_the_nearest_half_of_its_radius() -> None:
    rng = np.random.default_rng(3)
    rule = RoundedContrast(200, LEVEL, ((SIZE_LEVEL,), (SIZE_LEVEL,)), disjoint=True)
    for _ in range(50):
        sizes = rng.integers(40, 120, 2)
        counts = rng.binomial(sizes, rng.random(2))
        found = rule.decode(rule.encode(evidence(*map(int, counts), *map(int, sizes))))
        exact = Fraction(int(counts[0]), int(sizes[0])) - Fraction(int(counts[1]), int(sizes[1]))
        assert found.value is not None
        reach = found.interval.high - found.value
        assert abs(Fraction(found.value) - (exact + 1) / 2) <= Fraction(reach) / 5 + Fraction(
            1, 10**9
        )
