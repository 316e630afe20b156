"""How intervals, and values beside them, are written; and what is in them."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from holdfast.theory.base.intervals import Interval


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (6.11131, 5.64, 6.6074, "6.11 [5.64, 6.61]"),
        (0.23721, 0.232203, 0.242268, "0.2372 [0.2322, 0.2423]"),
        (1572.3, 1512.4, 1635.2, "1572 [1512, 1636]"),
        (15724.0, 15123.0, 16361.0, "15720 [15120, 16370]"),
        (0.5, 0.4, 0.6, "0.50 [0.40, 0.60]"),  # whose half-width is 0.09999999999999998
        (0.01, 0.0, 0.05, "0.010 [0, 0.050]"),
        (0.0, -0.03, 0.03, "0.000 [-0.030, 0.030]"),
        (-0.0001, -0.03, -0.0, "0.000 [-0.030, 0]"),
        (0.99996, 0.9999, 1.0, "0.999960 [0.999900, 1]"),
        (0.3, 0.3, 0.3, "0.3 [0.3, 0.3]"),
        (3.0, 3.0, 3.0, "3 [3, 3]"),
        (0.3, 0.2, 0.1 + 0.2, "0.300 [0.200, 0.300]"),
        (1e300, 0.0, 1.5e300, "1.00e+300 [0, 1.50e+300]"),
        (1e-300, 0.0, 3e-300, "1.0e-300 [0, 3.0e-300]"),
    ],
)
def test_two_digits_of_the_half_width_decide(
    value: float, low: float, high: float, text: str
) -> None:
    interval = Interval(low, high)
    assert f"{interval.value_text(value)} {interval}" == text


numbers = st.floats(-1e9, 1e9)


@given(low=numbers, width=st.floats(0, 1e9), part=st.floats(0, 1))
def test_the_text_is_never_narrower_and_the_value_lies_in_it(
    low: float, width: float, part: float
) -> None:
    interval = Interval(low, low + width)
    first, last = (Decimal(end) for end in interval.ends())
    # Below 1e-13 of the number itself digits are rounding error, and are not shown.
    below, above = (Decimal(abs(end)) * Decimal("1e-13") for end in interval)
    assert first <= Decimal(interval.low) + below
    assert Decimal(interval.high) - above <= last
    value = min(interval.high, max(interval.low, interval.low + part * width))
    slack = Decimal(abs(value)) * Decimal("1e-13")
    assert first - slack <= Decimal(interval.value_text(value)) <= last + slack


@given(low=numbers, width=st.floats(1e-3, 1e9))
def test_the_text_is_wider_by_a_tenth_of_the_half_width_at_most(low: float, width: float) -> None:
    interval = Interval(low, low + width)
    assume(interval.high - interval.low > 1e-9 * abs(low))
    first, last = (Fraction(end) for end in interval.ends())
    shown, exact = last - first, Fraction(interval.high) - Fraction(interval.low)
    assert shown - exact <= Fraction(11, 100) * exact


@pytest.mark.parametrize(
    ("low", "high", "bounds", "text"),
    [
        (0.0051, 0.2313, (), "[0.0051, 0.24]"),
        (-0.2313, -0.0051, (), "[-0.24, -0.0051]"),
        (0.7123, 0.9969, (), "[0.71, 0.9969]"),
        (-0.9996, 0.31, (), "[-0.99960, 0.31]"),
        (1.002, 1.4, (), "[1.0020, 1.40]"),
        (10.04, 20.3, (10, 21), "[10.040, 20.3]"),
        (10.0, 20.3, (9.97, 20.31), "[10, 20.3]"),
        (1.2345, 9.7, (1.2345, 9.71), "[1.2345, 9.7]"),
        (1 / 3, 0.9, (1 / 3, 1), "[0.3333333333333, 0.90]"),
        (0.0, 1.0 - 2**-53, (), "[0, 0.99999999999999989]"),
        (1.7e-11, 0.2, (), "[1.7e-11, 0.20]"),
        (2.4e-6, 0.2, (), "[0.0000024, 0.20]"),
        (-0.2, -1.7e-11, (), "[-0.20, -1.7e-11]"),
        (0.2, 1 - 1.7e-12, (), "[0.20, 0.9999999999983]"),
        (1e-17, 0.2, (), "[1.0e-17, 0.20]"),
        (-math.inf, -0.00001, (), "[-inf, -0.000010000]"),
    ],
)
def test_an_end_does_not_reach_what_it_was_found_not_to_reach(
    low: float, high: float, bounds: tuple[float, ...], text: str
) -> None:
    """Recorded 0.0051 is above 0, and is not written as 0.00."""
    assert Interval(low, high).text(bounds) == text


# Ends near a landmark or a bound, at it, or anywhere.
_marks = st.one_of(st.sampled_from([-1.0, 0.0, 1.0]), st.floats(-100, 100))
_gaps = st.one_of(st.just(0.0), st.floats(1e-18, 1e-2), st.floats(0, 100))


@given(mark=_marks, gap=_gaps, width=_gaps, bounds=st.tuples(_marks, _marks), down=st.booleans())
def test_what_is_written_excludes_what_was_excluded_and_nothing_else(
    mark: float, gap: float, width: float, bounds: tuple[float, float], down: bool
) -> None:
    near = mark - gap - width if down else mark + gap
    interval = Interval(near, max(near, near + width))
    first, last = map(float, interval.ends((mark, *bounds)))
    below, above = (1e-12 * abs(end) for end in interval)
    assert first - below <= interval.low
    assert interval.high <= last + above
    for each in (-1.0, 0.0, 1.0, mark, *bounds):
        if each not in interval:
            assert each not in Interval(first, last)
        elif interval.low < each < interval.high:
            assert each in Interval(first, last)
    value = interval.low + (interval.high - interval.low) / 3
    assert first - below <= float(interval.value_text(value, (mark, *bounds))) <= last + above


@given(low=numbers, width=st.floats(0, 1e9), number=numbers)
def test_what_is_in_an_interval(low: float, width: float, number: float) -> None:
    interval = Interval(low, low + width)
    assert (number in interval) is (interval.low <= number <= interval.high)
    assert low in interval
    assert Fraction(low) in interval


def test_only_numbers_are_in_an_interval() -> None:
    interval = Interval(0.2, 0.4)
    assert 0.3 in interval
    assert np.float64(0.3) in interval
    assert 0.2 in interval
    assert 0.5 not in interval
    for other in (math.nan, "0.3", None, (0.3,), 0.3j):
        assert other not in interval
