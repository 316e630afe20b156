"""The exact value of one statistic, chosen from all that was answered; then the ledger is closed.

Any statistic that one number answers, described or not: a mean of a Python function, an attached
column, a statistic with a declared concentration. The entry that ends asks and checks is in one
commit with the reservation: a crash leaves nothing done, or something for anybody to finish.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.holdout.answer import Answer
from holdfast.holdout.asking import Said
from holdfast.holdout.desk import Desk
from holdfast.holdout.grouping import knowing
from holdfast.holdout.guess import Guess
from holdfast.holdout.reading import bound_to, one_answer_of
from holdfast.holdout.widths import NamedWidth
from holdfast.ledger.chain import now
from holdfast.ledger.endings import revelation
from holdfast.ledger.entries import Recorded
from holdfast.ledger.informed import informed
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.mechanism import Offer, Wish
from holdfast.mechanisms.reveal import REVEAL, Reveal, levels_of, revealing, to_be_revealed
from holdfast.statistics.bind import Question
from holdfast.statistics.derived import is_single
from holdfast.statistics.recorded import require_written
from holdfast.statistics.statistic import Statistic

__all__ = ["RevealCost", "cost_of_revealing", "revealed_answer"]


def revealed_answer(desk: Desk, question: Question, why: str | None, by: str | None) -> Answer:
    """The answer; what was revealed before is told again."""
    mechanism, statistic = _mechanism(desk), _statistic(desk, question)
    said = Said(why, by, None, NamedWidth())
    with desk.alone({statistic.text: Wish(statistic, desk.half_width(None, statistic))}):
        known = _known(desk, statistic)
        if known is None:
            wish, offer = _offered(desk, mechanism, statistic)
            (request,) = said.requests(desk, [statistic], [None], Guess())
            (known,) = desk.take(
                mechanism,
                [offer],
                [wish],
                {statistic.text: request},
                before=[revelation(now(), statistic.text)],
            )
            return Answer(known, desk.budget())
    return Answer(known, desk.budget(), repeated=True)


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
            f"{self.question}: its exact value, half-width at most {self.half_width:.4g}, by "
            f"{self.by} at level {self.level:.3g} (leakage {self.leakage:.3g}, near independence "
            f"{self.near_independence:.3g}); then asks, checks, gates and searches are ended for "
            "good, and described questions stay"
        )

    __repr__ = __str__


def cost_of_revealing(desk: Desk, question: Question) -> RevealCost:
    """What it would be; refused as it would be."""
    desk.refresh()
    mechanism, statistic = _mechanism(desk), _statistic(desk, question)
    if _known(desk, statistic) is not None:
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
    found = revealing(desk.transcript.mechanism)
    if found is None:
        kind = kind_of(desk.opening.mechanism["name"])
        raise InvalidArgument(
            f"this ledger answers by {kind.name}, which does not count what leaks, and reveals "
            "nothing; open one by bounded noise or by typically stable noise. Nothing was spent."
        )
    return found


def _statistic(desk: Desk, question: Question) -> Statistic:
    """The statistic; refused where one number does not answer it, or no ledger could name it."""
    found = one_answer_of(bound_to(desk, question, knowing(desk, None)))
    if not is_single(found):
        raise InvalidQuestion(
            f"{found.text} follows from several numbers, and one is revealed; take a last look at "
            "it with final, or reveal a mean."
        )
    require_written(found, desk.table)
    return found


def _known(desk: Desk, statistic: Statistic) -> Recorded | None:
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
