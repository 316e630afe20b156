"""Gates that say how strongly something is shown: by grades of an adjusted p. Theorem S.

A grade is a failure probability, at most the ledger's, at which the claim would have been shown,
too. With *shown* the least of three is told: a finer symbol, which is charged by its own weight.
What is said is the largest so far, *p-star*: a claim may rest on those before it. Where something
was claimed without a grade, that is the ledger's own failure probability.

With a forecast the weight that the grades share is the mixture's (Theorem F), which learns from
*shown* alone, never from a grade.

What is remembered, by this mechanism's name: how many claims were shown with a grade, and the
largest grade of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.claims import GATES, Claims, showings
from holdfast.mechanisms.forecast_gates import FORECAST_GATES
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account, Terms
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.claim_levels import (
    GRADE_SHARES,
    GRADES,
    grade_log_charge,
    grade_log_levels,
    running_adjusted_p,
)
from holdfast.theory.leakage.nats import confirmed_log_charge


@dataclass(frozen=True, slots=True)
class GradedGates(Claims):
    """Gates, one at a time, each told with its grade if it is shown."""

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        (wish, *others) = wishes
        if others:
            raise InvalidArgument(
                f"{len(wishes)} gates with grades come together; give one gate, or leave out "
                "grades=."
            )
        if wish.forecast is None:
            (by_base,) = Claims.offer(self, terms, account, wishes)
        else:
            (by_base,) = FORECAST_GATES.offer(terms, account, wishes)
        weight, extra = _weight(by_base), by_base.extra or {}
        betas = [terms.log_beta + math.log(grade) for grade in GRADES]
        levels = grade_log_levels(
            betas, account.leakage.log_beta_spent, GRADE_SHARES, weight, account.nats
        )
        occurring = [place for place, level in enumerate(levels) if level > -math.inf]
        grades = {
            # Where a grade is spent already, it does not occur.
            "log_levels": [level if level > -math.inf else None for level in levels],
            "adjusted": [_failure_of(terms, grade) for grade in GRADES],
            "before": self._before(terms, account),
            "described": _described(terms, account),
        }
        dearest = max(grade_log_charge(weight, GRADE_SHARES[place]) for place in occurring)
        return [
            replace(
                by_base,
                worst_charge=max(dearest, confirmed_log_charge(weight)),
                extra={**extra, "grades": grades},
            )
        ]

    def _before(self, terms: Terms, account: Account) -> float:
        """The largest adjusted p of the claims told so far; 0 if there are none."""
        memory = account.memory.get(self.name, {"shown": 0, "adjusted": 0.0})
        # Of all looks at claims those told nothing that were not shown, or not confirmed.
        confirmed = account.claims - account.gates - account.surprises + account.shown
        ungraded = _failure_of(terms, 1.0) if confirmed > memory["shown"] else 0.0
        return max(ungraded, float(memory["adjusted"]))

    def respond(
        self,
        terms: Terms,
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        (offer,) = offers
        extra, claim = offer.extra or {}, offer.claim
        if claim is None:
            raise TypeError(f"the offer of question {offer.number} claims nothing")
        (shows,) = showings(terms, questions, [extra["alike"]], sample, noise)
        symbol: Symbol = self.silent
        # From the weakest on: a grade counts if all weaker ones do, whatever the test.
        for place, level in reversed(list(enumerate(extra["grades"]["log_levels"]))):
            if level is None or not shows(claim, level, extra["moment"]):
                break
            symbol = place
        return [symbol]

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return [self._graded(*pair) for pair in zip(offers, symbols, strict=True)]

    def _graded(self, offer: Offer, symbol: Symbol) -> Release:
        weight, grades = _weight(offer), (offer.extra or {})["grades"]
        if symbol == self.silent:
            charge = confirmed_log_charge(weight)
            return Release(offer.number, self.silent, None, Interval(0.0, 1.0), charge)
        levels = grades["log_levels"]
        if not isinstance(symbol, int) or not 0 <= symbol < len(levels) or levels[symbol] is None:
            raise ValueError(f"the symbol of a claim with grades is {symbol!r}")
        low, high = offer.claim or (0.0, 1.0)
        interval = Interval(max(0.0, low), min(1.0, high))
        guess = low if offer.guess is None else offer.guess
        own = (grades["before"], grades["adjusted"][symbol])
        return Release(
            offer.number,
            self.shown,
            min(interval.high, max(interval.low, guess)),
            interval,
            grade_log_charge(weight, GRADE_SHARES[symbol]),
            adjusted=running_adjusted_p(own, grades["described"])[-1],
        )

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        if any("forecast" in (offer.extra or {}) for offer in offers):
            later = FORECAST_GATES.advance(account, offers, releases)
        else:
            later = Claims.advance(self, account, offers, releases)
        for offer, release in zip(offers, releases, strict=True):
            if release.adjusted is None:
                continue
            memory = later.memory.get(self.name, {"shown": 0, "adjusted": 0.0})
            grades = (offer.extra or {})["grades"]
            largest = (
                round_up(release.adjusted - grades["described"])
                if grades["described"]
                else release.adjusted
            )
            memory = {"shown": memory["shown"] + 1, "adjusted": largest}
            later = later.remembering(self.name, memory)
        return later


def _failure_of(terms: Terms, grade: float) -> float:
    """The failure probability that a grade is; what was looked up at opening is a part of it."""
    return round_up(grade * math.exp(terms.log_beta - terms.pots.log_weight), 4)


def _described(terms: Terms, account: Account) -> float:
    """The failure probability of described answers, once there is one.

    Scores of a search are answered as these are, and have a share of the ledger's own part.
    """
    if not (account.described and terms.describes):
        return 0.0
    return round_up(math.exp(terms.log_beta_described), 4)


def _weight(offer: Offer) -> float:
    if offer.prior is None:
        raise TypeError(f"the offer of claim {offer.number} has no weight")
    return offer.prior


_GATES = {each.name: getattr(GATES, each.name) for each in fields(Claims)}
GRADED_GATES = GradedGates(**{**_GATES, "name": "graded gate/1"})
