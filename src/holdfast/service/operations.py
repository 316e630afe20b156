"""What those who run the service look at: is it up, is it ready, what did it do."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from holdfast.errors import HoldfastError
from holdfast.service.access import AsCustodian, Serving
from holdfast.service.problems import Problem
from holdfast.service.replies import JsonReply, problem_reply, problems
from holdfast.service.tokens import Token

__all__ = ["operations"]

operations = APIRouter(tags=["operations"])
# Who looks whether all ledgers can be read; it opens nothing else.
_NOBODY = Token("", "", "viewer", None, 0, "", None, None)


@operations.get("/health")
async def health() -> Any:
    """The process is up."""
    return JsonReply({"status": "up"})


@operations.get("/ready", responses=problems(503))
async def ready(service: Serving) -> Any:
    """Every ledger can be read; which one cannot is not told to strangers."""
    try:
        for name in service.folder.names:
            await service.served(name, _NOBODY).read(lambda holdout: holdout.budget)
    except HoldfastError:
        return problem_reply(
            Problem(
                503,
                "not-ready",
                "The service is not ready",
                "a ledger cannot be read.",
                ("Look at the audit of every data set.",),
            )
        )
    return JsonReply({"status": "ready"})


@operations.get("/metrics", response_class=PlainTextResponse, responses=problems(401, 403))
async def metrics(service: Serving, token: AsCustodian) -> Response:
    """Requests of this worker, as Prometheus reads them."""
    del token
    return PlainTextResponse(service.metrics.text())
