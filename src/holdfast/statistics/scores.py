"""Scores of a probability that no row expression can spell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.data.evaluate import evaluate
from holdfast.question.expression import Expression, column_names
from holdfast.question.text import number, text

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["LogLoss"]


@dataclass(frozen=True, slots=True)
class LogLoss:
    """-ln of the probability given to the label, taken as at least `floor`: a function of a row."""

    probability: Expression
    positive: Expression
    floor: float

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted({*column_names(self.probability), *column_names(self.positive)}))

    @property
    def text(self) -> str:
        return f"log_loss({text(self.probability)}, {text(self.positive)}, {number(self.floor)})"

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        import numpy as np

        probability, positive = evaluate(frame, [self.probability, self.positive])
        chance = probability.to_numpy()
        given = np.where(positive.fill_null(value=False).to_numpy(), chance, 1.0 - chance)
        return -np.log(np.maximum(given, self.floor))
