"""Means: bounds, missing values, identity, and rows valued by functions."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

from holdfast.data.polars import PolarsSample
from holdfast.data.sample import steps_of_batch
from holdfast.errors import InvalidArgument, InvalidQuestion, NotBounded
from holdfast.question import GRID, GRID_ERROR, ColumnType, Schema, row_function
from holdfast.question.parse import parse_row
from holdfast.statistics.bind import bind
from holdfast.statistics.call import mean
from holdfast.statistics.derived import Conditional
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import Mean
from tests.statistics.asked import asked

TYPES = {
    "x": ColumnType.FLOAT,
    "k": ColumnType.INTEGER,
    "name": ColumnType.TEXT,
    "flag": ColumnType.BOOLEAN,
}
SCHEMA = Schema(TYPES)
BOUNDED = SCHEMA.declare({"x": (-60, 180)})
FRAME = pl.DataFrame(
    {
        "x": [1.0, None, math.nan, math.inf, -500.0],
        "k": [1, 2, None, 4, 5],
        "name": ["a", "b", None, "", "é"],
        "flag": [True, None, False, True, None],
    }
)
SAMPLE = PolarsSample(FRAME)


def exactly(question: Mean) -> float:
    """The mean of the sample in the question's own units."""
    (total,) = SAMPLE.sums([question.row])
    return question.low + (question.high - question.low) * total / (SAMPLE.n * GRID)


def test_a_mean_of_a_condition_is_a_proportion() -> None:
    question = asked("avg(x > 0)", SCHEMA)
    assert (question.low, question.high, question.row.is_condition) == (0.0, 1.0, True)
    assert exactly(question) == 2 / 5  # NULL and NaN count as false
    assert exactly(asked("avg(not x > 0)", SCHEMA)) == 1 / 5
    assert exactly(asked("avg(x > 0 or x is null)", SCHEMA)) == 4 / 5


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("clip(x, -60, 180)", [1, 0, 0, 180, -60]),
        ("clip(x, 10, 20)", [10, 10, 10, 20, 10]),
        ("clip(x, -20, -10)", [-10, -10, -10, -10, -20]),
        ("coalesce(clip(x, -60, 180), 60)", [1, 60, 60, 180, -60]),
        ("case when flag then clip(k, 0, 9) else -1 end", [1, -1, -1, 4, -1]),
        ("clip(k, 3, 3)", [3, 3, 3, 3, 3]),
    ],
)
def test_a_missing_number_counts_as_the_one_nearest_to_zero(
    question: str, values: list[float]
) -> None:
    bound = asked(f"avg({question})", SCHEMA)
    width = bound.high - bound.low
    assert exactly(bound) == pytest.approx(sum(values) / 5, abs=width * GRID_ERROR)
    grid = bound.row.grid
    assert SAMPLE.sums([bound.row]) == [grid.moments(sum(map(grid.steps, values)), 0)[0]]


def test_bounds_can_be_given_in_three_ways_and_are_one_question() -> None:
    declared = asked("avg(x)", BOUNDED)
    assert declared == asked("avg(clip(x, -60, 180))", SCHEMA)
    assert declared == asked(mean("x", bounds=(-60, 180)), SCHEMA)
    assert declared == asked(mean("x"), BOUNDED)
    assert declared.text == "avg(clip(x, -60, 180))"
    # Bounds given with the question win over declared ones, and conditions see the column itself.
    assert asked(mean("x", bounds=(0, 500)), BOUNDED).text == "avg(clip(x, 0, 500))"
    assert asked("avg(x > 300)", BOUNDED).text == "avg(x > 300)"
    assert asked("avg(abs(x) / 2)", BOUNDED).text == "avg(abs(clip(x, -60, 180)) / 2)"


@pytest.mark.parametrize(
    "question", ["x", "abs(k)", "x + flag", "case when flag then k else 0 end"]
)
def test_unbounded_columns_say_how_to_declare_bounds(question: str) -> None:
    with pytest.raises(
        NotBounded, match=r"clip\([xk], low, high\).*schema=\{'[xk]': \(low, high\)\}"
    ) as e:
        asked(f"avg({question})", SCHEMA)
    assert "bounds=(low, high)" in str(e.value)


def test_division_by_zero_needs_a_clip() -> None:
    with pytest.raises(NotBounded, match="division"):
        asked("avg(1 / clip(x, 0, 1))", SCHEMA)
    assert asked("avg(1 / clip(x, 1, 2))", SCHEMA).low == 0.5
    divided = bind("avg(clip(1 / clip(x, 0, 1), 0, 9))", Table(SCHEMA))
    assert divided.high == 9
    assert isinstance(divided, Conditional)  # rows where x is 0 have no value, and are left out


def test_binding_accepts_what_is_already_bound() -> None:
    question = asked("avg(flag)", SCHEMA)
    assert asked(question, SCHEMA) is question
    assert asked(mean(parse_row("flag", SCHEMA)), SCHEMA) == question
    with pytest.raises(InvalidQuestion, match="flag"):
        asked(question, Schema({"x": ColumnType.FLOAT}))
    with pytest.raises(InvalidArgument):
        mean("x", bounds=(1, 0))
    with pytest.raises(InvalidQuestion, match=r"write it like avg"):
        asked("x > 1", SCHEMA)
    with pytest.raises(InvalidQuestion, match="stands once"):
        asked(mean("avg(x)"), SCHEMA)


def test_declared_bounds_come_from_a_file(tmp_path: Any) -> None:
    path = tmp_path / "flights.toml"
    path.write_text('[bounds]\nx = [-60, 180]\n"k" = [0, 9.5]\n')
    assert SCHEMA.declare(path).bounds == {"x": (-60.0, 180.0), "k": (0.0, 9.5)}
    assert SCHEMA.declare(str(path)).declare({"k": (1, 2)}).bounds["k"] == (1.0, 2.0)
    assert SCHEMA.declare(None) == SCHEMA


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"x": (1, 1)}, "low below high"),
        ({"x": (0, math.inf)}, "low below high"),
        ({"x": (-1.7e308, 1.7e308)}, "low below high"),
        ({"x": (0, math.nan)}, "low below high"),
        ({"x": 5}, "low below high"),
        ({"x": (0, True)}, "low below high"),
        ({"x": ("a", "b")}, "low below high"),
        ({"xx": (0, 1)}, "did you mean 'x'"),
        ({"name": (0, 1)}, "only numbers have bounds"),
        ([("x", (0, 1))], "mapping"),
        ("missing.toml", "cannot be read"),
    ],
)
def test_wrong_bounds_are_refused(bounds: Any, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        SCHEMA.declare(bounds)


@pytest.mark.parametrize("content", ["bounds = 3", "x = [0, 1]", "[bounds", "\x80"])
def test_wrong_files_are_refused(tmp_path: Any, content: str) -> None:
    path = tmp_path / "bounds.toml"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(InvalidArgument, match="schema file"):
        SCHEMA.declare(path)


def test_a_function_is_total() -> None:
    def tricky(frame: pl.DataFrame) -> list[float | None]:
        if frame["k"].is_in([4]).any():
            raise RuntimeError("no fours")
        return [None if k is None else 10.0 * k for k in frame["k"]]

    function = row_function(tricky, columns=["k"], bounds=(5, 45), name="tens", version="1")
    question = asked(mean(function), SCHEMA)
    # 10, 20, missing (5), failing (5), 50 clipped to 45.
    grid = question.row.grid
    steps = [grid.steps(value) for value in (10, 20, 5, 5, 45)]
    assert SAMPLE.sums([question.row]) == [grid.moments(sum(steps), 0)[0]]
    assert steps_of_batch(question.row, FRAME).tolist() == steps
    assert question.text == 'avg(function "tens" version "1" of (k) in [5, 45])'


def test_functions_are_known_by_name_and_version() -> None:
    def made(version: str = "1", high: float = 1) -> Mean:
        function = row_function(
            lambda frame: frame["x"] > 0,
            columns=["x"],
            bounds=(0, high),
            name="up",
            version=version,
        )
        return asked(mean(function), SCHEMA)

    assert made().text == made().text
    assert len({made().text, made("2").text, made(high=2).text}) == 3
    assert exactly(made()) == pytest.approx(2 / 5, abs=GRID_ERROR)


def test_functions_are_tried_on_invented_rows_only() -> None:
    def bound(function: Any, columns: list[str], bounds: Any = (0, 1)) -> Mean:
        made = row_function(function, columns=columns, bounds=bounds, name="f", version="1")
        return asked(mean(made), SCHEMA)

    seen: list[pl.DataFrame] = []

    def remembering(frame: pl.DataFrame) -> Any:
        seen.append(frame)
        return np.zeros(frame.height)

    bound(remembering, ["x", "name"])
    assert seen
    assert not any(frame["x"].is_in([-500.0]).any() for frame in seen)
    with pytest.raises(InvalidQuestion, match="ColumnNotFound"):
        bound(lambda frame: frame["oops"], ["x"])
    with pytest.raises(InvalidQuestion, match="one number for each row"):
        bound(lambda frame: [1.0], ["x"])
    with pytest.raises(InvalidQuestion, match="did you mean 'x'"):
        bound(lambda frame: frame["xx"], ["xx"])
    table = {"AA": 1.0}
    assert bound(lambda frame: [table[name] for name in frame["name"]], ["name"]).low == 0
    wrongs: list[dict[str, Any]] = [{"bounds": (1, 0)}, {"columns": "x"}, {"columns": []}]
    for wrong in [*wrongs, {"name": ""}, {"version": 2}]:
        arguments = {"columns": ["x"], "bounds": (0, 1), "name": "f", "version": "1", **wrong}
        with pytest.raises(InvalidArgument):
            row_function(lambda frame: frame["x"], **arguments)
    with pytest.raises(TypeError, match="version"):  # a name alone would be used for another model
        row_function(lambda f: f["x"], columns=["x"], bounds=(0, 1), name="f")  # type: ignore[call-arg]
    function = row_function(lambda f: f["x"], columns=["x"], bounds=(0, 1), name="f", version="1")
    with pytest.raises(InvalidQuestion, match="row_function itself"):
        asked(mean(function, bounds=(0, 1)), SCHEMA)


@pytest.mark.parametrize(("bounds", "missing"), [((-1, 1), 0.0), ((1, 2), 1.0), ((-3, -2), -2.0)])
def test_a_function_that_fails_on_every_row_gives_missing_values(
    bounds: tuple[float, float], missing: float
) -> None:
    """Counted as all missing values are: as 0, or as the bound nearest to it."""

    def fails(frame: pl.DataFrame) -> list[float]:
        return [row["nothing"] for row in frame.iter_rows(named=True)]

    function = row_function(fails, columns=["x"], bounds=bounds, name="fails", version="1")
    assert exactly(asked(mean(function), SCHEMA)) == missing


def test_polars_expressions() -> None:
    positive = asked(mean(pl.col("x") > 0), SCHEMA)
    assert (positive.low, positive.high, positive.row.is_condition) == (0.0, 1.0, True)
    assert exactly(positive) == 2 / 5
    same = asked(mean((pl.col("x") > 0).alias("another name")), SCHEMA)
    assert same == positive
    assert hash(same) == hash(positive)
    assert asked(mean(pl.col("x") > 1), SCHEMA) != positive
    clipped = asked(mean(pl.col("x").abs() * 2, bounds=(0, 100)), SCHEMA)
    assert clipped == asked("avg(clip(abs(x) * 2, 0, 100))", SCHEMA)
    assert exactly(clipped) == pytest.approx((2 + 0 + 0 + 100 + 100) / 5, abs=100 * GRID_ERROR)
    with pytest.raises(NotBounded, match="bounds="):
        asked(mean(pl.col("x") * 2), SCHEMA)


@pytest.mark.parametrize(
    "expression",
    [
        pl.col("x").mean(),
        pl.col("x") - pl.col("x").mean(),
        pl.col("x").sum().over("name"),
        pl.col("x").shift(1),
        pl.col("x").cum_sum(),
        pl.col("x").rank(),
        pl.col("x").sort(),
        pl.col("x").fill_null(strategy="forward"),
        pl.col("x").diff(),
        pl.col("x").filter(pl.col("flag")),
        pl.col("x").head(1),
        pl.col("x").unique(),
        pl.len(),
        pl.lit(1.0),
        pl.all(),
        pl.col("x", "k"),
        pl.col("^.*$"),
        pl.col("nothing") > 1,
        pl.col("name").str.to_uppercase(),
        pl.col("name").cast(pl.Int64),
        pl.col("x").map_elements(lambda value: value, return_dtype=pl.Float64),
        pl.col("x").map_batches(lambda series: series, return_dtype=pl.Float64),
        pl.struct("x", "k"),
    ],
    ids=str,
)
def test_polars_expressions_that_are_refused(expression: pl.Expr) -> None:
    with pytest.raises(InvalidQuestion) as refusal:
        asked(mean(expression, bounds=(0, 1)), SCHEMA)
    assert not isinstance(refusal.value, NotBounded)


def test_questions_import_nothing_heavy() -> None:
    program = (
        "import sys, holdfast.question, holdfast.data; "
        "print([m for m in ('sqlglot', 'polars', 'duckdb', 'pandas', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
