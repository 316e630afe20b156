"""Differences of arms that a design fixed, and of groups whose rows come in units: exact worlds."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.difference import (
    design_difference_lower,
    enclosed_difference_interval,
    group_difference_lower,
)
from holdfast.theory.direct.unit_sums import (
    UnitSums,
    group_mean_interval,
    unit_deviations,
    unit_difference_interval,
    unit_difference_lower,
    unit_floor,
    unit_mean_interval,
    within_units_interval,
    within_units_lower,
)
from tests.theory.direct.worlds import Weighted, coin, miss

LAWS = ("design_difference_lower", "unit_difference_lower", "within_units_lower")

BINARY = [0.0, 1.0]


# In an arm of 150 rows 100 are in the subgroup only if their value is 1 (chance 1/2), and 50
# surely, with value 0; in the other, 120 rows, all are, and their value is 0.
ARM = list(coin(100, Fraction(1, 2)).samples())


@pytest.mark.parametrize(("q", "factor"), [(0.05, 0.2), (5e-4, 0.3), (1e-7, 0.3)])
def test_exact_coverage_of_a_subgroup_of_arms_that_are_not_alike(q: float, factor: float) -> None:
    table = {
        c: design_difference_lower(BINARY, BINARY, (150, 120), math.log(q), (50, c[1]), (120, 0))
        for c, _ in ARM
    }
    assert miss(ARM, lambda c: Interval(table[c], 1.0), Fraction(1, 2)) <= q

    def sabotaged(counts: tuple[int, ...]) -> Interval:
        seen = counts[1] / (counts[1] + 50)
        return Interval(seen - factor * (seen - table[counts]), 1.0)

    assert miss(ARM, sabotaged, Fraction(1, 2)) > q


def test_whole_arms_are_groups() -> None:
    """The joint bet for a design is that for alike groups, where all rows of the arms count."""
    x, y = ([0.2, 0.9] * 60, [0.1, 0.5, 0.3] * 50)
    assert design_difference_lower(x, y, (120, 150), -5.0) == group_difference_lower(x, y, -5.0)
    part = enclosed_difference_interval((x, x, None), (y, y, None), -5.0, (240, 300))
    whole = enclosed_difference_interval((x, x, None), (y, y, None), -5.0, (120, 150))
    assert part.low < whole.low < whole.high < part.high
    few = enclosed_difference_interval((x[:9], x[:9], None), (y[:9], y[:9], None), -5.0, (20, 20))
    assert -1.0 <= few.low < few.high <= 1.0
    assert design_difference_lower([], y, (5, 150), -5.0) == -1.0
    with pytest.raises(InvalidArgument, match=r"arms\[0\]"):
        design_difference_lower(x, y, (119, 150), -5.0)


def test_the_joint_bet_of_a_design_is_narrower_than_the_box() -> None:
    """Half of each arm is in the subgroup: normal = 1, joint 1.37 at 1e-4 (a box has 1.83)."""
    arms, rows = (4000, 4000), 2000
    first, second = (round(0.3 * rows), round(0.22 * rows))
    log_p = math.log(1e-4)
    groups = [(BINARY, BINARY, (rows - ones, ones)) for ones in (first, second)]
    joint = enclosed_difference_interval(groups[0], groups[1], log_p, arms)
    boxes = [
        group_mean_interval(BINARY, 4000, log_p - math.log(2), times) for _, _, times in groups
    ]
    normal = norm.isf(0.5e-4) * math.sqrt((0.3 * 0.7 + 0.22 * 0.78) / rows)
    assert np.ptp(joint) < 0.8 * sum(np.ptp(box) for box in boxes)
    assert np.ptp(joint) / 2 < 1.45 * normal


# Units are (S1, m1, S2, m2): their values hang together, and their size tells.
KINDS = np.array([[2, 2, 0, 1], [0, 1, 1, 2]])
SAMPLES: list[Weighted] = list(coin(60, Fraction(1, 2)).samples())


def groups(counts: tuple[int, ...]) -> tuple[UnitSums, UnitSums]:
    S1, m1, S2, m2 = np.repeat(KINDS, counts, axis=0).T
    return UnitSums.of(S1, m1), UnitSums.of(S2, m2)


def _between(counts: tuple[int, ...], q: float) -> float:
    return unit_difference_lower(*groups(counts), 3, math.log(q))


def _within(counts: tuple[int, ...], q: float) -> float:
    return within_units_lower(*groups(counts), 2, math.log(q))


def _sums_apart(counts: tuple[int, ...]) -> float:
    S1, m1, S2, m2 = np.asarray(counts) @ KINDS
    return float(S1 / m1 - S2 / m2)


H = np.minimum(KINDS[:, 1], KINDS[:, 3])
APART = KINDS[:, 0] / KINDS[:, 1] - KINDS[:, 2] / KINDS[:, 3]


def _apart_within(counts: tuple[int, ...]) -> float:
    return float((H * APART) @ counts / (H @ np.asarray(counts)))


@pytest.mark.parametrize("q", [0.025, 5e-4])
@pytest.mark.parametrize(
    ("lower", "seen", "truth", "factor"),
    [
        (_between, _sums_apart, Fraction(1, 3), 0.3),
        (_within, _apart_within, Fraction(1, 4), 0.4),
    ],
)
def test_exact_coverage_of_units(
    lower: Callable[[tuple[int, ...], float], float],
    seen: Callable[[tuple[int, ...]], float],
    truth: Fraction,
    factor: float,
    q: float,
) -> None:
    table = {counts: lower(counts, q) for counts, _ in SAMPLES}
    assert miss(SAMPLES, lambda c: Interval(table[c], 1.0), truth) <= q

    def sabotaged(c: tuple[int, ...]) -> Interval:
        return Interval(seen(c) - factor * (seen(c) - table[c]), 1.0)

    assert miss(SAMPLES, sabotaged, truth) > q


def test_the_golden_capital_of_three_units() -> None:
    """golden.json, 13.5: k = .1, c = (2, .5) at (.4, .3)."""
    S1, m1, S2, m2 = np.array([[1, 2, 0, 1], [0, 1, 1, 3], [2, 2, 1, 2]]).T
    g = unit_deviations(UnitSums.of(S1, m1), UnitSums.of(S2, m2), (2.0, 0.5), 0.4, 0.3)
    assert np.log1p(0.1 * g).sum() == pytest.approx(0.16356041196657928, rel=1e-9)


def test_rows_taken_for_units_are_false() -> None:
    """A unit's rows are equal: a factor for each row counts the unit as often as it has rows."""
    units, rows, q = 40, 10, 1e-3
    world = coin(units, Fraction(1, 2))

    def by_unit(counts: tuple[int, ...]) -> Interval:
        ones = np.repeat([0, rows], counts)
        first, second = (
            UnitSums.of(ones, np.full(units, rows)),
            UnitSums.of([0] * units, [rows] * units),
        )
        return Interval(unit_difference_lower(first, second, 2 * rows, math.log(q)), 1.0)

    def by_row(counts: tuple[int, ...]) -> Interval:
        times = np.multiply(counts, rows), (rows * units, 0)
        return Interval(group_difference_lower(BINARY, BINARY, math.log(q), *times), 1.0)

    likely = [(c, w) for c, w in world.samples() if w > Fraction(1, 10**6)]
    assert miss(likely, by_unit, Fraction(1, 2)) <= q
    assert miss(likely, by_row, Fraction(1, 2)) > q


def test_widths() -> None:
    rng = np.random.default_rng(1)
    for units, rows, joint, inside in ((2000, 12, 0.72, 1.0), (200, 20, 1.1, 0.65)):
        m1 = rng.binomial(rows, 0.5, units)
        m2 = rows - m1
        rate = rng.beta(5, 15, units)
        first = UnitSums.of(rng.binomial(m1, np.minimum(1, rate + 0.1)), m1)
        second = UnitSums.of(rng.binomial(m2, rate), m2)
        between = np.ptp(unit_difference_interval(first, second, rows, math.log(1e-4)))
        boxes = [
            unit_mean_interval(each.sums, each.sizes, rows, math.log(5e-5))
            for each in (first, second)
        ]
        assert between < joint * sum(np.ptp(box) for box in boxes)
        most = int(np.minimum(m1, m2).max())
        within = within_units_interval(first, second, most, math.log(1e-4))
        assert np.ptp(within) < inside * between


def test_the_floor_of_few_units() -> None:
    """24 sites at 5 bits of .02, a difference of .11: -.29 and +.24 (section 13.5)."""
    low, high = unit_floor(0.11, 24, math.log(0.02) - 5 * math.log(2))
    assert (low - 0.11, high - 0.11) == pytest.approx((-0.29, 0.24), abs=5e-3)
    rng = np.random.default_rng(3)
    sums = UnitSums.of(rng.binomial(50, 0.36, 24), [50] * 24), UnitSums.of([12] * 24, [50] * 24)
    found = within_units_interval(*sums, 50, math.log(0.02) - 5 * math.log(2))
    assert found.low < low
    assert found.high > high


unit = st.tuples(st.integers(0, 3), st.floats(0, 1), st.integers(0, 3), st.floats(0, 1))


@given(units=st.lists(unit, min_size=1, max_size=20), log_p=st.floats(-30, -0.5))
@settings(max_examples=12, deadline=None)
def test_intervals_hold_the_sample_exchange_and_mirror(
    units: list[tuple[int, float, int, float]], log_p: float
) -> None:
    m1, share1, m2, share2 = (np.array(side) for side in zip(*units, strict=True))
    first, second = UnitSums.of(m1 * share1, m1), UnitSums.of(m2 * share2, m2)
    h = np.minimum(m1, m2)
    between = first.mean - second.mean if m1.any() and m2.any() else 0.0
    within = float((h * (share1 - share2)).sum() / max(1, h.sum()))
    for interval, largest, value in (
        (unit_difference_interval, 6, between),
        (within_units_interval, 3, within),
    ):
        low, high = interval(first, second, largest, log_p)
        assert -1.0 <= low <= value + 1e-8
        assert value - 1e-8 <= high <= 1.0
        assert interval(second, first, largest, log_p) == (-high, -low)
        wider = interval(first, second, largest, log_p - 1.0)
        assert wider.low <= low + 1e-9
        assert wider.high >= high - 1e-9
    others = UnitSums.of(m1 - m1 * share1, m1), UnitSums.of(m2 - m2 * share2, m2)
    assert within_units_interval(*others, 3, log_p) == pytest.approx((-high, -low), abs=1e-7)


def test_units_are_checked() -> None:
    one, none = UnitSums.of([1.0], [2]), UnitSums.of([0.0], [0])
    assert unit_difference_interval(one, none, 2, -3.0) == Interval(-1.0, 1.0)
    assert within_units_interval(one, none, 2, -3.0) == Interval(-1.0, 1.0)
    for sums, sizes in (([2.0], [1]), ([0.5], [1.5]), ([0.5, 0.5], [1])):
        with pytest.raises(InvalidArgument, match="unit"):
            UnitSums.of(sums, sizes)
    with pytest.raises(InvalidArgument, match="declare the largest"):
        unit_difference_lower(one, one, 3, -3.0)
    for other in (UnitSums.of([1.0, 1.0], [2, 2]), one):
        with pytest.raises(InvalidArgument, match="declare the most"):
            within_units_lower(one, other, 1, -3.0)
