"""Columns computed from protected rows: a value for every key, whatever the function does."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from holdfast.data import open_sample
from holdfast.data.attached import ColumnValues, Computed, computed, computed_values, scores_in
from holdfast.data.keys import key_order, ordered
from holdfast.data.sample import BATCH_ROWS
from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.expression import ColumnType

N = 50
ROWS = np.random.default_rng(2).permutation(N)
FRAME = pl.DataFrame({"id": ROWS, "x": ROWS / 10, "name": [f"row {row}" for row in ROWS]})


def values(function: Any, data: Any = FRAME, columns: tuple[str, ...] = ("x",)) -> list[Any]:
    sample = open_sample(data)
    asked = computed(function, columns=columns, bounds=(-1.0, 3.0)).named("m3")
    return computed_values(sample, key_order(sample, "id"), asked).values.to_list()


EXPECTED = [min(3.0, 2 * row / 10) for row in range(N)]


def test_values_are_in_the_order_of_keys_on_every_engine(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "t.parquet")
    for data in (FRAME, tmp_path / "t.parquet"):
        assert values(lambda rows: 2 * rows["x"], data) == EXPECTED


def test_batches_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    n = BATCH_ROWS + 10
    frame = pl.DataFrame({"id": np.arange(n)[::-1].copy(), "x": np.arange(n) % 3})
    seen: list[int] = []

    def function(rows: pl.DataFrame) -> pl.Series:
        seen.append(rows.height)
        return rows["x"]

    assert values(function, frame) == list((np.arange(n)[::-1] % 3).astype(float))
    assert sorted(seen) == [10, BATCH_ROWS]


def test_it_is_run_once_and_sees_only_its_columns() -> None:
    seen: list[list[str]] = []

    def function(rows: pl.DataFrame) -> Any:
        seen.append(rows.columns)
        return np.zeros(rows.height)

    assert values(function, columns=("name", "x", "name")) == [0.0] * N
    assert seen == [["name", "x"]]


def test_a_row_that_fails_is_missing_and_the_others_are_not() -> None:
    def function(rows: pl.DataFrame) -> Any:
        warnings.warn("row 7 is among them", stacklevel=1)
        if "row 7" in rows["name"]:
            raise ValueError(f"row 7: {rows['x'].to_list()}")
        return 2 * rows["x"]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = values(function, columns=("x", "name"))
    assert found == [*EXPECTED[:7], None, *EXPECTED[8:]]


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_missing(strange: float) -> None:
    found = values(lambda rows: np.where(rows["x"] == 0.7, strange, 2 * rows["x"]))
    assert found == [*EXPECTED[:7], None, *EXPECTED[8:]]


def test_what_was_declared_is_kept() -> None:
    asked = computed(len, columns=["x", "x"], bounds=(0, 1), digest="sha256:1f")
    assert asked == Computed(len, ("x",), Range(0.0, 1.0), "sha256:1f")
    assert asked.named("m3").name == "m3"


@pytest.mark.parametrize(
    ("brought", "expected"),
    [
        ([True, False, None], [1.0, 0.0, None]),
        ([3, -1, None], [3.0, -1.0, None]),
        ([0.5, -0.5, None], [0.5, -0.5, None]),
    ],
)
def test_scores_are_numbers_in_their_bounds(brought: list[Any], expected: list[Any]) -> None:
    """Whatever they are brought as: not even the type of what is kept says anything of them."""
    order = ordered("id", pl.Series([1, 2, 3]))
    found = scores_in(Range(-1, 3), ColumnValues(order, pl.Series(brought)))
    assert found.type is ColumnType.FLOAT
    assert str(found.values.to_list()) == str(expected)


def test_scores_outside_their_bounds_are_refused_by_their_keys() -> None:
    """Whoever brings them has them; a function's are cut, since what it computes is protected."""
    order = ordered("id", pl.Series([1, 2, 3]))
    with pytest.raises(InvalidArgument, match=r"2 keys \(1, 3\) have a value outside \[-1, 3\]"):
        scores_in(Range(-1, 3), ColumnValues(order, pl.Series([7.0, None, -1.5])))


@pytest.mark.parametrize("brought", [[True, False, None], [1, 0, None], [1.0, 0.0, None]])
def test_scores_without_a_range_are_right_or_wrong(brought: list[Any]) -> None:
    order = ordered("id", pl.Series([1, 2, 3]))
    found = scores_in(None, ColumnValues(order, pl.Series(brought)))
    assert found.type is ColumnType.BOOLEAN
    assert found.values.to_list() == [True, False, None]
    for graded in ([1.0, 0.5, 0.0], [1, 2, 0]):
        with pytest.raises(InvalidArgument, match=r"1 key \(2\) has a value that is neither 0 nor"):
            scores_in(None, ColumnValues(order, pl.Series(graded)))


def test_words_are_no_scores() -> None:
    order = ordered("id", pl.Series([1, 2]))
    with pytest.raises(InvalidArgument, match="values are text"):
        scores_in(Range(0, 1), ColumnValues(order, pl.Series(["a", "b"])))


@pytest.mark.parametrize(
    "wrong",
    [
        {"function": 3},
        {"columns": []},
        {"columns": "x"},
        {"bounds": (1, 0)},
        {"bounds": (0, np.inf)},
        {"digest": ""},
        {"digest": 5},
        {"digest": "x" * 201},
        {"digest": "a\nb"},
    ],
)
def test_what_cannot_be_computed_is_refused_at_once(wrong: dict[str, Any]) -> None:
    facts: dict[str, Any] = {"function": len, "columns": ["x"], "bounds": (0, 1)} | wrong
    with pytest.raises(InvalidArgument):
        computed(facts.pop("function"), **facts)
