"""Checks beside a transfer mechanism: on the leakage account, within the nats set aside for them.

The transfer theorem runs at a level lowered by those nats, which their charges must never exceed;
so a check is refused when its worst charge would. Radii count everything that leaked, the noisy
answers too, and shares come from the leakage account's own part of the failure probability.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum

from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted, Shortfall
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.guess_and_check import GuessAndCheck
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Terms
from holdfast.mechanisms.transfer import LIMITED_CHECKS, Beside, Transfer, leaked_by_checks
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.safeside import round_down, round_up

__all__ = ["LimitedChecks", "limited_checks"]

_CHECKS = GuessAndCheck()


@dataclass(frozen=True, slots=True)
class LimitedChecks:
    """Guess and check, with a limit to what it may leak in all."""

    beside: Beside

    @property
    def name(self) -> str:
        return LIMITED_CHECKS

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        offers = _CHECKS.offer(self.beside.terms(terms), account, wishes)
        worst, left = fsum(offer.worst_charge for offer in offers), self.nats_left(account)
        if worst > left:
            raise BudgetExhausted(
                f"requested up to {worst:.4g} nats for a check; remaining {left:.4g} of the "
                f"{self.beside.nats:g} set aside for checks (leakage_nats); missing "
                f"{worst - left:.3g}. Use ask, check fewer guesses at once, or set more aside in a "
                "new ledger with fresh rows.",
                Shortfall("nats", worst, left),
            )
        return offers

    def nats_left(self, account: Account) -> float:
        """What checks may still leak, rounded down."""
        return max(0.0, round_down(self.beside.nats - leaked_by_checks(account)))

    def respond(
        self,
        terms: Terms,
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        return _CHECKS.respond(self.beside.terms(terms), offers, questions, sample, noise)

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        return _CHECKS.settle(offer, symbol)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        leaked = leaked_by_checks(account)
        for release in releases:
            leaked = round_up(leaked + release.charge, 1)
        return _CHECKS.advance(account, offers, releases).remembering(self.name, leaked)

    def questions_left(self, terms: Terms, account: Account) -> int:
        return _CHECKS.questions_left(self.beside.terms(terms), account)

    def surprises_left(self, terms: Terms, account: Account) -> int:
        """How many guesses in a row may be refuted within the nats set aside."""
        return _CHECKS.surprises_left(self.beside.terms(terms), account, self.nats_left(account))


def limited_checks(transfer: Transfer) -> LimitedChecks | None:
    """The checks beside a transfer mechanism; None where nothing was set aside for them."""
    return None if transfer.beside is None else LimitedChecks(transfer.beside)
