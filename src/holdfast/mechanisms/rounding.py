"""The sample's value rounded to a public grid, and no noise (description length, truncation).

With half-width t and radius alpha the grid has the pitch 2 D, D = t - alpha, so that the answer is
within D of the sample's value surely. Where the sample's value is within alpha of the truth it lies
in an interval of length 2 alpha, which meets at most ceil(alpha/D) + 1 cells: that is the charge on
the leakage account (Theorem L with the uniform kernel on those cells), never more than all cells.

The lecture's global count gives every node of the public tree the same level beta/N,
N = (G^k - 1)/(G - 1): the same theorem with all G cells charged for every answer. A local count
charges the few cells that the radius leaves, and is narrower; nothing else is used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.faults import leakage_fault
from holdfast.mechanisms.kind import MechanismKind, Planned, Wanted, no_options
from holdfast.mechanisms.leakage import OnGrid, charged, plain_offer
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.release import cell_of, release_of
from holdfast.mechanisms.room import declared_left, require_room
from holdfast.statistics.statistic import Statistic, measure
from holdfast.theory.base.safeside import largest_integer, round_down, round_up
from holdfast.theory.leakage.equal_width import rounding_half_width, roundings_fit
from holdfast.theory.leakage.nats import rounding_log_charge

__all__ = ["ROUNDING", "Rounding"]

_TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class Rounding:
    """Answers without a guess and without noise; the offer's `extra` holds half of the pitch."""

    @property
    def name(self) -> str:
        return "rounding/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        return [
            _rounded(plain_offer(terms, account, wish, position))
            for position, wish in enumerate(wishes, start=1)
        ]

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],  # noqa: ARG002
    ) -> list[Symbol]:
        return [
            _nearest(Fraction(found.numerator, found.denominator) / _pitch(offer))
            for offer, found in zip(offers, measure(sample, questions), strict=True)
        ]

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        pitch = _pitch(offer)
        cell = cell_of(symbol, 0, _nearest(1 / pitch))
        return release_of(offer, cell * pitch, "answered", offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return charged(account, offers, [release.charge for release in releases])

    def questions_left(self, terms: Terms, account: Account) -> int:
        left = declared_left(terms, account)
        if left <= 0:
            return 0
        return largest_integer(
            lambda k: roundings_fit(
                OnGrid(terms.concentration),
                k,
                terms.tolerance,
                terms.log_share(account.asked + k),
                account.nats,
            ),
            most=left,
        )

    def fault(self, terms: Terms, account: Account, offer: Offer, place: int) -> str | None:
        half_pitch = (offer.extra or {}).get("half_pitch", 0.0)
        if half_pitch <= 0:
            return "it does not say to which grid it rounds"
        charge = _log_charge(offer.radius, half_pitch)
        return leakage_fault(terms, account, offer, place, charge, Fraction(half_pitch))


def _rounded(plain: Offer) -> Offer:
    half_pitch = round_down(plain.tolerance - plain.radius)
    return replace(
        plain,
        cells=1,
        reach=0,
        worst_charge=_log_charge(plain.radius, half_pitch),
        extra={"half_pitch": half_pitch},
    )


def _pitch(offer: Offer) -> Fraction:
    if offer.extra is None:
        raise TypeError("the offer of a rounded answer names its grid")
    return 2 * Fraction(offer.extra["half_pitch"])


def _nearest(number: Fraction) -> int:
    return math.floor(number + Fraction(1, 2))


def _log_charge(radius: float, half_pitch: float) -> float:
    """ln of the cells that the radius meets, of those that the range has at all."""
    last = _nearest(1 / (2 * Fraction(half_pitch)))
    return min(rounding_log_charge(radius, half_pitch), round_up(math.log(last + 1)))


def _plan(wanted: Wanted, options: Mapping[str, Any]) -> Planned:
    no_options("rounding", options)
    if wanted.tolerance is not None:
        return Planned(wanted.tolerance, {})
    if wanted.questions is None:
        return Planned(_TOLERANCE, {})
    half_width = rounding_half_width(
        OnGrid(wanted.sampling.profile(wanted.rows)),
        wanted.questions,
        wanted.log_beta,
    )
    if half_width >= 0.5:
        raise InvalidArgument(
            f"{wanted.rows:,} rows cannot answer {wanted.questions:,} questions by rounding with "
            "any half-width below 0.5; declare fewer questions, or see: holdfast plan --rows "
            f"{wanted.rows} --questions {wanted.questions}"
        )
    return Planned(round_up(half_width), {})


ROUNDING = MechanismKind(
    name="rounding",
    summary="The sample's value rounded to a public grid, without noise.",
    needs="Nothing but a concentration: any rows, any statistic.",
    promises="Theorem L, an answer charged the cells that its radius meets",
    theorem="rounding_log_charge",
    plan=_plan,
    build=lambda _terms, _parameters: Rounding(),
)
