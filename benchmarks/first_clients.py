"""Clients that all come at once, to services that have just begun to listen: REST and agents."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import holdfast
from holdfast.service.folder import Folder
from holdfast.service.tokens import TokenStore

__all__ = ["agents_call", "first_questions", "half_sent", "two_tables"]

_PATIENCE = 60.0  # seconds that a client waits: a service that hangs is broken
# Texts are read in different orders: as a call, as one expression, and with groups.
_QUESTIONS = ("avg(x > 0.{n:03d})", "median(x)", "avg(x > 0.3 and g = 'u')", "std(x)")


def two_tables(folder: Path, seed: int = 0, **token: Any) -> tuple[Folder, str]:
    """A folder with the tables a and b, and the token of an analyst."""
    made = Folder.create(folder)
    (folder / "holdfast.toml").write_text("[service]\nrelease_step = 0.0\n")
    for place, name in enumerate(("a", "b")):
        rng = np.random.default_rng((seed, place))
        path = folder / f"{name}.parquet"
        pl.DataFrame({"x": rng.random(1_000), "g": rng.choice(["u", "v"], 1_000)}).write_parquet(
            path
        )
        schema: dict[str, Any] = {"x": (0.0, 1.0), "g": {"values": ["u", "v"]}}
        with holdfast.open(path, ledger=made.ledger(name), tolerance=0.25, schema=schema):
            pass
    store = TokenStore(made.tokens, made.secret)
    try:
        return made, store.create("first", "analyst", **token).text
    finally:
        store.close()


def first_questions(port: int, token: str, clients: int) -> list[str]:
    """What went wrong with the first questions of so many clients, all sent at one moment.

    Half of them by REST and half by agents, of both tables, asking and pricing.
    """
    together = threading.Barrier(clients)

    def ask(number: int) -> str | None:
        question = _QUESTIONS[number % len(_QUESTIONS)].format(n=number)
        dataset, verb = "ab"[number // 2 % 2], ("ask", "cost")[number // 4 % 2]
        together.wait()
        if number % 2:
            return _agents_call(port, token, dataset, verb, {"question": question})
        path = f"/api/v1/datasets/{dataset}/{verb}"
        status, text = _posted(port, token, path, {"question": question})
        return None if status == 200 else f"{path} {status} {text[:300]!r}"

    with ThreadPoolExecutor(clients) as pool:
        return [fault for fault in pool.map(ask, range(clients)) if fault is not None]


def agents_call(port: int, token: str, agents: int, calls: int, seconds: float = 0.0) -> list[str]:
    """What went wrong with so many agents that ask at once, each so many questions one by one.

    They go on for `seconds`, where that takes longer; who waits for a minute was hung.
    """
    end = time.monotonic() + seconds

    def agent(number: int) -> list[str]:
        faults: list[str | None] = []
        while len(faults) < calls or time.monotonic() < end:
            asked = {"question": f"avg(x > 0.{number:03d}{len(faults):04d})"}
            faults.append(_agents_call(port, token, "ab"[number % 2], "ask", asked))
        return [fault for fault in faults if fault is not None]

    with ThreadPoolExecutor(agents) as pool:
        return [fault for faults in pool.map(agent, range(agents)) for fault in faults]


def half_sent(port: int, token: str) -> Iterator[socket.socket]:
    """Connections of those who never finish: half a head, half a body of an agent and of REST.

    The last one is an agent's that listens to news, whose reply never ends.
    """
    head = f"Host: here\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    head += "Accept: application/json, text/event-stream\r\n"
    begun: Sequence[str] = (
        "GET /health HTTP/1.1\r\nHost: he",
        f"POST /mcp/?dataset=a HTTP/1.1\r\n{head}Content-Length: 100\r\n\r\n{{",
        f"POST /api/v1/datasets/a/ask HTTP/1.1\r\n{head}Content-Length: 100\r\n\r\n{{",
        f"POST /api/v1/datasets/a/ask HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n9\r\n",
        f"GET /mcp/?dataset=a HTTP/1.1\r\n{head}\r\n",
    )
    for text in begun:
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(text.encode())
        yield connection


def _agents_call(
    port: int, token: str, dataset: str, tool: str, asked: dict[str, Any]
) -> str | None:
    """What went wrong with one call of a tool; None: nothing, or a refusal by the token's cap."""
    call = {"name": tool, "arguments": asked}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    status, text = _posted(port, token, f"/mcp/?dataset={dataset}", message)
    fine = status == 200 and (b'"isError":true' not in text or b'"status":409' in text)
    return None if fine else f"{tool} {status} {text[:300]!r}"


def _posted(port: int, token: str, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    try:
        connection.request("POST", path, json.dumps(body), headers)
        reply = connection.getresponse()
        return reply.status, reply.read()
    except OSError as error:
        return 0, type(error).__name__.encode()
    finally:
        connection.close()
