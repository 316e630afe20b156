"""`/docs`: what REST offers, from the OpenAPI description, as a page that loads nothing."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from holdfast.service.dashboard import rendered
from holdfast.service.offered import operations_of
from holdfast.service.problems import known_problems

__all__ = ["reference"]

reference = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@reference.get("/docs")
async def docs(request: Request) -> Response:
    """Every operation with its fields, and every problem."""
    return rendered(
        "reference.html",
        about=request.app.description,
        groups=operations_of(request.app),
        problems=known_problems(),
    )
