"""A total, bounded number for every row: what an engine sums and a statistic is made of.

**Missing values.** Statistics leave out the rows whose value is NULL (or NaN, or divided by zero):
they are those of the group where it is `known`. What is summed here is total all the same, for what
is never left out (a prediction that is missing, a function of Python that fails): a condition that
is NULL counts as false, a number as 0, or as the bound nearest to 0 where the range does not hold
0. ``coalesce(value, ...)`` chooses another number, for rows that would be left out too.

**The grid.** Sums are exact integers. Each value is rounded to the nearest multiple of a power of
two (half-way: to the even one), the *step*, of which the range holds between 2^31 and 2^32; and
counts the steps between it and low. The least value counts 0 and the greatest `top` steps; only the
sum of all rows is turned into grid units, of which a row has 2^30: ``sum * 2^30 // top``. A true
condition is exactly 2^30 units. Where low = high every value counts 0.

A power of two, because to divide by it is exact in doubles, and adding 2^52 steps to a double
rounds it: this makes an exact sum nearly as cheap as an inexact one.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from holdfast.errors import InvalidQuestion, NotBounded
from holdfast.question import build
from holdfast.question.bounds import Range, elementary_error, range_of, unbounded_columns
from holdfast.question.expression import (
    Column,
    ColumnType,
    Constant,
    Expression,
    Op,
    Operation,
    ValueKind,
    bottom_up,
    column_names,
    identifier,
    numeral,
    subtrees,
    text_of,
)

# Where the value of a row expression is known: missing values are left out of every statistic.
#
# Three-valued logic decides: a comparison is unknown where one of its sides is, and AND and OR
# where what is known does not settle them. Only columns that may be missing make a value unknown,
# and a division by what may be zero; what infinities leave undefined (inf - inf) is no missing
# value.


_LOGIC = (Op.AND, Op.OR)


@bottom_up
def may_be_missing(expression: Expression) -> bool:
    """Whether a row may have no value: by its columns, or by what it computes."""
    match expression:
        case Column(nullable=nullable):
            return nullable
        case Constant(value=value):
            return value is None
    op, args = expression.op, expression.args
    if op is Op.IS_NULL:
        return False
    if op is Op.COALESCE:
        return all(map(may_be_missing, args))
    if op is Op.CASE:
        return any(map(may_be_missing, (*args[1:-1:2], args[-1])))
    return _may_fail(expression) or any(map(may_be_missing, args))


def _may_fail(node: Operation) -> bool:
    """Whether it may have no value where all its operands have one."""
    if node.op is not Op.DIVIDE:
        return False
    divisor = range_of(node.args[1])
    return divisor.low <= 0 <= divisor.high


@bottom_up
def may_be_undefined(expression: Expression) -> bool:
    """Whether infinities may leave a row without a value that is not missing: inf - inf, 0 * inf.

    Such a row is not left out: neither a condition nor its opposite holds in it.
    """
    if not isinstance(expression, Operation):
        return False
    if expression.op in _ARITHMETIC:
        infinite = [_may_be_infinite(each) for each in expression.args]
        zero = any(range_of(each).low <= 0 <= range_of(each).high for each in expression.args)
        if all(infinite) or (any(infinite) and zero and expression.op is Op.MULTIPLY):
            return True
    return any(map(may_be_undefined, expression.args))


@bottom_up
def _may_be_infinite(expression: Expression) -> bool:
    if isinstance(expression, Column):
        return expression.type is ColumnType.FLOAT
    if not isinstance(expression, Operation) or range_of(expression).finite:
        return False
    return any(map(_may_be_infinite, expression.args))


_ARITHMETIC = (Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE)


@bottom_up
def has_value(expression: Expression) -> Expression:
    """The condition that a row has a value; TRUE where every row has one."""
    if not may_be_missing(expression):
        return build.TRUE
    if isinstance(expression, Operation) and not _may_fail(expression):
        parts = [has_value(each) for each in expression.args]
        if expression.op in _LOGIC:
            if len(set(parts)) == 1:
                return parts[0]  # all are known in the same rows
        elif expression.op not in (Op.CASE, Op.COALESCE):
            return build.conjunction(parts)
    return build.negation(build.is_null(expression))


def is_decided_by_values(condition: Expression) -> bool:
    """Whether the rows where a condition is known are the same whatever its constants are.

    In ``x > 5 and late`` a row without `late` is settled by an x of at most 5, and not by others.
    """
    return not any(
        isinstance(each, Operation) and each.op is Op.IS_NULL and _is_logic(each.args[0])
        for each in subtrees(has_value(condition))
    )


def _is_logic(expression: Expression) -> bool:
    return isinstance(expression, Operation) and expression.op in _LOGIC


if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray


GRID = 2**30
# A bound on |average computed - average of the values|, as a fraction of the range. The value, low
# and high are off by a, b and c steps, each at most 1/2; with f the value's place in the range its
# row is off by (a - (1 - f) b - f c) / top, so by at most 1 / top <= 1 / (2^31 - 2). To round the
# sum down costs at most 2^-30 of a row: of two or more, 2^-31 of the average (and from a single row
# nothing follows but the range). The other 2^-31 is room for `elementary_error`, of ln and exp,
# which may be half of it. The rest is for doubles: a difference to low is rounded.
GRID_ERROR = 2.0**-30 + 2.0**-31 + 2.0**-50
_ROUGHEST = 2.0**-32  # error of ln and exp, as a fraction of the range

_STEPS = 32  # the width is below 2^32 steps, and at least half of that
_FROM_ZERO = 2.0**50  # doubles of up to this many steps can be counted from 0
_NARROWEST, _WIDEST = 2.0**-980, 2.0**1000

_ONE_OR_ZERO = (build.constant(1.0), build.constant(0.0))


class BatchFunction(Protocol):
    """Something other than a row expression that gives a number for every row of a batch."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        ...

    @property
    def text(self) -> str:
        """Its identity."""
        ...

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """One number for each row; it may fail, and NaN is a missing value."""
        ...


@dataclass(frozen=True, slots=True)
class Lattice:
    """Steps of a power of two, counted from the double `origin`: low is at `first`.

    The origin is 0, or low where 0 is too many steps away. All values of the range are at most
    2^50 steps from it, and their steps from low are 0, 1, ..., `top`.
    """

    origin: float
    step: float
    first: int
    top: int

    def steps(self, value: float) -> int:
        """The steps from low to a value of the range: what engines compute, for one number."""
        return round((value - self.origin) / self.step) - self.first

    @property
    def shift(self) -> float:
        """Added to a value minus the origin, it leaves the steps, rounded, in the last bits.

        One more step is then one more unit of the double's 64 bits, read as an integer.
        """
        return 1.5 * 2.0**52 * self.step

    @property
    def code_of_low(self) -> int:
        """That integer for the lower end of the range."""
        (bits,) = struct.unpack("<q", struct.pack("<d", self.shift))
        return int(bits) + self.first

    def moments(self, total: int, squares: int) -> tuple[int, int]:
        """Sums of steps and of their squares over all rows, in grid units.

        The first is rounded down and the second up: a variance made of them is not below that of
        the steps, whichever number of rows it is about.
        """
        if self.top == 0:
            return 0, 0
        return total * GRID // self.top, -(-squares * GRID**2 // self.top**2)


_OF_CONDITION = Lattice(origin=0.0, step=1.0, first=0, top=1)


def _grid_of(low: float, high: float) -> Lattice:
    width = high - low
    step = math.ldexp(1.0, math.frexp(width)[1] - _STEPS) if width else 1.0
    near = max(abs(low), abs(high)) <= _FROM_ZERO * step
    origin = 0.0 if near else low
    first = round((low - origin) / step)
    return Lattice(origin, step, first, round((high - origin) / step) - first)


@dataclass(frozen=True, slots=True)
class RowValue:
    """A number in [low, high] for every row, whatever the row holds.

    `source` says how it is computed, `text` is its identity. `is_condition`: only 0 and 1 occur.
    """

    source: Expression | BatchFunction
    low: float
    high: float
    text: str
    is_condition: bool
    # The rows that have a value: others are left out. A Python function counts every row.
    known: Expression = field(init=False, repr=False, compare=False)
    columns: tuple[str, ...] = field(init=False, repr=False, compare=False)  # those it reads

    def __post_init__(self) -> None:
        source = self.source
        if isinstance(source, Expression):
            all_known, columns = has_value(source), column_names(source)
        else:
            all_known, columns = build.TRUE, source.columns
        object.__setattr__(self, "known", all_known)
        object.__setattr__(self, "columns", columns)

    @property
    def missing(self) -> float:
        """What a missing value counts as that is not left out: the number nearest to 0."""
        return min(max(0.0, self.low), self.high)

    @property
    def grid(self) -> Lattice:
        """The grid its values are rounded to; a condition counts 1 where it is true."""
        return _OF_CONDITION if self.is_condition else _grid_of(self.low, self.high)


def row_value(expression: Expression) -> RowValue:
    """The total, bounded value of a row expression; refused where no bounds are known."""
    if expression.kind not in (ValueKind.BOOLEAN, ValueKind.NUMBER):
        raise InvalidQuestion(
            f"A number or a condition is needed, and {text_of(expression)[:60]} is "
            f"{expression.kind}; compare it, as in {_comparison_with(expression)}."
        )
    expression = _simplest(expression)
    if not column_names(expression):
        raise InvalidQuestion("The question uses no column, so its answer needs no data.")
    if expression.kind is ValueKind.BOOLEAN:
        return condition_row(expression)
    bounds = range_of(expression)
    if not bounds.finite:
        raise NotBounded(_how_to_bound(expression))
    check_width(bounds)
    if elementary_error(expression) > _ROUGHEST * (bounds.high - bounds.low):
        raise NotBounded(
            f"The range from {numeral(bounds.low)} to {numeral(bounds.high)} is too narrow for "
            "what is made of ln or exp, which are exact to one part in 2^51 only; choose wider "
            "bounds, and bound what is divided by or multiplied with."
        )
    return RowValue(
        source=expression,
        low=bounds.low,
        high=bounds.high,
        text=text_of(expression),
        is_condition=False,
    )


def _comparison_with(expression: Expression) -> str:
    """A condition about a value that is no number; a name in quotes is a text."""
    if isinstance(expression, Constant):
        return f"{expression.value} > 15, without quotes"
    value = "> '2013-01-31'" if expression.kind is ValueKind.MOMENT else "= 'AA'"
    return f"{text_of(expression)[:60]} {value}"


def condition_row(condition: Expression) -> RowValue:
    """1 in the rows where a condition holds, 0 where it does not or is NULL."""
    return RowValue(condition, 0.0, 1.0, text_of(condition), is_condition=True)


def check_width(bounds: Range) -> None:
    """Refuse ranges whose width or grid is beyond what doubles can hold."""
    width = bounds.high - bounds.low
    if width != 0 and not _NARROWEST <= width <= _WIDEST:
        raise NotBounded(
            f"The range from {numeral(bounds.low)} to {numeral(bounds.high)} is too wide or too "
            "narrow to average in; choose other bounds."
        )


def _simplest(expression: Expression) -> Expression:
    """The same value for every row, missing values counted, in fewer words.

    A 0/1 number is the condition it was made of, and ``coalesce`` to what a missing value counts
    as anyway is left out.
    """
    while isinstance(expression, Operation):
        args = expression.args
        if expression.op is Op.INDICATOR:
            expression = args[0]
        elif expression.op is Op.CASE and args[1:] == _ONE_OR_ZERO:
            holds = args[0]  # a condition that is unknown is one that does not hold
            expression = build.coalesce([holds, build.FALSE]) if may_be_missing(holds) else holds
        elif expression.op is Op.COALESCE and _is_what_missing_means(args):
            expression = build.coalesce(args[:-1])
        else:
            break
    return expression


def _is_what_missing_means(args: tuple[Expression, ...]) -> bool:
    last, rest_of = args[-1], build.coalesce(args[:-1])
    if may_be_missing(rest_of):
        return False  # without it, rows would be left out
    if last == build.FALSE:
        return True
    if not isinstance(last, Constant) or last.kind is not ValueKind.NUMBER:
        return False
    rest = range_of(rest_of)
    return last.value == min(max(0.0, rest.low), rest.high)


def _how_to_bound(expression: Expression) -> str:
    names = unbounded_columns(expression)
    if names:
        name = names[0]
        first = identifier(name)
        some = "column" if len(names) == 1 else "columns"
        return (
            f"No bounds are declared for {some} {', '.join(identifier(each) for each in names)}; "
            f"write clip({first}, low, high), give bounds=(low, high) (--bounds LOW HIGH), or "
            f"declare them once with schema={{{name!r}: (low, high)}} (--schema FILE at init). A "
            f"mean or std needs none if its scale is declared: mean({first}, sigma = 0.4)."
        )
    return (
        "The value has no finite bounds (a length, or a division by something that can be 0); "
        "wrap it in clip(..., low, high), or give bounds=(low, high)."
    )
