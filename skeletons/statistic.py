"""Skeleton of a statistic: the root mean square of a value, from the answer to one mean.

It follows from others (a `Derived`): it names its parts, and one theorem turns their intervals into
its own, on the ledger and where the parts are described. One that is measured by itself has the
`Statistic` protocol: see `statistics/mean.py`. No engine and no mechanism changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.question import build
from holdfast.question.expression import Op
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.derived import (
    Conditional,
    Estimate,
    Joined,
    Stages,
    estimated_means,
    last_part,
    parts_with,
    stages_of,
)
from holdfast.statistics.entry import Call, Entry, Table, What
from holdfast.statistics.mean import Average
from holdfast.statistics.spelling import score_number
from holdfast.theory.base.propagation import std_interval


@dataclass(frozen=True, slots=True)
class RootMeanSquare:
    """The root of the mean of a value's squares."""

    value: RowValue
    square: Average | Conditional  # Conditional: some rows may have no value, and are left out

    @property
    def text(self) -> str:
        # Its identity: two spellings of one statistic must come to one text.
        return f"root_mean_square({self.value.text}){self.square.among}"

    @property
    def low(self) -> float:
        return 0.0

    @property
    def high(self) -> float:
        # Rounded outwards, as every end is.
        return std_interval(0.0, self.square.high).high

    @property
    def stages(self) -> Stages:
        # The parts of a stage are asked together, a later stage after it.
        return stages_of([self.square])

    def join(self, parts: Sequence[Estimate]) -> Joined:
        # A theorem of `holdfast.theory` makes the interval; nothing here may be narrower.
        (square,) = estimated_means([self.square], parts)
        return Joined.within(
            math.sqrt(max(0.0, square.value)),
            std_interval(max(0.0, square.interval.low), max(0.0, square.interval.high)),
            self.low,
            self.high,
        )

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        # Values of the parts by which most would be said: if even those say nothing, it is refused.
        ends = (self.square.low, self.square.high)
        return [parts_with([self.square], [end], estimates) for end in ends]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        # What a guess of the whole says about the last part, given the values of the others.
        return last_part([self.square], guess * guess, values)


def root_mean_square(what: What, *, where: str | None = None) -> Call:
    """The root mean square of a value."""
    return Call("root_mean_square", (what,), where)


def _bind_root_mean_square(call: Call, table: Table) -> RootMeanSquare:
    # `table.mean` takes any where; `require_all_rows(call)` refuses one.
    (what,) = call.arguments
    value = table.value(what)
    return RootMeanSquare(value, table.mean(_squared(value), table.where(call.where)))


def _squared(value: RowValue) -> RowValue:
    # Missing where the value is, and such rows are left out.
    size = build.function(Op.ABS, score_number(value))  # whose square is known not to be below 0
    return row_value(build.arithmetic(Op.MULTIPLY, size, size))


ROOT_MEAN_SQUARE = (
    Entry(
        "root_mean_square",
        "root_mean_square(value)",  # how it is written, in the docs and in refusals
        "the root of the mean of a value's squares",
        (1, 1),  # the least and the most number of arguments
        _bind_root_mean_square,
    ),
)
