"""Scores of predictions: log loss, which no row expression can spell, and F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.data.evaluate import evaluate
from holdfast.question import build
from holdfast.question.expression import Expression, Op, column_names
from holdfast.question.row import RowValue, row_value
from holdfast.question.text import numeral, text_of
from holdfast.statistics.derived import Stages, as_counted, ratio_value
from holdfast.statistics.mean import Mean, expression_of
from holdfast.statistics.play import Estimate, Joined
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import ratio_interval

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["F1Score", "LogLoss", "squared_distance"]


def squared_distance(probability: RowValue, outcome: RowValue) -> RowValue:
    """Brier's score of a row, missing values counted."""
    distance = build.arithmetic(Op.SUBTRACT, as_counted(probability), as_counted(outcome))
    # A product of absolute values, so that its range is known not to be below 0.
    size = build.function(Op.ABS, distance)
    return row_value(build.arithmetic(Op.MULTIPLY, size, size))


@dataclass(frozen=True, slots=True)
class LogLoss:
    """-ln of the probability given to the label, taken as at least `floor`.

    A function of a row that no row expression can spell.
    """

    probability: Expression
    positive: Expression
    floor: float

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted({*column_names(self.probability), *column_names(self.positive)}))

    @property
    def text(self) -> str:
        trees = f"{text_of(self.probability)}, {text_of(self.positive)}"
        return f"log_loss({trees}, {numeral(self.floor)})"

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        import numpy as np

        probability, positive = evaluate(frame, [self.probability, self.positive])
        chance = probability.to_numpy()
        given = np.where(positive.fill_null(value=False).to_numpy(), chance, 1.0 - chance)
        return -np.log(np.maximum(given, self.floor))


@dataclass(frozen=True, slots=True)
class F1Score:
    """2 P(both)/(P(predicted) + P(labelled)), by the residual of the ratio around 1/2."""

    predicted: RowValue
    labelled: RowValue

    @property
    def text(self) -> str:
        return f"f1({self.predicted.text}, {self.labelled.text})"

    @property
    def low(self) -> float:
        return 0.0

    @property
    def high(self) -> float:
        return 1.0

    @property
    def stages(self) -> Stages:
        both = build.conjunction([expression_of(self.predicted), expression_of(self.labelled)])
        either = build.disjunction([expression_of(self.predicted), expression_of(self.labelled)])

        def scored(hit: float, miss: float) -> Mean:
            branches = [(both, build.constant(hit)), (either, build.constant(miss))]
            return Mean(row_value(build.case(branches, build.constant(0.0))))

        # 2 hits - (predicted + labelled)/2: 1 for a hit, -1/2 for a miss.
        return ((scored(2.0, 1.0),), (scored(1.0, -0.5),))

    def join(self, parts: Sequence[Estimate]) -> Joined:
        total, rest = parts
        if total.interval.high <= 0.0:
            return Joined(None, Interval(0.0, 1.0))
        found = ratio_interval(0.5, *rest.interval, *total.interval)
        return Joined.within(ratio_value(0.5, rest, total), found, 0.0, 1.0)

    def favourable(self, known: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        most = 2.0 if known[0] is None else known[0].interval.high
        misses = min(1.0, most)  # 1 for each miss, and 2 for each hit
        return [(most, most / 2), (misses, -misses / 2)]

    def last_guess(self, guess: float, others: Sequence[float]) -> float:
        (total,) = others
        return (guess - 0.5) * total
