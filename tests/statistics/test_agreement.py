"""Every statistic, at no noise, is what anyone would compute from the rows; engines agree."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.data.design import design_of
from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Independent, clustered
from holdfast.data.sql.duckdb import DuckDBSample
from holdfast.errors import InvalidQuestion
from holdfast.statistics.bind import bind
from holdfast.statistics.call import histogram, mean
from holdfast.statistics.derived import is_derived
from holdfast.statistics.labelled import labelled
from holdfast.statistics.player import is_whole
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.registry import STATISTICS
from holdfast.statistics.statistic import is_single, measure
from holdfast.statistics.whole import TableFunction, statistic
from tests.data.engines import duckdb_connection
from tests.data.loading import postgres_sample
from tests.statistics.zoo import (
    ALSO,
    BOUNDS,
    CASES,
    COMPLETE,
    DTYPES,
    QUANTILES,
    TEXTS,
    Case,
    Row,
    among,
    every_part,
    exact_values,
    exactly,
    found_exactly,
    in_arm,
    known,
    number,
    parts_of,
    public,
    rows_of,
    searched_exactly,
    share,
    table,
)

FRAME = table()
SAMPLE = PolarsSample(FRAME)
PUBLIC = public(FRAME)
ROWS = rows_of(FRAME)


def close(found: float, wanted: float, question: Any) -> None:
    """Equal but for the grid, by which sums of a few parts differ."""
    width = max(question.high - question.low, 1e-9)
    assert math.isclose(found, wanted, rel_tol=1e-6, abs_tol=1e-7 * width)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.question)
def test_the_statistic_is_what_anyone_would_compute(case: Case) -> None:
    question = bind(case.question, PUBLIC)
    found = found_exactly(case.question, PUBLIC, SAMPLE)
    close(found.value, case.plain(ROWS), question)
    assert found.interval.low <= found.value <= found.interval.high
    assert question.low <= found.interval.low <= found.interval.high <= question.high
    # Exact parts leave hardly any width, except that of a root near 0.
    assert found.interval.high - found.interval.low < 1e-6 * (question.high - question.low)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.question)
def test_a_guess_of_the_whole_is_one_of_its_last_part(case: Case) -> None:
    """The right guess, with the right other parts, is the right guess of the last part."""
    question = bind(case.question, PUBLIC)
    if not is_derived(question):
        return
    *others, last = [exactly(part, SAMPLE).value for part in parts_of(question)]
    part = parts_of(question)[-1]
    width = part.high - part.low
    assert abs(question.last_guess(case.plain(ROWS), others) - last) < 1e-6 * width


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "arm": st.sampled_from(["A", "B", None]),
    "y": st.sampled_from([True, False, None]),
    "site": st.sampled_from([0, 2, None]),
    "x": st.sampled_from([None, math.nan, math.inf, -math.inf, 0.0, 12.5, -60.0, 180.0]),
    "z": st.sampled_from([None, -30.0, -20.0, -7.0, -3.0, 5.0]),
    "p": st.sampled_from([None, math.nan, -0.5, 0.0, 0.25, 0.5, 1.0]),
    "k": st.sampled_from([None, 0, 4, 5, 21]),
    "new": st.sampled_from([True, False, None]),
    "old": st.sampled_from([True, False, None]),
}


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(st.fixed_dictionaries(VALUES), min_size=3, max_size=12))
def test_tables_of_a_few_odd_rows_agree_too(rows: list[dict[str, Any]]) -> None:
    frame = pl.DataFrame(rows, schema=DTYPES)
    at, plain_rows, bound = public(frame), rows_of(frame), {}
    for case in CASES:
        with suppress(InvalidQuestion):  # an empty group of the design, or one class only
            bound[case] = bind(case.question, at)
    parts = {part.text: part for each in bound.values() for part in parts_of(each)}
    values = exact_values(list(parts.values()), PolarsSample(frame))
    for case, question in bound.items():
        own = [values[part.text] for part in parts_of(question)]
        found = question.join(own) if is_derived(question) else own[0]
        width = question.high - question.low
        try:
            wanted = case.plain(plain_rows)
        except ZeroDivisionError:  # a group that is not public is empty, or a column is constant
            # A group that is empty says nothing; that a value is constant is known up to roundings.
            if not case.question.startswith(("difference", "effect", "correlation", "slope")):
                assert is_whole(found.interval, question)
            continue
        assert found.value is not None, case.question
        # Ratios of small numbers magnify the grid.
        assert abs(found.value - wanted) <= 2e-3 * width, case.question
        assert found.interval.low - 2e-3 * width <= wanted <= found.interval.high + 2e-3 * width


def lower_quantile(values: list[float], level: float) -> float:
    """inf{v : F(v) >= level}, by counting."""
    ordered = sorted(values)
    n = len(ordered)
    return next(v for place, v in enumerate(ordered, start=1) if place >= level * n - 1e-9)


@pytest.mark.parametrize(("question", "column", "level"), QUANTILES)
def test_a_search_ends_around_the_quantile(question: str, column: str, level: float) -> None:
    quantile = bind(question, PUBLIC)
    assert isinstance(quantile, Quantile)
    rows = [row for row in ROWS if "arm" not in question or row["arm"] == "A"]
    truth = lower_quantile([number(row, column) for row in known(rows, column)], level)
    found, asked = searched_exactly(quantile, SAMPLE)
    assert found.interval.low <= truth <= found.interval.high
    assert found.interval.high - found.interval.low <= quantile.step * (1 + 1e-9)
    assert asked <= 2 * quantile.cells.bit_length()


@settings(max_examples=80, deadline=None)
@given(
    values=st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 3.0, 8.0, 9.0, None]), min_size=1),
    level=st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9]),
    step=st.sampled_from([0.5, 1.0, 2.5, 7.0, 100.0]),
)
def test_atoms_ties_and_levels_that_are_reached_exactly(
    values: list[float | None], level: float, step: float
) -> None:
    """The sample itself is the population: its F jumps at thresholds, and may equal the level."""
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Float64})
    at = public(pl.DataFrame({name: [] for name in DTYPES}, schema=DTYPES), [])
    quantile = bind(f"quantile(clip(x, 0, 8), {level}, {step})", at)
    assert isinstance(quantile, Quantile)
    known_values = [min(8.0, max(0.0, v)) for v in values if v is not None]
    if not known_values:
        return
    truth = lower_quantile(known_values, level)
    found, asked = searched_exactly(quantile, PolarsSample(frame))
    assert found.interval.low <= truth <= found.interval.high
    assert asked <= 2 * quantile.cells.bit_length()


@pytest.mark.parametrize(("column", "edges"), [("x", [-60.0, 0.0, 20.0, 180.0]), ("k", [0, 3, 6])])
def test_a_histogram_counts_each_value_once(column: str, edges: list[float]) -> None:
    """Lower ends belong to their bins, and the last upper end, too: whole numbers hit them."""
    found = labelled(histogram(column, edges), PUBLIC, lambda _: [])
    values = [row[column] for row in ROWS if row[column] is not None]
    plain = [sum(low <= v < high for v in values) for low, high in pairwise(edges)]
    plain[-1] += sum(v == edges[-1] for v in values)
    counts = [exactly(question, SAMPLE).value * len(values) for _, question in found.members]
    assert counts == pytest.approx(plain)
    assert [str(label)[-1] for label, _ in found.members] == [")"] * (len(edges) - 2) + ["]"]


def test_groups_are_one_question_for_each_member() -> None:
    found = labelled(mean("new", by="arm"), PUBLIC, lambda _: [("A",), ("B",), ("C",)])
    for member, question in found.members:
        wanted = among(in_arm(str(member)), share(lambda row: row["new"]))(ROWS)
        assert exactly(question, SAMPLE).value == pytest.approx(wanted)
    both = labelled(mean("new", by="arm", where="site = 1"), PUBLIC, lambda _: [("A",)])
    assert both.members[0][1].text == "avg(new) where arm = 'A' and site = 1"
    flags = labelled(mean("k", by="y"), PUBLIC, lambda _: [(False,), (True,)])
    assert [each.text for _, each in flags.members] == [
        "avg(clip(k, 0, 20)) where not y",
        "avg(clip(k, 0, 20)) where y",
    ]


def median(frame: pl.DataFrame) -> Any:
    return frame["x"].median()


def made(function: Any, **declared: Any) -> TableFunction:
    facts: dict[str, Any] = {"columns": ["x"], "bounds": (0.0, 20.0), "name": "f", "change": 0.1}
    return statistic(function, **(facts | declared))


@pytest.mark.parametrize(
    ("gives", "counts"),
    [
        (7.0, 7.0),
        (-3.0, 0.0),
        (50.0, 20.0),
        (math.inf, 20.0),
        (-math.inf, 0.0),
        (math.nan, 0.0),
        (None, 0.0),
        ("seven", 0.0),
        (True, 1.0),
    ],
)
def test_a_function_of_the_table_always_has_a_value(gives: Any, counts: float) -> None:
    assert exactly(made(lambda frame: gives), SAMPLE).value == counts


def test_a_function_that_fails_says_nothing_of_the_rows() -> None:
    def failing(frame: pl.DataFrame) -> float:
        raise ValueError(f"saw {frame['x'][0]}")

    def panicking(frame: pl.DataFrame) -> float:
        raise pl.exceptions.PanicException(f"saw {frame['x'][0]}")

    for function in (failing, panicking):
        assert exactly(made(function), SAMPLE).value == 0.0


def test_a_function_sees_plain_columns_and_cannot_change_the_table() -> None:
    seen: list[pl.DataFrame] = []

    def spoiling(frame: pl.DataFrame) -> float:
        seen.append(frame.clone())
        frame.drop_in_place("x")
        return 1.0

    question = made(spoiling, columns=["k", "x"])
    assert exactly(question, SAMPLE).value == exactly(question, SAMPLE).value == 1.0
    assert seen[0].equals(seen[1])
    assert seen[0].schema == {"k": pl.Int64, "x": pl.Float64}
    assert seen[0]["x"].is_nan().sum() == 0  # NaN is missing here, too


def test_engines_agree_on_every_statistic_there_is() -> None:
    assert {name for text in [*TEXTS, *ALSO] for name in re.findall(r"(\w+)\(", text)} >= set(
        STATISTICS
    )


def test_engines_agree_to_the_last_bit() -> None:
    relation = duckdb_connection().from_arrow(FRAME.to_arrow())
    parts = [*every_part(PUBLIC), made(median, name="median")]
    assert len(parts) > 40
    by_polars = measure(SAMPLE, parts, squares=True)
    by_duckdb = measure(DuckDBSample(relation), parts, squares=True)
    by_files = measure(PolarsSample(FRAME.lazy()), parts, squares=True)
    by_postgres = measure(postgres_sample(FRAME), parts, squares=True)
    for part, *found in zip(parts, by_polars, by_duckdb, by_files, by_postgres, strict=True):
        assert all(each == found[0] for each in found), part.text


def test_the_order_of_rows_is_nothing_to_an_estimate_that_is_no_sum_of_steps() -> None:
    """Around 0 these rows balance exactly, and a sum of doubles but for their order."""
    half = [0.1 * place * place for place in range(1, 40)]
    frame = pl.DataFrame({"x": half + [-each for each in half]})
    estimate = bind("catoni(x, 900)", type(PUBLIC)(COMPLETE))
    assert is_single(estimate)
    first = made(lambda rows: rows["x"][0] / 1e3, columns=["x"], name="first")
    for seed in range(8):
        shuffled = PolarsSample(frame.sample(fraction=1.0, shuffle=True, seed=seed))
        found = measure(shuffled, [estimate, first])
        assert found == measure(PolarsSample(frame), [estimate, first])


def test_the_design_has_the_same_cells_on_every_engine() -> None:
    relation = duckdb_connection().from_arrow(FRAME.to_arrow())
    for sampling in (Independent(), clustered("k", sizes="fixed"), clustered("k", largest=99)):
        one = design_of(SAMPLE, ["arm", "y"], sampling)
        other = design_of(DuckDBSample(relation), ["y", "arm"], sampling)
        assert one == other == design_of(postgres_sample(FRAME), ["arm", "y"], sampling)
        assert type(one).from_dict(one.to_dict()) == one
        assert sum(one.counts) == len(ROWS)


def test_group_sizes_are_those_of_the_rows() -> None:
    conditions: dict[str, Callable[[Row], Any]] = {
        "arm = 'A'": in_arm("A"),
        "arm is null": lambda row: row["arm"] is None,
        "arm != 'A'": lambda row: row["arm"] is not None and row["arm"] != "A",
        "y": lambda row: row["y"] is True,
        "not y": lambda row: row["y"] is False,
        "site > 1 or y": lambda row: (
            (row["site"] is not None and row["site"] > 1) or row["y"] is True
        ),
        "coalesce(site, 9) = 9": lambda row: row["site"] is None,
    }
    for text, holds in conditions.items():
        group = PUBLIC.design.group(PUBLIC.condition(text))
        assert group.size == sum(bool(holds(row)) for row in ROWS), text


def test_whole_numbers_of_any_size_can_be_design_columns() -> None:
    huge = 2**63 + 1025
    frame = pl.DataFrame({"id": [huge, 5, None, huge]}, schema={"id": pl.UInt64})
    design = design_of(PolarsSample(frame), ["id"], Independent())
    at = type(PUBLIC)(type(PUBLIC.schema)({"id": PUBLIC.schema.types["k"]}), design)
    assert design.group(at.condition(f"id = {huge}")).size == 2
    assert design.group(at.condition("id = 5 or id is null")).size == 2


@pytest.mark.parametrize("condition", ["true", "1 = 1", "arm = 'A' or true", "not false"])
def test_a_condition_that_always_holds_asks_for_all_rows(condition: str) -> None:
    assert bind(f"avg(z) where {condition}", PUBLIC) == bind("avg(z)", PUBLIC)
    assert BOUNDS["z"][0] <= found_exactly(f"avg(z) where {condition}", PUBLIC, SAMPLE).value
