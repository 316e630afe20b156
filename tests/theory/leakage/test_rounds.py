"""Rounds chosen together, and a last look: section 11.5."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.leakage.equal_width import rounds_fit, rounds_half_width
from holdfast.theory.leakage.nats import post_selected_radius

LAWS = ("rounds_half_width",)


@pytest.mark.parametrize(("rounds", "printed"), [(2, 0.140), (3, 0.171), (5, 0.197)])
def test_rounds_as_printed(rounds: int, printed: float) -> None:
    found = rounds_half_width(BoundedMean(1_000), 100, rounds, math.log(0.05))
    assert found == pytest.approx(printed, abs=1e-3)


def test_one_round_is_a_last_look() -> None:
    """`final` of m questions: each at radius(ln beta' - nats - ln m), nothing charged."""
    profile = BoundedMean(1_000)
    alone = post_selected_radius(profile, math.log(0.05), 0.0, 100)
    assert rounds_half_width(profile, 100, 1, math.log(0.05)) == pytest.approx(alone, rel=1e-12)
    later = post_selected_radius(profile, math.log(0.05), 7.0, 100)
    assert later == pytest.approx(profile.radius(math.log(0.05 / 100) - 7.0), rel=1e-12)


@given(k=st.integers(1, 60), rounds=st.integers(1, 60))
def test_rounds_fit_from_their_half_width_on(k: int, rounds: int) -> None:
    rounds = min(rounds, k)
    profile = BoundedMean(2_000)
    t = rounds_half_width(profile, k, rounds, math.log(0.05))
    assert rounds_fit(profile, k, rounds, t, math.log(0.05))
    assert not rounds_fit(profile, k, rounds, 0.999 * t, math.log(0.05))
    together = rounds_half_width(profile, k, 1, math.log(0.05))
    assert t >= together * (1 - 1e-12)
