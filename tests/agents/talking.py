"""Agents in tests: calls of tools, and the table that they are about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import numpy as np
import polars as pl
from mcp import Client
from mcp.types import CallToolResult

from holdfast.agents.server import server_of
from holdfast.agents.tools import Agent, Callers
from holdfast.holdout.holdout import Holdout

_Said = TypeVar("_Said")
HYPOTHESES = 20


def talk(callers: Callers, script: Callable[[Client], Awaitable[_Said]], **how: Any) -> _Said:
    """What an agent has at the end of its script, with a server in memory."""

    async def session() -> _Said:
        async with Client(server_of(callers, **how)) as client:
            return await script(client)

    return asyncio.run(session())


def called(holdout: Holdout, tool: str, who: str | None = "agent", **said: Any) -> CallToolResult:
    """What one call of a tool is told."""

    async def script(client: Client) -> CallToolResult:
        return await client.call_tool(tool, said)

    return talk(lambda _: Agent(holdout, who), script, name=holdout.name)


def facts_of(result: CallToolResult) -> dict[str, Any]:
    """The structure of a result that is no error."""
    assert not result.is_error, result.content
    facts: dict[str, Any] | None = result.structured_content
    assert facts is not None
    return facts


def texts_of(result: CallToolResult) -> list[str]:
    """The texts of a result."""
    return [content.text for content in result.content if content.type == "text"]


def hypotheses(rows: int, seed: int = 5) -> tuple[pl.DataFrame, list[float]]:
    """A label, twenty hypotheses about it, and how often each is right in the population."""
    rng = np.random.default_rng(seed)
    truths = [0.5 + 0.012 * place for place in range(HYPOTHESES)]
    rng.shuffle(truths)
    label = rng.random(rows) < 0.4
    columns = {
        f"h{place}": np.where(rng.random(rows) < truth, label, ~label)
        for place, truth in enumerate(truths)
    }
    return pl.DataFrame({"label": label, **columns}), truths
