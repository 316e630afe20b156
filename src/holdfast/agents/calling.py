"""The seam: who calls, and what may be asked. A service and a process of one's own differ here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.holdout.answer import Answer
from holdfast.holdout.budget import Budget
from holdfast.holdout.groups import Distribution, Groups
from holdfast.holdout.price import Cost
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.entries import Opening
from holdfast.ledger.view import LedgerView
from holdfast.question.columns import Schema

__all__ = ["Agent", "Answers", "Askable", "Callers"]

Answers = Answer | Groups | Distribution


class Askable(Protocol):
    """What tools use of a holdout: a `Holdout`, or what a service puts before one."""

    @property
    def name(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def opening(self) -> Opening: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def columns(self) -> Sequence[AttachedColumn]: ...
    @property
    def budget(self) -> Budget: ...
    @property
    def ledger(self) -> LedgerView: ...
    @property
    def cost(self) -> Callable[..., Cost]: ...
    @property
    def ask(self) -> Callable[..., Answers]: ...
    @property
    def check(self) -> Callable[..., Answers]: ...
    @property
    def gate(self) -> Callable[..., Answers]: ...


@dataclass(frozen=True, slots=True)
class Agent:
    """Who calls a tool: the holdout that may be asked, and the name that its ledger writes down."""

    holdout: Askable
    by: str | None = None


# Called for every request, with the HTTP request (Starlette's), or None where there is none. It may
# refuse with an error of `holdfast.errors`, and the agent is told as it is told of any other.
Callers = Callable[[Any], Agent]
