"""A part has one rule, whoever asks for it, on whichever engine, in whichever words and order."""

from __future__ import annotations

from datetime import date, datetime
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.data.source import open_sample
from holdfast.errors import InvalidQuestion
from holdfast.question.expression import text_of
from holdfast.question.parse import parse_row
from holdfast.statistics.bind import parts_of
from holdfast.statistics.description import described
from holdfast.statistics.rule import Told
from tests.data.loading import postgres_sample
from tests.question.interpreter import COLUMNS, conditions, numbers
from tests.statistics.asking import ground_on, question_on, symbols_of, told

ROWS = 300


def table(rows: int = ROWS) -> pl.DataFrame:
    """Flags with NULLs, numbers and two groups."""
    rng = np.random.default_rng(4)
    missing = rng.random((2, rows)) < 0.1
    return pl.DataFrame(
        {
            "right": pl.Series(rng.random(rows) < 0.7),
            "guess": pl.Series(rng.random(rows) < 0.6),
            "x": np.where(missing[0], np.nan, rng.normal(2.0, 3.0, rows)),
            "y": rng.normal(1.0, 1.0, rows),
            "p": rng.random(rows),
            "arm": rng.choice(["a", "b"], rows),
        }
    ).with_columns(
        pl.when(pl.Series(missing[1])).then(None).otherwise(pl.col("guess")).alias("guess"),
        pl.col("x").fill_nan(None),
    )


TABLE = table()
DECLARED = {"x": (-5, 10), "y": (-2, 5), "p": (0, 1)}
GROUND = ground_on(PolarsSample(TABLE), DECLARED)

# Questions that rest on one event, and whether the second is the first turned over.
PAIRS = [
    ("accuracy(guess, right)", "error(guess, right)", True),
    ("accuracy(guess, right) where arm = 'a'", "error(guess, right) where arm = 'a'", True),
    ("avg(guess = right)", "avg(guess != right)", True),
    ("avg(y > 1)", "sum(y > 1, 77)", False),
    ("avg(coalesce(x, 0)) where arm = 'a'", "sum(x, 77) where arm = 'a'", False),
    ("avg(right) where y > 1", "count(right, 5) where 1 < y", False),
    ("difference(right, guess)", "difference(guess, right)", True),
    ("difference(x, y)", "difference(y, x)", True),
    ("difference(x, y) where arm = 'b'", "difference(y, x) where arm = 'b'", True),
    (
        "difference(avg(x) where arm = 'a', avg(x) where arm = 'b')",
        "difference(avg(x) where arm = 'b', avg(x) where arm = 'a')",
        True,
    ),
    (
        "difference(avg(coalesce(guess = right, false)) where x > 1, "
        "avg(coalesce(guess = right, false)) where y > 1)",
        "difference(avg(not coalesce(guess = right, false)) where x > 1, "
        "avg(not coalesce(guess = right, false)) where y > 1)",
        True,
    ),
    ("correlation(x, y)", "correlation(y, x)", False),
    ("covariance(x, y) where right", "covariance(y, x) where right", False),
    ("f1(y > 1, right)", "f1(right, y > 1)", False),
    ("median(x)", "quantile(x, 0.5)", False),
]


@pytest.mark.parametrize(("one", "other", "turned"), PAIRS)
def test_questions_that_share_an_event_share_what_crosses_the_door(
    one: str, other: str, turned: bool
) -> None:
    first, second = (question_on(GROUND, text) for text in (one, other))
    sample = PolarsSample(TABLE)
    assert first.rule == second.rule
    assert symbols_of(sample, first) == symbols_of(sample, second)
    assert (first.turned != second.turned) == turned
    assert first.bits == second.bits
    a, b = told(TABLE, one, GROUND), told(TABLE, other, GROUND)
    if turned:
        b = b.turned()
    assert a.interval.low == pytest.approx(b.interval.low, abs=1e-15)
    assert a.interval.high == pytest.approx(b.interval.high, abs=1e-15)
    assert a.rows == b.rows


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("accuracy(guess, right)", "avg(guess = right)"),
        ("error(guess, right)", "avg(guess != right)"),
        ("avg(guess)", "avg(coalesce(guess, false))"),
        ("avg(not guess)", "avg(not coalesce(guess, false))"),
        ("avg(x)", "sum(x, 77)"),
        ("f1(guess, right)", "f1(right, guess)"),
    ],
)
def test_what_missing_rows_tell_apart_is_another_event(one: str, other: str) -> None:
    """Two statements about one weight would be two chances to be wrong."""
    parts = [{use.part for use in parts_of(GROUND.prior.read(text))} for text in (one, other)]
    assert parts[0].isdisjoint(parts[1])
    assert told(TABLE, one, GROUND).value != told(TABLE, other, GROUND).value


def test_the_size_of_a_group_is_a_share_of_all_rows() -> None:
    """Its window is that of the rows where a condition holds, not of those where it is known."""
    unknown, counted, known = (
        GROUND.log_share(parse_row(text, GROUND.prior.schema))  # type: ignore[attr-defined]
        for text in ("x > 1", "coalesce(x > 1, false)", "y > 1")
    )
    assert unknown == counted
    of_rows = parts_of(GROUND.prior.read("count(x > 1, 7)"))[0].part
    assert unknown == GROUND.log_level(of_rows)
    assert known == GROUND.log_level(parts_of(GROUND.prior.read("avg(y > 1)"))[0].part)


def test_a_variance_is_the_square_of_a_standard_deviation() -> None:
    std, variance = (question_on(GROUND, f"{name}(x)") for name in ("std", "variance"))
    sample = PolarsSample(TABLE)
    assert symbols_of(sample, std) == symbols_of(sample, variance)
    root, square = (told(TABLE, f"{name}(x)", GROUND).interval for name in ("std", "variance"))
    assert square.low <= root.low**2 <= root.high**2 <= square.high
    assert square.low == pytest.approx(root.low**2, rel=1e-12)
    assert square.high == pytest.approx(root.high**2, rel=1e-12)


def test_a_range_is_that_of_the_question_whichever_way_it_is_turned() -> None:
    """Fractions are taken of the question's own range; a part turned over has the mirrored one."""
    for one, other, turned in PAIRS:
        first, second = (question_on(GROUND, text) for text in (one, other))
        if turned and first.low < 0.0:
            assert (first.low, first.high) == (-second.high, -second.low)


# Generated questions ---------------------------------------------------------------------------

VALUES: dict[str, list[Any]] = {
    "boolean": [True, False, None],
    "integer": [0, 1, 7, 30, None],
    "float": [-5.0, -0.5, 0.0, 2.5, 5.0, None],
    "text": ["", "a", "ab", "B", None],
    "date": [date(2013, 1, 1), date(2013, 7, 15), None],
    "moment": [datetime(2013, 1, 1, 5), datetime(2013, 7, 15, 22, 30), None],
}


def generated() -> pl.DataFrame:
    """Rows of the columns that generated expressions are about."""
    rng = np.random.default_rng(9)
    columns = {}
    for name, kind in COLUMNS.items():
        values = VALUES.get(kind.value, VALUES["moment"])
        columns[name] = pl.Series(name, [values[i] for i in rng.integers(0, len(values), 40)])
    return pl.DataFrame(columns)


GENERATED = generated()
FORMS = (
    "avg({c})",
    "avg({c}) where {d}",
    "avg(clip({n}, -3, 4))",
    "avg(clip({n}, -3, 4)) where {d}",
    "std(clip({n}, -3, 4)) where {d}",
    "median(clip({n}, -3, 4))",
    "difference({c}, {d})",
    "error({c}, {d})",
    "f1({c}, {d})",
    "auc({n}, {c})",
    "correlation({c}, clip({n}, -3, 4))",
    "difference(avg({c}) where f > 0, avg({c}) where {d})",
    "brier({n}, {c})",
)


@cache
def generated_in_postgres() -> Sample:
    return postgres_sample(GENERATED)


@settings(max_examples=40, deadline=None)
@given(conditions(2), conditions(2), numbers(1), st.sampled_from(FORMS), st.booleans())
def test_engines_and_the_order_of_rows_do_not_matter(
    c: object, d: object, n: object, form: str, rounded: bool
) -> None:
    """Whatever is asked, nothing in the rows makes it fail, and all engines tell the same."""
    duckdb = pytest.importorskip("duckdb")
    words = {name: text_of(tree) for name, tree in (("c", c), ("d", d), ("n", n))}  # type: ignore[arg-type]
    text = form.format(**words)
    samples = [
        PolarsSample(GENERATED),
        PolarsSample(GENERATED.reverse()),
        open_sample(duckdb.from_arrow(GENERATED.to_arrow())),
        generated_in_postgres(),
    ]
    ground = ground_on(samples[0], {"f": (-5, 5), "i": (0, 30)}, rounded=rounded)
    try:
        question = described(ground.prior.read(text), ground)
    except InvalidQuestion:
        return  # no column, no bounds, no rows: it is no question
    if question is None:
        return
    again = question_on(ground, question.text)
    assert (again.bits, again.rule, again.turned) == (question.bits, question.rule, question.turned)
    first, *others = (symbols_of(sample, question) for sample in samples)
    assert others == [first] * 3
    found = question.rule.decode(first)
    assert isinstance(found, Told)
    assert 0.0 <= found.interval.low <= found.interval.high <= 1.0
    if found.value is not None:
        assert found.interval.low <= found.value <= found.interval.high


def test_an_area_without_any_column_is_no_question() -> None:
    with pytest.raises(InvalidQuestion, match="label that uses a column"):
        GROUND.prior.read("auc(0, false)")
