"""What a rule is, and what is read of the rows for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from holdfast.data.sample import Sample
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, row_value
from holdfast.theory.base.intervals import Interval

if TYPE_CHECKING:
    from holdfast.data.histogram import Histogram

__all__ = ["UNKNOWN", "Evidence", "Look", "Rule", "Symbols", "Told", "within"]

# What crosses the door: whole numbers, how many of them is known by the rule.
Symbols = tuple[int, ...]
UNKNOWN = Interval(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Told:
    """What symbols stand for, as fractions of the part's range.

    `value` is None where there was nothing to average. `rows` are the least and the greatest number
    of rows that it may be about.
    """

    value: float | None
    interval: Interval
    rows: tuple[int, int]

    def turned(self) -> Told:
        """1 minus a share; a difference with its sign changed."""
        low, high = self.interval
        value = None if self.value is None else 1.0 - self.value
        return Told(value, Interval(_below(1.0 - high), _above(1.0 - low)), self.rows)


def _below(number: float) -> float:
    return max(0.0, number - 2.0**-52)


def _above(number: float) -> float:
    return min(1.0, number + 2.0**-52)


def within(intervals: Sequence[Interval]) -> Interval:
    """What all of them hold: they are true together, and each holds the sample's value."""
    return Interval(max(each.low for each in intervals), min(each.high for each in intervals))


class Rule(Protocol):
    """A frozen value of plain public numbers: one event of Theorem O."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        ...

    @property
    def log_p(self) -> float:
        """ln of the probability with which it may fail."""
        ...

    @property
    def symbols(self) -> int:
        """How many symbols the described events leave: what an answer costs later asks."""
        ...

    def found(self, symbols: Symbols) -> Told:
        """What the symbols stand for; refused where they are not of the alphabet."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was read of the rows: exact sums in grid units, histograms, and whatever else."""

    sums: Sequence[int]
    histograms: Sequence[Histogram]
    sample: Sample
    key: bytes  # of partitions: the same for all questions of a ledger, and not of its rows


@dataclass(frozen=True, slots=True)
class Look:
    """A rule, what it needs of the rows, and how symbols come of that, inside the door."""

    rule: Rule
    symbols_of: Callable[[Evidence], Symbols]
    sums: tuple[RowValue, ...] = ()
    histograms: tuple[tuple[RowValue, Expression | None], ...] = ()
    others: tuple[RowValue, ...] = ()  # that it reads by itself

    @property
    def rows(self) -> tuple[RowValue, ...]:
        """Everything that an engine has to compute."""
        groups = (row_value(where) for _, where in self.histograms if where is not None)
        return (*self.sums, *(value for value, _ in self.histograms), *groups, *self.others)
