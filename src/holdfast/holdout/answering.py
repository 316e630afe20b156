"""Statistics that take several questions: their parts are asked, and the whole follows from them.

Every interval that a part is given is true together with all others, so what follows from them is
true with them, at no further cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import Refused
from holdfast.holdout.answer import Answer
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import averages, guess_about
from holdfast.holdout.price import Guessed, require_covered, thresholds_about
from holdfast.holdout.vacuous import is_known, is_whole, require_telling, silent_places
from holdfast.statistics.derived import Derived, Estimate, Joined, batches, is_derived
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval

__all__ = ["Guesses", "answer_all", "answer_quantile"]

# None to ask; other rows to guess from; or a number for each question, in its own unit.
Guesses = Sample | Sequence[float] | None


def answer_all(
    desk: Desk,
    questions: Sequence[Statistic | Derived],
    guesses: Guesses,
    why: str | None,
    tolerance: float | None,
    *,
    in_table: bool = False,
) -> list[Answer]:
    """Questions chosen together: one batch and one scan for each stage.

    A question of which public numbers tell that its answer would be the whole range is refused
    before anything is asked, and is not followed up once its first parts tell it. `in_table` it
    says nothing beside the others, as far as there is an answer to go by.
    """
    numbers = guesses if isinstance(guesses, Sequence) else None
    others = None if isinstance(guesses, Sequence) else guesses
    for question, guess in zip(questions, numbers or (), strict=False):
        require.between("guess", guess, question.low, question.high)
    guessed = Guessed(None if numbers is None else tuple(numbers), others is not None)
    if any(map(is_derived, questions)):
        desk.refresh()
        require_telling(desk, questions, guessed, tolerance, in_table=in_table)
    plans = [batches(question, numbers=numbers is not None) for question in questions]
    depth = max(map(len, plans), default=0)
    if depth > 1:
        require_covered(desk, questions, guessed, tolerance)
    parts: list[list[Answer]] = [[] for _ in questions]
    given_up: set[int] = set()
    for level in range(depth):
        stated = numbers is not None and level == depth - 1
        given_up |= {
            place
            for place in silent_places(desk, questions, guessed, tolerance)
            if any(is_known(desk, part, guessed, tolerance) for part in chain(*plans[place]))
        }
        # Plans end together: what has one stage is asked in the last batch.
        due = [
            (place, part)
            for place, plan in enumerate(plans)
            if level >= depth - len(plan)
            for part in plan[level - depth + len(plan)]
            if place not in given_up or (not stated and is_known(desk, part, guessed, tolerance))
        ]
        statistics = [part for _, part in due]
        if numbers is not None and stated:
            middles = [
                guess_about(part, questions[place], numbers[place], _values(parts[place]))
                for place, part in due
            ]
            wishes = desk.checks(statistics, middles, tolerance)
        elif others is not None:
            wishes = desk.checks(statistics, averages(others, statistics, desk.table), tolerance)
        else:
            wishes = desk.wishes(statistics, tolerance)
        part_of = {
            part.text: questions[place].text for place, part in due if is_derived(questions[place])
        }
        found = desk.answer(wishes, why, part_of, stated=stated)
        for (place, _), answer in zip(due, found, strict=True):
            parts[place].append(answer)
    return [
        _joined(question, own, given_up=place in given_up) if is_derived(question) else own[0]
        for place, (question, own) in enumerate(zip(questions, parts, strict=True))
    ]


def _values(parts: Sequence[Answer]) -> list[float]:
    return [float(part) for part in parts]


def _joined(question: Derived, parts: Sequence[Answer], *, given_up: bool) -> Answer:
    if given_up:
        return _whole(question, Joined(None, Interval(question.low, question.high)), parts)
    return _whole(question, question.join([part.recorded.estimate for part in parts]), parts)


def _whole(
    question: Derived | Quantile, found: Joined | Estimate, parts: Sequence[Answer]
) -> Answer:
    """The answer of a statistic from the answers of its parts."""
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


def answer_quantile(
    desk: Desk,
    quantile: Quantile,
    guess: float | Sample | None,
    why: str | None,
    tolerance: float | None,
) -> Answer:
    """A quantile: its guess checked by two thresholds, or looked for by binary search.

    With other rows to guess from, each threshold of the search checks what those rows say.
    """
    others = None if guess is None or isinstance(guess, float) else guess
    guess = guess if isinstance(guess, float) else None
    if guess is not None:
        require.between("guess", guess, quantile.low, quantile.high)
    answers: dict[float, Answer] = {}

    def ask(v: float) -> Interval:
        statistic = quantile.threshold(v)
        if others is None:
            wishes = desk.wishes([statistic], tolerance)
        else:
            middle = averages(others, [statistic], desk.table)
            wishes = desk.checks([statistic], middle, tolerance)
        (answer,) = desk.answer(wishes, why, {statistic.text: quantile.text})
        answers[v] = answer
        return answer.interval

    desk.refresh()
    guessed = Guessed(None if guess is None else (guess,), others is not None)
    require_covered(desk, quantile, guessed, tolerance)
    if guess is not None:
        answers.update(_thresholds_about(desk, quantile, guess, why, tolerance))
        found = _join(quantile, answers)
        t = desk.half_width(tolerance)
        if answers and quantile.is_about(guess, found.interval, t):
            return _whole(quantile, replace(found, value=guess), list(answers.values()))
    search = quantile.search()
    try:
        v = next(search)
        while True:
            v = search.send(answers[v].interval if v in answers else ask(v))
    except StopIteration:
        pass
    except Refused:
        # Surprises may use up what the rest needs; what has been answered stays true.
        if not answers:
            raise
    return _whole(quantile, _join(quantile, answers), list(answers.values()))


def _join(quantile: Quantile, answers: Mapping[float, Answer]) -> Estimate:
    return quantile.join({v: each.recorded.estimate for v, each in answers.items()})


def _thresholds_about(
    desk: Desk, quantile: Quantile, guess: float, why: str | None, tolerance: float | None
) -> dict[float, Answer]:
    """The one-sided checks of a guess, chosen together."""
    wishes = thresholds_about(quantile, guess, desk.half_width(tolerance))
    part_of = {wish.question.text: quantile.text for wish in wishes.values()}
    found = desk.answer(list(wishes.values()), why, part_of, stated=True) if wishes else []
    return dict(zip(wishes, found, strict=True))
