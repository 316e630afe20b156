"""Symbols of direct intervals: outwards, inside the containment, and the same for everyone."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.bounded_mean import bounded_mean_interval
from holdfast.theory.direct.symbols import (
    POINTS,
    STEPS,
    GridSymbol,
    StepSymbol,
    contained_levels,
    grid_answer,
    grid_symbol,
    step_interval,
    step_symbol,
)

ends = st.floats(-1, 1)
pairs = st.tuples(ends, ends).map(sorted).map(lambda pair: Interval(pair[0], pair[1]))


@given(value=ends, interval=pairs, alpha=st.floats(1e-4, 1))
def test_steps_enclose_what_is_inside_the_containment(
    value: float, interval: Interval, alpha: float
) -> None:
    symbol = step_symbol(value, interval, alpha)
    low, high = step_interval(value, symbol, alpha)
    assert low <= max(interval.low, value - alpha * (1 - 1e-12))
    assert high >= min(interval.high, value + alpha * (1 - 1e-12))
    assert value - alpha * (1 + 1e-12) <= low < value < high <= value + alpha * (1 + 1e-12)
    if interval.low <= value <= interval.high:
        assert low >= interval.low - alpha / STEPS * (1 + 1e-9)
        assert high <= interval.high + alpha / STEPS * (1 + 1e-9)


@given(value=ends, symbol=st.builds(StepSymbol, st.integers(1, 64), st.integers(1, 64)))
def test_a_step_symbol_is_its_own_interval(value: float, symbol: StepSymbol) -> None:
    """What the audit makes of a symbol has that symbol again (or one step more, rounded)."""
    again = step_symbol(value, step_interval(value, symbol, 0.1), 0.1)
    for before, after in zip(symbol, again, strict=True):
        assert after in (before, min(before + 1, STEPS))


@given(value=ends, interval=pairs)
def test_grid_symbols_go_outwards(value: float, interval: Interval) -> None:
    declared = Interval(-1.0, 1.0)
    symbol = grid_symbol(value, interval, declared)
    assert all(0 <= place < POINTS for place in symbol)
    near, (low, high) = grid_answer(symbol, declared)
    pitch = 2 / (POINTS - 1)
    assert interval.low - 1.001 * pitch <= low <= interval.low
    assert interval.high <= high <= interval.high + 1.001 * pitch
    assert abs(near - value) <= 0.501 * pitch


def test_what_is_outside_the_range_is_at_its_end() -> None:
    symbol = grid_symbol(3.0, Interval(-math.pi, 5.0), Interval(0.0, 1.0))
    assert symbol == GridSymbol(POINTS - 1, 0, POINTS - 1)
    assert grid_answer(symbol, Interval(0.0, 1.0)) == (1.0, Interval(0.0, 1.0))


def test_a_mean_with_its_containment() -> None:
    """99 per cent of the level for the bets, 1 for Hoeffding: a 64th of alpha is lost."""
    x, log_p = [0.1, 0.2, 0.15, 0.9] * 500, -15.0
    direct, contained = contained_levels(log_p)
    assert math.exp(direct) + math.exp(contained) <= math.exp(log_p)
    alpha, mean = BoundedMean(len(x)).radius(contained), sum(x) / len(x)
    interval = bounded_mean_interval(x, direct)
    shown = step_interval(mean, step_symbol(mean, interval, alpha), alpha)
    assert shown.low <= interval.low <= mean <= interval.high <= shown.high
    assert interval.low - shown.low <= alpha / STEPS
    assert mean - alpha <= shown.low
    assert shown.high <= mean + alpha


def test_symbols_and_ranges_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="steps"):
        step_interval(0.5, StepSymbol(0, 3), 0.1)
    with pytest.raises(InvalidArgument, match="place"):
        grid_answer(GridSymbol(0, -1, 3), Interval(0.0, 1.0))
    with pytest.raises(InvalidArgument, match="declared range"):
        grid_symbol(0.5, Interval(0.0, 1.0), Interval(1.0, 1.0))
