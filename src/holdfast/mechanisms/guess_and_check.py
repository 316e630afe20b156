"""`check`: is it about 0.24? Almost free when confirmed; a surprise is answered as an ask.

The claim is a public interval J. Inside the door an interval CI(X), valid for a fixed question at
the offer's level and contained in [q - alpha, q + alpha], is compared with J: contained means
*confirmed*. Only that symbol, or the cell of an ordinary release, leaves. On independent rows that
are alike CI(X) is exact (Clopper-Pearson) for 0/1 questions, and KL intersected with empirical
Bernstein for others; with a design it is KL, which needs no likeness; otherwise it is q -+ alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.laws.uniform import UNIFORM
from holdfast.mechanisms.leakage import asks_left, charged, noisy_cell, plain_offer
from holdfast.mechanisms.mechanism import CONFIRMED, Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.release import released
from holdfast.mechanisms.room import declared_left, log_share_of, require_room
from holdfast.mechanisms.terms import Terms
from holdfast.question.row import GRID, GRID_ERROR, RowValue
from holdfast.statistics.statistic import Measured, Statistic, measure
from holdfast.theory.base.intervals import (
    Interval,
    clopper_pearson,
    empirical_bernstein_radius,
    kl_interval,
)
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.checks import CHECK_LEVEL
from holdfast.theory.leakage.nats import ask_log_cost, confirmed_log_charge, surprise_log_charge
from holdfast.theory.leakage.release import discrete_uniform_overhead

__all__ = ["GuessAndCheck", "sample_interval"]

# Parts of a question's level (rule R1: their events together, contained in the radius that is
# charged). The empirical Bernstein interval has one of its own. At the same level KL lies inside
# Hoeffding's radius and Clopper-Pearson inside `BinomialMean`'s, so they share the radius's part;
# inside the smaller radius of a known variance they do not, and have half of what is left.
_BERNSTEIN_PART = 1 - CHECK_LEVEL
_MOST_SURPRISES = 10_000


@dataclass(frozen=True, slots=True)
class GuessAndCheck:
    """Checks of claims; the public prior of a surprise is the terms'."""

    @property
    def name(self) -> str:
        return "guess and check/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        prior = terms.surprise_prior(account.checks, account.surprises, len(wishes))
        confirmed = confirmed_log_charge(prior)
        offers = []
        for position, wish in enumerate(wishes, start=1):
            _require_claim(wish)
            part = CHECK_LEVEL if _uses_bernstein(terms, wish.question.row) else 1.0
            plain = plain_offer(terms, account, wish, position, UNIFORM, part, part / 2)
            worst = max(confirmed, surprise_log_charge(prior, plain.worst_charge))
            offers.append(replace(plain, prior=prior, worst_charge=worst))
        return offers

    def respond(
        self,
        terms: Terms,
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        found = measure(sample, questions, squares=terms.independent)
        symbols: list[Symbol] = []
        for offer, question, measured in zip(offers, questions, found, strict=True):
            if _implies(sample_interval(terms, offer, question, measured), offer.claim):
                symbols.append(CONFIRMED)
            else:
                symbols.append(noisy_cell(UNIFORM, offer, measured, noise(offer.number)))
        return symbols

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        if offer.prior is None or offer.claim is None or offer.guess is None:
            raise TypeError("the offer of a check has a claim, a guess and a prior")
        if symbol == CONFIRMED:
            low, high = offer.claim
            interval = Interval(max(0.0, low), min(1.0, high))
            value = min(interval.high, max(interval.low, offer.guess))
            charge = confirmed_log_charge(offer.prior)
            return Release(offer.number, "confirmed", value, interval, charge)
        _, radius = offer.statement
        charge = surprise_log_charge(offer.prior, UNIFORM.log_charge(radius, offer.own_grid))
        return released(offer, symbol, "surprise", charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return replace(
            charged(account, offers, [release.charge for release in releases]),
            checks=account.checks + len(releases),
            surprises=account.surprises + sum(release.status == "surprise" for release in releases),
        )

    def questions_left(self, terms: Terms, account: Account) -> int:
        return asks_left(terms, account)

    def surprises_left(self, terms: Terms, account: Account, most: float = math.inf) -> int:
        """How many guesses in a row may be refuted, at the declared tolerance, for `most` nats."""
        nats, count = account.nats, 0
        log_level = math.log(CHECK_LEVEL) if terms.independent else 0.0
        while count < min(declared_left(terms, account), _MOST_SURPRISES):
            log_p = log_share_of(terms, account, count + 1) + log_level - nats
            radius = round_up(terms.concentration.radius(min(0.0, log_p)) + GRID_ERROR)
            if radius >= terms.half_width:
                break
            prior = terms.surprise_prior(account.checks + count, account.surprises + count)
            release = ask_log_cost(radius, terms.half_width) + discrete_uniform_overhead()
            charge = surprise_log_charge(prior, release)
            if nats - account.nats + max(charge, confirmed_log_charge(prior)) > most:
                break
            nats += charge
            count += 1
        return count


def _require_claim(wish: Wish) -> None:
    if wish.claim is None or max(0.0, wish.claim[0]) > min(1.0, wish.claim[1]):
        raise InvalidArgument(
            f"the claim is {wish.claim}, which is no interval of the range from 0 to 1; claim one."
        )


def sample_interval(
    terms: Terms, offer: Offer, question: Statistic, measured: Measured
) -> Interval:
    """CI(X): true with probability 1 - e^{log_p} for a fixed question, within the radius of q."""
    log_p, radius = offer.statement
    q, n, log_p = measured.value, measured.count, min(0.0, log_p)
    reach = Interval(q - radius, q + radius)
    row = question.row
    if row is None or not terms.independent:
        return reach
    if row.is_condition and terms.alike:
        return _both(reach, clopper_pearson(n, measured.numerator // GRID, log_p))
    # The mean of the values themselves is in [below, above]: each end is taken from its own side.
    error = 0.0 if row.is_condition else GRID_ERROR
    below, above = max(0.0, q - error), min(1.0, q + error)
    chernoff = Interval(kl_interval(n, below, log_p).low, kl_interval(n, above, log_p).high)
    found = _both(reach, chernoff)
    if not _uses_bernstein(terms, row):
        return found
    variance = (n * measured.squares - measured.numerator**2) / (n * (n - 1) * GRID**2)
    spread = math.sqrt(variance) + 2 * GRID_ERROR
    log_rest = log_p + math.log(_BERNSTEIN_PART / CHECK_LEVEL)
    bernstein = empirical_bernstein_radius(n, spread**2, min(0.0, log_rest))
    return _both(found, Interval(below - bernstein, above + bernstein))


def _uses_bernstein(terms: Terms, row: RowValue | None) -> bool:
    """Whether the empirical Bernstein interval, for rows that are alike, takes its part."""
    if row is None or row.is_condition:
        return False
    return terms.alike and terms.rows > 1


def _both(first: Interval, second: Interval) -> Interval:
    return Interval(max(first.low, second.low), min(first.high, second.high))


def _implies(inside: Interval, claim: tuple[float, float] | None) -> bool:
    """Whether the claim contains the interval; the ends of the range bind nothing."""
    if claim is None:
        return False
    low, high = claim
    return (low <= 0.0 or inside.low >= low) and (high >= 1.0 or inside.high <= high)
