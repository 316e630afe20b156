"""Agents at a service: the same tools at /mcp, with its tokens, caps and steps of time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

import anyio.from_thread
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.agents.calling import Agent, Answers
from holdfast.holdout.budget import Budget
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.price import Cost
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.entries import Opening
from holdfast.ledger.view import LedgerView
from holdfast.question.columns import Schema
from holdfast.service.access import Caller, client_of
from holdfast.service.data_set import Service
from holdfast.service.problems import problem_reply, rejection
from holdfast.service.running import worker

__all__ = ["mount_agents", "worker_with_agents"]

_T = TypeVar("_T")
_BEARER = "bearer "


def worker_with_agents() -> FastAPI:
    """The app of one worker, with agents at /mcp."""
    app = worker()
    mount_agents(app, app.state.service)
    return app


def mount_agents(app: FastAPI, service: Service) -> None:
    """Let agents call at /mcp. A token for several data sets says which one: /mcp/?dataset=NAME."""
    agents = _WhenCalled(service)
    app.mount("/mcp", _Admitted(agents, service))
    app.router.lifespan_context = partial(_both, app.router.lifespan_context, agents)


@asynccontextmanager
async def _both(
    outer: Callable[[Any], Any], agents: _WhenCalled, app: FastAPI
) -> AsyncIterator[Any]:
    async with agents.waiting(), outer(app) as state:
        yield state


class _WhenCalled:
    """The agents' app, which is made when somebody first calls.

    Its library takes nearly as long to load as all the rest, and a service should listen soon.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._called = self._ended = asyncio.Event()
        self._made: asyncio.Future[Starlette] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._made is None:
            raise rejection(503, "the service is not up.")
        self._called.set()
        agents = await asyncio.shield(self._made)
        await agents(scope, receive, send)

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """While it can be called."""
        self._called, self._ended = asyncio.Event(), asyncio.Event()
        self._made = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(self._serve(self._made))
        try:
            yield
        finally:
            self._ended.set()
            self._called.set()
            await serving

    async def _serve(self, made: asyncio.Future[Starlette]) -> None:
        """One task, from the first call to the end: what it begins is ended by the same one."""
        await self._called.wait()
        if self._ended.is_set():
            return
        try:
            agents = await run_in_threadpool(self._agents)
        except Exception as error:
            made.set_exception(error)
            return
        async with agents.router.lifespan_context(agents):
            made.set_result(agents)
            await self._ended.wait()

    def _agents(self) -> Starlette:
        from holdfast.agents.server import http_app, server_of

        # Whoever has a token may call from anywhere, so that no name of a host has to be listed.
        largest = self._service.settings.largest_request
        return http_app(server_of(_known_caller), hosts=None, largest_request=largest)


def _known_caller(request: Request) -> Agent:
    """Who was admitted with the request."""
    caller: Agent = request.state.caller
    return caller


@dataclass(frozen=True, slots=True)
class _Admitted:
    """An ASGI app before the agents': nobody gets to it without a token."""

    agents: ASGIApp
    service: Service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            request.state.caller = await run_in_threadpool(self._caller, request)
        except Exception as error:
            await problem_reply(error)(scope, receive, send)
            return
        await self.agents(scope, receive, send)

    def _caller(self, request: Request) -> Agent:
        shown = request.headers.get("authorization", "")
        if not shown.lower().startswith(_BEARER):
            raise rejection(401, "the request has no token.")
        token = self.service.verified(shown[len(_BEARER) :], client_of(request))
        names = self.service.names_for(token)
        name = request.query_params.get("dataset") or (names[0] if len(names) == 1 else None)
        if name is None:
            raise rejection(422, "the token is for several data sets; say which: ?dataset=NAME.")
        asker = Caller(self.service, token, self.service.served(name, token))
        if token.role == "viewer" and anyio.from_thread.run(asker.served.is_board):
            raise rejection(403, "a viewer sees the standings of a leaderboard, and no more.")
        return Agent(_ServedHoldout(asker), token.name)


@dataclass(frozen=True, slots=True)
class _ServedHoldout:
    """A data set of the service, as tools use a holdout, from their threads.

    What is free is read from the ledger; what spends is within the token's cap, and told on a step
    of time.
    """

    asker: Caller

    @property
    def name(self) -> str:
        return self._read(lambda holdout: holdout.name)

    @property
    def rows(self) -> int:
        return self._read(lambda holdout: holdout.rows)

    @property
    def opening(self) -> Opening:
        return self._read(lambda holdout: holdout.opening)

    @property
    def schema(self) -> Schema:
        return self._read(lambda holdout: holdout.schema)

    @property
    def columns(self) -> Sequence[AttachedColumn]:
        return self._read(lambda holdout: holdout.columns)

    @property
    def budget(self) -> Budget:
        return self._read(lambda holdout: holdout.budget)

    @property
    def ledger(self) -> LedgerView:
        return self._read(lambda holdout: holdout.ledger)

    def cost(self, question: Any, guess: Any = None, **said: Any) -> Cost:
        return self._read(lambda holdout: holdout.cost(question, guess, **said))

    def ask(self, question: Any, *, key: str | None = None, **said: Any) -> Answers:
        asked = ("ask", question, said)
        return self._put(lambda holdout, own: holdout.ask(question, key=own, **said), key, asked)

    def check(
        self, question: Any, guess: Any = None, *, key: str | None = None, **said: Any
    ) -> Answers:
        asked = ("check", question, guess, said)
        return self._put(
            lambda holdout, own: holdout.check(question, guess, key=own, **said), key, asked
        )

    def gate(self, question: Any, *, key: str | None = None, **said: Any) -> Answers:
        asked = ("gate", question, said)
        return self._put(lambda holdout, own: holdout.gate(question, key=own, **said), key, asked)

    def _read(self, use: Callable[[Holdout], _T]) -> _T:
        return anyio.from_thread.run(self.asker.served.read, use)

    def _put(
        self, use: Callable[[Holdout, str | None], Answers], key: str | None, asked: object
    ) -> Answers:
        if self.asker.token.role == "viewer":
            raise rejection(403, "this is for analysts, and the token's role is viewer.")
        own = self.asker.own(key)

        def put(holdout: Holdout) -> Any:  # one question, whatever it is told
            return use(holdout, own)

        found: Any = anyio.from_thread.run(self.asker.answers, put, 1, own, asked)
        return cast(Answers, found)
