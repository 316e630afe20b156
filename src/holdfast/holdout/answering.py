"""Which of a ledger's mechanisms wishes are for, and what it offers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.errors import InvalidArgument
from holdfast.holdout.wishes import is_described
from holdfast.ledger.informed import informed
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.described import DESCRIBED
from holdfast.mechanisms.mechanism import Checker, Mechanism, Offer, Wish
from holdfast.statistics.statistic import Statistic

__all__ = ["offered", "require_claims"]


def offered(
    transcript: Transcript,
    wishes: Sequence[Wish],
    account: Account,
    require_written: Callable[[Statistic], None],
) -> tuple[Mechanism, list[Offer]]:
    """The public terms of answering wishes that one mechanism answers; or a refusal."""
    terms, first = transcript.terms, wishes[0].question
    account.require_in_use()
    if not is_described(first) or first.dictionary is not None:
        account.require_open()
    if is_described(first):
        mechanism = transcript.mechanisms[first.dictionary or DESCRIBED.name]
        return mechanism, mechanism.offer(terms, account, wishes)
    for wish in wishes:
        require_written(wish.question)
    mechanism = _mechanism_for(transcript, wishes[0])
    return mechanism, mechanism.offer(terms, account, [informed(transcript, w) for w in wishes])


def _mechanism_for(transcript: Transcript, wish: Wish) -> Mechanism:
    """The one that answers a wish without a description."""
    if wish.claim is None:
        return transcript.mechanism
    return require_claims(transcript, gated=wish.gated)


def require_claims(transcript: Transcript, *, gated: bool = False) -> Checker:
    """What checks, or gates, beside the ledger's mechanism; refused where nothing does."""
    found = transcript.gate if gated else transcript.checker
    if found is None:
        kind = kind_of(transcript.opening.mechanism["name"])
        if kind.refuses_checks is None:
            raise InvalidArgument(
                f"this ledger answers by {kind.name}, which counts guesses and has no gates. Use "
                "check, or another ledger."
            )
        raise InvalidArgument(
            f"this ledger answers by {kind.name} and checks no guesses: {kind.refuses_checks} "
            "Use ask, or another ledger."
        )
    return found
