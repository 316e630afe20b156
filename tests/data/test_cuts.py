"""Many comparisons of one value, counted in one pass: those of each by itself."""

from __future__ import annotations

import math
from itertools import cycle

import numpy as np
import polars as pl
from hypothesis import assume, given, strategies as st

from holdfast.data.cuts import Cuts, many_cuts
from holdfast.data.polars import PolarsSample
from holdfast.question import build
from holdfast.question.expression import Column, ColumnType, Op
from holdfast.question.row import GRID, RowValue, condition_row

X = Column("x", ColumnType.FLOAT, nullable=True)
HOLDS = {
    Op.BELOW: np.less,
    Op.AT_MOST: np.less_equal,
    Op.ABOVE: np.greater,
    Op.AT_LEAST: np.greater_equal,
}


def comparisons(numbers: list[float]) -> list[tuple[Op, float]]:
    """Each number in each comparison, and so often that all are counted together."""
    pairs = zip(cycle(HOLDS), (number for number in numbers for _ in HOLDS), strict=False)
    every = list(pairs)
    return [pair for pair, _ in zip(cycle(every), range(max(len(every), 100)), strict=False)]


def rows_of(asked: list[tuple[Op, float]]) -> list[RowValue]:
    return [condition_row(build.comparison(op, X, build.constant(number))) for op, number in asked]


def require_counts(values: list[float | None], numbers: list[float]) -> None:
    asked = comparisons(numbers)
    known = np.array([each for each in values if each is not None], dtype=np.float64)
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)})
    expected = [int(HOLDS[op](known, number).sum()) * GRID for op, number in asked]
    assert PolarsSample(frame).sums(rows_of(asked)) == expected


def counted_together(numbers: list[float]) -> list[Cuts]:
    rows = rows_of(comparisons(numbers))
    return many_cuts([(row, row.source) for row in rows])  # type: ignore[misc]


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=30, unique=True), st.data())
def test_values_at_numbers_and_beside_them(numbers: list[float], data: st.DataObject) -> None:
    assume(counted_together(numbers))
    beside = [math.nextafter(each, end) for each in numbers for end in (-math.inf, math.inf)]
    among = st.sampled_from([*numbers, *beside, None, -0.0, math.inf, -math.inf, 1e308, -1e308])
    require_counts(data.draw(st.lists(among | finite, max_size=60)), numbers)


def test_bins_end_between_numbers_wherever_they_lie() -> None:
    rng = np.random.default_rng(6)
    for low, width in ((0.5, 2e-5), (-3e300, 6e300), (1e9, 1e-3), (0.0, 1e-300), (5.0, 0.0)):
        numbers = [low + width * place / 199 for place in range(200)]
        assert counted_together(numbers)
        drawn = low + width * rng.uniform(-0.1, 1.1, 1_000)
        require_counts([*drawn.tolist(), *numbers, None], numbers)


def test_numbers_that_share_a_bin_are_compared_one_by_one() -> None:
    numbers = [*(float(each) for each in range(100)), math.nextafter(50.0, 51.0)]
    (cuts,) = counted_together(numbers)
    assert len(cuts.comparisons) == 4 * 100
    require_counts([None, *numbers, 50.5, 1e300], numbers)


def test_numbers_that_doubles_cannot_part_are_compared_one_by_one() -> None:
    numbers = [*(float(each) for each in range(100)), 1e308, -1e308]
    assert not counted_together(numbers)
    require_counts([None, *numbers, 50.5, 1e300], numbers)
