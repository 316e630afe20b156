"""Exact fractions become the nearest floats on the safe side."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from holdfast.theory.base.safeside import float_above, float_below

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
