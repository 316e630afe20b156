"""REST, from the service's own OpenAPI description."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.writers.markdown import generated, page, table

from holdfast.service.app import app_of
from holdfast.service.data_set import Service
from holdfast.service.problems import known_problems
from holdfast.service.reference import Field, RestOperation, operations_of

__all__ = ["http_page"]

# Fields of many operations, said once.
_EVERYWHERE = (("dataset", "path"), ("details", "query"), ("Idempotency-Key", "header"))


def http_page() -> str:
    """Every operation with who may call it, its fields and its replies; then every problem."""
    with TemporaryDirectory() as folder:
        groups = operations_of(app_of(Service.of(Path(folder))))
    every = [operation for operations in groups.values() for operation in operations]
    known = {(each.name, each.place): each for operation in every for each in operation.fields}
    common = set.intersection(*(_problems(each) for each in every if "/api/" in each.path))
    lines = [
        generated("the service's OpenAPI description"),
        "# HTTP\n",
        "What `holdfast serve` answers; [The service](../service.md) says how to run it, with "
        "examples. Bodies and replies are JSON. Send a token with every request: "
        "`Authorization: Bearer hf_...`. A running service shows this page at `/docs`, and the "
        "same as OpenAPI at `/openapi.json`.\n",
        *table(
            ("operation", "whose token", "what it does"),
            [(f"`{each.method} {each.path}`", each.caller, each.about) for each in every],
        ),
        "Fields that many operations have:\n",
        *_fields(known[field] for field in _EVERYWHERE),
        f"Every operation under `/api` may reply with the [problems](#problems) {_listed(common)}; "
        "those that one has beside these are said with it.\n",
    ]
    said: dict[str, str] = {}  # the operation that has a reply first
    for tag, operations in groups.items():
        lines.append(f"## {tag.capitalize()}\n")
        for each in operations:
            call = f"{each.method} {each.path}"
            lines += [f"### `{call}`\n", f"{each.about} For: {each.caller}.\n"]
            lines += _fields(
                field for field in each.fields if (field.name, field.place) not in _EVERYWHERE
            )
            if told := each.reply:
                first = said.setdefault(told, call)
                reply = told if first == call or len(told) < len(first) else f"as of `{first}`"
                lines.append(f"Reply ({min(each.statuses)}): {reply}.\n")
            if more := _problems(each) - common:
                lines.append(f"Problems beside those of all: {_listed(more)}.\n")
    return page(*lines, *_all_problems())


def _fields(fields: Iterable[Field]) -> list[str]:
    return table(
        ("field", "in", "type", "meaning"),
        [
            (
                f"`{each.name}`{' (needed)' if each.needed else ''}",
                each.place,
                each.type,
                each.about,
            )
            for each in fields
        ],
    )


def _problems(operation: RestOperation) -> set[int]:
    return {each for each in operation.statuses if each >= HTTPStatus.BAD_REQUEST}


def _listed(statuses: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(statuses)))


def _all_problems() -> list[str]:
    return [
        "## Problems\n",
        "Whatever goes wrong is a problem as RFC 9457 has it (`application/problem+json`): `type`, "
        "`title`, `status`, `detail`, `error` (the class that a local holdout raises, see "
        "[Errors](errors.md)) and `next_steps`. A refusal (409) also says in numbers what is "
        "lacking: `of`, `requested`, `remaining` and `missing`, null where it is not about a "
        "number.\n",
        *table(
            ("status", "type", "title", "what to do"),
            [
                (str(each.status), f"`{each.type}`", each.title, " ".join(each.next_steps))
                for each in sorted(known_problems(), key=lambda each: each.status)
            ],
        ),
    ]
