"""The geometric mean of a value above 0: e to the mean of its logarithm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from holdfast import require
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
from holdfast.statistics.entry import (
    Bounds,
    By,
    Call,
    Entry,
    Table,
    TableCall,
    What,
    grouped,
    pair_of,
)
from holdfast.statistics.mean import Average
from holdfast.statistics.spelling import score_number
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_down, round_up


@dataclass(frozen=True, slots=True)
class GeometricMean:
    """The geometric mean of a value whose range begins above 0."""

    value: RowValue
    logarithm: Average | Conditional

    @property
    def text(self) -> str:
        return f"geometric_mean({self.value.text}){self.logarithm.among}"

    @property
    def low(self) -> float:
        return self.value.low

    @property
    def high(self) -> float:
        return self.value.high

    @property
    def stages(self) -> Stages:
        return stages_of([self.logarithm])

    def join(self, parts: Sequence[Estimate]) -> Joined:
        # exp rises, and is computed within one or two units in the last place.
        (mean,) = estimated_means([self.logarithm], parts)
        low, high = map(math.exp, mean.interval)
        ends = Interval(round_down(low), round_up(high))
        return Joined.within(math.exp(mean.value), ends, self.low, self.high)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        ends = (self.logarithm.low, self.logarithm.high)
        return [parts_with([self.logarithm], [end], estimates) for end in ends]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        return last_part([self.logarithm], math.log(require.positive("guess", guess)), values)


@overload
def geometric_mean(what: What, *, bounds: Bounds = None, where: str | None = None) -> Call: ...
@overload
def geometric_mean(
    what: What, *, bounds: Bounds = None, where: str | None = None, by: By
) -> TableCall: ...
def geometric_mean(
    what: What, *, bounds: Bounds = None, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """The geometric mean of a value whose bounds are above 0."""
    return grouped(Call("geometric_mean", (what,), where, pair_of(bounds)), by)


def _bind_geometric_mean(call: Call, table: Table) -> GeometricMean:
    (what,) = call.arguments
    value = table.value(what, call.bounds)
    logarithm = row_value(build.function(Op.LN, score_number(value)))
    return GeometricMean(value, table.mean(logarithm, table.where(call.where), value))


GEOMETRIC_MEAN = (
    Entry(
        "geometric_mean",
        "geometric_mean(value)",
        "e to the mean of the logarithm of a value above 0",
        (1, 1),
        _bind_geometric_mean,
    ),
)
