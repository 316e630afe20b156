"""Replies are sent as they are written: nothing waits until its beginning was acknowledged."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

pytest.importorskip("uvicorn")

import uvicorn

from holdfast.service.running import CONNECTIONS


def held_back(http: str) -> bool:
    """Whether TCP holds back parts of replies, by the socket that several workers would share."""
    found: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for each in server.server_state.connections:
            connection = each.transport.get_extra_info("socket")
            found.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        server.should_exit = True

    shared = socket.socket(socket.AF_INET)  # as uvicorn makes it
    shared.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, http=http, lifespan="off", log_level="warning"))

    async def asked() -> None:
        serving = asyncio.create_task(server.serve(sockets=[shared]))
        while not server.started:
            await asyncio.sleep(0)
        reader, writer = await asyncio.open_connection(*shared.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 204")
        writer.close()
        await serving

    asyncio.run(asked())
    assert found
    return not all(found)


def test_nothing_is_held_back() -> None:
    assert not held_back(CONNECTIONS)
    assert held_back("auto")  # once this fails, connections of our own are needed no more
