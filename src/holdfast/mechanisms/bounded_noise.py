"""`ask`: the sample's value on a public grid plus discrete uniform noise (Theorem L).

The answer is within the noise's reach of the sample's value surely, and the sample's value within
the radius of the truth unless this question's share of the failure probability is used up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted, Refused, ToleranceTooTight
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.mechanism import Offer, Release, Status, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.question.statistic import Mean
from holdfast.theory.intervals import Interval
from holdfast.theory.leakage import LeakageAccount
from holdfast.theory.release import DiscreteUniform, discrete_uniform_for
from holdfast.theory.safeside import round_down, round_up

__all__ = ["BoundedNoise", "charged", "noisy_cell", "open_release", "plain_offer", "require_room"]


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
        questions: Sequence[Mean],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        totals = sample.sums([question.row for question in questions])
        return [
            noisy_cell(offer, total, sample.n, noise(offer.number))
            for offer, total in zip(offers, totals, strict=True)
        ]

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        return open_release(offer, symbol, "answered", offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return Account(
            charged(account.leakage, offers, releases), account.checks, account.surprises
        )


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
    # Row values other than 0 and 1 are rounded to the grid; and the sample's value, computed as a
    # double inside a check, is off by less than 2^-50.
    computed = 2.0**-50 if wish.question.row.is_condition else GRID_ERROR
    radius = round_up(terms.concentration.radius(min(0.0, log_p)) + computed)
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
        claim=None,
        guess=None,
        prior=None,
        log_share=log_share,
        worst_charge=release.log_charge(radius),
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


def noisy_cell(offer: Offer, total: int, n: int, noise: Noise) -> int:
    """The symbol of a release: the sample's cell plus noise, both whole numbers."""
    release = DiscreteUniform(offer.cells, offer.reach)
    return release.cell(total, n, GRID) + noise.uniform(-release.m, release.m)


def open_release(offer: Offer, symbol: Symbol, status: Status, charge: float) -> Release:
    """The answer +- tolerance for a cell, inside the range, rounded outwards."""
    if not isinstance(symbol, int):
        raise TypeError(f"a release needs a cell, not {symbol!r}")
    answer, tolerance = Fraction(symbol, offer.cells), Fraction(offer.tolerance)
    low = max(0.0, math.nextafter(float(answer - tolerance), -math.inf))
    high = min(1.0, math.nextafter(float(answer + tolerance), math.inf))
    value = min(1.0, max(0.0, float(answer)))
    return Release(offer.number, status, value, Interval(min(low, 1.0), max(high, 0.0)), charge)


def charged(
    leakage: LeakageAccount, offers: Sequence[Offer], releases: Sequence[Release]
) -> LeakageAccount:
    """All questions of a batch are asked on one account, then all are charged."""
    for offer in offers:
        leakage = leakage.ask(offer.log_share)
    for release in releases:
        leakage = leakage.charge(release.charge)
    return leakage
