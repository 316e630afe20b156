"""The account: what the transcript says has been spent. A fold, never a counter of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast import require
from holdfast.data.sampling import Independent, Sampling
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.leakage.checks import declared_surprise_prior, surprise_prior
from holdfast.theory.leakage.nats import LeakageAccount, fixed_share, open_ended_share

__all__ = ["Account", "Terms"]


@dataclass(frozen=True, slots=True)
class Terms:
    """What was declared when the ledger was opened; it never changes.

    `surprises` is how many of the `questions` may be refuted guesses: it sets their prior, and no
    promise rests on it. With a `design` (public columns) rows are still independent, but no longer
    alike. `declared` is what was declared for the mechanism and its promise rests on, in words.
    """

    rows: int
    tolerance: float
    confidence_level: float
    questions: int | None
    sampling: Sampling
    design: bool = False
    declared: str | None = None
    surprises: int | None = None

    def __post_init__(self) -> None:
        require.positive_integer("rows", self.rows)
        # Half of the range is the half-width of an answer that promises nothing.
        require.between("tolerance", self.tolerance, 0.0, 0.5, open_low=True)
        require.probability("confidence_level", self.confidence_level)
        if self.questions is not None:
            require.positive_integer("questions", self.questions)
        require.surprises(self.surprises, self.questions)

    @property
    def concentration(self) -> Concentration:
        """Of a mean of all rows."""
        return self.sampling.profile(self.rows)

    @property
    def assumption(self) -> str:
        """What every promise rests on, in words."""
        parts = [str(self.sampling)]
        if self.design:
            parts.append("given the design columns as they are in these rows")
        if self.declared is not None:
            parts.append(self.declared)
        return ", ".join(parts)

    @property
    def promises(self) -> bool:
        """Whether any interval is promised: one that is all of the range says nothing."""
        return self.tolerance < 0.5

    @property
    def independent(self) -> bool:
        return isinstance(self.sampling, Independent)

    @property
    def log_beta(self) -> float:
        """ln of the failure probability of all intervals together."""
        return math.log1p(-self.confidence_level)

    def log_share(self, number: int) -> float:
        """ln beta_j of question `number`: an equal part, or a falling one when open-ended."""
        if self.questions is None:
            return open_ended_share(self.log_beta, number)
        return fixed_share(self.log_beta, self.questions)

    def surprise_prior(self, checks: int, surprises: int, batch: int = 1) -> float:
        """The public prior of a surprise, after so many, for each of a batch of checks."""
        if self.surprises is None or self.questions is None:
            return surprise_prior(checks, surprises, batch)
        return declared_surprise_prior(self.surprises, self.questions)


@dataclass(frozen=True, slots=True)
class Account:
    """Questions asked, nats leaked, checks made and surprises met so far.

    `memory` is what mechanisms remember beside that, each under its own name: folded from offers
    and releases in `advance`, never written to. Its values are plain, as JSON has them, so that an
    account can be written down and read again.
    """

    leakage: LeakageAccount = field(default_factory=LeakageAccount)
    checks: int = 0
    surprises: int = 0
    memory: Mapping[str, Any] = field(default_factory=dict)

    def remembering(self, name: str, value: Any) -> Account:
        """The account with one mechanism's memory replaced."""
        return replace(self, memory={**self.memory, name: value})

    def to_dict(self) -> dict[str, Any]:
        spent = self.leakage.log_beta_spent
        return {
            "asked": self.leakage.asked,
            "nats": self.leakage.nats,
            "log_beta_spent": None if spent == -math.inf else spent,
            "checks": self.checks,
            "surprises": self.surprises,
            "memory": dict(self.memory),
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Account:
        spent = body["log_beta_spent"]
        leakage = LeakageAccount(body["asked"], body["nats"], -math.inf if spent is None else spent)
        return cls(leakage, body["checks"], body["surprises"], dict(body["memory"]))

    @property
    def asked(self) -> int:
        return self.leakage.asked

    @property
    def nats(self) -> float:
        return self.leakage.nats
