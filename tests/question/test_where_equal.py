"""Where an expression is one of few numbers."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, strategies as st

from holdfast.data.values import evaluate
from holdfast.question import Schema, build, parse_row
from holdfast.question.build import where_equal
from holdfast.question.expression import ColumnType, Expression, Op

SCHEMA = Schema(dict.fromkeys("abc", ColumnType.BOOLEAN) | {"x": ColumnType.FLOAT})
ROWS = pl.DataFrame(
    [
        {"a": a, "b": b, "c": c, "x": x}
        for a in (True, False, None)
        for b in (True, False, None)
        for c in (True, False, None)
        for x in (1.0, -1.0, None)
    ]
)
CONDITIONS = st.sampled_from(["a", "b", "not c", "coalesce(a, b)", "a != b", "a and c", "x > 0"])
NUMBERS = st.sampled_from([1.0, -1.0, 0.0])


def cases(values: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """A choice of one or two branches."""
    branch = st.tuples(CONDITIONS.map(lambda text: parse_row(text, SCHEMA)), values)
    return st.builds(build.case, st.lists(branch, min_size=1, max_size=2), st.none() | values)


CHOICES = st.recursive(
    NUMBERS.map(build.constant) | st.just(parse_row("x", SCHEMA)), cases, max_leaves=5
)


@given(choice=CHOICES, number=NUMBERS)
def test_it_holds_where_the_number_is_that_one(choice: Expression, number: float) -> None:
    same = build.comparison(Op.EQUAL, choice, build.constant(number))
    found, expected = evaluate(ROWS, [where_equal(choice, number), same])
    assert found.fill_null(value=False).equals(expected.fill_null(value=False))


@pytest.mark.parametrize("number", [1.0, -1.0])
def test_a_difference_of_two_conditions_is_counted_without_numbers(number: float) -> None:
    a, b = (parse_row(f"coalesce({name}, false)", SCHEMA) for name in "ab")
    sign = build.case([(a, build.constant(1.0))], build.constant(-1.0))
    differ = build.comparison(Op.UNEQUAL, a, b)
    found = where_equal(build.case([(differ, sign)], build.constant(0.0)), number)
    wanted = a if number > 0 else build.negation(a)
    assert found == build.conjunction([differ, wanted])
