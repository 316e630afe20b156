"""Groups that are said to share no row share none, in every table."""

from __future__ import annotations

import polars as pl
from hypothesis import given, strategies as st

from holdfast.data.values import evaluate
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.question.parse import parse_row
from holdfast.statistics.mean_rules import are_disjoint

SCHEMA = Schema({"x": ColumnType.INTEGER, "b": ColumnType.BOOLEAN, "t": ColumnType.TEXT})
ROWS = pl.DataFrame(
    [(x, b, t) for x in (None, 0, 1, 2, 3) for b in (None, True, False) for t in (None, "A", "B")],
    schema={"x": pl.Int64, "b": pl.Boolean, "t": pl.String},
    orient="row",
)
ATOMS = [
    *(f"x {sign} {c}" for sign in ("<", "<=", ">", ">=", "=", "!=") for c in (1, 2)),
    *("b", "not b", "t = 'A'", "t = 'B'", "t != 'A'", "b is null", "x is not null"),
    "x between 1 and 2",
]
conditions = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3).map(" and ".join)


@given(conditions, conditions)
def test_what_is_disjoint_by_its_words_shares_no_row(first: str, second: str) -> None:
    one, other = (parse_row(each, SCHEMA) for each in (first, second))
    inside, outside = evaluate(ROWS, [one, other])
    if are_disjoint(one, other):
        assert not (inside.fill_null(False) & outside.fill_null(False)).any()
        assert are_disjoint(other, one)


def test_what_people_compare_is_seen_to_be_disjoint() -> None:
    pairs = [
        ("x = 1", "x = 2"),
        ("t = 'A'", "t = 'B'"),
        ("b", "not b"),
        ("x < 2", "x >= 2"),
        ("x <= 1", "x > 1"),
        ("t = 'A' and x = 1", "x = 2 and b"),
    ]
    for pair in pairs:
        assert are_disjoint(*(parse_row(each, SCHEMA) for each in pair)), pair
    for pair in [("x <= 1", "x >= 1"), ("x = 1", "b"), ("x != 1", "x != 2")]:
        assert not are_disjoint(*(parse_row(each, SCHEMA) for each in pair)), pair
