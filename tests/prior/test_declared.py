"""What is declared of a table: values, weights, favourites; in Python, a file and a ledger."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.prior import literals
from holdfast.prior.grammar import Columns
from holdfast.prior.literals import Class, Place, number_millibits
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.description import Prior
from holdfast.theory.length.levels import option_millibits
from holdfast.theory.length.words import option, share
from tests.prior.corpus import SCHEMAS, prior

TYPES = {"x": ColumnType.FLOAT, "k": ColumnType.INTEGER, "t": ColumnType.TEXT}
TYPES |= {"b": ColumnType.BOOLEAN, "other": ColumnType.OTHER}
ENTRIES = {
    "x": {"bounds": (0, 1), "weight": 2.5},
    "k": (0, 9),
    "t": {"values": ["b", "a"], "weight": "10"},
    "favourites": ["avg(x > 0.5)", "avg(b)"],
}
FILE = """
favourites = ["avg(x > 0.5)", "avg(b)"]
[bounds]
x = [0, 1]
k = [0, 9]
[values]
t = ["a", "b"]
[weights]
x = 2.50
t = 10
"""


def test_python_and_a_file_declare_the_same(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(FILE, encoding="utf-8")
    schema = Schema(TYPES).declare(ENTRIES)
    assert Schema(TYPES).declare(path) == schema
    assert schema.bounds == {"x": (0.0, 1.0), "k": (0.0, 9.0)}
    assert schema.values == {"t": ("a", "b")}
    assert schema.weights == {"x": Decimal("2.5"), "t": Decimal(10)}
    assert schema.favourites == ("avg(x > 0.5)", "avg(b)")


def test_later_declarations_add_to_earlier_ones() -> None:
    schema = (
        Schema(TYPES)
        .declare({"t": {"values": ["a"]}, "favourites": ["avg(b)"]})
        .declare({"t": {"weight": 2}})
    )
    assert schema.values == {"t": ("a",)}
    assert schema.weights == {"t": Decimal(2)}
    assert schema.favourites == ("avg(b)",)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"t": {"values": []}}, r"list of different texts, and have \[\]"),
        (
            {"t": {"values": ["a", "b", "a"]}},
            "texts, and have 'a' more than once",
        ),
        ({"t": {"values": ["a", 1]}}, "list of different texts, and have 1, which is no text"),
        ({"t": {"values": "ab"}}, "list of different texts"),
        ({"x": {"values": ["a"]}}, "its values numbers"),
        ({"x": [2, 1]}, "low below high"),
        ({"x": {"values": [1, 1.0]}}, "a number twice"),
        ({"x": {"values": [1, float("inf")]}}, "one that is not finite"),
        ({"x": [0, 1, True]}, "low below high"),
        ({"t": [0.5, 1, 2]}, "are numbers, and it is text"),
        ({"k": [0.5, 1, 2]}, "has whole numbers, and not all of its values are"),
        ({"b": {"values": [0, 1]}}, "only text and numbers have declared values"),
        ({"nope": {"values": ["a"]}}, "Values are declared for 'nope'"),
        ({"nope": {"weight": 1}}, "A weight is declared for 'nope'"),
        (
            {"t": {"wieght": 1}},
            "it may have 'bounds', 'scale', 'values', 'weight' and 'never_null'",
        ),
        ({"t": {}}, "it may have"),
        *(
            ({"t": {"weight": weight}}, "a finite number above 0")
            for weight in (0, -1, True, "1/3", "", None, float("inf"), float("nan"), "sNaN", 1e300)
        ),
        ({"t": {"weight": "0." + "1" * 40}}, "at most 30 digits"),
    ],
)
def test_declarations_that_are_refused(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        Schema(TYPES).declare(entries)


@pytest.mark.parametrize("favourites", ["avg(b)", 3, [1]])
def test_favourites_are_a_list_of_questions(favourites: Any) -> None:
    with pytest.raises(InvalidArgument, match="favourites must be a list of questions"):
        Schema(TYPES).declare({"favourites": favourites})


def test_a_favourite_must_be_a_question_of_the_table() -> None:
    with pytest.raises(InvalidQuestion, match="not a column"):
        Prior(Schema(TYPES).declare({"favourites": ["avg(nope)"]}))


def test_the_ledgers_form_is_plain_and_reads_back() -> None:
    words = Prior(Schema(TYPES).declare(ENTRIES).declare({"favourites": ["avg(0.5 < x)"]}))
    body = words.to_dict()
    again = Prior.from_dict(json.loads(json.dumps(body)))
    assert again.to_dict() == body
    assert again.favourites == words.favourites
    assert body == {
        "prior": "words/2",
        "types": {"b": "boolean", "k": "integer", "other": "other", "t": "text", "x": "float"},
        "bounds": {"k": [0.0, 9.0], "x": [0.0, 1.0]},
        "values": {"t": ["a", "b"]},
        "weights": {"t": "10", "x": "2.5"},
        "scales": {},
        "never_null": {},
        "favourites": ["avg(b)", "avg(x > 0.5)"],
        "learnt": [],
    }
    for question in ("avg(t = 'a') where k = 3", "median(x)", "avg(b)"):
        assert again.bits(question) == words.bits(question)
    with pytest.raises(InvalidArgument, match="'words/1' is not known"):
        Prior.from_dict({**body, "prior": "words/1"})


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"types": {"x": "number"}}, "The type of column 'x' is 'number'"),
        ({"types": ["x"]}, "The schema's 'types' must be a mapping"),
        ({"types": {"x": "float"}, "bounds": [1]}, "The schema's 'bounds' must be a mapping"),
        ({"types": {"x": "float"}, "bounds": {"x": 1}}, "The bounds of column 'x'"),
        ({"types": {"x": "float"}, "favourites": 3}, "favourites must be a list"),
        (3, "schema must be a mapping with the 'types'"),
    ],
)
def test_a_schema_that_cannot_be_read_is_refused_in_a_sentence(schema: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        holdfast.stats.bits("avg(x > 1)", schema)


def test_favourites_are_their_different_parts() -> None:
    body = {**SCHEMAS["titanic"], "favourites": ["avg(fare > 50)", "avg(fare > 20)"]}
    favourites = Prior.from_dict(body)
    # Two means, and one cut that both questions rest on.
    assert sorted(part.text for part in favourites.favourites) == [
        "cut(fare > any)",
        "mean(fare > 20)",
        "mean(fare > 50)",
    ]
    listed = option("route", "favourites") + option_millibits(1, 3)
    assert favourites.bits("avg(fare > 50)").plain == listed / 1000
    # The cut is cheap for every constant, listed or not; everything else costs .416 bits more.
    plain = prior("titanic").bits("avg(fare > 30)")
    with_favourites = favourites.bits("avg(fare > 30)")
    assert with_favourites.free == listed / 1000
    assert with_favourites.plain == round(plain.plain + 0.416, 3)


def test_one_of_twenty_favourite_parts_costs_six_bits() -> None:
    conditions = [
        f"embarked = 'Q' and pclass = {k} and sibsp = {j}" for k in (1, 2) for j in range(10)
    ]
    body = {**SCHEMAS["titanic"], "favourites": [f"avg({each})" for each in conditions]}
    favourites = Prior.from_dict(body)
    assert len(favourites.favourites) == 20
    assert round(favourites.bits(f"avg({conditions[3]})").plain, 1) == 6.3
    # A favourite that is shorter by the grammar keeps that route.
    short = Prior.from_dict({**body, "favourites": [*body["favourites"], "avg(survived)"]})
    assert short.bits("avg(survived)").plain == round(4.812 + 0.416, 3)


def test_a_weight_changes_the_share_of_a_column_and_nothing_else() -> None:
    one = Prior(Schema({"a": ColumnType.BOOLEAN, "b": ColumnType.BOOLEAN}))
    heavy = Prior(one.schema.declare({"a": {"weight": 3}}))
    before, after = one.bits("avg(a)").plain, heavy.bits("avg(a)").plain
    assert before - after == pytest.approx(1 - 0.416, abs=1e-9)  # 1/2 has become 3/4
    assert heavy.bits("avg(b)").plain - before == pytest.approx(1, abs=1e-9)
    assert heavy.bits("avg(a = b)").plain == one.bits("avg(a = b)").plain


def test_values_of_a_number_are_a_list_of_more_than_two_and_a_pair_is_a_range(
    tmp_path: Path,
) -> None:
    schema = Schema(TYPES).declare({"x": [2, 0.5, 1], "k": {"values": [10, 20]}})
    assert schema.values == {"x": (0.5, 1.0, 2.0), "k": (10.0, 20.0)}
    assert schema.bounds == {"x": (0.5, 2.0), "k": (10.0, 20.0)}
    assert schema.facts("x") == ["0.5 to 2", "3 values: 0.5, 1, 2"]
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    path = tmp_path / "schema.toml"
    path.write_text("[values]\nx = [0.5, 1.0, 2]\nk = [10, 20]\n", encoding="utf-8")
    assert Schema(TYPES).declare(path) == schema
    assert Schema(TYPES).declare({"x": [0.5, 1]}).values == {}
    assert Schema(TYPES).declare({"x": {"values": [1, 2], "bounds": (0, 9)}}).bounds["x"].high == 9


def test_a_declared_number_costs_what_a_declared_value_does() -> None:
    """By hand: .96 of the probability is that of the three values, .04 that of all decimals."""
    place = Columns(Schema(TYPES).declare({"x": [0.1, 0.25, 2]})).places["x"]
    assert place.of is Class.LEVEL
    assert list(place.levels) == [0.1, 0.25, 2.0]
    for value in (0.1, 0.25, 2.0):
        least, most = Fraction(96, 300), Fraction(96, 300) + Fraction(4, 100)
        assert -1000 * math.log2(most) - 1 <= number_millibits(value, place)
        assert number_millibits(value, place) <= -1000 * math.log2(least) + 1
    decimal = number_millibits(0.3, place)
    assert decimal > 1000 * math.log2(25)


@pytest.mark.parametrize("copies", [1, 2])
def test_the_weights_of_numbers_beside_declared_ones_sum_to_at_most_one(
    monkeypatch: pytest.MonkeyPatch, copies: int
) -> None:
    """Every decimal of up to three digits; and if each value counted as two, too much."""
    declared = tuple(float(each) for each in range(10 + copies, 30 + copies))  # another cache key
    place = Place(Class.LEVEL, values=declared)
    others = {float(f"{digits}e{power}") for digits in range(1, 1000) for power in range(-9, 6)}
    if copies == 2:
        monkeypatch.setattr(
            literals, "share", lambda row, name: share(row, name) * (1 + (name == "range"))
        )
    total = math.fsum(
        2.0 ** (-number_millibits(value, place) / 1000) for value in {0.0, *others, *declared}
    )
    assert (0.95 < total <= 1.0) == (copies == 1)
