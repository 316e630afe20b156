"""`/docs`: what REST offers, from the OpenAPI description, as a page that loads nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from holdfast.service.dashboard import rendered

__all__ = ["reference"]

reference = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@reference.get("/docs")
async def docs(request: Request) -> Response:
    """Every operation with its fields."""
    described = request.app.openapi()
    schemas = described.get("components", {}).get("schemas", {})
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            shown = _operation(path, method, operation, schemas)
            groups.setdefault(operation.get("tags", ["other"])[0], []).append(shown)
    return rendered("reference.html", about=described["info"]["description"], groups=groups)


def _operation(
    path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]
) -> dict[str, Any]:
    parameters = [
        {
            "name": each["name"],
            "where": each["in"],
            "type": _type(each["schema"], schemas),
            "required": each.get("required", False),
            "about": each.get("description") or each["schema"].get("description", ""),
        }
        for each in operation.get("parameters", [])
    ]
    body: dict[str, Any] = next(
        iter(operation.get("requestBody", {}).get("content", {}).values()), {}
    )
    return {
        "path": path,
        "method": method.upper(),
        "about": operation.get("description", ""),
        "parameters": [*parameters, *_fields(body.get("schema", {}), schemas)],
        "statuses": sorted(operation["responses"]),
    }


def _fields(schema: dict[str, Any], schemas: dict[str, Any]) -> Iterator[dict[str, Any]]:
    found = _resolved(schema, schemas)
    for name, each in found.get("properties", {}).items():
        yield {
            "name": name,
            "where": "body",
            "type": _type(each, schemas),
            "required": name in found.get("required", []),
            "about": each.get("description", ""),
        }


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = schemas.get(name, schema)
    return found


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
