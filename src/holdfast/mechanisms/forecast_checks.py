"""Checks that come with a forecast: a stated number, or training rows. Theorem F.

A check expects to be confirmed; a forecast says how likely this one is. A guess that was foreseen
to hold costs less than one of which nothing is known, and one that was foreseen to fail costs
little if it fails.

Training rows say by their mean, variance and number, which stand in the offer, how likely a guess
is confirmed. They must be independent of the protected rows (Theorem F): nothing here can tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from holdfast.mechanisms.claims import CHECKS, Claims
from holdfast.mechanisms.forecast_claims import ForecastClaims
from holdfast.mechanisms.mechanism import ForecastGrounds, TrainedMean, Wish
from holdfast.mechanisms.terms import Account, Terms
from holdfast.theory.leakage.forecasts import (
    CHECK_PRIOR,
    STATED_CHECK_PRIOR,
    Forecasters,
    TrainedGuess,
    check_forecasters,
)


@dataclass(frozen=True, slots=True)
class ForecastChecks(ForecastClaims):
    """Checks, one at a time, each with a forecast."""

    def _forecasters(
        self,
        terms: Terms,
        account: Account,  # noqa: ARG002 - what is remembered are the mixture's weights
        wish: Wish,
        grounds: ForecastGrounds,
        base: float,
    ) -> Forecasters:
        n = wish.question.rows(terms.rows)
        trained = _trained(wish, grounds.trained)
        return check_forecasters(base, n, trained, stated=grounds.stated, states=True)


def _trained(wish: Wish, by: TrainedMean | None) -> TrainedGuess | None:
    """The guess of a check and how far it may be off, beside what training rows say."""
    if by is None or wish.claim is None or wish.guess is None:
        return None
    low, high = wish.claim  # an end that binds nothing is none
    reaches = [
        *([wish.guess - low] if low > 0.0 else []),
        *([high - wish.guess] if high < 1.0 else []),
    ]
    return TrainedGuess(wish.guess, min(reaches, default=1.0), by.mean, by.variance, by.rows)


_CHECKS: Mapping[str, Any] = {each.name: getattr(CHECKS, each.name) for each in fields(Claims)}
FORECAST_CHECKS = ForecastChecks(
    **{**_CHECKS, "name": "forecast check/1"},
    with_stated=STATED_CHECK_PRIOR,
    without_stated=CHECK_PRIOR,
)
