"""Claims of whole questions: which questions of a ledger are claimed by their own rule.

What is claimed so is a function of the terms and of the question's text, and an offer says it; so
whoever finishes a claim that a crash left, or audits one, comes to the same test.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import InvalidQuestion
from holdfast.ledger.entries import Recorded, Request
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.claims import CHECKS, GATES, claimed_by_rule, is_by_rule
from holdfast.mechanisms.mechanism import Offer
from holdfast.statistics.bind import asked_again, bound_again
from holdfast.statistics.claimed import ClaimedQuestion
from holdfast.statistics.entry import Bound


def claimed_as_whole(
    transcript: Transcript, question: Bound, *, gated: bool
) -> ClaimedQuestion | None:
    """The question as one claim; None where the ledger claims it by parts, or has another test."""
    claims, own = (transcript.gate, GATES) if gated else (transcript.checker, CHECKS)
    if claims is not own or not transcript.terms.promises:
        return None
    return _by_rule(transcript, question)


def _by_rule(transcript: Transcript, question: Bound) -> ClaimedQuestion | None:
    made_for_keys = transcript.attached.made_for_keys
    return claimed_by_rule(question, transcript.terms, transcript.table, made_for_keys)


def claimed_again(transcript: Transcript, offer: Offer) -> ClaimedQuestion | None:
    """The question of an offer that claims it as a whole; None for any other offer."""
    if not is_by_rule(offer.profile):
        return None
    question = _by_rule(transcript, bound_again(offer.question, transcript.table))
    if question is None:
        raise InvalidQuestion("The text in the ledger is not that of a claim by a rule.")
    return question


def whole_of_looks(transcript: Transcript, request: Request, looks: Sequence[Recorded]) -> Bound:
    """The question of a line as it was put: as a whole, if its first look is at all of it.

    One side that its description settles was claimed of nothing else.
    """
    question = asked_again(request.question, transcript.table)
    if request.verb == "ask" or not looks or looks[0].question != request.question:
        return question
    by_text = request.side is not None and looks[0].bits is not None
    return question if by_text else _by_rule(transcript, question) or question
