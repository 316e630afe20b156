"""All engines agree, to the last bit, with each other and with a plain Python interpreter."""

from __future__ import annotations

import math
from datetime import date
from itertools import cycle
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st
from numpy.typing import NDArray

from holdfast.data.fingerprint import ColumnDigests, fingerprint
from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.data.sql.duckdb import DuckDBSample
from holdfast.data.values import columns_with_missing
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.question import Schema, build, parse_row, row_function
from holdfast.question.expression import (
    Column,
    ColumnType,
    Expression,
    Op,
    column_names,
    identifier,
)
from holdfast.question.row import GRID, RowValue, condition_row, row_value
from holdfast.statistics.call import mean
from tests.data.doubles import elementary
from tests.data.engines import (
    bounded,
    duckdb_connection,
    engines,
    equals_column,
    moments_of,
    samples_of,
)
from tests.question.interpreter import conditions, evaluate, numbers, tables
from tests.statistics.asked import asked


@settings(max_examples=50)
@given(tables, st.lists(numbers(3) | conditions(3), min_size=6, max_size=12))
def test_values_are_those_of_the_interpreter_to_the_last_bit(
    folder: Path,
    connection: duckdb.DuckDBPyConnection,
    table: list[dict[str, Any]],
    expressions: list[Expression],
) -> None:
    references = [[evaluate(each, row) for row in table] for each in expressions]
    rows = [equals_column(each, f"r{place}") for place, each in enumerate(expressions)]
    for sample in engines(table, references, expressions, folder, connection):
        assert sample.sums(rows) == [len(table) * GRID] * len(rows), [row.text for row in rows]


@settings(max_examples=50)
@given(tables, st.lists(numbers(3) | conditions(2), min_size=6, max_size=12))
def test_sums_and_moments_are_exact_and_inside_the_range(
    folder: Path,
    connection: duckdb.DuckDBPyConnection,
    table: list[dict[str, Any]],
    expressions: list[Expression],
) -> None:
    rows = [row for row in map(bounded, expressions) if row is not None]
    assume(rows)
    expected = []
    for row in rows:
        values = [evaluate(row.source, each) for each in table]  # type: ignore[arg-type]
        known = [row.missing if value is None else float(value) for value in values]
        assert all(row.low <= value <= row.high for value in known), row.text
        expected.append(moments_of(row, known))
    for sample in engines(table, [], [], folder, connection):
        assert sample.n == len(table)
        assert sample.moments(rows) == expected, [row.text for row in rows]
        assert sample.sums(rows) == [total for total, _ in expected]


@settings(max_examples=50)
@given(tables, numbers(2), st.lists(st.integers(-20, 20), min_size=1, max_size=10))
def test_many_comparisons_of_one_value_count_as_each_by_itself(
    folder: Path,
    connection: duckdb.DuckDBPyConnection,
    table: list[dict[str, Any]],
    value: Expression,
    others: list[int],
) -> None:
    values = [evaluate(value, row) for row in table]
    numbers_compared = [float(each) for each in values if each is not None and math.isfinite(each)]
    orders = (Op.BELOW, Op.AT_MOST, Op.ABOVE, Op.AT_LEAST)
    pairs = zip(cycle((*numbers_compared, *others)), cycle((*orders, Op.EQUAL)), range(90))
    rows, expected = [], []
    for number, op, _ in pairs:
        condition = build.comparison(op, value, build.constant(number))
        if column_names(condition):
            rows.append(condition_row(condition))
            holds = [evaluate(condition, row) is True for row in table]
            expected.append(sum(holds) * GRID)
    assume(rows)  # a constant is compared with nothing
    for sample in engines(table, [], [], folder, connection):
        assert sample.sums(rows) == expected


NUMBERS = pl.DataFrame(
    {
        name: np.random.default_rng(5).normal(size=(2, 4000))[place]
        for place, name in enumerate("xy")
    }
)
OPERANDS: dict[str, tuple[Expression, NDArray[np.float64] | float]] = {
    "x": (Column("x", ColumnType.FLOAT), NUMBERS["x"].to_numpy()),
    "y": (Column("y", ColumnType.FLOAT), NUMBERS["y"].to_numpy()),
    "49": (build.constant(49.0), 49.0),
    "0.1": (build.constant(0.1), 0.1),
}


@pytest.mark.parametrize("op", [Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE])
def test_arithmetic_rounds_as_ieee_doubles_do(
    op: Op, folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    # Polars by itself multiplies by the reciprocal of a constant divisor: 49 * (1 / 49) < 1.
    does: dict[Op, Any] = {Op.ADD: np.add, Op.SUBTRACT: np.subtract}
    does |= {Op.MULTIPLY: np.multiply, Op.DIVIDE: np.divide}
    frame, rows = NUMBERS, list[RowValue]()
    for left, right in (
        ("x", "y"),
        ("x", "49"),
        ("49", "x"),
        ("y", "0.1"),
        ("0.1", "y"),
        ("x", "x"),
    ):
        (a, a_values), (b, b_values) = OPERANDS[left], OPERANDS[right]
        name = f"r{len(rows)}"
        frame = frame.with_columns(pl.Series(name, does[op](a_values, b_values)))
        rows.append(equals_column(build.arithmetic(op, a, b), name))
    for sample in samples_of(frame, folder / "numbers.parquet", connection):
        assert sample.sums(rows) == [frame.height * GRID] * len(rows)


def test_ln_exp_and_sqrt_are_the_same_to_the_last_bit(
    folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    frame, rows = elementary()
    for sample in samples_of(frame, folder / "elementary.parquet", connection):
        assert sample.sums(rows) == [frame.height * GRID] * len(rows)


@pytest.mark.parametrize(
    "bounds",
    [(1e9, 1e9 + 1), (-1e15, -1e15 + 2), (0.1, 0.1 + 1e-9), (-1e-290, 1e-290), (-1e300, 1e300)],
)
def test_ranges_far_from_zero_and_tiny_and_huge_ones(
    bounds: tuple[float, float], folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    low, high = bounds
    values = np.random.default_rng(1).uniform(0, 1, 500) * (high / 2 - low / 2) * 2 + low
    frame = pl.DataFrame({"x": [*values, None, low, high]})
    row = asked(mean("x", bounds=bounds), Schema({"x": ColumnType.FLOAT})).row
    known = [row.missing if each is None else min(max(each, low), high) for each in frame["x"]]
    expected = [moments_of(row, known)]
    for sample in samples_of(frame, folder / "far.parquet", connection):
        assert sample.moments([row]) == expected
        assert sample.sums([row]) == [expected[0][0]]


@pytest.mark.parametrize("known", [True, False])
def test_one_condition_without_another_is_the_same_with_missing_values(
    folder: Path, connection: duckdb.DuckDBPyConnection, known: bool
) -> None:
    frame = pl.DataFrame(
        [(x, y) for x in (1.0, -1.0, math.nan, None) for y in (1.0, -1.0, math.nan, None)],
        schema={"x": pl.Float64, "y": pl.Float64},
        orient="row",
    )
    schema = Schema({"x": ColumnType.FLOAT, "y": ColumnType.FLOAT})
    a, b = (parse_row(f"{name} > 0", schema) for name in frame.columns)
    if known:
        a, b = (build.coalesce([each, build.FALSE]) for each in (a, b))
    differ = build.comparison(Op.UNEQUAL, a, b)
    pairs = [(a, build.negation(b)), (a, differ), (differ, build.negation(a)), (differ, b)]
    wanted = [
        build.conjunction([first, then]) for pair in pairs for first, then in (pair, pair[::-1])
    ]
    table = [{key: _number(value) for key, value in row.items()} for row in frame.to_dicts()]
    values = [[evaluate(each, row) for row in table] for each in wanted]
    rows = [row_value(each) for one in wanted for each in (one, build.is_null(one))]
    expected = [
        GRID * sum(value is truth for value in column)
        for column in values
        for truth in (True, None)
    ]
    for sample in samples_of(frame, folder / "table.parquet", connection):
        assert sample.sums(rows) == expected


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


@pytest.mark.parametrize("low", [0.0, -1.0, -0.3, 4096.1, 1e6, -1e9])
def test_half_steps_and_sums_of_more_than_64_bits(
    low: float, folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    # From 4096 on, rows are 2^43 steps above 0: three million of them take 65 bits.
    row = row_value(build.clip(Column("x", ColumnType.FLOAT), low, low + 1.5))
    grid, halves = row.grid, np.random.default_rng(2).integers(0, 2**32, 3_000_000)
    values = np.clip(low + halves * (grid.step / 2), row.low, row.high)
    steps = np.rint((values - grid.origin) / grid.step).astype(int) - grid.first
    few = values[:200].tolist()
    assert [grid.steps(value) for value in few] == steps[:200].tolist()
    frame = pl.DataFrame({"x": values})
    for sample in samples_of(frame, folder / "halves.parquet", connection):
        assert sample.sums([row]) == [grid.moments(int(steps.sum()), 0)[0]]
    assert PolarsSample(frame.head(200)).moments([row]) == [moments_of(row, few)]


def test_a_divisor_that_is_the_same_in_every_row_divides() -> None:
    frame = pl.DataFrame({"x": [49.0] * 5}).with_columns(y=pl.lit(49.0))
    rows = [row_value(parse_row(text, Schema(PolarsSample(frame).types)))
            for text in ("x / y >= 1", "x / 49 = 1", "y / x = 1", "49 / y = 1")]  # fmt: skip
    for sample in (PolarsSample(frame), PolarsSample(frame.lazy())):
        assert sample.sums(rows) == [5 * GRID] * 4


def test_parquet_statistics_do_not_hide_nan(
    folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    # The file's statistics say "1 to 2, no NULL", from which DuckDB concludes "no NaN".
    path = folder / "nan.parquet"
    pl.DataFrame({"x": [math.nan, 1.0, 2.0]}).write_parquet(path)
    sample = DuckDBSample(connection.sql(f"SELECT * FROM '{path}'"))
    schema = Schema(sample.types)
    texts = ["x is null", "x > 1", "x < 3", "clip(x, 0, 2) = 2", "x = x"]
    rows = [row_value(parse_row(text, schema)) for text in texts]
    assert [total // GRID for total in sample.sums(rows)] == [1, 1, 2, 1, 2]


def test_nan_is_looked_for_at_the_opening_and_left_out_only_where_there_is_some(
    folder: Path, connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"x": [math.nan, 1.0, None], "y": [0.5, None, 2.0], "k": [1, 2, 3]})
    frame.write_parquet(folder / "some.parquet")
    path = folder / "some.parquet"
    sample, other = DuckDBSample(connection.sql(f"SELECT * FROM '{path}'")), PolarsSample(frame)
    sent: list[str] = []
    fetched = duckdb.DuckDBPyRelation.fetchall

    def noted(relation: duckdb.DuckDBPyRelation) -> list[Any]:
        sent.append(relation.sql_query())
        return fetched(relation)

    monkeypatch.setattr(duckdb.DuckDBPyRelation, "fetchall", noted)
    for text in ("y > 1", "k > 1", "x > 0", "x < y", "clip(y, 0, 1)", "clip(x, 0, 1)", "x is null"):
        row = row_value(parse_row(text, Schema(sample.types)))
        assert sample.sums([row]) == other.sums([row])
        assert sample.moments([row]) == other.moments([row])
        assert ["isnan" in sql for sql in sent] == ["x" in text.replace("clip", "")] * 2
        sent.clear()


def test_a_connection_that_concludes_from_statistics_is_not_taken() -> None:
    with duckdb.connect() as connection, pytest.raises(ValueError, match="not opened by"):
        DuckDBSample(connection.sql("SELECT 1.0::DOUBLE AS x"))


TYPED = pl.DataFrame(
    {
        "i8": pl.Series([1, -128, None], dtype=pl.Int8),
        "u8": pl.Series([1, 255, None], dtype=pl.UInt8),
        "u64": pl.Series([1, 2**64 - 1, None], dtype=pl.UInt64),
        "f32": pl.Series([0.1, math.nan, None], dtype=pl.Float32),
        "money": pl.Series(["0.10", "12345.67", None]).cast(pl.Decimal(9, 2)),
        "cat": pl.Series(["b", "a", None], dtype=pl.Categorical),
        "enum": pl.Series(["b", "a", None], dtype=pl.Enum(["b", "a"])),
        "date": [date(2013, 1, 31), date(1969, 12, 31), None],
        "ms": pl.Series([1_000_123, -1, None], dtype=pl.Int64).cast(pl.Datetime("ms")),
        "us": pl.Series([1_000_123, -1, None], dtype=pl.Int64).cast(pl.Datetime("us")),
        "ns": pl.Series([1_000_123, -1, None], dtype=pl.Int64).cast(pl.Datetime("ns")),
        "tz": pl.Series([1_000_123, -1, None], dtype=pl.Int64).cast(
            pl.Datetime("us", "Asia/Tokyo")
        ),
    }
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("i8 = -128", 1),
        ("u8 = 255", 1),
        ("u64 = 18446744073709551616", 1),  # numbers are doubles
        ("f32 = 0.10000000149011612", 1),
        ("f32 is null", 2),
        ("money = 12345.67", 1),
        ("money in (0.1, 0.2)", 1),
        ("cat < 'b'", 1),
        ("enum < 'b'", 1),  # by its text, not by the order of the enum
        ("upper(cat) = 'B'", 1),
        ("date < '1970-01-01'", 1),
        ("weekday(date) = 4", 1),
        ("weekday(date) = 3", 1),
        ("hour(ms) = 0", 1),
        ("minute(ms) = 16", 1),
        ("ms = '1970-01-01 00:16:40.123'", 1),
        ("us = '1970-01-01 00:00:01.000123'", 1),
        ("ns = '1970-01-01 00:00:00.001000'", 1),
        ("ns = '1969-12-31 23:59:59.999999'", 1),  # rounded down, also before 1970
        ("tz = '1970-01-01 00:00:01.000123'", 1),  # in UTC
        ("year(tz) = 1969 and hour(tz) = 23 and day(tz) = 31 and month(tz) = 12", 1),
        ("date = us", 0),
        ("us > date", 1),
    ],
)
def test_every_type_has_one_meaning(
    question: str, expected: int, folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    samples = samples_of(TYPED, folder / "typed.parquet", connection)
    for sample in samples:
        assert sample.types == samples[0].types
        row = row_value(parse_row(question, Schema(sample.types)))
        assert sample.sums([row]) == [expected * GRID]


def incomplete_by_the_fingerprint(sample: Sample) -> list[str] | None:
    digests = ColumnDigests(sample.types)
    fingerprint(sample, digests.add)
    return digests.incomplete


@pytest.mark.parametrize(("rows", "incomplete"), [(1, []), (2, ["f32"]), (3, TYPED.columns)])
def test_the_scan_of_the_fingerprint_tells_what_is_missing_as_questions_do(
    rows: int, incomplete: list[str], folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    for sample in samples_of(TYPED.head(rows), folder / "typed.parquet", connection):
        assert incomplete_by_the_fingerprint(sample) == incomplete
        assert columns_with_missing(sample, sample.types) == incomplete


def test_what_only_one_engine_can_hold(connection: duckdb.DuckDBPyConnection) -> None:
    relation = connection.sql(
        """
        SELECT * FROM (VALUES
          ('Ab' COLLATE NOCASE, DATE 'infinity', TIMESTAMP 'infinity', '2013-01-31'::TIMESTAMP_S,
           [1], 1::HUGEINT, 0.1::DECIMAL(38, 3), INTERVAL 1 DAY, 'infinity'::TIMESTAMPTZ),
          ('cd', DATE '300000-01-01', TIMESTAMP '290000-01-01', NULL, [], 2, 0.2, NULL, NULL)
        ) AS t(name, day, moment, second, list, huge, wide, span, zone)
        """
    )
    sample = DuckDBSample(relation)
    other = {name for name, type_ in sample.types.items() if type_ is ColumnType.OTHER}
    assert other == {"list", "huge", "wide", "span"}
    schema = Schema(sample.types)
    texts = ["name = 'AB'", "name like 'a%'", "day is null", "moment is null", "zone is null"]
    texts += ["year(second) = 2013", "year(day) > 0", "moment > '2000-01-01'"]
    rows = [row_value(parse_row(text, schema)) for text in texts]
    assert [total // GRID for total in sample.sums(rows)] == [0, 0, 2, 2, 2, 1, 0, 0]
    with pytest.raises(InvalidQuestion, match="type that questions cannot use"):
        parse_row("huge > 1", schema)
    far = pl.Series([2**62, -(2**62), 5], dtype=pl.Int64).cast(pl.Datetime("ms"))
    days = pl.Series([2**31 - 1, -(2**31), 5], dtype=pl.Int32).cast(pl.Date)
    polars = PolarsSample(pl.DataFrame({"far": far, "days": days}))
    rows = [
        row_value(parse_row(f"{name} is null", Schema(polars.types))) for name in ("far", "days")
    ]
    assert polars.sums(rows) == [2 * GRID, 2 * GRID]
    assert incomplete_by_the_fingerprint(polars) == ["far", "days"]
    missing = columns_with_missing(sample, sample.types)
    assert incomplete_by_the_fingerprint(sample) == missing == ["day", "moment", "second", "zone"]


@pytest.mark.parametrize(
    "setting",
    [
        "ieee_floating_point_ops = false",
        "default_collation = 'NOCASE'",
        "TimeZone = 'America/New_York'",
        "integer_division = true",
    ],
)
def test_settings_of_a_connection_change_no_answer(setting: str, folder: Path) -> None:
    instants = pl.Series([0, 10**15, None, 5, 6], dtype=pl.Int64).cast(
        pl.Datetime("us", "Asia/Tokyo")
    )
    frame = pl.DataFrame(
        {"x": [1e308, 0.0, 5.0, None, math.inf], "t": ["Ab", "AB", None, "é", "x"], "d": instants}
    )
    path = folder / "settings.parquet"
    frame.write_parquet(path)
    texts = ["x * 10 > 5", "1 / x > 0", "x / 0 is null", "x - x = 0", "t = 'AB'", "t like 'a%'"]
    texts += ["t < 'a'", "lower(t) = 'ab'", "hour(d) = 0", "clip(x / 2, 0, 2)"]
    schema = Schema(PolarsSample(frame).types)
    rows = [row_value(parse_row(text, schema)) for text in texts]
    connection = duckdb_connection()
    connection.execute(f"SET {setting}")
    sample = DuckDBSample(connection.sql(f"SELECT * FROM '{path}'"))
    assert sample.sums(rows) == PolarsSample(frame).sums(rows)


def test_names_are_only_names(folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
    names = ['qu"ote', "it's", "a b", "select", "é", "c0", "s0_0", "u0", "rows", "x.y", "$1", ";--"]
    frame = pl.DataFrame({name: [place, place + 1] for place, name in enumerate(names)})
    schema = Schema(PolarsSample(frame).types)
    rows = [
        row_value(parse_row(f"{identifier(name)} / {identifier('c0')} * {place} > 1e-9", schema))
        for place, name in enumerate(names)
    ]
    expected = [2 * GRID * (place > 0) for place in range(len(names))]
    for sample in samples_of(frame, folder / "names.parquet", connection):
        assert sample.sums(rows) == expected
    for pattern in ("*", "^x$"):
        with pytest.raises(InvalidArgument, match="pattern"):
            PolarsSample(pl.DataFrame({pattern: [1]}))


def test_functions_and_polars_expressions_are_the_same_on_every_engine(
    folder: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"x": rng.normal(size=200_000), "k": rng.integers(-5, 5, 200_000)})
    double = row_function(
        lambda rows: np.where(rows["k"] == 3, np.nan, rows["x"].to_numpy() * 2),
        columns=["x", "k"], bounds=(-3, 3), name="double", version="1",
    )  # fmt: skip
    questions = [mean(double), mean(pl.col("x") * pl.col("k") > 1), mean("x", bounds=(-1, 1))]
    found = []
    for sample in samples_of(frame, folder / "function.parquet", connection):
        rows = [asked(question, Schema(sample.types)).row for question in questions]
        found.append(sample.moments(rows))
        assert sample.sums(rows) == [total for total, _ in found[-1]]
    assert all(each == found[0] for each in found)
    values = np.where(frame["k"] == 3, 0.0, np.clip(frame["x"].to_numpy() * 2, -3, 3))
    assert found[0][0][0] / (frame.height * GRID) == pytest.approx(
        (values.mean() + 3) / 6, abs=1e-8
    )
    product = frame.select((pl.col("x") * pl.col("k") > 1).sum()).item()
    assert found[0][1] == (product * GRID, product * GRID**2)


@pytest.mark.parametrize("failure", [ValueError, pl.exceptions.PanicException])
def test_a_row_that_a_function_fails_on_is_missing_and_not_quoted(
    failure: type[BaseException],
) -> None:
    def failing(rows: pl.DataFrame) -> pl.Series:
        if (rows["x"] == 57).any():
            raise failure("saw 57")
        return rows["x"]

    sample = PolarsSample(pl.DataFrame({"x": np.arange(100.0)}))
    question = mean(
        row_function(failing, columns=["x"], bounds=(0, 100), name="failing", version="1")
    )
    (total,) = sample.sums([asked(question, Schema(sample.types)).row])
    assert total / GRID == pytest.approx((99 * 50 - 57) / 100, abs=1e-6)


def test_nothing_overflows_and_every_run_is_the_same() -> None:
    frame = pl.DataFrame({"x": np.full(1_500_000, 1.0)})
    sample = PolarsSample(frame)
    rows = [asked(mean("x", bounds=(0, 1)), Schema(sample.types)).row,
            asked(mean("x", bounds=(-3, 1.5)), Schema(sample.types)).row]  # fmt: skip
    steps = rows[1].grid.steps(1.0)
    expected = [
        (1_500_000 * GRID, 1_500_000 * GRID**2),
        rows[1].grid.moments(1_500_000 * steps, 1_500_000 * steps**2),
    ]
    assert sample.moments(rows) == sample.moments(rows) == expected
    assert PolarsSample(frame.lazy()).moments(rows) == expected


def test_a_table_that_cannot_be_read_says_nothing_of_its_content(folder: Path) -> None:
    path = folder / "vanishing.parquet"
    pl.DataFrame({"secret": [1.0, 2.0]}).write_parquet(path)
    sample = PolarsSample(pl.scan_parquet(path))
    row = asked("avg(secret > 1)", Schema(sample.types)).row
    path.write_bytes(b"PAR1 broken")
    with pytest.raises(HoldfastError, match="could not be read") as raised:
        sample.sums([row])
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__
    with pytest.raises(HoldfastError, match="could not be read"):
        list(sample.frames(["secret"]))


def test_no_questions_no_scan() -> None:
    assert PolarsSample(pl.DataFrame({"x": [1]})).sums([]) == []
