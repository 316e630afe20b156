"""A symbol of the alphabet is an answer, no other one is; and intervals are rounded outwards."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS, GATES, Claims
from holdfast.mechanisms.mechanism import (
    CONFIRMED,
    Mechanism,
    Offer,
    Refuted,
    Symbol,
    about,
    cell_of,
    lies_in,
    released,
    revealed,
)
from holdfast.mechanisms.terms import Account
from holdfast.theory.base.intervals import Interval
from tests.mechanisms.fake import (
    CONDITION,
    every_claim,
    independent,
    reach_of,
    settled,
    wish_for,
)


def offered(mechanism: Mechanism) -> Offer:
    (offer,) = mechanism.offer(independent(2_000), Account(), [wish_for(mechanism, CONDITION)])
    return offer


def test_the_alphabet_ends_where_the_noise_ends() -> None:
    offer = offered(BOUNDED)
    ends = (-reach_of(offer), offer.own_grid.last + reach_of(offer))
    assert [settled(BOUNDED, offer, end).value for end in ends] == [0.0, 1.0]
    for beyond in (ends[0] - 1, ends[1] + 1):
        with pytest.raises(ValueError, match="outside the alphabet"):
            settled(BOUNDED, offer, beyond)


@every_claim
def test_a_claim_has_two_symbols_and_no_other(claims: Claims) -> None:
    offer = offered(claims)
    other = GATES if claims == CHECKS else CHECKS
    made, silent = (settled(claims, offer, symbol) for symbol in (claims.shown, claims.silent))
    assert (made.status, silent.status) == (claims.shown, claims.silent)
    assert offer.claim is not None
    assert made.interval == (max(0.0, offer.claim[0]), min(1.0, offer.claim[1]))
    assert made.value is not None
    assert made.interval.low <= made.value <= made.interval.high
    assert (silent.value, silent.interval) == (None, (0.0, 1.0)), "it claims nothing"
    beyond: list[Symbol] = [0, 1, (1,), "answered", other.shown, other.silent]
    for symbol in beyond:
        with pytest.raises(ValueError, match="symbol of a claim"):
            settled(claims, offer, symbol)


def test_what_is_no_cell_has_no_value() -> None:
    with pytest.raises(TypeError, match="needs a cell"):
        cell_of(offered(BOUNDED), CONFIRMED)


def test_intervals_are_rounded_outwards_and_not_far() -> None:
    offer = offered(BOUNDED)
    assert offer.tolerance is not None
    tolerance = Fraction(offer.tolerance)
    for place in range(1, 200):
        symbol = offer.own_grid.last * place // 200
        low, high = settled(BOUNDED, offer, symbol).interval
        answer = Fraction(symbol, offer.own_grid.last)
        least, most = max(Fraction(0), answer - tolerance), min(Fraction(1), answer + tolerance)
        assert Fraction(low) <= least <= Fraction(low) + 2 * Fraction(math.ulp(1.0))
        assert Fraction(high) - 2 * Fraction(math.ulp(1.0)) <= most <= Fraction(high)


@pytest.mark.parametrize("times", [-5, 5])
def test_an_answer_far_outside_has_an_interval_at_the_end_of_the_range(times: int) -> None:
    offer = offered(BOUNDED)
    unbounded = replace(offer, grid=replace(offer.own_grid, reach=None))
    found = released(unbounded, times * offer.own_grid.last, "answered", 0.0)
    end = 0.0 if times < 0 else 1.0
    assert (found.value, *found.interval) == (end, end, end)


def test_the_ends_of_a_range_bind_nothing() -> None:
    """A claim up to an end of the range holds wherever the interval ends, be it open."""
    limits = Interval(0.0, 1.0)
    assert lies_in(Interval(0.2, math.inf), (0.1, 1.0), limits)
    assert lies_in(Interval(-math.inf, 0.2), (0.0, 0.3), limits)
    assert not lies_in(Interval(0.2, 1.0), (0.1, 0.999), limits)
    assert not lies_in(Interval(0.0, 0.2), (0.001, 0.3), limits)


@given(
    claim=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)).map(sorted),
    radius=st.floats(0.0, 0.5),
    place=st.floats(0.0, 1.0),
)
def test_a_refuted_claim_and_an_answer_reveal_where_the_value_can_be(
    claim: list[float], radius: float, place: float
) -> None:
    """It was refuted for a value next to an end of the claim, or beyond it; no end of the range."""
    low, high = claim
    offer = offered(BOUNDED)
    release = settled(BOUNDED, offer, round(place * offer.own_grid.last))
    near = revealed(offer, release)
    found = revealed(offer, release, Refuted(1, (low, high), radius))
    below, above = low > 0.0, high < 1.0
    possible = [
        value
        for value in np.linspace(near.low, near.high, 41).tolist()
        if (below and value <= low + radius) or (above and value >= high - radius)
    ]
    assert all(found.low <= value <= found.high for value in possible)
    assert 0.0 <= near.low <= found.low
    assert found.high <= near.high <= 1.0
    if possible and not above:
        assert found.high <= max(near.low, low + radius)
    if possible and not below:
        assert found.low >= min(near.high, high - radius)


def test_a_claim_reveals_what_of_it_is_in_the_range() -> None:
    (offer,) = CHECKS.offer(independent(2_000), Account(), [about(CONDITION, 0.3, 0.9)])
    low, high = offer.claim or (0.0, 0.0)
    assert high > 1.0
    assert revealed(offer, settled(CHECKS, offer, CHECKS.shown)) == Interval(low, 1.0)
    assert revealed(offer, settled(CHECKS, offer, CHECKS.silent)) == Interval(0.0, 1.0)
