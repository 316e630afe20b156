"""Plays that run: those of any question, and of several side by side, batch by batch.

Who answers the parts is up to the caller: the protected rows, public stand-ins, or a ledger in
which they were answered before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, TypeAlias

from holdfast import require
from holdfast.errors import InvalidArgument, Refused
from holdfast.statistics.derived import Paired, batches, is_derived, is_single, staged
from holdfast.statistics.entry import Bound
from holdfast.statistics.play import Estimate, Joined, Play, Subquestion, alone, fraction
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval

__all__ = ["Due", "Plays", "Side", "is_whole", "play_of", "played"]

Due: TypeAlias = list[
    tuple[int, Subquestion]
]  # the parts of one batch, each with its question's place
Side: TypeAlias = Literal["at most", "at least"]
_ROUNDED = 2.0**-40  # of a range: far more than its ends are rounded outwards
_Shortened: TypeAlias = Callable[[int, Sequence[Subquestion]], Sequence[Subquestion] | None]


def play_of(
    question: Bound, guess: float | None, tolerance: float, *, once: bool, side: Side | None = None
) -> Play:
    """The play of any question; a guess is a number in its own unit, or with a `side` its bound.

    `once`: the mechanism answers one batch, and no more.
    """
    if side is not None:
        return _one_sided(question, guess, side)
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


def _one_sided(question: Bound, bound: float | None, side: Side) -> Play:
    """The play of a claim that it is at most, or at least, a bound; the whole range is no claim."""
    ((statistic,),) = (
        batches(question, numbers=True) if isinstance(question, Paired) else ((question,),)
    )
    if not is_single(statistic):
        raise InvalidArgument(
            "one side can be checked of a mean over all rows or over a design group; check this "
            "with guess=."
        )
    name = side.replace(" ", "_")
    place = fraction(bound, statistic, name)
    claim = (0.0, place) if side == "at most" else (place, 1.0)
    if claim == (0.0, 1.0) and statistic.low < statistic.high:
        raise InvalidArgument(
            f"{name} is {bound:g}, and {statistic.text} is never beyond it: the claim says "
            f"nothing. Claim less than its range {Interval(statistic.low, statistic.high)}; "
            "nothing was spent."
        )
    return _claimed(question, Subquestion(statistic, place, claim))


def _claimed(question: Bound, part: Subquestion) -> Play:
    (found,) = yield [part]
    if is_derived(question):
        return question.join([found])
    return Joined(found.value, found.interval)


class Plays:
    """Several plays side by side: what is due of all of them is put together.

    `results` are what they returned, None for one that has not ended or was shortened.
    """

    def __init__(self, plays: Sequence[Play]) -> None:
        self.results: list[Joined | None] = [None] * len(plays)
        self._plays = plays
        self._due: dict[int, Sequence[Subquestion]] = {}
        self._ended: dict[
            int, Sequence[Subquestion]
        ] = {}  # what is still put of those that go no further
        for place, play in enumerate(plays):
            self._go_on(place, play.__next__)

    @property
    def going(self) -> bool:
        """Whether something is due."""
        return bool(self._due)

    def batch(self, shortened: _Shortened) -> Due:
        """What is to be put now.

        `shortened` may end a play: with those of its parts that are still to be put, and no result.
        """
        found = {place: shortened(place, parts) for place, parts in self._due.items()}
        self._ended = {place: left for place, left in found.items() if left is not None}
        return [
            (place, part)
            for place, parts in self._due.items()
            for part in self._ended.get(place, parts)
        ]

    def send(self, answers: Iterable[Estimate]) -> None:
        """What was put is answered, in its order."""
        found: Iterator[Estimate] = iter(answers)
        for place, parts in list(self._due.items()):
            own = [next(found) for _ in self._ended.get(place, parts)]
            if place in self._ended:
                self._due.pop(place)
            else:
                self._go_on(place, partial(self._plays[place].send, own))

    def refuse(self, refusal: Refused) -> None:
        """What was put is refused; a play that can say nothing then raises the refusal."""
        for place in list(self._due):
            self._go_on(place, partial(self._plays[place].throw, refusal))

    def _go_on(self, place: int, step: Callable[[], Sequence[Subquestion]]) -> None:
        try:
            self._due[place] = step()
        except StopIteration as end:
            self.results[place] = end.value
            self._due.pop(place, None)


def _never(_place: int, _due: Sequence[Subquestion]) -> Sequence[Subquestion] | None:
    return None


def played(
    plays: Sequence[Play],
    put: Callable[[Due], Sequence[Estimate]],
    shortened: _Shortened = _never,
) -> list[Joined | None]:
    """What all plays return; `put` answers the parts that are due."""
    running = Plays(plays)
    while running.going:
        batch = running.batch(shortened)
        try:
            found = put(batch) if batch else ()
        except Refused as refusal:
            running.refuse(refusal)
        else:
            running.send(found)
    return running.results


def is_whole(interval: Interval, question: Bound) -> bool:
    """Whether an interval is all of the range but for roundings, so that it says nothing."""
    low, high = question.low, question.high
    rounded = (high - low) * _ROUNDED
    return low < high and interval.low <= low + rounded and interval.high >= high - rounded
