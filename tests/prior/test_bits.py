"""The length of a question is a function of its canonical text and of what was declared."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.data.source import open_sample
from holdfast.errors import InvalidQuestion, NotDescribed
from holdfast.prior.atoms import MOST_HOLES
from holdfast.question import build
from holdfast.question.columns import Schema
from holdfast.question.expression import (
    Column,
    ColumnType,
    Constant,
    Expression,
    Op,
    Operation,
    ValueKind,
    text_of,
)
from holdfast.question.row import row_value
from holdfast.statistics.bind import parts_of
from holdfast.statistics.description import Bits, Prior
from holdfast.statistics.entry import Part
from holdfast.statistics.mean import Mean, expression_of
from holdfast.statistics.statistic import measure
from tests.prior.corpus import SCHEMAS, prior
from tests.question.interpreter import COLUMNS, conditions, numbers

SCHEMA = Schema(COLUMNS).declare({"f": (-5, 5), "i": (0, 30)})
PRIOR = Prior(SCHEMA)
FLIGHTS = prior("flights")


def millibits(question: str, words: Prior = FLIGHTS) -> dict[str, int]:
    return {part.text: part.millibits for part in words.bits(question).parts}


# --- One text, one price -----------------------------------------------------------------------

SAME = [
    ("avg(arr_delay > 15)", "AVG( (15 < Arr_Delay) )", "proportion(not arr_delay <= 15)"),
    ("avg(arr_delay > 15)", "count(arr_delay > 15, 336776)", "sum(arr_delay > 15, 10)"),
    ("avg(arr_delay)", "mean(clip(arr_delay, -60, 180))", "sum(arr_delay, 336776)"),
    ("avg(hour between 6 and 9)", "avg(hour <= 9 and hour >= 6)", "avg(9 >= hour and 6 <= hour)"),
    ("avg(carrier in ('AA', 'DL'))", "avg(carrier = 'DL' or carrier = 'AA')"),
    ("avg(carrier not in ('AA', 'DL'))", "avg(not (carrier = 'DL' or carrier = 'AA'))"),
    ("std(arr_delay)", "variance(arr_delay)"),
    ("quantile(arr_delay, 0.5)", "median(arr_delay)", "quantile(arr_delay, 0.5, 2.5)"),
    ("correlation(dep_delay, arr_delay)", "correlation(arr_delay, dep_delay)"),
    ("accuracy(carrier, origin)", "error(origin, carrier)", "avg(carrier = origin)"),
    ("difference(arr_delay > 15, dep_delay > 15)", "difference(dep_delay > 15, arr_delay > 15)"),
    (
        "difference(avg(arr_delay) where hour = 6, avg(arr_delay) where hour = 7)",
        "difference(avg(arr_delay) where hour = 7, avg(arr_delay) where hour = 6)",
    ),
    ("f1(arr_delay > 15, dep_delay > 15)", "f1(dep_delay > 15, arr_delay > 15)"),
    ("avg(case when arr_delay > 15 then 1 else 0 end)", "avg(coalesce(arr_delay > 15, false))"),
]


@pytest.mark.parametrize("spellings", SAME, ids=[spellings[0] for spellings in SAME])
def test_spellings_and_statistics_of_one_event_have_one_price(spellings: tuple[str, ...]) -> None:
    first, *others = map(millibits, spellings)
    for other in others:
        assert other == first


DIFFERENT = [
    ("avg(arr_delay > 15)", "avg(arr_delay >= 15)"),
    ("covariance(arr_delay, dep_delay)", "correlation(arr_delay, dep_delay)"),
    ("quantile(arr_delay, 0.5)", "quantile(arr_delay, 0.6)"),
    ("avg(arr_delay)", "avg(clip(arr_delay, -60, 179))"),
    ("avg(not coalesce(arr_delay > 15, false))", "avg(arr_delay <= 15)"),  # NULL is not at most 15
    ("avg(arr_delay)", "avg(arr_delay, variance <= 1600)"),
    # What a missing value counts as is part of what is asked.
    ("difference(arr_delay, dep_delay)", "avg(coalesce(arr_delay, 5) - coalesce(dep_delay, 0))"),
]


@pytest.mark.parametrize("pair", DIFFERENT, ids=[pair[0] for pair in DIFFERENT])
def test_different_events_are_different_parts(pair: tuple[str, str]) -> None:
    one, other = (
        {part.text for part in FLIGHTS.bits(text).parts if part.role == "plain"} for text in pair
    )
    assert not one & other


def test_what_follows_from_one_event_is_described_by_it() -> None:
    assert set(millibits("avg(not coalesce(arr_delay > 15, false))")) == set(
        millibits("avg(arr_delay > 15)")
    )
    assert "cut(arr_delay > any)" in millibits("avg(arr_delay >= 15)")
    assert "cut(arr_delay < any)" in millibits("avg(arr_delay < 15)")
    assert "distribution(clip(arr_delay, -60, 180))" in millibits("median(arr_delay)")


@settings(max_examples=150, deadline=None)
@given(conditions(3), st.none() | conditions(2))
def test_every_condition_that_is_accepted_has_a_price(
    condition: Expression, where: Expression | None
) -> None:
    among = "" if where is None else f" where {text_of(where)}"
    _priced(f"avg({text_of(condition)}){among}")


@settings(max_examples=150, deadline=None)
@given(numbers(3))
def test_every_number_that_is_accepted_has_a_price(number: Expression) -> None:
    _priced(f"avg({text_of(number)})")
    _priced(f"std(clip({text_of(number)}, -3, 4))")


def _priced(question: str) -> None:
    """Priced like its canonical text; what is no question at all has no price either."""
    try:
        bound = PRIOR.read(question)
    except NotDescribed:
        raise
    except InvalidQuestion:
        return
    found = PRIOR.of(bound)
    assert 0 < found.best <= found.plain
    assert PRIOR.bits(bound.text) == found


# --- What matters, and what does not -----------------------------------------------------------


def test_neither_names_nor_the_order_of_columns_and_values_matter() -> None:
    body = SCHEMAS["titanic"]
    turned = {
        **{section: dict(reversed(body[section].items())) for section in ("types", "bounds")},
        "values": {name: values[::-1] for name, values in body["values"].items()},
    }
    question = "avg(survived) where sex = 'female' and pclass in (1, 2)"
    assert Prior.from_dict(turned).bits(question) == prior("titanic").bits(question)
    assert Prior.from_dict(turned).to_dict() == prior("titanic").to_dict()
    renamed = {
        section: {name.replace("survived", "z"): entry for name, entry in body[section].items()}
        for section in body
    }
    assert (
        Prior.from_dict(renamed).bits("avg(z)").plain
        == prior("titanic").bits("avg(survived)").plain
    )


def test_the_engine_that_holds_the_rows_does_not_matter() -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = pl.DataFrame({"b": [True, None], "x": [1.0, 2.0], "t": ["a", "b"], "k": [1, 2]})
    relation = open_sample(duckdb.from_arrow(frame.to_arrow()))
    samples = [PolarsSample(frame), PolarsSample(frame.reverse()), relation]
    first, *others = (Prior(Schema(s.types)).bits("avg(b) where t = 'a'") for s in samples)
    assert others == [first, first]


def test_the_public_function_takes_a_prior_a_schema_or_plain_values() -> None:
    text = "avg(arr_delay > 15)"
    found = holdfast.stats.bits(text, SCHEMAS["flights"])
    assert isinstance(found, Bits)
    assert found == holdfast.stats.bits(text, FLIGHTS) == holdfast.stats.bits(text, FLIGHTS.schema)
    assert (found.plain, found.free, found.best) == (13.891, 7.091, 7.091)
    assert holdfast.stats.bits(holdfast.proportion("arr_delay > 15"), FLIGHTS) == found


def test_a_contrast_may_be_narrowed_by_both_of_its_means() -> None:
    question = (
        "difference(avg(arr_delay) where origin = 'JFK' and month = 7, "
        "avg(arr_delay) where origin = 'LGA' and month = 7)"
    )
    found = FLIGHTS.bits(question)
    assert [part.role for part in found.parts] == ["plain", "besides", "besides"]
    contrast = found.parts[0]
    assert contrast.text == (
        "contrast(clip(arr_delay, -60, 180), origin = 'JFK', origin = 'LGA') where month = 7"
    )
    assert found.plain == contrast.millibits / 1000
    assert found.free is None


@pytest.mark.parametrize(
    "question",
    [
        # A NOT on one side only, another value, all rows, the same rows: no contrast.
        "difference(avg(not coalesce(carrier = dest, false)) where hour = 6, "
        "avg(carrier = dest) where hour = 7)",
        "difference(avg(arr_delay) where hour = 6, avg(dep_delay) where hour = 7)",
        "difference(avg(arr_delay), avg(arr_delay) where hour = 7)",
        "difference(avg(arr_delay) where hour = 7, avg(arr_delay) where hour = 7)",
    ],
)
def test_other_differences_are_two_means(question: str) -> None:
    found = FLIGHTS.bits(question)
    assert {part.text.partition("(")[0] for part in found.parts} == {"mean"}
    assert {part.role for part in found.parts} == {"plain"}


def test_a_contrast_of_errors_is_that_of_accuracies_turned_over() -> None:
    right, wrong = "carrier = dest", "not coalesce(carrier = dest, false)"
    one, other = (
        f"difference(avg({value}) where hour = 6, avg({value}) where hour = 7)"
        for value in (right, wrong)
    )
    assert millibits(one) == millibits(other)


_CONTRAST = "difference(avg({}) where hour = {}, avg({}) where hour = {})"
_WRONG = "not coalesce(carrier = dest, false)"


@pytest.mark.parametrize(
    ("question", "turned"),
    [
        ("accuracy(carrier, dest)", False),
        ("error(carrier, dest)", True),
        ("difference(arr_delay > 15, dep_delay > 15)", False),
        ("difference(dep_delay > 15, arr_delay > 15)", True),
        ("difference(dep_delay, arr_delay) where hour = 6", True),
        (_CONTRAST.format("carrier = dest", 6, "carrier = dest", 7), False),
        (_CONTRAST.format("carrier = dest", 7, "carrier = dest", 6), True),
        (_CONTRAST.format(_WRONG, 6, _WRONG, 7), True),
        (_CONTRAST.format(_WRONG, 7, _WRONG, 6), False),
        ("covariance(dep_delay, arr_delay)", False),
        ("f1(dep_delay > 15, arr_delay > 15)", False),
    ],
)
def test_a_part_has_one_rule_and_the_other_order_is_turned_over(
    question: str, turned: bool
) -> None:
    assert parts_of(FLIGHTS.read(question))[0].turned is turned


def test_what_is_turned_over_is_one_minus_a_share_or_has_its_sign_changed() -> None:
    frame = pl.DataFrame(
        {"p": [True, False, None, True, None], "l": [True, True, True, None, None]}
    )
    sample = PolarsSample(frame)
    words = Prior(Schema(sample.types))

    def value(tree: Expression) -> float:
        row = row_value(tree)
        (measured,) = measure(sample, [Mean(row)])
        return row.low + (row.high - row.low) * measured.value

    error = words.read("error(p, l)")
    assert isinstance(error, Mean)
    (wrong,) = parts_of(error)
    assert wrong.turned
    assert value(expression_of(error.row)) == 1 - value(wrong.part.trees[0]) == 0.8
    (back,) = parts_of(words.read("difference(p, l)"))
    assert back.turned
    assert [value(tree) for tree in back.part.trees] == [0.6, 0.4]  # l and p: it is l minus p


# --- What has no words -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        holdfast.mean(
            holdfast.row_function(
                lambda rows: rows["x"], columns=["x"], bounds=(0.0, 1.0), name="mine", version="1"
            )
        ),
        holdfast.statistic(
            lambda rows: 0.5, columns=["x"], bounds=(0.0, 1.0), name="mine", change=0.1
        ),
    ],
    ids=["function", "statistic"],
)
def test_python_has_a_name_and_no_description(question: Any) -> None:
    words = Prior(Schema({"x": ColumnType.FLOAT}).declare({"x": (0, 1)}))
    with pytest.raises(NotDescribed, match="made by Python"):
        words.bits(question)


def test_a_tree_without_a_production_is_refused_and_never_guessed() -> None:
    x = Column("x", ColumnType.FLOAT)
    words = Prior(Schema({"x": ColumnType.FLOAT}).declare({"x": (0, 1)}))
    bare = build.conjunction([build.comparison(Op.ABOVE, x, build.constant(0.5)), build.is_null(x)])
    for tree in (
        x,  # where declared bounds apply, the column itself never stands
        Operation(Op.ADD, (build.clip(x, 0, 1), build.clip(x, 0, 2), build.clip(x, 0, 3))),
        Operation(Op.CLIP, (x, x, x)),
        Constant(ValueKind.BOOLEAN, None),  # a NULL that no CASE gives
        Constant(ValueKind.NUMBER, None),
    ):
        with pytest.raises(NotDescribed, match="no words"):
            words.millibits(Part("mean", (tree,)))
    with pytest.raises(NotDescribed, match="no words"):
        words.millibits(Part("cut", (bare,)))  # no constant is open
    with pytest.raises(NotDescribed, match="all rows"):
        words.millibits(Part("auc", (x, bare), bare))


def test_large_trees_have_a_price() -> None:
    x = Column("x", ColumnType.FLOAT)
    words = Prior(Schema({"x": ColumnType.FLOAT}).declare({"x": (0, 1)}))
    deep: Expression = build.clip(x, 0, 1)
    for _ in range(950):
        deep = Operation(Op.SUBTRACT, (deep, build.constant(1.0)))
    assert words.millibits(Part("mean", (deep,))) > 950 * 1000
    ordered = [build.comparison(Op.ABOVE, x, build.constant(float(i))) for i in range(300)]
    wide = Mean(row_value(build.conjunction(ordered)))
    assert words.of(wide).plain > 300
    assert len(words.of(wide).parts) == 1 + MOST_HOLES
