"""Coalescing: calls of several people that wait at the same time are answered as one batch.

Nobody who waits has seen the answer of another, so what they ask is chosen together, whoever they
are: one scan, one shared leakage, and each told under their own name and key. What cannot be asked
with the others, or is refused with them, is asked by itself; a refusal computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.errors import HoldfastError
from holdfast.holdout.answer import Answer
from holdfast.holdout.ask import CallTerms, answers_to, better_of, told_before
from holdfast.holdout.desk import Desk
from holdfast.holdout.forecast import guess_of_likely_width
from holdfast.holdout.groups import knowing
from holdfast.holdout.guess import Guess
from holdfast.holdout.request import bound_to, one_answer_of
from holdfast.ledger.entries import Request
from holdfast.statistics.bind import Question
from holdfast.statistics.entry import Bound

__all__ = ["Waiting", "answered_together"]


@dataclass(frozen=True, slots=True)
class Waiting:
    """One person's call: a question with one answer, what is guessed of it, and its terms.

    `text` is what the question was read from, where that says all of it.
    """

    question: Question
    guess: Guess
    terms: CallTerms
    text: str | None = None


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that has met its table."""

    guess: Guess
    bound: Bound
    request: Request


def answered_together(desk: Desk, calls: Sequence[Waiting]) -> list[Answer | HoldfastError]:
    """What each call is told, or why not, in order. No two of them may have the same key."""
    answers: dict[int, Answer | HoldfastError] = {}
    ready: dict[int, _Ready] = {}
    for place, call in enumerate(calls):
        try:
            prepared = _ready(desk, call)
            before = told_before(desk, [prepared.bound], [prepared.request])
        except HoldfastError as error:
            answers[place] = error
            continue
        if before is None:
            ready[place] = prepared
        else:
            (answers[place],) = before
    for group in _alike(ready):
        answers |= _answered(desk, group)
    return [answers[place] for place in range(len(calls))]


def _ready(desk: Desk, call: Waiting) -> _Ready:
    describe = call.guess.verb == "ask" and not call.terms.width.is_named
    groups = knowing(desk, None)
    bound = bound_to(desk, call.question, groups, describe=describe, text=call.text)
    single = one_answer_of(bound)
    guess = guess_of_likely_width(desk, [single], call.guess, call.terms.width)
    (request,) = call.terms.requests(desk, [single], [better_of(call.question)], guess)
    return _Ready(guess, single, request)


def _alike(ready: dict[int, _Ready]) -> list[dict[int, _Ready]]:
    """Those that can be put in one batch: the same verb, side and half-width."""
    groups: dict[object, dict[int, _Ready]] = {}
    for place, each in ready.items():
        request = each.request
        named = request.tolerance if request.likely is None else None
        alike = (request.verb, request.side, named)
        groups.setdefault(alike, {})[place] = each
    return list(groups.values())


def _answered(desk: Desk, group: dict[int, _Ready]) -> dict[int, Answer | HoldfastError]:
    calls = list(group.values())
    try:
        answers = answers_to(
            desk,
            [each.bound for each in calls],
            [each.request for each in calls],
            _joined([each.guess for each in calls]),
        )
    except HoldfastError as error:
        if len(group) == 1:
            return dict.fromkeys(group, error)
        alone = [_answered(desk, {place: each}) for place, each in group.items()]
        return {place: answer for each in alone for place, answer in each.items()}
    return dict(zip(group, answers, strict=True))


def _joined(guesses: Sequence[Guess]) -> Guess:
    """The guesses of all calls; alike, they have numbers all, or none."""
    numbers = [number for each in guesses for number in each.numbers or ()]
    likely = tuple(each.likely_at(0) for each in guesses)
    return Guess(tuple(numbers) if numbers else None, side=guesses[0].side, likely=likely)
