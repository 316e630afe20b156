"""Somebody who asks a data set: under their own name and keys, inside the cap of their token."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

from holdfast.boards.standings import Standing
from holdfast.errors import BudgetExhausted, Shortfall
from holdfast.holdout.answer import Answer
from holdfast.holdout.distribution import Distribution
from holdfast.holdout.groups import Groups
from holdfast.holdout.holdout import Holdout
from holdfast.service.pacing import OnTheStep
from holdfast.service.problems import rejection
from holdfast.service.served import FAULTS_OF_CALLS, Asking, Reply, Served
from holdfast.service.service import Service
from holdfast.service.tokens import CountedCall, Token
from holdfast.wording import plural

__all__ = ["Caller"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Caller:
    """A token in force, and the data set that is asked."""

    service: Service
    token: Token
    served: Served

    def own(self, key: str | None) -> str | None:
        """A key is its owner's: nobody is told an answer by the key of another."""
        return None if key is None else f"{self.token.id} {key}"

    async def require_asking(self) -> None:
        """Refuse questions about a leaderboard, which are its own, but for a custodian's."""
        if self.token.role != "custodian" and await self.served.is_board():
            raise rejection(403, "this is a leaderboard, which takes submissions and no questions.")

    async def once(
        self, key: str | None, sent: object, work: Callable[[], Awaitable[dict[str, Any]]]
    ) -> dict[str, Any]:
        """What is told of something that was sent: with a key, what was told before."""
        if key is None:
            return await work()
        tokens, call = self.service.tokens, self._call(sent, self.own(key))
        kept = await run_in_threadpool(tokens.kept, call)
        if kept is None:
            kept = await run_in_threadpool(tokens.keep, call, json.dumps(await work()))
        told: dict[str, Any] = json.loads(kept)
        return told

    async def submit(self, put: Callable[[Holdout], Standing], digest: str) -> Standing:
        """Submit to a leaderboard; the same content counts as one question, however often sent."""

        async def work() -> Standing:
            return await self.served.ask(put)

        async def nothing() -> None:
            return None

        return await self._capped(lambda: CountedCall(digest, digest), 1, work, nothing)

    async def answer(self, asking: Asking) -> Reply:
        """Ask a question, with whatever else waits."""
        await self.require_asking()

        async def work() -> Reply:
            return await self.served.answer(asking)

        async def known() -> Reply | None:
            return await self.served.known(asking.put_to)

        return await self._capped(
            lambda: self._call(asking, asking.key), 1, work, known, asking.key
        )

    async def answers(
        self,
        put: Callable[[Holdout], list[Answer]],
        questions: int,
        key: str | None,
        asked: object,
    ) -> list[Answer]:
        """Ask several questions that were chosen together; `asked` is all that is said of them."""
        await self.require_asking()

        async def work() -> list[Answer]:
            return await self.served.ask(put)

        async def known() -> list[Answer] | None:
            return await self.served.known(put)

        return await self._capped(lambda: self._call(asked, key), questions, work, known, key)

    def _call(self, asked: object, key: str | None) -> CountedCall:
        return CountedCall.of(self.served.name, asked, key)

    async def _capped(
        self,
        counted: Callable[[], CountedCall],
        questions: int,
        work: Callable[[], Awaitable[_T]],
        known: Callable[[], Awaitable[_T | None]],
        key: str | None = None,
    ) -> _T:
        """Do the work if the cap covers it, else only what is known; released on the step."""
        tokens, token = self.service.tokens, self.token
        async with OnTheStep(self.service.settings.release_step):
            if token.questions is None:  # nothing is to be written down
                return await work()
            call = counted()
            charged = await run_in_threadpool(tokens.charge, token, call, questions)
            if charged == "over":
                found = await known()
                if found is None:
                    raise _over_the_cap(token, tokens.spent(token), questions)
                return found
            try:
                found = await work()
            except FAULTS_OF_CALLS:  # after other trouble it may be reserved, and stays counted
                if charged == "now":  # what was counted before may have been answered before
                    await run_in_threadpool(tokens.settle, token, call, 0)
                raise
            await run_in_threadpool(tokens.settle, token, call, _new(found, key))
            return found


def _new(found: object, key: str | None) -> int:
    """How many questions were answered anew; a table of groups is one.

    A call that died after it was reserved was finished by somebody else: whoever sends it again is
    told a stored answer, which is the call's own.
    """
    match found:
        case Answer():
            own = key is not None and found.recorded.request.key == key
            return 0 if found.repeated and not own else 1
        case list():
            return sum(_new(each, key) for each in found)
        case Groups() | Distribution():
            return max((_new(answer, key) for _, answer in found), default=0)
        case _:
            return 1


def _over_the_cap(token: Token, spent: int, questions: int) -> BudgetExhausted:
    left = (token.questions or 0) - spent
    return BudgetExhausted(
        f"requested {plural(questions, 'question')}; remaining {left:,} of the {token.questions:,} "
        f"of this token; missing {questions - left:,}. Repeating an earlier question is free; ask "
        "the custodian for more.",
        Shortfall("questions", questions, left),
    )
