"""Which of a ledger's mechanisms a wish is for."""

from __future__ import annotations

from holdfast.errors import InvalidArgument
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.mechanism import Checker, Mechanism, Wish

__all__ = ["mechanism_for", "require_claims"]


def mechanism_for(transcript: Transcript, wish: Wish) -> Mechanism:
    """The one that answers a wish without a description."""
    if wish.claim is None:
        return transcript.mechanism
    return require_claims(transcript, gated=wish.gated)


def require_claims(transcript: Transcript, *, gated: bool = False) -> Checker:
    """What checks, or gates, beside the ledger's mechanism; refused where nothing does."""
    found = transcript.gate if gated else transcript.checker
    if found is None:
        kind = kind_of(transcript.opening.mechanism["name"])
        raise InvalidArgument(
            f"this ledger answers by {kind.name} and checks no guesses: {kind.refuses_checks} "
            "Use ask, or another ledger."
        )
    return found
