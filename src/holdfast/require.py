"""Arguments, checked where they enter: one sentence with the name, the value and the range.

Each function returns the checked value, so that a caller can write
``rows = require.positive_integer("rows", rows)``.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Never

from holdfast.errors import InvalidArgument

__all__ = [
    "at_least",
    "between",
    "confidence_level",
    "finite",
    "integer_at_least",
    "integer_between",
    "log_probability",
    "non_negative",
    "positive",
    "positive_integer",
    "probability",
    "surprises",
]


def _reject(name: str, value: object, allowed: str) -> Never:
    raise InvalidArgument(f"{name} is {value!r}; it must be {allowed}.")


def finite(name: str, value: object, allowed: str = "a finite number") -> float:
    """A real number that is neither NaN nor infinite (and not a bool)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        _reject(name, value, allowed)
    try:
        number = float(value)
    except OverflowError:
        _reject(name, value, allowed)
    if not math.isfinite(number):
        _reject(name, value, allowed)
    return number


def positive(name: str, value: object) -> float:
    """A finite number above zero."""
    allowed = "a finite number above 0"
    number = finite(name, value, allowed)
    if number <= 0:
        _reject(name, value, allowed)
    return number


def non_negative(name: str, value: object) -> float:
    """A finite number, zero or above."""
    allowed = "a finite number, 0 or above"
    number = finite(name, value, allowed)
    if number < 0:
        _reject(name, value, allowed)
    return number


def at_least(name: str, value: object, least: float) -> float:
    """A finite number, `least` or above."""
    allowed = f"a finite number, {least:g} or above"
    number = finite(name, value, allowed)
    if number < least:
        _reject(name, value, allowed)
    return number


def between(
    name: str,
    value: object,
    low: float,
    high: float,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """A number from `low` to `high`, each end included unless said open."""
    allowed = f"in {'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
    number = finite(name, value, allowed)
    below = number <= low if open_low else number < low
    above = number >= high if open_high else number > high
    if below or above:
        _reject(name, value, allowed)
    return number


def probability(name: str, value: object) -> float:
    """A probability strictly between 0 and 1."""
    return between(name, value, 0.0, 1.0, open_low=True, open_high=True)


def confidence_level(value: object) -> float:
    """How sure all intervals are together; below a half it was meant as the failure probability."""
    level = probability("confidence_level", value)
    if level < 0.5:
        raise InvalidArgument(
            f"confidence_level is {value!r}, the probability that all intervals are true; did you "
            f"mean {1 - level:.10g}?"
        )
    return level


def log_probability(name: str, value: object) -> float:
    """The natural logarithm of a probability in (0, 1]."""
    allowed = "the natural logarithm of a probability: a finite number, 0 or below"
    number = finite(name, value, allowed)
    if number > 0:
        _reject(name, value, allowed)
    return number


def integer_at_least(name: str, value: object, least: int) -> int:
    """A whole number, `least` or above; 500.0 counts as 500."""
    allowed = f"a whole number, {least:,} or above"
    number = finite(name, value, allowed)
    if not number.is_integer():
        _reject(name, value, allowed)
    whole = int(value) if isinstance(value, Integral) else int(number)
    if whole < least:
        _reject(name, value, allowed)
    return whole


def integer_between(name: str, value: object, least: int, most: int) -> int:
    """A whole number from `least` to `most`."""
    allowed = f"a whole number from {least:,} to {most:,}"
    number = finite(name, value, allowed)
    if not number.is_integer() or not least <= number <= most:
        _reject(name, value, allowed)
    return int(value) if isinstance(value, Integral) else int(number)


def positive_integer(name: str, value: object) -> int:
    """A whole number, 1 or above."""
    return integer_at_least(name, value, 1)


def surprises(value: object, questions: int | None) -> int | None:
    """How many of the declared questions may be refuted guesses; None where it is not said."""
    if value is None:
        return None
    count = integer_at_least("surprises", value, 0)
    if questions is None:
        raise InvalidArgument(
            f"surprises is {count:,}, and questions is not declared; say how many questions they "
            "are among: questions=."
        )
    if count > questions:
        raise InvalidArgument(
            f"surprises is {count:,} and questions is {questions:,}; there cannot be more "
            "surprises than questions."
        )
    return count
