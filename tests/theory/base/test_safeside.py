"""Exact fractions become the nearest floats on the safe side."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from holdfast.theory.base.safeside import (
    float_above,
    float_below,
    level_share,
    log_down,
    log_up,
    round_down,
    round_up,
    smallest_true,
)

MOST = Fraction(sys.float_info.max)


@given(st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction))
def test_the_nearest_float_on_either_side(exact: Fraction) -> None:
    low, high = float_below(exact), float_above(exact)
    assert Fraction(low) <= exact <= Fraction(high)
    assert Fraction(math.nextafter(low, math.inf)) > exact or high == low
    assert high in (low, math.nextafter(low, math.inf))


def test_zero_has_no_sign() -> None:
    assert str(float_below(Fraction(0))) == "0.0"
    assert str(float_above(Fraction(0))) == "0.0"


@pytest.mark.parametrize("sign", [1, -1])
def test_what_no_float_can_hold(sign: int) -> None:
    beyond = sign * (MOST * 2)
    assert float_above(beyond) == (math.inf if sign > 0 else -sys.float_info.max)
    assert float_below(beyond) == (sys.float_info.max if sign > 0 else -math.inf)


@given(st.floats(0.01, 0.99), st.floats(-0.1, 1.1) | st.none(), st.floats(-1e-8, 1e-8))
def test_a_guess_saves_evaluations_and_changes_nothing(
    edge: float, guess: float | None, off: float
) -> None:
    """A good one, a bad one, or one that is just off."""
    for near in (guess, edge, edge + off):
        asked: list[float] = []

        def holds(value: float, asked: list[float] = asked) -> bool:
            asked.append(value)
            return value >= edge

        assert smallest_true(holds, 0.0, 1.0, near=near) == smallest_true(
            lambda value: value >= edge, 0.0, 1.0
        )
        if near == edge:
            assert len(asked) <= 20  # halving alone takes some 44


@pytest.mark.parametrize("value", [1.5, -1.5, 3e-200, -7e300])
def test_numbers_are_rounded_by_so_many_units(value: float) -> None:
    """None of these is next to a power of 2, where units change."""
    unit = math.ulp(value)
    assert (round_up(value), round_down(value)) == (value + 5 * unit, value - 5 * unit)
    assert round_up(value, 64) == value + 65 * unit
    assert round_down(value, 64) == value - 65 * unit


def test_logarithms_are_rounded_by_units_of_one() -> None:
    for log in (-1.5, -1e-3, -700.5):
        off = 9 * math.ulp(log) + 16 * math.ulp(1.0)
        assert log_up(log) == pytest.approx(log + off, rel=0.0, abs=math.ulp(log))
        assert log_down(log) == pytest.approx(log - off, rel=0.0, abs=math.ulp(log))
    assert (log_up(0.0), log_up(-1e-16)) == (0.0, 0.0)
    assert log_down(0.0) < -15 * math.ulp(1.0)
    assert (log_up(-math.inf), log_down(-math.inf)) == (-math.inf, -math.inf)
    assert level_share(-1.5, 1.0) == round_down(-1.5)
    assert level_share(-1.5) == round_down(-1.5 + math.log(0.5))
