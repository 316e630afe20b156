"""Statistics that take several questions: their parts are asked, and the whole follows from them.

Every interval that a part is given is true together with all others, so what follows from them is
true with them, at no further cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import Refused
from holdfast.holdout.answer import Answer
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import averages, fraction
from holdfast.holdout.price import Guessed, require_covered
from holdfast.mechanisms.mechanism import Wish
from holdfast.statistics.derived import Derived, Estimate, batches, is_derived
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
) -> list[Answer]:
    """Questions chosen together: one batch and one scan for each stage."""
    numbers = guesses if isinstance(guesses, Sequence) else None
    others = None if isinstance(guesses, Sequence) else guesses
    for question, guess in zip(questions, numbers or (), strict=False):
        require.between("guess", guess, question.low, question.high)
    plans = [batches(question, numbers=numbers is not None) for question in questions]
    depth = max(map(len, plans), default=0)
    if depth > 1:
        guessed = Guessed(numbers[0] if numbers else None, others is not None)
        desk.refresh()
        require_covered(desk, questions, guessed, tolerance)
    parts: list[list[Answer]] = [[] for _ in questions]
    for level in range(depth):
        # Plans end together: what has one stage is asked in the last batch.
        due = [
            (place, part)
            for place, plan in enumerate(plans)
            if level >= depth - len(plan)
            for part in plan[level - depth + len(plan)]
        ]
        statistics = [part for _, part in due]
        if numbers is not None and level == depth - 1:
            middles = [
                _guess_about(part, questions[place], numbers[place], parts[place])
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
        found = desk.answer(wishes, why, part_of)
        for (place, _), answer in zip(due, found, strict=True):
            parts[place].append(answer)
    return [
        _joined(question, own) if is_derived(question) else own[0]
        for question, own in zip(questions, parts, strict=True)
    ]


def _guess_about(
    part: Statistic, question: Statistic | Derived, guess: float, others: Sequence[Answer]
) -> float:
    """What a guess of the whole says about its last part, as a fraction of the part's range."""
    if is_derived(question):
        guess = question.last_guess(guess, [float(answer) for answer in others])
        guess = min(part.high, max(part.low, guess))
    return fraction("guess", guess, part)


def _joined(question: Derived, parts: Sequence[Answer]) -> Answer:
    found = question.join([Estimate(part.value, part.interval) for part in parts])
    return _whole(question, found, parts)


def _whole(question: Derived | Quantile, found: Estimate, parts: Sequence[Answer]) -> Answer:
    """The answer of a statistic from the answers of its parts."""
    statuses = {part.status for part in parts}
    kinds = ("no promise", "surprise", "answered", "confirmed")
    fresh = [each for each in kinds if each in statuses]
    last = parts[-1]
    recorded = replace(
        last.recorded,
        question=question.text,
        status=fresh[0] if fresh else last.recorded.status,
        value=found.value,
        interval=found.interval,
        range=Interval(question.low, question.high),
        guess=None,
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
    require_covered(desk, quantile, Guessed(guess, others is not None), tolerance)
    if guess is not None:
        answers.update(_thresholds_about(desk, quantile, guess, why, tolerance))
        found = _join(quantile, answers)
        reach = desk.half_width(tolerance) * (quantile.high - quantile.low)
        low, high = found.interval
        if answers and guess - reach <= low and high <= guess + reach:
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
    return quantile.join({v: Estimate(each.value, each.interval) for v, each in answers.items()})


def _thresholds_about(
    desk: Desk, quantile: Quantile, guess: float, why: str | None, tolerance: float | None
) -> dict[float, Answer]:
    """Is the quantile within the tolerance of a guess? Two one-sided checks, chosen together."""
    t = desk.half_width(tolerance)
    wishes = {
        v: Wish(quantile.threshold(v), t, claim, quantile.level)
        for v, claim in quantile.claims(guess, t * (quantile.high - quantile.low)).items()
    }
    part_of = {wish.question.text: quantile.text for wish in wishes.values()}
    found = desk.answer(list(wishes.values()), why, part_of) if wishes else []
    return dict(zip(wishes, found, strict=True))
