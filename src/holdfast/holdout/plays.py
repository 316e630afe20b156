"""Questions chosen together, played: what is due of all of them is put together, batch by batch.

Every interval that a part is given is true together with all others, so what follows from them is
true with them, at no further cost. What follows is a line of the ledger, written in one commit with
the last of the parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

from holdfast.errors import InvalidArgument, LedgerTampered, Refused
from holdfast.holdout.answer import Answer
from holdfast.holdout.batch import Body, LookFound, is_described
from holdfast.holdout.budget import Budget, left_for_more
from holdfast.holdout.desk import Desk
from holdfast.holdout.idempotency import left_after, repeated_answers
from holdfast.holdout.request import (
    ClaimGrounds,
    Guess,
    claim_grounds,
    plays_of,
    wishes_for,
)
from holdfast.ledger.chain import now
from holdfast.ledger.composites import Followed, claim_verdict, read_whole, rows_about, whole
from holdfast.ledger.entries import Recorded, Request, telling
from holdfast.ledger.implied import Implied, intersected
from holdfast.ledger.subjects import columns_about, statistic_of
from holdfast.mechanisms.mechanism import Refuted, Wish, about, alike
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import short_name
from holdfast.statistics.derived import Joined, Paired, Play, Subquestion
from holdfast.statistics.description import Prior
from holdfast.statistics.entry import Bound
from holdfast.statistics.player import Due, Plays
from holdfast.statistics.statistic import Statistic, is_single
from holdfast.theory.base.implied import open_sides
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below


def wish_of(desk: Desk, statistic: Statistic, guess: Guess, tolerance: float | None) -> Wish:
    """As it is put to the desk, but for a guess that matters to no cost."""
    t = desk.half_width(tolerance, statistic)
    checked = not is_described(statistic) and (guess.rows is not None or desk.guesses(statistic))
    wish = about(statistic, t, 0.5) if checked else Wish(statistic, t)
    if checked and guess.rows is not None and guess.forecast is not None:
        wish = replace(wish, forecast=guess.forecast)
        trained, likely = guess.forecast.trained, guess.likely_at(0)
        if trained is not None:  # then its cost depends on the guess
            reach = t if likely is None else likely.tolerance
            claim = (trained.mean - reach, trained.mean + reach)
            wish = replace(wish, claim=claim, guess=trained.mean)
    return replace(wish, narrow=tolerance is None)


def implied_claim(
    desk: Desk, question: Bound, guess: Guess, place: int, tolerance: float | None
) -> Implied | None:
    """What settles a claim without a look, as of the last reading; None where it is to be put.

    A claim that was made before is a repeat, and told as it was.
    """
    number, account = guess.of(place), desk.transcript.account
    if number is None or (account.closed is not None and account.closed.retired):
        return None
    implied = desk.implied(question)
    if implied is None or implied.interval is None:
        return None
    request = Request(
        question.text, question.low, question.high, guess.verb, number, guess.side, tolerance
    )
    verdict = claim_verdict(request, question, implied.interval, desk.transcript.terms)
    alone = replace(guess, numbers=(number,))
    if verdict is None or _is_begun(desk, question):
        return None
    return None if _is_settled(desk, question, alone, tolerance) else implied


def _is_begun(desk: Desk, question: Bound) -> bool:
    """Whether looks were taken for it by a call that died: its line has all of them."""
    text, transcript = question.text, desk.transcript
    in_lines = {look for line in transcript.told_of(text) for look in line.parts}
    looks = transcript.looks_at(text)
    return any(each.part_of == text and each.look not in in_lines for each in looks)


def _is_settled(desk: Desk, question: Bound, guess: Guess, tolerance: float | None) -> bool:
    """Whether a look at what is claimed settles it already; or it is no claim at all."""
    claims = [claim_grounds(desk, question, guess)]
    try:
        (play,) = plays_of(desk, [question], guess, tolerance, claims)
        due = next(play)
    except InvalidArgument:
        return True  # it is refused where it is put
    if len(due) > 1 or due[0].guess is None:
        return False
    t = desk.half_width(tolerance, due[0].statistic)
    return desk.stored(claims[0].claim(due[0], t, tolerance)) is not None


def _half_implied(desk: Desk, question: Bound, wish: Wish) -> Wish:
    """A check without the side that earlier answers imply: only the other one is tested."""
    statistic, claim = wish.question, wish.claim
    if claim is None or wish.gated or statistic.text != question.text:
        return wish
    implied = desk.implied(question)
    if implied is None or implied.interval is None or desk.stored(wish) is not None:
        return wish
    low, width = Fraction(statistic.low), Fraction(statistic.high) - Fraction(statistic.low)
    ends = [min(statistic.high, max(statistic.low, end)) for end in implied.interval]
    first, last = ((Fraction(end) - low) / width if width else Fraction(0) for end in ends)
    sides = open_sides(Interval(float_below(first), float_above(last)), Interval(*claim))
    open_claim = (max(0.0, sides.low), min(1.0, sides.high))
    return wish if open_claim == (0.0, 1.0) else replace(wish, claim=open_claim)


def _settled(question: Bound) -> Play:
    """The play of a claim that earlier answers settle: it has no parts."""
    yield from ()
    return Joined(None, Interval(question.low, question.high))


def plays_to_run(
    desk: Desk,
    questions: Sequence[Bound],
    guess: Guess,
    tolerance: float | None,
    claims: Sequence[ClaimGrounds],
) -> list[Play]:
    """The plays of questions that are put together; what earlier answers settle puts nothing."""
    plays = plays_of(desk, questions, guess, tolerance, claims)
    widths = [guess.tolerance_at(place, tolerance) for place in range(len(questions))]
    return [
        play if implied_claim(desk, each, guess, place, width) is None else _settled(each)
        for place, (each, play, width) in enumerate(zip(questions, plays, widths, strict=True))
    ]


def line_of_claim(
    desk: Desk,
    question: Bound,
    claim: ClaimGrounds,
    guess: Guess,
    place: int,
    due: Sequence[Subquestion],
    tolerance: float | None,
) -> Recorded | None:
    """The line that told a claim before, where its play is due to claim something else.

    What is claimed of a part follows from the parts before it: if these were refined since, the
    same claim of the whole would be another one of the part, and be paid for again.
    """

    def is_settled(part: Subquestion) -> bool:
        t = desk.half_width(tolerance, part.statistic)
        return desk.stored(claim.claim(part, t, tolerance)) is not None

    if is_single(question) or all(part.guess is None or is_settled(part) for part in due):
        return None
    return next(
        (
            line
            for line in reversed(desk.transcript.told_of(question.text))
            if (line.request.verb, line.request.side, line.guess, line.tolerance)
            == (guess.verb, guess.side, guess.of(place), tolerance)
        ),
        None,
    )


@dataclass(slots=True)
class _Progress:
    """What was put of one question and what was found; then which line of the ledger tells it."""

    parts: list[Subquestion] = field(default_factory=list)
    results: list[LookFound] = field(default_factory=list)
    line: Recorded | None = None
    repeated: bool = False
    same_claim: Recorded | None = None  # the line that told it, where the play would claim anew

    @property
    def looks(self) -> list[Recorded]:
        return [each.look for each in self.results]


@dataclass(slots=True)
class _Call:
    """Questions that somebody asks together, on their way."""

    desk: Desk
    questions: Sequence[Bound]
    requests: Sequence[Request]
    guess: Guess
    tolerance: float | None
    silent: Callable[[int], bool]  # whether a question would say nothing, whatever comes
    claims: Sequence[ClaimGrounds]
    running: Plays
    progress: list[_Progress]
    is_told: bool = False

    def run(self) -> None:
        """Put what is due, batch by batch, and tell what follows from it."""
        while self.running.due:
            batch = self.running.batch(self._shortened)
            try:
                self._put(batch)
            except Refused as refusal:
                self.running.refuse(refusal)
        if not self.is_told and self._telling():
            self.desk.tell(self._telling)

    def _shortened(self, place: int, due: Sequence[Subquestion]) -> Sequence[Subquestion] | None:
        """What is still free of a question that is not followed up; None if it goes on."""
        width = self.guess.tolerance_at(place, self.tolerance)
        told = line_of_claim(
            self.desk, self.questions[place], self.claims[place], self.guess, place, due, width
        )
        self.progress[place].same_claim = told
        if told is not None:
            return []
        described = any(is_described(part.statistic) for part in due)  # its text says something
        if described or not self.silent(place):
            return None
        free = [part for part in due if part.guess is None and self._is_known(part)]
        return free if free or self.progress[place].results else None

    def _is_known(self, part: Subquestion) -> bool:
        wish = wish_of(self.desk, part.statistic, self.guess, self.tolerance)
        return self.desk.stored(wish) is not None

    def _put(self, batch: Due) -> None:
        stepped = False

        def conclude(results: Sequence[LookFound]) -> Sequence[Body]:
            nonlocal stepped
            stepped = True
            self._take(batch, results)
            self.is_told = not self.running.due
            return self._telling() if self.is_told else ()

        requests, wishes = self._requests_of(batch), self._wishes_of(batch)
        vectors = [requests[wish.question.text].vector for wish in wishes]
        if any(vectors):
            pairs = zip(wishes, vectors, strict=True)
            wishes = [replace(wish, vector=vector) for wish, vector in pairs]
        results = self.desk.answer(wishes, requests, conclude)
        if not stepped:
            self._take(batch, results)

    def _wishes_of(self, batch: Due) -> list[Wish]:
        """What is put to the desk: the analyst's own claims, and for other parts asks or guesses.

        After a claim that was refuted it is asked what is true.
        """
        desk, tolerance = self.desk, self.tolerance
        plain = [part.statistic for _, part in batch if part.guess is None and not part.refuted]
        rows, likely = self.guess.rows, self.guess.likely_at(0)
        others = iter(wishes_for(desk, plain, rows, tolerance, likely) if plain else ())
        wishes = []
        for place, part in batch:
            if part.guess is None and not part.refuted:
                other = next(others)
                if rows is not None and other.claim is not None:
                    other = replace(other, forecast=self.claims[place].forecast)
                wishes.append(other)
                continue
            wanted = self.guess.tolerance_at(place, tolerance)
            t = desk.half_width(wanted, part.statistic)
            if part.refuted:
                most = max(t, desk.half_width(None, part.statistic))  # of a claim: narrower
                wish = Wish(
                    part.statistic,
                    most,
                    narrow=True,
                    follows=self._refuted(place, part.statistic.text),
                )
            else:
                wish = self.claims[place].claim(part, t, wanted)
                wish = _half_implied(desk, self.questions[place], wish)
            wishes.append(wish)
        return wishes

    def _refuted(self, place: int, text: str) -> Refuted | None:
        """The last claim of a part that was not confirmed, or of any part of its question."""
        looks = [each for each in self.progress[place].looks if each.refuted is not None]
        own = [each for each in looks if each.question == text] or looks
        return own[-1].refuted if own else None

    def _requests_of(self, batch: Due) -> dict[str, Request]:
        """What each part is asked for: itself, if it is, or the first question that needs it."""
        requests = {part.statistic.text: self.requests[place] for place, part in reversed(batch)}
        itself = {request.question: request for request in reversed(self.requests)}
        return {text: itself.get(text, request) for text, request in requests.items()}

    def _take(self, batch: Due, results: Sequence[LookFound]) -> None:
        """The answers are there: every play goes on with its own."""
        for (place, part), each in zip(batch, results, strict=True):
            self.progress[place].parts.append(part)
            self.progress[place].results.append(each)
        self.running.send([each.look.estimate for each in results])

    def _telling(self) -> list[Body]:
        """The entries that tell what follows; none if all of it was told before.

        A call with a key is told as a whole, once: not if another with the same was faster.
        """
        transcript, at = self.desk.transcript, now()
        for progress in self.progress:
            progress.line = None
        looks = [each for progress in self.progress for each in progress.looks]
        numbered = [each.number for each in looks if each.number is not None]
        numbers = count(max([transcript.next_line - 1, *numbered]) + 1)
        lines_told: dict[int, Recorded] = {}  # by this call, by number
        entries: list[Body] = []
        for key, places in by_key(self.requests).items():
            if key is not None and transcript.told_for(key) is not None:
                continue
            lines = [self._line(place, at, lines_told, numbers) for place in places]
            entry = [
                {**line, "request": self.requests[place].body()}
                for place, line in zip(places, lines, strict=True)
                if key is not None or "parts" in line
            ]
            entries += [telling(at, key, entry)] if entry else []
        return entries

    def _line(
        self, place: int, at: str, lines_told: dict[int, Recorded], numbers: Iterator[int]
    ) -> Body:
        """One question's line: one that is there already, or what follows now."""
        question, request, progress = (
            self.questions[place],
            self.requests[place],
            self.progress[place],
        )
        transcript, fresh = self.desk.transcript, any(each.fresh for each in progress.results)
        if progress.same_claim is not None:
            return self._there(place, progress.same_claim, repeated=True)
        gated = request.verb == "gate"
        followed = self._followed(place)
        look = progress.looks[0] if progress.looks else None
        plain = is_single(question) and look is not None and not followed.known
        if plain and look is not None and look.number is not None and (look.is_gate or not gated):
            repeated = not fresh or look.number in lines_told
            lines_told[look.number] = look
            return self._there(place, look, repeated=repeated)
        now_told = [line for line in lines_told.values() if line.question == question.text]
        earlier = [*transcript.told_of(question.text), *now_told]
        facts = whole(request, question, followed, earlier, transcript.terms)
        for line in reversed(now_told if fresh else earlier):
            same = not (fresh or gated) or line.status == facts["status"]
            # A claim of one side, and one that no look was put for, is about its bound, too.
            if request.side is not None or not progress.looks:
                same = line.status == facts["status"] and line.claims_as(request)
            # A verdict on another guess is none on this one.
            guesses = request.guess is not None and line.guess is not None
            same = same and (not guesses or line.claims_as(request))
            # An answer that settled one side is told as an answer to whoever asks.
            folded = look is not None and look.bits is not None and line.request.side is not None
            same = same and (request.side is not None or not folded)
            # A verdict that follows by now is the one that was told, with all that it said.
            verdict = request.side is not None and not progress.looks
            if same and (verdict or alike(list(line.interval), facts["interval"])):
                return self._there(place, line, repeated=True)
        number = next(numbers)
        if request.verb != "ask":  # a claim is about the rows of the look that settles it
            own = [
                each for each in transcript.looks_at(question.text) if each.look in followed.known
            ]
            facts |= rows_about([*followed.looks, *own])
        body = {"line": number, "repeated": False, **facts}
        lines_told[number] = progress.line = read_whole({**body, "request": request.body()}, at, "")
        progress.repeated = False
        return body

    def _followed(self, place: int) -> Followed:
        """What was found of a question, with what earlier answers imply of it.

        A claim that is a line by itself is told again as it was. A gate says what it shows.
        """
        progress, request, question = (
            self.progress[place],
            self.requests[place],
            self.questions[place],
        )
        followed = Followed(self.running.results[place], progress.looks, progress.parts)
        is_line = any(each.number is not None and each.claim is not None for each in progress.looks)
        if progress.looks and (request.verb == "gate" or (request.verb == "check" and is_line)):
            return followed
        return intersected(followed, self.desk.implied(question), question)

    def _there(self, place: int, line: Recorded, *, repeated: bool) -> Body:
        progress = self.progress[place]
        progress.line, progress.repeated = line, repeated
        return {"line": line.number, "repeated": repeated}

    def answers(self, places: Sequence[int], budget: Budget) -> list[Answer]:
        """What is told at some places."""
        return [self._answer(place, budget) for place in places]

    def _answer(self, place: int, budget: Budget) -> Answer:
        question, progress = self.questions[place], self.progress[place]
        vector = self.requests[place].vector
        more = left_for_more(question, progress.looks, budget, vector, once=self.desk.once)
        line = self._written(progress)
        looks: Sequence[Recorded] = progress.looks
        if progress.same_claim is not None:
            looks = [each for each in self.desk.transcript.answers if each.look in line.parts]
        answer = Answer(line, more, repeated=progress.repeated, parts=looks)
        alone = len(self.questions) == 1
        advice = values_to_declare(self.desk, line.question, line.bits) if alone else None
        if advice is None and alone and line.value is not None:
            advice = values_to_fill_in(line.rows, line.missing)
        if advice is None and line.outlook is not None:
            advice = training_rows_to_forecast(self.desk, question)
        name = short_name(line.question, self.desk.table.schema)
        return answer.judged(self.requests[place].better).advised(advice).called(name)

    def _written(self, progress: _Progress) -> Recorded:
        """The line as it is in the ledger, with its receipt."""
        line = progress.line
        if line is None:
            raise LedgerTampered("the ledger has lost an answer; open it again.")
        if line.look is not None:
            return line
        lines = self.desk.transcript.told_of(line.question)
        return next(each for each in lines if each.number == line.number)


def answered(
    desk: Desk,
    questions: Sequence[Bound],
    requests: Sequence[Request],
    guess: Guess,
    tolerance: float | None,
    silent: Callable[[int], bool],
) -> list[Answer]:
    """The answers to questions chosen together: one scan for each batch of parts.

    One that would say nothing, whatever comes, is not followed up.
    """
    claims = [claim_grounds(desk, each, guess) for each in questions]
    plays = plays_to_run(desk, questions, guess, tolerance, claims)
    progress = [_Progress() for _ in questions]
    call = _Call(
        desk, questions, requests, guess, tolerance, silent, claims, Plays(plays), progress
    )
    call.run()
    called = by_key(requests)
    keys = [key for key in called if key is not None]
    budgets: dict[str | None, Budget] = left_after(desk, keys) if keys else {None: desk.budget()}
    answers: dict[int, Answer] = {}
    for key, places in called.items():
        if key is not None and progress[places[0]].line is None:  # another call with it was faster
            own = [questions[place] for place in places]
            own_answers = repeated_answers(desk, key, own, [requests[place] for place in places])
        else:
            own_answers = call.answers(places, budgets[key])
        answers |= zip(places, own_answers, strict=True)
    return [answers[place] for place in range(len(questions))]


def values_to_declare(desk: Desk, text: str, bits: float | None) -> str | None:
    """Advice to declare the values that a question spells letter by letter, with its gain."""
    if bits is None or desk.ground is None or not isinstance(desk.ground.prior, Prior):
        return None
    prior, declared = desk.ground.prior, desk.table.schema.values
    undeclared = [
        name
        for name, kind in prior.schema.types.items()
        if kind is ColumnType.TEXT and name not in declared and name in text
    ]
    cheaper = prior.with_values_declared(prior.read(text)) if undeclared else None
    if cheaper is None:
        return None
    columns, length = cheaper
    level = -desk.ground.log_beta
    ratio = math.sqrt((level + length * _LN2) / (level + bits * _LN2))
    if ratio > _WORTH_SAYING:
        return None
    gain = "half as wide" if ratio <= _HALF else _less(ratio)
    return (
        f"declare the values of {' and '.join(columns)}: about {length:.0f} bits instead of "
        f"{bits:.0f}, {gain}"
    )


def values_to_fill_in(rows: tuple[int, int] | None, missing: tuple[int, int]) -> str | None:
    """Advice to fill in missing values, with its gain: a half-width falls by the root of rows."""
    if rows is None or missing[0] == 0:
        return None
    ratio = math.sqrt(rows[1] / (rows[1] + missing[0]))
    if ratio > _WORTH_FILLING:
        return None
    gain = "half as wide or less" if ratio <= _HALF else f"about {_less(ratio)}"
    return f"fewer rows are known: with the {missing[0]:,} missing values it would be {gain}"


def training_rows_to_forecast(desk: Desk, question: Bound) -> str | None:
    """Advice to claim an open difference with a forecast by training rows, where they have it.

    A difference of two groups is answered by its text, with a forecast or without.
    """
    statistic = statistic_of(question)
    if desk.train is None or not isinstance(statistic, Paired):
        return None
    if not columns_about(statistic) <= desk.train.types.keys():
        return None
    return 'the training rows could forecast this: gate it (dev=) or check it (expect="training")'


def _less(ratio: float) -> str:
    return f"{100.0 * (1.0 - ratio):.0f} % narrower"


_LN2, _WORTH_SAYING, _WORTH_FILLING, _HALF = math.log(2.0), 0.95, 0.9, 0.52


def by_key(requests: Sequence[Request]) -> dict[str | None, list[int]]:
    """The places of each call's requests; those without a key are told as one."""
    places: dict[str | None, list[int]] = {}
    for place, request in enumerate(requests):
        places.setdefault(request.key, []).append(place)
    return places
