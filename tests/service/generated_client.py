"""A client in Python, written from an OpenAPI description: a type for each schema, a call for each
operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
}
_HEAD = """\
from __future__ import annotations
from collections.abc import Callable
from typing import Any, Literal, NotRequired, Required, TypedDict
"""


def client_source(description: dict[str, Any]) -> str:
    """The source of the client."""
    schemas = description["components"]["schemas"]
    parts = [_HEAD, *(_type_source(name, schema) for name, schema in schemas.items())]
    for path, operations in description["paths"].items():
        parts += [_call_source(path, method, each) for method, each in operations.items()]
    return "\n\n".join(parts)


def _type_source(name: str, schema: dict[str, Any]) -> str:
    if "properties" not in schema:
        return f"{name} = {_type(schema)!r}"
    needed = schema.get("required", ())
    fields = ", ".join(
        f"{field!r}: {'Required' if field in needed else 'NotRequired'}[{_type(each)!r}]"
        for field, each in schema["properties"].items()
    )
    return f"{name} = TypedDict({name!r}, {{{fields}}})"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(_type(each) for each in schema[several])
    if "enum" in schema or "const" in schema:
        return f"Literal{schema.get('enum', [schema.get('const')])!r}"
    if schema.get("type") == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    return _TYPES.get(schema.get("type", ""), "Any")


def _call_source(path: str, method: str, operation: dict[str, Any]) -> str:
    parameters = list(_parameters(operation))
    body = next(iter(operation.get("requestBody", {}).get("content", {}).values()), None)
    words = [f"{name}: {kind}{'' if needed else ' = None'}" for name, _, kind, needed in parameters]
    if body is not None:
        words.append(f"body: {_type(body['schema'])}")
    placed = {
        place: ", ".join(
            f"{alias!r}: {name}" for name, (alias, at), _, _ in parameters if at == place
        )
        for place in ("query", "header")
    }
    status = min(operation["responses"])
    content: list[dict[str, Any]] = list(operation["responses"][status]["content"].values())
    reply = content[0]["schema"]
    sent = "body" if body is not None else "None"
    signature = ", ".join(["send: Callable[..., Any]", *(["*", *words] if words else [])])
    return (
        f"def {operation['operationId']}({signature}) -> {_type(reply)}:\n"
        f"    query = {{name: value for name, value in {{{placed['query']}}}.items() "
        "if value is not None}\n"
        f"    headers = {{name: value for name, value in {{{placed['header']}}}.items() "
        "if value is not None}\n"
        f"    return send({method.upper()!r}, f{path!r}, query, headers, {sent})"
    )


def _parameters(operation: dict[str, Any]) -> Iterator[tuple[str, tuple[str, str], str, bool]]:
    """The name, what it is called where it is sent, its type, and whether it is needed."""
    every = operation.get("parameters", [])
    for each in sorted(every, key=lambda each: not each.get("required", False)):
        name = each["name"].replace("-", "_").lower()
        yield name, (each["name"], each["in"]), _type(each["schema"]), each.get("required", False)
