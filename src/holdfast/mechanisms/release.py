"""The answer that a symbol stands for: a value on the offer's grid, with the interval around it."""

from __future__ import annotations

import math
from fractions import Fraction

from holdfast.mechanisms.mechanism import Offer, Release, Status, Symbol
from holdfast.theory.base.intervals import Interval

__all__ = ["cell_of", "open_release", "release_of", "unbounded_release"]


def cell_of(symbol: Symbol, least: int, most: int) -> int:
    """A symbol that is the number of a cell, in the alphabet from `least` to `most`."""
    cell = _whole(symbol)
    if not least <= cell <= most:
        raise ValueError(f"cell {cell} is outside the alphabet from {least} to {most}")
    return cell


def open_release(offer: Offer, symbol: Symbol, status: Status, charge: float) -> Release:
    """The answer +- tolerance for a cell of the offer's grid, or one in the noise's reach of it."""
    cell = cell_of(symbol, -offer.reach, offer.cells + offer.reach)
    return release_of(offer, Fraction(cell, offer.cells), status, charge)


def unbounded_release(offer: Offer, symbol: Symbol, cells: int, charge: float) -> Release:
    """The answer +- tolerance on a grid of so many cells in the range, wherever the noise led."""
    return release_of(offer, Fraction(_whole(symbol), cells), "answered", charge)


def release_of(offer: Offer, answer: Fraction, status: Status, charge: float) -> Release:
    """The answer +- tolerance, inside the range, rounded outwards."""
    tolerance = Fraction(offer.tolerance)
    low = max(0.0, math.nextafter(float(answer - tolerance), -math.inf))
    high = min(1.0, math.nextafter(float(answer + tolerance), math.inf))
    value = min(1.0, max(0.0, float(answer)))
    return Release(offer.number, status, value, Interval(min(low, 1.0), max(high, 0.0)), charge)


def _whole(symbol: Symbol) -> int:
    if not isinstance(symbol, int):
        raise TypeError(f"a release needs a cell, not {symbol!r}")
    return symbol
