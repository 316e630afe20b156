"""`ask`: the sample's value on a public grid plus discrete uniform noise (Theorem L).

The answer is within the noise's reach of the sample's value surely, and the sample's value within
the radius of the truth unless this question's share of the failure probability is used up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.data.sample import Sample
from holdfast.data.sampling import Independent
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.faults import leakage_fault
from holdfast.mechanisms.kind import (
    MechanismKind,
    Planned,
    Wanted,
    no_options,
    short_half_width,
)
from holdfast.mechanisms.leakage import asks_left, charged, plain_offer
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.release import open_release
from holdfast.mechanisms.room import require_room
from holdfast.statistics.statistic import Measured, Statistic, measure
from holdfast.theory.leakage.release import DiscreteUniform
from holdfast.theory.planning import ASKS, Rows, check_method

__all__ = ["BOUNDED_NOISE", "BoundedNoise", "noisy_cell"]

_TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class BoundedNoise:
    """Answers without a guess."""

    @property
    def name(self) -> str:
        return "bounded noise/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        return [
            plain_offer(terms, account, wish, position)
            for position, wish in enumerate(wishes, start=1)
        ]

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        return [
            noisy_cell(offer, measured, noise(offer.number))
            for offer, measured in zip(offers, measure(sample, questions), strict=True)
        ]

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        return open_release(offer, symbol, "answered", offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return charged(account, offers, [release.charge for release in releases])

    def questions_left(self, terms: Terms, account: Account) -> int:
        return asks_left(terms, account)

    def fault(self, terms: Terms, account: Account, offer: Offer, place: int) -> str | None:
        charge = DiscreteUniform(offer.cells, offer.reach).log_charge(offer.radius)
        return leakage_fault(terms, account, offer, place, charge)


def noisy_cell(offer: Offer, measured: Measured, noise: Noise) -> int:
    """The symbol of a release: the sample's cell plus noise, both whole numbers."""
    release = DiscreteUniform(offer.cells, offer.reach)
    cell = release.cell(measured.numerator, measured.denominator)
    return cell + noise.uniform(-release.m, release.m)


def _plan(wanted: Wanted, options: Mapping[str, Any]) -> Planned:
    no_options("bounded noise", options)
    if wanted.tolerance is not None:
        return Planned(wanted.tolerance, {})
    if wanted.questions is None:
        return Planned(_TOLERANCE, {})
    half_width = _least_half_width(wanted, wanted.questions)
    rounded = 0.5 if half_width is None else short_half_width(half_width)
    if rounded >= 0.5:
        raise InvalidArgument(
            f"{wanted.rows:,} rows cannot answer {wanted.questions:,} questions with any "
            "half-width below 0.5; see what they can: holdfast plan --rows "
            f"{wanted.rows} --tolerance 0.1"
        )
    return Planned(rounded, {})


def _least_half_width(wanted: Wanted, questions: int) -> float | None:
    """What the planner says of so many questions, or checks if surprises are declared."""
    rows = Rows(wanted.sampling.profile, isinstance(wanted.sampling, Independent))
    method = ASKS if wanted.surprises is None else check_method(wanted.surprises)
    return method.half_width(rows, wanted.rows, questions, wanted.log_beta)


BOUNDED_NOISE = MechanismKind(
    name="bounded noise",
    summary="The sample's value plus bounded noise, on one leakage account with all checks.",
    needs="Nothing but a concentration: any rows, any statistic.",
    promises="Theorem L",
    theorem="leakage_log_failure",
    plan=_plan,
    build=lambda _terms, _parameters: BoundedNoise(),
)
