"""That rows without a value are left out is what a part means: it costs no bits."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from holdfast.statistics.bind import parts_of
from holdfast.statistics.description import Prior
from holdfast.statistics.entry import Part
from tests.prior.corpus import GOLDEN, QUESTIONS, prior


@cache
def nullable(schema: str) -> Prior:
    """The words of a table in which every column may be missing."""
    known = prior(schema).schema
    return Prior(replace(known, never_null=dict.fromkeys(known.types, False)))


@pytest.mark.parametrize("row", GOLDEN, ids=[row["text"] for row in GOLDEN])
def test_golden_prices_are_those_of_columns_that_may_be_missing(row: dict[str, Any]) -> None:
    found = nullable(row["schema"]).bits(row["text"])
    plain = [(part.text, part.millibits) for part in found.parts if part.role == "plain"]
    assert plain == [(part["part"], part["millibits"]) for part in row["parts"]]


def test_nothing_of_the_corpus_is_cheaper_and_little_is_dearer() -> None:
    """Totals have missing values counted, which costs words; so does an equality of two columns.

    What a row without a value adds to `a > 5 and b` depends on 5, so that 5 is not free.
    """
    dearer = 0
    for question in QUESTIONS:
        words = prior(question["schema"]), nullable(question["schema"])
        before, now = (each.bits(question["text"]) for each in words)
        assert now.plain >= before.plain
        assert now.free is None or now.free == before.free
        dearer += now.best > before.best
    assert dearer <= 22


def free_parts(text: str) -> set[Part]:
    uses = parts_of(nullable("flights").read(text))
    return {use.part for use in uses if use.role == "free"}


def test_both_directions_of_a_free_threshold_are_two_events() -> None:
    above, below = free_parts("avg(arr_delay > 15)"), free_parts("avg(arr_delay < 15)")
    assert above
    assert below
    assert above.isdisjoint(below)
    assert above == free_parts("avg(arr_delay >= 60)")


def test_a_threshold_is_free_only_where_the_same_rows_are_known() -> None:
    assert not free_parts("avg(arr_delay > 15 and dep_delay > 15)")
    assert free_parts("avg(arr_delay > 15 and arr_delay < 60)")
    assert free_parts("avg(arr_delay > 15) where dep_delay > 15")
