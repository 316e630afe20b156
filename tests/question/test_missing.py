"""Where a value is known: as SQL's three-valued logic has it, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from holdfast.question import ColumnType, Schema
from holdfast.question.build import TRUE
from holdfast.question.expression import text_of
from holdfast.question.parse import parse_row
from holdfast.question.row import has_value, is_decided_by_values, may_be_missing
from tests.question.interpreter import evaluate

TYPES = {"x": ColumnType.FLOAT, "y": ColumnType.FLOAT, "b": ColumnType.BOOLEAN}
COMPLETE = Schema(TYPES)
NULLABLE = replace(COMPLETE, never_null=dict.fromkeys(TYPES, False))
VALUES: Mapping[str, list[Any]] = {
    "x": [None, -1.0, 0.0, 6.0],
    "y": [None, 0.0, 6.0],
    "b": [None, True, False],
}
ROWS = [dict(zip(VALUES, row, strict=True)) for row in product(*VALUES.values())]

KNOWN = {
    "x": "x is not null",
    "x > 5": "x is not null",
    "x > y": "x is not null and y is not null",
    "x between 1 and 5": "x is not null",
    "x in (0, 6)": "x is not null",
    "not b": "b is not null",
    "abs(x - y) + 1": "x is not null and y is not null",
    "x is null": "true",
    "coalesce(x, 0)": "true",
    "coalesce(b, x > 5)": "coalesce(b, x > 5) is not null",
    "case when x > 5 then 1 else 0 end": "true",
    "case when b then x else 0 end": "case when b then x else 0 end is not null",
    "case when b then 1 end": "case when b then 1 end is not null",
    "x / y": "x / y is not null",
    "x / (1 + abs(clip(y, 0, 9)))": "x is not null and y is not null",
    "x > 5 and b": "(b and x > 5) is not null",
    "x > 5 or b": "(b or x > 5) is not null",
    "greatest(x, y)": "x is not null and y is not null",
}


@pytest.mark.parametrize("text", KNOWN)
def test_a_value_is_known_where_three_valued_logic_has_one(text: str) -> None:
    tree = parse_row(text, NULLABLE)
    condition = has_value(tree)
    assert text_of(condition) == KNOWN[text]
    for row in ROWS:
        assert evaluate(condition, row) is (evaluate(tree, row) is not None), row
    assert may_be_missing(tree) == (condition != TRUE)


@pytest.mark.parametrize("text", KNOWN)
def test_columns_that_are_never_missing_leave_no_row_out(text: str) -> None:
    tree = parse_row(text, COMPLETE)
    # What is computed may still have no value: a division by zero, a case that names no other.
    without = text in ("x / y", "case when b then 1 end")
    assert (has_value(tree) == TRUE) is not without


@pytest.mark.parametrize(
    ("text", "decided"),
    [("x > 5", True), ("x between 1 and 5", True), ("x / y > 5", True), ("x > 5 and b", False)],
)
def test_which_rows_are_known_may_depend_on_a_constant(text: str, decided: bool) -> None:
    assert is_decided_by_values(parse_row(text, NULLABLE)) is decided
    assert is_decided_by_values(parse_row(text, COMPLETE))
