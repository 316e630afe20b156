"""A symbol of the alphabet is an answer, no other one is; and intervals are rounded outwards."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from holdfast.mechanisms.account import Account
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.mechanism import CONFIRMED, Mechanism, Offer
from holdfast.mechanisms.release import cell_of, released
from tests.mechanisms.fake import (
    CONDITION,
    every_mechanism,
    independent,
    reach_of,
    wish_for,
)


def offered(mechanism: Mechanism) -> Offer:
    (offer,) = mechanism.offer(independent(2_000), Account(), [wish_for(mechanism, CONDITION)])
    return offer


@every_mechanism
def test_the_alphabet_ends_where_the_noise_ends(mechanism: Mechanism) -> None:
    offer = offered(mechanism)
    ends = (-reach_of(offer), offer.own_grid.last + reach_of(offer))
    assert [mechanism.settle(offer, end).value for end in ends] == [0.0, 1.0]
    for beyond in (ends[0] - 1, ends[1] + 1):
        with pytest.raises(ValueError, match="outside the alphabet"):
            mechanism.settle(offer, beyond)


def test_what_is_no_cell_has_no_value() -> None:
    with pytest.raises(TypeError, match="needs a cell"):
        cell_of(offered(BOUNDED), CONFIRMED)


@every_mechanism
def test_intervals_are_rounded_outwards_and_not_far(mechanism: Mechanism) -> None:
    offer = offered(mechanism)
    assert offer.tolerance is not None
    tolerance = Fraction(offer.tolerance)
    for place in range(1, 200):
        symbol = offer.own_grid.last * place // 200
        low, high = mechanism.settle(offer, symbol).interval
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
