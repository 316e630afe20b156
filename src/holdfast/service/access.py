"""Who asks, what they may, and which data set they mean: what every route depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Header, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from holdfast.service.caller import Caller
from holdfast.service.problems import rejection
from holdfast.service.served import Served
from holdfast.service.service import Service
from holdfast.service.tokens import Token, TokenRole

__all__ = [
    "AsAnalyst",
    "AsAnyone",
    "AsCustodian",
    "Asker",
    "CallKey",
    "Dataset",
    "Serving",
    "client_of",
    "service_of",
]

_bearer = HTTPBearer(auto_error=False, description="A token: hf_ID_SECRET.")


def service_of(request: Request) -> Service:
    """The service of the app that a request came to."""
    found: Service = request.app.state.service
    return found


def client_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else ""


Serving = Annotated[Service, Depends(service_of)]


def _token(
    request: Request,
    service: Serving,
    shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> Token:
    if shown is None:
        raise rejection(401, "the request has no token.")
    token = service.verified(shown.credentials, client_of(request))
    request.state.token = token
    return token


AsAnyone = Annotated[Token, Depends(_token)]


def _one_of(*roles: TokenRole) -> Callable[..., Any]:
    def allowed(token: AsAnyone) -> Token:
        if token.role not in roles:
            raise rejection(403, f"the token is of a {token.role}; this is for {roles[0]}s.")
        return token

    return allowed


AsAnalyst = Annotated[Token, Depends(_one_of("analyst", "custodian"))]
AsCustodian = Annotated[Token, Depends(_one_of("custodian"))]


def _dataset(dataset: str, service: Serving, token: AsAnyone) -> Served:
    return service.served(dataset, token)


Dataset = Annotated[Served, Depends(_dataset)]


def _caller(service: Serving, token: AsAnalyst, served: Dataset) -> Caller:
    return Caller(service, token, served)


Asker = Annotated[Caller, Depends(_caller)]
CallKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="The name of this call: made again with it, it is told the same, to the byte.",
    ),
]
