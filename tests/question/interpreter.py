"""What a row expression means, row by row in plain Python: an oracle that shares no code with the
engines, and hypothesis strategies for tables and expressions."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from typing import Any

from hypothesis import strategies as st

from holdfast.question import build
from holdfast.question.expression import Column, ColumnType, Constant, Expression, Op, Operation

Value = Any  # bool, float, str, datetime or None

_ASCII = {"lower": str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")}
_ASCII["upper"] = {low: up for up, low in _ASCII["lower"].items()}


def evaluate(expression: Expression, row: Mapping[str, Value]) -> Value:
    """The value of the expression for one row: None is NULL."""
    if isinstance(expression, Constant):
        return expression.value
    if isinstance(expression, Column):
        return _clean(row[expression.name])
    return _call(expression, row)


def _clean(value: Value) -> Value:
    if value is None or isinstance(value, bool | str | datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    return None if math.isnan(value) else float(value)


def _call(call: Operation, row: Mapping[str, Value]) -> Value:
    op = call.op
    if op is Op.CASE:
        *branches, otherwise = call.args
        for when, then in zip(branches[::2], branches[1::2], strict=True):
            if evaluate(when, row) is True:
                return evaluate(then, row)
        return evaluate(otherwise, row)
    args = [evaluate(arg, row) for arg in call.args]
    if op is Op.COALESCE:
        return next((arg for arg in args if arg is not None), None)
    if op is Op.IS_NULL:
        return args[0] is None
    if op in (Op.AND, Op.OR):
        decisive = op is Op.OR
        return decisive if decisive in args else None if None in args else not decisive
    if None in args:
        return None
    result = _strict(op, args)
    return None if isinstance(result, float) and math.isnan(result) else result


def _strict(op: Op, args: list[Any]) -> Value:
    a = args[0]
    b = args[1] if len(args) > 1 else None
    if isinstance(a, str) and isinstance(b, str) and op is not Op.LIKE:
        a, b = a.encode(), b.encode()
    match op:
        case Op.ADD:
            return a + b
        case Op.SUBTRACT:
            return a - b
        case Op.MULTIPLY:
            return a * b
        case Op.DIVIDE:
            return None if b == 0 else a / b
        case Op.NEGATE:
            return -a
        case Op.ABS:
            return abs(a)
        case Op.LN:
            return _ln(a)
        case Op.EXP:
            return _exp(a)
        case Op.SQRT:
            return math.sqrt(a)
        case Op.LEAST:
            return min(args)
        case Op.GREATEST:
            return max(args)
        case Op.CLIP:
            return min(max(a, args[1]), args[2])
        case Op.INDICATOR:
            return float(a)
        case Op.LENGTH:
            return float(len(a))
        case Op.YEAR | Op.MONTH | Op.DAY | Op.HOUR | Op.MINUTE:
            return float(getattr(a, op.value))
        case Op.WEEKDAY:
            return float(a.isoweekday())
        case Op.EQUAL:
            return a == b
        case Op.UNEQUAL:
            return a != b
        case Op.BELOW:
            return a < b
        case Op.AT_MOST:
            return a <= b
        case Op.ABOVE:
            return a > b
        case Op.AT_LEAST:
            return a >= b
        case Op.NOT:
            return not a
        case Op.LOWER | Op.UPPER:
            return a.translate(_ASCII[op.value])
        case Op.LIKE:
            signs = {"%": ".*", "_": "."}
            pattern = "".join(signs.get(sign) or re.escape(sign) for sign in str(b))
            return re.fullmatch(pattern, a, re.DOTALL) is not None
    raise AssertionError(op)


def _ln(x: float) -> float:
    """The sequence of operations that the language defines, its scaling by the double's bits."""
    m, k = math.frexp(x)
    if m < 0.7071067811865476:
        m, k = 2 * m, k - 1
    f = m - 1
    s = f / (f + 2)
    half, z, series = f * f * 0.5, s * s, 0.0
    for n in range(10, 0, -1):
        series = series * z + 2 / (2 * n + 1)
    ln2_high = math.floor(math.log(2) * 2**32) / 2**32
    small = s * (half + z * series) + k * 1.9082149292705877e-10
    return k * ln2_high - ((half - small) - f)


def _exp(x: float) -> float:
    x = max(x, -690.0)
    k = round(x * math.log2(math.e))
    r = (x - k * (math.floor(math.log(2) * 2**32) / 2**32)) - k * 1.9082149292705877e-10
    if -(2.0**-60) <= r < 2.0**-60:
        r = 0.0
    series = 0.0
    for n in range(13, 1, -1):
        series = series * r + 1 / math.factorial(n)
    return math.ldexp(r + r * r * series + 1, k)


COLUMNS = {
    "f": ColumnType.FLOAT,
    "g": ColumnType.FLOAT,
    "i": ColumnType.INTEGER,
    "b": ColumnType.BOOLEAN,
    "t": ColumnType.TEXT,
    "u": ColumnType.TEXT,
    "d": ColumnType.DATE,
    "s": ColumnType.DATETIME,
}
TEXTS = ["", "a", "A", "ab", "É", "é", "ß", "Σ", "_", "%", "a%b", "İ", "x\ny", "it's", "ABC", "\\"]
TEXTS += ["a\\b", "ǅ", "🤦🏼‍♂️", "ｚ"]
EXTREMES = [0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 49.0]
EXTREMES += [15.0, 0.1, 1e-300, 3.0000000000000004]

_values: dict[str, st.SearchStrategy[Any]] = {
    "f": st.sampled_from(EXTREMES) | st.floats(-1e3, 1e3),
    "g": st.sampled_from(EXTREMES) | st.floats(),
    "i": st.sampled_from([0, 1, -1, 49, 2**53 + 1, -(2**63), 2**63 - 1]) | st.integers(-50, 50),
    "b": st.booleans(),
    "t": st.sampled_from(TEXTS),
    "u": st.sampled_from(TEXTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    "d": st.dates(),
    "s": st.datetimes(),
}
rows = st.fixed_dictionaries({name: st.none() | value for name, value in _values.items()})
tables = st.lists(rows, min_size=1, max_size=12)

_COMPARISONS = [Op.EQUAL, Op.UNEQUAL, Op.BELOW, Op.AT_MOST, Op.ABOVE, Op.AT_LEAST]
_PARTS = [Op.YEAR, Op.MONTH, Op.DAY, Op.HOUR, Op.MINUTE, Op.WEEKDAY]
_literal_numbers = st.sampled_from(
    [0.0, 1.0, -1.0, 2.5, 0.1, 49.0, 1e308, 1e-308, -7.0]
) | st.floats(-100, 100)
_columns = {name: Column(name, type_) for name, type_ in COLUMNS.items()}
moments = st.sampled_from([_columns["d"], _columns["s"]])


@cache
def _texts(depth: int) -> st.SearchStrategy[Expression]:
    leaf = st.sampled_from([_columns["t"], _columns["u"]])
    if depth == 0:
        return leaf
    inner = _texts(depth - 1)
    return (
        leaf
        | st.builds(build.function, st.sampled_from([Op.LOWER, Op.UPPER]), inner)
        | st.builds(
            lambda a, b: build.coalesce([a, build.constant(b)]), inner, st.sampled_from("aZ")
        )
    )


def _number(expression: Expression) -> Expression:
    return build.as_number(expression, "a number")


def _function(op: Op, operand: Expression, ends: list[float]) -> Expression:
    """A function of a number; ln, exp and sqrt of one that is cut to where they are numbers."""
    if op is Op.ABS:
        return build.function(op, operand)
    low, high = (abs(end) for end in ends) if op is not Op.EXP else ends
    low, high = sorted((low or 1e-300, high or 5e-324))
    return build.function(
        op,
        build.clip(
            operand, *((min(end, 690.0) for end in (low, high)) if op is Op.EXP else (low, high))
        ),
    )


def _chosen(when: Expression, then: Expression, otherwise: Expression | None) -> Expression:
    never = when == build.FALSE and otherwise is None
    return then if never else _number(build.case([(when, then)], otherwise))


@cache
def numbers(depth: int) -> st.SearchStrategy[Expression]:
    """Well-formed numbers of at most this depth."""
    leaf = st.sampled_from([_columns["f"], _columns["g"], _columns["i"]]) | st.builds(
        build.constant, _literal_numbers
    )
    if depth == 0:
        return leaf
    inner, condition = numbers(depth - 1), conditions(depth - 1)
    operations = st.sampled_from([Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE])
    extremes = st.sampled_from([Op.LEAST, Op.GREATEST])
    ends = st.tuples(_literal_numbers, _literal_numbers).map(sorted)
    return st.one_of(
        leaf,
        st.builds(build.arithmetic, operations, inner, inner),
        st.builds(build.negate, inner),
        st.builds(build.extreme, extremes, st.lists(inner, min_size=2, max_size=3)),
        st.builds(lambda value, ends: build.clip(value, *ends), inner, ends),
        st.builds(_function, st.sampled_from([Op.ABS, Op.LN, Op.EXP, Op.SQRT]), inner, ends),
        st.builds(lambda a, b: _number(build.coalesce([a, b])), inner, inner),
        st.builds(_chosen, condition, inner, st.none() | inner),
        st.builds(_number, condition),
        st.builds(build.function, st.just(Op.LENGTH), _texts(1)),
        st.builds(build.function, st.sampled_from(_PARTS), moments),
    )


@cache
def conditions(depth: int) -> st.SearchStrategy[Expression]:
    """Well-formed conditions of at most this depth."""
    if depth == 0:
        return st.just(_columns["b"])
    number, condition = numbers(depth - 1), conditions(depth - 1)
    text = _texts(1)
    comparison = st.sampled_from(_COMPARISONS)
    patterns = st.sampled_from(
        ["%", "_", "a%", "%a%", "_b", "%\\%", "it's%", "a%b", "", "\\_", "É"]
    )
    several = st.lists(condition, min_size=2, max_size=3)
    literals = st.builds(
        build.constant, st.sampled_from([text for text in TEXTS if text != "x\ny"])
    )
    instants = moments | st.builds(build.constant, st.datetimes())
    return st.one_of(
        st.builds(build.comparison, comparison, number, number),
        st.builds(build.comparison, comparison, text, text | literals),
        st.builds(build.comparison, comparison, moments, instants),
        st.builds(build.conjunction, several),
        st.builds(build.disjunction, several),
        st.builds(build.negation, condition),
        st.builds(build.is_null, number | text | condition),
        st.builds(build.like, text, patterns),
    )
