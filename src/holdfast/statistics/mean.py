"""Means, of all rows and of a group; and what answers imply for other variances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar, Protocol

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
    profile_of_rows,
)
from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.bounds import range_of
from holdfast.question.expression import Constant, Expression, Op, Operation, numeral, text_of
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.statistic import Measured, Statistic, measure, row_error
from holdfast.theory.base.concentration import BoundedMean, Concentration
from holdfast.theory.base.dependence import ClusteredRows, GraphMean, MDependentMean
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import group_variance, share_variance


@dataclass(frozen=True, slots=True)
class Mean:
    """The average of a row value over all rows; `variance` is a bound that was declared for it."""

    unbounded: ClassVar[bool] = False

    row: RowValue
    variance: float | None = None
    # The canonical text; a declared bound is part of what is asked.
    text: str = field(init=False, repr=False, compare=False)
    # Of the row value, read once: a call asks for them a dozen times.
    low: float = field(init=False, repr=False, compare=False)
    high: float = field(init=False, repr=False, compare=False)
    columns: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        row = self.row
        bound = "" if self.variance is None else f", variance <= {numeral(self.variance)}"
        object.__setattr__(self, "text", f"avg({row.text}{bound})")
        object.__setattr__(self, "low", row.low)
        object.__setattr__(self, "high", row.high)
        object.__setattr__(self, "columns", row.columns)

    @property
    def among(self) -> str:
        """Of which rows: of all."""
        return ""

    @property
    def error(self) -> float:
        return row_error(self.row)

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:  # noqa: ARG002 - all of the range
        return 1.0

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        return profile_of_rows(sampling, n)

    def read(self, sample: Sample) -> Measured:
        (measured,) = measure(sample, [self])
        return measured


@dataclass(frozen=True, slots=True)
class GroupMean:
    """The average of a value among the rows of a group whose size is public by design.

    `condition` is what was asked for, None for all rows; the group, `inside`, are the rows of those
    that have a value. `row` is the value inside the group and counts nothing outside, so that its
    sum is the group's.
    """

    unbounded: ClassVar[bool] = False

    value: RowValue
    condition: Expression | None
    inside: Expression
    row: RowValue
    group: Group

    @property
    def text(self) -> str:
        return f"avg({self.value.text}){self.among}"

    @property
    def among(self) -> str:
        """Of which rows, as the text of a statistic made of such means says it."""
        return "" if self.condition is None else f" where {text_of(self.condition)}"

    @property
    def low(self) -> float:
        return self.value.low

    @property
    def high(self) -> float:
        return self.value.high

    @property
    def columns(self) -> tuple[str, ...]:
        """Those it reads."""
        return self.row.columns

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
            case Clustered(sizes="fixed"):
                return ClusteredRows(size, min(squares, size * size))
            case MDependent(m):
                # The rows of a group keep their places, so m + 1 classes of independent rows do.
                return MDependentMean(size, m)
            case DependencyGraph(degree):
                return GraphMean(size, min(degree, size))
            case Clustered() | MarkovChain() | Declared():
                raise InvalidQuestion(
                    "The declared dependence is about means of all rows, not of a group; open "
                    "the ledger with another sampling to ask about groups of design columns."
                )

    def read(self, sample: Sample) -> Measured:
        (measured,) = measure(sample, [self])
        return measured


Average = Mean | GroupMean


def group_mean(
    value: RowValue, condition: Expression | None, inside: Expression, group: Group
) -> GroupMean:
    """The mean of a value in a public group, which is `inside`; refused for an empty one."""
    if group.size == 0:
        raise InvalidQuestion(
            f"No row of the design has {text_of(inside)}, so there is no group to ask about."
        )
    return GroupMean(value, condition, inside, within_group(value, inside), group)


def rows_with_value(where: Expression | None, *values: RowValue) -> Expression | None:
    """The group that a statistic of some values is about: the rows in `where` that have them all.

    None if those are all rows.
    """
    return rows_known(where, *(value.known for value in values))


def rows_known(where: Expression | None, *known: Expression) -> Expression | None:
    """The rows in `where` of which all is known; None if those are all rows."""
    conditions = [each for each in known if each != build.TRUE]
    if where is not None:
        conditions = [where, *conditions]
    inside = build.conjunction(conditions) if conditions else build.TRUE
    return None if inside == build.TRUE else inside


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


# What released answers imply for the variance of another question (Theorem L, public variances).
#
# On the event that every earlier interval is true, anything that follows from them may set the
# radius of a later question. Two consequences are used: a condition that holds more rarely than
# one already answered (``a and b`` after ``a``), and a value that differs from a constant only
# inside a group whose share is already answered. A bound that the analyst declared counts as
# well.


_MOST_CONJUNCTS = 6


class KnownAnswer(Protocol):
    """A finished look: its number among all, and its interval in its own unit."""

    @property
    def look(self) -> int | None: ...

    @property
    def interval(self) -> Interval: ...


@dataclass(frozen=True, slots=True)
class KnownVariance:
    """A bound on the variance, as a fraction of the squared range.

    It follows from the interval of look `implied_by`, which bounds the share of a group outside
    which the value is constant, and from the greatest distance inside it, `reach`; or it was
    declared, and both are None.
    """

    variance: float
    implied_by: int | None = None
    reach: float | None = None

    def __str__(self) -> str:
        if self.implied_by is None:
            return f"its variance was declared to be at most {self.variance:.4g} of its range^2"
        return (
            f"look {self.implied_by} implies a variance of at most {self.variance:.4g} of "
            "its range^2 (Bernstein)"
        )


def _implied_variance(share: float, reach: float) -> float:
    """The variance bound for a value that differs, by up to `reach`, in at most this share."""
    return share_variance(share) if reach == 1.0 else group_variance(share, reach)


def known_variance(
    statistic: Statistic, answered: Mapping[str, KnownAnswer]
) -> KnownVariance | None:
    """The least bound that is known for a mean of all rows; None if nothing is known."""
    if not isinstance(statistic, Mean):
        return None
    width = statistic.high - statistic.low
    variances: list[KnownVariance] = []
    if statistic.variance is not None and width > 0:
        variances.append(KnownVariance(statistic.variance / width / width))
    source = statistic.row.source
    if isinstance(source, Operation):
        for condition, reach in _groups(source, width):
            # Among the rows where it is known, a condition holds at least as often as among all.
            counted = build.coalesce([condition, build.FALSE])
            shares = (answered.get(f"avg({text_of(each)})") for each in (counted, condition))
            earlier = next((each for each in shares if each is not None), None)
            if earlier is not None:
                share = min(1.0, max(0.0, earlier.interval.high))
                variances.append(
                    KnownVariance(_implied_variance(share, reach), earlier.look, reach)
                )
    return min(variances, key=lambda each: each.variance, default=None)


def _groups(source: Operation, width: float) -> Iterator[tuple[Expression, float]]:
    """Conditions outside which the value is constant, with its greatest distance inside."""
    if source.op is Op.AND and len(source.args) <= _MOST_CONJUNCTS:
        for size in range(1, len(source.args)):
            for chosen in combinations(source.args, size):
                yield build.conjunction(list(chosen)), 1.0
    if source.op is Op.CASE and len(source.args) == 3 and width > 0:
        condition, inside, outside = source.args
        if isinstance(outside, Constant) and isinstance(outside.value, float):
            low, high = range_of(inside)
            reach = max(abs(low - outside.value), abs(high - outside.value)) / width
            yield condition, min(1.0, reach * (1 + 2.0**-50))
