"""What agents are offered over the Model Context Protocol: tools, resources, instructions."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from docs.writers.markdown import generated, page, table
from mcp.server.mcpserver import MCPServer
from mcp.types import Tool

from holdfast.agents.server import server_of
from holdfast.agents.tools import Agent

__all__ = ["mcp_page"]

_ITEM = re.compile(r"\n   (?=\S)")  # a line of an instruction that goes on


def mcp_page() -> str:
    """Every tool with what it takes and returns, the resources, and what agents are told."""
    server = server_of(_nobody)
    tools = asyncio.run(server.list_tools())
    lines = [
        generated("the server for agents"),
        "# MCP\n",
        "What `holdfast mcp NAME`, and `/mcp` of a service, offer to agents; "
        "[Agents](../agents.md) says how to connect one. Whatever goes wrong is a tool error with "
        "the members of a [problem](http.md#problems): what is the matter, and what to do next.\n",
        *table(
            ("tool", "spends", "what it does"),
            [
                (f"[`{each.name}`](#{each.name})", _spends(each), _summary(each.description or ""))
                for each in tools
            ],
        ),
        "## What agents are told first\n",
        f"{_ITEM.sub(' ', server.instructions or '').strip()}\n",
        "## Resources\n",
        *_resources(server),
    ]
    told: dict[str, dict[str, Any]] = {}  # what tools return, by its name
    for each in tools:
        returned = each.output_schema or {}
        told |= {**returned.get("$defs", {}), returned["title"]: returned}
        lines += [
            f"## `{each.name}`\n",
            f"{each.description}\n",
            *_fields(each.input_schema, "argument"),
            f"Returns: [`{returned['title']}`](#{returned['title'].lower()}).\n",
        ]
    lines.append("## What tools return\n")
    for name, schema in told.items():
        lines += [f"### `{name}`\n", f"{schema['description']}\n", *_fields(schema, "field")]
    return page(*lines)


def _nobody(_: Any) -> Agent:
    raise NotImplementedError("pages are written of what is offered; nobody calls.")


def _spends(tool: Tool) -> str:
    free = tool.annotations is not None and tool.annotations.read_only_hint
    return "nothing" if free else "what is left"


def _summary(description: str) -> str:
    return description.partition("\n\n")[0]


def _resources(server: MCPServer) -> list[str]:
    found = asyncio.run(server.list_resource_templates())
    rows = [(f"`{each.uri_template}`", each.description or "") for each in found]
    return table(("resource", "what it is"), rows)


def _fields(schema: dict[str, Any], what: str) -> list[str]:
    needed = schema.get("required", ()) if what == "argument" else ()
    rows = [
        (
            f"`{name}`{' (needed)' if name in needed else ''}",
            _type(each),
            each.get("description", ""),
        )
        for name, each in schema.get("properties", {}).items()
    ]
    return table((what, "type", "meaning"), rows)


def _type(schema: dict[str, Any]) -> str:
    """A type in words."""
    match schema:
        case {"$ref": str(name)}:
            named = name.rpartition("/")[2]
            return f"[`{named}`](#{named.lower()})"
        case {"anyOf": [*kinds]}:
            return " or ".join(_type(each) for each in kinds if each.get("type") != "null")
        case {"prefixItems": [*kinds]}:
            return "[" + ", ".join(map(_type, kinds)) + "]"
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case _:
            return str(schema.get("type", "anything"))
