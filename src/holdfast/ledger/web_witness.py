"""Witness by HTTP: a service that keeps the newest entry seen of each ledger."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from holdfast.errors import InvalidArgument
from holdfast.ledger.witness import (
    TOKEN,
    TRIES,
    WITNESS,
    Newest,
    goes_back,
    out_of_reach,
    undamaged,
)

_HASH = re.compile("[0-9a-f]{64}")
_PATIENCE = 30.0  # seconds for one request
_MOST = 4096  # bytes of an answer


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class WebWitness:
    """Service that keeps a JSON document for each ledger, at an address of its own.

    GET says {"entry": 9, "hash": ...} and its ETag, or 404. PUT has the ETag that was read in
    If-Match, or If-None-Match: * for a new document; 412 says that another was quicker.
    """

    address: str
    token: str | None = field(default=None, repr=False)

    @classmethod
    def at(cls, address: str, first: str) -> WebWitness:
        """By the address of all notes, which is refused where others could read or change them."""
        parts = urlsplit(address)
        near = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
        if (parts.scheme != "https" and not near) or "@" in parts.netloc:
            raise InvalidArgument(
                f"{WITNESS} names a service by https:// (http:// on this machine alone), without "
                f"user or password, which belong into {TOKEN}; or a folder, or git:REMOTE/BRANCH."
            )
        return cls(f"{address.rstrip('/')}/{first}", os.environ.get(TOKEN) or None)

    def note(self, seq: int, hashed: str, *, restored: bool = False) -> None:
        content = json.dumps({"entry": seq, "hash": hashed}).encode()
        for _ in range(TRIES):
            tag, newest = self._newest()
            back = not restored and goes_back(self.address, newest, seq, hashed)
            if back or newest == (seq, hashed):
                return
            condition = {"If-None-Match": "*"} if tag is None else {"If-Match": tag}
            status, _, _ = self._reply("PUT", content, condition)
            if status in (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT):
                return
            if status != HTTPStatus.PRECONDITION_FAILED:
                raise out_of_reach(self.address, f"PUT is answered by {status}")
        raise out_of_reach(self.address, "others were quicker every time")

    def seen(self) -> Newest | None:
        return self._newest()[1]

    def _newest(self) -> tuple[str | None, Newest | None]:
        status, tag, content = self._reply("GET")
        if status == HTTPStatus.NOT_FOUND:
            return None, None
        if status != HTTPStatus.OK:
            raise out_of_reach(self.address, f"GET is answered by {status}")
        if tag is None or tag.startswith("W/"):
            raise out_of_reach(self.address, "it gives no strong ETag to compare by")
        try:
            match json.loads(content):
                case {"entry": int(seq), "hash": str(hashed)} if _HASH.fullmatch(hashed):
                    return tag, (seq, hashed)
        except (ValueError, RecursionError):
            pass
        return tag, undamaged(self.address, None)

    def _reply(
        self, method: str, content: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str | None, bytes]:
        request = Request(self.address, content, headers or {}, method=method)
        if content is not None:
            request.add_header("Content-Type", "application/json")
        if self.token is not None:
            request.add_unredirected_header("Authorization", f"Bearer {self.token}")
        try:
            with self._opener.open(request, timeout=_PATIENCE) as reply:
                return reply.status, reply.headers.get("ETag"), reply.read(_MOST)
        except HTTPError as error:
            with error:
                return error.code, None, b""
        except (OSError, HTTPException, ValueError) as error:
            raise out_of_reach(self.address, error) from error

    @cached_property
    def _opener(self) -> Any:
        return build_opener(_NoRedirects)
