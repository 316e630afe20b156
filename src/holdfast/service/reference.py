"""`/docs`: what REST offers, as plain values and as a page that loads nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import HTMLResponse, Response

from holdfast.service.dashboard import rendered
from holdfast.service.problems import known_problems

# What REST offers, as plain values: every operation with who may call it, and its fields.


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a request; `place` is path, query, header or body."""

    name: str
    place: str
    type: str
    needed: bool
    about: str


@dataclass(frozen=True, slots=True)
class RestOperation:
    """One operation: `caller` says who may call it, `statuses` how it may reply.

    `reply` has the fields of what it replies, or the kinds of files.
    """

    method: str
    path: str
    about: str
    caller: str
    fields: tuple[Field, ...]
    statuses: tuple[int, ...]
    reply: str


def operations_of(app: FastAPI) -> dict[str, list[RestOperation]]:
    """Every operation of the OpenAPI description, by what it is about."""
    described = app.openapi()
    schemas = described.get("components", {}).get("schemas", {})
    by_tag: dict[str, list[RestOperation]] = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            entry = RestOperation(
                method.upper(),
                path,
                operation.get("description", ""),
                _caller(operation),
                (*_parameters(operation, schemas), *_of_body(operation, schemas)),
                tuple(sorted(map(int, operation["responses"]))),
                _reply(operation, schemas),
            )
            by_tag.setdefault(operation["tags"][0], []).append(entry)
    return by_tag


def _caller(operation: dict[str, Any]) -> str:
    """Whose token it needs: OpenAPI has the roles as scopes of the token."""
    needed: list[dict[str, list[str]]] = operation.get("security", [])
    if not needed:
        return "anyone, without a token"
    roles = [role for each in needed for scopes in each.values() for role in scopes]
    return " or ".join(roles) or "any token"


def _parameters(operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[Field]:
    for each in operation.get("parameters", []):
        about = each.get("description") or each["schema"].get("description", "")
        needed = each.get("required", False)
        yield Field(each["name"], each["in"], _type(each["schema"], schemas), needed, about)


def _of_body(operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[Field]:
    content = operation.get("requestBody", {}).get("content", {})
    body: dict[str, Any] = next(iter(content.values()), {})
    schema = _resolved(body.get("schema", {}), schemas)
    for name, each in schema.get("properties", {}).items():
        needed = name in schema.get("required", [])
        yield Field(name, "body", _type(each, schemas), needed, each.get("description", ""))


def _reply(operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    """What an operation replies with when nothing is wrong, in words."""
    content = operation["responses"][min(operation["responses"])].get("content", {})
    names = [_field_names(each["schema"], schemas) or kind for kind, each in content.items()]
    return " or ".join(names)


def _field_names(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """The names of fields; of a list of records also theirs."""
    schema = _resolved(schema, schemas)
    if "anyOf" in schema:
        return "; or ".join(_field_names(each, schemas) for each in schema["anyOf"])
    named = []
    for name, each in schema.get("properties", {}).items():
        own = _field_names(each.get("items", {}), schemas)
        left_out = name not in schema.get("required", ())
        facts = [*(["may be left out"] if left_out else []), *([f"each: {own}"] if own else [])]
        named.append(f"`{name}` ({'; '.join(facts)})" if facts else f"`{name}`")
    return ", ".join(named)


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    definition: dict[str, Any] = schemas.get(name, schema)
    return definition


def _type(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """A type in words."""
    schema = _resolved(schema, schemas)
    if "anyOf" in schema:
        kinds = [_type(each, schemas) for each in schema["anyOf"]]
        return " or ".join(kind for kind in kinds if kind != "null")
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    kind = str(schema.get("type", "anything"))
    return f"list of {_type(schema['items'], schemas)}" if kind == "array" else kind


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
