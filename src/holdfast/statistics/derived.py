"""Statistics that follow from the answers to several others; plays that yield these parts.

A `Derived` names its parts in stages. The parts of a stage are asked together; a later stage is
asked after it, so that what was answered may narrow it (a small group has a small variance).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard, TypeVar, cast

from holdfast import require
from holdfast.question import build
from holdfast.question.expression import Expression, Op
from holdfast.question.row import RowValue, row_value
from holdfast.question.text import text_of
from holdfast.statistics.mean import Average, Mean, expression_of
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import (
    conditional_mean_interval,
    difference_interval,
    total_interval,
)

__all__ = [
    "Conditional",
    "Derived",
    "Difference",
    "Estimate",
    "Joined",
    "Paired",
    "Play",
    "Stages",
    "Subquestion",
    "Total",
    "alone",
    "as_counted",
    "batches",
    "fraction",
    "is_derived",
    "is_single",
    "ratio_value",
    "staged",
]


# A question is a play: it yields parts to put together, is sent their answers, returns its own.
#
# Whoever runs a play decides what an answer is: the desk asks the protected rows, the price is
# found with public stand-ins. All that a play does with an answer is public.


@dataclass(frozen=True, slots=True)
class Estimate:
    """A released value with its interval; of a claim that was `refuted` nothing is known yet."""

    value: float
    interval: Interval
    refuted: bool = False

    def within(self, low: float, high: float) -> Estimate:
        """The same, knowing that the truth is in [low, high]."""
        interval = Interval(
            min(high, max(low, self.interval.low)), max(low, min(high, self.interval.high))
        )
        return Estimate(min(interval.high, max(interval.low, self.value)), interval)


@dataclass(frozen=True, slots=True)
class Joined:
    """What follows from the parts: an interval, and a value where their values have one."""

    value: float | None
    interval: Interval

    @classmethod
    def within(cls, value: float | None, interval: Interval, low: float, high: float) -> Joined:
        """The value and interval found, knowing that the truth is in [low, high]."""
        found = Estimate(low if value is None else value, interval).within(low, high)
        return cls(None if value is None else found.value, found.interval)


@dataclass(frozen=True, slots=True)
class Subquestion:
    """A statistic to be answered.

    With a `guess` (a fraction of its range) the analyst claims that it is about that; with a
    `claim` too, that it is there. What was `refuted` is asked, and not guessed again.
    """

    statistic: Statistic
    guess: float | None = None
    claim: tuple[float, float] | None = None
    refuted: bool = False


Play = Generator[Sequence[Subquestion], Sequence[Estimate], Joined]


def alone(statistic: Statistic, guess: float | None) -> Play:
    """The play of a statistic that one symbol answers."""
    (found,) = yield [Subquestion(statistic, None if guess is None else fraction(guess, statistic))]
    return Joined(found.value, found.interval)


def fraction(value: object, statistic: Statistic, name: str = "guess") -> float:
    """A number in the statistic's own unit as a fraction of its range."""
    number = require.between(name, value, statistic.low, statistic.high)
    width = statistic.high - statistic.low
    return (number - statistic.low) / width if width else 0.0


Stages = tuple[tuple[Statistic, ...], ...]
_Own = TypeVar("_Own")  # of one part, whatever it is


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

    def join(self, parts: Sequence[Estimate]) -> Joined:
        """What follows from the answers to all parts, in their order."""
        ...

    def favourable(self, known: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        """Values of all parts by which most would be said, given what is known of some."""
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


def batches(question: Statistic | Derived, *, numbers: bool, once: bool = False) -> Stages:
    """The parts in the order they are asked; a number guessed is about the last part alone.

    `once` tells that there is one batch for all: no part narrows a later one, and what would be
    asked for that alone is left out.
    """
    if not is_derived(question):
        return ((cast("Statistic", question),),)
    *earlier, last = question.stages
    if (numbers or once) and isinstance(question, Paired):
        return (last,)  # the difference itself needs no share
    if once:
        return (tuple(part for stage in question.stages for part in stage),)
    if numbers and len(last) > 1:
        return (*earlier, last[:-1], last[-1:])
    return question.stages


def staged(question: Derived, guess: float | None, *, once: bool = False) -> Play:
    """The play of a statistic that is asked stage by stage; a guess is about its last part."""
    found: list[Estimate] = []
    *earlier, last = batches(question, numbers=guess is not None, once=once)
    for stage in earlier:
        found += yield [Subquestion(part) for part in stage]
    if guess is None:
        found += yield [Subquestion(part) for part in last]
    else:
        (part,) = last
        about = question.last_guess(guess, [each.value for each in found])
        found += yield [Subquestion(part, fraction(min(part.high, max(part.low, about)), part))]
    return question.join(found)


def as_counted(value: RowValue) -> Expression:
    """The value as it counts in a mean: a number for every row, missing ones included."""
    whole = build.as_number(expression_of(value), "a mean")
    return build.coalesce([whole, build.constant(value.missing)])


def ratio_value(pivot: float, rest: Estimate, share: Estimate) -> float | None:
    """pivot + rest/share; none where no share was seen."""
    return pivot + rest.value / share.value if share.value > 0.0 else None


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
        return f"avg({self.value.text}) where {text_of(self.condition)}"

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
        rest = build.arithmetic(Op.SUBTRACT, as_counted(self.value), build.constant(self.pivot))
        residual = build.case([(self.condition, rest)], build.constant(0.0))
        return ((Mean(row_value(self.condition)),), (Mean(row_value(residual)),))

    def join(self, parts: Sequence[Estimate]) -> Joined:
        share, rest = parts
        if share.interval.high <= 0.0:  # there is no such row, so that nothing is claimed
            return Joined(None, Interval(self.low, self.high))
        found = conditional_mean_interval(self.pivot, *rest.interval, *share.interval)
        return Joined.within(ratio_value(self.pivot, rest, share), found, self.low, self.high)

    def favourable(self, known: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        share = 1.0 if known[0] is None else known[0].interval.high
        reach = share * (self.high - self.low) / 2  # every row of the group at one end
        return [(share, reach), (share, -reach)]

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

    def join(self, parts: Sequence[Estimate]) -> Joined:
        (mean,) = parts
        return Joined(self.population * mean.value, total_interval(self.population, *mean.interval))

    def favourable(self, known: Sequence[Estimate | None]) -> list[tuple[float, ...]]:  # noqa: ARG002
        return [(self.mean.low,), (self.mean.high,)]

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

    def join(self, parts: Sequence[Estimate]) -> Joined:
        mine, others = self._divided(parts)
        first, second = _joined(self.first, mine), _joined(self.second, others)
        known = first.value is not None and second.value is not None
        value = _middle(first) - _middle(second) if known else None
        found = difference_interval(*first.interval, *second.interval)
        return Joined.within(value, found, self.low, self.high)

    def favourable(self, known: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        mine, others = self._divided(known)
        return [
            self._together(first, second)
            for first in _favourable(self.first, mine)
            for second in _favourable(self.second, others)
        ]

    def _together(self, first: Sequence[float], second: Sequence[float]) -> tuple[float, ...]:
        """The values of both, stage by stage: the other way round than `_divided`."""
        halves = iter(first), iter(second)
        return tuple(
            next(half)
            for stage in self._both()
            for half, own in zip(halves, stage, strict=True)
            for _ in own
        )

    def last_guess(self, guess: float, others: Sequence[float]) -> float:
        mine, rest = self._divided([_exactly(value) for value in (*others, 0.0)])
        wanted = _middle(_joined(self.first, mine)) - guess
        wanted = min(self.second.high, max(self.second.low, wanted))
        if isinstance(self.second, Conditional):
            return self.second.last_guess(wanted, [part.value for part in rest[:-1]])
        return wanted

    def _divided(self, parts: Sequence[_Own]) -> tuple[list[_Own], list[_Own]]:
        """The parts of the first, and those of the second, from both stage by stage."""
        halves: tuple[list[_Own], list[_Own]] = ([], [])
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


def _joined(one: Statistic | Conditional, parts: Sequence[Estimate]) -> Joined:
    if isinstance(one, Conditional):
        return one.join(parts)
    return Joined(parts[0].value, parts[0].interval)


def _favourable(
    one: Statistic | Conditional, known: Sequence[Estimate | None]
) -> list[tuple[float, ...]]:
    return one.favourable(known) if isinstance(one, Conditional) else [(one.low,), (one.high,)]


def _middle(found: Joined) -> float:
    """The value, or where there is none the middle of the interval."""
    low, high = found.interval
    return low + (high - low) / 2 if found.value is None else found.value


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
        differ = build.comparison(Op.UNEQUAL, first, second)
        sign = build.case([(first, build.constant(1.0))], build.constant(-1.0))
        difference = build.case([(differ, sign)], build.constant(0.0))
        return ((Mean(row_value(differ)),), (Mean(row_value(difference)),))

    def join(self, parts: Sequence[Estimate]) -> Joined:
        *share, difference = parts
        most = max(0.0, share[0].interval.high) if share else 1.0
        return Joined.within(difference.value, difference.interval, -most, most)

    def favourable(self, known: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        return [(1.0,) * len(known)]

    def last_guess(self, guess: float, others: Sequence[float]) -> float:  # noqa: ARG002
        return guess
