"""Prices of calls, and shares of what all tokens take from.

What all share is how many questions a ledger can still answer without a description, at its
declared half-width: the pool. Every answer takes nats of it, every look without a description a
number of those that were declared, and each row of a table is an answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.errors import Refused, Shortfall
from holdfast.holdout.answer import Answer
from holdfast.holdout.budget import Budget
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.price import Cost
from holdfast.mechanisms.terms import Account
from holdfast.service.data_set import Asking, Reply
from holdfast.service.tokens import FREE, Price
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.nats import LeakageAccount
from holdfast.wording import plural

# Claims that were decided took no look of those that were declared.
_DECIDED = ("confirmed", "not confirmed", "shown", "not shown")


class CostNotAccepted(Refused):
    """A call takes more than one question of what all share, and nobody has accepted that."""

    @property
    def questions(self) -> int:
        """How many it takes at most."""
        return 0 if self.shortfall is None else int(self.shortfall.requested)


@dataclass(frozen=True, slots=True)
class Pool:
    """What a ledger can answer in all, as it was declared, and the `share` that somebody holds."""

    budget: Budget
    share: float

    @property
    def most_questions(self) -> int:
        """How many questions the share is, rounded down."""
        return int(self.share * self.questions)

    def covers(self, price: Price) -> bool:
        """Whether somebody who paid such a price took no more than the share."""
        return self.share >= 1.0 or self.questions_taken(price) <= self.most_questions

    @property
    def questions(self) -> int:
        """How many questions there were at the beginning."""
        return self._left(FREE)

    def questions_taken(self, price: Price) -> int:
        """How many of them somebody took who paid such a price, had nobody else asked anything.

        Nats are worth most where none were spent, so among others it was never more.
        """
        return self.questions - self._left(price)

    def _left(self, price: Price) -> int:
        if not math.isfinite(price.nats):
            return 0
        account = Account(leakage=LeakageAccount(price.looks, price.nats))
        return self.budget.on(account).questions_left


def price_of(askings: Sequence[Asking], holdout: Holdout) -> Price:
    """The worst price of calls that are made together, as the ledger is now."""
    prices = [_price(asking, asking.cost_of(holdout)) for asking in askings]
    questions, looks = sum(each.questions for each in prices), sum(each.looks for each in prices)
    return Price(questions, _sum_up(each.nats for each in prices), looks)


def _sum_up(nats: Iterable[float]) -> float:
    """A sum, rounded up; nothing is added exactly."""
    total = 0.0
    for each in nats:
        total = round_up(total + each) if each > 0.0 else total
    return total


def _price(asking: Asking, cost: Cost) -> Price:
    """A table counts by its rows; without a description, by what it takes of the pool, too."""
    if cost.repeated:
        return FREE
    looks = cost.questions if cost.bits is None else 0
    if asking.claim and not asking.is_table:
        return Price(1, cost.most, looks)
    pooled = cost.left - cost.left_after[1] if cost.bits is None else 0
    return Price(max(cost.questions, pooled), cost.most, looks)


def require_accepted(price: Price, expected: int, accept_cost: int | None) -> None:
    """Refuse what takes more than is expected of such a call, unless its price was accepted."""
    accepted = max(expected, accept_cost or 0)
    if price.questions > accepted:
        raise CostNotAccepted(
            f"the call takes up to {plural(price.questions, 'question')} ({_nats(price)}) of what "
            f"all share, and {accepted:,} {'is' if accepted == 1 else 'are'} accepted. Send it "
            f"again with accept_cost={price.questions} to accept that price, or ask for less.",
            Shortfall("questions", price.questions, accepted),
        )


def _nats(price: Price) -> str:
    return f"{price.nats:.4g} nats" if math.isfinite(price.nats) else "all nats that are left"


def settled_price(reply: Reply | list[Answer], key: str | None, reserved: Price) -> Price:
    """What a call took, of what was reserved for it; nothing, if nothing was answered anew.

    A call that died after it was reserved was finished by somebody else: whoever sends it again is
    told a stored answer, which is the call's own.
    """
    answers = _answers_of(reply)
    new = [each for each in answers if not each.repeated or _is_own(each, key)]
    if not new:
        return FREE
    nats = _sum_up(each.recorded.charge for each in new)
    plain = [each for each in new if each.bits is None and each.recorded.status not in _DECIDED]
    # The coordinates of a vector are one question, where the ledger counts them so.
    vectors = [each.recorded.request.vector for each in new]
    own = len({whole for whole in vectors if whole is not None}) + vectors.count(None)
    questions = max(own, reserved.questions) if plain else len(new)
    return Price(questions, nats, reserved.looks if plain else 0)


def _is_own(answer: Answer, key: str | None) -> bool:
    return key is not None and answer.recorded.request.key == key


def _answers_of(reply: Reply | list[Answer]) -> list[Answer]:
    if isinstance(reply, Answer):
        return [reply]
    return reply if isinstance(reply, list) else [answer for _, answer in reply]
