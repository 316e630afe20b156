"""The root of the mean squared difference of two values, from the answer to one mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

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
from holdfast.statistics.entry import By, Call, Entry, Table, TableCall, What, grouped
from holdfast.statistics.mean import Average
from holdfast.statistics.spelling import score_number
from holdfast.theory.base.propagation import std_interval

__all__ = ["RMSE", "RootMeanSquaredError", "rmse"]


@dataclass(frozen=True, slots=True)
class RootMeanSquaredError:
    """The root of the mean squared difference of two values."""

    first: RowValue
    second: RowValue
    square: Average | Conditional

    @property
    def text(self) -> str:
        return f"rmse({self.first.text}, {self.second.text}){self.square.among}"

    @property
    def low(self) -> float:
        return 0.0

    @property
    def high(self) -> float:
        return std_interval(0.0, self.square.high).high

    @property
    def stages(self) -> Stages:
        return stages_of([self.square])

    def join(self, parts: Sequence[Estimate]) -> Joined:
        (square,) = estimated_means([self.square], parts)
        return Joined.within(
            math.sqrt(max(0.0, square.value)),
            std_interval(max(0.0, square.interval.low), max(0.0, square.interval.high)),
            self.low,
            self.high,
        )

    def favourable(self, known: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        ends = (self.square.low, self.square.high)
        return [parts_with([self.square], [end], known) for end in ends]

    def last_guess(self, guess: float, others: Sequence[float]) -> float:
        return last_part([self.square], guess * guess, others)


@overload
def rmse(prediction: What, label: What, *, where: str | None = None) -> Call: ...
@overload
def rmse(prediction: What, label: What, *, where: str | None = None, by: By) -> TableCall: ...
def rmse(
    prediction: What, label: What, *, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """The root of the mean squared difference of a prediction and the label, in their unit."""
    return grouped(Call("rmse", (prediction, label), where), by)


def _bind_rmse(call: Call, table: Table) -> RootMeanSquaredError:
    first, second = sorted(map(table.value, call.arguments), key=lambda value: value.text)
    square = table.mean(_squared_difference(first, second), table.where(call.where), first, second)
    return RootMeanSquaredError(first, second, square)


def _squared_difference(first: RowValue, second: RowValue) -> RowValue:
    """Missing where one of them is: such rows are left out."""
    gap = build.arithmetic(Op.SUBTRACT, *map(score_number, (first, second)))
    size = build.function(Op.ABS, gap)
    return row_value(build.arithmetic(Op.MULTIPLY, size, size))  # which is known not to be below 0


RMSE = (
    Entry(
        "rmse",
        "rmse(prediction, label)",
        "the root of the mean squared difference from the label",
        (2, 2),
        _bind_rmse,
    ),
)
