"""The sample's value itself: what people do without a ledger, and what breaks. No promise.

A whole number still crosses the door: the numerator of the value over a public denominator. An
average of n row values is a multiple of 1/n (conditions) or of 1/(n 2^30), so nothing of it is
lost; other statistics are rounded to 2^-60 of their range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.data.sample import Sample
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.kind import MechanismKind, Planned, Wanted, no_options
from holdfast.mechanisms.leakage import charged
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.no_promise import (
    alphabet_log_charge,
    no_half_width,
    unpromised_fault,
    unpromised_offer,
    unpromised_release,
)
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.release import cell_of
from holdfast.mechanisms.room import declared_left, require_room
from holdfast.question.row import GRID
from holdfast.statistics.statistic import Measured, Statistic, measure
from holdfast.theory.leakage.release import DiscreteUniform

__all__ = ["EXACT", "Exact", "exact_cell", "exact_cells", "exact_symbols", "exact_value"]

_FINE = 2**60


def exact_cells(question: Statistic, rows: int) -> int:
    """The public denominator of a statistic's value."""
    if question.row is None:
        return _FINE
    count = question.rows(rows)
    return count if question.row.is_condition else count * GRID


def exact_cell(offer: Offer, measured: Measured) -> int:
    """The numerator over the offer's denominator."""
    return DiscreteUniform(offer.cells, 0).cell(measured.numerator, measured.denominator)


def exact_symbols(
    offers: Sequence[Offer], questions: Sequence[Statistic], sample: Sample
) -> list[Symbol]:
    """The exact values of all questions, from one scan."""
    return [
        exact_cell(offer, found)
        for offer, found in zip(offers, measure(sample, questions), strict=True)
    ]


def exact_value(offer: Offer, symbol: Symbol) -> float:
    """The double nearest to the value."""
    return float(Fraction(cell_of(symbol, 0, offer.cells), offer.cells))


@dataclass(frozen=True, slots=True)
class Exact:
    """Exact values of the sample."""

    @property
    def name(self) -> str:
        return "exact/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        offers = []
        for position, wish in enumerate(wishes, start=1):
            cells = exact_cells(wish.question, terms.rows)
            charge = alphabet_log_charge(cells + 1)
            offers.append(unpromised_offer(account, wish, position, cells=cells, charge=charge))
        return offers

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],  # noqa: ARG002
    ) -> list[Symbol]:
        return exact_symbols(offers, questions, sample)

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        return unpromised_release(offer, exact_value(offer, symbol))

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return charged(account, offers, [release.charge for release in releases])

    def questions_left(self, terms: Terms, account: Account) -> int:
        return max(0, declared_left(terms, account))

    def fault(self, terms: Terms, account: Account, offer: Offer, place: int) -> str | None:  # noqa: ARG002
        return unpromised_fault(account, offer, place, lambda: alphabet_log_charge(offer.cells + 1))


def _plan(wanted: Wanted, options: Mapping[str, Any]) -> Planned:
    no_options("exact", options)
    return Planned(no_half_width("exact", wanted), {})


EXACT = MechanismKind(
    name="exact",
    summary="The sample's value itself, as often as it is asked for.",
    needs="Nothing.",
    promises="exact values of re-used rows overfit; every interval is the whole range.",
    theorem=None,
    plan=_plan,
    build=lambda _terms, _parameters: Exact(),
    refuses_checks="after exact values nothing can be promised about these rows.",
)
