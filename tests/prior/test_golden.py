"""Eighteen prices that were computed by somebody else, and the whole corpus."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import bind
from holdfast.statistics.description import Prior
from tests.prior.corpus import GOLDEN, QUESTIONS, SCHEMAS, prior


@pytest.mark.parametrize("row", GOLDEN, ids=[row["text"] for row in GOLDEN])
def test_golden(row: dict[str, Any]) -> None:
    found = prior(row["schema"]).bits(row["text"])
    plain = [(part.text, part.millibits) for part in found.parts if part.role == "plain"]
    assert plain == [(part["part"], part["millibits"]) for part in row["parts"]]
    assert found.plain == max(part["millibits"] for part in row["parts"]) / 1000
    assert found.free == (None if row["free"] is None else row["free"] / 1000)


def test_the_whole_corpus_has_a_price_and_the_half_that_was_held_out_is_short() -> None:
    held = [prior(q["schema"]).bits(q["text"]).best for q in QUESTIONS if q["split"] == "held"]
    tuned = [prior(q["schema"]).bits(q["text"]).best for q in QUESTIONS if q["split"] == "tune"]
    assert len(held) + len(tuned) == 322
    assert statistics.median(held) <= 17
    assert sorted(held)[int(0.9 * len(held))] <= 30.9
    assert max(held) == 87.226
    assert statistics.median(tuned) <= 17


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_canonical_text_has_the_price_of_the_text_as_typed(schema: str) -> None:
    words = prior(schema)
    for question in QUESTIONS:
        if question["schema"] == schema:
            canonical = words.read(question["text"]).text
            assert words.bits(canonical) == words.bits(question["text"]), question["text"]


def test_declared_categories_make_a_text_short() -> None:
    text = "avg(native_country = 'United-States')"
    others = [f"Country-{i}" for i in range(40)]
    body = SCHEMAS["adult"]
    values = {**body["values"], "native_country": ["United-States", *others]}
    declared = Prior.from_dict({**body, "values": values}).bits(text).plain
    assert prior("adult").bits(text).plain == 74.663
    assert round(declared, 1) == 12.3


def test_many_more_columns_cost_a_few_bits() -> None:
    body = SCHEMAS["flights"]
    more = {f"x{i}": "float" for i in range(480)}
    wide = Prior.from_dict({**body, "types": {**body["types"], **more}})
    text = "avg(arr_delay > 15)"
    assert 3 < wide.bits(text).plain - prior("flights").bits(text).plain < 8


def test_whole_numbers_of_at_most_forty_values_are_levels() -> None:
    found = {}
    for values in (40, 41):
        body = {"types": {"k": "integer"}, "bounds": {"k": (0, values - 1)}}
        found[values] = Prior.from_dict(body).bits("avg(k = 17)").plain
    assert found[40] < found[41] - 3  # equality is what is likely said of a level


def test_weights_of_key_columns_are_worth_bits() -> None:
    body = SCHEMAS["credit"]
    heavy = Prior.from_dict({**body, "weights": {"default": 10, "score_v2": 10}})
    text = "auc(score_v2, default)"
    assert heavy.bits(text).plain < prior("credit").bits(text).plain - 3


def test_a_question_bound_to_its_own_table_has_the_same_price() -> None:
    from holdfast.statistics.entry import Table

    schema = Schema({"b": ColumnType.BOOLEAN, "x": ColumnType.FLOAT}).declare({"x": (0, 1)})
    words = Prior(schema)
    text = "avg(x) where b"
    assert words.of(bind(text, Table(schema))) == words.bits(text)
