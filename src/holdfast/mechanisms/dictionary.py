"""Late dictionaries (Theorem O'): the account of search spaces and of the last look at everything.

What was declared when one is opened fixes the level of all its answers, for ever; nothing that is
asked later changes it. It takes a part of what is left of the failure probability, and its answers
are charged to whatever comes later and is no part of it, as described ones are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from holdfast.errors import BudgetExhausted
from holdfast.mechanisms.terms import Account, Terms
from holdfast.statistics.bind import Question
from holdfast.statistics.bits import Bits, Prior
from holdfast.statistics.entry import Bound, Part
from holdfast.statistics.registry import parts_of
from holdfast.theory.leakage.claim_levels import log_left
from holdfast.theory.length.levels import (
    declared_millibits,
    late_log_level,
    late_log_share,
    log_kept,
    undeclared_millibits,
)

__all__ = ["LatePrior", "Stake", "after_opening", "stake_in"]


class Stake(NamedTuple):
    """Stake of a dictionary: ln of its failure probability, and what had leaked."""

    log_beta: float
    nats: float

    @property
    def log_level(self) -> float:
        """ln of the probability with which anything in it may fail, for a history that is fixed."""
        return late_log_level(self.log_beta, 0, self.nats)


def stake_in(terms: Terms, account: Account, share: float) -> Stake:
    """Stake out of what is left of the ledger's failure probability; refused if nothing is."""
    if terms.log_beta == -math.inf:
        raise BudgetExhausted(
            "described_share is 1, so that nothing of the failure probability is for anything "
            "else; open a ledger with a smaller described_share. Nothing was spent."
        )
    remaining = log_left(terms.log_beta, account.leakage.log_beta_spent)
    if remaining == -math.inf:
        raise BudgetExhausted(
            f"requested {share:g} of what is left of the failure probability "
            f"{math.exp(terms.log_beta):.4g}; remaining 0 after {account.asked:,} questions. Use "
            "fresh rows in a new ledger. Nothing was spent."
        )
    return Stake(late_log_share(remaining, share), account.nats)


def after_opening(account: Account, stake: Stake, share: float) -> Account:
    """The account after a dictionary is opened: later shares keep what it leaves of them.

    One that takes everything closes the ledger; nothing has a share after it.
    """
    log_remaining = log_kept(account.log_kept, share) if share < 1.0 else account.log_kept
    return replace(account, leakage=account.leakage.take(stake.log_beta), log_kept=log_remaining)


@dataclass(frozen=True, slots=True)
class LatePrior:
    """Lengths in a dictionary with so many members: of what is declared of one, and other texts.

    `own` is the prior of texts over the columns that were there, and the member's.
    """

    own: Prior
    size: int
    declared: frozenset[Part]

    def read(self, question: Question) -> Bound:
        return self.own.read(question)

    def of(self, question: Bound) -> Bits:
        return Bits.priced(parts_of(question), self.millibits)

    def plans(self, part: Part) -> bool:
        return self.own.plans(part)

    def millibits(self, part: Part) -> int:
        if part in self.declared:
            return declared_millibits(self.size, len(self.declared))
        return undeclared_millibits(self.size, len(self.declared)) + self.own.millibits(part)
