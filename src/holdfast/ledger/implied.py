"""Implied intervals: what released answers already say of a question, at no charge.

A claim that is true whenever earlier released claims are true needs no look at data (section 13.3
of docs/theory.md). What is implied is a function of looks that the ledger has: those at the same
question or at its event, those at its complement or its turned difference, those at the two means
that a difference is of, those at the conditions of which all or one must hold, other thresholds and
quantiles of the same value, the groups that a mean is made of, and gates that were shown one after
another. A line names the looks that it used, so that an audit comes to the same from them alone.

Answers of text questions at other thresholds, at conditions that hold together with one, and at
groups are found by the `subjects` that their reservation names; of each subject the newest are
used, so that a question takes no longer in a long ledger. Looks with noise, and claims, of which
there are many and which say little of each other, name none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from operator import is_
from typing import Protocol, TypeAlias

from holdfast.data.design import ANY_GROUP
from holdfast.data.sampling import Independent
from holdfast.errors import HoldfastError
from holdfast.ledger.composites import Followed, restated
from holdfast.ledger.entries import Recorded
from holdfast.ledger.subjects import (
    ShareAbove,
    SharesAbove,
    ValueAbout,
    columns_about,
    condition_of_share,
    condition_subject,
    further_condition,
    group_subject,
    is_defined,
    is_everything,
    junction_of,
    mean_of,
    mean_within,
    partitions_of,
    statistic_of,
    value_about,
)
from holdfast.ledger.transcript import Transcript, is_keyless
from holdfast.mechanisms.mechanism import CLOSE
from holdfast.question import build
from holdfast.question.expression import Expression, Op, text_of
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.bind import asked_again, event_text
from holdfast.statistics.derived import (
    Difference,
    Joined,
    Paired,
    Total,
    as_counted,
    counted_condition,
)
from holdfast.statistics.description import DescribedQuestion, described_again, truth_of
from holdfast.statistics.entry import Bound, Table
from holdfast.statistics.mean import Mean, expression_of
from holdfast.statistics.rule import Ground
from holdfast.statistics.spelling import paired_of
from holdfast.theory.base.implied import (
    ShownGates,
    conjunction_implied,
    difference_implied,
    disjunction_implied,
    intersection_implied,
    linear_implied,
    whole_implied,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below

_TELLING = ("answered", "confirmed", "shown")  # the statuses of looks that say something
_DIFFERENCE = "difference("  # how the text of one begins


class ReleasedLooks(Protocol):
    """Looks that were released: all of a ledger, or those that a line names."""

    def looks_at(self, question: str) -> Sequence[Recorded]:
        """The looks at one question."""
        ...

    def looks_at_event(self, event: str) -> Sequence[Recorded]:
        """The looks at one event."""
        ...

    def looks_about(self, subject: str) -> Sequence[Recorded]:
        """The newest looks that may be used for others with a subject."""
        ...

    @property
    def answers(self) -> Sequence[Recorded]:
        """Every look."""
        ...

    @property
    def describes(self) -> bool:
        """Whether there is an answer of a text question: only such have events and subjects."""
        ...


@dataclass(frozen=True, slots=True)
class NamedLooks:
    """The looks that a line names, and no others."""

    answers: Sequence[Recorded]

    def looks_at(self, question: str) -> Sequence[Recorded]:
        return [each for each in self.answers if each.question == question]

    def looks_at_event(self, event: str) -> Sequence[Recorded]:
        return [each for each in self.answers if each.event == event]

    def looks_about(self, subject: str) -> Sequence[Recorded]:
        return [each for each in self.answers if subject in each.subjects]

    @property
    def describes(self) -> bool:
        return any(each.bits is not None for each in self.answers)


@dataclass(frozen=True, slots=True)
class Implied:
    """An interval that released answers imply, and the looks that its two ends follow from.

    Where these contradict each other, which is possible only if one of them is false, it has no
    `interval`: nothing is implied.
    """

    interval: Interval | None
    low_from: tuple[int, ...]
    high_from: tuple[int, ...]

    @property
    def looks(self) -> tuple[int, ...]:
        """The looks behind both ends, in order."""
        return tuple(sorted({*self.low_from, *self.high_from}))

    def narrowing(self, interval: Interval) -> tuple[int, ...]:
        """The looks by which an interval becomes narrower; none where it does not."""
        own = self.interval
        if own is None:
            return ()
        widths = [high - low for low, high in (own, interval) if math.isfinite(high - low)]
        rounded = CLOSE * min(widths, default=0.0)  # so much narrower is no narrower
        low = self.low_from if own.low > interval.low + rounded else ()
        high = self.high_from if own.high < interval.high - rounded else ()
        return tuple(sorted({*low, *high}))


def intersected(followed: Followed, implied: Implied | None, question: Bound) -> Followed:
    """A play that has ended, intersected with what earlier answers imply of its question.

    Where they contradict what was found, nothing is implied. Answers that promise nothing stay as
    they are.
    """
    if implied is None or any(each.status == "no promise" for each in followed.looks):
        return followed
    joined = followed.joined or Joined(None, Interval(question.low, question.high))
    together = implied.interval and intersection_implied([joined.interval, implied.interval])
    if together is None:
        return replace(followed, known=implied.looks, contradict=True)
    narrowing = implied.narrowing(joined.interval)
    if not narrowing:
        return followed
    return replace(
        followed, joined=Joined.within(joined.value, joined.interval, *together), known=narrowing
    )


_Source: TypeAlias = "Implied | None"  # None: nothing was released of it


def _meet(sources: Iterable[_Source]) -> _Source:
    """What all of them say together."""
    each = [source for source in sources if source is not None]
    if not each:
        return None
    intervals = [source.interval for source in each]
    contradicting = [source for source in each if source.interval is None]
    if contradicting:
        return contradicting[0]
    consistent = [interval for interval in intervals if interval is not None]
    lows, highs = zip(*consistent, strict=True)
    lowest, highest = lows.index(max(lows)), highs.index(min(highs))
    together = intersection_implied(consistent)
    return Implied(together, each[lowest].low_from, each[highest].high_from)


def _linear(source: _Source, factor: int, offset: int = 0) -> _Source:
    if source is None or source.interval is None:
        return source
    interval = linear_implied(source.interval, Fraction(factor), Fraction(offset))
    ends = (source.low_from, source.high_from)
    return Implied(interval, *(ends if factor > 0 else reversed(ends)))


def _apart(first: _Source, second: _Source) -> _Source:
    for side in (first, second):
        if side is not None and side.interval is None:
            return side
    if first is None or second is None or first.interval is None or second.interval is None:
        return None
    if not all(map(math.isfinite, (*first.interval, *second.interval))):
        return None  # of a half-line the question itself says as much
    return Implied(
        difference_implied(first.interval, second.interval),
        (*first.low_from, *second.high_from),
        (*first.high_from, *second.low_from),
    )


def _joined(op: Op, shares: Sequence[_Source]) -> _Source:
    """What the shares of conditions say of that where all hold, or one at least.

    An unknown share is in [0, 1]: for all conditions it leaves no lower end, for one no upper.
    """
    telling = [each for each in shares if each is not None]
    consistent = [(each.interval, each) for each in telling if each.interval is not None]
    if len(consistent) < len(telling) or not consistent:
        return next((each for each in telling if each.interval is None), None)
    of_two = conjunction_implied if op is Op.AND else disjunction_implied
    intervals = [interval for interval, _ in consistent] + [_ANY] * (len(consistent) < len(shares))
    together: Interval | None = intervals[0]
    for interval in intervals[1:]:
        together = together and of_two(together, interval)
    if op is Op.AND:
        least = min(consistent, key=lambda each: each[0].high)[1].high_from
        return Implied(together, tuple(n for _, each in consistent for n in each.low_from), least)
    most = max(consistent, key=lambda each: each[0].low)[1].low_from
    return Implied(together, most, tuple(n for _, each in consistent for n in each.high_from))


_ANY = Interval(0.0, 1.0)
_MOST_PARTED = 4  # conditions of which every two parts are tried
_MOST_VALUES = 16_384  # questions of which it is known what value they are about


def _says(look: Recorded) -> _Source:
    """What one look says by itself: nothing, where its answer promises or says nothing.

    What is true of these rows alone, as the effect of arms that were drawn, says nothing of others.
    """
    if look.look is None or not _is_telling(look):
        return None
    return Implied(look.interval, (look.look,), (look.look,))


def _is_telling(look: Recorded) -> bool:
    return look.status in _TELLING and truth_of(look.rule) is None


@dataclass(slots=True)
class Implications:
    """What follows for questions of one table from looks that were released.

    Rules 1 to 7 of section 13.3; nothing is chained but differences of means of the same rows, and
    what is implied of a question is never used for another one. What is said of rows as they are
    alone, by `keyed` columns, and what is said of the population say nothing of each other.
    """

    ground: Ground | None
    table: Callable[[], Table]  # with the columns that were attached so far
    keyed: Callable[[frozenset[str]], bool] = field(default=lambda _: False)
    _has_other_truths: bool = field(init=False)
    _described: dict[str, DescribedQuestion | None] = field(default_factory=dict)
    _read: dict[str, Bound | None] = field(default_factory=dict)
    _values: dict[str, ValueAbout | None] = field(default_factory=dict)  # by questions' texts
    _above: dict[str, tuple[Sequence[Recorded], SharesAbove]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._has_other_truths = self.ground is not None and self.ground.has_other_truths

    @classmethod
    def within(cls, transcript: Transcript, ground: Ground | None) -> Implications:
        """What follows in a ledger."""

        def keyed(columns: frozenset[str]) -> bool:
            return not is_keyless(transcript, columns)

        return cls(ground, lambda: transcript.table, keyed)

    def of(
        self, question: Bound, released: ReleasedLooks, *, chained: bool = True
    ) -> Implied | None:
        """What is implied of a question; None where nothing was released that says something.

        Only if it is `chained` are all looks read, for differences that follow from others.
        """
        question = statistic_of(question)
        form = self._with_rule(question.text) if self._has_other_truths else None
        if form is not None and truth_of(form.rule) is not None:
            return None  # of these rows: what is known of the population is about something else
        if not is_defined(question):
            return _meet(map(_says, self._looks(question, released)))
        sources = [self._part(question, released)]
        if isinstance(question, Total):
            sources.append(_linear(self._part(question.mean, released), question.population))
        pair = _pair(question)
        sides = _sides(question, pair)
        if sides is not None and self._are_alike(question, sides):
            sources.append(_apart(*(self._part(side, released) for side in sides)))
        if chained and pair is not None:
            sources.append(_chain(pair[0].text, pair[1].text, self._edges(question, released)))
        sources += self._junctions(question, released)
        if released.describes:
            sources += self._larger_junctions(question, released)
            sources += self._thresholds(question, released)
            sources += self._wholes(question, released)
        return _meet(sources)

    def _are_alike(self, question: Bound, others: Iterable[Bound]) -> bool:
        """Whether the truths of all are about the population, or all about these rows alone."""
        kinds = {self.keyed(columns_about(each)) for each in (question, *others)}
        return len(kinds) == 1

    def _junctions(self, question: Bound, released: ReleasedLooks) -> Iterator[_Source]:
        """Rule 3: from the conditions of which all, or one, must hold."""
        junction = junction_of(question)
        if junction is None:
            return
        op, conditions = junction
        for split in _splits(conditions):
            shares = [_share_of(op, each) for each in split]
            if self._are_alike(question, shares):
                yield _joined(op, [self._part(each, released) for each in shares])

    def _larger_junctions(self, question: Bound, released: ReleasedLooks) -> Iterator[_Source]:
        """Rule 3: from shares where its condition holds with others, or one of them at least."""
        condition = condition_of_share(question) if isinstance(question, Mean) else None
        if condition is None:
            return
        for look in released.looks_about(condition_subject(condition)):
            other, source = self._question_of(look.question), _says(look)
            joint = None if other is None else junction_of(other)
            if source is None or other is None or joint is None:
                continue
            if self._are_alike(question, [other]):
                yield _bounding(joint[0], source)

    def _thresholds(self, question: Bound, released: ReleasedLooks) -> Iterator[_Source]:
        """Rule 4: from shares above other constants, and from quantiles, of the same value."""
        own = value_about(question)
        if len(self._values) >= _MOST_VALUES:
            self._values = {}  # another thread may be reading the old one
        self._values[question.text] = own  # it may soon be a look itself
        looks = () if own is None else released.looks_about(own.subject)
        if own is None or not looks:
            return
        shares = self._shares_above(own.subject, looks).without(question.text)
        for cut, share, number, _ in own.tightest(shares):
            yield Implied(own.within(cut, share), (number,), (number,))

    def _shares_above(self, subject: str, looks: Sequence[Recorded]) -> SharesAbove:
        """What looks say of shares above constants, of the value of a subject.

        It is kept between questions: only what is new is read, and what is too old left out.
        """
        # It is taken out until it is whole again: a call may be interrupted.
        before, shares = self._above.pop(subject, ((), SharesAbove()))
        dropped = next(
            (place for place, look in enumerate(before) if look is looks[0]), len(before)
        )
        remaining = before[dropped:]
        if len(remaining) > len(looks) or not all(map(is_, remaining, looks)):
            dropped, remaining, shares = 0, (), SharesAbove()
        for look in before[:dropped]:
            shares.forget(look.look or 0)
        for look in looks[len(remaining) :]:
            shares.add(self._shares(subject, look))
        self._above[subject] = looks, shares
        return shares

    def _shares(self, subject: str, look: Recorded) -> Iterator[ShareAbove]:
        """What a look says of shares above constants, of the value of a subject."""
        text = look.question
        if look.look is None or not _is_telling(look):
            return
        values = self._values
        if text not in values:
            question = self._question_of(text)
            values[text] = None if question is None else value_about(question)
        about = values[text]
        if about is not None and about.subject == subject:
            for cut, share in about.shares(look.interval).items():
                yield ShareAbove(cut, share, look.look, text)

    def _wholes(self, question: Bound, released: ReleasedLooks) -> Iterator[_Source]:
        """Rule 5: from the means of groups and their shares, by each way to part the rows.

        What is in no group has a share, too, and a mean in the range; it is none where a group is
        all that another is not. Of rows that depend on each other truths may be of two kinds.
        """
        whole = mean_within(question)
        rows = None if self.ground is None else self.ground.sampling
        if whole is None or not isinstance(rows, Independent):
            return
        value, inside = whole
        groups: dict[str, dict[str, tuple[Expression, list[_Source]]]] = {}  # by what parts them
        for look in released.looks_about(group_subject(value, inside)):
            source, other = _says(look), self._question_of(look.question)
            group = None if other is None else mean_within(other)
            if source is None or group is None or group[0].text != value.text:
                continue
            condition = further_condition(group[1], inside)
            if condition is None:
                continue
            for partition in partitions_of(condition):
                among = groups.setdefault(partition, {})
                among.setdefault(text_of(condition), (condition, []))[1].append(source)
        for among in groups.values():
            yield self._whole(question, whole, list(among.values()), released)

    def _whole(
        self,
        question: Bound,
        whole: tuple[RowValue, Expression | None],
        groups: Sequence[tuple[Expression, list[_Source]]],
        released: ReleasedLooks,
    ) -> _Source:
        """The mean of the rows that are parted by the conditions of these groups."""
        value, inside = whole
        boxes: list[tuple[Interval, Interval]] = []
        looks: list[int] = []
        for condition, sources in groups:
            # Of all rows: where the condition is unknown, a row is in no group.
            share = mean_of(counted_condition(condition), inside)
            if not self._are_alike(question, [share, mean_of(expression_of(value), condition)]):
                return None
            of_share, of_mean = self._part(share, released), _meet(sources)
            if of_share is None or of_mean is None:
                continue
            if of_share.interval is None or of_mean.interval is None:
                return of_mean if of_share.interval is not None else of_share
            boxes.append((of_share.interval, of_mean.interval))
            looks += [*of_share.looks, *of_mean.looks]
        if not boxes:
            return None
        conditions = [condition for condition, _ in groups]
        if len(boxes) < len(groups) or not is_everything(conditions):
            boxes.append((_ANY, Interval(question.low, question.high)))
        return Implied(whole_implied(boxes), tuple(looks), tuple(looks))

    def _question_of(self, text: str) -> Bound | None:
        """What the text of a look asks for; None where nothing follows from it, or nobody knows."""
        if text not in self._read:
            question = self._bound_again(text)
            self._read[text] = None if question is None or not is_defined(question) else question
        return self._read[text]

    def _bound_again(self, text: str) -> Bound | None:
        table = self.table()
        # To be described, a group may be of any condition, and a quantile's is by that alone.
        for each in (table, replace(table, design=ANY_GROUP)):
            with suppress(HoldfastError):
                return statistic_of(asked_again(text, each))
        return None

    def _edges(self, around: Bound, released: ReleasedLooks) -> list[_Edge]:
        """The released differences of means of all rows, by the texts of their values.

        Between two values of the population no value stands that was made for these rows' keys.
        """
        edges = []
        for look in released.answers:
            if look.status != "shown" and not look.question.startswith(_DIFFERENCE):
                continue
            source, question = _says(look), self._question_of(look.request.question)
            pair = None if question is None else _pair(question)
            if source is None or question is None or pair is None:
                continue
            if look.question in _texts(question) and self._are_alike(around, [question]):
                edges.append(_Edge(pair[0].text, pair[1].text, source))
        return edges

    def _part(self, question: Bound, released: ReleasedLooks) -> _Source:
        """What looks at the same part say: at the question itself, or at it turned over."""
        looks = self._looks(question, released)
        turned, both = _turned(question)
        others = [] if turned is None else self._looks(turned, released)
        if not looks and not others:
            return None
        own = {each.look for each in looks}
        other = _meet(_says(each) for each in others if each.look not in own)
        return _meet([*map(_says, looks), _linear(other, -1, both)])

    def _looks(self, question: Bound, released: ReleasedLooks) -> list[Recorded]:
        """The looks at a question, and what those at its event say of it."""
        texts = _texts(question)
        own, looks = texts[0], [look for text in texts for look in released.looks_at(text)]
        event = event_text(question) if released.describes else None
        others = () if event is None else released.looks_at_event(event)
        others = [each for each in others if each.question != own]
        form = self._with_rule(own) if others else None  # which takes long to find
        if form is not None:
            looks += [each for each in (restated(look, form) for look in others) if each]
        return looks

    def _with_rule(self, text: str) -> DescribedQuestion | None:
        """The question with the rule of its description; None where its text does not say it."""
        if text not in self._described:
            self._described[text] = None
            with suppress(HoldfastError):  # it has no description
                self._described[text] = described_again(text, self.ground)
        return self._described[text]


@dataclass(frozen=True, slots=True)
class _Edge:
    """A released difference of the means of two values, which are named by their texts.

    Columns that were attached are called by the first name of their digest in every text.
    """

    first: str
    second: str
    source: Implied


def _chain(first: str, second: str, edges: Sequence[_Edge]) -> _Source:
    """What differences that were released one after another say of a third; rule 6."""
    gates = _gates(edges)
    if gates.contradict:
        every = _looks(edges)
        return Implied(None, every, every)
    low, high = gates.margin(first, second), gates.margin(second, first)
    if low is None and high is None:
        return None
    interval = Interval(
        -math.inf if low is None else float_below(low),
        math.inf if high is None else float_above(-high),
    )
    return Implied(interval, _needed(first, second, edges), _needed(second, first, edges))


def _gates(edges: Sequence[_Edge]) -> ShownGates:
    """Both ends of every difference: the first is better by its low end, the second by minus the
    high one."""
    margins = []
    for edge in edges:
        if edge.source.interval is not None:
            low, high = edge.source.interval
            margins += [(edge.first, edge.second, low), (edge.second, edge.first, -high)]
    return ShownGates.of(each for each in margins if math.isfinite(each[2]))


def _needed(first: str, second: str, edges: Sequence[_Edge]) -> tuple[int, ...]:
    """The looks without which the margin of one over the other would be less."""
    needed, margin = list(edges), _gates(edges).margin(first, second)
    for edge in edges if margin is not None else ():
        others = [each for each in needed if each is not edge]
        if _gates(others).margin(first, second) == margin:
            needed = others
    return () if margin is None else _looks(needed)


def _looks(edges: Iterable[_Edge]) -> tuple[int, ...]:
    return tuple(sorted({look for edge in edges for look in edge.source.looks}))


def _texts(question: Bound) -> list[str]:
    """The texts by which looks at a question are found; one difference has two."""
    if isinstance(question, Paired):
        return [question.text, question.stages[-1][0].text]
    return [question.text]


def _sides(question: Bound, pair: tuple[RowValue, RowValue] | None) -> tuple[Bound, Bound] | None:
    """The two means that a question is the difference of.

    Of values of the same rows they are only where no row can be without a value: else each mean
    leaves out its own rows, and their difference the rows that lack either.
    """
    if isinstance(question, Difference):
        return question.first, question.second
    return None if pair is None else (Mean(pair[0]), Mean(pair[1]))


def _pair(question: Bound) -> tuple[RowValue, RowValue] | None:
    """Two values of all rows whose mean difference a question is; none of a row is missing."""
    pair: tuple[RowValue, RowValue] | None = None
    if isinstance(question, Paired):
        pair = question.first, question.second
    elif isinstance(question, Mean) and question.variance is None:
        source = question.row.source
        pair = paired_of(source) if isinstance(source, Expression) else None
    if pair is None or any(value.known != build.TRUE for value in pair):
        return None
    return pair


def _splits(conditions: Sequence[Expression]) -> Iterator[list[tuple[Expression, ...]]]:
    """Ways to part conditions: each by itself, and few of them in two."""
    yield [(each,) for each in conditions]
    if not 2 < len(conditions) <= _MOST_PARTED:
        return
    for size in range(1, len(conditions) - 1):
        for others in combinations(conditions[1:], size):
            rest = tuple(each for each in conditions[1:] if each not in others)
            yield [(conditions[0], *rest), others]
    yield [(conditions[0],), tuple(conditions[1:])]


def _share_of(op: Op, conditions: Sequence[Expression]) -> Mean:
    """The share of rows where all of the conditions hold, or one at least."""
    joined = build.conjunction if op is Op.AND else build.disjunction
    return Mean(row_value(joined(list(conditions))))


def _bounding(op: Op, source: Implied) -> Implied:
    """What the share where a condition holds with others says of its own: one end."""
    interval = source.interval or _ANY
    if op is Op.AND:
        return replace(source, interval=Interval(interval.low, 1.0))
    return replace(source, interval=Interval(0.0, interval.high))


def _turned(question: Bound) -> tuple[Bound | None, int]:
    """The share of all other rows, or the difference with its sign changed; what both add up to."""
    among = mean_within(question)
    if among is not None and among[0].is_condition:
        value, inside = among
        return mean_of(build.negation(expression_of(value)), inside), 1
    if isinstance(question, Difference):
        return Difference(question.second, question.first), 0
    pair = _pair(question)
    if pair is None:
        return None, 0
    first, second = pair
    if isinstance(question, Paired):
        return Paired(second, first), 0
    turned = build.arithmetic(Op.SUBTRACT, *map(as_counted, (second, first)))
    return Mean(row_value(turned)), 0
