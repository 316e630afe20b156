"""What an answer reveals of the sample, in public: an interval that surely holds its value.

A release is within the noise's reach D of the sample's value q. A check besides tells by its symbol
alone on which side of the claim q cannot be: *confirmed* puts q inside the claim [low, high], and a
*surprise* means that some interval within the radius alpha of q was not inside it, so that
q < low + alpha or q > high - alpha.
"""

from __future__ import annotations

from fractions import Fraction

from holdfast.mechanisms.mechanism import Offer, Release
from holdfast.theory.base.intervals import Interval

__all__ = ["revealed"]


def revealed(offer: Offer, release: Release) -> Interval:
    """Where the sample's value is, as a fraction of the range; all of it if nothing is said."""
    if release.status == "confirmed" and offer.claim is not None:
        low, high = offer.claim
        return Interval(max(0.0, low), min(1.0, high))
    if (
        offer.grid is None
        or offer.grid.reach is None
        or release.status not in ("answered", "surprise")
    ):
        return Interval(0.0, 1.0)
    reach = float(Fraction(2 * offer.grid.reach + 1, 2) / Fraction(offer.grid.cells))
    low, high = max(0.0, release.told - reach), min(1.0, release.told + reach)
    if release.status == "surprise" and offer.claim is not None:
        _, radius = offer.statement
        return _outside(Interval(low, high), offer.claim, radius)
    return Interval(low, high)


def _outside(near: Interval, claim: tuple[float, float], radius: float) -> Interval:
    """The part of `near` from where the claim can have been refuted; its ends at 0 and 1 cannot."""
    sides = []
    if claim[0] > 0.0:
        sides.append(Interval(near.low, min(near.high, claim[0] + radius)))
    if claim[1] < 1.0:
        sides.append(Interval(max(near.low, claim[1] - radius), near.high))
    left = [side for side in sides if side.low <= side.high]
    if not left:
        return near
    return Interval(min(side.low for side in left), max(side.high for side in left))
