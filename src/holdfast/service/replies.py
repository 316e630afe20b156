"""Replies: JSON that is the same for the same values, and problems as RFC 9457 has them."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, Literal

from pydantic import BaseModel
from starlette.responses import Response

from holdfast.certificate.certificate import ReuseCertificate
from holdfast.service.problems import Problem, problem_of

__all__ = ["JsonReply", "ProblemReply", "certificate_file", "problem_reply", "problems"]


class JsonReply(Response):
    """Plain values; ASCII, so that half a character in a text is no trouble."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class ProblemReply(BaseModel):
    """A problem (RFC 9457). Of a refusal (409), the numbers say what is lacking."""

    type: str
    title: str
    status: int
    detail: str
    error: str
    next_steps: list[str]
    of: str | None = None
    requested: float | None = None
    remaining: float | None = None
    missing: float | None = None


def problem_reply(error: Exception | Problem) -> Response:
    """The reply to a request that went wrong."""
    problem = error if isinstance(error, Problem) else problem_of(error)
    reply = JsonReply(problem.to_dict(), problem.status, media_type="application/problem+json")
    if problem.retry_after is not None:
        reply.headers["Retry-After"] = str(problem.retry_after)
    if problem.status == HTTPStatus.UNAUTHORIZED:
        reply.headers["WWW-Authenticate"] = "Bearer"
    return reply


def certificate_file(
    certificate: ReuseCertificate, dataset: str, form: Literal["html", "json"]
) -> Response:
    """A certificate as a file to keep: it says everything by itself, and needs no service."""
    text = certificate.to_html() if form == "html" else certificate.to_json()
    kind = "text/html; charset=utf-8" if form == "html" else "application/json"
    named = {"Content-Disposition": f'attachment; filename="{dataset}-reuse.{form}"'}
    return Response(text, media_type=kind, headers=named)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of replies with these statuses."""
    content = {"application/problem+json": {"schema": ProblemReply.model_json_schema()}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content}
        for status in statuses
    }
