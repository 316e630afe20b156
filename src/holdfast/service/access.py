"""Who asks, what they may, and which data set they mean: what every route depends on."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from holdfast.service.caller import Caller
from holdfast.service.problems import rejection
from holdfast.service.served import Served
from holdfast.service.service import Service
from holdfast.service.tokens import Token, TokenRole

__all__ = [
    "AsAnyone",
    "AsCustodian",
    "Asker",
    "CallKey",
    "Dataset",
    "Serving",
    "client_of",
    "service_of",
]

_ASKING: tuple[TokenRole, ...] = ("analyst", "custodian")
_bearer = HTTPBearer(auto_error=False, description="A token: hf_ID_SECRET.")
_Shown = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
_Name = Annotated[str, Path(description="The name of a data set.")]


def service_of(request: Request) -> Service:
    """The service of the app that a request came to."""
    found: Service = request.app.state.service
    return found


def client_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else ""


# Every dependency costs a request as much as looking up its token does, and one that is no
# coroutine a thread's turn, too: so each route has few, which call one another.


async def _serving(request: Request) -> Service:
    return service_of(request)


Serving = Annotated[Service, Depends(_serving)]


def _known(request: Request, shown: HTTPAuthorizationCredentials | None) -> Token:
    """Whose token is shown, which is looked up once a request."""
    known: Token | None = getattr(request.state, "token", None)
    if known is None:
        if shown is None:
            raise rejection(401, "the request has no token.")
        known = service_of(request).verified(shown.credentials, client_of(request))
        request.state.token = known
    return known


def _require_role(token: Token, *roles: TokenRole) -> None:
    if token.role not in roles:
        raise rejection(403, f"this is for {roles[0]}s, and the token's role is {token.role}.")


async def _anyone(request: Request, shown: _Shown) -> Token:
    return _known(request, shown)


async def _custodian(request: Request, shown: _Shown) -> Token:
    token = _known(request, shown)
    _require_role(token, "custodian")
    return token


async def _dataset(request: Request, dataset: _Name, shown: _Shown) -> Served:
    return service_of(request).served(dataset, _known(request, shown))


async def _caller(request: Request, dataset: _Name, shown: _Shown) -> Caller:
    service, token = service_of(request), _known(request, shown)
    _require_role(token, *_ASKING)
    return Caller(service, token, service.served(dataset, token))


AsAnyone = Annotated[Token, Depends(_anyone)]
# OpenAPI names the roles that an operation is for as scopes of its token.
AsCustodian = Annotated[Token, Security(_custodian, scopes=["custodian"])]
Dataset = Annotated[Served, Depends(_dataset)]
Asker = Annotated[Caller, Security(_caller, scopes=_ASKING)]
CallKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="The name of this call: made again with it, it is told the same, to the byte.",
    ),
]
