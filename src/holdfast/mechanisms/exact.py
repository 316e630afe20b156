"""Exact values of the sample as symbols, for last looks and for what promises nothing.

A whole number still crosses the door: the numerator of the value over a public denominator. An
average of n row values is a multiple of 1/n (conditions) or of 1/(n 2^30), so nothing of it is
lost; other statistics are rounded to 2^-60 of their range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.catalogue import Planned
from holdfast.mechanisms.mechanism import Offer, Symbol
from holdfast.mechanisms.noise import Grid, Noise
from holdfast.mechanisms.terms import Terms
from holdfast.question.row import GRID
from holdfast.statistics.statistic import Statistic, measure
from holdfast.theory.base.safeside import round_up

REVEAL = "reveal/1"  # the name of the one exact value with a promise, at the end (`reveal`)


def planned_without(name: str, wanted: Terms, parameters: dict[str, Any]) -> Planned:
    """The plan of a mechanism that promises no half-width; one that was asked for is refused."""
    if wanted.tolerance is not None:
        raise InvalidArgument(
            f"tolerance is {wanted.tolerance:g}, and {name} promises no half-width; leave it out, "
            "or choose a mechanism with a promise: holdfast mechanisms"
        )
    return Planned(None, parameters)


def alphabet_log_charge(symbols: int) -> float:
    """ln of the number of symbols: no release from a public alphabet is charged more."""
    return round_up(math.log(symbols))


_FINE = 2**60


def exact_grid(question: Statistic, rows: int) -> Grid:
    """The public denominator of a statistic's value."""
    if question.row is None:
        return Grid(_FINE, 0, 0)
    count = question.rows(rows)
    return Grid(count if question.row.is_condition else count * GRID, 0, 0)


class ExactValues:
    """Mechanism whose symbols are exact values, from one scan: numerators over offers' cells."""

    __slots__ = ()

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],  # noqa: ARG002
    ) -> list[Symbol]:
        return [
            offer.own_grid.cell(measured.numerator, measured.denominator)
            for offer, measured in zip(offers, measure(sample, questions), strict=True)
        ]
