"""Requests to a service, made again where they were lost; problems as the errors they are."""

from __future__ import annotations

import json
import secrets
import threading
import time
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from holdfast.errors import InvalidArgument, LedgerBusy, NotAllowed, ServiceUnavailable
from holdfast.service.problems import error_of

_AGAIN = (429, 502, 503, 504)
_LONGEST_WAIT = 10.0


class Sender:
    """One service and one token; threads have connections of their own."""

    def __init__(self, url: str, token: str, timeout: float, retries: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidArgument(f"url is {url!r}; it must be as http://127.0.0.1:8765.")
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._base = parts.path.rstrip("/") + "/api/v1"
        self._token, self._timeout, self._retries = token, timeout, retries
        self._connections: dict[int, HTTPConnection] = {}  # by thread

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """What is told at an address."""
        return self._read(*self._sent("GET", path, None, {}, query))

    def post(self, path: str, body: dict[str, Any], key: str, **query: Any) -> dict[str, Any]:
        """What is told to a call; with its key it can be made again."""
        stated = {name: value for name, value in body.items() if value is not None}
        try:
            content = json.dumps(stated, allow_nan=False, default=_plain).encode()
        except (TypeError, ValueError) as error:
            raise InvalidArgument(
                f"what is sent must be plain numbers and texts: {error}."
            ) from None
        headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
        return self._read(*self._sent("POST", path, content, headers, query))

    def upload(self, path: str, options: dict[str, Any], file: Path, key: str) -> dict[str, Any]:
        """What is told to a file that is sent, with what is said of it."""
        border = secrets.token_hex(16)
        stated = {name: value for name, value in options.items() if value is not None}
        try:
            content = file.read_bytes()
        except OSError as error:
            raise InvalidArgument(
                f"the file {str(file)!r} cannot be read: {error.strerror}."
            ) from None
        fields = [
            f'--{border}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in stated.items()
        ]
        head = f'--{border}\r\nContent-Disposition: form-data; name="file"; '
        head += f'filename="values{file.suffix}"\r\n\r\n'
        body = "".join([*fields, head]).encode() + content + f"\r\n--{border}--\r\n".encode()
        headers = {
            "Idempotency-Key": key,
            "Content-Type": f"multipart/form-data; boundary={border}",
        }
        return self._read(*self._sent("POST", path, body, headers, {}))

    def text(self, path: str, **query: Any) -> str:
        """A page or file as it is."""
        status, text = self._sent("GET", path, None, {}, query)
        if status >= 400:
            self._read(status, text)
        return text.decode()

    def close(self) -> None:
        """Let go of all connections; the next call makes a new one."""
        while self._connections:
            _, connection = self._connections.popitem()
            connection.close()

    def _sent(
        self,
        method: str,
        path: str,
        content: bytes | None,
        headers: dict[str, str],
        query: dict[str, Any],
    ) -> tuple[int, bytes]:
        """The status and the text of a reply; asked for again where it was lost."""
        words = {name: str(value).lower() for name, value in query.items()}
        address = f"{self._base}{path}{'?' if words else ''}{urlencode(words)}"
        headers = {**headers, "Authorization": f"Bearer {self._token}"}
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                reply = self._exchanged(method, address, content, headers)
                text = reply.read()
            except (OSError, HTTPException) as error:
                self._hang_up()
                if last:
                    raise ServiceUnavailable(
                        f"the service at {self.url} cannot be reached ({error}); see that it runs, "
                        "and try again."
                    ) from error
                wait = _pause(attempt)
            else:
                if last or reply.status not in _AGAIN or not _passes(text):
                    return reply.status, text
                wait = _seconds(reply.headers.get("Retry-After"), _pause(attempt))
            time.sleep(min(wait, _LONGEST_WAIT))
        raise ServiceUnavailable(f"the service at {self.url} cannot be reached.")

    def _exchanged(
        self, method: str, address: str, content: bytes | None, headers: dict[str, str]
    ) -> HTTPResponse:
        connection = self._connections.get(threading.get_ident())
        if connection is None:
            connection_type = HTTPSConnection if self._secure else HTTPConnection
            connection = connection_type(self._host, self._port, timeout=self._timeout)
            self._connections[threading.get_ident()] = connection
        connection.request(method, address, content, headers)
        return connection.getresponse()

    def _hang_up(self) -> None:
        connection = self._connections.pop(threading.get_ident(), None)
        if connection is not None:
            connection.close()

    def _read(self, status: int, text: bytes) -> dict[str, Any]:
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise ServiceUnavailable(
                f"what answers at {self.url} (status {status}) is no Holdfast service; see the URL."
            )
        if status >= 400:
            raise error_of(body)
        return body


def _plain(value: Any) -> Any:
    """A number of NumPy as the one of Python that it is."""
    if callable(convert := getattr(value, "item", None)):
        return convert()
    raise TypeError(f"a {type(value).__name__} is neither")


def _pause(attempt: int) -> float:
    return min(1.0, 0.1 * 2.0**attempt)


def _seconds(text: str | None, otherwise: float) -> float:
    """How long to wait; who is in between may say it as a date."""
    return float(text) if text is not None and text.isdigit() else otherwise


def _passes(text: bytes) -> bool:
    """Whether a problem is one that passes: another holds the ledger, or too many came at once."""
    try:
        error = error_of(json.loads(text))
    except (AttributeError, TypeError, ValueError):
        return True  # of something in between
    return isinstance(error, LedgerBusy | NotAllowed)
