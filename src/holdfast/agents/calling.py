"""The seam: who calls, and what may be asked. A service and a process of one's own differ here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import anyio.to_thread

from holdfast.holdout.holdout import Holdout
from holdfast.service.data_set import Asking, Reply

__all__ = ["Agent", "Askable", "Callers"]

_T = TypeVar("_T")


class Askable(Protocol):
    """What tools ask. Nothing here holds a thread while it waits for another one."""

    async def read(self, use: Callable[[Holdout], _T]) -> _T:
        """What is free to know."""

    async def answer(self, asking: Asking, accept_cost: int | None) -> Reply:
        """The answer to a question; one dearer than `accept_cost` questions is not asked."""


@dataclass(frozen=True, slots=True)
class _Local:
    """A holdout of this process, which is asked in a thread: whoever calls is its owner."""

    holdout: Holdout

    async def read(self, use: Callable[[Holdout], _T]) -> _T:
        return await anyio.to_thread.run_sync(use, self.holdout)

    async def answer(self, asking: Asking, accept_cost: int | None) -> Reply:
        del accept_cost  # nobody else shares what it spends
        return await self.read(asking.put_to)


@dataclass(frozen=True, slots=True)
class Agent:
    """Who calls a tool: the holdout that may be asked, and the name that its ledger writes down."""

    holdout: Holdout | Askable
    asked_by: str | None = None

    @property
    def askable(self) -> Askable:
        """What is asked, whose answers are awaited."""
        return _Local(self.holdout) if isinstance(self.holdout, Holdout) else self.holdout


# Called for every request, with the HTTP request (Starlette's), or None where there is none. It may
# refuse with an error of `holdfast.errors`, and the agent is told as it is told of any other.
Callers = Callable[[Any], Agent]
