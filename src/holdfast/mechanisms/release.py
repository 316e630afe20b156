"""The answer that a symbol stands for: a value on the offer's grid, with the interval around it."""

from __future__ import annotations

import math
from fractions import Fraction

from holdfast.mechanisms.mechanism import Offer, Release, Status, Symbol
from holdfast.theory.intervals import Interval

__all__ = ["open_release", "release_of"]


def open_release(offer: Offer, symbol: Symbol, status: Status, charge: float) -> Release:
    """The answer +- tolerance for a cell of the offer's grid."""
    if not isinstance(symbol, int):
        raise TypeError(f"a release needs a cell, not {symbol!r}")
    return release_of(offer, Fraction(symbol, offer.cells), status, charge)


def release_of(offer: Offer, answer: Fraction, status: Status, charge: float) -> Release:
    """The answer +- tolerance, inside the range, rounded outwards."""
    tolerance = Fraction(offer.tolerance)
    low = max(0.0, math.nextafter(float(answer - tolerance), -math.inf))
    high = min(1.0, math.nextafter(float(answer + tolerance), math.inf))
    value = min(1.0, max(0.0, float(answer)))
    return Release(offer.number, status, value, Interval(min(low, 1.0), max(high, 0.0)), charge)
