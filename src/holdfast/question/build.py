"""Well-kinded row expressions in one normal form: the only way trees are made.

Each function checks the kinds of its operands and returns the normal form of the operation, so
that spellings with the same value in every row (NULL included) are the same tree:

* ``15 < a`` is ``a > 15``; ``<>`` is ``!=``; constants stand on the right;
* AND and OR are flat, sorted, without repetition; NOT is pushed down to what cannot be negated;
* BETWEEN and IN are comparisons; ``a = true`` and ``a = 1`` are ``a``;
* ``- - a`` is ``a``; ``a + -b`` is ``a - b``; sums and products of two are sorted (but never
  re-associated: that would change the last bits; of long ones the longer comes first);
  operations on constants are done;
* a clip of a clip is one clip, and a clip that changes nothing is left out, or, where the bounds
  declared for a column would then apply inside it, written with the value's own range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime

from holdfast.errors import InvalidQuestion, NotBounded
from holdfast.question.bounds import ELEMENTARY, Range, range_of, shows_column
from holdfast.question.elementary import MOST_EXPONENT, exp_of, ln_of
from holdfast.question.expression import (
    Constant,
    Expression,
    Op,
    Operation,
    ValueKind,
    numeral,
    text_of,
)

_LONG = 16  # levels of a sum or product

TRUE = Constant(ValueKind.BOOLEAN, True)
FALSE = Constant(ValueKind.BOOLEAN, False)

_MIRRORED = {
    Op.EQUAL: Op.EQUAL,
    Op.UNEQUAL: Op.UNEQUAL,
    Op.BELOW: Op.ABOVE,
    Op.AT_MOST: Op.AT_LEAST,
    Op.ABOVE: Op.BELOW,
    Op.AT_LEAST: Op.AT_MOST,
}
_OPPOSITE = {
    Op.EQUAL: Op.UNEQUAL,
    Op.UNEQUAL: Op.EQUAL,
    Op.BELOW: Op.AT_LEAST,
    Op.AT_MOST: Op.ABOVE,
    Op.ABOVE: Op.AT_MOST,
    Op.AT_LEAST: Op.BELOW,
}
_OF_NUMBERS: dict[Op, Callable[[float], float]] = {
    Op.ABS: abs,
    Op.LN: ln_of,
    Op.EXP: exp_of,
    Op.SQRT: math.sqrt,
}
# What the operand's range must be, in words, and a clip that makes it so.
_DOMAINS = {
    Op.LN: ("begins above 0 and ends", "0.01, 100"),
    Op.EXP: (f"ends at {numeral(MOST_EXPONENT)} at most", "-10, 10"),
    Op.SQRT: ("begins at 0 or above", "0, 100"),
}
_OPERAND = {
    **dict.fromkeys(_OF_NUMBERS, ValueKind.NUMBER),
    Op.LENGTH: ValueKind.TEXT,
    Op.LOWER: ValueKind.TEXT,
    Op.UPPER: ValueKind.TEXT,
    Op.YEAR: ValueKind.MOMENT,
    Op.MONTH: ValueKind.MOMENT,
    Op.DAY: ValueKind.MOMENT,
    Op.HOUR: ValueKind.MOMENT,
    Op.MINUTE: ValueKind.MOMENT,
    Op.WEEKDAY: ValueKind.MOMENT,
}


def constant(value: bool | float | str | datetime) -> Constant:
    """A literal; numbers become doubles, and -0 is 0."""
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, str):
        return Constant(ValueKind.TEXT, value)
    if isinstance(value, datetime):
        return Constant(ValueKind.MOMENT, value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidQuestion("A number is too large; numbers are at most about 1.8e308.")
    return Constant(ValueKind.NUMBER, number + 0.0)


def as_number(operand: Expression, place: str) -> Expression:
    """The operand as a number: a condition is 1 where true, 0 where false, NULL where NULL."""
    if operand.kind is ValueKind.NUMBER:
        return operand
    if operand.kind is not ValueKind.BOOLEAN:
        raise InvalidQuestion(f"{place} needs a number, and {_described(operand)}.")
    if isinstance(operand, Constant):
        return constant(float(bool(operand.value)))
    return Operation(Op.INDICATOR, (operand,))


def arithmetic(op: Op, left: Expression, right: Expression) -> Expression:
    """``left + right``, ``-``, ``*`` or ``/``."""
    left, right = as_number(left, f"'{op}'"), as_number(right, f"'{op}'")
    if op is Op.ADD:
        return _sum(left, right)
    if op is Op.SUBTRACT:
        return _sum(left, negate(right))
    folded = _fold(op, left, right)
    if folded is not None:
        return folded
    return Operation(op, _sorted_pair(left, right) if op is Op.MULTIPLY else (left, right))


def negate(operand: Expression) -> Expression:
    """The number with its sign changed."""
    operand = as_number(operand, "'-'")
    if isinstance(operand, Operation) and operand.op is Op.NEGATE:
        return operand.args[0]
    value = _value(operand)
    return Operation(Op.NEGATE, (operand,)) if value is None else constant(-value)


def comparison(op: Op, left: Expression, right: Expression) -> Expression:
    """A comparison of two values of the same kind; conditions count as 0 and 1 beside numbers."""
    left, right = _comparable(left, right, op)
    if _is_before(right, left) or (left == right and op in (Op.ABOVE, Op.AT_LEAST)):
        op, left, right = _MIRRORED[op], right, left
    if isinstance(left, Constant) and isinstance(right, Constant):
        return constant(_holds(op, left, right))
    if left.kind is ValueKind.BOOLEAN and isinstance(right, Constant):
        return left if (op is Op.EQUAL) == bool(right.value) else negation(left)
    if isinstance(left, Operation) and left.op is Op.INDICATOR and isinstance(right, Constant):
        # Of the numbers 0 and 1 one passes: then it says what the condition, or its opposite, says.
        passes = [_holds(op, constant(each), right) for each in (0.0, 1.0)]
        if passes[0] != passes[1]:
            return left.args[0] if passes[1] else negation(left.args[0])
    return Operation(op, (left, right))


def conjunction(operands: Sequence[Expression]) -> Expression:
    """All of the conditions."""
    return _junction(Op.AND, operands, absorbing=FALSE)


def disjunction(operands: Sequence[Expression]) -> Expression:
    """At least one of the conditions."""
    return _junction(Op.OR, operands, absorbing=TRUE)


def negation(operand: Expression) -> Expression:
    """NOT, pushed down; in three-valued logic too, the opposite of ``a > b`` is ``a <= b``."""
    operand = _condition(operand, "'not'")
    if isinstance(operand, Constant):
        return constant(not operand.value)
    if isinstance(operand, Operation):
        if operand.op is Op.NOT:
            return operand.args[0]
        if operand.op in _OPPOSITE:
            return comparison(_OPPOSITE[operand.op], *operand.args)
        if operand.op is Op.AND:
            return disjunction([negation(arg) for arg in operand.args])
        if operand.op is Op.OR:
            return conjunction([negation(arg) for arg in operand.args])
    return Operation(Op.NOT, (operand,))


def is_null(operand: Expression) -> Expression:
    """True where the value is missing."""
    operand = _condition_again(operand)
    return FALSE if isinstance(operand, Constant) else Operation(Op.IS_NULL, (operand,))


def like(operand: Expression, pattern: str) -> Expression:
    """Text that fits a pattern: % stands for any run of characters, _ for exactly one."""
    if operand.kind is not ValueKind.TEXT:
        raise InvalidQuestion(f"'like' needs text, and {_described(operand)}.")
    return Operation(Op.LIKE, (operand, constant(pattern)))


def function(op: Op, operand: Expression) -> Expression:
    """ABS, LN, EXP, SQRT, LENGTH, LOWER, UPPER or a part of a date."""
    wanted = _OPERAND[op]
    if wanted is ValueKind.NUMBER:
        operand = as_number(operand, f"'{op}'")
        if op in ELEMENTARY:
            _require_domain(op, operand)
        value = _value(operand)
        return Operation(op, (operand,)) if value is None else constant(_OF_NUMBERS[op](value))
    if operand.kind is not wanted:
        raise InvalidQuestion(f"'{op}' needs {wanted}, and {_described(operand)}.")
    return Operation(op, (operand,))


def _require_domain(op: Op, operand: Expression) -> None:
    """Refuse a function of values for which it is not a number: no row may decide that."""
    low, high = range_of(operand)
    match op:
        case Op.LN:
            fits = low > 0 and math.isfinite(high)
        case Op.EXP:
            fits = high <= MOST_EXPONENT
        case _:
            fits = low >= 0
    if not fits:
        wanted, example = _DOMAINS[op]
        inside = _shortened_text(operand)
        ends = [numeral(end) if math.isfinite(end) else "no known bound" for end in (low, high)]
        raise NotBounded(
            f"'{op}' needs a value whose range {wanted}, and that of {inside} is from {ends[0]} "
            f"to {ends[1]}; write {op}(clip({inside}, {example})) with ends of your own, or "
            "declare the bounds of its columns."
        )


def extreme(op: Op, operands: Sequence[Expression]) -> Expression:
    """LEAST or GREATEST of numbers; NULL if one of them is."""
    numbers = [as_number(operand, f"'{op}'") for operand in operands]
    flat = _flat(op, numbers)
    return flat[0] if len(flat) == 1 else Operation(op, tuple(flat))


def clip(operand: Expression, low: float, high: float) -> Expression:
    """The nearest number inside [low, high]; NULL stays NULL."""
    operand = as_number(operand, "'clip'")
    lower, upper = constant(low), constant(high)
    if not low <= high:
        raise InvalidQuestion("'clip' needs a low bound that is not above its high bound.")
    if isinstance(operand, Operation) and operand.op is Op.CLIP:
        inner, *ends = operand.args
        return clip(inner, *(min(max(range_of(end).low, low), high) for end in ends))
    value = _value(operand)
    if value is not None:
        return constant(min(max(value, low), high))
    own = range_of(operand)
    if not own.within(Range(low, high)):
        return Operation(Op.CLIP, (operand, lower, upper))
    if not shows_column(operand):
        return operand
    # Left out, it would no longer say that declared bounds are not applied to what is inside.
    return Operation(Op.CLIP, (operand, constant(own.low), constant(own.high)))


def coalesce(operands: Sequence[Expression]) -> Expression:
    """The first operand that is not NULL."""
    distinct: list[Expression] = []
    for each in _lifted(Op.COALESCE, [_condition_again(operand) for operand in operands]):
        if each not in distinct:
            distinct.append(each)
        if isinstance(each, Constant):
            break  # nothing after a constant is ever reached
    return (
        distinct[0]
        if len(distinct) == 1
        else Operation(Op.COALESCE, _one_kind(distinct, "'coalesce'"))
    )


def case(
    branches: Sequence[tuple[Expression, Expression | None]], otherwise: Expression | None
) -> Expression:
    """The value of the first branch whose condition is true, else `otherwise`; None is NULL."""
    conditions: list[Expression] = []
    values: list[Expression | None] = []
    for condition, value in branches:
        when = _condition(condition, "'when'")
        if when == TRUE:
            otherwise = value
            break
        if when != FALSE:
            conditions.append(when)
            values.append(value)
    values.append(otherwise)
    if all(value is None for value in values):
        raise InvalidQuestion("'case' gives NULL in every row.")
    of_one_kind = _one_kind([value for value in values if value is not None], "'case'")
    missing = Constant(of_one_kind[0].kind, None)
    remaining = iter(of_one_kind)
    results = [missing if value is None else next(remaining) for value in values]
    pairs = zip(conditions, results[:-1], strict=True)
    args = [each for pair in pairs for each in pair]
    return Operation(Op.CASE, (*args, results[-1])) if args else results[-1]


def where_equal(expression: Expression, number: float) -> Expression:
    """A condition that is true in the rows where the expression is this number, and only there.

    Elsewhere it is false or NULL, which counts for the same. Where the expression chooses among
    few numbers, as ``case when a then 1 else 0 end`` does, it is made of what it chooses by: an
    engine need not compute a number for every row and compare it.
    """
    match expression:
        case Constant(value=value):
            return constant(value == number)
        case Operation(Op.CASE, (condition, then, otherwise)):
            elsewhere = negation(coalesce([condition, FALSE]))
            return disjunction(
                [
                    conjunction([condition, where_equal(then, number)]),
                    conjunction([elsewhere, where_equal(otherwise, number)]),
                ]
            )
        case _:
            return comparison(Op.EQUAL, expression, constant(number))


def _described(operand: Expression) -> str:
    if isinstance(operand, Constant):
        return f"{operand.kind} was given"
    return f"{_shortened_text(operand)} is {operand.kind}"


def _shortened_text(operand: Expression) -> str:
    text = text_of(operand)
    return text if len(text) <= 60 else text[:57] + "..."


def _condition(operand: Expression, place: str) -> Expression:
    if operand.kind is not ValueKind.BOOLEAN:
        raise InvalidQuestion(f"{place} needs a condition, and {_described(operand)}.")
    return operand


def _value(operand: Expression) -> float | None:
    """The number a constant holds."""
    if isinstance(operand, Constant) and isinstance(operand.value, float):
        return operand.value
    return None


def _condition_again(operand: Expression) -> Expression:
    """The condition inside an indicator: beside other conditions it need not be a number."""
    if isinstance(operand, Operation) and operand.op is Op.INDICATOR:
        return operand.args[0]
    return operand


def _one_kind(operands: Sequence[Expression], place: str) -> tuple[Expression, ...]:
    """Operands of one kind; conditions become numbers only where a number is among them."""
    operands = tuple(_condition_again(operand) for operand in operands)
    kinds = {operand.kind for operand in operands}
    if len(kinds) == 1:
        return operands
    if kinds == {ValueKind.NUMBER, ValueKind.BOOLEAN}:
        return tuple(as_number(operand, place) for operand in operands)
    different = [next(each for each in operands if each.kind is kind) for kind in sorted(kinds)]
    mixed = " with ".join(f"{each.kind} ({_shortened_text(each)})" for each in different)
    raise InvalidQuestion(f"{place} mixes {mixed}; {_unmixed(different)}")


def _unmixed(operands: Sequence[Expression]) -> str:
    """How values of different kinds are made comparable."""
    written = [each for each in operands if isinstance(each, Constant)]
    columns = [_shortened_text(each) for each in operands if not isinstance(each, Constant)]
    match [*(each.kind for each in written), *columns]:
        case [ValueKind.TEXT, column] if isinstance(written[0].value, str):
            return f"{column} is compared with {_plain_value(written[0].value, operands)}."
        case [ValueKind.NUMBER, column] if ValueKind.TEXT in (each.kind for each in operands):
            return (
                f"text is compared with text in single quotes; where {column} holds numbers that "
                "are written like '2,071.68', open the CSV file with thousands=',' (--thousands; "
                "decimal=',' for 0,5), or make them numbers before the table is opened: "
                f"pl.col({column!r}).str.replace_all(',', '').cast(pl.Float64)."
            )
        case [ValueKind.NUMBER, column] if ValueKind.MOMENT in (each.kind for each in operands):
            return f"a date is compared with a date, as in {column} > '2013-01-31'."
    return "compare values of one kind, as in origin = 'JFK', delay > 15 or late = true."


def _plain_value(value: str, operands: Sequence[Expression]) -> str:
    """What a text beside numbers or conditions was meant to be, without its quotes."""
    if any(each.kind is ValueKind.BOOLEAN for each in operands):
        return "true or false, without quotes"
    return "a number without quotes" + (f": {value}" if value.replace(".", "").isdigit() else "")


def _comparable(left: Expression, right: Expression, op: Op) -> tuple[Expression, ...]:
    if op not in (Op.EQUAL, Op.UNEQUAL):
        if left.kind is right.kind is ValueKind.NUMBER:
            return left, right
        if {left.kind, right.kind} <= {ValueKind.BOOLEAN, ValueKind.NUMBER}:
            return as_number(left, f"'{op}'"), as_number(right, f"'{op}'")
    return _one_kind((left, right), f"'{op}'")


def _holds(op: Op, left: Constant, right: Constant) -> bool:
    # Text is ordered by its bytes, as the engines do.
    a, b = (
        each.value.encode() if isinstance(each.value, str) else each.value for each in (left, right)
    )
    compared: dict[Op, Callable[[], bool]] = {
        Op.EQUAL: lambda: a == b,
        Op.UNEQUAL: lambda: a != b,
        Op.BELOW: lambda: a < b,  # type: ignore[operator]
        Op.AT_MOST: lambda: a <= b,  # type: ignore[operator]
        Op.ABOVE: lambda: a > b,  # type: ignore[operator]
        Op.AT_LEAST: lambda: a >= b,  # type: ignore[operator]
    }
    return compared[op]()


def _sum(left: Expression, right: Expression) -> Expression:
    """left + right; where one of them is negative it is written as a difference."""
    folded = _fold(Op.ADD, left, right)
    if folded is not None:
        return folded
    for first, second in ((left, right), (right, left)):
        value = _value(second)
        if isinstance(second, Operation) and second.op is Op.NEGATE:
            return Operation(Op.SUBTRACT, (first, second.args[0]))
        if value is not None and value < 0:
            return Operation(Op.SUBTRACT, (first, constant(-value)))
    return Operation(Op.ADD, _sorted_pair(left, right))


def _fold(op: Op, left: Expression, right: Expression) -> Constant | None:
    a, b = _value(left), _value(right)
    if a is None or b is None or (op is Op.DIVIDE and b == 0):
        return None
    result = a + b if op is Op.ADD else a * b if op is Op.MULTIPLY else a / b
    return constant(result) if math.isfinite(result) else None


def _sorted_pair(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """By text; but what is long stands first: its text then needs no parentheses around it."""
    heights = [each.height if isinstance(each, Operation) else 0 for each in (left, right)]
    if max(heights) > _LONG and heights[0] != heights[1]:
        return (left, right) if heights[0] > heights[1] else (right, left)
    first, second = sorted((left, right), key=_order)
    return first, second


def _order(operand: Expression) -> tuple[bool, str]:
    """Constants last, then by text."""
    return isinstance(operand, Constant), text_of(operand)


def _is_before(first: Expression, second: Expression) -> bool:
    """Whether an operand stands before another, by their order; texts only where they decide."""
    if isinstance(first, Constant) != isinstance(second, Constant):
        return isinstance(second, Constant)
    return _order(first) < _order(second)


def _lifted(op: Op, operands: Sequence[Expression]) -> list[Expression]:
    """Operands, with the operands of nested operations of the same name in their place."""
    return [
        each
        for operand in operands
        for each in (
            operand.args if isinstance(operand, Operation) and operand.op is op else (operand,)
        )
    ]


def _flat(op: Op, operands: Sequence[Expression]) -> list[Expression]:
    """Operands with nested ones lifted, sorted, each once."""
    return sorted(set(_lifted(op, operands)), key=_order)


def _junction(op: Op, operands: Sequence[Expression], absorbing: Constant) -> Expression:
    flat = _flat(op, [_condition(operand, f"'{op}'") for operand in operands])
    if absorbing in flat:
        return absorbing
    conditions = [each for each in flat if not isinstance(each, Constant)]
    if not conditions:
        return negation(absorbing)
    return conditions[0] if len(conditions) == 1 else Operation(op, tuple(conditions))
