"""Routes that read their usual requests by themselves, and leave all others to FastAPI.

FastAPI looks up every argument of a handler by dependencies and validators, which takes longer than
most handlers do. Here a request that is as usual is read in one go. One that is not (a field that
is wrong, a header of another form) is read by FastAPI from the beginning, which says what is wrong
with it: so there is one way to be told, and OpenAPI is that of FastAPI.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from fastapi.params import Depends, Header, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from holdfast.service.access import PLAIN_DEPENDENCIES

__all__ = ["PlainRoute"]

_Handler: TypeAlias = Callable[[Request], Coroutine[Any, Any, Response]]
_Reader: TypeAlias = Callable[[Request], Any]
_JSON = "application/json"
_LEFT_OUT = object()


class PlainRoute(APIRoute):
    """A route of the API; one with an argument that is read in no plain way is as FastAPI's."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether it is the route of a request: looked at closely if the address ends as it does.

        Every address is compared with a dozen patterns, twice.
        """
        if not scope["path"].endswith(self.path.rpartition("}")[2]):
            return Match.NONE, {}
        return super().matches(scope)

    def get_route_handler(self) -> _Handler:
        """What replies to a request."""
        careful, endpoint = super().get_route_handler(), self.endpoint
        readers: dict[str, _Reader] = {}
        body: tuple[str, type[BaseModel]] | None = None
        for name, hint in get_type_hints(endpoint, include_extras=True).items():
            if isinstance(hint, type) and issubclass(hint, BaseModel):
                body = name, hint
            elif name != "return":
                reader = _reader(name, hint)
                if reader is None:
                    return careful
                readers[name] = reader

        async def plain(request: Request) -> Response:
            try:
                sent = {} if body is None else {body[0]: await _read(request, body[1])}
                found = {name: reader(request) for name, reader in readers.items()}
            except ValidationError:
                return await careful(request)
            words = {name: value for name, value in found.items() if value is not _LEFT_OUT}
            reply: Response = await endpoint(**sent, **words)
            return reply

        return plain


async def _read(request: Request, model: type[BaseModel]) -> BaseModel:
    """The body of a request; JSON, or FastAPI says what is wrong with it."""
    content = await request.body()
    is_json = request.headers.get("content-type") == _JSON
    return model.model_validate_json(content if is_json else b"")


def _reader(name: str, hint: Any) -> _Reader | None:
    """How an argument is read of a request; None if only FastAPI knows."""
    if get_origin(hint) is not Annotated:
        return None
    for how in get_args(hint)[1:]:
        if isinstance(how, Depends):
            return PLAIN_DEPENDENCIES.get(how.dependency)
        if isinstance(how, Header | Query):
            alias, adapter = how.alias or name, TypeAdapter(hint)
            return _header(alias, adapter) if isinstance(how, Header) else _query(alias, adapter)
    return None


def _header(name: str, adapter: TypeAdapter[Any]) -> _Reader:
    def read(request: Request) -> Any:
        text = request.headers.get(name)
        return _LEFT_OUT if text is None else adapter.validate_python(text)

    return read


def _query(name: str, adapter: TypeAdapter[Any]) -> _Reader:
    def read(request: Request) -> Any:
        if not request.scope["query_string"]:
            return _LEFT_OUT
        text = request.query_params.get(name)
        return _LEFT_OUT if text is None else adapter.validate_python(text)

    return read
