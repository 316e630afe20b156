"""What training rows say of columns, at the edge of every rule that is used for it."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from holdfast.data.learning import (
    MOST_VALUES,
    implausible_scales,
    learnt_numbers,
    learnt_ranges,
    learnt_schema,
    learnt_values,
    require_ranges_fit,
    row_numbers,
)
from holdfast.data.polars import PolarsSample
from holdfast.errors import InvalidArgument
from holdfast.question.declaring import Scale


def sample(**columns: Any) -> PolarsSample:
    return PolarsSample(pl.DataFrame(columns))


def learnt_range(numbers: list[float] | list[int]) -> tuple[float, float] | None:
    found = learnt_ranges(sample(x=numbers), ["x", "no such column"]).get("x")
    return None if found is None else (found.low, found.high)


# A tenth of the width more on both sides, and round to two digits of the width.
RANGES: list[tuple[list[float] | list[int], tuple[float, float] | None]] = [
    ([3.0, 40.0], (0.0, 44.0)),  # -0.7 and 43.7
    ([10.0, 47.0], (6.0, 51.0)),
    ([-40.0, -3.0], (-44.0, 0.0)),
    ([-47.0, -10.0], (-51.0, -6.0)),
    ([-18.5, 18.5], (-23.0, 23.0)),
    ([0.0, 37.0], (0.0, 41.0)),
    ([-37.0, 0.0], (-41.0, 0.0)),
    ([0.02, 0.39], (0.0, 0.43)),
    ([1_000.0, 4_700.0], (600.0, 5_100.0)),
    ([7.0, 7.0], None),
    ([math.nan, math.inf], None),
    ([-1.7e308, 1.7e308], None),
    ([*[5.0] * 2_000, 8.7], (4.6, 9.1)),  # both quantiles are the same
    (list(range(40)), (0.0, 39.0)),  # few whole numbers, as they are
    (list(range(41)), (0.0, 44.0)),
    ([*range(50), *range(50)], (0.0, 54.0)),
]


@pytest.mark.parametrize(("numbers", "found"), RANGES)
def test_a_range_has_a_margin_and_round_ends(
    numbers: list[float] | list[int], found: tuple[float, float] | None
) -> None:
    assert learnt_range(numbers) == found


def test_a_range_of_many_leaves_out_a_thousandth_on_both_sides() -> None:
    numbers = [float(each) for each in range(1_001)]
    assert learnt_range([*numbers[1:-1], -1e6, 1e6]) == (-99.0 // 10 * 10, 1_100.0)


def test_numbers_are_learnt_where_each_is_frequent() -> None:
    def learnt(numbers: list[float]) -> tuple[float, ...] | None:
        return learnt_numbers(sample(x=numbers), ["x"]).get("x")

    assert learnt([0.5, -0.0] * 10) == (0.0, 0.5)
    assert str(learnt([0.5, -0.0] * 10)) == "(0.0, 0.5)"  # 0 has one sign
    assert learnt([0.5] * 9 + [1.5] * 10) is None
    assert learnt([0.5] * 50) is None
    most = [float(each) for each in range(50)] * 10
    assert learnt(most) == tuple(sorted(set(most)))
    assert learnt([*most, *[50.0] * 10]) is None
    assert learnt_numbers(sample(x=[1, 2] * 10), ["x", "y"]) == {}


def test_whole_numbers_that_repeat_too_seldom_are_names() -> None:
    """Of n among `span`, n (n - 1) / 2 / span pairs are expected to be equal: from 10 on."""

    def names(numbers: list[int]) -> bool:
        return row_numbers(sample(x=numbers), ["x"]) == {"x"}

    rows = list(range(20))
    assert names([*rows, 20])  # 21 of 21: as many as 10 pairs
    assert not names(rows)  # 20 of 20: 9.5 pairs
    assert not names([*rows, 21])
    assert not names([*rows, 20, 20])
    assert names([each + 10**6 for each in [*rows, 20]])
    assert not names([1])
    assert names(list(range(0, 820, 2))) is (410 * 409 >= 20 * 819)
    assert row_numbers(sample(x=[float(each) for each in range(99)]), ["x", "y"]) == set()


@pytest.mark.parametrize(("values", "many"), [(MOST_VALUES, MOST_VALUES), (MOST_VALUES + 1, 0)])
def test_categories_are_few_and_repeat(values: int, many: int) -> None:
    texts = [str(each) for each in range(values)]
    assert len(learnt_values(sample(x=[*texts, "0", None]), ["x"]).get("x", ())) == many
    assert learnt_values(sample(x=texts), ["x"]) == {}
    assert learnt_values(sample(x=[1, 1]), ["x", "y"]) == {}


def test_a_schema_says_the_least_and_the_greatest_or_two_quantiles() -> None:
    rows = sample(x=[*map(float, range(101)), math.inf], t=["b", "a"] * 51, c=[1.0] * 102)
    assert learnt_schema(rows) == {"x": (0.0, 100.0), "t": {"values": ["a", "b"]}}
    assert learnt_schema(rows, ["t"]) == {"t": {"values": ["a", "b"]}}
    assert learnt_schema(rows, ["x"], (0.105, 0.855)) == {"x": (10.0, 86.0)}
    assert learnt_schema(rows, ["x"], (0.0, 1.0)) == {"x": (0.0, 100.0)}
    for wrong in ((0.5, 0.5), (0.9, 0.1), (0.1,), (0.1, 0.5, 0.9), 0.5, (-0.1, 0.5), (0.5, 1.1)):
        with pytest.raises(InvalidArgument, match="quantiles"):
            learnt_schema(rows, ["x"], wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="columns names 'c', of which nothing"):
        learnt_schema(rows, ["x", "c"])
    with pytest.raises(InvalidArgument, match="columns names"):
        learnt_schema(rows, ["no"])


def test_a_range_that_most_training_rows_are_outside_of_is_refused() -> None:
    rows = sample(x=[0.0, 1.0, 2.0, 3.0, math.nan], t=["a"] * 5)
    require_ranges_fit(rows, {"x": (0.0, 1.0), "t": (5.0, 6.0), "no": (5.0, 6.0)})  # half of them
    require_ranges_fit(rows, {"x": (2.0, 3.0)})
    with pytest.raises(InvalidArgument, match=r"0 to 0.5.*4 training rows 3 are.*\(0 to 3\)"):
        require_ranges_fit(rows, {"x": (0.0, 0.5)})


def test_a_scale_that_training_rows_contradict_is_told() -> None:
    def told(numbers: list[float], scale: Scale) -> list[str]:
        return list(implausible_scales(sample(x=numbers, t=["a"] * len(numbers)), {"x": scale}))

    wide = [-3.0, 3.0] * 100
    assert told(wide, Scale(3.0)) == []
    (spread,) = told(wide, Scale(1.0))
    assert "of 200 training rows the standard deviation is 3:" in spread
    (apart,) = told([0.0] * 99 + [60.0], Scale(3.0, 1.0))
    assert "two are 60 apart" in apart
    assert told([0.0] * 99 + [60.0], Scale(30.0, 1.0)) == []
    (apart,) = told([-40.0] + [0.0] * 98 + [60.0], Scale(3.0, 1.0))
    assert "two are 100 apart" in apart
    (apart,) = told([40.0] * 99 + [100.0], Scale(3.0, 1.0))
    assert "two are 60 apart" in apart
    assert told([9.0], Scale(1.0)) == []
    assert list(implausible_scales(sample(t=["a", "b"]), {"t": Scale(1.0), "no": Scale(1.0)})) == []
