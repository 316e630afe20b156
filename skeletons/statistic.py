"""Skeleton of a statistic: the root of the mean squared error, from the answer to one mean.

It follows from others (a `Derived`): it names its parts, and one theorem turns their intervals into
its own. One that is measured by itself has the `Statistic` protocol: see `statistics/mean.py`.
No engine and no mechanism changes.
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
from holdfast.statistics.scores import score_number
from holdfast.theory.base.propagation import std_interval

__all__ = ["RMSE", "RootMeanSquare", "rmse"]


@dataclass(frozen=True, slots=True)
class RootMeanSquare:
    """The root of a mean of squares."""

    of: str  # what is written between the brackets
    square: Average | Conditional  # Conditional: some rows may have no value, and are left out

    @property
    def text(self) -> str:
        # Its identity: two spellings of one statistic must come to one text.
        return f"rmse({self.of}){self.square.among}"

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

    def favourable(self, known: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        # Values of the parts by which most would be said: if even those say nothing, it is refused.
        ends = (self.square.low, self.square.high)
        return [parts_with([self.square], [end], known) for end in ends]

    def last_guess(self, guess: float, others: Sequence[float]) -> float:
        # What a guess of the whole says about the last part, given the values of the others.
        return last_part([self.square], guess * guess, others)


def rmse(prediction: What, label: What, *, where: str | None = None) -> Call:
    """The root of the mean squared distance of a prediction from the label."""
    return Call("rmse", (prediction, label), where)


def _bind_rmse(call: Call, table: Table) -> RootMeanSquare:
    # `table.average` takes a where about design columns; `require_all_rows(call)` refuses any.
    prediction, label = (table.value(what) for what in call.arguments)
    square = table.average(_squared_error(prediction, label), table.where(call.where))
    return RootMeanSquare(f"{prediction.text}, {label.text}", square)


def _squared_error(prediction: RowValue, label: RowValue) -> RowValue:
    # Missing where one of them is, and such rows are left out.
    error = build.arithmetic(Op.SUBTRACT, score_number(prediction), score_number(label))
    size = build.function(Op.ABS, error)  # a product of absolute values is known not to be below 0
    return row_value(build.arithmetic(Op.MULTIPLY, size, size))


RMSE = (
    Entry(
        "rmse",
        "rmse(prediction, label)",  # how it is written, in the docs and in refusals
        "the root of the mean squared distance from the label",
        (2, 2),  # the least and the most number of arguments
        _bind_rmse,
    ),
)
