"""Polars expressions: the same question as their text, or refused; never run."""

from __future__ import annotations

import math
from datetime import date, datetime
from functools import reduce
from operator import add, and_
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.data.values import evaluate
from holdfast.errors import InvalidQuestion
from holdfast.question import ColumnType, Schema, parse_row
from holdfast.question.expression import ValueKind, text_of
from holdfast.question.polars_row import from_polars
from holdfast.statistics.bind import bind
from holdfast.statistics.call import mean, quantile
from holdfast.statistics.entry import Table
from tests.seam import POLARS_SHAPE

SCHEMA = Schema(
    {
        "f": ColumnType.FLOAT,
        "x": ColumnType.FLOAT,
        "i": ColumnType.INTEGER,
        "b": ColumnType.BOOLEAN,
        "c": ColumnType.BOOLEAN,
        "t": ColumnType.TEXT,
        "d": ColumnType.DATE,
        "s": ColumnType.DATETIME,
    }
).declare({"x": (-1, 1)})
f, x, i, b, c, t, d, s = (pl.col(name) for name in SCHEMA.types)

SAME = [
    (f > 15, "15 < f"),
    (x, "x"),  # with its declared bounds
    (x * 2 - i, "x * 2 - i"),
    (-f.abs() + 0.5, "0.5 - abs(f)"),
    (f / 4, "f / 4"),
    (~(f > 1) & b, "f <= 1 and b"),
    (b | (f < 2) | c, "b or f < 2 or c"),
    (b ^ (f < 2), "b != (f < 2)"),
    (b == 1, "b"),
    (b == 0, "not b"),
    (b.eq(other=True), "b = 1"),
    (i.is_in([3, 1, 2]), "i in (1, 2, 3)"),
    (t.is_in(["a", "it's"]), "t in ('a', 'it''s')"),
    (f.is_in(pl.Series([0.5, 2.0])), "f in (0.5, 2)"),
    (d.is_in([date(2013, 1, 31)]), "d = '2013-01-31'"),
    (f.is_between(0, 1), "f between 0 and 1"),
    (f.is_between(0, 1, closed="left"), "f >= 0 and f < 1"),
    (f.is_null() | t.is_not_null(), "f is null or t is not null"),
    (x.fill_null(0.5), "coalesce(x, 0.5)"),
    (pl.coalesce(x, i, 1), "coalesce(x, i, 1)"),
    (f.clip(0, 1), "clip(f, 0, 1)"),
    (f.clip(0), "greatest(f, 0)"),
    (f.clip(upper_bound=0.5), "least(f, 0.5)"),
    (i.cast(pl.Float64).clip(0.5, 1.5), "clip(i, 0.5, 1.5)"),
    (pl.when(b).then(x).when(f > 1).then(2), "case when b then x when f > 1 then 2 end"),
    ((f > 1).cast(pl.Float64) + x, "(f > 1) + x"),
    (t.str.len_chars() > 3, "length(t) > 3"),
    (t.str.starts_with("B"), "t like 'B%'"),
    (t.str.ends_with("b c"), "t like '%b c'"),
    (t.str.contains("ab"), "t like '%ab%'"),
    (t.str.contains("a.b", literal=True), "t like '%a.b%'"),
    (d.dt.weekday() == 1, "weekday(d) = 1"),
    (s.dt.hour() < 6, "hour(s) < 6"),
    (d >= date(2013, 1, 31), "d >= '2013-01-31'"),
    (s < datetime(2013, 1, 31, 17, 45), "s < '2013-01-31 17:45:00'"),
    ((f > 1).alias("another name"), "f > 1"),
    (pl.all_horizontal(b, f > 1), "b and f > 1"),
    (pl.any_horizontal(b, f > 1), "b or f > 1"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "as_text"), SAME, ids=lambda each: str(each)[:40])
def test_the_question_is_that_of_the_text(expression: pl.Expr, as_text: str) -> None:
    assert from_polars(expression, SCHEMA) == parse_row(as_text, SCHEMA)
    raw = from_polars(expression, SCHEMA, bounded=False)
    assert raw == parse_row(as_text, SCHEMA, bounded=False)


def test_statistics_take_polars_expressions_where_they_take_text() -> None:
    table = Table(SCHEMA)
    for by_polars, by_text in (
        (mean(f > 1), mean("f > 1")),
        (mean(x), mean("x")),
        (quantile(i, 0.5, bounds=(0, 10)), quantile("i", 0.5, bounds=(0, 10))),
    ):
        assert bind(by_polars, table).text == bind(by_text, table).text


REFUSED = {
    "another column's rows": f.is_in(x),
    "places": i.index_of(i),
    "a list of all rows": f.implode().list.contains(3.0),
    "memory by the data": pl.int_ranges(0, i).list.len() > 3,
    "replacing by a column": f.replace(1.0, x),
    "codes of categories": t.cast(pl.Categorical).to_physical() > 1,
    "a mean": f.mean(),
    "a deviation": f > f.mean(),
    "a window": f.sum().over("t"),
    "a neighbour": f.shift(1) > 0,
    "a running sum": f.cum_sum(),
    "a rank": f.rank(),
    "a forward fill": f.fill_null(strategy="forward"),
    "a filter": f.filter(b),
    "the number of rows": pl.len(),
    "no column": pl.lit(None),
    "many columns": pl.col("f", "x"),
    "a pattern": pl.col("^.*$"),
    "an unknown column": pl.col("nothing") > 1,
    "a struct": pl.struct("f", "x"),
    "Python code": f.map_elements(lambda value: value, return_dtype=pl.Float64),
    "Python code on columns": f.map_batches(lambda column: column, return_dtype=pl.Float64),
    # What means something else in Polars.
    "an infinity where a divisor is 0": f / x,
    "nulls left out": pl.max_horizontal(f, x),
    "letters of all alphabets": t.str.to_lowercase() == "a",
    "regular expressions": t.str.contains("a.b"),
    "wild cards": t.str.contains("a_b", literal=True),
    "wrapping lengths": t.str.len_chars() - 5 < 0,
    "wrapping months": d.dt.month() * 100 > 5,
    "wrapping conditions": (b + c) - 3 < 0,
    "rounded bounds": i.clip(0.5, 1.5),
    "truncation": f.cast(pl.Int64),
    "short floats": f.cast(pl.Float32),
    "text of numbers": f.cast(pl.String) == "1.0",
    "the bits of a number": i & 1,
    "the rest of a division": i % 2,
    "whole quotients": i // 2,
    "NaN": f.is_nan(),
    "NaN in a list": f.is_in([math.nan]),
    "null in a list": f.is_in([1.0, None]),
    "null as a member": f.is_in([1.0], nulls_equal=True),
    "an empty list": f.is_in([]),
    "infinity": f < math.inf,
    "an equality of nulls": f.eq_missing(x),
    "small integers": pl.lit(100, dtype=pl.Int8) + i,
    "a time zone": s.dt.convert_time_zone("Asia/Tokyo").dt.hour() == 1,
    "a chain too deep": reduce(add, [f] * 3_000) > 1,
    "a list too long": f.is_in(list(np.arange(100_000.0))),
    "text and numbers": pl.when(b).then(t).otherwise(1) == "1",
}


@pytest.mark.parametrize("expression", REFUSED.values(), ids=REFUSED.keys())
def test_everything_else_is_refused_in_one_sentence(expression: pl.Expr) -> None:
    with pytest.raises(InvalidQuestion) as refusal:
        from_polars(expression, SCHEMA)
    said = str(refusal.value)
    assert said.endswith((".", "?"))
    assert "\n" not in said
    assert len(said) < 400


def test_what_is_not_an_expression_is_refused() -> None:
    for wrong in (5, None, pl.Series([1.0]), pl.DataFrame(), object()):
        with pytest.raises(InvalidQuestion, match="A value of a row is text"):
            from_polars(wrong, SCHEMA)


def test_shapes_of_other_versions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    column = '{"Column": "f"}'
    shapes = [
        '{"Column": 3}',
        '{"Column": "f", "Other": 1}',
        '"Wildcard"',
        "null",
        "[]",
        f'{{"BinaryExpr": {{"left": {column}, "op": "Gt"}}}}',
        f'{{"BinaryExpr": {{"left": {column}, "op": "Gt", "right": {column}, "by": "group"}}}}',
        f'{{"Ternary": {{"predicate": {column}}}}}',
        '{"Function": {"input": [], "function": "Abs"}}',
        f'{{"Function": {{"input": [{column}, {column}], "function": {{"Boolean": "IsNull"}}}}}}',
        f'{{"Function": {{"input": [{column}], "function": "Abs", "options": {{}}}}}}',
        f'{{"Function": {{"input": [{column}], "function": {{"Clip": {{"has_min": 1}}}}}}}}',
        f'{{"Function": {{"input": [{column}], "function": [1]}}}}',
        f'{{"Cast": {{"expr": {column}, "dtype": "Float64", "options": "Strict"}}}}',
        '{"Literal": {"Scalar": {"Date": 100000000000}}}',
    ]  # fmt: skip
    for shape in shapes:
        monkeypatch.setattr(POLARS_SHAPE, lambda _, text=shape: text)
        with pytest.raises(InvalidQuestion):
            from_polars(f, SCHEMA)


_CONDITIONS = [b, c, b == 1, b < 1, b != c, i == 1, i.is_in([1, 2])]
_CONDITIONS += [t.str.len_chars() > 1, t.str.starts_with("a"), t.str.contains("b"), t < "b"]
_CONDITIONS += [t.is_in(["a", "ab"]), d < s, d >= date(2000, 1, 1), d.dt.month() <= 6]
_CONDITIONS += [s.dt.hour() > 9, s.dt.weekday() == 3]
_numbers = st.sampled_from([0.0, 1.0, -1.0, 2.5, 0.1, 49.0, -7.0])
_wholes = st.integers(-9, 9)


@st.composite
def _number(draw: Any, depth: int) -> Any:
    """A number that Polars computes as a double."""
    if depth == 0:
        return draw(st.sampled_from([f, x, i.cast(pl.Float64)]))
    inner, condition = _number(depth - 1), _condition(depth - 1)
    kind = draw(st.integers(0, 9))
    match kind:
        case 0:
            return draw(inner) + draw(inner)
        case 1:
            return draw(inner) - draw(_numbers)
        case 2:
            return draw(inner) * draw(inner)
        case 3:
            return draw(inner) / draw(_numbers.filter(bool))
        case 4:
            return -draw(inner)
        case 5:
            return draw(inner).abs()
        case 6:
            low, high = sorted((draw(_numbers), draw(_numbers)))
            ends = [(low, high), (low, None), (None, high)]
            return draw(inner).clip(*draw(st.sampled_from(ends)))
        case 7:
            return draw(inner).fill_null(draw(st.one_of(inner, _numbers)))
        case 8:
            return pl.when(draw(condition)).then(draw(inner)).otherwise(draw(st.none() | inner))
        case _:
            return draw(condition).cast(pl.Float64)


@st.composite
def _condition(draw: Any, depth: int) -> Any:
    if depth == 0:
        return draw(st.sampled_from(_CONDITIONS))
    number, inner = _number(depth - 1), _condition(depth - 1)
    kind = draw(st.integers(0, 7))
    match kind:
        case 0 | 1:
            left, right = draw(number), draw(st.one_of(number, _numbers))
            return draw(
                st.sampled_from([left > right, left <= right, left == right, left != right])
            )
        case 2:
            return draw(inner) & draw(inner)
        case 3:
            return draw(inner) | draw(inner)
        case 4:
            return ~draw(inner)
        case 5:
            return draw(number).is_null()
        case 6:
            closed = draw(st.sampled_from(["both", "left", "right", "none"]))
            return draw(number).is_between(draw(_wholes), draw(_wholes), closed=closed)
        case _:
            return pl.all_horizontal(draw(inner), draw(inner)) ^ draw(inner)


_rows = st.lists(
    st.fixed_dictionaries(
        {
            "f": st.none() | st.floats(-100, 100) | st.sampled_from([0.0, -0.0]),
            "x": st.none() | st.sampled_from([0.0, 1.0, -1.0, 0.1, 49.0]),
            "i": st.none() | st.integers(-3, 3),
            "b": st.none() | st.booleans(),
            "c": st.none() | st.booleans(),
            "t": st.none() | st.sampled_from(["", "a", "ab", "b", "É", "a\nb"]),
            "d": st.none() | st.dates(),
            "s": st.none() | st.datetimes(),
        }
    ),
    min_size=1,
    max_size=10,
)  # fmt: skip
_DTYPES = {"f": pl.Float64, "x": pl.Float64, "i": pl.Int64, "b": pl.Boolean, "c": pl.Boolean}
_DTYPES |= {"t": pl.String, "d": pl.Date, "s": pl.Datetime("us")}  # type: ignore[dict-item]


@settings(max_examples=250, deadline=None)
@given(st.one_of(_number(2), _condition(2)), _rows)
def test_values_are_those_of_polars(expression: pl.Expr, rows: list[dict[str, Any]]) -> None:
    frame = pl.DataFrame(rows, schema=_DTYPES)
    read = from_polars(expression, SCHEMA, bounded=False)
    (ours,) = evaluate(frame, [read])
    theirs = frame.select(expression.alias("v")).to_series()
    if read.kind is ValueKind.BOOLEAN:
        assert ours.to_list() == theirs.to_list(), text_of(read)
    else:  # where all rows divide by one number, Polars multiplies by its inverse
        np.testing.assert_allclose(
            ours.cast(pl.Float64).to_numpy(), theirs.cast(pl.Float64).to_numpy(), rtol=1e-12
        )


def test_a_long_conjunction_of_polars_is_read() -> None:
    parts = [f > each for each in range(100)]
    assert from_polars(reduce(and_, parts), SCHEMA) == parse_row(
        " and ".join(f"f > {each}" for each in range(100)), SCHEMA
    )
