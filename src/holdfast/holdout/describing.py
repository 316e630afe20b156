"""Which questions are answered at the level of their description, and which go to the ledger.

The choice is public: it depends on the question's words, on what was declared, and on what the
ledger can still answer.
"""

from __future__ import annotations

from holdfast.described.ground import Ground
from holdfast.described.question import DescribedQuestion, described
from holdfast.errors import InvalidQuestion, Refused
from holdfast.holdout.desk import Desk
from holdfast.mechanisms.mechanism import Wish
from holdfast.statistics.bind import Question, bind
from holdfast.statistics.derived import is_single
from holdfast.statistics.entry import Bound

__all__ = ["described_question", "is_describable", "ruled"]


def described_question(
    desk: Desk, question: Question, text: str | None = None, *, together: bool = False
) -> DescribedQuestion | None:
    """The question with the rule that answers it exactly; None if it goes to the ledger.

    `text` is what it was read from, if it was. One that is asked `together` with others on one
    event does not go to the ledger, which would take each.
    """
    if desk.ground is None:
        return None
    try:
        found = desk.ground.prior.read(question)
        return ruled(desk, found, was_read=text == found.text, together=together)
    except InvalidQuestion:
        return None  # what is wrong with it is said where it is bound to the table


def is_describable(desk: Desk, question: Question) -> bool:
    """Whether there is a rule for it, whether or not the ledger has a narrower answer."""
    if desk.ground is None:
        return False
    return described(desk.ground.prior.read(question), desk.ground) is not None


def ruled(
    desk: Desk, question: Bound, *, was_read: bool = False, together: bool = False
) -> DescribedQuestion | None:
    """The statistic with the rule that answers it exactly; None if it goes to the ledger.

    `was_read` tells that it was read from its canonical text.
    """
    if desk.ground is None or not (was_read or _is_told(desk.ground, question.text)):
        return None
    found = described(question, desk.ground)
    return None if found is None or (not together and _is_long(desk, found)) else found


def _is_told(ground: Ground, text: str) -> bool:
    """Whether its text says it: of a column that was attached later it only has the name."""
    try:
        return ground.prior.read(text).text == text
    except InvalidQuestion:
        return False


def _is_long(desk: Desk, found: DescribedQuestion) -> bool:
    """Whether the ledger has a narrower answer to a question with a long description."""
    if not desk.transcript.terms.promises:
        return False
    t = desk.half_width(None, found)
    if found.reach <= t:
        return False
    try:
        question = bind(found.text, desk.table)  # its group has the size that the ledger knows
        if not is_single(question):
            return False
        desk.offers([Wish(question, t)], desk.transcript.committed)
    except (InvalidQuestion, Refused):
        return False
    return True
