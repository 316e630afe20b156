"""The end of a ledger: last looks at exact values, and one exact value revealed.

Nothing that is not described comes after them, so they need no noise: each has its part of all that
is left of the failure probability, lowered by what has leaked (section 11.5). They are a dictionary
that is opened last, with everything (Theorem O'), and the entry that opens it ends asks and checks
in one commit with the reservation: a crash leaves it unopened, or for anybody to finish.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.holdout.answer import Answer
from holdfast.holdout.ask import CallTerms, several
from holdfast.holdout.desk import Desk, require_late, retire
from holdfast.holdout.request import Guess, bound_to, knowing, one_answer_of
from holdfast.ledger.chain import now
from holdfast.ledger.dictionaries import LAST_LOOK, Dictionary, late_question, stake_in
from holdfast.ledger.entries import Recorded, revelation
from holdfast.ledger.transcript import informed
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.exact import REVEAL
from holdfast.mechanisms.mechanism import Offer, Wish
from holdfast.mechanisms.reveal import Reveal, levels_of, revealing, to_be_revealed
from holdfast.statistics.bind import Question, parts_of, require_written
from holdfast.statistics.description import DescribedQuestion, sure_half_width
from holdfast.statistics.statistic import Statistic, is_single
from holdfast.wording import at_most, plural


class Ending:
    """The verbs that end a ledger, for asks and checks or for everything: `holdout.end`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @require.takes()
    def final(
        self, questions: Iterable[Question], *, why: str | None = None, asked_by: str | None = None
    ) -> list[Answer]:
        """A last look: exact values of questions chosen together, with all that is left.

        Asks, checks, gates and searches are ended by it, for good; text questions stay.
        """
        return last_look(self._desk, questions, CallTerms(why, asked_by))

    def final_cost(self, questions: Iterable[Question]) -> LastLookCost:
        """What a last look would show, and end. Free; touches no data."""
        return cost_of_last_look(self._desk, questions)

    @require.takes()
    def reveal(
        self, question: Question, *, why: str | None = None, asked_by: str | None = None
    ) -> Answer:
        """The exact value of one statistic, chosen from all that was answered.

        Its interval is by the leakage theorem, or by near independence where answers were typically
        stable and something was kept for it, whichever is narrower. Asks, checks, gates and
        searches are ended by it, for good; text questions stay.
        """
        return revealed_answer(self._desk, question, CallTerms(why, asked_by))

    def reveal_cost(self, question: Question) -> RevealCost:
        """What would be revealed, and ended. Free; touches no data."""
        return cost_of_revealing(self._desk, question)

    def retire(self, *, why: str, successor: str | None = None) -> None:
        """Answer nothing new from here on, for good; `successor` is what to ask instead."""
        retire(self._desk, why, successor)


def last_look(desk: Desk, questions: Iterable[Question], terms: CallTerms) -> list[Answer]:
    """The answers; those that are known by their description are not asked again."""
    texts = _texts(desk, questions)

    def look() -> list[str]:
        new = _unknown(desk, texts)
        if new:
            dictionary, opened = _opened_now(desk, new)
            requests = terms.requests(desk, opened, [None] * len(opened), Guess())
            wishes = [Wish(question, desk.half_width(None, question)) for question in opened]
            mechanism, account = dictionary.mechanism, desk.transcript.account
            desk.take(
                mechanism,
                mechanism.offer(desk.transcript.terms, account, wishes),
                wishes,
                {request.question: request for request in requests},
                before=[dictionary.body()],
            )
        return new

    new, budget = desk.alone(look), desk.budget()
    return [Answer(_known(desk, text), budget, repeated=text not in new) for text in texts]


@dataclass(frozen=True, slots=True)
class LastLookCost:
    """What a last look would show and end, before it is taken. Free to know; nothing of the data.

    `level` is the failure probability of each new question, `half_widths` the widest that each
    interval can be in its own unit (None where that is not known, or the answer is).
    """

    questions: tuple[str, ...]
    new: int
    level: float
    half_widths: tuple[float | None, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "questions": list(self.questions),
            "new": self.new,
            "level": self.level,
            "half_widths": list(self.half_widths),
            "closes": self.new > 0,
        }

    def __str__(self) -> str:
        if self.new == 0:
            return "all of these were answered before, so repeating them is free"
        lines = [
            f"  {text}{'' if width is None else f': half-width at most {at_most(width)}'}"
            for text, width in zip(self.questions, self.half_widths, strict=True)
        ]
        return "\n".join(
            [
                f"a last look at {plural(self.new, 'new question')}: exact values, each at level "
                f"{self.level:.3g}; then asks, checks, gates and searches are ended for good, and "
                "text questions stay",
                *lines,
            ]
        )

    __repr__ = __str__


def cost_of_last_look(desk: Desk, questions: Iterable[Question]) -> LastLookCost:
    """What it would be; refused as it would be."""
    desk.refresh()
    texts = _texts(desk, questions)
    new = _unknown(desk, texts)
    if not new:
        return LastLookCost(tuple(texts), 0, 0.0, tuple(None for _ in texts))
    _, opened = _opened_now(desk, new)
    widths = {statistic.text: _widest(statistic) for statistic in opened}
    level = math.exp(opened[0].rule.log_p)
    return LastLookCost(tuple(texts), len(new), level, tuple(widths.get(each) for each in texts))


def _widest(question: DescribedQuestion) -> float | None:
    part = sure_half_width(question.rule)
    return None if part is None else part * (question.high - question.low)


def _texts(desk: Desk, questions: Iterable[Question]) -> list[str]:
    """The questions in canonical words; refused where their text alone is not what they are."""
    require_late(desk, "last look")
    chosen = several(questions)
    if not chosen:
        raise InvalidArgument("questions is empty; a last look is at one question at least.")
    groups = knowing(desk, None)
    bound = [one_answer_of(bound_to(desk, each, groups)) for each in chosen]
    for each in bound:
        parts_of(each)  # refused where it has none
    return [each.text for each in bound]


def _unknown(desk: Desk, texts: Sequence[str]) -> list[str]:
    """Those that were not answered exactly yet, each once."""
    exact = {text: _exact(desk, text) for text in texts}
    return [text for text, looks in exact.items() if not looks]


def _exact(desk: Desk, text: str) -> list[Recorded]:
    looks = desk.transcript.looks.get(text, ())
    return [look for look in looks if look.bits is not None]


def _known(desk: Desk, text: str) -> Recorded:
    return min(_exact(desk, text), key=lambda look: look.half_width)


def _opened_now(desk: Desk, texts: Sequence[str]) -> tuple[Dictionary, list[DescribedQuestion]]:
    """The dictionary with everything that is left, and its questions."""
    transcript = desk.transcript
    account, attached = transcript.committed, transcript.attached.columns
    account.require_open()
    log_beta, nats = stake_in(transcript.terms, account, 1.0)
    opened = Dictionary(
        kind="final/2",
        name=LAST_LOOK,
        size=1,
        questions=tuple(texts),
        share=1.0,
        log_beta=log_beta,
        nats=nats,
        columns=len(attached),
        at=now(),
    )
    return opened, [late_question(opened, desk.opening, attached, text) for text in texts]


# The exact value of one statistic, chosen from all that was answered; then the ledger is closed.
#
# Any statistic that one number answers, described or not: a mean of a Python function, an
# attached column, a statistic with a declared concentration. The entry that ends asks and checks
# is in one commit with the reservation: a crash leaves nothing done, or something for anybody to
# finish.


def revealed_answer(desk: Desk, question: Question, terms: CallTerms) -> Answer:
    """The answer; what was revealed before is told again."""
    mechanism, statistic = _mechanism(desk), _statistic(desk, question)

    def reveal() -> Answer:
        look = _known_statistic(desk, statistic)
        if look is not None:
            return Answer(look, desk.budget(), repeated=True)
        wish, offer = _offered(desk, mechanism, statistic)
        (request,) = terms.requests(desk, [statistic], [None], Guess())
        (look,) = desk.take(
            mechanism,
            [offer],
            [wish],
            {statistic.text: request},
            before=[revelation(now(), statistic.text)],
        )
        return Answer(look, desk.budget())

    wish = Wish(statistic, desk.half_width(None, statistic))
    return desk.alone(reveal, {statistic.text: wish})


@dataclass(frozen=True, slots=True)
class RevealCost:
    """What would be revealed and ended, before it is. Free to know; nothing of the data.

    `half_width` is the widest that its interval can be in its own unit, None if it was revealed
    before. `level` is the failure probability, by the account that gives more of it; either may
    have nothing (0).
    """

    question: str
    half_width: float | None
    by: str | None = None
    level: float = 0.0
    leakage: float = 0.0
    near_independence: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "half_width": self.half_width,
            "by": self.by,
            "level": self.level,
            "leakage": self.leakage,
            "near_independence": self.near_independence,
            "closes": self.half_width is not None,
        }

    def __str__(self) -> str:
        if self.half_width is None:
            return f"{self.question} was revealed before, so repeating it is free"
        return (
            f"{self.question}: its exact value, half-width at most {at_most(self.half_width)}, by "
            f"{self.by} at level {self.level:.3g} (leakage {self.leakage:.3g}, near independence "
            f"{self.near_independence:.3g}); then asks, checks, gates and searches are ended for "
            "good, and text questions stay"
        )

    __repr__ = __str__


def cost_of_revealing(desk: Desk, question: Question) -> RevealCost:
    """What it would be; refused as it would be."""
    desk.refresh()
    mechanism, statistic = _mechanism(desk), _statistic(desk, question)
    if _known_statistic(desk, statistic) is not None:
        return RevealCost(statistic.text, None)
    _, offer = _offered(desk, mechanism, statistic)
    levels = levels_of(mechanism.calibration, desk.transcript.terms, desk.transcript.committed)
    _, radius = offer.statement
    return RevealCost(
        statistic.text,
        radius * (statistic.high - statistic.low),
        levels.by,
        *map(math.exp, (levels.best, *levels)),
    )


def _mechanism(desk: Desk) -> Reveal:
    mechanism = revealing(desk.transcript.mechanism)
    if mechanism is None:
        kind = kind_of(desk.opening.mechanism["name"])
        raise InvalidArgument(
            f"this ledger answers by {kind.name}, which does not count what leaks, and reveals "
            "nothing; open one by bounded noise or by typically stable noise. Nothing was spent."
        )
    return mechanism


def _statistic(desk: Desk, question: Question) -> Statistic:
    """The statistic; refused where one number does not answer it, or no ledger could name it."""
    statistic = one_answer_of(bound_to(desk, question, knowing(desk, None)))
    if not is_single(statistic):
        raise InvalidQuestion(
            f"{statistic.text} follows from several numbers, and one is revealed; take a last look "
            "at it with final, or reveal a mean."
        )
    require_written(statistic, desk.table)
    return statistic


def _known_statistic(desk: Desk, statistic: Statistic) -> Recorded | None:
    """What was revealed of it."""
    looks = desk.transcript.looks.get(statistic.text, ())
    return next((look for look in looks if look.mechanism == REVEAL), None)


def _offered(desk: Desk, mechanism: Reveal, statistic: Statistic) -> tuple[Wish, Offer]:
    """What would be shown of it now, as if it were to be; or a refusal."""
    transcript = desk.transcript
    account = transcript.committed
    account.require_open()
    wish = informed(transcript, Wish(statistic, desk.half_width(None, statistic)))
    account = to_be_revealed(account, statistic.text)
    (offer,) = mechanism.offer(transcript.terms, account, [wish])
    return wish, offer
