"""What the ledger adds to a wish before an offer is made, or made again by an audit."""

from __future__ import annotations

from dataclasses import replace

from holdfast.described.question import columns_read
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.mechanism import Wish
from holdfast.statistics.known import known_variance
from holdfast.statistics.statistic import Statistic

__all__ = ["informed", "is_keyless"]


def informed(transcript: Transcript, wish: Wish) -> Wish:
    """The wish with what is public of its question: a known variance, and what it reads."""
    return replace(
        wish,
        variance=known_variance(wish.question, transcript.by_question),
        keyless=is_keyless(transcript, wish.question),
    )


def is_keyless(transcript: Transcript, question: Statistic) -> bool:
    """Whether a question reads nothing that was made for single keys."""
    return transcript.attached.keyless(transcript.terms.key, columns_read(question))
