"""`check`: is it about 0.24? Almost free when confirmed; a surprise is answered as an ask.

The claim is a public interval J. Inside the door an interval CI(X), valid for a fixed question at
the offer's level and contained in [q - alpha, q + alpha], is compared with J: contained means
*confirmed*. Only that symbol, or the cell of an ordinary release, leaves. On independent rows CI(X)
is exact (Clopper-Pearson) for 0/1 questions, and KL intersected with empirical Bernstein for
others; on other rows it is q -+ alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from holdfast.data.sample import Sample
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.bounded_noise import (
    charged,
    noisy_cell,
    open_release,
    plain_offer,
    require_room,
)
from holdfast.mechanisms.mechanism import CONFIRMED, Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.question.statistic import Mean
from holdfast.theory.intervals import (
    Interval,
    clopper_pearson,
    empirical_bernstein_radius,
    kl_interval,
)
from holdfast.theory.leakage import confirmed_log_charge, surprise_log_charge
from holdfast.theory.release import DiscreteUniform

__all__ = ["LEAST_LEVEL", "GuessAndCheck"]

# Of a question's level, the part that the empirical Bernstein interval may use; the radius and the
# KL interval have the rest (rule R1: one event, contained in the radius that is charged).
_BERNSTEIN_PART = 0.1
LEAST_LEVEL = 1 - _BERNSTEIN_PART


@dataclass(frozen=True, slots=True)
class GuessAndCheck:
    """Checks of claims; the public prior of a surprise is Krichevsky and Trofimov's."""

    @property
    def name(self) -> str:
        return "guess and check/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        prior = account.surprise_prior
        confirmed = confirmed_log_charge(prior)
        offers = []
        for position, wish in enumerate(wishes, start=1):
            level = LEAST_LEVEL if _uses_variance(terms, wish.question) else 1.0
            plain = plain_offer(terms, account, wish, position, level)
            worst = max(confirmed, surprise_log_charge(prior, plain.worst_charge))
            offers.append(
                replace(plain, claim=wish.claim, guess=wish.guess, prior=prior, worst_charge=worst)
            )
        return offers

    def respond(
        self,
        terms: Terms,
        offers: Sequence[Offer],
        questions: Sequence[Mean],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        found = sample.moments([question.row for question in questions])
        symbols: list[Symbol] = []
        for offer, question, (total, squares) in zip(offers, questions, found, strict=True):
            inside = _interval(terms, offer, question, sample.n, total, squares)
            if _implies(inside, offer.claim):
                symbols.append(CONFIRMED)
            else:
                symbols.append(noisy_cell(offer, total, sample.n, noise(offer.number)))
        return symbols

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        if offer.prior is None or offer.claim is None or offer.guess is None:
            raise TypeError("the offer of a check has a claim, a guess and a prior")
        if symbol == CONFIRMED:
            low, high = offer.claim
            interval = Interval(max(0.0, low), min(1.0, high))
            charge = confirmed_log_charge(offer.prior)
            return Release(offer.number, "confirmed", offer.guess, interval, charge)
        release = DiscreteUniform(offer.cells, offer.reach).log_charge(offer.radius)
        return open_release(offer, symbol, "surprise", surprise_log_charge(offer.prior, release))

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return Account(
            charged(account.leakage, offers, releases),
            account.checks + len(releases),
            account.surprises + sum(release.status == "surprise" for release in releases),
        )


def _interval(
    terms: Terms, offer: Offer, question: Mean, n: int, total: int, squares: int
) -> Interval:
    """CI(X): true with probability 1 - e^{log_p} for a fixed question, within the radius of q."""
    q, log_p = total / (n * GRID), min(0.0, offer.log_p)
    reach = Interval(q - offer.radius, q + offer.radius)
    if not terms.independent:
        return reach
    if question.row.is_condition:
        return _both(reach, clopper_pearson(n, total // GRID, log_p))
    # The mean of the values themselves is in [below, above]: each end is taken from its own side.
    below, above = max(0.0, q - GRID_ERROR), min(1.0, q + GRID_ERROR)
    chernoff = Interval(kl_interval(n, below, log_p).low, kl_interval(n, above, log_p).high)
    found = _both(reach, chernoff)
    if not _uses_variance(terms, question):
        return found
    variance = (n * squares - total**2) / (n * (n - 1) * GRID**2)
    spread = math.sqrt(variance) + 2 * GRID_ERROR
    log_rest = log_p + math.log(_BERNSTEIN_PART / LEAST_LEVEL)
    radius = empirical_bernstein_radius(n, spread**2, min(0.0, log_rest))
    return _both(found, Interval(below - radius, above + radius))


def _uses_variance(terms: Terms, question: Mean) -> bool:
    """Whether the empirical Bernstein interval takes part of the level."""
    return terms.independent and terms.rows > 1 and not question.row.is_condition


def _both(first: Interval, second: Interval) -> Interval:
    return Interval(max(first.low, second.low), min(first.high, second.high))


def _implies(inside: Interval, claim: tuple[float, float] | None) -> bool:
    """Whether the claim contains the interval; the ends of the range bind nothing."""
    if claim is None:
        return False
    low, high = claim
    return (low <= 0.0 or inside.low >= low) and (high >= 1.0 or inside.high <= high)
