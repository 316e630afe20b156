"""Answers and budgets as they are carried over the wire, so that they are the same on both sides.

Everything here is a function of the public transcript: what was declared, what was spent, and what
was answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from holdfast.holdout.answer import Answer
from holdfast.holdout.budget import Budget
from holdfast.ledger.entries import Recorded, Request
from holdfast.ledger.limits import interval_between, plain_interval
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.catalogue import built, claiming
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.described import recorded_rule, rule_from
from holdfast.mechanisms.terms import Terms
from holdfast.statistics.known import KnownVariance

__all__ = ["Promised", "answer_from", "carried_answer", "carried_recorded", "recorded_from"]

_INTERVALS = ("interval", "range", "revealed")
_PAIRS = ("claim", "rows")


class Promised:
    """What was declared of a ledger: with an account, it is a budget."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.terms = Terms.from_dict(body["terms"])
        self._why = body["mechanism"].get("why")
        self._mechanism = built(body["mechanism"], self.terms)
        self._checker = claiming(body["mechanism"], self.terms, CHECKS)

    def budget(self, account: Mapping[str, Any]) -> Budget:
        """What is left on an account."""
        spent = Account.from_dict(account)
        return Budget(self.terms, spent, self._mechanism, self._checker, self._why)


def carried_recorded(recorded: Recorded) -> dict[str, Any]:
    """A line of the ledger, or a look, as plain values; without the key of its call."""
    plain = {name: getattr(recorded, name) for name in recorded.__slots__}
    return {
        **plain,
        **{name: list(plain_interval(plain[name]).values()) for name in _INTERVALS},
        "request": {**recorded.request.body(), "key": None},
        "variance": None if recorded.variance is None else asdict(recorded.variance),
        "rule": None if recorded.rule is None else recorded_rule(recorded.rule),
    }


def recorded_from(body: Mapping[str, Any]) -> Recorded:
    """The line that was carried."""
    variance, rule = body["variance"], body["rule"]
    pairs = {name: None if body[name] is None else tuple(body[name]) for name in _PAIRS}
    made = {
        **{name: body[name] for name in Recorded.__slots__},
        **{name: interval_between(*body[name]) for name in _INTERVALS},
        **pairs,
        "parts": tuple(body["parts"]),
        "request": Request.read(body["request"]),
        "variance": None if variance is None else KnownVariance(**variance),
        "rule": None if rule is None else rule_from(rule),
    }
    return Recorded(**made)


def carried_answer(answer: Answer) -> dict[str, Any]:
    """What an answer is made of, beside what it says."""
    return {
        "recorded": carried_recorded(answer.recorded),
        "parts": [carried_recorded(part) for part in answer.parts],
        "repeated": answer.repeated,
        "better": answer.better,
        "account": answer.left.account.to_dict(),
    }


def answer_from(body: Mapping[str, Any], promised: Promised) -> Answer:
    """The answer that was carried."""
    return Answer(
        recorded_from(body["recorded"]),
        promised.budget(body["account"]),
        repeated=body["repeated"],
        parts=[recorded_from(part) for part in body["parts"]],
    ).judged(body["better"])
