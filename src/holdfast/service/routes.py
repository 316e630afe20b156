"""Routes that read their usual requests by themselves, and leave all others to FastAPI.

FastAPI looks up every argument of a handler by dependencies and validators, which takes longer than
most handlers do. Here a request that is as usual is read in one go. One that is not (a field that
is wrong, a header of another form) is read by FastAPI from the beginning, which says what is wrong
with it: so there is one way to be told, and OpenAPI is that of FastAPI.

`DirectRoutes` is put before the app, and finds the routes of a data set by the last word of the
address: neither the list of all routes nor what FastAPI does around each is gone through.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from fastapi.params import Depends, Header, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.service.access import PLAIN_DEPENDENCIES

_Handler: TypeAlias = Callable[[Request], Coroutine[Any, Any, Response]]
_Reader: TypeAlias = Callable[[Request], Any]
_Refusal: TypeAlias = Callable[[Request, Any], Response | Awaitable[Response]]
_OF_A_DATASET = "/api/v1/datasets/"
_JSON = "application/json"
_LEFT_OUT = object()


class PlainRoute(APIRoute):
    """A route of the API; one with an argument that is read in no plain way is as FastAPI's."""

    plain: _Handler | None = None  # replies to a usual request, else fails by ValidationError

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
                values = {name: reader(request) for name, reader in readers.items()}
            except ValidationError:
                raise _Unusual from None
            words = {name: value for name, value in values.items() if value is not _LEFT_OUT}
            reply: Response = await endpoint(**sent, **words)
            return reply

        async def plain_or_careful(request: Request) -> Response:
            try:
                return await plain(request)
            except _Unusual:
                return await careful(request)

        self.plain = plain
        return plain_or_careful


class _Unusual(Exception):
    """A request is to be read by FastAPI, from the beginning."""


class DirectRoutes:
    """An ASGI app before the app: what replies to the usual requests about a data set.

    `refusals` are what the app replies to errors, by their classes.
    """

    def __init__(
        self, app: ASGIApp, routes: Iterable[BaseRoute], refusals: Mapping[Any, _Refusal]
    ) -> None:
        self._app, self._refusals = app, refusals
        self._routes: dict[tuple[str, str], tuple[PlainRoute, _Handler]] = {}
        for route in routes:
            if not isinstance(route, PlainRoute) or route.plain is None:
                continue
            stem, _, last = route.path.rpartition("/")
            if stem == f"{_OF_A_DATASET}{{dataset}}" and "{" not in last:
                for method in route.methods or ():
                    self._routes[method, last] = route, route.plain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reply, or have the app do it."""
        stem, _, last = scope.get("path", "").rpartition("/")
        route, plain = self._routes.get((scope.get("method", ""), last), (None, None))
        name = stem.removeprefix(_OF_A_DATASET)
        if plain is None or name in (stem, "") or "/" in name or scope.get("root_path"):
            await self._app(scope, receive, send)
            return
        scope["route"], scope["path_params"] = route, {"dataset": name}
        request = Request(scope, receive)
        try:
            reply = await plain(request)
        except _Unusual:
            await self._app(scope, _again(await request.body(), receive), send)
            return
        except Exception as error:
            refusals = (self._refusals.get(kind) for kind in type(error).__mro__)
            refusal = next((each for each in refusals if each is not None), None)
            if refusal is None:
                raise
            refused = refusal(request, error)
            reply = refused if isinstance(refused, Response) else await refused
        await reply(scope, receive, send)


def _again(body: bytes, receive: Receive) -> Receive:
    """What is received of a request whose body was read already."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return first.pop() if first else await receive()

    return received


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
