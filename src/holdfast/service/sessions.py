"""Sessions of the pages: a sealed cookie that says whose token was shown.

The cookie is not the token, is not read by scripts, and is sent to this site's own pages alone. The
token is looked up at every request, so a session ends when its token does. Every form carries a
mark that only this session's pages have, and is taken from this site's pages alone.
"""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from holdfast.ledger.chain import keyed
from holdfast.service.access import is_secure
from holdfast.service.data_set import Service
from holdfast.service.problems import rejection
from holdfast.service.tokens import Token

__all__ = [
    "PageSession",
    "SignedOut",
    "end_session",
    "require_own_form",
    "session_of",
    "start_session",
]

_COOKIE = "holdfast_session"
_LASTS = 12 * 3600  # seconds
_SEAL, _MARK = "holdfast session/1", "holdfast form/1"


class SignedOut(Exception):
    """Nobody is signed in: the page to sign in at is shown instead."""


@dataclass(frozen=True, slots=True)
class PageSession:
    """Who is signed in, and the mark of their forms."""

    token: Token
    mark: str


def session_of(request: Request, service: Service) -> PageSession:
    """Who is signed in; or nobody."""
    cookie = request.cookies.get(_COOKIE, "")
    text, _, seal = cookie.rpartition(".")
    secret = service.folder.secret
    if not hmac.compare_digest(seal.encode(), keyed(secret, _SEAL, text).encode()):
        raise SignedOut
    token_id, until, _ = text.split(".")
    token = service.tokens.in_force(token_id) if int(until) > time.time() else None
    if token is None:
        raise SignedOut
    return PageSession(token, keyed(secret, _MARK, cookie))


def start_session(reply: Response, request: Request, service: Service, token: Token) -> None:
    """Sign somebody in."""
    text = f"{token.id}.{int(time.time()) + _LASTS}.{secrets.token_hex(8)}"
    value = f"{text}.{keyed(service.folder.secret, _SEAL, text)}"
    reply.set_cookie(_COOKIE, value, max_age=_LASTS, **_how(request, service))


def end_session(reply: Response, request: Request, service: Service) -> None:
    """Sign somebody out."""
    reply.delete_cookie(_COOKIE, **_how(request, service))


def require_own_form(request: Request, session: PageSession | None, mark: str) -> None:
    """Refuse a form that is not of this site, or not of this session."""
    # Browsers that are told to send no referrer say "null"; what ends TLS may change the scheme.
    origin = request.headers.get("origin", "null")
    own = origin == "null" or urlsplit(origin).netloc == request.url.netloc
    fetched = request.headers.get("sec-fetch-site", "same-origin")
    if not own or fetched not in ("same-origin", "none"):
        raise rejection(403, "the form came from another site.")
    if session is not None and not hmac.compare_digest(session.mark.encode(), mark.encode()):
        raise rejection(403, "the form is of another session; open the page again.")


def _how(request: Request, service: Service) -> dict[str, Any]:
    secure = is_secure(request, service)
    return {"httponly": True, "samesite": "strict", "secure": secure, "path": "/"}
