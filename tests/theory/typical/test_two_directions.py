"""The centre's direction against a small world that is listed, and a twin that is too small."""

from __future__ import annotations

import itertools
import math

import pytest

from holdfast.papers.theorems.two_directions import centre_log_delta, least_two_directions

# Samples by their shift: how likely, and by what log-ratio an answer leans to the first symbol.
WORLD = ((0.9, 0.0), (0.09, 0.4), (0.0099, 1.0), (0.0001, 2.5))
CURVE = [(0.0, math.log(0.1)), (0.4, math.log(0.01)), (1.0, math.log(1e-4)), (2.5, -60.0)]
K = 8


def listed(eta_prime: float) -> float:
    """sup P[(X, C) in O] - e^eta' P[(X, M) in O], C a fair coin, over all strings of answers.

    The analyst turns the question after every first symbol, so that shifts change their sign.
    """
    total = 0.0
    for weight, lean in WORLD:
        # Symmetric about the coin, the larger log-ratio to it is at most `lean`.
        less = math.exp(-lean) / 2
        for answers in itertools.product((0, 1), repeat=K):
            law, turned = 1.0, False
            for answer in answers:
                law *= less if (answer == 0) != turned else 1 - less
                turned ^= answer == 0
            total += weight * max(0.0, 2.0**-K - math.exp(eta_prime) * law)
    return total


@pytest.mark.parametrize("eta_prime", [0.5, 1.0, 2.0, 4.0, 8.0])
def test_no_world_is_above_the_bound(eta_prime: float) -> None:
    bounds = [
        centre_log_delta(K, CURVE, eta_prime, log_p, order, 1.0, True)
        for log_p in (-2.0, -4.0, -6.0, -8.0, -10.0)
        for order in (0.5, 1.0, 2.0, 5.0, 15.0)
    ]
    assert 0.0 < listed(eta_prime) <= math.exp(min(bounds))


def test_shifts_that_are_counted_as_a_tenth_break_it() -> None:
    small = [(x / 10, log_nu) for x, log_nu in CURVE]
    bounds = [
        centre_log_delta(K, small, 2.0, log_p, order, 1.0, True)
        for log_p in (-8.0, -10.0, -12.0)
        for order in (2.0, 5.0, 15.0)
    ]
    assert listed(2.0) > math.exp(min(bounds))


def test_the_least_eta_fits_and_pays_for_the_envelope() -> None:
    curve = [(0.5 * math.sqrt(2 * (math.log(2) + d / 5)), -d / 5) for d in range(4, 200)]
    for pure in (True, False):
        found = least_two_directions(20, curve, 30.0, math.log(0.01), pure=pure)
        assert found is not None
        assert found >= 30.0 - math.log(0.01 * 0.05)
    assert least_two_directions(20, curve[:3], 30.0, math.log(0.01), pure=True) is None
