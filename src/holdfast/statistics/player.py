"""Plays that run: those of any question, and of several side by side, batch by batch.

Who answers the parts is up to the caller: the protected rows, public stand-ins, or a ledger in
which they were answered before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Literal, TypeAlias, cast

from holdfast import require
from holdfast.errors import InvalidArgument, Refused
from holdfast.statistics.claimed import ClaimedQuestion
from holdfast.statistics.derived import (
    Conditional,
    Estimate,
    Joined,
    Paired,
    Play,
    Subquestion,
    all_parts,
    batches,
    is_derived,
    staged,
)
from holdfast.statistics.entry import Bound
from holdfast.statistics.kappa_losses import LossByKappa
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic, fraction, is_single
from holdfast.theory.base.intervals import Interval

Due: TypeAlias = list[
    tuple[int, Subquestion]
]  # the parts of one batch, each with its question's place
Side: TypeAlias = Literal["at most", "at least"]
Verb: TypeAlias = Literal["ask", "check", "gate"]
_ROUNDED = 2.0**-40  # of a range: far more than its ends are rounded outwards
_Shortened: TypeAlias = Callable[[int, Sequence[Subquestion]], Sequence[Subquestion] | None]


def play_of(
    question: Bound,
    guess: float | None,
    tolerance: float,
    *,
    once: bool,
    side: Side | None = None,
    verb: Verb = "ask",
    described: Callable[[], Bound | None] = lambda: None,
) -> Play:
    """The play of any question; a guess is a number in its own unit, or with a `side` its bound.

    `once`: the mechanism answers one batch, and no more. What is `described` is asked by its
    description if it is not confirmed, and if no side can be claimed of it.
    """
    if side is not None and one_sided_statistic(question) is None:
        answer = described()
        if answer is not None:
            return _guessed(answer, None, tolerance, once, None)
    if verb == "gate":
        return _one_sided(question, guess, side, strictly=True)
    play = _guessed(question, guess, tolerance, once, side)
    single = question if is_single(question) else None
    if isinstance(question, ClaimedQuestion):
        answered = _asked_instead(play, question, tolerance, once, described)
    else:
        answered = _followed_up(play, lambda: described() or single)
    return answered if verb == "ask" else _or_silent(answered, question)


def _guessed(
    question: Bound, guess: float | None, tolerance: float, once: bool, side: Side | None
) -> Play:
    if side is not None:
        return _one_sided(question, guess, side)
    if guess is not None:
        require.between("guess", guess, question.low, question.high)
    if is_single(question):
        return _alone(question, guess)
    if isinstance(question, Quantile):
        return question.play(guess, tolerance)
    if is_derived(question):
        return staged(question, guess, once=once)
    raise TypeError(f"{question.text} is no statistic that one symbol answers")


def _alone(statistic: Statistic, guess: float | None) -> Play:
    """The play of a statistic that one symbol answers."""
    (estimate,) = yield [
        Subquestion(statistic, None if guess is None else fraction(guess, statistic))
    ]
    return Joined(estimate.value, estimate.interval)


def _followed_up(play: Play, whole_question: Callable[[], Bound | None]) -> Play:
    """The play with an answer after every claim that is refuted.

    That is the answer to the whole question. Where it cannot be asked at once, the parts that were
    refuted are asked. What else is refused is for the play to bear.
    """
    step = play.__next__
    while True:
        try:
            batch = step()
        except StopIteration as end:
            return cast("Joined", end.value)
        try:
            estimates = list((yield batch))
            refuted = [place for place, each in enumerate(estimates) if each.refuted]
            whole = whole_question() if refuted else None
            if refuted and whole is None:
                parts = [Subquestion(batch[place].statistic, refuted=True) for place in refuted]
                for place, answer in zip(refuted, (yield parts), strict=True):
                    estimates[place] = answer
        except Refused as refusal:
            step = partial(play.throw, refusal)
            continue
        if refuted and is_derived(whole):
            return whole.join((yield [Subquestion(part) for part in all_parts(whole)]))
        if refuted and whole is not None:
            (instead,) = yield [Subquestion(cast("Statistic", whole), refuted=True)]
            return Joined(instead.value, instead.interval)
        step = partial(play.send, estimates)


def _asked_instead(
    play: Play,
    question: ClaimedQuestion,
    tolerance: float,
    once: bool,
    described: Callable[[], Bound | None],
) -> Play:
    """The play of a claim of a whole question, which is asked, as it ever is, if it is refuted."""
    (estimate,) = yield next(play)
    if not estimate.refuted:
        return Joined(estimate.value, estimate.interval)
    whole = described() or question.ledger_question
    if whole is None:
        return Joined(None, Interval(question.low, question.high))
    if not is_single(whole):
        return (yield from _guessed(whole, None, tolerance, once, None))
    (instead,) = yield [Subquestion(whole, refuted=True)]
    return Joined(instead.value, instead.interval)


def _or_silent(play: Play, question: Bound) -> Play:
    """The play of a check: if it is refuted, and what is true instead refused, nothing is said."""
    batch, refuted = next(play), False
    while True:
        try:
            estimates = yield batch
            refuted = refuted or any(each.refuted for each in estimates)
            batch = play.send(estimates)
        except StopIteration as end:
            return cast("Joined", end.value)
        except Refused as refusal:
            try:
                batch = play.throw(refusal)
            except StopIteration as end:
                return cast("Joined", end.value)
            except Refused:
                if not refuted:
                    raise
                return Joined(None, Interval(question.low, question.high))


def one_sided_statistic(question: Bound) -> Statistic | None:
    """The statistic of which one side can be claimed on the ledger; None if there is none."""
    ((statistic,),) = (
        batches(question, numbers=True) if isinstance(question, Paired) else ((question,),)
    )
    without_noise = isinstance(statistic, LossByKappa)  # only its text answers it
    return statistic if is_single(statistic) and not without_noise else None


def _one_sided(
    question: Bound, bound: float | None, side: Side | None, *, strictly: bool = False
) -> Play:
    """The play of a claim that it is at most, or at least, a bound, or strictly beyond it.

    The whole range is no claim.
    """
    if side is None:
        raise TypeError(f"of {question.text} no side is claimed")
    if isinstance(question, Conditional) and question.condition is None:
        raise InvalidArgument(
            f"rows without a value are left out of {question.text}, and one side can be claimed of "
            "a mean over all rows: write coalesce(..., 0) for what they count as, or check this "
            "with guess=."
        )
    statistic = one_sided_statistic(question)
    if statistic is None:
        raise InvalidArgument(
            "one side can be claimed of a mean, of what has a rule of its own, and of what its "
            "text describes; check this with guess=."
        )
    name = side.replace(" ", "_")
    place = fraction(bound, statistic, name)
    beyond = _beyond(place, bound or 0.0, statistic, side) if strictly else place
    claim = (0.0, beyond) if side == "at most" else (beyond, 1.0)
    if claim == (0.0, 1.0) and statistic.low < statistic.high:
        raise InvalidArgument(
            f"{name} is {bound:g}, and {statistic.text} is never beyond it: the claim says "
            f"nothing. Claim less than its range {Interval(statistic.low, statistic.high)}; "
            "nothing was spent."
        )
    return _claimed(question, Subquestion(statistic, place, claim))


def _beyond(place: float, bound: float, statistic: Statistic, side: Side) -> float:
    """The nearest fraction of the range that is surely beyond a bound."""
    direction = -math.inf if side == "at most" else math.inf
    width = Fraction(statistic.high) - Fraction(statistic.low)
    exact = (Fraction(bound) - Fraction(statistic.low)) / width if width else Fraction(place)
    while (Fraction(place) - exact) * (1 if direction > 0 else -1) <= 0:
        place = math.nextafter(place, direction)
    return place


def _claimed(question: Bound, part: Subquestion) -> Play:
    (estimate,) = yield [part]
    if is_derived(question):
        return question.join([estimate])
    return Joined(estimate.value, estimate.interval)


class Plays:
    """Several plays side by side: what is due of all of them is put together.

    `due` are the parts that each one waits for, `results` what they returned, None for one that has
    not ended or was shortened.
    """

    def __init__(self, plays: Sequence[Play]) -> None:
        self.results: list[Joined | None] = [None] * len(plays)
        self._plays = plays
        self.due: dict[int, Sequence[Subquestion]] = {}
        # What is still put of those that go no further.
        self._ended: dict[int, Sequence[Subquestion]] = {}
        for place, play in enumerate(plays):
            self._go_on(place, play.__next__)

    def batch(self, shortened: _Shortened) -> Due:
        """What is to be put now.

        `shortened` may end a play: with those of its parts that are still to be put, and no result.
        """
        shortcuts = {place: shortened(place, parts) for place, parts in self.due.items()}
        self._ended = {place: ending for place, ending in shortcuts.items() if ending is not None}
        return [
            (place, part)
            for place, parts in self.due.items()
            for part in self._ended.get(place, parts)
        ]

    def send(self, answers: Iterable[Estimate]) -> None:
        """What was put is answered, in its order."""
        estimates: Iterator[Estimate] = iter(answers)
        for place, parts in list(self.due.items()):
            own = [next(estimates) for _ in self._ended.get(place, parts)]
            if place in self._ended:
                self.due.pop(place)
            else:
                self._go_on(place, partial(self._plays[place].send, own))

    def refuse(self, refusal: Refused) -> None:
        """What was put is refused; a play that can say nothing then raises the refusal."""
        for place in list(self.due):
            self._go_on(place, partial(self._plays[place].throw, refusal))

    def _go_on(self, place: int, step: Callable[[], Sequence[Subquestion]]) -> None:
        try:
            self.due[place] = step()
        except StopIteration as end:
            self.results[place] = end.value
            self.due.pop(place, None)


def _never(_place: int, _due: Sequence[Subquestion]) -> Sequence[Subquestion] | None:
    return None


def played(
    plays: Sequence[Play],
    put: Callable[[Due], Sequence[Estimate]],
    shortened: _Shortened = _never,
) -> list[Joined | None]:
    """What all plays return; `put` answers the parts that are due."""
    running = Plays(plays)
    while running.due:
        batch = running.batch(shortened)
        try:
            answers = put(batch) if batch else ()
        except Refused as refusal:
            running.refuse(refusal)
        else:
            running.send(answers)
    return running.results


def is_whole(interval: Interval, question: Bound) -> bool:
    """Whether an interval is all of the range but for roundings, so that it says nothing."""
    low, high = question.low, question.high
    rounded = (high - low) * _ROUNDED
    return low < high and interval.low <= low + rounded and interval.high >= high - rounded
