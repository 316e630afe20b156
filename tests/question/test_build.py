"""The normal form has the value that was spelled, and every value lies in the range."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidQuestion
from holdfast.question import Schema, build, parse_row
from holdfast.question.bounds import range_of, unbounded_columns
from holdfast.question.expression import (
    MAX_SIZE,
    Column,
    ColumnType,
    Expression,
    Op,
    Operation,
    ValueKind,
    column_names,
    subtrees,
    text_of,
)
from holdfast.question.writing import may_be_nan
from tests.question.interpreter import COLUMNS, conditions, evaluate, numbers, rows

X = Column("x", ColumnType.FLOAT)
NAME = Column("name", ColumnType.TEXT)
DAY = Column("day", ColumnType.DATE)
FLAG = Column("flag", ColumnType.BOOLEAN)


def same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right


@settings(max_examples=300)
@given(rows, numbers(2), numbers(2), st.sampled_from([Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE]))
def test_arithmetic_keeps_every_bit(
    row: dict[str, Any], a: Expression, b: Expression, op: Op
) -> None:
    plain = Operation(op, (a, b))
    assert same(evaluate(build.arithmetic(op, a, b), row), evaluate(plain, row))
    assert same(evaluate(build.negate(a), row), evaluate(Operation(Op.NEGATE, (a,)), row))


@settings(max_examples=200)
@given(rows, st.lists(conditions(2), min_size=1, max_size=4))
def test_logic_is_three_valued(row: dict[str, Any], operands: list[Expression]) -> None:
    values = [evaluate(each, row) for each in operands]
    every = False if False in values else None if None in values else True
    some = True if True in values else None if None in values else False
    assert evaluate(build.conjunction(operands), row) is every
    assert evaluate(build.disjunction(operands), row) is some
    opposite = None if values[0] is None else not values[0]
    assert evaluate(build.negation(operands[0]), row) is opposite
    assert build.negation(build.negation(operands[0])) == operands[0]


@settings(max_examples=200)
@given(rows, numbers(2), numbers(2), st.sampled_from([Op.EQUAL, Op.BELOW, Op.AT_MOST, Op.ABOVE]))
def test_comparisons_and_their_mirror(
    row: dict[str, Any], a: Expression, b: Expression, op: Op
) -> None:
    mirrored = {Op.EQUAL: Op.EQUAL, Op.BELOW: Op.ABOVE, Op.AT_MOST: Op.AT_LEAST, Op.ABOVE: Op.BELOW}
    compared = build.comparison(op, a, b)
    assert evaluate(compared, row) is evaluate(Operation(op, (a, b)), row)
    assert compared == build.comparison(mirrored[op], b, a)


@settings(max_examples=200)
@given(
    rows,
    st.lists(numbers(2), min_size=2, max_size=4),
    conditions(2),
    st.floats(-9, 9),
    st.floats(0, 9),
)
def test_choosing_functions(
    row: dict[str, Any], operands: list[Expression], when: Expression, low: float, width: float
) -> None:
    values = [evaluate(each, row) for each in operands]
    assert evaluate(build.coalesce(operands), row) == evaluate(
        Operation(Op.COALESCE, tuple(operands)), row
    )
    least = None if None in values else min(values)
    assert evaluate(build.extreme(Op.LEAST, operands), row) == least
    high = low + width
    clipped = None if values[0] is None else min(max(values[0], low), high)
    assert evaluate(build.clip(operands[0], low, high), row) == clipped
    chosen = values[0] if evaluate(when, row) is True else values[1]
    assert evaluate(build.case([(when, operands[0])], operands[1]), row) == chosen


@settings(max_examples=400)
@given(rows, numbers(3))
def test_every_value_is_in_the_range(row: dict[str, Any], expression: Expression) -> None:
    value = evaluate(expression, row)
    low, high = range_of(expression)
    assert value is None or low <= value <= high
    for node in subtrees(expression):
        if isinstance(node, Operation) and node.op in (Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE):
            a, b = (evaluate(arg, row) for arg in node.args)
            if a is not None and b is not None and not (node.op is Op.DIVIDE and b == 0):
                raw = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else 0.0}[node.op]
                assert may_be_nan(node) or not math.isnan(raw)


def test_unbounded_columns_are_those_that_matter() -> None:
    y = Column("y", ColumnType.INTEGER)
    clipped = build.clip(y, 0, 1)
    assert unbounded_columns(build.arithmetic(Op.ADD, X, clipped)) == ["x"]
    assert unbounded_columns(build.case([(build.comparison(Op.ABOVE, X, y), clipped)], None)) == []
    assert unbounded_columns(build.function(Op.ABS, build.coalesce([y, X]))) == ["x", "y"]
    assert unbounded_columns(build.arithmetic(Op.DIVIDE, clipped, clipped)) == []
    assert not range_of(build.arithmetic(Op.DIVIDE, clipped, clipped)).finite
    assert column_names(build.arithmetic(Op.ADD, X, clipped)) == ("x", "y")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: build.arithmetic(Op.ADD, X, NAME),
        lambda: build.negate(DAY),
        lambda: build.comparison(Op.EQUAL, X, NAME),
        lambda: build.comparison(Op.BELOW, DAY, X),
        lambda: build.conjunction([FLAG, X]),
        lambda: build.negation(X),
        lambda: build.like(X, "%"),
        lambda: build.function(Op.LENGTH, X),
        lambda: build.function(Op.YEAR, NAME),
        lambda: build.function(Op.ABS, NAME),
        lambda: build.extreme(Op.LEAST, [X, DAY]),
        lambda: build.clip(NAME, 0, 1),
        lambda: build.clip(X, 1, 0),
        lambda: build.clip(X, 0, math.inf),
        lambda: build.clip(X, math.nan, 1),
        lambda: build.coalesce([X, NAME]),
        lambda: build.case([(FLAG, X)], NAME),
        lambda: build.case([(X, X)], X),
        lambda: build.case([(FLAG, None)], None),
        lambda: build.constant(math.nan),
        lambda: build.constant(10**400),
    ],
)  # fmt: skip
def test_kinds_are_checked(wrong: Any) -> None:
    with pytest.raises(InvalidQuestion) as raised:
        wrong()
    assert str(raised.value).endswith(".")


def test_constants_of_different_kinds_differ() -> None:
    assert build.constant(True) != build.constant(1.0)
    assert build.constant(-0.0).value == 0.0
    assert math.copysign(1, build.constant(-0.0).value) == 1  # type: ignore[arg-type]
    assert build.constant("1").kind is ValueKind.TEXT


def test_short_text_cannot_make_a_huge_tree() -> None:
    expression: Expression = X
    while isinstance(expression, Column) or expression.size <= MAX_SIZE // 2:  # type: ignore[union-attr]
        expression = build.arithmetic(Op.ADD, expression, expression)
    assert len(text_of(expression)) < 20 * MAX_SIZE
    with pytest.raises(InvalidQuestion, match=f"{MAX_SIZE:,} parts"):
        build.arithmetic(Op.ADD, expression, expression)


@pytest.mark.parametrize(
    ("spelling", "one"),
    [
        ("b = true", "b"),
        ("b = 1", "b"),
        ("1 = b", "b"),
        ("b != 0", "b"),
        ("b > 0", "b"),
        ("b >= 0.5", "b"),
        ("b = false", "not b"),
        ("b = 0", "not b"),
        ("b <> 1", "not b"),
        ("b < 1", "not b"),
        ("(f > 1) = 1", "f > 1"),
        ("(f > 1) = 0", "f <= 1"),
        ("cast(b as int) = 1", "b"),
    ],
)
def test_a_condition_beside_a_number_is_the_condition(spelling: str, one: str) -> None:
    schema = Schema(COLUMNS)
    assert text_of(parse_row(spelling, schema)) == one
    # Where both numbers pass, or none, a NULL is still a NULL.
    assert text_of(parse_row("b >= 0", schema)) == "b >= 0"
    assert text_of(parse_row("b = 2", schema)) == "b = 2"


def test_trees_are_compared_hashed_and_kept_whatever_their_depth() -> None:
    written = " + ".join(["f", "g"] * 1_000)
    first, again = (parse_row(written, Schema(COLUMNS), bounded=False) for _ in range(2))
    other = parse_row(f"{written} + 1", Schema(COLUMNS), bounded=False)
    assert first == again
    assert hash(first) == hash(again)
    assert first != other
    assert first != X
    assert range_of(first) == range_of(other) == (-math.inf, math.inf)
    small = parse_row("case when b then f + g > 1 end", Schema(COLUMNS))
    assert text_of(small) == text_of(pickle.loads(pickle.dumps(small)))
    assert pickle.loads(pickle.dumps(small)) == small
