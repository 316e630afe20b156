"""The account: what the transcript says has been spent. A fold, never a counter of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from holdfast import require
from holdfast.theory.concentration import Concentration
from holdfast.theory.guess_and_check import kt_surprise_prior
from holdfast.theory.leakage import LeakageAccount, fixed_share, open_ended_share

__all__ = ["Account", "Terms"]


@dataclass(frozen=True, slots=True)
class Terms:
    """What was declared when the ledger was opened; it never changes."""

    rows: int
    tolerance: float
    confidence_level: float
    questions: int | None
    concentration: Concentration
    independent: bool

    def __post_init__(self) -> None:
        require.positive_integer("rows", self.rows)
        require.between("tolerance", self.tolerance, 0.0, 0.5, open_low=True, open_high=True)
        require.probability("confidence_level", self.confidence_level)
        if self.questions is not None:
            require.positive_integer("questions", self.questions)

    def log_share(self, number: int) -> float:
        """ln beta_j of question `number`: an equal part, or a falling one when open-ended."""
        log_beta = math.log1p(-self.confidence_level)
        if self.questions is None:
            return open_ended_share(log_beta, number)
        return fixed_share(log_beta, self.questions)


@dataclass(frozen=True, slots=True)
class Account:
    """Questions asked, nats leaked, checks made and surprises met so far."""

    leakage: LeakageAccount = field(default_factory=LeakageAccount)
    checks: int = 0
    surprises: int = 0

    @property
    def asked(self) -> int:
        return self.leakage.asked

    @property
    def nats(self) -> float:
        return self.leakage.nats

    @property
    def surprise_prior(self) -> float:
        """The public prior of the next surprise."""
        return kt_surprise_prior(self.checks, self.surprises)
