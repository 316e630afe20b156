"""The page of a gate: who is the one to beat, what was compared, and a form to compare."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from holdfast.holdout.holdout import Holdout
from holdfast.service.access import Serving
from holdfast.service.dashboard import Signed, rendered
from holdfast.service.shown import gate_shown

__all__ = ["gate_pages"]

gate_pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@gate_pages.get("/data/{dataset}/gate")
async def show_gate(dataset: str, service: Serving, session: Signed) -> Response:
    served = service.served(dataset, session.token)

    def read(holdout: Holdout) -> dict[str, Any]:
        return gate_shown(holdout, session.token)

    return rendered(
        "gate.html",
        session=session,
        dataset=dataset,
        kind=await served.kind(),
        facts=await served.read(read),
    )
