"""Rounding to the safe side, and arithmetic with logarithms of probabilities.

Radii, charges and failure probabilities are rounded up, budgets down. A numerical inverse returns
the end of its last bracket that is known to be safe, never the midpoint.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction

from holdfast import require

_ULP = math.ulp(1.0)
_NEAR = 1e-9  # how far a guess is taken to be off at most, as a part of it
_INVERSE_GOLDEN = (math.sqrt(5) - 1) / 2


def round_up(value: float, ulps: int = 4) -> float:
    """A float a few units in the last place above `value`: covers the error of a short formula."""
    return math.nextafter(value + ulps * math.ulp(value), math.inf)


def round_down(value: float, ulps: int = 4) -> float:
    """A float a few units in the last place below `value`."""
    return math.nextafter(value - ulps * math.ulp(value), -math.inf)


def float_above(exact: Fraction) -> float:
    """The least float that is not below."""
    try:
        near = float(exact)  # the nearest
    except OverflowError:
        return math.inf if exact > 0 else -sys.float_info.max
    return near if near >= exact else math.nextafter(near, math.inf)


def float_below(exact: Fraction) -> float:
    """The largest float that is not above."""
    return 0.0 - float_above(-exact)  # a subtraction: 0 stays 0, not -0


def log_add(*logs: float) -> float:
    """ln(e^a + e^b + ...) without overflow; -inf stands for probability 0."""
    top = max(logs)
    if top == -math.inf:
        return -math.inf
    return top + math.log(math.fsum([math.exp(value - top) for value in logs]))


def log_up(log: float) -> float:
    """The logarithm of a probability, rounded up and at most 0; -inf is exact and stays.

    A sum of probabilities is known to a few units in its own last place, so its logarithm to a few
    units in the last place of 1, however small the logarithm is.
    """
    return log if log == -math.inf else min(0.0, round_up(log, 8) + 16 * _ULP)


def log_down(log: float) -> float:
    """The logarithm of a probability, rounded down: the mirror of `log_up`."""
    return log if log == -math.inf else round_down(log, 8) - 16 * _ULP


def log1mexp(value: float) -> float:
    """ln(1 - e^value) for value <= 0, accurate at both ends."""
    if value == 0.0:
        return -math.inf
    return math.log(-math.expm1(value)) if value > -math.log(2) else math.log1p(-math.exp(value))


def smallest_true(
    holds: Callable[[float], bool],
    low: float,
    high: float,
    *,
    relative: float = 1e-13,
    near: float | None = None,
) -> float:
    """Given that `holds` is false then true along [low, high] and true at `high`: the least true
    end.

    `holds` was evaluated to be true at the returned number, or at one below it (or it is `high`). A
    guess that is `near` saves evaluations, and changes nothing else.
    """
    false, true = low, high  # where it is known to be so
    for probe in () if near is None else (near * (1 - _NEAR), near * (1 + _NEAR)):
        if false < probe < true:
            false, true = (false, probe) if holds(probe) else (probe, true)
    for _ in range(200):
        if high - low <= relative * max(abs(low), abs(high)):
            break
        middle = 0.5 * (low + high)
        if middle >= true or (middle > false and holds(middle)):
            high = middle
        else:
            low = middle
    return high


def largest_true(
    holds: Callable[[float], bool],
    low: float,
    high: float,
    *,
    relative: float = 1e-13,
    near: float | None = None,
) -> float:
    """The mirror of `smallest_true`: true then false along [low, high], true at `low`."""
    mirrored = None if near is None else -near
    return -smallest_true(
        lambda value: holds(-value), -high, -low, relative=relative, near=mirrored
    )


def largest_integer(holds: Callable[[int], bool], *, most: int) -> int:
    """The largest k in 1..most with `holds(k)`, for true-then-false; 0 if not even k = 1 holds."""
    if not holds(1):
        return 0
    low, high = 1, 2
    while high <= most and holds(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def smallest_integer(holds: Callable[[int], bool], *, most: int) -> int | None:
    """The smallest k in 1..most with `holds(k)`, for false-then-true; None if none does."""
    below = largest_integer(lambda k: not holds(k), most=most)
    return below + 1 if below < most else None


def golden_minimum(
    function: Callable[[float], float], low: float, high: float, *, steps: int = 60
) -> tuple[float, float]:
    """(argument, value) of the least value seen in a golden-section search on [low, high].

    The value is one that `function` really returned, so where every argument gives a valid bound
    the result is a valid bound, found exactly or not.
    """
    left, right = high - _INVERSE_GOLDEN * (high - low), low + _INVERSE_GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    least, at = min((at_left, left), (at_right, right))
    for _ in range(steps):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _INVERSE_GOLDEN * (high - low)
            at_left = function(left)
            if at_left < least or (at_left == least and left < at):
                least, at = at_left, left
        else:
            low, left, at_left = left, right, at_right
            right = low + _INVERSE_GOLDEN * (high - low)
            at_right = function(right)
            if at_right < least or (at_right == least and right < at):
                least, at = at_right, right
    return at, least


def level_share(log_p: float, share: float = 0.5) -> float:
    """ln(share * e^{log_p}), rounded down: a part of a level, half of it unless said."""
    return round_down(require.log_probability("log_p", log_p) + math.log(share))
