"""The least eta of each composition: valid where it is claimed, and no larger than needed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.composition import Composed, pure_composition, sharp_composition
from holdfast.papers.theorems.interaction import (
    gaussian_candidates,
    gaussian_composition,
    least_gaussian_composition,
    least_printed_composition,
    least_sharp_composition,
)

LOG_LEVEL = math.log(0.01)


def curve(scale: float) -> list[tuple[float, float]]:
    """Ratio and ln nu of sub-Gaussian questions of this scale in units of the noise."""
    return [(scale * math.sqrt(2 * (math.log(2) + d)), -d) for d in (5.0, 10.0, 20.0, 40.0, 80.0)]


@given(k=st.integers(1, 40), scale=st.floats(1e-3, 0.2))
def test_sharp_is_valid_least_and_below_printed(k: int, scale: float) -> None:
    candidates = [(ratio, -math.inf, log_nu) for ratio, log_nu in curve(scale)]
    sharp = least_sharp_composition(k, candidates, LOG_LEVEL)
    printed = least_printed_composition(k, candidates, LOG_LEVEL)
    if printed is not None:
        assert sharp is not None
        assert sharp.eta < printed.eta
        assert printed.log_tau == printed.log_nu == LOG_LEVEL
    if sharp is None:
        return
    assert sharp.log_nu <= LOG_LEVEL
    assert sharp.log_tau == LOG_LEVEL

    def holds(eta: float) -> bool:
        found = [
            sharp_composition(k, each, log_nu, eta, LOG_LEVEL) for each, _, log_nu in candidates
        ]
        return min(each.log_nu for each in found) <= LOG_LEVEL

    assert holds(sharp.eta)
    assert not holds(sharp.eta * 0.999)  # sabotage: a smaller eta follows from no candidate


def test_printed_is_the_papers_theorem_at_its_own_level() -> None:
    found = least_printed_composition(5, [(0.05, -math.inf, -60.0)], LOG_LEVEL)
    assert found is not None
    by_hand = [
        pure_composition(5, 0.05, -60.0, log_tau_prime)
        for log_tau_prime in (-20.0 + 0.01 * step for step in range(1_000))
    ]
    best = min(each.eta for each in by_hand if each.log_tau <= LOG_LEVEL)
    assert best * 0.999 <= found.eta <= best * 1.02  # the tau' by hand are a grid


def test_nothing_is_said_where_nothing_follows() -> None:
    hopeless = [(20.0, -math.inf, -1.0)]
    assert least_printed_composition(3, hopeless, LOG_LEVEL) is None
    assert least_sharp_composition(3, hopeless, LOG_LEVEL) is None
    assert least_gaussian_composition(3, [(20.0, -1.0)], LOG_LEVEL) is None
    with pytest.raises(InvalidArgument, match="log_level"):
        least_sharp_composition(3, hopeless, 0.0)


@settings(max_examples=40)
@given(k=st.integers(1, 100), scale=st.floats(1e-3, 0.1))
def test_the_gaussian_form_is_valid_and_sharper_than_general_steps(k: int, scale: float) -> None:
    pairs = curve(scale)
    found = least_gaussian_composition(k, pairs, LOG_LEVEL)
    general = least_sharp_composition(k, gaussian_candidates(pairs), LOG_LEVEL)
    if general is not None:
        assert found is not None
        assert found.eta <= general.eta * (1 + 1e-5)
    if found is not None:
        assert found.log_nu <= LOG_LEVEL
        again = [gaussian_composition(k, mu, nu, found.eta * 0.999, LOG_LEVEL) for mu, nu in pairs]
        assert all(each.log_nu > LOG_LEVEL for each in again) or found.eta == 0.0


def test_a_printed_gaussian_certificate_needs_small_tau() -> None:
    found = least_printed_composition(
        4, gaussian_candidates([(0.002 * math.sqrt(d), -d) for d in (20.0, 40.0, 80.0)]), LOG_LEVEL
    )
    assert isinstance(found, Composed)
    assert found.eta > 0
