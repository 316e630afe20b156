"""Gates that come with a forecast: development rows, or a stated number. Theorem F.

A gate expects not to be shown; a forecast says how likely this one is. The weight of *shown* is the
mixture of the forecasters, the level and both charges follow from it, and the mixture learns from
symbols alone. Everything that the weight is made of stands in the offer before data are touched;
whatever it comes to, Theorem C holds with it. A gate without a forecast is `gate/1`: the mixture
with nobody awake but base, which moves no weight.

What is remembered, by this mechanism's name: the forecasters' weights, and the last development
result of each question, tried or not.

**Gates that were not tried**, since their forecast was too low, are public, free, and no symbol.
`untried/1` lists one. Nothing was asked and nothing is charged. Its development result counts for
the forecasts that follow: they judge how many candidates gain by all that were run, not only by
those that were tried. No promise rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from math import fsum
from operator import mul
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.claims import GATES, Claims, by_sign_test, reach_of_test
from holdfast.mechanisms.mechanism import ForecastGrounds, Offer, Release, Wish
from holdfast.mechanisms.terms import Account, Terms
from holdfast.theory.base.safeside import round_down
from holdfast.theory.leakage.claim_levels import claim_log_level
from holdfast.theory.leakage.forecasts import (
    FORECAST_TOLERANCE,
    GATE_PRIOR,
    STATED_GATE_PRIOR,
    DevPosterior,
    DevResult,
    Forecast,
    Mixture,
    forecast,
    gate_forecasters,
)
from holdfast.theory.leakage.nats import confirmed_log_charge, surprise_log_charge

__all__ = [
    "FORECAST_GATES",
    "UNTRIED",
    "ForecastGates",
    "Untried",
]

_OPENED = Mixture.opened(STATED_GATE_PRIOR)
# How a forecaster that would state a number, and is given none, follows the development rows: so
# that all together have the weights of a ledger to which no number is ever stated.
_FOLLOWED = [
    (alone - beside) / STATED_GATE_PRIOR[1]
    for alone, beside in zip(GATE_PRIOR[1:], STATED_GATE_PRIOR[2:], strict=True)
]


@dataclass(frozen=True, slots=True)
class ForecastGates(Claims):
    """Gates, one at a time, each with a forecast."""

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        grounds = wishes[0].forecast
        if len(wishes) != 1 or grounds is None:
            raise InvalidArgument(
                f"{len(wishes)} gates come together, or one without a forecast; give one gate, "
                "with its development counts or a stated number."
            )
        (wish,) = wishes
        (by_base,) = Claims.offer(self, terms, account, wishes)
        extra = by_base.extra or {}
        remaining, nats = extra["standing"]["log_left"], extra["standing"]["nats"]
        entered = self._entered(terms, account, wish, by_base, round_down(remaining - nats))
        log_p = claim_log_level(remaining, entered.weight, nats)
        return [
            replace(
                by_base,
                worst_charge=max(
                    surprise_log_charge(entered.weight, 0.0), confirmed_log_charge(entered.weight)
                ),
                log_p=log_p,
                radius=reach_of_test(terms, wish, log_p),
                prior=entered.weight,
                extra={**extra, "forecast": grounds.entering(entered).to_dict()},
            )
        ]

    def _entered(
        self, terms: Terms, account: Account, wish: Wish, by_base: Offer, log_left: float
    ) -> Forecast:
        """The forecast of a gate; its weight as a ledger has it, if that is the same but for
        rounding."""
        grounds, base = wish.forecast, by_base.prior
        if grounds is None or base is None:
            raise TypeError("a gate without a forecast has no weight of its own")
        alike = wish.of_alike_rows(terms)
        forecasters = gate_forecasters(
            base,
            wish.question.rows(terms.rows),
            self._posterior(account, by_base.question, grounds.dev),
            grounds.dev,
            candidates=terms.candidates,
            stated=grounds.stated,
            states=True,
            by_bets=not by_sign_test(wish.question, wish.claim, alike=alike),
        )
        computed = forecast(
            self.mixture(account), lambda log_p: _followed(forecasters(log_p)), min(0.0, log_left)
        )
        recorded = computed if grounds.entered is None else grounds.entered
        # Two machines may round the weight to neighbours; their members agree far better.
        if abs(recorded.weight - computed.weight) > FORECAST_TOLERANCE:
            return computed
        return Forecast(recorded.weight, computed.members)

    def _posterior(self, account: Account, question: str, result: DevResult | None) -> DevPosterior:
        """What all development results so far say, with this one as its question's last."""
        results = {name: DevResult(*counts) for name, counts in self._results(account).items()}
        if result is not None:
            results[_digest(question)] = result
        # In one order, whether they were folded here or come from a checkpoint.
        return DevPosterior.of([results[name] for name in sorted(results)])

    def mixture(self, account: Account) -> Mixture:
        """The forecasters' weights after the symbols so far."""
        weights = account.memory.get(self.name, {}).get("log_weights")
        return _OPENED if weights is None else Mixture(tuple(weights))

    def result_of(self, account: Account, question: str) -> DevResult | None:
        """The development result that a question has."""
        counts = self._results(account).get(_digest(question))
        return None if counts is None else DevResult(*counts)

    def _results(self, account: Account) -> Mapping[str, Sequence[int]]:
        results: Mapping[str, Sequence[int]] = account.memory.get(self.name, {}).get("dev", {})
        return results

    def _prior_of(self, offer: Offer, declared: object, made: int, unexpected: int) -> float:  # noqa: ARG002
        if offer.prior is None:
            raise TypeError(f"the offer of claim {offer.number} has no weight")
        return offer.prior

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        later = Claims.advance(self, account, offers, releases)
        for offer, release in zip(offers, releases, strict=True):
            grounds = ForecastGrounds.of_offer(offer)
            if grounds is None or grounds.entered is None:
                raise TypeError(f"the offer of claim {offer.number} has no forecast")
            moved = self.mixture(later).after(
                grounds.entered.members, claimed=release.status == self.shown
            )
            later = self._remembered(later, offer.question, grounds.dev, moved)
        return later

    def after_untried(self, account: Account, question: str, dev: DevResult) -> Account:
        """The account with the development result of a candidate that was not tried."""
        return self._remembered(account, question, dev, self.mixture(account))

    def _remembered(
        self, account: Account, question: str, dev: DevResult | None, mixture: Mixture
    ) -> Account:
        results = dict(self._results(account))
        if dev is not None:
            results[_digest(question)] = [dev.better, dev.worse, dev.rows]
        kept = {"log_weights": list(mixture.log_weights), "dev": results}
        return account.remembering(self.name, kept)


def _digest(question: str) -> str:
    """Name of a question in what is remembered: short, for it is kept of every one."""
    return sha256(question.encode()).hexdigest()[:16]


def _followed(members: Sequence[float | None]) -> Sequence[float | None]:
    """The forecasters' numbers, with one for the stated number that nobody stated."""
    base, stated, *dev = members
    known = [each for each in dev if each is not None]
    if stated is not None or not known:
        return members
    return (base, fsum(map(mul, _FOLLOWED, known)), *dev)


_GATES = {each.name: getattr(GATES, each.name) for each in fields(Claims)}
FORECAST_GATES = ForecastGates(**{**_GATES, "name": "forecast gate/1"})


# Gates that were not tried.


UNTRIED = "untried/1"


@dataclass(frozen=True, slots=True)
class Untried:
    """A gate that was not tried: its question, the development result, and its forecast.

    `forecast` is None where the candidate was stopped on development rows.
    """

    at: str
    question: str
    dev: DevResult | None
    forecast: float | None
    why: str | None = None
    by: str | None = None

    def body(self) -> dict[str, Any]:
        """The entry that lists it."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        dev = self.dev
        counts = None if dev is None else [dev.better, dev.worse, dev.rows]
        return {"kind": UNTRIED, **plain, "dev": counts}

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Untried:
        """What `body` wrote."""
        plain = {name: body[name] for name in cls.__slots__}
        dev = None if body["dev"] is None else DevResult(*body["dev"])
        return cls(**{**plain, "dev": dev})

    def entered(self, account: Account) -> Account:
        """The account with its development result; nothing is charged."""
        if self.dev is None:
            return account
        return FORECAST_GATES.after_untried(account, self.question, self.dev)
