"""Statistics that follow from the answers to several others, each by a stated theorem.

A `Derived` names its parts in stages. The parts of a stage are asked together; a later stage is
asked after it, so that what was answered may narrow it (a small group has a small variance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard, cast

from holdfast.question import build
from holdfast.question.expression import Expression, Op
from holdfast.question.row import RowValue, row_value
from holdfast.question.text import text
from holdfast.statistics.mean import Average, Mean, expression_of
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.conditional import conditional_mean_interval
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import difference_interval, ratio_interval, total_interval

__all__ = [
    "Conditional",
    "Derived",
    "Difference",
    "Estimate",
    "F1Score",
    "Paired",
    "Stages",
    "Total",
    "batches",
    "counted",
    "is_derived",
    "is_single",
]

Stages = tuple[tuple[Statistic, ...], ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A released value with its interval."""

    value: float
    interval: Interval

    def within(self, low: float, high: float) -> Estimate:
        """The same, knowing that the truth is in [low, high]."""
        interval = Interval(
            min(high, max(low, self.interval.low)), max(low, min(high, self.interval.high))
        )
        return Estimate(min(interval.high, max(interval.low, self.value)), interval)


class Derived(Protocol):
    """A frozen value; all of it is public."""

    @property
    def text(self) -> str:
        """The canonical text."""
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
    def stages(self) -> Stages:
        """The parts, by stage; the last part of the last stage is the one a guess is about."""
        ...

    def join(self, parts: Sequence[Estimate]) -> Estimate:
        """What follows from the answers to all parts, in their order."""
        ...

    def last_guess(self, guess: float, others: Sequence[float]) -> float:
        """The guess about the last part that a guess of the whole means, given the other values."""
        ...


def is_derived(question: object) -> TypeGuard[Derived]:
    """Whether it has parts that are asked stage by stage."""
    return hasattr(question, "stages")


def is_single(question: object) -> TypeGuard[Statistic]:
    """Whether one symbol answers it."""
    return hasattr(question, "row")


def batches(question: Statistic | Derived, *, numbers: bool) -> Stages:
    """The parts in the order they are asked; a number guessed is about the last part alone."""
    if not is_derived(question):
        return ((cast("Statistic", question),),)
    *earlier, last = question.stages
    if numbers and isinstance(question, Paired):
        return (last,)  # a guess of the difference needs no share
    if numbers and len(last) > 1:
        return (*earlier, last[:-1], last[-1:])
    return question.stages


def counted(value: RowValue) -> Expression:
    """The value as it counts in a mean: a number for every row, missing ones included."""
    whole = build.number(expression_of(value), "a mean")
    return build.coalesce([whole, build.constant(value.missing)])


def _ratio(pivot: float, rest: Estimate, share: Estimate) -> float:
    """pivot + rest/share; where the share may be 0 a ratio would be nothing but noise."""
    return pivot + rest.value / share.value if share.interval.low > 0.0 else pivot


@dataclass(frozen=True, slots=True)
class Conditional:
    """The mean of `value` among the rows where `condition` holds, whose number is not public.

    It is not asked as a ratio: first the share of the group, E[1_c], then the residual
    E[(value - pivot) 1_c] around the middle of the range. A missing value counts in the group as it
    counts everywhere; a condition that is NULL does not hold.
    """

    value: RowValue
    condition: Expression

    @property
    def text(self) -> str:
        return f"avg({self.value.text}) where {text(self.condition)}"

    @property
    def low(self) -> float:
        return self.value.low

    @property
    def high(self) -> float:
        return self.value.high

    @property
    def pivot(self) -> float:
        """The middle of the range: public, and the same whoever asks."""
        return self.value.low + (self.value.high - self.value.low) / 2

    @property
    def stages(self) -> Stages:
        rest = build.arithmetic(Op.SUBTRACT, counted(self.value), build.constant(self.pivot))
        residual = build.case([(self.condition, rest)], build.constant(0.0))
        return ((Mean(row_value(self.condition)),), (Mean(row_value(residual)),))

    def join(self, parts: Sequence[Estimate]) -> Estimate:
        share, rest = parts
        if share.interval.high <= 0.0:  # there is no such row, so that nothing is claimed
            return Estimate(self.pivot, Interval(self.low, self.high))
        found = conditional_mean_interval(self.pivot, *rest.interval, *share.interval)
        value = _ratio(self.pivot, rest, share)
        return Estimate(value, found).within(self.low, self.high)

    def last_guess(self, guess: float, others: Sequence[float]) -> float:
        (share,) = others
        return (guess - self.pivot) * share


@dataclass(frozen=True, slots=True)
class Total:
    """A mean times the public number of members of the population."""

    name: str
    value: RowValue
    mean: Average
    population: int

    @property
    def text(self) -> str:
        return f"{self.name}({self.value.text}, {self.population}){self.mean.among}"

    @property
    def low(self) -> float:
        return self.population * self.mean.low

    @property
    def high(self) -> float:
        return self.population * self.mean.high

    @property
    def stages(self) -> Stages:
        return ((self.mean,),)

    def join(self, parts: Sequence[Estimate]) -> Estimate:
        (mean,) = parts
        return Estimate(
            self.population * mean.value, total_interval(self.population, *mean.interval)
        )

    def last_guess(self, guess: float, others: Sequence[float]) -> float:  # noqa: ARG002
        return guess / self.population


@dataclass(frozen=True, slots=True)
class Difference:
    """The first minus the second: of two groups, or, as one mean of differences, of paired rows."""

    first: Statistic | Conditional
    second: Statistic | Conditional

    @property
    def text(self) -> str:
        return f"difference({self.first.text}, {self.second.text})"

    @property
    def low(self) -> float:
        return self._range.low

    @property
    def high(self) -> float:
        return self._range.high

    @property
    def _range(self) -> Interval:
        first, second = self.first, self.second
        return difference_interval(first.low, first.high, second.low, second.high)

    @property
    def stages(self) -> Stages:
        return tuple(first + second for first, second in self._both())

    def join(self, parts: Sequence[Estimate]) -> Estimate:
        mine, others = self._divided(parts)
        first, second = _joined(self.first, mine), _joined(self.second, others)
        return Estimate(
            first.value - second.value, difference_interval(*first.interval, *second.interval)
        ).within(self.low, self.high)

    def last_guess(self, guess: float, others: Sequence[float]) -> float:
        mine, rest = self._divided([_exactly(value) for value in (*others, 0.0)])
        wanted = _joined(self.first, mine).value - guess
        wanted = min(self.second.high, max(self.second.low, wanted))
        if isinstance(self.second, Conditional):
            return self.second.last_guess(wanted, [part.value for part in rest[:-1]])
        return wanted

    def _divided(self, parts: Sequence[Estimate]) -> tuple[list[Estimate], list[Estimate]]:
        """The parts of the first, and those of the second, from both stage by stage."""
        halves: tuple[list[Estimate], list[Estimate]] = ([], [])
        left = iter(parts)
        for stage in self._both():
            for half, own in zip(halves, stage, strict=True):
                half.extend(next(left) for _ in own)
        return halves

    def _both(self) -> list[tuple[tuple[Statistic, ...], tuple[Statistic, ...]]]:
        """The stages of both, ending together."""
        first, second = (
            each.stages if isinstance(each, Conditional) else ((each,),)
            for each in (self.first, self.second)
        )
        depth = max(len(first), len(second))
        padded = [((),) * (depth - len(own)) + own for own in (first, second)]
        return list(zip(*padded, strict=True))


def _joined(one: Statistic | Conditional, parts: Sequence[Estimate]) -> Estimate:
    return one.join(parts) if isinstance(one, Conditional) else parts[0]


def _exactly(value: float) -> Estimate:
    return Estimate(value, Interval(value, value))


@dataclass(frozen=True, slots=True)
class Paired:
    """How much more often the first condition holds than the second, on the same rows.

    First the share of rows where they differ, which bounds the variance of the difference: two
    models that mostly agree are told apart by narrow intervals. A guess is checked by itself.
    """

    first: RowValue
    second: RowValue

    @property
    def text(self) -> str:
        return f"difference({self.first.text}, {self.second.text})"

    @property
    def low(self) -> float:
        return -1.0

    @property
    def high(self) -> float:
        return 1.0

    @property
    def stages(self) -> Stages:
        first, second = (
            build.coalesce([expression_of(value), build.FALSE])
            for value in (self.first, self.second)
        )
        differ = build.compare(Op.UNEQUAL, first, second)
        sign = build.case([(first, build.constant(1.0))], build.constant(-1.0))
        difference = build.case([(differ, sign)], build.constant(0.0))
        return ((Mean(row_value(differ)),), (Mean(row_value(difference)),))

    def join(self, parts: Sequence[Estimate]) -> Estimate:
        *share, difference = parts
        most = max(0.0, share[0].interval.high) if share else 1.0
        return difference.within(-most, most)

    def last_guess(self, guess: float, others: Sequence[float]) -> float:  # noqa: ARG002
        return guess


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

    def join(self, parts: Sequence[Estimate]) -> Estimate:
        total, rest = parts
        if total.interval.high <= 0.0:
            return Estimate(0.5, Interval(0.0, 1.0))
        value = _ratio(0.5, rest, total)
        found = ratio_interval(0.5, *rest.interval, *total.interval)
        return Estimate(value, found).within(0.0, 1.0)

    def last_guess(self, guess: float, others: Sequence[float]) -> float:
        (total,) = others
        return (guess - 0.5) * total
