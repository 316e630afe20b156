"""Answers whose promise is a transfer theorem (T or M): many averages of independent rows.

Every answer is a sum of the sample in grid units plus noise of one law, both whole numbers. How far
the answers of an *epoch* can be from the truth was computed when the ledger was opened, for so many
questions, and is in the ledger; nothing of it is computed again when a question is asked. With a
declared number of questions there is one epoch; open-ended there are several, each with a part of
the failure probability, each counting all answers before it.

What the theorems need: rows that are independent of each other, alike or not (row i is compared
with its own law), values whose sum one row moves by at most 2^30 units, and averages of all rows.
The sum is rounded down once; that moves with one row by no more than the row itself does.

**Beside the leakage account.** With `Beside`, checks of guesses may come between: their charges, on
any path, stay within `nats`, and the epochs run at a level lower by as much. An answer with noise
is then also a question of the leakage account, with its own radius, share and charge, so that later
checks carry it. The failure probability is divided between the two accounts in advance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Any, Protocol

from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted, InvalidQuestion, Refused, ToleranceTooTight
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.faults import first_fault
from holdfast.mechanisms.leakage import charged
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.release import open_release, unbounded_release
from holdfast.mechanisms.room import require_room
from holdfast.mechanisms.stable_steps import remembering_steps
from holdfast.statistics.statistic import Statistic, computing_error, measure
from holdfast.theory.base.safeside import log_add, round_down, round_up

__all__ = [
    "LIMITED_CHECKS",
    "Beside",
    "Epoch",
    "Law",
    "Transfer",
    "leaked_by_checks",
    "transfer_from_dict",
]

LIMITED_CHECKS = "limited guess and check/1"  # the mechanism that checks guesses beside it

_NUMERICS = 1e-6  # of a half-width: transforms on other machines agree far better than this


@dataclass(frozen=True, slots=True)
class Epoch:
    """So many questions, the size of their noise (a fraction of the range), level and half-width.

    `log_beta` is the level at which the theorem is used; beside a leakage account it is lower than
    the epoch's part of the failure probability by the account's nats.
    """

    questions: int
    noise: float
    log_beta: float
    half_width: float


@dataclass(frozen=True, slots=True)
class Beside:
    """The leakage account beside it: the most nats its charges may sum to, and its level."""

    nats: float
    confidence_level: float

    def terms(self, terms: Terms) -> Terms:
        """The terms as far as the leakage account goes: its part of the failure probability."""
        return replace(terms, confidence_level=self.confidence_level)


class Law(Protocol):
    """A noise, as a frozen value: how it is drawn, and what its theorem promises."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str:
        """What the ledger calls the mechanism."""
        ...

    @property
    def theorem(self) -> str:
        """As people call it."""
        ...

    @property
    def assumes(self) -> str | None:
        """What its promise rests on beside independent rows, in words; None: nothing."""
        ...

    def units(self, rows: int, noise: float) -> int:
        """The size of the noise in grid units of the sum."""
        ...

    def cells(self, rows: int) -> int:
        """How many symbols the range has."""
        ...

    def reach(self, rows: int, units: int) -> int:
        """How many symbols away the sample's value surely is; all of them if nothing is sure."""
        ...

    def symbol(self, total: int, units: int, noise: Noise) -> int:
        """The sum of the sample plus noise, in those symbols."""
        ...

    def log_charge(self, radius: float, rows: int, units: int) -> float:
        """The charge of an answer on the leakage account."""
        ...

    def half_width(self, rows: int, epochs: Sequence[Epoch]) -> float:
        """What the theorem gives for the last of these epochs, the release's rounding included."""
        ...


@dataclass(frozen=True, slots=True)
class Transfer:
    """Answers without a guess, under one law of noise."""

    law: Law
    epochs: tuple[Epoch, ...]
    beside: Beside | None = None

    @property
    def name(self) -> str:
        return self.law.name

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        return [
            self._offer(terms, account, wish, position)
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
            self.law.symbol(measured.numerator, _units(offer), noise(offer.number))
            for offer, measured in zip(offers, measure(sample, questions), strict=True)
        ]

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        if offer.reach < offer.cells:
            return open_release(offer, symbol, "answered", offer.worst_charge)
        return unbounded_release(offer, symbol, offer.cells, offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        paid = charged(account, offers, [release.charge for release in releases])
        if any(offer.reach < offer.cells for offer in offers):  # bounded noise is not stable
            return paid
        return remembering_steps(paid, offers, lambda offer: (offer.cells, _units(offer)))

    def questions_left(self, terms: Terms, account: Account) -> int:
        """Those of the epochs that reach the declared tolerance."""
        ends = accumulate(epoch.questions for epoch in self.epochs)
        within = [
            end
            for end, epoch in zip(ends, self.epochs, strict=True)
            if epoch.half_width <= terms.tolerance
        ]
        return max(0, max(within, default=0) - account.asked)

    def fault(self, terms: Terms, account: Account, offer: Offer, place: int) -> str | None:
        number = account.asked + place
        found = self._epoch_of(number)
        if offer.number != number:
            return "its number is out of order"
        if found is None:
            return "it comes after the last question that was provided for"
        last, epoch = found
        units = self.law.units(terms.rows, epoch.noise)
        log_p, radius = self._level(terms, account, number, 0.0)
        charge = 0.0 if self.beside is None else self.law.log_charge(radius, terms.rows, units)
        share = self._log_share(terms, number, epoch)
        faults = {
            "its noise is not the ledger's": offer.extra != {"noise": units},
            "its grid is not the rows'": (
                (offer.cells, offer.reach)
                != (self.law.cells(terms.rows), self.law.reach(terms.rows, units))
            ),
            "its interval is narrower than its epoch allows": (offer.tolerance < epoch.half_width),
            "it takes another share of the failure probability": (
                abs(offer.log_share - share) > 1e-9
            ),
            "its level ignores leakage": offer.log_p > log_p + 1e-9,
            "its radius is too small": offer.radius < radius * (1 - 1e-12),
            "its charge is too small": offer.worst_charge < charge * (1 - 1e-12),
            "checks before it leaked more than was provided for": (
                self.beside is not None and leaked_by_checks(account) > self.beside.nats
            ),
        }
        return first_fault(faults) or self._opening_fault(terms, last)

    def _offer(self, terms: Terms, account: Account, wish: Wish, position: int) -> Offer:
        question, number = wish.question, account.asked + position
        if question.row is None or question.rows(terms.rows) != terms.rows:
            raise InvalidQuestion(
                f"{self.law.theorem} is about averages of all rows, and {question.text} is not "
                "one; ask it in a ledger opened with mechanism='bounded noise'."
            )
        found = self._epoch_of(number)
        if found is None:
            raise BudgetExhausted(
                f"requested question {number:,}; remaining 0 of the {self._provided:,} that were "
                "provided for; missing 1. Repeating an earlier question is free; new questions "
                "need fresh rows in a new ledger."
            )
        last, epoch = found
        if epoch.half_width > wish.tolerance:
            raise self._too_tight(account, wish.tolerance, epoch.half_width, last)
        units = self.law.units(terms.rows, epoch.noise)
        log_p, radius = self._level(terms, account, number, computing_error(question))
        charge = 0.0 if self.beside is None else self.law.log_charge(radius, terms.rows, units)
        return Offer(
            number=number,
            question=question.text,
            tolerance=epoch.half_width,
            log_p=log_p,
            radius=radius,
            cells=self.law.cells(terms.rows),
            reach=self.law.reach(terms.rows, units),
            claim=None,
            guess=None,
            prior=None,
            log_share=self._log_share(terms, number, epoch),
            worst_charge=charge,
            extra={"noise": units},
        )

    @property
    def _provided(self) -> int:
        return sum(epoch.questions for epoch in self.epochs)

    def _epoch_of(self, number: int) -> tuple[int, Epoch] | None:
        """How many epochs there are up to that of a question, and that one."""
        ends = accumulate(epoch.questions for epoch in self.epochs)
        return next(
            (
                (place, epoch)
                for place, (end, epoch) in enumerate(zip(ends, self.epochs, strict=True), start=1)
                if number <= end
            ),
            None,
        )

    def _too_tight(
        self, account: Account, tolerance: float, half_width: float, epochs: int
    ) -> Refused:
        missing = half_width - tolerance
        if epochs == 1:
            return ToleranceTooTight(
                f"requested half-width {tolerance:.6g} of the range; answers have {half_width:.6g} "
                f"here, so {missing:.3g} are missing. Ask for a larger tolerance, declare fewer "
                "questions, or use more rows."
            )
        return BudgetExhausted(
            f"requested half-width {tolerance:.6g} of the range; after {account.asked:,} questions "
            f"answers have {half_width:.6g}, so {missing:.3g} are missing. Ask with a larger "
            "tolerance=, repeat earlier questions for free, or use fresh rows in a new ledger."
        )

    def _level(
        self, terms: Terms, account: Account, number: int, error: float
    ) -> tuple[float, float]:
        """Level and radius on the leakage account beside it; nothing where there is none."""
        if self.beside is None:
            return 0.0, 0.0
        log_p = round_down(self.beside.terms(terms).log_share(number) - account.nats)
        return log_p, round_up(terms.concentration.radius(min(0.0, log_p)) + error)

    def _log_share(self, terms: Terms, number: int, epoch: Epoch) -> float:
        """An equal part of what its epoch may fail with, and its part of the leakage account."""
        nats = 0.0 if self.beside is None else self.beside.nats
        own = round_down(min(0.0, epoch.log_beta + nats) - math.log(epoch.questions))
        if self.beside is None:
            return own
        return log_add(own, self.beside.terms(terms).log_share(number))

    def _opening_fault(self, terms: Terms, last: int) -> str | None:
        """Whether the theorem gives what the opening says, for the epochs up to this one."""
        beta, nats = 1 - terms.confidence_level, 0.0
        if self.beside is not None:
            beta -= 1 - self.beside.confidence_level
            nats = self.beside.nats
        given = math.fsum(math.exp(epoch.log_beta + nats) for epoch in self.epochs)
        if not terms.independent:
            return "its theorem needs independent rows"
        if self.law.assumes is not None and terms.declared != self.law.assumes:
            return "what its theorem assumes was not declared"
        if given > beta * (1 + 1e-9):
            return "the opening gives out more than the failure probability"
        if terms.questions is not None and self._provided < terms.questions:
            return "the opening provides for fewer questions than were declared"
        least = _proved(self.law, terms.rows, self.epochs[:last])
        if self.epochs[last - 1].half_width < least * (1 - _NUMERICS):
            return f"the opening's half-width is below what {self.law.theorem} gives"
        return None


def leaked_by_checks(account: Account) -> float:
    """The charges of all checks beside a transfer mechanism, in nats: their own memory.

    A check that was given up after a crash is not among them, for nobody saw its symbol.
    """
    return float(account.memory.get(LIMITED_CHECKS, 0.0))


def _units(offer: Offer) -> int:
    """The size of an offer's noise, in grid units of the sum."""
    if offer.extra is None:
        raise TypeError("the offer of a transfer mechanism names its noise")
    return int(offer.extra["noise"])


@cache
def _proved(law: Law, rows: int, epochs: tuple[Epoch, ...]) -> float:
    """What the theorem gives, computed once in a process: it takes a transform."""
    return law.half_width(rows, epochs)


def transfer_from_dict(law: Law, parameters: Mapping[str, Any]) -> Transfer:
    """The mechanism that an opening's parameters describe."""
    beside = parameters["beside"]
    return Transfer(
        law,
        tuple(Epoch(**epoch) for epoch in parameters["epochs"]),
        None if beside is None else Beside(**beside),
    )
