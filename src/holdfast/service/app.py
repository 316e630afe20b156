"""The app of a service: every route behind one edge."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from holdfast import __version__
from holdfast.errors import HoldfastError
from holdfast.service.board_page import board_pages
from holdfast.service.boards import board_rest
from holdfast.service.custody import custody
from holdfast.service.dashboard import dashboard, problem_page
from holdfast.service.edge import Edge
from holdfast.service.gate_page import gate_pages
from holdfast.service.operations import operations
from holdfast.service.planning import planning
from holdfast.service.problems import Rejected, problem_of, rejection
from holdfast.service.reference import reference
from holdfast.service.replies import problem_reply
from holdfast.service.rest import rest
from holdfast.service.service import Service
from holdfast.service.sessions import SignedOut, session_of

__all__ = ["app_of"]

_ABOUT = (
    "Ask one data set question after question: every released interval stays true, all together. "
    "No row is ever shown."
)

_SAID = {
    400: "the body cannot be read.",
    404: "there is nothing at this address.",
    405: "the address does not take this method.",
    413: "the request is longer than it may be.",
}


def app_of(service: Service) -> FastAPI:
    """The app of a service, which is closed with it."""
    app = FastAPI(
        title="Holdfast",
        version=__version__,
        description=_ABOUT,
        docs_url=None,  # its pages load files from elsewhere
        redoc_url=None,
        openapi_url="/openapi.json",
        lifespan=partial(_lifespan, service),
    )
    app.state.service = service
    for router in (
        rest,
        board_rest,
        custody,
        operations,
        dashboard,
        board_pages,
        gate_pages,
        planning,
        reference,
    ):
        app.include_router(router)
    for known in (HoldfastError, Rejected):
        app.add_exception_handler(known, _problem)
    app.add_exception_handler(SignedOut, _sign_in)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _by_status)
    app.add_middleware(Edge, service=service)
    return app


@asynccontextmanager
async def _lifespan(service: Service, _: FastAPI) -> AsyncIterator[None]:
    yield
    service.close()


async def _sign_in(_: Request, __: Exception) -> Response:
    return RedirectResponse("/login", 303)


async def _problem(request: Request, error: Exception) -> Response:
    """A problem: for programs as JSON, for people, who ask for pages, as a page."""
    if not request.headers.get("accept", "").startswith("text/html"):
        return problem_reply(error)
    try:
        session = session_of(request, request.app.state.service)
    except SignedOut:
        session = None
    return problem_page(problem_of(error), session)


async def _invalid(request: Request, error: Exception) -> Response:
    """Which field is wrong and why; what was sent is not sent back."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    if any(each["type"] == "json_invalid" for each in found):
        return await _problem(request, rejection(400, "the body is no JSON."))
    said = "; ".join(dict.fromkeys(map(_fault, found[:5])))
    return await _problem(request, rejection(422, f"{said}."))


def _fault(found: dict[str, Any]) -> str:
    place = ".".join(str(part)[:50] for part in found["loc"])
    return f"{place}: {found['msg']}"


async def _by_status(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = rejection(status, _SAID[status]) if status in _SAID else error
    return await _problem(request, known)
