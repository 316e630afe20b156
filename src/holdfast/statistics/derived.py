"""Statistics that follow from the answers to several others; plays that yield these parts.

A `Derived` names its parts in stages. The parts of a stage are asked together; a later stage is
asked after it, so that what was answered may narrow it (a small group has a small variance).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import ClassVar, Protocol, TypeAlias, TypeGuard, TypeVar

from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.expression import Expression, Op, text_of
from holdfast.question.row import RowValue, may_be_missing, row_value
from holdfast.statistics.mean import Average, Mean, expression_of
from holdfast.statistics.statistic import (
    ConcentratedGroupMean,
    ConcentratedMean,
    Statistic,
    fraction,
    is_unbounded,
    own_unit,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import (
    conditional_mean_interval,
    difference_interval,
    total_interval,
)
from holdfast.theory.base.safeside import round_down, round_up

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
        estimate = Estimate(low if value is None else value, interval).within(low, high)
        return cls(None if value is None else estimate.value, estimate.interval)


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

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        """Values of all parts by which most would be said, given what is known of some."""
        ...

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        """The guess about the last part that a guess of the whole means, given the other values."""
        ...


def is_derived(question: object) -> TypeGuard[Derived]:
    """Whether it has parts that are asked stage by stage."""
    return hasattr(question, "stages")


def batches(question: Derived, *, numbers: bool, once: bool = False) -> Stages:
    """The parts in the order they are asked; a number guessed is about the last part alone.

    `once` tells that there is one batch for all: no part narrows a later one, and what would be
    asked for that alone is left out.
    """
    *earlier, last = question.stages
    if (numbers or once) and isinstance(question, Paired):
        return (last,)  # the difference itself needs no share
    if once:
        return (tuple(part for stage in question.stages for part in stage),)
    if numbers and len(last) > 1:
        return (*earlier, last[:-1], last[-1:])
    return question.stages


def all_parts(question: Derived) -> tuple[Statistic, ...]:
    """The parts that are needed where none of them narrows another."""
    (parts,) = batches(question, numbers=False, once=True)
    return parts


def described_parts(question: Derived) -> tuple[Statistic, ...]:
    """The parts that it is joined from where those are described.

    It may name others than the means that it is asked by on the ledger: `join` takes both.
    """
    named: tuple[Statistic, ...] | None = getattr(question, "described_by", None)
    return all_parts(question) if named is None else named


def staged(question: Derived, guess: float | None, *, once: bool = False) -> Play:
    """The play of a statistic that is asked stage by stage; a guess is about its last part."""
    estimates: list[Estimate] = []
    intervals: dict[str, Interval] = {}
    stages = batches(question, numbers=guess is not None, once=once)
    if len(stages) == 1 and any(map(_sized, stages[0])):
        raise InvalidQuestion(
            f"{question.text} is asked after the share of its group, and this ledger answers once; "
            "say what share the group has at least, as in mean(x, sigma = 0.4, share >= 0.2) where "
            "..., or give bounds=."
        )
    for place, stage in enumerate(stages):
        parts = [
            bound for part in stage if (bound := _with_least_share(part, intervals)) is not None
        ]
        if len(parts) < len(stage):
            return Joined(None, Interval(question.low, question.high))
        if guess is None or place < len(stages) - 1:
            answers = yield [Subquestion(part) for part in parts]
        else:
            (part,) = parts
            about = question.last_guess(guess, [each.value for each in estimates])
            clipped = min(part.high, max(part.low, about))
            answers = yield [Subquestion(part, fraction(clipped, part))]
        estimates += answers
        intervals |= {part.text: each.interval for part, each in zip(parts, answers, strict=True)}
    return question.join(estimates)


def as_counted(value: RowValue) -> Expression:
    """The value as it counts in a mean: a number for every row that is not left out."""
    if value.known != build.TRUE:
        return build.as_number(expression_of(value), "a mean")
    return _in_every_row(value)


def counted_condition(condition: Expression) -> Expression:
    """A condition that is known in every row: it does not hold where it is unknown."""
    return build.coalesce([condition, build.FALSE]) if may_be_missing(condition) else condition


def _in_every_row(value: RowValue) -> Expression:
    """The value as a number that no row misses, whether it is left out or not."""
    whole = build.as_number(expression_of(value), "a mean")
    return build.coalesce([whole, build.constant(value.missing)])


def ratio_value(pivot: float, rest: Estimate, share: Estimate) -> float | None:
    """pivot + rest/share; none where no share was seen."""
    return pivot + rest.value / share.value if share.value > 0.0 else None


@dataclass(frozen=True, slots=True)
class Conditional:
    """The mean of `value` among the rows of a group, `inside`, whose number is not public.

    They are those where `condition` holds (of all rows where it is None) and the value is known; a
    condition that is NULL does not hold. It is not asked as a ratio: first the share of the group,
    E[1_c], then the residual E[(value - pivot) 1_c] around the middle of the range.
    """

    theorems: ClassVar[tuple[str, ...]] = ("conditional_mean_interval",)
    value: RowValue
    condition: Expression | None
    inside: Expression

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
    def pivot(self) -> float:
        """The middle of the range: public, and the same whoever asks."""
        return self.value.low + (self.value.high - self.value.low) / 2

    @property
    def stages(self) -> Stages:
        # Inside the group nothing is missing; that no row of it is left out is plain to see so.
        whole = _in_every_row(self.value)
        rest = build.arithmetic(Op.SUBTRACT, whole, build.constant(self.pivot))
        residual = build.case([(self.inside, rest)], build.constant(0.0))
        return ((Mean(row_value(counted_condition(self.inside))),), (Mean(row_value(residual)),))

    def join(self, parts: Sequence[Estimate]) -> Joined:
        share, rest = parts
        if share.interval.high <= 0.0:  # there is no such row, so that nothing is claimed
            return Joined(None, Interval(self.low, self.high))
        interval = conditional_mean_interval(self.pivot, *rest.interval, *share.interval)
        return Joined.within(ratio_value(self.pivot, rest, share), interval, self.low, self.high)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        share = 1.0 if estimates[0] is None else estimates[0].interval.high
        reach = share * (self.high - self.low) / 2  # every row of the group at one end
        return [(share, reach), (share, -reach)]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        (share,) = values
        return (guess - self.pivot) * share


_SUPPOSED = 0.5  # the share of a group of which nothing is known: for what is counted and priced
_SMALLEST = 2.0**-20  # share of a group that is asked about: its rows are far from all at one end
_SHARE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class OpenConditional(Conditional):
    """The mean in a group of a number without a range; a scale is declared of it in all rows.

    First the share of the group is asked, then the mean of its rows, as near as the least share
    allows.
    """

    theorems: ClassVar[tuple[str, ...]] = ("GroupOfRows",)
    unbounded: ClassVar[bool] = True
    whole: ConcentratedMean

    @property
    def text(self) -> str:
        return f"{self.whole.text}{self.among}"

    @property
    def low(self) -> float:
        return self.whole.low

    @property
    def high(self) -> float:
        return self.whole.high

    def unit(self, n: int) -> float:
        """That of the mean of all rows."""
        return self.whole.unit(n)

    @property
    def stages(self) -> Stages:
        mean = ConcentratedGroupMean(self.whole, self.inside, _SUPPOSED)
        return ((_share_of(self.inside),), (mean,))

    def join(self, parts: Sequence[Estimate]) -> Joined:
        share, mean = parts
        if not self.is_told(share):
            return Joined(None, Interval(self.low, self.high))
        return Joined(mean.value, mean.interval)

    def is_told(self, share: Estimate) -> bool:
        """Whether so much is known of the group's share that something is said of its rows."""
        return _least_share(share.interval) is not None and share.interval != _UNTOLD

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:  # noqa: ARG002
        return [(1.0, 0.0)]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:  # noqa: ARG002
        return guess


_UNTOLD = Interval(0.0, 1.0)  # what is known of a share that was not answered


def _share_of(condition: Expression) -> Mean:
    return Mean(row_value(counted_condition(condition)))


def _least_share(share: Interval) -> float | None:
    """The share that a group surely has, in a few digits; None if it is too small."""
    if share == _UNTOLD:
        return _SUPPOSED
    low = max(0.0, share.low)
    digits = Decimal(low)
    if low < _SMALLEST:
        return None
    place = Decimal((0, (1,), digits.adjusted() + 1 - _SHARE_DIGITS))
    return float(digits.quantize(place, ROUND_FLOOR))


def _with_least_share(part: Statistic, intervals: Mapping[str, Interval]) -> Statistic | None:
    """A part as the answers before it have it: of a group, by the share it has at least.

    None if nothing can be asked of so small a group.
    """
    group = _sized(part)
    if group is None:
        return part
    share = _least_share(intervals[_share_of(group).text])
    return None if share is None else part.of_share(share)  # type: ignore[attr-defined]


def _sized(part: Statistic) -> Expression | None:
    """The group whose share has to be answered before the part."""
    return getattr(part, "sized", None)


AnyMean: TypeAlias = Statistic | Conditional  # answered by one symbol, or by two


@dataclass(frozen=True, slots=True)
class Total:
    """A mean times the public number of members of the population.

    What is missing adds nothing: the mean is one of rows that all have a value.
    """

    theorems: ClassVar[tuple[str, ...]] = ("total_interval",)
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

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:  # noqa: ARG002
        return [(self.mean.low,), (self.mean.high,)]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:  # noqa: ARG002
        return guess / self.population


@dataclass(frozen=True, slots=True)
class Difference:
    """The first minus the second: of two groups, or, as one mean of differences, of paired rows."""

    theorems: ClassVar[tuple[str, ...]] = ("difference_interval",)
    first: AnyMean
    second: AnyMean

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
        return stages_of(self._both)

    def join(self, parts: Sequence[Estimate]) -> Joined:
        first, second = joined_means(self._both, parts)
        are_known = first.value is not None and second.value is not None
        value = _middle(first) - _middle(second) if are_known else None
        interval = difference_interval(*first.interval, *second.interval)
        return Joined.within(value, interval, self.low, self.high)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        mine, others = _divided(self._both, estimates)
        return [
            _interleaved(self._both, [first, second])
            for first in _favourable(self.first, mine)
            for second in _favourable(self.second, others)
        ]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        first, _ = known_means(self._both, values)
        wanted = min(self.second.high, max(self.second.low, first - guess))
        return last_part(self._both, wanted, values)

    @property
    def _both(self) -> tuple[AnyMean, AnyMean]:
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class OpenDifference(Difference):
    """The difference of two means of which one has no range, at least."""

    unbounded: ClassVar[bool] = True

    def unit(self, n: int) -> float:
        """Those of both means together."""
        wholes = [(mean.high - mean.low, own_unit(mean, n)) for mean in self._both]
        return sum(width * unit for width, unit in wholes) / (self.high - self.low)

    @property
    def described_by(self) -> tuple[AnyMean, AnyMean]:
        return self._both

    def join(self, parts: Sequence[Estimate]) -> Joined:
        if len(parts) == len(self._both):  # described, or without groups: the means themselves
            first, second = (Joined(each.value, each.interval) for each in parts)
        else:
            first, second = joined_means(self._both, parts)
        (a, b), (c, d) = first.interval, second.interval
        # An end of a grid is open: nothing is subtracted from it.
        one, other = map(is_unbounded, self._both)
        below = (one and a <= self.first.low) or (other and d >= self.second.high)
        above = (one and b >= self.first.high) or (other and c <= self.second.low)
        are_known = first.value is not None and second.value is not None
        value = _middle(first) - _middle(second) if are_known else None
        interval = Interval(
            -math.inf if below else round_down(a - d), math.inf if above else round_up(b - c)
        )
        return Joined.within(value, interval, self.low, self.high)


def _aligned(means: Sequence[AnyMean]) -> list[tuple[tuple[Statistic, ...], ...]]:
    """For each stage the parts of each mean; all of them end together."""
    own = [each.stages if isinstance(each, Conditional) else ((each,),) for each in means]
    depth = max(map(len, own))
    return list(zip(*(((),) * (depth - len(each)) + each for each in own), strict=True))


def stages_of(means: Sequence[AnyMean]) -> Stages:
    """The parts that several means follow from, by stage."""
    return tuple(tuple(part for own in stage for part in own) for stage in _aligned(means))


def _divided(means: Sequence[AnyMean], parts: Sequence[_Own]) -> list[list[_Own]]:
    """The parts of each mean, from those of all stage by stage."""
    divided: list[list[_Own]] = [[] for _ in means]
    rest = iter(parts)
    for stage in _aligned(means):
        for mine, own in zip(divided, stage, strict=True):
            mine.extend(next(rest) for _ in own)
    return divided


def _interleaved(means: Sequence[AnyMean], values: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The values of all parts stage by stage: the other way round than `_divided`."""
    iterators = [iter(each) for each in values]
    return tuple(
        next(mine)
        for stage in _aligned(means)
        for mine, own in zip(iterators, stage, strict=True)
        for _ in own
    )


def joined_means(means: Sequence[AnyMean], parts: Sequence[Estimate]) -> list[Joined]:
    """Each of several means from the answers to the parts of all."""
    pairs = zip(means, _divided(means, parts), strict=True)
    return [_joined(mean, own) for mean, own in pairs]


def estimated_means(means: Sequence[AnyMean], parts: Sequence[Estimate]) -> list[Estimate]:
    """Each of several means with a value, the middle of its interval where it has none."""
    joined = joined_means(means, parts)
    return [Estimate(_middle(joint), joint.interval) for joint in joined]


def known_means(means: Sequence[AnyMean], values: Sequence[float]) -> list[float]:
    """Several means from the values of all parts but the last, on which only the last rests."""
    exactly = [Estimate(value, Interval(value, value)) for value in (*values, 0.0)]
    return [mean.value for mean in estimated_means(means, exactly)]


def last_part(means: Sequence[AnyMean], wanted: float, values: Sequence[float]) -> float:
    """The value of the last part by which the last mean is the one wanted."""
    last = means[-1]
    if not isinstance(last, Conditional):
        return wanted
    *own, _ = _divided(means, (*values, 0.0))[-1]
    return last.last_guess(wanted, own)


def parts_with(
    means: Sequence[AnyMean], values: Sequence[float], estimates: Sequence[Estimate | None]
) -> tuple[float, ...]:
    """Values of all parts by which the means have these, given what is known of some."""
    by_mean: list[tuple[float, ...]] = []
    for mean, value, own in zip(means, values, _divided(means, estimates), strict=True):
        if isinstance(mean, Conditional):
            share = 1.0 if own[0] is None else own[0].interval.high
            by_mean.append((share, mean.last_guess(value, (share,))))
        else:
            by_mean.append((value,))
    return _interleaved(means, by_mean)


def _joined(mean: AnyMean, parts: Sequence[Estimate]) -> Joined:
    if isinstance(mean, Conditional):
        return mean.join(parts)
    return Joined(parts[0].value, parts[0].interval)


def _favourable(mean: AnyMean, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
    return (
        mean.favourable(estimates) if isinstance(mean, Conditional) else [(mean.low,), (mean.high,)]
    )


def _middle(joined: Joined) -> float:
    """The value, or where there is none the middle of the interval."""
    low, high = joined.interval
    return low + (high - low) / 2 if joined.value is None else joined.value


@dataclass(frozen=True, slots=True)
class Paired:
    """How much more often the first condition holds than the second, on the same rows.

    First the share of rows where they differ, which bounds the variance of the difference: two
    models that mostly agree are told apart by narrow intervals. A guess is checked by itself.
    `named` is its text where it has a word of its own.
    """

    low: ClassVar[float] = -1.0
    high: ClassVar[float] = 1.0

    first: RowValue
    second: RowValue
    named: str | None = None

    @property
    def text(self) -> str:
        return self.named or f"difference({self.first.text}, {self.second.text})"

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

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        return [(1.0,) * len(estimates)]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:  # noqa: ARG002
        return guess
