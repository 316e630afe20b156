"""Repeats: which earlier answer fulfils a wish, so that nothing has to be asked.

Asking again is free, unless more is wanted than the ledger has: a smaller half-width that is named,
or two ends where only one was claimed. A claim of the analyst's own is settled by the same claim
made before, and by an interval that lies inside it, or beside it. A guess that was computed, from
other rows or by a guesser, is a way to ask, and is no claim of the analyst's. A claim whose call
died before it was told anything is gone on with from the claim, so that its line has all its looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from holdfast.described.question import DescribedQuestion
from holdfast.ledger.entries import Recorded
from holdfast.ledger.limits import ROUNDED_ENDS, lies_in
from holdfast.mechanisms.mechanism import Wish
from holdfast.theory.base.intervals import Interval

__all__ = ["fulfilling", "never_told"]

_WIDER = 1 + 1e-9  # an answer may be a little wider than what was wished


def fulfilling(looks: Iterable[Recorded], wish: Wish) -> Recorded | None:
    """The narrowest of the answers to a question that fulfil a wish; None if it is to be asked."""
    found = [look for look in looks if _fulfils(look, wish)]
    return min(found, key=lambda look: look.half_width, default=None)


def never_told(
    looks: Iterable[Recorded], wish: Wish, told_of: Callable[[str], Iterable[Recorded]]
) -> Recorded | None:
    """The same claim, made in vain by a call that died before it was told; None if there is none.

    `told_of` finds what was told of a question.
    """
    return next((each for each in looks if wish.stated and _is_begun(each, wish, told_of)), None)


def _is_begun(look: Recorded, wish: Wish, told_of: Callable[[str], Iterable[Recorded]]) -> bool:
    if look.part_of is None or look.value is not None or not _is_known_not_to_hold(look, wish):
        return False
    return all(look.look not in line.parts for line in told_of(look.part_of))


def _fulfils(look: Recorded, wish: Wish) -> bool:
    if look.status == "no promise" or look.range.low == look.range.high:
        return True  # there is nothing more to be told
    if look.value is None and look.claim is not None:
        return _is_known_not_to_hold(look, wish)
    if isinstance(wish.question, DescribedQuestion):
        return look.bits is not None  # it has one answer
    inside = look.part_of_range
    implied = wish.claim is not None and lies_in(inside, wish.claim, look.range)
    if wish.claim is not None and (implied or wish.stated):
        return implied or _beside(inside, wish.claim)
    if wish.narrow and not _one_sided(look):
        return True  # no half-width was named
    return (inside.high - inside.low) / 2 <= wish.tolerance * _WIDER + ROUNDED_ENDS


def _is_known_not_to_hold(look: Recorded, wish: Wish) -> bool:
    """Whether the same claim was made before in vain; of anything else that says nothing."""
    silent = "not shown" if wish.gated else "not confirmed"
    return look.status == silent and _same_claim(look, wish)


def _one_sided(look: Recorded) -> bool:
    """Whether it is a claim that binds one end only."""
    if look.claim is None:
        return False
    return look.claim[0] <= 0.0 or look.claim[1] >= 1.0


def _same_claim(look: Recorded, wish: Wish) -> bool:
    """Whether this was claimed before."""
    if look.claim is None or wish.claim is None:
        return False
    return all(abs(a - b) <= ROUNDED_ENDS for a, b in zip(look.claim, wish.claim, strict=True))


def _beside(interval: Interval, claim: tuple[float, float]) -> bool:
    """Whether it excludes a claim."""
    low, high = claim
    return interval.high < low or interval.low > high
