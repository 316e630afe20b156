"""What an audit says of an offer on the leakage account: each fault alone, just beyond its edge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import Claims
from holdfast.mechanisms.mechanism import Mechanism, Offer
from holdfast.statistics.mean import KnownVariance
from tests.mechanisms.fake import (
    ALL,
    CONDITION,
    audited,
    dependent,
    every_claim,
    independent,
    leaked,
    said,
    wish_for,
)

N = 2_000
ACCOUNT = leaked(2.0, asked=1, checks=1)
A_LITTLE = 1e-5
FAULTS: dict[str, Callable[[Offer], Offer]] = {
    "number": lambda o: replace(o, number=o.number + 1),
    "share of the failure probability": (
        lambda o: replace(o, log_share=(o.log_share or 0.0) + A_LITTLE)
    ),
    "level": lambda o: replace(o, log_p=o.statement[0] + A_LITTLE),
    "charge": (
        lambda o: replace(o, worst_charge=o.worst_charge * (1 - A_LITTLE))
    ),
}  # fmt: skip
OF_ASKS: dict[str, Callable[[Offer], Offer]] = {
    **FAULTS,
    "radius": lambda o: replace(o, radius=o.statement[1] * (1 - A_LITTLE)),
    "grid": lambda o: replace(o, tolerance=(o.tolerance or 0.0) * (1 - A_LITTLE)),
}
OF_CLAIMS: dict[str, Callable[[Offer], Offer]] = {
    **FAULTS,
    "level": lambda o: replace(o, log_p=(o.log_p or 0.0) + A_LITTLE),
    "prior of a surprise": lambda o: replace(o, prior=(o.prior or 0.0) + A_LITTLE),
    "way of answering": lambda o: replace(o, extra={**(o.extra or {}), "standing": {"nats": 0.0}}),
}
CASES = [
    (mechanism, words, change)
    for mechanism in ALL
    for words, change in (OF_ASKS if mechanism == BOUNDED else OF_CLAIMS).items()
]


@pytest.mark.parametrize(
    ("mechanism", "words", "change"), CASES, ids=[f"{each[0].name}: {each[1]}" for each in CASES]
)
def test_each_fault_is_named(
    mechanism: Mechanism, words: str, change: Callable[[Offer], Offer]
) -> None:
    terms = independent(N)
    (offer,) = mechanism.offer(terms, ACCOUNT, [wish_for(mechanism, CONDITION)])
    assert audited(mechanism, terms, ACCOUNT, [offer], [CONDITION]) is None
    assert audited(mechanism, terms, ACCOUNT, [change(offer)], [CONDITION]) == words


def test_a_known_variance_narrows_the_radius_of_independent_rows_only() -> None:
    """Bernstein's inequality is about independent rows, whatever their variance is known to be."""
    known = KnownVariance(1e-4)
    for terms in (independent(N), dependent(N)):
        wish = wish_for(BOUNDED, CONDITION)
        (plain,) = BOUNDED.offer(terms, ACCOUNT, [wish])
        (offer,) = BOUNDED.offer(terms, ACCOUNT, [replace(wish, variance=known)])
        if terms.independent:
            assert said(offer.radius) < 0.5 * said(plain.radius)
            continue
        assert offer == plain
        narrowed = replace(plain, variance=known, radius=0.5 * said(plain.radius))
        assert audited(BOUNDED, terms, ACCOUNT, [narrowed], [CONDITION]) == "radius"


@every_claim
@pytest.mark.parametrize("claim", [None, (0.6, 0.5), (1.1, 1.2), (-0.2, -0.1)])
def test_a_claim_is_an_interval_of_the_range(
    claim: tuple[float, float] | None, claims: Claims
) -> None:
    terms, wish = independent(N), wish_for(claims, CONDITION)
    (offer,) = claims.offer(terms, ACCOUNT, [wish])
    forged = replace(offer, claim=claim)
    found = audited(claims, terms, ACCOUNT, [forged], [CONDITION]) or ""
    assert "no interval of the range" in found
