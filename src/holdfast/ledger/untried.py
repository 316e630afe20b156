"""Gates that were not tried: their forecast was too low. Public, free, and no symbol.

`untried/1` lists one. Nothing was asked and nothing is charged. Its development result counts for
the forecasts that follow: they judge how many candidates gain by all that were run, not only by
those that were tried. No promise rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.mechanisms.forecast_gates import FORECAST_GATES
from holdfast.mechanisms.terms import Account
from holdfast.theory.leakage.forecasts import DevResult

__all__ = ["UNTRIED", "Untried"]

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
