"""Witness of ledgers by HTTP: notes in a folder that is not restored with them.

`python -m examples.witness NOTES 8021`, and `HOLDFAST_WITNESS=http://127.0.0.1:8021` for who asks;
behind a proxy that speaks TLS it is `https://...`.
If HOLDFAST_WITNESS_TOKEN is set, it must be sent.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from holdfast.ledger.side_files import replace_whole

MOST = 1000  # bytes of a note


class Notes(BaseHTTPRequestHandler):
    """GET and PUT of one note; a PUT must name the ETag that it replaces."""

    folder = Path()
    token = os.environ.get("HOLDFAST_WITNESS_TOKEN", "")
    turn = threading.Lock()

    def do_GET(self) -> None:
        """The note and its ETag, or 404."""
        with self.turn:
            self._answer(*self._found())

    def do_PUT(self) -> None:
        """The note, replaced: 412 if it is not the one that was read."""
        content = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), MOST))
        with self.turn:
            status, note = self._found()
            read = self.headers.get("If-Match"), self.headers.get("If-None-Match")
            if status in (200, 404):
                known = (etag(note), None) if status == 200 else (None, "*")
                status = 204 if read == known else 412
            if status == 204:
                replace_whole(self.folder / self.path[1:], content)
            self._answer(status)

    def _found(self) -> tuple[int, bytes]:
        said = self.headers.get("Authorization", "").encode()
        if self.token and not hmac.compare_digest(said, f"Bearer {self.token}".encode()):
            return 401, b""
        if not re.fullmatch("/[0-9a-f]{64}", self.path):
            return 400, b""
        file = self.folder / self.path[1:]
        return (200, file.read_bytes()) if file.exists() else (404, b"")

    def _answer(self, status: int, content: bytes = b"") -> None:
        self.send_response(status)
        if status == 200:
            self.send_header("ETag", etag(content))
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


def etag(content: bytes) -> str:
    """A strong ETag of a note."""
    return f'"{hashlib.sha256(content).hexdigest()}"'


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server of the notes of a folder, on this machine."""
    return ThreadingHTTPServer(("127.0.0.1", port), type("Notes", (Notes,), {"folder": folder}))


if __name__ == "__main__":
    server(Path(sys.argv[1]), int(sys.argv[2])).serve_forever()
