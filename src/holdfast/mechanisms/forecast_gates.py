"""Gates that come with a forecast: development rows, or a stated number. Theorem F.

A gate expects not to be shown; a forecast says how likely this one is. Beside the forecasters'
weights the last development result of each question is remembered, tried or not.

**Gates that were not tried**, since their forecast was too low, are public, free, and no symbol.
`untried/1` lists one. Nothing was asked and nothing is charged. Its development result counts for
the forecasts that follow: they judge how many candidates gain by all that were run, not only by
those that were tried. No promise rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any

from holdfast.mechanisms.claims import GATES, Claims, by_sign_test
from holdfast.mechanisms.forecast_claims import ForecastClaims
from holdfast.mechanisms.mechanism import ForecastGrounds, Wish
from holdfast.mechanisms.terms import Account, Terms
from holdfast.theory.leakage.forecasts import (
    GATE_PRIOR,
    STATED_GATE_PRIOR,
    DevPosterior,
    DevResult,
    Forecasters,
    Mixture,
    gate_forecasters,
)


@dataclass(frozen=True, slots=True)
class ForecastGates(ForecastClaims):
    """Gates, one at a time, each with a forecast."""

    def _forecasters(
        self, terms: Terms, account: Account, wish: Wish, grounds: ForecastGrounds, base: float
    ) -> Forecasters:
        alike = wish.of_alike_rows(terms)
        return gate_forecasters(
            base,
            wish.question.rows(terms.rows),
            self._posterior(account, wish.question.text, grounds.dev),
            grounds.dev,
            candidates=terms.candidates,
            stated=grounds.stated,
            states=True,
            by_bets=not by_sign_test(wish.question, wish.claim, alike=alike),
        )

    def _posterior(self, account: Account, question: str, result: DevResult | None) -> DevPosterior:
        """What all development results so far say, with this one as its question's last."""
        results = {name: DevResult(*counts) for name, counts in self._results(account).items()}
        if result is not None:
            results[_digest(question)] = result
        # In one order, whether they were folded here or come from a checkpoint.
        return DevPosterior.of([results[name] for name in sorted(results)])

    def result_of(self, account: Account, question: str) -> DevResult | None:
        """The development result that a question has."""
        counts = self._results(account).get(_digest(question))
        return None if counts is None else DevResult(*counts)

    def _results(self, account: Account) -> Mapping[str, Sequence[int]]:
        results: Mapping[str, Sequence[int]] = account.memory.get(self.name, {}).get("dev", {})
        return results

    def after_untried(self, account: Account, question: str, dev: DevResult) -> Account:
        """The account with the development result of a candidate that was not tried."""
        memory = self._memory(account, question, ForecastGrounds(dev), self.mixture(account))
        return account.remembering(self.name, memory)

    def _memory(
        self, account: Account, question: str, grounds: ForecastGrounds, mixture: Mixture
    ) -> dict[str, Any]:
        results, dev = dict(self._results(account)), grounds.dev
        if dev is not None:
            results[_digest(question)] = [dev.better, dev.worse, dev.rows]
        return {"log_weights": list(mixture.log_weights), "dev": results}


def _digest(question: str) -> str:
    """Name of a question in what is remembered: short, for it is kept of every one."""
    return sha256(question.encode()).hexdigest()[:16]


_GATES: Mapping[str, Any] = {each.name: getattr(GATES, each.name) for each in fields(Claims)}
FORECAST_GATES = ForecastGates(
    **{**_GATES, "name": "forecast gate/1"},
    with_stated=STATED_GATE_PRIOR,
    without_stated=GATE_PRIOR,
)


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
