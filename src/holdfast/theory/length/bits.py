"""Lengths of descriptions in integer thousandths of a bit, never below the truth.

An option of probability p costs the least integer m with 2^(-m/1000) <= p. So the weight 2^-bits of
whatever is described option by option is at most the product of the probabilities, and the weights
of all descriptions sum to at most 1 as the probabilities do (Kraft). "k different things in any
order" is a credit: all k! orders describe the same, so their probabilities are added, p = k!.

Everything is decided by integers: for p = a/b the question is whether b^1000 <= a^1000 2^m. Where
the logarithm, known to a billionth, already tells, the powers are not computed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from holdfast import require
from holdfast.theory.base.theorem import theorem

__all__ = ["any_order_millibits", "option_millibits"]

_SURE = 1e-6  # far above the error of 1000 (log2 b - log2 a) for numbers of any length met here


@theorem(
    source="Holdfast",
    place='Section 11.1, the prior "words/1": the cost of an option',
    statement="If each option of probability p costs the least integer m with 2^(-m/1000) <= p, "
    "then the weights 2^(-sum of costs/1000) of all descriptions sum to at most 1.",
    domain="numerator, denominator >= 1; the cost of p > 1 is negative",
    monotone={"numerator": "down", "denominator": "up"},
    slack="below a thousandth of a bit for each option",
)
def option_millibits(numerator: int, denominator: int) -> int:
    """Thousandths of a bit, rounded up, for an option of this probability."""
    a = require.positive_integer("numerator", numerator)
    b = require.positive_integer("denominator", denominator)
    return _least(a, b)


@lru_cache(maxsize=65_536)
def _least(a: int, b: int) -> int:
    near = 1000.0 * (math.log2(b) - math.log2(a))
    nearest = round(near)
    if abs(near - nearest) > _SURE:
        return math.ceil(near)
    return nearest if _covers(a, b, nearest) else nearest + 1


def _covers(a: int, b: int, m: int) -> bool:
    """Whether 2^(-m/1000) <= a/b."""
    least = Fraction(b, a) ** 1000
    return least <= Fraction(2) ** m


@theorem(
    source="Holdfast",
    place='Section 11.1, the prior "words/1": things in any order',
    statement="k different things that are described one after another, in an order that does not "
    "matter, have k! descriptions: their weights are added, a credit of log2 k! bits.",
    domain="k >= 0, the things different",
    monotone={"k": "down"},
    slack="below a thousandth of a bit; none for things of which two may be equal",
)
def any_order_millibits(k: int) -> int:
    """The credit as a cost: zero or negative, rounded up, so that never too much is given back."""
    return _least(math.factorial(require.integer_at_least("k", k, 0)), 1)
