"""Sessions of the pages: a sealed cookie that names a session, which is kept beside the tokens.

The cookie is not the token, is not read by scripts, and is sent to this site's own pages alone. The
session is looked up at every request: it is over when somebody signs out, whoever has a copy of the
cookie, and when its token is revoked or rotated. Every form carries a mark that only this session's
pages have, and is taken from this site's pages alone.
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

_COOKIE = "holdfast_session"
_LASTS = 12 * 3600  # seconds
_SEAL, _MARK = "holdfast session/2", "holdfast form/1"


class SignedOut(Exception):
    """Nobody is signed in: the page to sign in at is shown instead."""


@dataclass(frozen=True, slots=True)
class PageSession:
    """Who is signed in, and the mark of their forms."""

    token: Token
    mark: str


def session_of(request: Request, service: Service) -> PageSession:
    """Who is signed in; or nobody."""
    session, secret = _session_id(request, service), service.folder.secret
    token = None if session is None else service.tokens.session_token(session)
    if token is None:
        raise SignedOut
    request.state.token = token
    return PageSession(token, keyed(secret, _MARK, request.cookies[_COOKIE]))


def _session_id(request: Request, service: Service) -> str | None:
    """The session that the cookie of a request names, if its seal is ours."""
    session, _, seal = request.cookies.get(_COOKIE, "").rpartition(".")
    sealed = keyed(service.folder.secret, _SEAL, session)
    return session if hmac.compare_digest(seal.encode(), sealed.encode()) else None


def start_session(reply: Response, request: Request, service: Service, token: Token) -> None:
    """Sign somebody in."""
    session = secrets.token_hex(16)
    service.tokens.start_session(session, token, int(time.time()) + _LASTS)
    value = f"{session}.{keyed(service.folder.secret, _SEAL, session)}"
    reply.set_cookie(_COOKIE, value, max_age=_LASTS, **_how(request, service))


def end_session(reply: Response, request: Request, service: Service) -> None:
    """Sign somebody out, wherever the cookie was copied to."""
    session = _session_id(request, service)
    if session is not None:
        service.tokens.end_session(session)
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
