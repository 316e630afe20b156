"""The last look: exact values for questions chosen together, and then the ledger is closed.

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

from holdfast.described.question import DescribedQuestion
from holdfast.described.wording import sure_half_width
from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.asking import Said, several
from holdfast.holdout.desk import Desk
from holdfast.holdout.grouping import knowing
from holdfast.holdout.guess import Guess
from holdfast.holdout.reading import bound_to, one_answer_of
from holdfast.holdout.searching import require_late
from holdfast.holdout.widths import NamedWidth
from holdfast.ledger.chain import now
from holdfast.ledger.dictionaries import LAST_LOOK, Dictionary, late_question
from holdfast.ledger.entries import Recorded
from holdfast.mechanisms.dictionary import stake_in
from holdfast.mechanisms.mechanism import Wish
from holdfast.statistics.bind import Question
from holdfast.wording import plural
from holdfast.words.parts import parts_of

__all__ = ["LastLookCost", "cost_of_last_look", "last_look"]


def last_look(
    desk: Desk, questions: Iterable[Question], why: str | None, by: str | None
) -> list[Answer]:
    """The answers; those that are known by their description are not asked again."""
    texts = _texts(desk, questions)
    said = Said(why, by, None, NamedWidth(None, None))
    with desk.alone():
        new = _unknown(desk, texts)
        if new:
            dictionary, asked = _opened_now(desk, new)
            requests = said.requests(desk, asked, [None] * len(asked), Guess())
            wishes = [Wish(question, desk.half_width(None, question)) for question in asked]
            mechanism, account = dictionary.mechanism, desk.transcript.account
            desk.take(
                mechanism,
                mechanism.offer(desk.transcript.terms, account, wishes),
                wishes,
                {request.question: request for request in requests},
                before=[dictionary.body()],
            )
    left = desk.budget()
    return [Answer(_known(desk, text), left, repeated=text not in new) for text in texts]


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
            f"  {text}{'' if width is None else f': half-width at most {width:.4g}'}"
            for text, width in zip(self.questions, self.half_widths, strict=True)
        ]
        return "\n".join(
            [
                f"a last look at {plural(self.new, 'new question')}: exact values, each at level "
                f"{self.level:.3g}; then asks, checks, gates and searches are ended for good, and "
                "described questions stay",
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
    _, asked = _opened_now(desk, new)
    widths = {one.text: _widest(one) for one in asked}
    level = math.exp(asked[0].rule.log_p)
    return LastLookCost(tuple(texts), len(new), level, tuple(widths.get(each) for each in texts))


def _widest(question: DescribedQuestion) -> float | None:
    part = sure_half_width(question.rule)
    return None if part is None else part * (question.high - question.low)


def _texts(desk: Desk, questions: Iterable[Question]) -> list[str]:
    """The questions in canonical words; refused where their text alone is not what they are."""
    require_late(desk, "last look")
    asked = several(questions)
    if not asked:
        raise InvalidArgument("questions is empty; a last look is at one question at least.")
    groups = knowing(desk, None)
    found = [one_answer_of(bound_to(desk, each, groups)) for each in asked]
    for each in found:
        parts_of(each)  # refused where it has none
    return [each.text for each in found]


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
        kind="final/1",
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
