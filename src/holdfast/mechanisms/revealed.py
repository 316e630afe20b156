"""What an answer reveals of the sample, in public: an interval that surely holds its value.

A release is within the noise's reach D of the sample's value q. A claim [low, high] that is made
puts q inside it, for the test's interval holds q and lies inside the claim. Of one that is not made
the interval, which reaches no further than alpha from q, was not inside it: q < low + alpha or
q > high - alpha. That tells something together with the answer that follows.
"""

from __future__ import annotations

from fractions import Fraction

from holdfast.mechanisms.mechanism import Claim, Offer, Refuted, Release
from holdfast.theory.base.intervals import Interval

__all__ = ["revealed"]


def revealed(offer: Offer, release: Release, refuted: Refuted | None = None) -> Interval:
    """Where the sample's value is, as a fraction of the range; all of it if nothing is said."""
    if offer.claim is not None and release.value is not None:
        low, high = offer.claim
        return Interval(max(0.0, low), min(1.0, high))
    if offer.grid is None or offer.grid.reach is None or release.status != "answered":
        return Interval(0.0, 1.0)
    reach = float(Fraction(2 * offer.grid.reach + 1, 2) / Fraction(offer.grid.cells))
    near = Interval(max(0.0, release.told - reach), min(1.0, release.told + reach))
    if refuted is None or refuted.radius is None:
        return near
    return _outside(near, refuted.claim, refuted.radius)


def _outside(near: Interval, claim: Claim, radius: float) -> Interval:
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
