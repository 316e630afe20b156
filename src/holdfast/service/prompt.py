"""Connections that send every part of a reply at once.

The socket that several workers share is made without the name of its protocol, and asyncio then
lets TCP hold back the body of a reply until its head was acknowledged: clients wait 40 ms for it.
"""

from __future__ import annotations

import asyncio
import socket
from typing import cast

from uvicorn.protocols.http.auto import AutoHTTPProtocol

__all__ = ["PromptConnection"]


class PromptConnection(AutoHTTPProtocol):  # type: ignore[misc,valid-type,unused-ignore]
    """HTTP as uvicorn speaks it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        connection = cast("socket.socket | None", transport.get_extra_info("socket"))
        if connection is not None and connection.family != getattr(socket, "AF_UNIX", None):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)  # type: ignore[arg-type,unused-ignore]
