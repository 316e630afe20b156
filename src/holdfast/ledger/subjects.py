"""Subjects of questions: what looks at one may say of another, and by which it is found.

Shares of one value above several constants, shares of several conditions, and means of groups that
part the rows say something of each other (section 13.3 of docs/theory.md). A reservation names the
subjects of its questions, so that such looks are found without reading the whole ledger.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from holdfast.question import build
from holdfast.question.expression import (
    Column,
    Constant,
    Expression,
    Op,
    Operation,
    column_names,
    text_of,
)
from holdfast.question.row import RowValue, may_be_missing, may_be_undefined, row_value
from holdfast.statistics.claimed import ClaimedQuestion
from holdfast.statistics.derived import (
    Conditional,
    Difference,
    OpenConditional,
    Paired,
    Total,
    as_counted,
)
from holdfast.statistics.description import DescribedParts, DescribedQuestion
from holdfast.statistics.entry import Bound
from holdfast.statistics.mean import GroupMean, Mean
from holdfast.statistics.quantile import OpenQuantile, Quantile
from holdfast.theory.base.implied import (
    ThresholdCut,
    cuts_implied,
    linear_implied,
    quantile_implied,
    threshold_implied,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_below


def statistic_of(question: Bound) -> Bound:
    """The statistic without its rules."""
    if isinstance(question, ClaimedQuestion | DescribedQuestion | DescribedParts):
        return question.question
    return question


def junction_of(question: Bound) -> tuple[Op, list[Expression]] | None:
    """The conditions of which all, or one at least, must hold in a share's rows."""
    condition = condition_of_share(question) if isinstance(question, Mean) else None
    if not isinstance(condition, Operation) or condition.op not in (Op.AND, Op.OR):
        return None
    are_shares = all(condition_of_share(Mean(row_value(each))) for each in condition.args)
    return (condition.op, list(condition.args)) if are_shares else None


def condition_of_share(question: Bound) -> Expression | None:
    """The condition of which it is the share of rows, if it is known in every one of them."""
    among = mean_within(question)
    source = among[0].source if among is not None and among[0].is_condition else None
    return source if isinstance(source, Expression) else None


_ABOVE: Mapping[Op, tuple[bool, bool]] = {  # strict, and turned over
    Op.ABOVE: (True, False),
    Op.AT_LEAST: (False, False),
    Op.BELOW: (False, True),
    Op.AT_MOST: (True, True),
}


class ShareAbove(NamedTuple):
    """What one look says of the share of values above a cut."""

    cut: ThresholdCut
    share: Interval
    look: int
    question: str


@dataclass(slots=True)
class SharesAbove:
    """Released shares of one value above cuts, in the order of these.

    Their ends are beside them, to be compared as the floats that they are: each with its look, as
    of those that say as much the oldest is named.
    """

    each: list[ShareAbove] = field(default_factory=list)
    cuts: list[ThresholdCut] = field(default_factory=list)
    _lows: list[tuple[float, int]] = field(default_factory=list)
    _highs: list[tuple[float, int]] = field(default_factory=list)

    def add(self, shares: Iterable[ShareAbove]) -> None:
        for share in shares:
            (low, high), look = share.share, share.look
            place = bisect_right(self.cuts, share.cut)
            self.each.insert(place, share)
            self.cuts.insert(place, share.cut)
            self._lows.insert(place, (low, -look))
            self._highs.insert(place, (high, look))

    def forget(self, look: int) -> None:
        """Leave out what a look says."""
        places = [place for place, (_, of_high) in enumerate(self._highs) if of_high == look]
        for place in reversed(places):
            for column in (self.each, self.cuts, self._lows, self._highs):
                del column[place]

    def without(self, question: str) -> SharesAbove:
        """Those of other questions."""
        if question not in [share.question for share in self.each]:
            return self
        others = SharesAbove()
        others.each = [share for share in self.each if share.question != question]
        others.cuts = [share.cut for share in others.each]
        others._lows = [(share.share[0], -share.look) for share in others.each]
        others._highs = [(share.share[1], share.look) for share in others.each]
        return others

    def around(self, cut: ThresholdCut) -> list[ShareAbove]:
        """Those that say most of the share above a cut: at most one for each end."""
        first, last = bisect_left(self.cuts, cut), bisect_right(self.cuts, cut)
        later, earlier = self._lows[first:], self._highs[:last]
        lowest = [self.each[self._lows.index(max(later), first)]] if later else []
        return [*lowest, self.each[earlier.index(min(earlier))]] if earlier else lowest

    def around_quantile(self, level: Fraction) -> list[ShareAbove]:
        """Those that say most of a quantile: at most one for each end."""
        most = float_below(1 - level)  # a float is above 1 - level where it is above this one
        below = [
            (self.cuts[place][0], newness, -place)
            for place, (low, newness) in enumerate(self._lows)
            if low > most
        ]
        above = [
            (self.cuts[place][0], look, place)
            for place, (high, look) in enumerate(self._highs)
            if high <= most
        ]
        lowest = [self.each[-max(below)[2]]] if below else []
        return [*lowest, self.each[min(above)[2]]] if above else lowest


@dataclass(frozen=True, slots=True)
class _Threshold:
    """The share of values above a cut, or below it (`turned`)."""

    subject: str
    cut: ThresholdCut
    turned: bool

    def shares(self, interval: Interval) -> Mapping[ThresholdCut, Interval]:
        """The interval of the share above the cut."""
        return {self.cut: linear_implied(interval, -1, 1) if self.turned else interval}

    def tightest(self, shares: SharesAbove) -> list[ShareAbove]:
        """Of shares above cuts those that say most: at most one for each end."""
        return shares.around(self.cut)

    def within(self, cut: ThresholdCut, share: Interval) -> Interval | None:
        """What the share above another cut says of it."""
        above = threshold_implied(self.cut, {cut: share})
        return above and (linear_implied(above, -1, 1) if self.turned else above)


@dataclass(frozen=True, slots=True)
class _Level:
    """The quantile at a level, of a value inside a range."""

    subject: str
    level: Fraction
    range: Interval

    def shares(self, interval: Interval) -> Mapping[ThresholdCut, Interval]:
        """The shares above its interval's ends; at the ends of the range they are not known."""
        low = interval.low if interval.low > self.range.low else -math.inf
        high = interval.high if interval.high < self.range.high else math.inf
        return cuts_implied(self.level, Interval(low, high))

    def tightest(self, shares: SharesAbove) -> list[ShareAbove]:
        """Of shares above cuts those that say most: at most one for each end."""
        return shares.around_quantile(self.level)

    def within(self, cut: ThresholdCut, share: Interval) -> Interval | None:
        """What the share above a cut says of it: inside the range."""
        bounds = quantile_implied(self.level, {cut: share})
        return bounds and Interval(
            *(min(max(end, self.range.low), self.range.high) for end in bounds)
        )


ValueAbout: TypeAlias = _Threshold | _Level


def value_about(question: Bound) -> ValueAbout | None:
    """The value that a question is about, and where: above or below a constant, or at a level."""
    return _threshold_of(question) or _quantile_level_of(question)


def _threshold_of(question: Bound) -> _Threshold | None:
    """The value and the constant that a share is about.

    Above and below are shares of the same rows, those that have the value.
    """
    among = mean_within(question, complete=False)
    match among:
        case (
            RowValue(source=Operation(op, (number, Constant(value=float(constant))))),
            inside,
        ) if op in _ABOVE:
            strict, turned = _ABOVE[op]
            base, ends = _unclipped(number)
            if not ends.low < constant < ends.high:
                base = number
            return _Threshold(_value_subject(base, inside), ThresholdCut(constant, strict), turned)
    return None


def _quantile_level_of(question: Bound) -> _Level | None:
    """The value and the level that a quantile is about, where every row has the value."""
    if not isinstance(question, Quantile) or question.value.known != build.TRUE:
        return None
    among = mean_within(question.threshold(question.low), complete=False)
    level = Fraction(question.level)
    if among is None:
        return None
    if isinstance(question, OpenQuantile):
        everywhere = Interval(-math.inf, math.inf)
        return _Level(_value_subject(question.number, among[1]), level, everywhere)
    base, ends = _unclipped(as_counted(question.value))
    if not math.isfinite(ends.low):
        ends = Interval(question.low, question.high)
    return _Level(_value_subject(base, among[1]), level, ends)


def _unclipped(number: Expression) -> tuple[Expression, Interval]:
    """The number inside a clip, and its ends: strictly between them thresholds are the same.

    What stands in where it is missing, and it never is, is left out.
    """
    match number:
        case Operation(Op.COALESCE, (first, *_)) if not may_be_missing(first):
            return _unclipped(first)
        case Operation(Op.CLIP, (inner, Constant(value=float(low)), Constant(value=float(high)))):
            return inner, Interval(low, high)
    return number, Interval(-math.inf, math.inf)


def mean_within(
    question: Bound, *, complete: bool = True
) -> tuple[RowValue, Expression | None] | None:
    """The value that a question is the mean of, and the rows that it is about (None: all).

    If it is `complete`, every one of the rows of its condition has the value.
    """
    match question:
        case OpenConditional():
            return None  # of a number without a range: what is in no group may be anywhere
        case Mean(row=value, variance=None):
            inside: Expression | None = None
        case GroupMean(value=value, inside=inside) | Conditional(value=value, inside=inside):
            pass
        case _:
            return None
    if complete and value.known != build.TRUE:
        return None
    return (value, inside) if isinstance(value.source, Expression) else None


def mean_of(number: Expression, inside: Expression | None) -> Mean | Conditional:
    """The mean of what is known in every row, among the rows of a group."""
    value = row_value(number)
    return Mean(value) if inside is None else Conditional(value, inside, inside)


def _conjuncts(inside: Expression | None) -> list[Expression]:
    match inside:
        case None:
            return []
        case Operation(Op.AND, conditions):
            return list(conditions)
    return [inside]


def further_condition(group: Expression | None, inside: Expression | None) -> Expression | None:
    """The one condition that a group has, and the rows around it have not."""
    own, around = _conjuncts(group), _conjuncts(inside)
    more = [each for each in own if each not in around]
    return more[0] if len(more) == 1 and len(own) == len(around) + 1 else None


def partitions_of(condition: Expression) -> list[str]:
    """By what a condition parts the rows: by the values of a column, or in two."""
    in_two = min(text_of(condition), text_of(build.negation(condition)))
    match condition:
        case Operation(Op.EQUAL, (Column(name=name), Constant())):
            return [in_two, f"values of {name}"]
    return [in_two]


def is_everything(conditions: Sequence[Expression]) -> bool:
    """Whether every row has one of the conditions: two of which one is the opposite."""
    return (
        len(conditions) == 2
        and not any(map(may_be_missing, conditions))
        and build.negation(conditions[0]) == conditions[1]
    )


def is_defined(question: Bound) -> bool:
    """Whether infinities leave no row without a value: else opposites may both not hold in one."""
    sources: tuple[object, ...] = ()  # where they may: of others nothing is implied
    match question:
        case Difference(first=first, second=second):
            return is_defined(first) and is_defined(second)
        case Total(mean=mean):
            return is_defined(mean)
        case Quantile():
            return is_defined(question.threshold(question.low))
        case Paired(first=first_value, second=second_value):
            sources = first_value.source, second_value.source
        case Mean(row=value):
            sources = (value.source,)
        case GroupMean(value=value, inside=inside) | Conditional(value=value, inside=inside):
            sources = value.source, inside
    return not any(isinstance(each, Expression) and may_be_undefined(each) for each in sources)


def columns_about(question: Bound) -> frozenset[str]:
    """The columns that a mean, or what follows from two of them, is about."""
    match question:
        case Difference(first=first, second=second):
            return columns_about(first) | columns_about(second)
        case Paired(first=first_value, second=second_value):
            return frozenset({*first_value.columns, *second_value.columns})
        case Total(mean=mean):
            return columns_about(mean)
        case Mean(row=value):
            return frozenset(value.columns)
        case GroupMean(value=value, inside=inside) | Conditional(value=value, inside=inside):
            return frozenset({*value.columns, *column_names(inside)})
    return frozenset(getattr(question, "columns", ()))  # without a range, it names its own


def _value_subject(number: Expression, inside: Expression | None) -> str:
    return f"values of {text_of(number)}{_among(inside)}"


def group_subject(value: RowValue, inside: Expression | None) -> str:
    return f"means of {value.text}{_among(inside)}"


def condition_subject(condition: Expression) -> str:
    return f"rows with {text_of(condition)}"


def _among(inside: Expression | None) -> str:
    return "" if inside is None else f" where {text_of(inside)}"


def subjects_of(question: Bound) -> tuple[str, ...]:
    """The subjects of a question: looks at it are found by them for others that follow from it."""
    question = statistic_of(question)
    value, junction, mean = (
        value_about(question),
        junction_of(question),
        mean_within(question),
    )
    subjects = [] if value is None else [value.subject]
    if junction is not None:
        subjects += [condition_subject(each) for each in junction[1]]
    if mean is not None:
        conditions = _conjuncts(mean[1])
        for each in conditions:
            others = [other for other in conditions if other is not each]
            around = build.conjunction(others) if others else None
            subjects.append(group_subject(mean[0], around))
    return tuple(dict.fromkeys(subjects))
