"""Agents at a service: the same tools at /mcp, with its tokens, caps and steps of time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.agents.server import http_app, server_of
from holdfast.agents.tools import Agent
from holdfast.holdout.holdout import Holdout
from holdfast.service.access import Caller, client_of
from holdfast.service.data_set import Asking, Reply, Service
from holdfast.service.problems import problem_reply, rejection
from holdfast.service.running import worker

_T = TypeVar("_T")
_BEARER = "bearer "
_PROGRESS = b'"progressToken"'


def worker_with_agents() -> FastAPI:
    """The app of one worker, with agents at /mcp."""
    return worker(mount_agents)


def mount_agents(app: FastAPI, service: Service) -> None:
    """Let agents call at /mcp. A token for several data sets says which one: /mcp/?dataset=NAME."""
    # Whoever has a token may call from anywhere, so that no name of a host has to be listed.
    largest = service.settings.largest_request
    plain, streaming = (
        http_app(server_of(_known_caller), stream=stream, hosts=None, largest_request=largest)
        for stream in (False, True)
    )
    app.add_route("/mcp", _with_a_slash, ["GET", "POST", "DELETE"], include_in_schema=False)
    app.mount("/mcp", _Admitted(plain, streaming, service))
    for agents in (plain, streaming):
        app.router.lifespan_context = partial(_both, app.router.lifespan_context, agents)


@asynccontextmanager
async def _both(outer: Callable[[Any], Any], agents: Starlette, app: FastAPI) -> AsyncIterator[Any]:
    async with agents.router.lifespan_context(agents), outer(app) as state:
        yield state


async def _with_a_slash(request: Request) -> Response:
    """To the same place, whatever the request says that it is called."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/mcp/{query}", 307)


def _known_caller(request: Request) -> Agent:
    """Who was admitted with the request."""
    caller: Agent = request.state.caller
    return caller


@dataclass(frozen=True, slots=True)
class _Admitted:
    """An ASGI app before the agents': nobody gets to it without a token."""

    plain: ASGIApp
    streaming: ASGIApp  # for calls that want to know how they get on
    service: Service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            request.state.caller = await self._caller(request)
        except Exception as error:
            await problem_reply(error)(scope, receive, send)
            return
        if scope["method"] != "POST":
            await self.plain(scope, receive, send)
            return
        body, read_again = await _read(receive)
        agents = self.streaming if _PROGRESS in body else self.plain
        await agents(scope, read_again, send)

    async def _caller(self, request: Request) -> Agent:
        authorization = request.headers.get("authorization", "")
        if not authorization.lower().startswith(_BEARER):
            raise rejection(401, "the request has no token.")
        token = self.service.verified(
            authorization[len(_BEARER) :], client_of(request, self.service)
        )
        request.state.token = token
        names = self.service.names_for(token)
        name = request.query_params.get("dataset") or (names[0] if len(names) == 1 else None)
        if name is None:
            raise rejection(422, "the token is for several data sets; say which: ?dataset=NAME.")
        asker = Caller(self.service, token, self.service.served(name, token))
        if token.role == "viewer" and await asker.served.is_board():
            raise rejection(403, "a viewer sees the standings of a leaderboard, and no more.")
        return Agent(_ServedHoldout(asker), token.name)


async def _read(receive: Receive) -> tuple[bytes, Receive]:
    """The body of a request, and how it is received once more."""
    messages = [await receive()]
    while messages[-1].get("more_body", False):
        messages.append(await receive())
    if messages[-1]["type"] == "http.disconnect":
        raise ClientDisconnect
    again = iter(messages)

    async def received() -> Message:
        message = next(again, None)
        return await receive() if message is None else message

    return b"".join(message.get("body", b"") for message in messages), received


@dataclass(frozen=True, slots=True)
class _ServedHoldout:
    """A data set of the service, as tools use a holdout.

    What is free is read from the ledger; what spends is within the token's cap, and told on a step
    of time.
    """

    asker: Caller

    async def read(self, use: Callable[[Holdout], _T]) -> _T:
        return await self.asker.served.read(use)

    async def answer(self, asking: Asking, accept_cost: int | None) -> Reply:
        if self.asker.token.role == "viewer":
            raise rejection(403, "this is for analysts, and the token's role is viewer.")
        return await self.asker.answer(
            asking.under(self.asker.own(asking.request_key)), accept_cost
        )
