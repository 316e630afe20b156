"""Counts in bins and values beside each other: exact, and the same whatever holds the rows."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st

from holdfast.data.clusters import cluster_sizes
from holdfast.data.duckdb import DuckDBSample
from holdfast.data.histogram import Histogram, histograms
from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.data.units import unit_sums
from holdfast.data.values import distinct_unit_values, unit_values_of
from holdfast.question import Schema, build, parse_row, row_value
from holdfast.question.expression import Column, ColumnType, Expression
from holdfast.question.functions import bind_function, row_function
from holdfast.question.row import GRID, GRID_ERROR, RowValue
from tests.data.test_engines import bounded, engines
from tests.question.interpreter import conditions, evaluate, numbers, tables

Asked = list[tuple[RowValue, Expression | None]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def known(row: RowValue, table: list[dict[str, Any]], where: Expression | None) -> list[float]:
    """The row values of the rows where the condition holds, by the plain interpreter."""
    inside = [each for each in table if where is None or evaluate(where, each) is True]
    values = [evaluate(row.source, each) for each in inside]  # type: ignore[arg-type]
    return [row.missing if value is None else float(value) for value in values]


def fraction(row: RowValue, value: float) -> Fraction:
    width = Fraction(row.high) - Fraction(row.low)
    return (Fraction(value) - Fraction(row.low)) / width if width else Fraction(0)


def assert_encloses(found: Histogram, row: RowValue, values: list[float]) -> None:
    assert found.rows == len(values) == found.counts.sum()
    assert found.counts.size == found.low.size == found.high.size
    shift = 16 if row.grid.top > 1 else 0
    bins = Counter(row.grid.steps(value) >> shift for value in values)
    assert {place: count for place, count in enumerate(found.counts.tolist()) if count} == bins
    for rank, value in enumerate(sorted(values), start=1):
        low, high = found.between(rank)
        assert 0.0 <= low <= fraction(row, value) <= high <= 1.0
        assert high - low <= 2.0**-15


@settings(max_examples=60)
@given(tables, st.lists(st.tuples(numbers(2) | conditions(2), st.none() | conditions(2)), min_size=4))
def test_histograms_are_those_of_the_interpreter_on_every_engine(
    folder: Path,
    connection: duckdb.DuckDBPyConnection,
    table: list[dict[str, Any]],
    pairs: list[tuple[Expression, Expression | None]],
) -> None:
    asked = [(row, where) for each, where in pairs if (row := bounded(each)) is not None]
    assume(asked)
    for sample in engines(table, [], [], folder, connection):
        found = sample.histograms(asked)
        for histogram, (row, where) in zip(found, asked, strict=True):
            assert_encloses(histogram, row, known(row, table, where))


@settings(max_examples=60)
@given(tables, st.lists(numbers(2) | conditions(2), min_size=2, max_size=3), st.none() | conditions(2))
def test_values_beside_each_other_are_the_same_on_every_engine(
    folder: Path,
    connection: duckdb.DuckDBPyConnection,
    table: list[dict[str, Any]],
    expressions: list[Expression],
    where: Expression | None,
) -> None:
    rows = [row for row in map(bounded, expressions) if row is not None]
    assume(rows)
    columns = [known(row, table, where) for row in rows]
    steps = sorted(
        zip(*([r.grid.steps(v) for v in values] for r, values in zip(rows, columns)), strict=True)
    )
    expected = [[step / max(1, row.grid.top) for step in column]
                for row, column in zip(rows, zip(*steps, strict=True) if steps else [()] * len(rows))]  # fmt: skip
    for sample in engines(table, [], [], folder, connection):
        assert [each.tolist() for each in unit_values_of(sample, rows, where)] == expected
        distinct, times = distinct_unit_values(sample, rows, where)
        held = list(zip(*(each.tolist() for each in distinct), strict=True))
        assert dict(zip(held, times.tolist(), strict=True)) == Counter(zip(*expected, strict=True))
        assert held == sorted(held)
