"""What all baselines without a promise have in common: the whole range as interval, and no share.

They are still charged. Whatever a mechanism does, an answer whose law is, for every sample, at most
kappa times a law that sees no sample is charged kappa by Theorem L; so the ledger's count of what
has leaked stays true. It only bounds nothing that is promised.
"""

from __future__ import annotations

import math
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.kind import Planned
from holdfast.mechanisms.laws.law import Grid
from holdfast.mechanisms.mechanism import Offer, Release, Wish
from holdfast.mechanisms.terms import Terms
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_up

__all__ = [
    "alphabet_log_charge",
    "planned_without",
    "unpromised_offer",
    "unpromised_release",
]


def planned_without(name: str, wanted: Terms, parameters: dict[str, Any]) -> Planned:
    """The plan of a mechanism that promises no half-width; one that was asked for is refused."""
    if wanted.tolerance is not None:
        raise InvalidArgument(
            f"tolerance is {wanted.tolerance:g}, and {name} promises no half-width; leave it out, "
            "or choose a mechanism with a promise: holdfast mechanisms"
        )
    return Planned(None, parameters)


def alphabet_log_charge(symbols: int) -> float:
    """ln of the number of symbols: no release from a public alphabet is charged more."""
    return round_up(math.log(symbols))


def unpromised_offer(
    account: Account,
    wish: Wish,
    position: int,
    *,
    grid: Grid,
    charge: float,
    extra: dict[str, Any] | None = None,
) -> Offer:
    """The offer of an answer without a promise, `position` places after the account."""
    return Offer(
        number=account.looks + position,
        question=wish.question.text,
        tolerance=None,
        grid=grid,
        worst_charge=charge,
        guess=wish.guess,
        extra=extra,
    )


def unpromised_release(offer: Offer, value: float) -> Release:
    """A value with the whole range as its interval."""
    inside = min(1.0, max(0.0, value))
    return Release(offer.number, "no promise", inside, Interval(0.0, 1.0), offer.worst_charge)
