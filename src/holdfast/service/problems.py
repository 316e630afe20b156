"""Problems in RFC 9457's form, for people and programs alike, and plain replies.

The one place that turns an error into requested, remaining, missing and next steps. What an error
says of files and folders stays here: trouble with them has the same words whatever they are called.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple

from pydantic import BaseModel
from starlette.responses import Response

from holdfast import errors
from holdfast.errors import HoldfastError, Refused, Shortfall

_TYPE = "urn:holdfast:problem:"
# Every text is a sentence of fact, and sentences of what to do next.
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z])")


class _Kind(NamedTuple):
    """What is said of every error of a class; `detail` in place of a text that may name files."""

    status: int
    name: str
    title: str
    next_step: str
    detail: str | None = None
    retry_after: int | None = None


_TELL = "Tell the custodian of the data."
_NOT_SPENT = "nothing was asked and nothing was spent."
_UNKNOWN = _Kind(
    500,
    "failed",
    "The service failed",
    "Send the same request again with the same Idempotency-Key: it is answered once.",
    "something failed that should not.",
)
# From the particular to the general: the first class that fits is taken.
_KINDS: tuple[tuple[type[HoldfastError], _Kind], ...] = (
    (
        errors.Retired,
        _Kind(410, "retired", "The data set is retired", "Ask the data set that follows it."),
    ),
    (
        errors.Refused,
        _Kind(
            409,
            "refused",
            "Refused: the promise could not be kept",
            "Repeat an earlier question for free, or ask for a larger tolerance.",
        ),
    ),
    (
        errors.InvalidQuestion,
        _Kind(
            422,
            "invalid-question",
            "The question cannot be asked",
            "Write the question in another way; nothing was spent.",
        ),
    ),
    (
        errors.InvalidArgument,
        _Kind(
            422,
            "invalid-argument",
            "Something that was given is not allowed",
            "Correct it and ask again; nothing was spent.",
        ),
    ),
    (
        errors.DataChanged,
        _Kind(
            503,
            "data-changed",
            "The data is not the protected table",
            _TELL,
            f"the table is no longer the one that the ledger protects; {_NOT_SPENT}",
        ),
    ),
    (
        errors.LedgerTampered,
        _Kind(
            503,
            "ledger-tampered",
            "The ledger is not in order",
            _TELL,
            f"the ledger does not follow from its own entries, so {_NOT_SPENT}",
        ),
    ),
    (
        errors.LedgerBusy,
        _Kind(
            503,
            "ledger-busy",
            "Others are asking",
            "Send the same request again in a moment.",
            f"another program holds the ledger; {_NOT_SPENT}",
            retry_after=1,
        ),
    ),
    (
        errors.LedgerUnavailable,
        _Kind(
            503,
            "ledger-unavailable",
            "The ledger cannot be used",
            _TELL,
            "the ledger cannot be read or written now; nothing that was recorded is lost.",
            retry_after=10,
        ),
    ),
    (
        errors.MissingExtra,
        _Kind(
            503,
            "not-installed",
            "A part of the service is not installed",
            _TELL,
            "what this needs is not installed where the data is served.",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: its HTTP status, what is the matter, and what to do next.

    `error` is the name of the class that a local holdout raises. `shortfall` has the numbers of a
    refusal, and `retry_after` (seconds) is there where waiting helps.
    """

    status: int
    kind: str
    title: str
    detail: str
    next_steps: tuple[str, ...]
    error: str = "HoldfastError"
    shortfall: Shortfall | None = None
    retry_after: int | None = None

    @property
    def type(self) -> str:
        """Its name for programs, as a URN."""
        return f"{_TYPE}{self.kind}"

    def to_dict(self) -> dict[str, Any]:
        """The members of an RFC 9457 problem; refusals also say what is lacking."""
        body: dict[str, Any] = {
            "type": self.type,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "error": self.error,
            "next_steps": list(self.next_steps),
        }
        if self.status == 409:
            body |= _numbers(self.shortfall)
        return body

    def __str__(self) -> str:
        """What is the matter and what to do next, in one paragraph."""
        return " ".join([self.detail, *self.next_steps])


def _numbers(shortfall: Shortfall | None) -> dict[str, Any]:
    """Every refusal has these members; null where it is not about a number."""
    if shortfall is None:
        return dict.fromkeys(("of", "requested", "remaining", "missing"))
    return {
        "of": shortfall.of,
        "requested": shortfall.requested,
        "remaining": shortfall.remaining,
        "missing": shortfall.missing,
    }


class Rejected(Exception):
    """What the service itself says no to, before any holdout is asked."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.title)
        self.problem = problem


# What is said no to, by status: its name, its title, and what to do next.
_REJECTIONS = {
    400: ("malformed", "The request cannot be read", "Send JSON with the fields of /docs."),
    401: ("no-token", "A token is needed", "Send the header Authorization: Bearer hf_..."),
    403: ("not-allowed", "The token does not allow this", "Ask the custodian for another token."),
    404: ("not-found", "There is no such thing", "GET /api/v1/datasets lists what there is."),
    405: ("no-such-method", "This address does something else", "See /docs."),
    413: ("too-large", "The request is too large", "Send less at once."),
    422: ("invalid", "The request is not understood", "See /docs for its fields."),
    429: ("too-many", "Too many attempts", "Wait, and try again."),
}


def rejection(status: int, detail: str, retry_after: int | None = None) -> Rejected:
    """What is said no to, in the words of its status."""
    kind, title, next_step = _REJECTIONS[status]
    error = "NotAllowed" if status in (401, 403, 429) else "InvalidArgument"
    return Rejected(
        Problem(status, kind, title, detail, (next_step,), error, retry_after=retry_after)
    )


def problem_of(error: Exception) -> Problem:
    """The problem that an error is; of errors that nobody foresaw nothing is told."""
    if isinstance(error, Rejected):
        return error.problem
    name = next(
        (each.__name__ for each in type(error).__mro__ if hasattr(errors, each.__name__)),
        "HoldfastError",
    )
    kind = next((kind for error_type, kind in _KINDS if isinstance(error, error_type)), _UNKNOWN)
    text = str(error) if kind.detail is None else f"{kind.detail} {kind.next_step}"
    detail, *steps = _BETWEEN_SENTENCES.split(text)
    return Problem(
        kind.status,
        kind.name,
        kind.title,
        detail,
        tuple(steps) or (kind.next_step,),
        name,
        error.shortfall if isinstance(error, Refused) else None,
        kind.retry_after,
    )


def known_problems() -> list[Problem]:
    """Every problem that there is, without the words of one case; for those who describe them."""
    return [
        *(rejection(status, "").problem for status in _REJECTIONS),
        *(problem_of(error_type("")) for error_type, _ in _KINDS),
        problem_of(HoldfastError("")),
    ]


def error_of(body: dict[str, Any]) -> HoldfastError:
    """The error that a local holdout would have raised for a problem that was received."""
    text = " ".join([str(body.get("detail", "")), *map(str, body.get("next_steps", ()))]).strip()
    named = getattr(errors, str(body.get("error")), None)
    error_type = (
        named if isinstance(named, type) and issubclass(named, HoldfastError) else HoldfastError
    )
    if not issubclass(error_type, Refused):
        return error_type(text)
    numbers = [body.get(name) for name in ("of", "requested", "remaining")]
    return error_type(text, None if None in numbers else Shortfall(*numbers))  # type: ignore[arg-type]


# Replies: JSON that is the same for the same values, and problems as RFC 9457 has them.


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


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of replies with these statuses."""
    content = {"application/problem+json": {"schema": ProblemReply.model_json_schema()}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content}
        for status in statuses
    }
