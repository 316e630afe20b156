"""Claims that come with a forecast, one at a time. Theorem F.

A forecast says how likely this claim is to be made good. The weight of the symbol that claims is
the mixture of the forecasters, the level and both charges follow from it, and the mixture learns
from symbols alone. Everything that the weight is made of stands in the offer before data are
touched; whatever it comes to, Theorem C holds with it. A claim without a forecast is the mixture
with nobody awake but base, which moves no weight: claims of either kind may come in any order.

What is remembered, by the mechanism's name: the forecasters' weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from operator import mul
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.claims import Claims, reach_of_test
from holdfast.mechanisms.mechanism import ForecastGrounds, Offer, Release, Wish
from holdfast.mechanisms.terms import Account, Terms
from holdfast.theory.base.safeside import round_down
from holdfast.theory.leakage.claim_levels import claim_log_level
from holdfast.theory.leakage.forecasts import (
    FORECAST_TOLERANCE,
    Forecast,
    Forecasters,
    Mixture,
    forecast,
)
from holdfast.theory.leakage.nats import confirmed_log_charge, surprise_log_charge


@dataclass(frozen=True, slots=True)
class ForecastClaims(Claims, ABC):
    """Claims, one at a time, each with a forecast.

    The forecasters' weights on a ledger where numbers are stated: base, the stated number, then
    those by other rows; and what they are where none ever is, without the stated number.
    """

    with_stated: tuple[float, ...]
    without_stated: tuple[float, ...]

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        grounds = wishes[0].forecast
        if len(wishes) != 1 or grounds is None:
            raise InvalidArgument(
                f"{len(wishes)} claims come together, or one without a forecast; give one claim "
                "with its forecast."
            )
        (wish,) = wishes
        (by_base,) = Claims.offer(self, terms, account, wishes)
        extra = by_base.extra or {}
        remaining, nats = extra["standing"]["log_left"], extra["standing"]["nats"]
        entered = self._entered(terms, account, wish, by_base, round_down(remaining - nats))
        prior = self._weight(entered.weight)  # of the symbol that is not expected
        log_p = claim_log_level(remaining, self._weight(prior), nats)
        return [
            replace(
                by_base,
                worst_charge=max(surprise_log_charge(prior, 0.0), confirmed_log_charge(prior)),
                log_p=log_p,
                radius=reach_of_test(terms, wish, log_p),
                prior=prior,
                extra={**extra, "forecast": grounds.entering(entered).to_dict()},
            )
        ]

    def _entered(
        self, terms: Terms, account: Account, wish: Wish, by_base: Offer, log_left: float
    ) -> Forecast:
        """The forecast of a claim; its weight as a ledger has it, if that is the same but for
        rounding."""
        grounds, prior = wish.forecast, by_base.prior
        if grounds is None or prior is None:
            raise TypeError("a claim without a forecast has no weight of its own")
        forecasters = self._forecasters(terms, account, wish, grounds, self._weight(prior))
        computed = forecast(
            self.mixture(account),
            lambda log_p: self._followed(forecasters(log_p)),
            min(0.0, log_left),
        )
        recorded = computed if grounds.entered is None else grounds.entered
        # Two machines may round the weight to neighbours; their members agree far better.
        if abs(recorded.weight - computed.weight) > FORECAST_TOLERANCE:
            return computed
        return Forecast(recorded.weight, computed.members)

    @abstractmethod
    def _forecasters(
        self, terms: Terms, account: Account, wish: Wish, grounds: ForecastGrounds, base: float
    ) -> Forecasters:
        """What base, the stated number and other rows say of a wish."""

    def _followed(self, members: Sequence[float | None]) -> Sequence[float | None]:
        """The forecasters' numbers, with one for the stated number that nobody stated.

        It follows the other rows, so that all together have the weights of a ledger to which no
        number is ever stated.
        """
        base, stated, *others = members
        known = [each for each in others if each is not None]
        if stated is not None or not known:
            return members
        shares = zip(self.without_stated[1:], self.with_stated[2:], strict=True)
        followed = [(alone - beside) / self.with_stated[1] for alone, beside in shares]
        return (base, fsum(map(mul, followed, known)), *others)

    def mixture(self, account: Account) -> Mixture:
        """The forecasters' weights after the symbols so far."""
        weights = account.memory.get(self.name, {}).get("log_weights")
        return Mixture.opened(self.with_stated) if weights is None else Mixture(tuple(weights))

    def most_behind(self, account: Account) -> float:
        """Nats by which forecasts to come may cost more than base alone, on any symbols."""
        return -self.mixture(account).log_share(0)

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
            memory = self._memory(later, offer.question, grounds, moved)
            later = later.remembering(self.name, memory)
        return later

    def _memory(
        self,
        account: Account,  # noqa: ARG002
        question: str,  # noqa: ARG002
        grounds: ForecastGrounds,  # noqa: ARG002
        mixture: Mixture,
    ) -> dict[str, Any]:
        """What is remembered after a claim."""
        return {"log_weights": list(mixture.log_weights)}
