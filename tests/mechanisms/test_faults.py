"""What an audit says of an offer on the leakage account: each fault alone, just beyond its edge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from holdfast.mechanisms.guess_and_check import GuessAndCheck
from holdfast.mechanisms.mechanism import Mechanism, Offer
from holdfast.mechanisms.profile import profile_of_record, radius_of
from holdfast.statistics.known import KnownVariance
from tests.mechanisms.fake import (
    CONDITION,
    dependent,
    every_mechanism,
    independent,
    leaked,
    wish_for,
)

N = 2_000
ACCOUNT = leaked(2.0, asked=1, checks=1)
A_LITTLE = 1e-5
FAULTS: dict[str, Callable[[Offer], Offer]] = {
    "its number is out of order": lambda o: replace(o, number=o.number + 1),
    "it takes more than its share of the failure probability": (
        lambda o: replace(o, log_share=o.log_share + A_LITTLE)
    ),
    "its level ignores leakage": lambda o: replace(o, log_p=o.log_p + A_LITTLE),
    "its radius is too small": lambda o: replace(o, radius=o.radius * (1 - A_LITTLE)),
    "noise and radius exceed its tolerance": (
        lambda o: replace(o, tolerance=o.tolerance * (1 - A_LITTLE))
    ),
    "its charge is too small": (
        lambda o: replace(o, worst_charge=o.worst_charge * (1 - A_LITTLE))
    ),
}  # fmt: skip


@every_mechanism
@pytest.mark.parametrize("words", FAULTS)
def test_each_fault_is_named(mechanism: Mechanism, words: str) -> None:
    terms = independent(N)
    (offer,) = mechanism.offer(terms, ACCOUNT, [wish_for(mechanism, CONDITION)])
    assert mechanism.fault(terms, ACCOUNT, offer, 1) is None
    assert mechanism.fault(terms, ACCOUNT, FAULTS[words](offer), 1) == words


@every_mechanism
def test_a_known_variance_narrows_the_radius_of_independent_rows_only(
    mechanism: Mechanism,
) -> None:
    """Bernstein's inequality is about independent rows, whatever their variance is known to be."""
    known, found = KnownVariance(1e-4), []
    for terms in (independent(N), dependent(N)):
        (offer,) = mechanism.offer(terms, ACCOUNT, [wish_for(mechanism, CONDITION)])
        profile = profile_of_record(offer.profile, terms)
        narrow = radius_of(profile, known, N, offer.log_p)
        assert narrow < 0.5 * offer.radius
        narrowed = replace(offer, variance=known, radius=narrow)
        found.append(mechanism.fault(terms, ACCOUNT, narrowed, 1))
    assert found == [None, "its radius is too small"]


@pytest.mark.parametrize("claim", [None, (0.6, 0.5), (1.1, 1.2), (-0.2, -0.1)])
def test_a_claim_is_an_interval_of_the_range(claim: tuple[float, float] | None) -> None:
    terms, wish = independent(N), wish_for(GuessAndCheck(), CONDITION)
    (offer,) = GuessAndCheck().offer(terms, ACCOUNT, [wish])
    forged = replace(offer, claim=claim)
    assert GuessAndCheck().fault(terms, ACCOUNT, forged, 1) == "its claim is no interval"
