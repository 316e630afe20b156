"""The account: what the transcript says has been spent. A fold, never a counter of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from holdfast.errors import BudgetExhausted, Retired
from holdfast.theory.leakage.nats import LeakageAccount

__all__ = ["Account", "Closed"]


class Closed(NamedTuple):
    """When asks and checks were ended for good, and why.

    Once `retired`, described questions are ended, too; the `successor` is to be asked instead.
    """

    at: str
    why: str
    retired: bool = False
    successor: str | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """Questions asked, nats leaked, described answers, claims made and how they came out so far.

    `claims` counts every look at one, `checks` those that were decided, with their `surprises`, and
    `gates` likewise with those `shown`.

    Once it is `closed`, nothing but described questions is answered. `log_kept` is ln of the part
    of their shares that questions still have after dictionaries that were opened late.

    `memory` is what mechanisms remember beside that, each under its own name: folded from offers
    and releases in `advance`, never written to. Its values are plain, as JSON has them, so that an
    account can be written down and read again.
    """

    leakage: LeakageAccount = field(default_factory=LeakageAccount)
    checks: int = 0
    surprises: int = 0
    memory: Mapping[str, Any] = field(default_factory=dict)
    described: int = 0
    claims: int = 0
    gates: int = 0
    shown: int = 0
    closed: Closed | None = None
    log_kept: float = 0.0

    def require_in_use(self) -> None:
        """Refuse everything, once the ledger is retired."""
        if self.closed is not None and self.closed.retired:
            successor = self.closed.successor
            instead = "fresh rows in a new ledger" if successor is None else repr(successor)
            raise Retired(
                f"the ledger was retired at {self.closed.at}: {self.closed.why}. Repeating an "
                f"earlier question is free; ask new ones of {instead}."
            )

    def require_open(self) -> None:
        """Refuse what is not described, once something else of the rows was shown."""
        if self.closed is not None:
            raise BudgetExhausted(
                f"the ledger was closed for asks and checks at {self.closed.at}, when "
                f"{self.closed.why}. Ask a described question: text over the table's own columns, "
                "without a tolerance."
            )

    def remembering(self, name: str, value: Any) -> Account:
        """The account with one mechanism's memory replaced."""
        return replace(self, memory={**self.memory, name: value})

    def to_dict(self) -> dict[str, Any]:
        spent = self.leakage.log_beta_spent
        return {
            "asked": self.leakage.asked,
            "nats": self.leakage.nats,
            "log_beta_spent": None if spent == -math.inf else spent,
            "described": self.described,
            "checks": self.checks,
            "surprises": self.surprises,
            "claims": self.claims,
            "gates": self.gates,
            "shown": self.shown,
            "memory": dict(self.memory),
            "closed": None if self.closed is None else list(self.closed),
            "log_kept": self.log_kept,
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Account:
        spent = body["log_beta_spent"]
        leakage = LeakageAccount(body["asked"], body["nats"], -math.inf if spent is None else spent)
        closed = None if body["closed"] is None else Closed(*body["closed"])
        names = ("checks", "surprises", "described", "claims", "gates", "shown", "log_kept")
        plain = {name: body[name] for name in names}
        return cls(leakage, memory=dict(body["memory"]), closed=closed, **plain)

    @property
    def asked(self) -> int:
        """Questions that took a share of the ledger's failure probability, or had none to take."""
        return self.leakage.asked

    @property
    def looks(self) -> int:
        """Everything that was looked at: asks, described questions and claims."""
        return self.asked + self.described + self.claims

    @property
    def nats(self) -> float:
        return self.leakage.nats
