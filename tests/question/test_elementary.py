"""ln, exp and sqrt: near to the truth, in their ranges, refused where they are no number."""

from __future__ import annotations

import math
from datetime import datetime

import mpmath
import pytest
from hypothesis import example, given, strategies as st

from holdfast.errors import InvalidQuestion, NotBounded
from holdfast.question import Schema, build, parse_row
from holdfast.question.bounds import elementary_error, range_of
from holdfast.question.elementary import MOST_EXPONENT, PRECISION, exp_of, ln_of
from holdfast.question.expression import Column, ColumnType, Constant, Expression, Op, text_of
from holdfast.question.row import GRID_ERROR, row_value
from tests.question.interpreter import evaluate

mpmath.mp.prec = 200
TYPES = {"x": ColumnType.FLOAT, "y": ColumnType.FLOAT, "d": ColumnType.DATE}
SCHEMA = Schema(TYPES).declare({"y": (0.5, 8)})
X = Column("x", ColumnType.FLOAT)

positive = st.floats(5e-324, 1.7e308) | st.floats(0.25, 4) | st.floats(1 - 1e-9, 1 + 1e-9)
exponents = st.floats(-MOST_EXPONENT, MOST_EXPONENT) | st.floats(-1e-9, 1e-9) | st.floats(-1, 1)
functions = st.sampled_from([Op.LN, Op.EXP, Op.SQRT])


def off(computed: float, true: mpmath.mpf) -> float:
    """How far a value is from the truth, as a part of it."""
    return float(abs(mpmath.mpf(computed) / true - 1)) if true else float(computed != 0)


@given(positive)
@example(1.0)
@example(math.nextafter(1, 0))
@example(0.7071067811865476)
@example(math.nextafter(0.7071067811865476, 0))
@example(5e-324)
def test_the_logarithm_is_as_near_as_it_says(x: float) -> None:
    assert off(ln_of(x), mpmath.log(mpmath.mpf(x))) <= PRECISION


@given(exponents)
@example(0.0)
@example(5e-324)
@example(math.log(2) / 2)
@example(-MOST_EXPONENT)
def test_the_exponential_is_as_near_as_it_says(x: float) -> None:
    assert off(exp_of(x), mpmath.exp(mpmath.mpf(x))) <= PRECISION


def test_golden_values() -> None:
    # From mpmath at 60 digits: nstr(log(10), 20), nstr(log(mpf(0.01)), 20), nstr(exp(1), 20), ...
    for computed, true in (
        (ln_of(10.0), 2.3025850929940456840),
        (ln_of(0.01), -4.6051701859880913472),
        (ln_of(1e300), 690.77552789821370526),
        (exp_of(1.0), 2.7182818284590452354),
        (exp_of(-10.0), 4.5399929762484851536e-5),
    ):
        assert computed == pytest.approx(true, rel=PRECISION, abs=0)
    assert (ln_of(1.0), exp_of(0.0), exp_of(-1e6)) == (0.0, 1.0, exp_of(-690.0))


@given(functions, st.lists(positive, min_size=3, max_size=3), st.booleans())
def test_every_value_is_in_the_range(op: Op, given: list[float], negative: bool) -> None:
    low, x, high = sorted(math.log(each) for each in given) if op is Op.EXP else sorted(given)
    if op is Op.EXP and negative:
        low, x, high = -high, -x, -low
    if op is Op.EXP:  # of what is beyond, it is that of the last
        low, x, high = (max(-MOST_EXPONENT, min(each, MOST_EXPONENT)) for each in (low, x, high))
    tree = build.function(op, build.clip(X, low, high))
    found = range_of(tree)
    assert found.low <= evaluate(tree, {"x": x}) <= found.high
    true = {Op.LN: mpmath.log, Op.EXP: mpmath.exp, Op.SQRT: mpmath.sqrt}[op]
    assert found.low * (1 - 1e-15) <= true(mpmath.mpf(low)) or op is not Op.SQRT
    assert found.low <= true(mpmath.mpf(x)) * (1 + (2.0**-52 if op is Op.SQRT else 0))
    assert true(mpmath.mpf(x)) * (1 - (2.0**-52 if op is Op.SQRT else 0)) <= found.high


@given(functions, positive)
def test_a_constant_is_what_a_row_would_be(op: Op, x: float) -> None:
    x = min(x, MOST_EXPONENT) if op is Op.EXP else x
    folded = build.function(op, build.constant(x))
    written = build.function(op, build.clip(X, min(x, 1.0), max(x, 2.0)))
    assert evaluate(folded, {}) == evaluate(written, {"x": x})


COMPUTED = [
    "ln(y)",
    "3 * ln(y) - exp(-y)",
    "ln(y) * ln(clip(x, 1, 9))",
    "clip(x / ln(y), -10, 10)",
    "exp(ln(y) / 3)",
    "ln(1 + exp(clip(x, -30, 30)))",
    "sqrt(exp(y))",
    "case when x > 1 then ln(y) else abs(exp(-abs(x)) - 2) end",
    "least(ln(y), clip(x, -3, 3), 2) / exp(y)",
    "ln(y) / (1 + exp(-clip(x, -5, 5)))",
]


def exactly(tree: Expression, row: dict[str, float]) -> mpmath.mpf:
    """The value of a row in numbers of 200 bits, where nothing compared is near to a tie."""
    if isinstance(tree, Column):
        return mpmath.mpf(row[tree.name])
    if isinstance(tree, Constant):
        return mpmath.mpf(tree.value)
    if tree.op is Op.CASE:
        return exactly(tree.args[1 if evaluate(tree.args[0], row) else 2], row)
    args = [exactly(arg, row) for arg in tree.args]
    does = {
        **{Op.ADD: lambda a, b: a + b, Op.SUBTRACT: lambda a, b: a - b, Op.NEGATE: lambda a: -a},
        **{Op.MULTIPLY: lambda a, b: a * b, Op.DIVIDE: lambda a, b: a / b, Op.ABS: abs},
        **{Op.CLIP: lambda a, low, high: min(max(a, low), high), Op.LEAST: lambda *a: min(a)},
        **{Op.LN: mpmath.log, Op.EXP: mpmath.exp, Op.SQRT: mpmath.sqrt},
    }
    return does[tree.op](*args)


@pytest.mark.parametrize("text", COMPUTED)
@given(x=st.floats(-40, 40), y=st.floats(0.5, 8))
def test_what_is_computed_is_as_near_to_the_truth_as_its_error_says(
    text: str, x: float, y: float
) -> None:
    tree = parse_row(text, SCHEMA)
    if y == 1 and "/ ln(y)" in text:
        return
    row = {"x": x, "y": y}
    roundings = 2.0**-48 * max(1.0, range_of(tree).high - range_of(tree).low)  # of doubles
    distance = abs(mpmath.mpf(evaluate(tree, row)) - exactly(tree, row))
    assert distance <= elementary_error(tree) + roundings
    assert 0 < elementary_error(tree) < GRID_ERROR * (range_of(tree).high - range_of(tree).low) / 4
    assert row_value(tree).text == text_of(tree)


def test_nothing_else_has_an_error() -> None:
    for text in ("y * 3 / 7", "sqrt(y)", "abs(y - 1)", "year(d)", "ln(y) > 1"):
        assert elementary_error(parse_row(text, SCHEMA)) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ln(x)", "'ln' needs a value whose range begins above 0 and ends, and that of x is from "),
        ("ln(clip(x, 0, 1))", r"is from 0 to 1; write ln\(clip\(clip\(x, 0, 1\), 0.01, 100\)\)"),
        ("ln(greatest(x, 1))", "is from 1 to no known bound"),
        ("ln(y - 1)", "is from -0.5 to 7"),
        ("ln(0)", "is from 0 to 0"),
        ("ln(x) > 1", "begins above 0"),
        ("sqrt(x)", "'sqrt' needs a value whose range begins at 0 or above"),
        ("sqrt(y - 1)", "is from -0.5 to 7"),
        ("exp(x)", "'exp' needs a value whose range ends at 690 at most"),
        ("exp(y * 100)", "is from 50 to 800"),
        ("ln(clip(x, 1000, 1000.0000001))", "too narrow for what is made of ln or exp"),
        ("sqrt(abs(x))", "No bounds are declared for column x"),
    ],
)
def test_what_would_not_be_a_number_in_some_row_is_refused(text: str, says: str) -> None:
    with pytest.raises(NotBounded, match=says):
        row_value(parse_row(text, SCHEMA))


@pytest.mark.parametrize("text", ["log(y)", "log10(y)", "log2(y)", "log(2, y)"])
def test_log_is_told_what_it_may_mean(text: str) -> None:
    with pytest.raises(InvalidQuestion, match="did you mean ln, the natural logarithm"):
        parse_row(text, SCHEMA)


@pytest.mark.parametrize("text", ["ln(y, 2)", "exp()", "sqrt('a')", "ln(d)", "power(y, 2)"])
def test_nothing_else_is_read(text: str) -> None:
    with pytest.raises(InvalidQuestion):
        parse_row(text, SCHEMA)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("LN(y)", "ln(clip(y, 0.5, 8))"),
        ("ln(y) > 1", "ln(clip(y, 0.5, 8)) > 1"),
        ("clip(exp(-y), 0, 1)", "exp(-clip(y, 0.5, 8))"),
        ("sqrt(clip(y, 0, 9))", "sqrt(clip(y, 0, 9))"),
        ("exp(-abs(x))", "exp(-abs(x))"),
        ("ln(2) * y", "clip(y, 0.5, 8) * 0.6931471805599453"),
    ],
)
def test_declared_bounds_apply_inside_wherever_it_stands(text: str, canonical: str) -> None:
    tree = parse_row(text, SCHEMA)
    assert text_of(tree) == canonical
    assert parse_row(canonical, SCHEMA) == tree


def test_missing_values_stay_missing() -> None:
    tree = parse_row("ln(y) + exp(-y) + sqrt(y)", SCHEMA)
    assert evaluate(tree, {"y": None, "d": datetime(2013, 1, 1)}) is None
