"""Something between a worker and its server that lets a connection break at a chosen moment."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Proxy:
    """Passes everything on, until a message holds `word`: then the connection is cut.

    The message itself arrives if `arrives`; its answer never does. While it is `stopped`, nobody
    who comes is let in.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self.word: bytes | None = None
        self.arrives = self.stopped = False
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, ledger: str) -> str:
        """The address of a ledger by way of this."""
        return f"postgresql://postgres:swordfish@127.0.0.1:{self.port}/postgres?ledger={ledger}"

    def cut(self) -> None:
        """End all connections."""
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.stopped:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                self._sockets += [client, server]
                for pair in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, asks: bool) -> None:
        with source, suppress(OSError):
            while content := source.recv(1 << 16):
                if asks and self.word is not None and self.word in content:
                    self.word = None
                    source.shutdown(socket.SHUT_RDWR)  # no answer reaches whoever asked
                    if self.arrives:
                        target.sendall(content)  # the server does it before it sees the end
                    break
                target.sendall(content)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy_to(target: str) -> Iterator[Proxy]:
    """A proxy to a server's socket, closed afterwards."""
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
