"""`ask`: the sample's value on a public grid plus discrete uniform noise (Theorem L).

The answer is within the noise's reach of the sample's value surely, and the sample's value within
the radius of the truth unless this question's share of the failure probability is used up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted, InvalidArgument, Refused, ToleranceTooTight
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.kind import MechanismKind, Planned, Wanted, no_options
from holdfast.mechanisms.mechanism import Offer, Release, Status, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.profile import profile_from_dict, profile_of, radius_of
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.statistic import Measured, Statistic, computing_error, measure
from holdfast.theory.concentration import Concentration
from holdfast.theory.equal_width import asks_fit, bounded_noise_half_width
from holdfast.theory.intervals import Interval
from holdfast.theory.planning import MOST_QUESTIONS
from holdfast.theory.public_variance import same_cost_tolerance
from holdfast.theory.release import DiscreteUniform, discrete_uniform_for
from holdfast.theory.safeside import largest_integer, round_down, round_up

__all__ = [
    "BOUNDED_NOISE",
    "BoundedNoise",
    "OnGrid",
    "asks_left",
    "charged",
    "declared_left",
    "leakage_fault",
    "noisy_cell",
    "open_release",
    "plain_offer",
    "release_of",
    "require_room",
]

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


def require_room(terms: Terms, account: Account, wanted: int) -> None:
    """Refuse a batch that goes beyond the declared number of questions."""
    if terms.questions is None or account.asked + wanted <= terms.questions:
        return
    remaining = terms.questions - account.asked
    raise BudgetExhausted(
        f"requested {wanted:,} more question{'s' * (wanted > 1)}; remaining {remaining:,} of the "
        f"{terms.questions:,} declared; missing {wanted - remaining:,}. Repeating an earlier "
        "question is free; new questions need fresh rows in a new ledger."
    )


def plain_offer(
    terms: Terms, account: Account, wish: Wish, position: int, level: float = 1.0
) -> Offer:
    """The offer for the question `position` places after the account, or a refusal.

    `level` is the part of the question's failure probability that the radius may use.
    """
    number = account.asked + position
    log_share = terms.log_share(number)
    log_p = round_down(log_share - account.nats + math.log(level))
    profile = wish.question.concentration(terms.rows, terms.sampling)
    error = computing_error(wish.question)
    radius = wide = round_up(profile.radius(min(0.0, log_p)) + error)
    variance = wish.variance if terms.independent else None
    if variance is not None:
        radius = min(wide, round_up(radius_of(profile, variance, terms.rows, log_p) + error))
        if wish.narrow and radius < wide < wish.tolerance:
            wish = wish.at_tolerance(same_cost_tolerance(wish.tolerance, wide, radius))
    if radius >= wish.tolerance:
        raise _too_wide(account, wish.tolerance, radius)
    release = discrete_uniform_for(wish.tolerance, radius)
    return Offer(
        number=number,
        question=wish.question.text,
        tolerance=wish.tolerance,
        log_p=log_p,
        radius=radius,
        cells=release.G,
        reach=release.m,
        claim=wish.claim,
        guess=wish.guess,
        prior=None,
        log_share=log_share,
        worst_charge=release.log_charge(radius),
        profile=None if profile == terms.concentration else profile_of(profile),
        variance=variance if radius < wide else None,
    )


def _too_wide(account: Account, tolerance: float, radius: float) -> Refused:
    missing = radius - tolerance
    if account.nats == 0.0:
        return ToleranceTooTight(
            f"requested half-width {tolerance:.6g} of the range; the sample alone may be off by "
            f"{radius:.6g}, so {missing:.3g} are missing. Ask for a larger tolerance, declare "
            "fewer questions, or use more rows."
        )
    return BudgetExhausted(
        f"requested half-width {tolerance:.6g} of the range; after {account.asked:,} questions "
        f"({account.nats:.4g} nats) the sample may be off by {radius:.6g}, so {missing:.3g} are "
        "missing. Ask with a larger tolerance=, repeat earlier questions for free, or use fresh "
        "rows in a new ledger."
    )


def noisy_cell(offer: Offer, measured: Measured, noise: Noise) -> int:
    """The symbol of a release: the sample's cell plus noise, both whole numbers."""
    release = DiscreteUniform(offer.cells, offer.reach)
    cell = release.cell(measured.numerator, measured.denominator)
    return cell + noise.uniform(-release.m, release.m)


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


def charged(account: Account, offers: Sequence[Offer], charges: Sequence[float]) -> Account:
    """All questions of a batch are asked on one account, then all are charged."""
    leakage = account.leakage
    for offer in offers:
        leakage = leakage.ask(offer.log_share)
    for charge in charges:
        if charge > 0.0:  # nothing is added exactly
            leakage = leakage.charge(charge)
    return replace(account, leakage=leakage)


def leakage_fault(
    terms: Terms,
    account: Account,
    offer: Offer,
    place: int,
    charge: float,
    reach: Fraction | None = None,
) -> str | None:
    """What an audit finds wrong with an offer on the leakage account; `charge` is its worst.

    `reach` is how far the answer may be from the sample's value, if the grid does not say it.
    """
    if reach is None:
        reach = DiscreteUniform(offer.cells, offer.reach).reach
    log_p = min(0.0, offer.log_p)
    profile = terms.concentration if offer.profile is None else profile_from_dict(offer.profile)
    least = profile.radius(log_p)
    if offer.variance is not None and terms.independent:
        least = min(least, radius_of(profile, offer.variance, terms.rows, log_p))
    faults = {
        "its number is out of order": offer.number != account.asked + place,
        "it takes more than its share of the failure probability": (
            offer.log_share > terms.log_share(offer.number) + 1e-9
        ),
        "its level ignores leakage": offer.log_p > offer.log_share - account.nats + 1e-9,
        "its radius is too small": offer.radius < least * (1 - 1e-12),
        "noise and radius exceed its tolerance": (
            reach + Fraction(offer.radius) > Fraction(offer.tolerance)
        ),
        "its charge is too small": offer.worst_charge < charge * (1 - 1e-12),
    }
    return next((fault for fault, found in faults.items() if found), None)


@dataclass(frozen=True, slots=True)
class OnGrid:
    """A concentration with the rounding of row values to the grid added, as offers add it."""

    profile: Concentration

    def log_tail(self, radius: float) -> float:
        return self.profile.log_tail(max(0.0, radius - GRID_ERROR))

    def radius(self, log_p: float) -> float:
        return round_up(self.profile.radius(log_p) + GRID_ERROR)


def declared_left(terms: Terms, account: Account) -> int:
    """How many of the declared questions are left; very many when none were declared."""
    return MOST_QUESTIONS if terms.questions is None else terms.questions - account.asked


def asks_left(terms: Terms, account: Account) -> int:
    """How many more questions can surely be asked at the declared tolerance, one by one."""
    if declared_left(terms, account) <= 0:
        return 0
    return largest_integer(
        lambda k: asks_fit(
            OnGrid(terms.concentration),
            k,
            terms.tolerance,
            terms.log_share(account.asked + k),
            account.nats,
        ),
        most=declared_left(terms, account),
    )


def _plan(wanted: Wanted, options: Mapping[str, Any]) -> Planned:
    no_options("bounded noise", options)
    if wanted.tolerance is not None:
        return Planned(wanted.tolerance, {})
    if wanted.questions is None:
        return Planned(_TOLERANCE, {})
    half_width = bounded_noise_half_width(
        wanted.sampling.profile(wanted.rows),
        wanted.questions,
        math.log1p(-wanted.confidence_level),
    )
    rounded = math.ceil(half_width * 1_000) / 1_000
    if rounded >= 0.5:
        raise InvalidArgument(
            f"{wanted.rows:,} rows cannot answer {wanted.questions:,} questions with any "
            "half-width below 0.5; see what they can: holdfast plan --rows "
            f"{wanted.rows} --tolerance 0.1"
        )
    return Planned(rounded, {})


BOUNDED_NOISE = MechanismKind(
    name="bounded noise",
    summary="The sample's value plus bounded noise, on one leakage account with all checks.",
    needs="Nothing but a concentration: any rows, any statistic.",
    promises="Theorem L",
    theorem="leakage_log_failure",
    plan=_plan,
    build=lambda _terms, _parameters: BoundedNoise(),
)
