"""The edge of the service: what holds for every request, and replies sent at once.

Bodies beyond their limit are not read. Whatever fails is a problem without a word of where it
failed. Nothing that is told is kept by others, framed, or asks another site for anything.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from typing import Any, cast
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from holdfast.service.access import client_of
from holdfast.service.data_set import Service
from holdfast.service.logs import log_failure
from holdfast.service.problems import Problem, Rejected, problem_reply, rejection
from holdfast.service.sessions import SignedOut, session_of

_log = logging.getLogger("holdfast.service")
_access = logging.getLogger("holdfast.access")

CONTENT_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
# What may be long: files, and JSON, which is read as one piece and keeps everybody waiting.
_FILES, _LISTS = ("/columns/file", "/board/file"), ("/columns", "/board")
_MOUNTED = "/mcp"  # which answers every method by itself
# What pages and whoever watches the service ask every few seconds: no news of an access log.
_POLLED = frozenset({"/data/{dataset}/news", "/health", "/ready", "/metrics"})
_HUNG_UP = 499  # the status of logs and metrics for clients that wait for no reply
_STOPPING = Problem(
    503,
    "stopping",
    "The service is stopping",
    "the service stops, and what was sent was not answered in time.",
    ("Send the same request again with the same Idempotency-Key: it is answered once.",),
    "LedgerUnavailable",
    retry_after=10,
)
# As they are sent: every reply carries them.
_HEADERS = tuple(
    (name.encode(), value.encode())
    for name, value in {
        "content-security-policy": CONTENT_POLICY,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cache-control": "no-store",
    }.items()
)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})


class Edge:
    """An ASGI app around the app."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, is_whole, began, received = 0, False, time.monotonic(), scope
        if scope["method"] == "HEAD" and not scope["path"].startswith(_MOUNTED):
            scope = {**scope, "method": "GET"}  # every page is read the same way

        async def sent(message: Message) -> None:
            nonlocal status, is_whole
            is_whole = not message.get("more_body") and message["type"] == "http.response.body"
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"] = list(message["headers"])
                names = {name.lower() for name, _ in headers}
                headers += [each for each in _HEADERS if each[0] not in names]
            elif received["method"] == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        try:
            limit = self._limit(scope)
            _require_short(scope, limit)
            await self._app(scope, _limited(receive, limit), sent)
            if status and not is_whole:  # the news of an agent, which ended with the service
                await sent({"type": "http.response.body"})
        except ClientDisconnect:
            status = _HUNG_UP
            _log.info("%s: the client hung up before its request was whole", _route(scope))
        except asyncio.CancelledError:  # the server's, which takes no more replies from now on
            _log.warning("%s: not answered before the service stopped", _route(scope))
            if not status:
                await problem_reply(_STOPPING)(scope, receive, sent)
        except Exception as error:
            if not isinstance(error, Rejected):
                log_failure(_log, _route(scope), error)
            if not status:
                await problem_reply(error)(scope, receive, sent)
        finally:
            self._service.metrics.request(_method(received), _route(scope), status)
            polled = _route(scope) in _POLLED and status < 400
            level = logging.DEBUG if polled else logging.INFO
            if _access.isEnabledFor(level):
                self._log_access(level, scope, _method(received), status, time.monotonic() - began)

    def _log_access(
        self, level: int, scope: Scope, method: str, status: int, seconds: float
    ) -> None:
        """One line of the access log: who, from where, to which address, and what it came to."""
        token = scope.get("state", {}).get("token")
        facts: dict[str, Any] = {
            "client": client_of(Request(scope), self._service),
            "token": None if token is None else token.name,
            "method": method,
            "path": quote(scope["path"]),
            "status": status,
            "seconds": round(seconds, 3),
        }
        words = ["-" if each is None else each for each in facts.values()]
        _access.log(level, "%s %s %s %s %d %.3f", *words, extra={"facts": facts})

    def _limit(self, scope: Scope) -> int:
        """Columns are long; nobody is listened to for so long but those who may bring them.

        Bodies are read before anything else, and a long one keeps everybody waiting.
        """
        settings, path = self._service.settings, scope["path"]
        limit = (
            settings.largest_column
            if path.endswith(_FILES)
            else max(settings.largest_list, settings.largest_request)
            if path.endswith(_LISTS)
            else settings.largest_request
        )
        if scope["method"] != "POST" or limit == settings.largest_request:
            return settings.largest_request
        return limit if self._may_bring(Request(scope)) else settings.largest_request

    def _may_bring(self, request: Request) -> bool:
        authorization = request.headers.get("authorization")
        if authorization is not None:
            text = authorization.partition(" ")[2]
            return self._service.verified(text, client_of(request, self._service)).role != "viewer"
        try:
            return session_of(request, self._service).token.role != "viewer"
        except SignedOut:
            return False


def _require_short(scope: Scope, limit: int) -> None:
    for name, value in scope["headers"]:
        if name == b"content-length" and (not value.isdigit() or int(value) > limit):
            raise rejection(413, f"the request may have {limit:,} bytes.")


def _limited(receive: Receive, limit: int) -> Receive:
    received = 0

    async def limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise HTTPException(413)  # which the reader of bodies passes on
        return message

    return limited


def _route(scope: Scope) -> str:
    """The pattern of the address; an address that fits none is nobody's route."""
    return getattr(scope.get("route"), "path", "none")


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "other"


# Connections that send every part of a reply at once.
#
# The socket that several workers share is made without the name of its protocol, and asyncio then
# lets TCP hold back the body of a reply until its head was acknowledged: clients wait 40 ms for
# it.


class PromptConnection(AutoHTTPProtocol):  # type: ignore[misc,valid-type,unused-ignore]
    """HTTP as uvicorn speaks it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        connection = cast("socket.socket | None", transport.get_extra_info("socket"))
        if connection is not None and connection.family != getattr(socket, "AF_UNIX", None):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)  # type: ignore[arg-type,unused-ignore]
