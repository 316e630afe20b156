"""What an audit finds wrong with an offer, from the ledger alone."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.mechanism import Offer
from holdfast.mechanisms.profile import profile_of_record, radius_of
from holdfast.theory.leakage.release import DiscreteUniform

__all__ = ["first_fault", "leakage_fault"]


def first_fault(faults: Mapping[str, bool]) -> str | None:
    """The first of these that is so; None if none is."""
    return next((fault for fault, found in faults.items() if found), None)


def leakage_fault(
    terms: Terms,
    account: Account,
    offer: Offer,
    place: int,
    charge: float,
    reach: Fraction | None = None,
) -> str | None:
    """What an audit finds wrong with an offer on the leakage account; `charge` is its worst.

    `reach` is how far the answer may be from the sample's value, if the grid does not say it.
    """
    if reach is None:
        reach = DiscreteUniform(offer.cells, offer.reach).reach
    log_p = min(0.0, offer.log_p)
    profile = profile_of_record(offer.profile, terms)
    least = profile.radius(log_p)
    if offer.variance is not None and terms.independent:
        least = min(least, radius_of(profile, offer.variance, terms.rows, log_p))
    faults = {
        "its number is out of order": offer.number != account.asked + place,
        "it takes more than its share of the failure probability": (
            offer.log_share > terms.log_share(offer.number) + 1e-9
        ),
        "its level ignores leakage": offer.log_p > offer.log_share - account.nats + 1e-9,
        "its radius is too small": offer.radius < least * (1 - 1e-12),
        "noise and radius exceed its tolerance": (
            reach + Fraction(offer.radius) > Fraction(offer.tolerance)
        ),
        "its charge is too small": offer.worst_charge < charge * (1 - 1e-12),
    }
    return first_fault(faults)
