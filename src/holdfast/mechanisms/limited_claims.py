"""Claims beside a transfer mechanism: on the leakage account, within the nats set aside for them.

The transfer theorem runs at a level lowered by those nats, which their charges must never exceed;
so a claim is refused when its worst charge would. Levels count everything that leaked, the noisy
answers too, and what is left is of the leakage account's own part of the failure probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import fsum

from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.claims import Claims
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Terms
from holdfast.mechanisms.transfer import LIMITED_CLAIMS, Beside, Transfer, leaked_by_claims
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import log_up, round_down, round_up

__all__ = ["LimitedClaims", "limited"]


@dataclass(frozen=True, slots=True)
class LimitedClaims:
    """Checks or gates, with a limit to what they may leak in all."""

    beside: Beside
    claims: Claims

    @property
    def name(self) -> str:
        return f"limited {self.claims.name}"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        own = self.beside.terms(terms)
        offers = self.claims.offer(own, _spending_only(own, account), wishes)
        worst, left = fsum(offer.worst_charge for offer in offers), self.nats_left(account)
        if worst > left:
            raise BudgetExhausted(
                f"requested up to {worst:.4g} nats for a claim; remaining {left:.4g} of the "
                f"{self.beside.nats:g} set aside for claims (leakage_nats); missing "
                f"{worst - left:.3g}. Use ask, claim less at once, or set more aside in a "
                "new ledger with fresh rows."
            )
        return offers

    def nats_left(self, account: Account) -> float:
        """What claims may still leak, rounded down."""
        return max(0.0, round_down(self.beside.nats - leaked_by_claims(account)))

    def respond(
        self,
        terms: Terms,
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        return self.claims.respond(self.beside.terms(terms), offers, questions, sample, noise)

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return self.claims.settle(offers, symbols)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        leaked = leaked_by_claims(account)
        for release in releases:
            leaked = round_up(leaked + release.charge, 1)
        return self.claims.advance(account, offers, releases).remembering(LIMITED_CLAIMS, leaked)

    def questions_left(self, terms: Terms, account: Account) -> int:
        return self.claims.questions_left(self.beside.terms(terms), account)

    def surprises_left(self, terms: Terms, account: Account, profile: Concentration) -> int:
        """How many guesses in a row may be refuted within the nats set aside."""
        return self.claims.surprises_left(
            self.beside.terms(terms), account, profile, self.nats_left(account)
        )


def _spending_only(own: Terms, account: Account) -> Account:
    """The account with what asks took of the leakage account's part alone, not of the epochs'."""
    shares = [math.exp(own.log_share(number)) for number in range(1, account.asked + 1)]
    spent = log_up(math.log(fsum(shares))) if shares else -math.inf
    return replace(account, leakage=replace(account.leakage, log_beta_spent=spent))


def limited(transfer: Transfer, claims: Claims) -> LimitedClaims | None:
    """Claims beside a transfer mechanism; None where nothing was set aside for them."""
    return None if transfer.beside is None else LimitedClaims(transfer.beside, claims)
