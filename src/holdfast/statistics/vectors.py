"""The mean of a vector of row values with a norm bound: a number for every coordinate.

A row whose vector is longer than the bound counts as the shorter vector in its direction whose
length is the bound squared over its own: the bound holds whatever the rows are, and a vector at the
bound stays as it is. Every row has all coordinates: of columns that may be missing, coalesce says
what counts.

A vector without a bound has a declared scale: E exp(t <u, x - E x>) <= exp(t^2 sigma^2/2) for every
t and every u of the unit ball of the dual norm (l2: every direction; l1: all choices of signs;
linf: every coordinate). Its coordinates are means of that scale.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import ClassVar, Literal, NamedTuple, get_args

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.data.sampling import Sampling, profile_of_rows
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question import build
from holdfast.question.declaring import Scale
from holdfast.question.expression import Expression, Op, numeral, text_of
from holdfast.question.parse import read_call
from holdfast.question.row import RowValue, has_value, row_value
from holdfast.statistics.entry import (
    Call,
    Entry,
    Table,
    TableCall,
    What,
    number_of,
    require_all_rows,
    require_every_row,
)
from holdfast.statistics.statistic import Measured, measure, row_error
from holdfast.theory.base.concentration import Concentration

Norm = Literal["l1", "l2", "linf"]
_NAMES: dict[Norm, str] = {"l1": "coordinate_l1", "l2": "coordinate"}
VECTOR = "vector_mean"  # the name of a call for all coordinates
_MOST = 256  # coordinates
_FORM = "vector_mean(l2, 1, x, y)."
_SIGMA = re.compile(r"sigma\s*=\s*(\S+)", re.IGNORECASE)
_ALLOWED = 'a list of values of a row, such as ["x", "y"]'


@dataclass(frozen=True, slots=True)
class Coordinate:
    """The mean of one coordinate of a vector whose norm is at most `bound` in every row."""

    unbounded: ClassVar[bool] = False

    vector: tuple[Expression, ...]
    bound: float
    place: int
    row: RowValue
    norm: Norm = "l2"

    @property
    def of_vector(self) -> tuple[object, ...]:
        """The vector that it is a coordinate of."""
        return self.norm, self.bound, self.vector

    @property
    def text(self) -> str:
        parts = [str(self.place), numeral(self.bound), *map(text_of, self.vector)]
        return f"{_NAMES[self.norm]}({', '.join(parts)})"

    @property
    def low(self) -> float:
        return -self.bound

    @property
    def high(self) -> float:
        return self.bound

    @property
    def columns(self) -> tuple[str, ...]:
        """Those it reads."""
        return self.row.columns

    @property
    def error(self) -> float:
        return row_error(self.row)

    def unit(self, n: int) -> float:  # noqa: ARG002 - all of the range
        return 1.0

    def rows(self, n: int) -> int:
        return n

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        return profile_of_rows(sampling, n)

    def read(self, sample: Sample) -> Measured:
        (measured,) = measure(sample, [self])
        return measured


def vector_mean(
    values: Sequence[What],
    *,
    norm: Norm = "l2",
    bound: float | None = None,
    sigma: float | None = None,
) -> TableCall:
    """The mean of a vector of row values whose norm is at most `bound`: an answer each.

    `norm` is "l2" or "l1" (rows that are longer count less, so that none is beyond it) or "linf"
    (each value is cut to [-bound, bound]). In place of a bound a scale may be declared: `sigma`,
    with which a row's vector is sub-Gaussian in every direction ("l2"), for all choices of signs
    ("l1") or in every coordinate ("linf"). All coordinates are released together.
    """
    if (bound is None) == (sigma is None):
        raise InvalidArgument(
            f"bound is {bound!r} and sigma is {sigma!r}; a vector has a bound on its norm, or a "
            "declared scale: give one of them."
        )
    return TableCall(
        VECTOR, (norm, bound if sigma is None else Scale(sigma).text, *_values_of(values))
    )


def coordinate(place: int, values: Sequence[What], *, bound: float) -> Call:
    """One coordinate of the mean of a vector whose l2 norm is at most `bound`, counted from 1."""
    return Call("coordinate", (place, bound, *_values_of(values)))


def coordinate_l1(place: int, values: Sequence[What], *, bound: float) -> Call:
    """One coordinate of the mean of a vector whose l1 norm is at most `bound`, counted from 1."""
    return Call("coordinate_l1", (place, bound, *_values_of(values)))


def _values_of(values: object) -> list[What]:
    if isinstance(values, str):
        raise InvalidArgument(f"values is {values!r}; it must be {_ALLOWED}.")
    return require.items("values", values, _ALLOWED)


def coordinates(call: TableCall, table: Table) -> list[tuple[str, Call]]:
    """The statistics of a vector's coordinates, each with its value as it was written."""
    norm, limit, vector = _declared(call, table)
    labels = [
        value if isinstance(value, str) else text_of(component)
        for value, component in zip(call.arguments[2:], vector, strict=True)
    ]
    if isinstance(limit, Scale):
        return list(
            zip(labels, (Call("avg", (each,), scale=limit) for each in vector), strict=True)
        )
    bound = limit
    if norm == "linf":
        cut = (Call("avg", (build.clip(each, -bound, bound),)) for each in vector)
        return list(zip(labels, cut, strict=True))
    places = range(1, len(vector) + 1)
    return [
        (label, Call(_NAMES[norm], (place, bound, *vector)))
        for place, label in zip(places, labels, strict=True)
    ]


def vector_text(call: TableCall, table: Table) -> str:
    """The canonical text of all coordinates together."""
    norm, limit, vector = _declared(call, table)
    size = limit.text if isinstance(limit, Scale) else numeral(limit)
    return f"{VECTOR}({', '.join([norm, size, *map(text_of, vector)])})"


class WholeVector(NamedTuple):
    """A vector by its text: its norm, how many coordinates it has, and its scale if it has one."""

    norm: str
    coordinates: int
    sigma: float | None

    @classmethod
    def of_text(cls, text: str) -> WholeVector:
        """The vector that a canonical text names."""
        norm, size, *values = read_call(text).arguments
        declared = _SIGMA.fullmatch(size)
        return cls(norm, len(values), None if declared is None else float(declared[1]))


def _declared(call: TableCall, table: Table) -> tuple[Norm, float | Scale, tuple[Expression, ...]]:
    """The norm, the bound or scale, and the values; refused where they make no vector."""
    if call.where is not None:
        raise InvalidQuestion("vector_mean is asked of all rows: it has no where.")
    if len(call.arguments) < 2:
        raise InvalidQuestion(
            f"vector_mean needs a norm, a bound and values; write it like {_FORM}"
        )
    norm, size, *values = call.arguments
    require.one_of("norm", get_args(Norm), norm)
    declared = _SIGMA.fullmatch(size) if isinstance(size, str) else None
    if declared is not None:
        scale = Scale(require.positive("sigma", number_of("sigma", declared[1])))
        return norm, scale, _vector(values, table, bounded=False)
    return norm, require.positive("bound", number_of("bound", size)), _vector(values, table)


def _vector(
    values: Sequence[What], table: Table, *, bounded: bool = True
) -> tuple[Expression, ...]:
    if not 1 <= len(values) <= _MOST:
        raise InvalidQuestion(
            f"A vector has 1 to {_MOST} coordinates, and this one has {len(values)}; write it like "
            + _FORM
        )
    numbers = [
        build.as_number(table.expression(each, bounded=bounded), "a vector") for each in values
    ]
    for each in numbers:
        require_every_row("A mean of vectors", has_value(each))
    if len(set(numbers)) < len(numbers):
        raise InvalidQuestion("A vector names each value once; leave out the repeated one.")
    return tuple(numbers)


def _bind_coordinate(call: Call, table: Table, norm: Norm = "l2") -> Coordinate:
    require_all_rows(call)
    number, given, *values = call.arguments
    bound = require.positive("bound", number_of("bound", given))
    vector = _vector(values, table)
    place = number_of("place", number)
    if place not in range(1, len(vector) + 1):
        raise InvalidQuestion(
            f"A vector of {len(vector)} values has no coordinate {numeral(place)}; they are "
            "numbered from 1."
        )
    whole = int(place)
    return Coordinate(vector, bound, whole, _shortened(vector, bound, whole, norm), norm)


def _shortened(vector: tuple[Expression, ...], bound: float, place: int, norm: Norm) -> RowValue:
    """One coordinate of the vector with its norm kept to the bound."""
    own, most = vector[place - 1], build.constant(bound * bound)
    if norm == "l1":
        length = _total([build.function(Op.ABS, each) for each in vector])
        square = build.arithmetic(Op.MULTIPLY, length, length)
    else:
        square = _total([build.arithmetic(Op.MULTIPLY, each, each) for each in vector])
    factor = build.arithmetic(Op.DIVIDE, most, square)
    longer = build.arithmetic(Op.MULTIPLY, own, factor)
    inside = build.case([(build.comparison(Op.AT_MOST, square, most), own)], longer)
    return replace(row_value(build.clip(inside, -bound, bound)), low=-bound, high=bound)


def _total(terms: Sequence[Expression]) -> Expression:
    return reduce(lambda first, second: build.arithmetic(Op.ADD, first, second), terms)


VECTORS = (
    Entry(
        "coordinate",
        "coordinate(place, bound, x, y)",
        "one coordinate of the mean of a vector whose l2 norm is at most the bound",
        (3, _MOST + 2),
        _bind_coordinate,
    ),
    Entry(
        "coordinate_l1",
        "coordinate_l1(place, bound, x, y)",
        "one coordinate of the mean of a vector whose l1 norm is at most the bound",
        (3, _MOST + 2),
        partial(_bind_coordinate, norm="l1"),
    ),
)
