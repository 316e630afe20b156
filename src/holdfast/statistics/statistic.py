"""What one symbol can answer: a number of the sample, bounded, with a stated concentration.

A `Statistic` is measured through the door by itself. Everything else that people ask for (variance,
correlation, quantiles, differences of groups) is derived from the answers to several of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from holdfast.data.sample import Sample
from holdfast.data.sampling import Sampling
from holdfast.question.row import GRID_ERROR, RowValue
from holdfast.theory.base.concentration import Concentration

__all__ = ["ROUNDINGS", "Measured", "Statistic", "averaged", "row_error"]

ROUNDINGS = 2.0**-50  # of a range: what a few of them come to


@dataclass(frozen=True, slots=True)
class Measured:
    """What the sample says, exactly: numerator/denominator of the way from `low` to `high`.

    For an average, `count` is how many rows were averaged and `squares` the sum of their squared
    grid units.
    """

    numerator: int
    denominator: int
    count: int
    squares: int = 0

    @property
    def value(self) -> float:
        """The nearest double."""
        return self.numerator / self.denominator


class Statistic(Protocol):
    """A frozen value; everything but `read` is public."""

    @property
    def text(self) -> str:
        """The canonical text: two questions are the same question when their texts are equal."""
        ...

    @property
    def low(self) -> float:
        """The least value it can have."""
        ...

    @property
    def high(self) -> float:
        """The greatest value it can have."""
        ...

    @property
    def unbounded(self) -> bool:
        """Whether the truth may be beyond `low` and `high`, which are then those of a grid."""
        ...

    @property
    def row(self) -> RowValue | None:
        """The row value that is averaged; None for a statistic of the table as a whole."""
        ...

    def unit(self, n: int) -> float:
        """What a tolerance is a part of, as a part of the range: all of it, but without a range."""
        ...

    def rows(self, n: int) -> int:
        """How many of the table's n rows are averaged: a public number."""
        ...

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        """How far the sample's value may be from the truth, as a fraction of the range.

        Refused, in one sentence, where no theorem covers the way the rows came about.
        """
        ...

    @property
    def error(self) -> float:
        """A bound on |computed - exact|, a fraction of the range: the grid, or a few roundings."""
        ...

    def read(self, sample: Sample) -> Measured:
        """The value of a statistic of the table as a whole; inside the door only."""
        ...


def averaged(statistic: Statistic) -> RowValue:
    """The row value of an average."""
    if statistic.row is None:
        raise TypeError(f"{statistic.text} is not an average of row values")
    return statistic.row


def row_error(row: RowValue) -> float:
    """How far the average of a row value may be computed wrongly, as a fraction of its range."""
    return ROUNDINGS if row.is_condition else GRID_ERROR
