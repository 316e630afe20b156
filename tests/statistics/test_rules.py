"""What symbols stand for, how many of them the described events leave, and that none is lost."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from typing import cast

import numpy as np
import pytest
from hypothesis import given, strategies as st

from holdfast.data.histogram import Histogram
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.described import recorded_rule, rule_from
from holdfast.question.row import GRID, GRID_ERROR, RowValue
from holdfast.statistics.grid_rules import Gridded, quantile_look
from holdfast.statistics.mean_events import (
    AlikeGroupMean,
    AlikeMean,
    GroupShare,
    Overlap,
    Share,
    ranks_in_order,
)
from holdfast.statistics.mean_rules import Contrast, GroupMeanRule, MeanRule, PairedRule, StepWindow
from holdfast.statistics.rounded_rules import (
    RoundedContrast,
    RoundedGroupMean,
    RoundedMean,
    RoundedOverlap,
)
from holdfast.statistics.rule import (
    RECORDED_RULES as RECORDED,
    UNKNOWN,
    Evidence,
    Rule,
    Told,
    register_rule,
)
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import Interval, clopper_pearson
from holdfast.theory.direct.bounded_mean import (
    bounded_mean_interval,
    enclosed_mean_interval,
    half_each_interval,
)
from holdfast.theory.direct.symbols import STEPS, contained_levels

LOG_P = -12.0
RULES: list[Rule] = [
    Share(100, LOG_P, (-9.0, -11.0), True),
    GroupShare(100, LOG_P, (), (-8.0,)),
    GroupShare(100, LOG_P, (), (-7.0, -8.0), known=True),
    Overlap(100, LOG_P, -8.0),
    MeanRule(100, LOG_P),
    AlikeMean(100, LOG_P),
    GroupMeanRule(100, LOG_P, (-8.0,)),
    AlikeGroupMean(100, LOG_P, (-8.0,)),
    GroupMeanRule(100, LOG_P, (-8.0,), known=True),
    Contrast(100, LOG_P, ((-8.0,), (-7.0, -9.0)), True),
    PairedRule(100, LOG_P, True),
    PairedRule(100, LOG_P, True, -8.0),
    Gridded("quantile", 100, LOG_P, log_free=-9.0, log_sizes=(-8.0,)),
    RoundedMean(100, LOG_P),
    RoundedGroupMean(100, LOG_P, (-8.0,)),
    Gridded("auc", 100, LOG_P, log_sizes=(-8.0,), points=64, rounded=True),
    RoundedContrast(100, LOG_P, ((-8.0,), (-7.0, -9.0)), True),
    RoundedOverlap(100, LOG_P, -8.0),
]
NAMES = [type(rule).__name__ for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_is_read_again_from_what_the_ledger_keeps(rule: Rule) -> None:
    assert rule_from(recorded_rule(rule)) == rule


def test_a_contributed_rule_is_known_to_ledgers_without_a_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.statistics.rule.RECORDED_RULES", registry := dict(RECORDED))
    with pytest.raises(ValueError, match="'share/1' already: a new meaning needs a new name"):
        register_rule(Share)
    monkeypatch.setattr("holdfast.mechanisms.described.RECORDED_RULES", registry)

    @register_rule
    class Doubled(Share):
        name = "doubled/1"

    rule = Doubled(100, LOG_P, (), True)
    assert rule_from(recorded_rule(rule)) == rule
    with pytest.raises(KeyError):
        rule_from({**recorded_rule(rule), "name": "tripled/1"})


def test_every_recorded_rule_is_registered_by_whoever_reads_a_ledger() -> None:
    """The names that ledgers hold, in a process that has imported nothing else."""
    code = (
        "from holdfast.mechanisms.described import RECORDED_RULES\n"
        "print(*sorted(RECORDED_RULES), sep=',')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == (
        "concentrated group mean/1,concentrated group variance/1,concentrated mean/1,"
        "contained mean/1,contrast/1,grid/1,"
        "group mean/1,group mean/2,group share/1,log grid/1,loss grid/1,mean/1,mean/2,"
        "overlap/1,paired/1,"
        "rounded contrast/1,rounded group mean/1,rounded mean/1,rounded overlap/1,"
        "share contrast/1,share/1,unit grid/1"
    )


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_what_is_not_of_the_alphabet_is_refused(rule: Rule) -> None:
    size = {"Share": 1, "RoundedMean": 1, "GroupShare": 2, "Overlap": 2, "Contrast": 5}
    rounded = {"RoundedGroupMean": 2, "RoundedOverlap": 2, "RoundedContrast": 3}
    length = (size | rounded | {"MeanRule": 3, "AlikeMean": 3, "PairedRule": 3}).get(
        type(rule).__name__, 4
    )
    for wrong in (-(10**9), 10**9):
        with pytest.raises((InvalidArgument, ValueError)):
            rule.decode((wrong,) * length)


@given(st.integers(1, 300), st.data())
def test_a_share_is_the_exact_interval_inside_the_free_ones(rows: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, rows))
    found = Share(rows, LOG_P, (-9.0,), True).decode((count,))
    exact = clopper_pearson(rows, count, LOG_P)
    assert found.value == count / rows
    assert exact.low <= found.interval.low <= count / rows <= found.interval.high <= exact.high


@given(st.integers(2, 200), st.floats(0, 1), st.floats(-30, -1))
def test_no_more_counts_are_possible_than_are_paid_for(
    rows: int, theta: float, log_p: float
) -> None:
    alpha = BoundedMean(rows).radius(log_p)
    counts = [k for k in range(rows + 1) if abs(k / rows - theta) <= alpha]
    assert len(counts) <= Share(rows, log_p, (), True).symbols


@given(st.floats(1e-4, 1.0), st.floats(0, 1), st.lists(st.floats(-1, 1), min_size=1))
def test_a_window_has_no_more_values_than_are_paid_for(
    radius: float, theta: float, offsets: list[float]
) -> None:
    window = StepWindow.of(radius)
    ends = np.linspace(-1, 1, 2051)
    seen = {
        window.encode(Fraction(min(1.0, max(0.0, theta + radius * float(each)))), UNKNOWN)[0]
        for each in [*ends, *offsets]
    }
    assert len(seen) * STEPS**2 <= window.symbols


@given(st.floats(1e-4, 1.0), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_window_loses_nothing_of_an_interval_inside_its_radius(
    radius: float, value: float, below: float, above: float
) -> None:
    window = StepWindow.of(radius)
    low, high = max(0.0, value - below * radius), min(1.0, value + above * radius)
    found = window.decode(window.encode(Fraction(value), Interval(low, high)), 7)
    assert found.interval.low <= low
    assert found.interval.high >= high
    assert found.rows == (7, 7)
    # Both ends at their own step, and the value at the next cell.
    step = window.alpha / STEPS + window.alpha / 256
    assert found.interval.high - high <= step
    assert low - found.interval.low <= step


def histogram(values: list[float]) -> Histogram:
    ends = np.array(sorted(set(values)))
    counts = np.array([values.count(end) for end in ends], dtype=np.int64)
    total = int(Fraction(GRID) * sum(map(Fraction, values)))
    return Histogram(counts, ends, ends, total)


def test_a_mean_of_alike_rows_knows_an_order_that_the_key_draws() -> None:
    values = [(place % 65) / 64 for place in range(2000)]
    rule, told = AlikeMean(2000, LOG_P), {}
    for key in (b"one", b"another"):
        told[key] = rule.decode(rule.encode_in_order(histogram(values), key)).interval
        group = AlikeGroupMean(5000, LOG_P, (-8.0,))
        around = group.decode(group.encode_in_order(histogram(values), key, ()))
        assert (around.interval, around.rows) == (told[key], (2000, 2000))
    assert told[b"one"] != told[b"another"]
    without = rule.decode(rule.encode(histogram(values))).interval
    for low, high in told.values():
        assert high - low < 0.97 * (without.high - without.low)
    few = AlikeMean(65, LOG_P)
    assert few.encode_in_order(histogram(values[:65]), b"one") == few.encode(histogram(values[:65]))


@pytest.mark.parametrize("spread", [0.3, 0.01, 0.0005])
def test_the_symbols_of_many_values_are_those_of_the_sharp_intervals(spread: float) -> None:
    """Ends are looked for only until their step is known: by either bound of the alike ones."""
    rng = np.random.default_rng(3)
    bins = np.clip(0.4 + spread * rng.standard_normal(20_000), 0, 1) * 30_000
    counts = np.bincount(bins.astype(np.int64), minlength=30_001)
    ends = np.arange(30_001) / 30_001
    rows = Histogram(counts, ends, ends, int((ends * counts).sum() * GRID))
    value, (log_p, _) = Fraction(rows.total, 20_000 * GRID), contained_levels(LOG_P)
    rule = MeanRule(20_000, LOG_P)
    sharp = enclosed_mean_interval(ends, ends, log_p, counts)
    assert rule.encode(rows) == rule.window.encode(value, sharp)
    alike = AlikeMean(20_000, LOG_P)
    order, twice = ranks_in_order(20_000, b"key"), 20_000**2 * 2.0**-45
    both = half_each_interval(ends, ends, counts, order, log_p - twice)
    assert alike.encode_in_order(rows, b"key") == alike.window.encode(value, both)


def test_a_turned_share_holds_what_it_was_turned_of() -> None:
    """To the last bit, at both ends."""
    for low, high in np.sort(np.random.default_rng(8).random((500, 2)) ** 3).tolist():
        turned = Told(low, Interval(low, high), (1, 1)).turned().interval
        assert Fraction(turned.low) <= 1 - Fraction(high) < 1 - Fraction(low) <= turned.high


@pytest.mark.parametrize("level", [0.001, 0.02, 0.25, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("rows", [1, 2, 7, 50])
def test_a_quantile_is_the_least_value_that_so_many_rows_do_not_exceed(
    rows: int, level: float
) -> None:
    values = np.sqrt(np.arange(1.0, rows + 1.0) / (rows + 1.0))
    rule = Gridded("quantile", rows, LOG_P)
    look = quantile_look(cast(RowValue, None), None, level, rule, alike=True)
    read = Evidence((), (histogram(values.tolist()),), cast(Sample, None), b"key")
    told = rule.decode(look.symbols_of(read))
    sample = np.quantile(values, level, method="inverted_cdf")
    assert told.value == pytest.approx(sample, abs=1 / rule.points + GRID_ERROR)
    assert told.interval.low <= sample <= told.interval.high


@pytest.mark.parametrize(
    ("rows", "groups", "points"), [(30, 1, 64), (30, 2, 64), (100, 1, 16), (100, 2, 50)]
)
@pytest.mark.parametrize("rounded", [False, True])
def test_a_size_is_told_in_as_many_symbols_as_are_paid_for(
    rows: int, groups: int, points: int, rounded: bool
) -> None:
    """Of rows that are not alike: on the grid where answers are rounded, if that is coarser."""
    rule = Gridded("unlike group", rows, LOG_P, points=points, rounded=rounded, groups=groups)
    told: dict[int, set[int]] = {}
    for size in range(groups * rows + 1):
        symbols = rule.encode(size, 0.5, UNKNOWN)
        low, high = rule.decode(symbols).rows
        assert low <= size <= high
        told.setdefault(symbols[0], set()).update((low, high))
    assert sorted(told) == list(range(min(groups * rows, points if rounded else groups * rows) + 1))
    assert rule.symbols == len(told) * points**3
    assert all(len(ends) <= 2 for ends in told.values())


def test_every_order_of_ranks_is_as_likely() -> None:
    """Each permutation of four ranks, of 4,800 keys, within six standard deviations."""
    drawn = Counter(tuple(ranks_in_order(4, bytes([a, b]))) for a in range(20) for b in range(240))
    assert set(drawn) == set(permutations(range(4)))
    assert max(abs(times - 200) for times in drawn.values()) < 6 * 200**0.5
    assert sorted(ranks_in_order(3000, b"key").tolist()) == list(range(3000))


@given(st.lists(st.integers(0, 64), min_size=1, max_size=60))
def test_a_mean_says_no_more_than_its_bets(numerators: list[int]) -> None:
    values = [each / 64 for each in numerators]
    rule = MeanRule(len(values), LOG_P)
    found = rule.decode(rule.encode(histogram(values)))
    bets = bounded_mean_interval(values, LOG_P)
    hoeffding = BoundedMean(len(values)).radius(LOG_P)
    mean = sum(values) / len(values)
    assert found.interval.low <= max(bets.low, mean - hoeffding) + 1e-12
    assert found.interval.high >= min(bets.high, mean + hoeffding) - 1e-12
    assert found.value == pytest.approx(mean, abs=rule.window.alpha / 1000)


def test_an_empty_group_says_nothing() -> None:
    empty: dict[Rule, tuple[int, ...]] = {
        GroupShare(9, LOG_P, (), (-8.0,)): (0, 0),
        Overlap(9, LOG_P, -8.0): (0, 0),
        GroupMeanRule(9, LOG_P, (-8.0,)): (0, 0, 0, 0),
        Contrast(9, LOG_P, ((-8.0,), (-8.0,)), True): (0, 3, 0, 0, 0),
        PairedRule(9, LOG_P, True, -8.0): (0, 0, 0, 0),
    }
    for rule, symbols in empty.items():
        told = rule.decode(symbols)
        assert (told.value, told.interval, told.rows) == (None, UNKNOWN, (0, 0))


@given(st.integers(2, 400), st.floats(0, 1), st.floats(-20, -1))
def test_rounded_answers_are_one_of_five(rows: int, theta: float, log_p: float) -> None:
    rule = RoundedMean(rows, log_p)
    alpha = BoundedMean(rows).radius(log_p)
    near = [k for k in range(rows + 1) if abs(k / rows - theta) <= alpha]
    found = {k: rule.decode(rule.encode(Evidence([k * GRID], [], None, b""))) for k in near}  # type: ignore[arg-type]
    assert len({each.value for each in found.values()}) <= 5
    for k, each in found.items():
        assert each.interval.low <= max(0.0, k / rows - alpha)
        assert each.interval.high >= min(1.0, k / rows + alpha)


@given(st.integers(2, 60), st.floats(-9, -1))
def test_a_rounded_group_is_never_smaller_than_it_is_told(rows: int, log_p: float) -> None:
    rule = RoundedGroupMean(rows, log_p, (log_p,))
    for size in range(rows + 1):
        for count in {0, size // 2, size}:
            symbols = rule.encode(Evidence([count * GRID, size * GRID], [], None, b""))  # type: ignore[arg-type]
            found = rule.decode(symbols)
            least, most = found.rows
            assert least <= size <= most
            if found.value is None:
                assert found.interval == UNKNOWN
                continue
            alpha = BoundedMean(size).radius(log_p)
            assert found.interval.low <= max(0.0, count / size - alpha)
            assert found.interval.high >= min(1.0, count / size + alpha)


@given(st.integers(1, 40), st.data())
def test_paired_symbols_hold_the_interval_of_their_counts(rows: int, data: st.DataObject) -> None:
    from holdfast.theory.direct.paired import paired_difference_interval

    first = data.draw(st.integers(0, rows))
    second = data.draw(st.integers(0, rows - first))
    rule = PairedRule(rows, LOG_P, True)
    found = rule.decode(rule.encode(first, second))
    interval = paired_difference_interval(rows, first, second, LOG_P, alike=True)
    reach = 2 * BoundedMean(rows).radius(LOG_P)
    more = (first - second) / rows
    assert 2 * found.interval.low - 1 <= max(interval.low, more - reach) + 1e-12
    assert 2 * found.interval.high - 1 >= min(interval.high, more + reach) - 1e-12


def test_a_grid_holds_value_and_ends() -> None:
    rule = Gridded("std", 50, LOG_P, squared=True)
    found = rule.decode(rule.encode(50, 0.31, Interval(0.2, 0.4)))
    assert found.interval.low <= 0.04
    assert found.interval.high >= 0.16
    assert found.value == pytest.approx(0.31**2, abs=1e-3)
    assert rule.symbols == 4096**3


def test_sizes_are_counted_among_the_symbols() -> None:
    for rows, log_share in product((10, 1000), (-3.0, -30.0)):
        alone = Gridded("auc", rows, LOG_P).symbols
        sized = Gridded("auc", rows, LOG_P, log_sizes=(log_share,)).symbols
        sizes = min(rows, math.floor(2 * rows * BoundedMean(rows).radius(log_share))) + 1
        assert sized == alone * sizes


@given(st.integers(0, 4095), st.integers(0, 4095))
def test_ends_go_outwards_by_what_the_grid_of_values_may_be_off(one: int, other: int) -> None:
    low, high = sorted((one / 4095, other / 4095))
    rule = Gridded("concentration", 100, LOG_P)
    found = rule.decode(rule.encode(100, (low + high) / 2, Interval(low, high)))
    assert found.interval.low <= max(0.0, low - GRID_ERROR)
    assert found.interval.high >= min(1.0, high + GRID_ERROR)


@pytest.mark.parametrize("squared", [False, True])
def test_what_is_not_known_is_the_whole_range_and_no_more(squared: bool) -> None:
    rule = Gridded("spread", 100, LOG_P, squared=squared)
    assert rule.decode(rule.encode(100, None, UNKNOWN)).interval == UNKNOWN
