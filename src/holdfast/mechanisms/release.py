"""The answer that a symbol stands for: a value on the offer's grid, with the interval around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from holdfast.mechanisms.mechanism import Offer, Release, Status, Symbol
from holdfast.theory.base.intervals import Interval

__all__ = ["cell_of", "each_settled", "released", "value_of"]


def each_settled(
    told: Callable[[Offer, Symbol], Release], offers: Sequence[Offer], symbols: Sequence[Symbol]
) -> list[Release]:
    """The answers of a batch, where each symbol stands for itself."""
    return [told(offer, symbol) for offer, symbol in zip(offers, symbols, strict=True)]


def cell_of(offer: Offer, symbol: Symbol) -> int:
    """A symbol that is the number of a cell, in the noise's reach of those of the range."""
    if not isinstance(symbol, int):
        raise TypeError(f"a release needs a cell, not {symbol!r}")
    reach = offer.own_grid.reach
    if reach is not None and not -reach <= symbol <= offer.own_grid.last + reach:
        raise ValueError(
            f"cell {symbol} is outside the alphabet from {-reach} to {offer.own_grid.last + reach}"
        )
    return symbol


def value_of(offer: Offer, symbol: Symbol) -> float:
    """The double nearest to what a cell stands for, inside the range."""
    return min(1.0, max(0.0, float(offer.own_grid.place(cell_of(offer, symbol)))))


def released(offer: Offer, symbol: Symbol, status: Status, charge: float) -> Release:
    """The answer +- tolerance, inside the range, rounded outwards."""
    if offer.tolerance is None:
        raise TypeError(f"the offer of question {offer.number} promises no half-width")
    answer, tolerance = offer.own_grid.place(cell_of(offer, symbol)), Fraction(offer.tolerance)
    low = max(0.0, math.nextafter(float(answer - tolerance), -math.inf))
    high = min(1.0, math.nextafter(float(answer + tolerance), math.inf))
    interval = Interval(min(low, 1.0), max(high, 0.0))
    return Release(offer.number, status, value_of(offer, symbol), interval, charge)
