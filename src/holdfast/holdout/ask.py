"""Questions chosen together, put to the desk: refused where only the whole range could come.

A check or a gate is claimed of a whole question where its own rule can test that, and a check for
which no half-width is named has the narrowest that is likely to be confirmed.

Coalescing: calls of several people that wait at the same time are answered as one batch. Nobody who
waits has seen the answer of another, so what they ask is chosen together, whoever they are: one
scan, one shared leakage, and each told under their own name and key. What cannot be asked with the
others, or is refused with them, is asked by itself; a refusal computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import HoldfastError, InvalidArgument, Refused, ToleranceTooLoose
from holdfast.holdout.answer import Answer
from holdfast.holdout.batch import has_description, is_described, width_begun
from holdfast.holdout.desk import Desk
from holdfast.holdout.forecast import require_one_forecast
from holdfast.holdout.guess import averages, require_columns, training_variance
from holdfast.holdout.idempotency import repeated_answers
from holdfast.holdout.plays import answered, implied_claim, wish_of
from holdfast.holdout.price import require_covered
from holdfast.holdout.request import (
    ClaimGrounds,
    Guess,
    NamedWidth,
    bound_to,
    claimed_mean,
    knowing,
    known_moment,
    one_answer_of,
    ruled,
)
from holdfast.ledger.entries import Request
from holdfast.ledger.rule_claims import claimed_as_whole
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.mechanism import CONFIRMED, LikelyWidth, Mechanism, Offer, Wish, in_unit
from holdfast.mechanisms.terms import WHOLE_RANGE
from holdfast.statistics.bind import Question
from holdfast.statistics.claimed import ClaimedQuestion
from holdfast.statistics.derived import Derived, Estimate, Subquestion, batches, is_derived, staged
from holdfast.statistics.description import DescribedParts, DescribedQuestion, sure_half_width
from holdfast.statistics.entry import Better, Bound, Call, TableCall
from holdfast.statistics.labelled import GroupsOf
from holdfast.statistics.player import is_whole, one_sided_statistic
from holdfast.statistics.statistic import Statistic, is_single, is_unbounded
from holdfast.theory.base.intervals import Interval

_TERMS = ("why", "asked_by", "request_key", "tolerance", "half_width")


# Answers that could only be the whole range: told before they are asked, from public numbers.
#
# A statistic of several parts is tried with the answers by which it would say most: those that
# the ledger has, the analyst's own claim as if confirmed, and for the rest what a favourable
# table would be answered. If even these leave the whole range, nothing is worth its charge.


def require_telling(
    desk: Desk,
    questions: Sequence[Bound],
    guess: Guess,
    tolerance: float | None,
    *,
    in_table: bool = False,
) -> None:
    """Refuse questions of which public numbers tell that the answer would say nothing.

    One that stands `in_table` beside others may, if there is an answer to a part of it to go by.
    """
    for place, question in enumerate(questions):
        if not is_silent(desk, question, guess.of(place), guess, tolerance):
            continue
        if implied_claim(desk, question, guess, place, tolerance) is not None:
            continue
        if in_table and _some_known(desk, question, guess, tolerance):
            continue
        raise ToleranceTooLoose(
            f"requested {question.text} from answers of half-width {desk.half_width(tolerance):g} "
            "of their ranges; even the most favourable of them would leave its whole range "
            f"{Interval(question.low, question.high)}, so it was not asked and nothing was spent. "
            "Ask with a smaller tolerance=, use more rows, or declare the columns of a group with "
            "design=."
        )


def _some_known(desk: Desk, question: Bound, guess: Guess, tolerance: float | None) -> bool:
    """Whether the first part of it has been answered."""
    if not is_derived(question):
        return False
    first = batches(question, numbers=guess.numbers is not None)[0][0]
    return desk.stored(wish_of(desk, first, guess, tolerance)) is not None


def is_silent(
    desk: Desk, question: Bound, number: float | None, guess: Guess, tolerance: float | None
) -> bool:
    """Whether it would say nothing, whatever the answers to come; `number` is guessed of it."""
    if is_single(question) or has_description(question):
        return False  # what one symbol or a rule tells is told with the answer
    if not is_derived(question) or is_unbounded(question):
        return False  # a search, and whatever has no range, says something with every answer
    if not desk.transcript.terms.promises:
        return False  # baselines promise nothing, and show what they find
    parts = [part for stage in batches(question, numbers=number is not None) for part in stage]
    wishes = [wish_of(desk, part, guess, tolerance) for part in parts]
    looks = [desk.stored(wish) for wish in wishes]
    estimates = [None if look is None else look.estimate for look in looks]
    claim = None if number is None else _last_claim(question, number, estimates)
    if claim is not None:
        wishes[-1] = ClaimGrounds().claim(
            claim, desk.half_width(tolerance, claim.statistic), tolerance
        )
        looks[-1] = desk.stored(wishes[-1])
    if None not in looks:
        return False  # a repeat, and free
    try:
        if claim is not None:
            look = looks[-1]
            estimates[-1] = _confirmed(desk, wishes[-1]) if look is None else look.estimate
        offers = [
            None if estimate is not None else _offered(desk, wish)
            for wish, estimate in zip(wishes, estimates, strict=True)
        ]
    except HoldfastError:
        return False  # it will be refused for that
    return all(
        is_whole(question.join(_best(values, parts, estimates, offers)).interval, question)
        for values in question.favourable(estimates)
    )


def _last_claim(
    question: Derived, number: float, estimates: Sequence[Estimate | None]
) -> Subquestion | None:
    """What a guess claims of the last part; None where that follows from parts not yet known."""
    play, remaining = staged(question, number), iter(estimates)
    batch = next(play)
    while batch[0].guess is None:
        own = [estimate for estimate in (next(remaining) for _ in batch) if estimate is not None]
        if len(own) < len(batch):
            return None
        batch = play.send(own)
    return batch[0]


def _offered(desk: Desk, wish: Wish) -> tuple[Mechanism, Offer]:
    mechanism, (offer,) = desk.offers([wish], desk.transcript.committed)
    return mechanism, offer


def _best(
    values: Sequence[float],
    parts: Sequence[Statistic],
    estimates: Sequence[Estimate | None],
    offers: Sequence[tuple[Mechanism, Offer] | None],
) -> list[Estimate]:
    """The parts as they are known, or as a table with these values would be answered."""
    return [
        estimate or _answered(value, part, offer)
        for value, part, estimate, offer in zip(values, parts, estimates, offers, strict=True)
    ]


def _answered(value: float, part: Statistic, offered: tuple[Mechanism, Offer] | None) -> Estimate:
    """The answer to a part without noise in its favour or against it."""
    if offered is None:
        raise TypeError(f"{part.text} is neither known nor offered")
    mechanism, offer = offered
    width = part.high - part.low
    place = (value - part.low) / width if width else 0.0
    if offer.claim is None:
        cell = offer.own_grid.cell(*place.as_integer_ratio())
        (release,) = mechanism.settle([offer], [cell])
        return _in_unit(part, *release.interval)
    if offer.tolerance is None:
        raise TypeError(f"a check of {part.text} promises a half-width")
    return _in_unit(part, place - offer.tolerance, place + offer.tolerance)


def _confirmed(desk: Desk, wish: Wish) -> Estimate:
    """What the analyst claims, as if confirmed."""
    mechanism, offer = _offered(desk, wish)
    (release,) = mechanism.settle([offer], [CONFIRMED])
    return _in_unit(wish.question, *release.interval)


def _in_unit(part: Statistic, low: float, high: float) -> Estimate:
    """An interval of fractions in the part's own unit; its middle stands for the value."""
    first, last = (in_unit(end, part.low, part.high) for end in (low, high))
    return Estimate(first + (last - first) / 2, Interval(first, last))


@dataclass(frozen=True, slots=True)
class CallTerms:
    """What is said with a call beside its questions: why, by whom, its request key, its width."""

    why: str | None = None
    asked_by: str | None = None
    request_key: str | None = None
    width: NamedWidth = field(default_factory=NamedWidth)

    def __post_init__(self) -> None:
        for name in ("why", "asked_by", "request_key"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InvalidArgument(f"{name} is {value!r}; it must be text.")

    @classmethod
    def of(cls, options: Mapping[str, object]) -> CallTerms:
        """Those of a verb's options."""
        values: dict[str, Any] = {name: options.get(name) for name in _TERMS}
        width = NamedWidth(values.pop("tolerance"), values.pop("half_width"))
        return cls(**values, width=width)

    def requests(
        self,
        desk: Desk,
        questions: Sequence[Bound],
        betters: Sequence[Better | None],
        guess: Guess,
        table: str | None = None,
    ) -> list[Request]:
        """What is asked for, as the ledger records it; `table` is what they are asked for."""
        named = self.width.part_of(questions, desk.transcript.terms.rows)
        return [
            Request(
                question.text,
                question.low,
                question.high,
                guess.verb,
                guess.of(place),
                guess.side,
                guess.tolerance_at(place, named),
                better,
                self.why,
                self.asked_by,
                self.request_key,
                table,
                is_unbounded(question),
                guess.likely_at(place),
            )
            for place, (question, better) in enumerate(zip(questions, betters, strict=True))
        ]


# What is claimed as a whole, by the rule that answers it, instead of part by part.


def claimed_as_wholes(
    desk: Desk, questions: Sequence[Bound], guess: Guess, width: NamedWidth
) -> tuple[list[Bound], Guess]:
    """The questions as they are claimed, and what is guessed of them; as they are where asked.

    A table that somebody guesses from says a number for each, where each is claimed as a whole, and
    how near to it the rows are likely to come. One side is claimed where no description settles it.
    """
    by_design = guess.rows is not None and desk.table.design.columns
    if guess.verb == "ask" or by_design or all(map(_is_mean, questions)):
        return list(questions), guess
    wholes = [_as_whole(desk, each, guess) for each in questions]
    others = guess.rows
    if others is None or None in wholes:
        together = zip(wholes, questions, strict=True)
        return [whole if others is None and whole else each for whole, each in together], guess
    results = [_guessed_by(desk, each, others) for each in wholes if each is not None]
    if any(value is None for value, _ in results):
        return list(questions), guess
    numbers = tuple(value for value, _ in results if value is not None)
    likely = () if width.is_named else tuple(each for _, each in results)
    claimed = [each for each in wholes if each is not None]
    as_told = replace(guess, numbers=numbers, rows=None, likely=likely)
    return list(claimed), as_begun(desk, claimed, as_told)


def _is_mean(question: Bound) -> bool:
    return getattr(question, "row", None) is not None  # which has a test of its own


def _as_whole(desk: Desk, question: Bound, guess: Guess) -> ClaimedQuestion | None:
    one_sided = guess.side is not None and one_sided_statistic(question) is None
    if one_sided and ruled(desk, question) is not None:
        return None
    return claimed_as_whole(desk.transcript, question, gated=guess.gated)


def _guessed_by(
    desk: Desk, question: ClaimedQuestion, others: Sample
) -> tuple[float | None, LikelyWidth | None]:
    """What other rows say of a question, in its own unit, and how near to it it is likely to be."""
    require_columns(others, question.columns, desk.table)
    level = next(CHECKS.levels(desk.transcript.terms, desk.transcript.committed))
    log_p = math.log(level) if level > 0.0 else _NO_LEVEL
    told = question.told_by(others, log_p)
    if told.value is None:
        return None, None
    number = question.low + told.value * (question.high - question.low)
    reach = max(told.interval.high - told.value, told.value - told.interval.low)
    n = desk.transcript.terms.rows
    likely = LikelyWidth.by_reach(n, others.n, reach, log_p)
    told_little = level <= 0.0 or likely.tolerance >= WHOLE_RANGE
    return min(question.high, max(question.low, number)), None if told_little else likely


_NO_LEVEL = -700.0


# The half-width of a check for which none is named: the narrowest that is likely to be confirmed.
#
# It is made of public numbers, the guess, the sizes and the transcript, and recorded with the
# request before rows are touched. A claim made again is the same claim, whatever was spent since.


def guess_of_likely_width(
    desk: Desk, questions: Sequence[Bound], guess: Guess, named: NamedWidth
) -> Guess:
    """What is guessed, with the half-width of each question; as it is where one is named.

    What has no single mean of independent rows to be claimed of keeps the half-width of the ledger,
    and so does what earlier answers settle at it.
    """
    if named.is_named or guess.side is not None:
        return guess
    transcript = desk.transcript
    if transcript.checker is not CHECKS or not transcript.terms.promises:
        return guess
    if guess.likely or (guess.rows is not None and len(questions) > 1):
        return guess
    level = next(CHECKS.levels(transcript.terms, transcript.committed))
    likely = [_likely(desk, each, guess, place, level) for place, each in enumerate(questions)]
    return replace(guess, likely=tuple(likely))


def _is_settled(
    desk: Desk, question: Bound, statistic: Statistic, guess: Guess, place: int
) -> bool:
    """Whether earlier answers settle a guess at the half-width of the ledger, for nothing."""
    if guess.rows is not None:
        return desk.stored(wish_of(desk, statistic, guess, None)) is not None
    t, number = desk.half_width(None, statistic), guess.of(place) or 0.0
    share = (number - statistic.low) / ((statistic.high - statistic.low) or 1.0)
    if desk.stored(ClaimGrounds().claim(Subquestion(statistic, guess=share), t, None)) is not None:
        return True
    return implied_claim(desk, question, guess, place, None) is not None


def as_begun(desk: Desk, questions: Sequence[Bound], guess: Guess) -> Guess:
    """The guess with the half-widths of the same checks that others began since it was read."""
    likely = list(guess.likely)
    for place, chosen in enumerate(likely):
        question = questions[place]
        whole = question if isinstance(question, ClaimedQuestion) else None
        statistic = None if chosen is None else whole or claimed_mean(desk, question)
        if statistic is not None:
            looks = desk.transcript.looks_at(statistic.text)
            likely[place] = width_begun(looks, guess.of(place)) or chosen
    return replace(guess, likely=tuple(likely))


def _likely(
    desk: Desk, question: Bound, guess: Guess, place: int, level: float
) -> LikelyWidth | None:
    statistic, number = claimed_mean(desk, question), guess.of(place)
    if isinstance(question, ClaimedQuestion):
        return _likely_by_training(desk, question, number)
    if statistic is None:
        return None
    before = width_begun(desk.transcript.looks_at(statistic.text), number)
    if before is not None or level <= 0.0:
        return before
    if _is_settled(desk, question, statistic, guess, place):
        return None
    terms, row = desk.transcript.terms, statistic.row
    rows = n = statistic.rows(terms.rows)
    known = known_moment(desk, question, guess)
    if guess.rows is not None:
        rows = max(1, round(guess.rows.n * n / terms.rows))
        (share,) = averages(guess.rows, [statistic], desk.table)
    else:
        share = ((number or 0.0) - statistic.low) / ((statistic.high - statistic.low) or 1.0)
    smoothed = (min(1.0, max(0.0, share)) * rows + 1.0) / (rows + 2.0)  # 0 has a spread, too
    spread = smoothed * (1.0 - smoothed)
    if known is not None:  # of differences, whose range is [-1, 1]
        spread = min(spread, max(known, 1.0 / n) / 4.0)
    elif guess.rows is not None and row is not None and not row.is_condition:
        spread = min(spread, training_variance(guess.rows, row) + 1.0 / n**2)
    by_bets = row is None or not row.is_condition
    most, log_p = desk.half_width(None, statistic), math.log(min(1.0, level))
    return LikelyWidth.chosen(most, n, rows, spread, log_p, by_bets)


def _likely_by_training(
    desk: Desk, question: ClaimedQuestion, number: float | None
) -> LikelyWidth | None:
    """The half-width by what training rows say of a question that is claimed as a whole."""
    before = width_begun(desk.transcript.looks_at(question.text), number)
    train = desk.train
    if before is not None or train is None or desk.table.design.columns:
        return before
    if not set(question.columns) <= train.types.keys():
        return None
    return _guessed_by(desk, question, train)[1]


# The answers.


def answers_by_key(
    desk: Desk, questions: Sequence[Bound], requests: Sequence[Request]
) -> list[Answer] | None:
    """The stored answers to a call with the same key; None if there was none."""
    key = requests[0].key
    if key is None:
        return None
    desk.refresh()
    if desk.transcript.told_for(key) is None:
        return None
    return repeated_answers(desk, key, questions, requests)


def answers_to(
    desk: Desk,
    questions: Sequence[Bound],
    requests: Sequence[Request],
    guess: Guess,
    *,
    in_table: bool = False,
) -> list[Answer]:
    """The answers. `in_table`, a question may say nothing beside others that do."""
    tolerance = None if requests[0].likely else requests[0].tolerance
    if guess.side is None and not all(map(is_single, questions)):
        desk.refresh()
        require_telling(desk, questions, guess, tolerance, in_table=in_table)
        require_covered(desk, questions, guess, tolerance, requests[0].vector)

    def silent(place: int) -> bool:
        if guess.side is not None:
            return False
        return is_silent(desk, questions[place], guess.of(place), guess, tolerance)

    def attempt() -> list[Answer]:
        begun = as_begun(desk, questions, guess) if guess.likely else guess
        current = [
            each
            if each.likely == begun.likely_at(place)
            else replace(
                each,
                tolerance=begun.tolerance_at(place, each.tolerance),
                likely=begun.likely_at(place),
            )
            for place, each in enumerate(requests)
        ]
        return answered(desk, questions, current, begun, tolerance, silent)

    try:
        return desk.retried(attempt)
    except Refused as refusal:
        if guess.verb == "check" or tolerance is None or len(questions) > 1:
            raise
        raise _with_alternative(desk, questions[0], refusal) from None


def _with_alternative(desk: Desk, question: Bound, refusal: Refused) -> Refused:
    """The refusal of a half-width, with what is answered without one."""
    described = ruled(desk, question)
    if described is None:
        return refusal
    part = sure_half_width(described.rule) if is_described(described) else None
    most = "" if part is None else f" of at most {part * (described.high - described.low):.4g}"
    return type(refusal)(
        f"{refusal} Without a half-width it is answered by its description, at its own{most}.",
        refusal.shortfall,
    )


def better_of(question: Question | TableCall) -> Better | None:
    """Which sign of a difference is better, where that was said."""
    return question.better if isinstance(question, Call) else None


def several(questions: Iterable[Question]) -> list[Question]:
    """Questions that are given together; one text is not many."""
    if isinstance(questions, str):
        raise InvalidArgument(
            f"questions is the one text {questions!r}; give a list, or use ask or check for one."
        )
    return require.items("questions", questions, "a list of questions")


# Calls of several people that wait at the same time.


@dataclass(frozen=True, slots=True)
class Waiting:
    """One person's call: a question with one answer, what is guessed of it, and its terms.

    `text` is what the question was read from, where that says all of it.
    """

    question: Question | TableCall
    guess: Guess
    terms: CallTerms
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """A call that has met its table."""

    call: Waiting
    guess: Guess
    bound: Bound
    request: Request

    def stored_answer(self, desk: Desk) -> Answer | None:
        """What a call with its key was told: of a check, perhaps what its text says."""
        try:
            before = answers_by_key(desk, [self.bound], [self.request])
        except InvalidArgument:
            by_text = self.by_its_text(desk)
            if by_text is None:
                raise
            before = answers_by_key(desk, [by_text.bound], [by_text.request])
        return None if before is None else before[0]

    def by_its_text(self, desk: Desk) -> Ready | None:
        """An ask of what a check is about, where its text may answer in its place."""
        if text_of_check(desk, self.bound, self.guess, self.call.terms.width) is None:
            return None
        return _ready(desk, replace(self.call, guess=Guess()), knowing(desk, None))


def text_of_check(
    desk: Desk, question: Bound, guess: Guess, width: NamedWidth
) -> DescribedQuestion | DescribedParts | None:
    """The description that answers a check that named no half-width, where the ledger cannot."""
    if guess.verb != "check" or guess.side is not None or width.is_named:
        return None
    if desk.transcript.account.closed is not None:  # it was ended for good
        return None
    return ruled(desk, question)


def answered_alone(desk: Desk, ready: Ready) -> Answer:
    """The answer to one call."""
    before = ready.stored_answer(desk)
    if before is not None:
        return before
    (answer,) = _answered_alike(desk, {0: ready}).values()
    if isinstance(answer, HoldfastError):
        raise answer
    return answer


def answered_together(desk: Desk, calls: Sequence[Waiting]) -> list[Answer | HoldfastError]:
    """What each call is told, or why not, in order. No two of them may have the same key."""
    answers: dict[int, Answer | HoldfastError] = {}
    ready: dict[int, Ready] = {}
    groups = knowing(desk, None)
    for place, call in enumerate(calls):
        try:
            prepared = _ready(desk, call, groups)
            before = prepared.stored_answer(desk)
        except HoldfastError as error:
            answers[place] = error
            continue
        if before is None:
            ready[place] = prepared
        else:
            answers[place] = before
    for group in _alike(ready):
        answers |= _answered_alike(desk, group)
    return [answers[place] for place in range(len(calls))]


def _ready(desk: Desk, call: Waiting, groups: GroupsOf) -> Ready:
    describe = call.guess.verb == "ask" and not call.terms.width.is_named
    bound = bound_to(desk, call.question, groups, describe=describe, text=call.text)
    guess = call.guess
    (single,), guess = claimed_as_wholes(desk, [one_answer_of(bound)], guess, call.terms.width)
    if guess.forecast is not None:
        require_one_forecast(guess, single)
    if guess.verb == "check":
        guess = guess_of_likely_width(desk, [single], guess, call.terms.width)
    (request,) = call.terms.requests(desk, [single], [better_of(call.question)], guess)
    return Ready(call, guess, single, request)


def _alike(ready: dict[int, Ready]) -> list[dict[int, Ready]]:
    """Those that can be put in one batch: the same verb, side and half-width, and no forecast."""
    groups: dict[object, dict[int, Ready]] = {}
    for place, each in ready.items():
        request = each.request
        named = request.tolerance if request.likely is None else None
        alone = None if each.guess.forecast is None else place
        alike = (request.verb, request.side, named, alone)
        groups.setdefault(alike, {})[place] = each
    return list(groups.values())


def _answered_alike(desk: Desk, group: dict[int, Ready]) -> dict[int, Answer | HoldfastError]:
    calls = list(group.values())
    alone = calls[0] if len(calls) == 1 else None
    try:
        answers = answers_to(
            desk,
            [each.bound for each in calls],
            [each.request for each in calls],
            _joined([each.guess for each in calls]) if alone is None else alone.guess,
        )
    except HoldfastError as error:
        if alone is None:
            one_by_one = [_answered_alike(desk, {place: each}) for place, each in group.items()]
            return {place: answer for each in one_by_one for place, answer in each.items()}
        by_text = alone.by_its_text(desk) if isinstance(error, Refused) else None
        if by_text is None:
            return dict.fromkeys(group, error)
        return _answered_alike(desk, dict.fromkeys(group, by_text))
    if alone is not None and answers[0].status == "says nothing" and alone.request.key is None:
        by_text = alone.by_its_text(desk)
        if by_text is not None:
            return _answered_alike(desk, dict.fromkeys(group, by_text))
    return dict(zip(group, answers, strict=True))


def _joined(guesses: Sequence[Guess]) -> Guess:
    """The guesses of all calls; alike, they have numbers all, or none. A forecast comes alone."""
    numbers = [number for each in guesses for number in each.numbers or ()]
    likely = tuple(each.likely_at(0) for each in guesses)
    first = guesses[0]
    guessed = tuple(numbers) if numbers else None
    return Guess(guessed, side=first.side, forecast=first.forecast, likely=likely)
