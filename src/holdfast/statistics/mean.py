"""Means: of all rows, and of a group of rows whose size is public."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.data.design import Group
from holdfast.data.sample import Sample
from holdfast.data.sampling import (
    Clustered,
    Declared,
    DependencyGraph,
    Independent,
    MarkovChain,
    MDependent,
    Sampling,
)
from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, row_value
from holdfast.question.text import numeral, text_of
from holdfast.statistics.measuring import measure
from holdfast.statistics.statistic import Measured, row_error
from holdfast.theory.base.concentration import BoundedMean, Concentration
from holdfast.theory.base.dependence import ClusteredRows, GraphMean, MDependentMean

__all__ = ["Average", "GroupMean", "Mean", "expression_of", "group_mean", "within_group"]


@dataclass(frozen=True, slots=True)
class Mean:
    """The average of a row value over all rows; `variance` is a bound that was declared for it."""

    row: RowValue
    variance: float | None = None

    @property
    def text(self) -> str:
        """The canonical text; a declared bound is part of what is asked."""
        if self.variance is None:
            return f"avg({self.row.text})"
        return f"avg({self.row.text}, variance <= {numeral(self.variance)})"

    @property
    def among(self) -> str:
        """Of which rows: of all."""
        return ""

    @property
    def low(self) -> float:
        return self.row.low

    @property
    def high(self) -> float:
        return self.row.high

    @property
    def unbounded(self) -> bool:
        return False

    @property
    def error(self) -> float:
        return row_error(self.row)

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:  # noqa: ARG002 - all of the range
        return 1.0

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        return sampling.profile(n)

    def read(self, sample: Sample) -> Measured:
        (measured,) = measure(sample, [self])
        return measured


@dataclass(frozen=True, slots=True)
class GroupMean:
    """The average of a value among the rows of a group whose size is public by design.

    `row` is the value inside the group and counts nothing outside, so that its sum is the group's.
    """

    value: RowValue
    condition: Expression
    row: RowValue
    group: Group

    @property
    def text(self) -> str:
        return f"avg({self.value.text}){self.among}"

    @property
    def among(self) -> str:
        """Of which rows, as the text of a statistic made of such means says it."""
        return f" where {text_of(self.condition)}"

    @property
    def low(self) -> float:
        return self.value.low

    @property
    def high(self) -> float:
        return self.value.high

    @property
    def unbounded(self) -> bool:
        return False

    @property
    def error(self) -> float:
        return row_error(self.row)

    def rows(self, n: int) -> int:  # noqa: ARG002 - the group's size, whatever the table's
        return self.group.size

    def unit(self, n: int) -> float:  # noqa: ARG002 - all of the range
        return 1.0

    def concentration(self, n: int, sampling: Sampling) -> Concentration:  # noqa: ARG002
        size, squares = self.group.size, self.group.squares
        match sampling:
            case Independent():
                return BoundedMean(size)
            case Clustered():
                return ClusteredRows(size, min(squares, size * size))
            case MDependent(m):
                # The rows of a group keep their places, so m + 1 classes of independent rows do.
                return MDependentMean(size, m)
            case DependencyGraph(degree):
                return GraphMean(size, min(degree, size))
            case MarkovChain() | Declared():
                raise InvalidQuestion(
                    "The declared dependence is about means of all rows, not of a group; open "
                    "the ledger with another sampling to ask about groups of design columns."
                )

    def read(self, sample: Sample) -> Measured:
        (measured,) = measure(sample, [self])
        return measured


Average = Mean | GroupMean


def group_mean(value: RowValue, condition: Expression, group: Group) -> GroupMean:
    """The mean of a value in a public group; refused for an empty one."""
    if group.size == 0:
        raise InvalidQuestion(
            f"No row of the design has {text_of(condition)}, so there is no group to ask about."
        )
    return GroupMean(value, condition, within_group(value, condition), group)


def within_group(value: RowValue, condition: Expression) -> RowValue:
    """The value where a condition holds, nothing elsewhere: its sum is the group's."""
    if value.is_condition:
        return row_value(build.conjunction([condition, expression_of(value)]))
    inside = build.coalesce([expression_of(value), build.constant(value.missing)])
    return row_value(build.case([(condition, inside)], build.constant(value.low)))


def expression_of(value: RowValue) -> Expression:
    """The row expression of a value; a Python function has none."""
    if isinstance(value.source, Expression):
        return value.source
    raise InvalidQuestion(
        "Groups, and statistics made of several means, need a row expression (text or Polars), "
        "not a Python function."
    )
