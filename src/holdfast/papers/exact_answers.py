"""Exact values of the sample: what people do without a ledger, and what breaks. No promise.

What all baselines without a promise have in common: the whole range as interval, and no share. They
are still charged. Whatever a mechanism does, an answer whose law is, for every sample, at most
kappa times a law that sees no sample is charged kappa by Theorem L; so the ledger's count of what
has leaked stays true. It only bounds nothing that is promised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from holdfast.mechanisms.catalogue import MechanismKind, Planned, no_options
from holdfast.mechanisms.exact import ExactValues, alphabet_log_charge, exact_grid, planned_without
from holdfast.mechanisms.leakage import declared_left, require_room
from holdfast.mechanisms.mechanism import (
    Offer,
    Release,
    Symbol,
    Wish,
    charged,
    each_settled,
    value_of,
)
from holdfast.mechanisms.noise import Grid
from holdfast.mechanisms.terms import Account, PartStages, Terms, number_of_parts
from holdfast.statistics.kappa_losses import LossByKappa
from holdfast.theory.base.intervals import Interval


def unpromised_offer(
    account: Account,
    wish: Wish,
    position: int,
    *,
    grid: Grid,
    charge: float,
    extra: dict[str, Any] | None = None,
) -> Offer:
    """The offer of an answer without a promise, `position` places after the account."""
    return Offer(
        number=account.looks + position,
        question=wish.question.text,
        tolerance=None,
        grid=grid,
        worst_charge=charge,
        guess=wish.guess,
        extra=extra,
    )


def unpromised_release(offer: Offer, value: float) -> Release:
    """A value with the whole range as its interval."""
    inside = min(1.0, max(0.0, value))
    return Release(offer.number, "no promise", inside, Interval(0.0, 1.0), offer.worst_charge)


@dataclass(frozen=True, slots=True)
class Exact(ExactValues):
    """Exact values of the sample."""

    name: ClassVar[str] = "exact/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        offers = []
        for position, wish in enumerate(wishes, start=1):
            if isinstance(wish.question, LossByKappa):
                raise wish.question.undescribed
            grid = exact_grid(wish.question, terms.rows)
            charge = alphabet_log_charge(grid.last + 1)
            offers.append(unpromised_offer(account, wish, position, grid=grid, charge=charge))
        return offers

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        return unpromised_release(offer, value_of(offer, symbol))

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return charged(account, offers, [release.charge for release in releases])

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        return max(0, declared_left(terms, account)) // number_of_parts(stages)


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    no_options("exact", options)
    return planned_without("exact", wanted, {})


EXACT = MechanismKind(
    name="exact",
    summary="The sample's value itself, as often as it is asked for.",
    needs="Nothing.",
    promises="exact values of re-used rows overfit; every interval is the whole range.",
    theorem=None,
    method=None,
    plan=_plan,
    build=lambda _terms, _parameters: Exact(),
    refuses_checks="after exact values nothing can be promised about these rows.",
)
