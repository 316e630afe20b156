"""The grid that row values are rounded to."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st

from holdfast.errors import NotBounded
from holdfast.question import build
from holdfast.question.expression import Column, ColumnType
from holdfast.question.row import GRID, GRID_ERROR, RowValue, row_value

X = Column("x", ColumnType.FLOAT)


@st.composite
def ranges(draw: st.DrawFn) -> RowValue:
    """Bounds of all sizes, near to zero and far from it."""
    low = draw(st.floats(-1, 1)) * 10.0 ** draw(st.integers(-20, 20))
    width = draw(st.floats(1, 10)) * 10.0 ** draw(st.integers(-20, 20))
    assume(low < low + width)
    return row_value(build.clip(X, low, low + width))


fractions = st.floats(0, 1)


def value_at(row: RowValue, fraction: float) -> float:
    return min(max(row.low + (row.high - row.low) * fraction, row.low), row.high)


def exact(row: RowValue, value: float) -> Fraction:
    return (Fraction(value) - Fraction(row.low)) / (Fraction(row.high) - Fraction(row.low))


@given(ranges(), st.lists(fractions, min_size=1, max_size=6))
def test_an_average_is_as_near_to_the_truth_as_the_constant_says(
    row: RowValue, places: list[float]
) -> None:
    values = [value_at(row, place) for place in places]
    steps = [row.grid.steps(value) for value in values]
    total, _ = row.grid.moments(sum(steps), 0)
    assert 0 <= total <= len(values) * GRID
    truth = sum((exact(row, value) for value in values), Fraction(0)) / len(values)
    assert abs(Fraction(total, len(values) * GRID) - truth) <= Fraction(GRID_ERROR)


@given(ranges(), fractions)
def test_the_grid_goes_from_the_low_end_to_the_high_end(row: RowValue, place: float) -> None:
    grid = row.grid
    assert grid.steps(row.low) == 0
    assert grid.steps(row.high) == grid.top
    assert 2**31 - 2 <= grid.top <= 2**32 + 1
    assert math.frexp(grid.step)[0] == 0.5
    assert grid.origin in (0.0, row.low)
    value = value_at(row, place)
    assert 0 <= grid.steps(value) <= grid.top
    assert abs(value - grid.origin) <= 2**50 * grid.step
    assert grid.moments(grid.top, grid.top**2) == (GRID, GRID**2)
    # Rows outside a group count as its low end: nothing, whatever their number.
    assert grid.moments(grid.steps(value) + 10**9 * grid.steps(row.low), 0) == grid.moments(
        grid.steps(value), 0
    )


@given(ranges(), st.lists(fractions, min_size=2, max_size=8))
def test_the_variance_is_not_below_that_of_the_rounded_values(
    row: RowValue, places: list[float]
) -> None:
    steps = [row.grid.steps(value_at(row, place)) for place in places]
    n, top = len(steps), row.grid.top
    total, squares = row.grid.moments(sum(steps), sum(step * step for step in steps))
    found = Fraction(n * squares - total**2, GRID**2)
    truth = Fraction(n * sum(step * step for step in steps) - sum(steps) ** 2, top**2)
    assert truth <= found <= truth + Fraction(2 * n, GRID)


def test_half_steps_go_to_the_even_step() -> None:
    grid = row_value(build.clip(X, 0, 1)).grid
    assert [grid.steps(k * grid.step / 2) for k in range(8)] == [0, 0, 1, 2, 2, 2, 3, 4]


def test_conditions_count_whole_rows_and_constants_nothing() -> None:
    condition = row_value(build.is_null(X))
    assert condition.grid.moments(3, 3) == (3 * GRID, 3 * GRID**2)
    constant = row_value(build.clip(X, 3, 3))
    assert constant.grid.steps(3.0) == 0
    assert constant.grid.moments(0, 0) == (0, 0)


@pytest.mark.parametrize("bounds", [(-1e308, 1e308), (0.0, 1e302), (0.0, 1e-300), (1e-310, 2e-310)])
def test_ranges_that_doubles_cannot_divide_are_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(NotBounded, match="too wide or too narrow"):
        row_value(build.clip(X, *bounds))
