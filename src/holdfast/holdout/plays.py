"""Questions chosen together, played: what is due of all of them is put together, batch by batch.

Every interval that a part is given is true together with all others, so what follows from them is
true with them, at no further cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from holdfast import require
from holdfast.errors import Refused
from holdfast.holdout.answer import Answer
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import Guess
from holdfast.mechanisms.mechanism import Wish, about
from holdfast.statistics.derived import is_derived, is_single, staged
from holdfast.statistics.play import Estimate, Joined, Play, Subquestion, alone
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.registry import Bound
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval

__all__ = ["Due", "answered", "claimed", "is_whole", "play_of", "played", "wish_of"]

# The parts of one batch, each with its question's place.
Due: TypeAlias = list[tuple[int, Subquestion]]


def play_of(question: Bound, guess: float | None, tolerance: float, *, once: bool) -> Play:
    """The play of any question; a guess is a number in its own unit.

    `once`: the mechanism answers one batch, and no more.
    """
    if guess is not None:
        require.between("guess", guess, question.low, question.high)
    if isinstance(question, Quantile):
        return question.play(guess, tolerance)
    if is_derived(question):
        return staged(question, guess, once=once)
    return alone(_single(question), guess)


def _single(question: Bound) -> Statistic:
    if not is_single(question):
        raise TypeError(f"{question.text} is no statistic that one symbol answers")
    return question


def played(
    plays: Sequence[Play],
    put: Callable[[Due], Sequence[Estimate]],
    shortened: Callable[
        [int, Sequence[Subquestion]], Sequence[Subquestion] | None
    ] = lambda _place, _due: None,
) -> list[Joined | None]:
    """What all plays return; `put` answers the parts that are due.

    `shortened` may end a play: with those of its parts that are still to be put, and no result.
    """
    results: list[Joined | None] = [None] * len(plays)
    due: dict[int, Sequence[Subquestion]] = {}

    def go_on(place: int, step: Callable[[], Sequence[Subquestion]]) -> None:
        try:
            due[place] = step()
        except StopIteration as end:
            results[place] = end.value
            due.pop(place, None)

    for place, play in enumerate(plays):
        go_on(place, play.__next__)
    while due:
        ended = {}
        for place, parts in due.items():
            left = shortened(place, parts)
            if left is not None:
                ended[place] = left
        batch = [(place, part) for place in due for part in ended.get(place, due[place])]
        try:
            found = iter(put(batch) if batch else ())
        except Refused as refusal:
            for place in list(due):
                go_on(place, partial(plays[place].throw, refusal))
            continue
        for place, parts in list(due.items()):
            own = [next(found) for _ in ended.get(place, parts)]
            if place in ended:
                due.pop(place)
            else:
                go_on(place, partial(plays[place].send, own))
    return results


def _wishes_of(
    desk: Desk, parts: Sequence[Subquestion], guess: Guess, tolerance: float | None
) -> list[Wish]:
    """What is put to the desk: the analyst's own claims, and for other parts asks or guesses."""
    t = desk.half_width(tolerance)
    plain = [part.statistic for part in parts if part.guess is None]
    others = iter(desk.wishes(plain, guess.rows, tolerance) if plain else ())
    return [next(others) if part.guess is None else claimed(part, t, tolerance) for part in parts]


def claimed(part: Subquestion, t: float, tolerance: float | None) -> Wish:
    """What the analyst claims of a part: that it is about a guess, or on one side of it."""
    if part.claim is not None:
        return Wish(part.statistic, t, part.claim, part.guess, stated=True)
    wish = about(part.statistic, t, part.guess or 0.0)
    return replace(wish, narrow=tolerance is None, stated=True)


def wish_of(desk: Desk, statistic: Statistic, guess: Guess, tolerance: float | None) -> Wish:
    """As it is put to the desk, but for the guess, which matters to no cost."""
    t = desk.half_width(tolerance)
    checked = guess.rows is not None or desk.guesses(statistic)
    wish = about(statistic, t, 0.5) if checked else Wish(statistic, t)
    return replace(wish, narrow=tolerance is None)


@dataclass(slots=True)
class _Asked:
    """The answers that the parts of each question were given."""

    desk: Desk
    questions: Sequence[Bound]
    guess: Guess
    why: str | None
    tolerance: float | None
    silent: Callable[[int], bool]  # whether a question would say nothing, whatever comes
    answers: dict[int, list[Answer]] = field(default_factory=dict)

    def shortened(self, place: int, due: Sequence[Subquestion]) -> Sequence[Subquestion] | None:
        """What is still free of a question that is not followed up; None if it goes on."""
        if not self.silent(place):
            return None
        left = [part for part in due if part.guess is None and self._is_known(part)]
        return left if left or place in self.answers else None

    def _is_known(self, part: Subquestion) -> bool:
        wish = wish_of(self.desk, part.statistic, self.guess, self.tolerance)
        return self.desk.stored(wish) is not None

    def put(self, due: Due) -> list[Estimate]:
        parts = [part for _, part in due]
        wishes = _wishes_of(self.desk, parts, self.guess, self.tolerance)
        part_of = {
            part.statistic.text: self.questions[place].text
            for place, part in due
            if not is_single(self.questions[place])
        }
        found = self.desk.answer(wishes, self.why, part_of)
        for (place, _), answer in zip(due, found, strict=True):
            self.answers.setdefault(place, []).append(answer)
        return [answer.recorded.estimate for answer in found]


def answered(
    desk: Desk,
    questions: Sequence[Bound],
    guess: Guess,
    why: str | None,
    tolerance: float | None,
    silent: Callable[[int], bool],
) -> list[Answer]:
    """The answers to questions chosen together: one scan for each batch of parts.

    One that would say nothing, whatever comes, is not followed up.
    """
    t = desk.half_width(tolerance)
    asked = _Asked(desk, questions, guess, why, tolerance, silent)
    plays = [
        play_of(each, guess.of(place), t, once=desk.once) for place, each in enumerate(questions)
    ]
    found = played(plays, asked.put, asked.shortened)
    return [
        asked.answers[place][0]
        if is_single(question)
        else _whole(question, found[place], asked.answers[place])
        for place, question in enumerate(questions)
    ]


def is_whole(interval: Interval, question: Bound) -> bool:
    """Whether an interval is all of the range, so that it says nothing."""
    low, high = question.low, question.high
    return low < high and interval.low <= low and interval.high >= high


def _whole(question: Bound, joined: Joined | None, parts: Sequence[Answer]) -> Answer:
    """The answer of a statistic from the answers of its parts."""
    found = joined or Joined(None, Interval(question.low, question.high))
    statuses = {part.status for part in parts}
    kinds = ("no promise", "surprise", "answered", "confirmed")
    fresh = [each for each in kinds if each in statuses]
    last = parts[-1]
    silent = is_whole(found.interval, question) and (
        found.value is None or last.left.terms.promises
    )
    low, high = found.interval
    middle = low + (high - low) / 2  # of an interval that says something
    recorded = replace(
        last.recorded,
        question=question.text,
        status="says nothing" if silent else fresh[0] if fresh else last.recorded.status,
        value=None if silent else middle if found.value is None else found.value,
        interval=found.interval,
        range=Interval(question.low, question.high),
        guess=None,
        claim=None,
        charge=sum(part.cost for part in parts),
    )
    return Answer(recorded, last.left, repeated=not fresh)
