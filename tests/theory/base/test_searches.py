"""Searches: what they return, against trying everything, and where they look."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from holdfast.theory.base.bets import first_kept, last_rejected
from holdfast.theory.base.safeside import (
    golden_minimum,
    largest_integer,
    largest_true,
    smallest_integer,
    smallest_true,
)

THIRD = 1 / 3


def watched(function: Callable[[float], Any]) -> tuple[list[float], Callable[[float], Any]]:
    """Where a function is looked at, and the function."""
    looks: list[float] = []

    def seen(value: float) -> Any:
        looks.append(value)
        return function(value)

    return looks, seen


@pytest.mark.parametrize("most", [1, 2, 3, 4, 7, 8, 9, 40])
def test_integers_are_those_of_trying_all(most: int) -> None:
    for edge in range(most + 3):
        looks: list[int] = []

        def below(k: int, edge: int = edge, looks: list[int] = looks) -> bool:
            assert 1 <= k <= most  # beyond it nothing is known
            looks.append(k)
            return k <= edge

        assert largest_integer(below, most=most) == min(edge, most)
        # Doubling and halving, and nowhere twice.
        assert len(looks) == len(set(looks)) <= 2 * max(edge, 1).bit_length()

        def above(k: int, edge: int = edge) -> bool:
            return k > edge

        assert smallest_integer(above, most=most) == (edge + 1 if edge < most else None)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 0.5), (0.25, 4.0)])
@pytest.mark.parametrize("relative", [0.1, 1e-6])
def test_halving_ends_at_the_first_bracket_that_is_small(
    low: float, high: float, relative: float
) -> None:
    """The same in fractions: what is true is halved towards what is false."""
    least, most = Fraction(low), Fraction(high)
    looked = []
    while most - least > Fraction(relative) * max(abs(least), abs(most)):
        middle = (least + most) / 2
        looked.append(float(middle))
        least, most = (least, middle) if middle >= Fraction(THIRD) else (middle, most)
    looks, holds = watched(lambda value: value >= THIRD)
    assert smallest_true(holds, low, high, relative=relative) == float(most)
    assert looks == looked
    assert largest_true(lambda v: -v >= THIRD, -high, -low, relative=relative) == -float(most)


def test_a_guess_is_looked_at_on_both_its_sides() -> None:
    for near, first in ((THIRD, 2), (0.2, 2), (0.7, 1), (2.0, 0), (-1.0, 0)):
        looks, holds = watched(lambda value: value >= THIRD)
        smallest_true(holds, 0.0, 1.0, near=near)
        sides = [near * (1 - 1e-9), near * (1 + 1e-9)]
        assert looks[:first] == sides[:first]
        known = max((v for v in looks[:first] if v < THIRD), default=0.0)
        least = min((v for v in looks[:first] if v >= THIRD), default=1.0)
        assert all(known < v < least for v in looks[first:])  # what is known is not asked again


@pytest.mark.parametrize("steps", [1, 2, 8, 40])
@pytest.mark.parametrize("bottom", [THIRD, -THIRD])
def test_the_least_of_a_valley_is_one_that_was_seen(bottom: float, steps: int) -> None:
    looks, depth = watched(lambda x: (x - bottom) ** 2)
    at, least = golden_minimum(depth, -1.0, 1.0, steps=steps)
    assert len(looks) == steps + 2
    assert at in looks
    assert least == (at - bottom) ** 2 == min((x - bottom) ** 2 for x in looks)
    assert abs(at - bottom) <= 2.0 * 0.6180339887498949**steps + 1e-8


def test_of_equals_the_first_is_the_least() -> None:
    looks, plain = watched(lambda x: 0.0)
    assert golden_minimum(plain, 0.0, 1.0) == (min(looks), 0.0)


def test_a_straight_line_is_followed_at_once() -> None:
    looks, excess = watched(lambda x: 1.0 - 2.0 * x)
    end = last_rejected(excess, 0.0, 1.0)
    assert end == 0.5
    assert looks[:3] == [0.0, 1.0, 0.5]
    # The other end comes nearer by the halved excess, and by a bisection at every third step.
    assert len(looks) <= 42


@pytest.mark.parametrize("bend", [1.0, 3.0, 0.3])
@pytest.mark.parametrize(("rejected", "inside"), [(0.0, 2.0), (2.0, 0.0)])
def test_the_end_is_rejected_and_next_to_what_is_not(
    bend: float, rejected: float, inside: float
) -> None:
    away = math.copysign(1.0, inside - rejected)

    def gap(x: float) -> float:
        far = away * (1.0 - x)
        return math.copysign(abs(far) ** bend, far)

    looks, excess = watched(gap)
    end = last_rejected(excess, rejected, inside, absolute=1e-6, relative=0.0)
    kept = [x for x in looks if gap(x) < 0.0]
    assert gap(end) >= 0.0
    assert end in looks
    assert min(abs(x - end) for x in kept) <= 1e-6
    assert len(looks) <= 46
    # A bisection at every third step, whatever the excess says.
    low, high = rejected, inside
    for step, look in enumerate(looks[2:]):
        if step % 3 == 2:
            assert look == 0.5 * (low + high)
        low, high = (look, high) if gap(look) >= 0.0 else (low, look)


def test_nothing_is_looked_for_where_all_is_known() -> None:
    looks, excess = watched(lambda x: 1.0 - x)
    assert last_rejected(excess, 0.0, 1.0) == 1.0  # an excess of 0 is rejected
    assert last_rejected(excess, 0.0, 3.0, absolute=3.0) == 0.0
    assert last_rejected(excess, 2.0, 3.0, relative=1 / 3, absolute=0.0) == 2.0
    assert last_rejected(excess, 0.0, 2.0, settled=lambda a, b: True) == 0.0
    assert looks == [0.0, 1.0, 0.0, 3.0, 2.0, 3.0, 0.0, 2.0]
    looks, steep = watched(lambda x: math.inf if x < 1.0 else -math.inf)
    assert last_rejected(steep, 0.0, 4.0, absolute=0.25, relative=0.0) == 0.75
    assert looks == [0.0, 4.0, 2.0, 1.0, 0.5, 0.75]  # halves, where it is not finite


@pytest.mark.parametrize("start", [0.0, 100.0, -100.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_steps_double_on_the_way_to_what_is_rejected(sign: float, start: float) -> None:
    """Rejected from so far on; looked at are 1, 3, 7, 15 and so on, to the limit."""

    def looks_of(first: float, limit: float, **more: float) -> tuple[float, list[float]]:
        looks, excess = watched(lambda x: sign * (x - start) - first)
        step = more.pop("step", 1.0)
        end = first_kept(excess, start, start + sign * limit, step, **more)
        return sign * (end - start), [sign * (x - start) for x in looks]

    end, looks = looks_of(10.0, 40.0)
    assert looks[:4] == [1.0, 3.0, 7.0, 15.0]
    assert len(looks) == len(set(looks))
    assert 10.0 <= end <= 10.0 + 2.0**-17
    assert looks_of(10.0, 9.0) == (9.0, [1.0, 3.0, 7.0, 9.0])  # all is kept
    for first in (6.5, 7.0):
        assert 15.0 not in looks_of(first, 40.0)[1]
    assert looks_of(10.0, 10.0, step=10.0, absolute=0.5)[0] == 10.0
    assert looks_of(10.0, 40.0, step=16.0, absolute=6.0)[0] == 10.0


def test_between_two_steps_it_is_looked_to_a_millionth() -> None:
    looks, wall = watched(lambda x: math.inf if x >= 10.0 else -math.inf)
    assert 10.0 <= first_kept(wall, 0.0, 40.0, 1.0) < 10.0 + 2.0**-17
    assert len(looks) == 4 + 20  # halves alone, from 8 to a millionth of it
