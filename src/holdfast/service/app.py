"""The app of a service: every route behind one edge, health beside them, and a rehearsal before.

The rehearsal puts one question of every kind to invented rows before the service listens. Whatever
is loaded when it is first needed (the SQL reader, solvers, the engine) is loaded then, by one
thread. When the first requests come together, their threads import nothing: modules that load one
another would be loaded from two sides, which Python ends by failing one of them, for good.
"""

from __future__ import annotations

import logging
import os
import random
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from holdfast import __version__
from holdfast.certificate.certificate import ReuseCertificate
from holdfast.errors import HoldfastError, Refused
from holdfast.holdout.budget import Budget
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.open import open as open_holdout
from holdfast.ledger.index import STATE
from holdfast.service.access import AsCustodian, Serving
from holdfast.service.dashboard import board_pages, dashboard, gate_pages, planning, problem_page
from holdfast.service.data_set import Asking, Service
from holdfast.service.edge import Edge
from holdfast.service.logs import log_failure
from holdfast.service.problems import (
    JsonReply,
    Problem,
    Rejected,
    problem_of,
    problem_reply,
    problems,
    rejection,
)
from holdfast.service.reference import reference
from holdfast.service.replies import StatusReply, file_reply
from holdfast.service.rest import board_rest, custody, rest
from holdfast.service.routes import DirectRoutes
from holdfast.service.sessions import SignedOut, session_of
from holdfast.service.tokens import Token
from holdfast.service.wire import told
from holdfast.service.workbench import bench_pages

# What those who run the service look at: is it up, is it ready, what did it do.


_log = logging.getLogger("holdfast.service")
operations = APIRouter(tags=["operations"])
# Who looks whether all ledgers can be read; it opens nothing else.
_NOBODY = Token("", "", "viewer", None, 0, None, "", None, None)


@operations.get("/health", response_model=StatusReply)
async def health() -> Any:
    """The process is up."""
    return JsonReply({"status": "up"})


@operations.get("/ready", response_model=StatusReply, responses=problems(503))
async def ready(service: Serving) -> Any:
    """A question of every ledger can be read and priced; which cannot is not told to strangers."""
    number = random.random()
    try:
        for name in service.folder.names:
            await service.served(name, _NOBODY).read(lambda holdout: _priced(holdout, number))
    except Exception as error:
        log_failure(_log, "not ready", error)
        return problem_reply(
            Problem(
                503,
                "not-ready",
                "The service is not ready",
                "a question of some ledger cannot be read and priced.",
                ("Look at the audit of every data set.",),
            )
        )
    return JsonReply({"status": "ready"})


def _priced(holdout: Holdout, number: float) -> None:
    """Read and price a question; that nothing more is answered is no fault of the service."""
    with suppress(Refused):
        ready_question(holdout, number).cost_of(holdout)


@operations.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={**file_reply("text/plain"), **problems(401, 403)},
)
async def metrics(service: Serving, token: AsCustodian) -> Response:
    """Requests, refusals and queues of all workers, and what is left, for Prometheus."""
    budgets: dict[str, Budget | None] = {}
    for name in service.names_for(token):
        try:
            budgets[name] = await service.served(name, token).read(lambda holdout: holdout.budget)
        except HoldfastError:
            budgets[name] = None
    text = service.metrics.text(budgets)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


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
        generate_unique_id_function=lambda route: route.name,
        redirect_slashes=False,  # which would go by the name that the request says
        lifespan=partial(_lifespan, service),
    )
    app.state.service = service
    for router in (
        rest,
        board_rest,
        custody,
        operations,
        dashboard,
        bench_pages,
        board_pages,
        gate_pages,
        planning,
        reference,
    ):
        app.include_router(router)
    for kind in (HoldfastError, Rejected):
        app.add_exception_handler(kind, _problem)
    app.add_exception_handler(SignedOut, _sign_in)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _by_status)
    plain = [*rest.routes, *board_rest.routes, *custody.routes]
    app.add_middleware(DirectRoutes, routes=plain, refusals=app.exception_handlers)
    app.add_middleware(Edge, service=service)
    return app


@asynccontextmanager
async def _lifespan(service: Service, _: FastAPI) -> AsyncIterator[None]:
    yield
    service.close()


async def _sign_in(request: Request, _: Exception) -> Response:
    if "hx-request" in request.headers:  # a part of a page: the whole page goes there
        return Response(status_code=204, headers={"HX-Redirect": "/login"})
    return RedirectResponse("/login", 303)


async def _problem(request: Request, error: Exception) -> Response:
    """A problem: for programs as JSON, for people, who ask for pages, as a page."""
    part = "hx-request" in request.headers
    if not part and not request.headers.get("accept", "").startswith("text/html"):
        return problem_reply(error)
    try:
        session = session_of(request, request.app.state.service)
    except SignedOut:
        session = None
    page = problem_page(problem_of(error), session)
    if part:  # it takes the place of the page that asked, and not of a part of it
        page.headers.update(
            {"HX-Retarget": "main", "HX-Reselect": "main", "HX-Reswap": "outerHTML"}
        )
    return page


async def _invalid(request: Request, error: Exception) -> Response:
    """Which field is wrong and why; what was sent is not sent back."""
    faults = error.errors() if isinstance(error, RequestValidationError) else []
    if any(each["type"] == "json_invalid" for each in faults):
        return await _problem(request, rejection(400, "the body is no JSON."))
    sentence = "; ".join(dict.fromkeys(map(_fault, faults[:5])))
    return await _problem(request, rejection(422, f"{sentence}."))


def _fault(fault: dict[str, Any]) -> str:
    place = ".".join(str(part)[:50] for part in fault["loc"])
    return f"{place}: {fault['msg']}"


async def _by_status(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    problem = rejection(status, _SAID[status]) if status in _SAID else error
    return await _problem(request, problem)


_ROWS = 4_096
_DECLARED = {"x": (0.0, 1.0), "y": (0.0, 1.0), "group": {"values": ["a", "b"]}}
_ASKED = (
    Asking("avg(y)", tolerance=0.4),
    Asking("avg(x > 0.5)"),
    Asking("median(x)"),
    Asking("std(x)"),
    Asking("avg(x)", by=("group",)),
    Asking("avg(y > 0.5)", guess=0.5, verb="check"),
    Asking("avg(x > 0.9)", at_most=0.9, verb="gate"),
)


def ask_one_of_each() -> None:
    """Price, ask and certify invented rows, in a folder that is removed.

    It is for a process that has one thread yet: no list of ledgers is kept meanwhile.
    """
    listed = os.environ.get(STATE)
    os.environ[STATE] = ""
    try:
        _ask_one_question()
    finally:
        os.environ.pop(STATE)
        if listed is not None:
            os.environ[STATE] = listed


def _ask_one_question() -> None:
    numbers = [place / _ROWS for place in range(_ROWS)]
    frame = pl.DataFrame({"x": numbers, "y": numbers[::-1], "group": ["a", "b"] * (_ROWS // 2)})
    with (
        tempfile.TemporaryDirectory() as folder,
        open_holdout(
            frame,
            ledger=Path(folder) / "rehearsal.ledger",
            questions=20,
            tolerance=0.4,
            schema=_DECLARED,
        ) as holdout,
    ):
        for asking in _ASKED:
            asking.cost_of(holdout)
            told(asking.put_to(holdout), details=True)
        certificate: ReuseCertificate = holdout.certificate()
        certificate.to_html()


def ready_question(holdout: Holdout, number: float) -> Asking:
    """A question that can be priced of every table; another `number` has to be read anew.

    Without a digit before its point the text has no shape that was read before.
    """
    name, written = next(iter(holdout.schema.types)).replace('"', '""'), f"{number:.17f}"
    return Asking(f'avg(case when "{name}" is null then {written.lstrip("0")} else 0 end)')
