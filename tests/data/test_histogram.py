"""Counts in bins and values beside each other: exact, and the same whatever holds the rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st

from holdfast.data.histogram import Histogram, Stepping, histograms
from holdfast.data.orders import RUN, random_orders, row_tickets
from holdfast.data.polars import PolarsSample
from holdfast.data.ranking import RankedPairs, shuffled_classes
from holdfast.data.sample import BATCH_ROWS, Sample
from holdfast.data.sql.duckdb import DuckDBSample
from holdfast.data.values import cluster_sizes, distinct_unit_values, unit_sums, unit_values_of
from holdfast.errors import InvalidQuestion
from holdfast.question import Schema, build, parse_row, row_value
from holdfast.question.expression import Column, ColumnType, Expression, Op
from holdfast.question.functions import bind_function, row_function
from holdfast.question.row import RowValue
from tests.data.engines import bounded, engines
from tests.holdout.tables import Watched
from tests.question.interpreter import conditions, evaluate, numbers, tables
from tests.seam import polars_spelling

Asked = list[tuple[RowValue, Expression | None]]


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
    assert found.total == row.grid.moments(sum(map(row.grid.steps, values)), 0)[0]
    for rank, value in enumerate(sorted(values), start=1):
        low, high = found.between(rank)
        assert 0.0 <= low <= fraction(row, value) <= high <= 1.0
        assert high - low <= 1.001 * 2.0**-15


@settings(max_examples=30)
@given(
    tables, st.lists(st.tuples(numbers(2) | conditions(2), st.none() | conditions(2)), min_size=4)
)
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


@settings(max_examples=30)
@given(
    tables, st.lists(numbers(2) | conditions(2), min_size=2, max_size=3), st.none() | conditions(2)
)
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
        tuple(row.grid.steps(value) for row, value in zip(rows, values, strict=True))
        for values in zip(*columns, strict=True)
    )
    expected = [
        [each[place] / max(1, row.grid.top) for each in steps] for place, row in enumerate(rows)
    ]
    for sample in engines(table, [], [], folder, connection):
        assert [each.tolist() for each in unit_values_of(sample, rows, where)] == expected
        distinct, times = distinct_unit_values(sample, rows, where)
        held = list(zip(*(each.tolist() for each in distinct), strict=True))
        assert dict(zip(held, times.tolist(), strict=True)) == Counter(zip(*expected, strict=True))
        assert held == sorted(held)


@settings(max_examples=40)
@given(
    tables,
    numbers(2) | conditions(2),
    st.none() | conditions(2),
    st.sampled_from(["f", "i", "b", "t", "d", "s"]),
)
def test_sums_of_units_are_the_same_on_every_engine(
    folder: Path,
    connection: duckdb.DuckDBPyConnection,
    table: list[dict[str, Any]],
    expression: Expression,
    where: Expression | None,
    column: str,
) -> None:
    row = bounded(expression)
    assume(row is not None)
    assert row is not None
    units: dict[Any, list[dict[str, Any]]] = {}
    for each in table:
        unit = each[column]
        is_nan = isinstance(unit, float) and math.isnan(unit)
        units.setdefault(None if is_nan else unit, []).append(each)
    expected = []
    for members in units.values():
        steps = [row.grid.steps(value) for value in known(row, members, where)]
        expected.append((len(steps), sum(steps) / max(1, row.grid.top)))
    for sample in engines(table, [], [], folder, connection):
        sums, sizes = unit_sums(sample, row, where, column)
        assert list(zip(sizes.tolist(), sums.tolist(), strict=True)) == sorted(expected)
        assert (
            unit_sums(sample, row, None, column)[1].tolist() == cluster_sizes(sample, column)[::-1]
        )


FRAME = pl.DataFrame(
    {
        "x": [None, math.nan, -0.0, 0.0, math.inf, -math.inf, 0.5, 0.5, 1e-300, 3.0],
        "money": pl.Series(["0.10", "0.20", None, "1.00"] + ["0.10"] * 6).cast(pl.Decimal(9, 2)),
        "y": [True, False, None, True, True, False, True, False, False, True],
    }
)
SCHEMA = Schema(PolarsSample(FRAME).types)
KEY = bytes(range(32))


def samples(
    frame: pl.DataFrame, folder: Path, connection: duckdb.DuckDBPyConnection
) -> list[Sample]:
    """The rows in two orders and on every engine."""
    path = folder / "rows.parquet"
    frame.reverse().write_parquet(path)
    relation = connection.sql(f"SELECT * FROM '{path}'")
    return [PolarsSample(frame), PolarsSample(pl.scan_parquet(path)), DuckDBSample(relation)]


@dataclass(frozen=True)
class OnlyRows:
    """The rows of a sample, and nothing that its engine computes."""

    sample: Sample

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        return self.sample.frames(columns)


@pytest.mark.parametrize("n", [0, 3, 2 * BATCH_ROWS + 1])
def test_steps_are_the_same_whoever_computes_them(
    n: int, folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    places = pl.int_range(n, eager=True).cast(pl.Float64)
    x = pl.when(places % 3 == 1).then(math.nan).otherwise(places / 7)
    frame = pl.select(x=x, y=pl.when(places % 5 != 2).then(places % 2 == 0))
    frame = frame.with_columns(pl.col("x").cast(pl.Float64), pl.col("y").cast(pl.Boolean))
    schema = Schema({"x": ColumnType.FLOAT, "y": ColumnType.BOOLEAN})
    rows = [row_value(parse_row(text, schema)) for text in ("clip(x, -1, 1000)", "x > 5")]
    asked = [(row, where) for row in rows for where in (None, parse_row("y", schema), build.TRUE)]
    for sample in samples(frame, folder, connection):
        assert isinstance(sample, Stepping)
        found = zip(histograms(sample, asked), histograms(OnlyRows(sample), asked), strict=True)  # type: ignore[arg-type]
        for by_engine, by_batches in found:
            assert by_engine.counts.tolist() == by_batches.counts.tolist()
            assert by_engine.total == by_batches.total


def test_what_is_missing_infinite_or_negative_zero(
    folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    texts = ["clip(x, -1, 1)", "clip(x, 2, 4)", "clip(money, 0, 1)", "x > 0"]
    rows = [row_value(parse_row(text, SCHEMA)) for text in texts]
    where = parse_row("y", SCHEMA)
    for sample in samples(FRAME, folder, connection):
        every, two, money, positive = sample.histograms([(row, None) for row in rows])
        low_half, top = (rows[0].grid.steps(value) >> 16 for value in (-1.0, 1.0))
        assert every.counts[[low_half, top]].tolist() == [1, 2]
        assert every.counts[rows[0].grid.steps(0.0) >> 16] == 5
        assert two.counts[[0, -1]].tolist() == [8, 1]
        assert money.counts[0] == 1
        assert positive.counts.tolist() == [5, 5]
        assert positive.low.tolist() == positive.high.tolist() == [0.0, 1.0]
        (inside,) = sample.histograms([(rows[3], where)])
        assert inside.counts.tolist() == [2, 3]


def test_a_value_that_never_changes_is_one_exact_bin() -> None:
    sample = PolarsSample(FRAME)
    row = row_value(build.coalesce([build.clip(Column("x", ColumnType.FLOAT), 2.0, 2.0)]))
    (found,) = sample.histograms([(row, None)])
    assert (found.counts.tolist(), found.low.tolist(), found.high.tolist()) == ([10], [0.0], [0.0])
    assert unit_values_of(sample, [row])[0].tolist() == [0.0] * 10
    assert sample.histograms([]) == []


@pytest.mark.parametrize("low", [0.0, -0.3, 4096.1, 1e6, -1e15])
def test_no_row_leaves_its_bin(low: float) -> None:
    """At and around the ends of bins, where the grid's own rounding decides."""
    row = row_value(build.clip(Column("x", ColumnType.FLOAT), low, low + 1.5))
    edges = np.arange(1, 400) * 2.0**16 * row.grid.step + row.grid.first * row.grid.step
    near = (row.grid.origin + edges)[:, None] + np.array([-0.51, -0.5, -0.49, 0.5]) * row.grid.step
    values = np.clip(near.ravel(), row.low, row.high)
    (found,) = PolarsSample(pl.DataFrame({"x": values})).histograms([(row, None)])
    assert_encloses(found, row, values.tolist())


def test_what_cannot_be_counted_is_refused_before_it_is_paid_for(
    monkeypatch: pytest.MonkeyPatch, folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    """DuckDB sums by itself, but leaves bins to Polars: both are tried."""
    rows = [row_value(parse_row(f"clip(x * {n}, 0, 4)", SCHEMA)) for n in (2, 3)]
    for sample in samples(FRAME, folder, connection):
        sample.prepare(rows[:1])
    monkeypatch.delitem(polars_spelling(), Op.MULTIPLY)
    for sample in samples(FRAME, folder, connection):
        with pytest.raises(InvalidQuestion, match="Nothing was spent"):
            sample.prepare(rows[1:])


def test_functions_of_batches_and_repeated_values_share_one_scan() -> None:
    double = row_function(
        lambda rows: rows["x"] * 2, columns=["x"], bounds=(0, 4), name="double", version="1"
    )
    row, same = bind_function(double, SCHEMA), row_value(parse_row("clip(x * 2, 0, 4)", SCHEMA))
    sample, where = Watched(PolarsSample(FRAME.head(4))), parse_row("y", SCHEMA)
    scans: list[int] = []
    sample.before = lambda: scans.append(1)
    asked: Asked = [(row, None), (same, None), (row, where), (same, where), (same, where)]
    first, second, third, fourth, fifth = histograms(sample, asked)
    assert scans == [1]
    assert first.counts.tolist() == second.counts.tolist()
    assert third.counts.tolist() == fourth.counts.tolist() == fifth.counts.tolist()
    assert (first.rows, third.rows) == (4, 2)


def _classes(
    sample: Sample, positive: str = "y", key: bytes = KEY, run: int = RUN
) -> tuple[RankedPairs, list[list[int]], list[list[int]]]:
    """The pairs, and the ranks of both classes in every order."""
    score, label = parse_row("x", SCHEMA), parse_row(positive, SCHEMA)
    with shuffled_classes(sample, score, label, key, run=run) as found:
        positives, negatives = (
            [order[: order.size].tolist() for order in each.orders()]
            for each in (found.positives, found.negatives)
        )
        return found.pairs, positives, negatives


def test_classes_and_their_random_orders_do_not_depend_on_the_engine(
    folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    """Scores, missing ones first: -inf, 0, 1e-300, 0.5, 3 and inf have the ranks 0 to 5."""
    found = [_classes(each) for each in samples(FRAME, folder, connection)]
    pairs, positives, negatives = found[0]
    assert all(each == found[0] for each in found)
    assert (pairs.positives, pairs.negatives) == (5, 5)
    assert [sorted(order) for order in positives] == [[0, 1, 3, 4, 5]] * 8
    assert [sorted(order) for order in negatives] == [[0, 0, 1, 2, 3]] * 8
    assert len({tuple(order) for order in positives}) > 1
    assert _classes(PolarsSample(FRAME), key=KEY[::-1])[1] != positives
    nobody, nothing, _ = _classes(PolarsSample(FRAME), "x > 4 and x < 0")
    assert (nobody.positives, nothing) == (0, [[]] * 8)


@pytest.mark.parametrize("run", [1, 7, 100])
@pytest.mark.parametrize("different", [3, 500])
def test_orders_on_disk_are_those_in_memory(run: int, different: int) -> None:
    """And the orders are those of all rows by their tickets at once."""
    rng = np.random.default_rng(3)
    scores = rng.integers(0, different, 250).astype(float)
    labels = rng.random(250) < 0.4
    sample = PolarsSample(pl.DataFrame({"x": scores, "y": labels}))
    found = _classes(sample, run=run)
    assert found == _classes(sample)
    ranks = np.unique(scores, return_inverse=True)[1]
    for orders, label in ((found[1], True), (found[2], False)):
        words = scores[labels == label].view(np.uint64)
        expected = random_orders(words, np.zeros_like(words), KEY + bytes([label]), 8)
        assert orders == ranks[labels == label][expected].tolist()


def test_the_classes_orders_have_nothing_to_do_with_each_other() -> None:
    """Both classes have the same scores: in 8 pairs of orders of 2,000 rows, 8 places agree."""
    frame = pl.DataFrame({"x": np.repeat(np.arange(2_000.0), 2), "y": [True, False] * 2_000})
    _, positives, negatives = _classes(PolarsSample(frame))
    agree = [np.equal(*pair).sum() for pair in zip(positives, negatives, strict=True)]
    assert max(agree) < 10


@pytest.mark.parametrize("places", [range(0), range(3), range(500, 520), range(511, 1_600)])
def test_a_place_has_its_ticket_whatever_is_drawn_with_it(places: range) -> None:
    whole = row_tickets(range(2_000), KEY, 3)
    assert np.unique(whole).size == whole.size
    np.testing.assert_array_equal(row_tickets(places, KEY, 3), whole[places.start : places.stop])


def test_orders_of_many_equal_scores_are_all_different() -> None:
    """Each of the equal rows has its ticket: otherwise they would all stand in one block."""
    ones = np.ones(2_000, dtype=np.uint64)
    orders = random_orders(ones, ones, KEY, 8)
    assert (np.sort(orders) == np.arange(2_000)).all()
    # Of 2,000 places a random order keeps one on average; pairs of orders agree as rarely.
    for place, order in enumerate(orders):
        assert sum((order == other).sum() for other in orders[:place]) < 30
        assert (order == np.arange(2_000)).sum() < 10
