"""Agents at a service: the tools at /mcp, with tokens, caps and keys, and no canary in a reply."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from holdfast.agents.mounting import mount_agents
from holdfast.service.app import app_of
from holdfast.service.data_set import Service
from tests.agents.talking import facts_of
from tests.service.serving import LATE, bearer, publish, require_clean

_Said = TypeVar("_Said")


def talk(
    service: Service,
    headers: dict[str, str],
    script: Callable[[Client], Awaitable[_Said]],
    query: str = "",
) -> _Said:
    """What an agent has at the end of its script; canaries are looked for in every reply."""
    app = app_of(service)
    mount_agents(app, service)

    async def look_at(reply: httpx2.Response) -> None:
        require_clean(f"{reply.headers} {(await reply.aread()).decode()}")

    async def session() -> _Said:
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(
                transport=httpx2.ASGITransport(app),
                headers=headers,
                event_hooks={"response": [look_at]},
            ) as http,
            Client(
                streamable_http_client(f"http://holdfast.test/mcp/{query}", http_client=http)
            ) as client,
        ):
            return await script(client)

    return asyncio.run(session())


def posted(service: Service, headers: dict[str, str]) -> httpx2.Response:
    """The reply to somebody who is no agent."""
    app = app_of(service)
    mount_agents(app, service)

    async def session() -> httpx2.Response:
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=httpx2.ASGITransport(app), headers=headers) as http,
        ):
            return await http.post("http://holdfast.test/mcp/", json={})

    return asyncio.run(session())


def test_an_agent_asks_the_ledger_that_people_ask(service: Service, ada: dict[str, str]) -> None:
    async def script(client: Client) -> dict[str, Any]:
        described = facts_of(await client.call_tool("describe", {}))
        assert (described["name"], described["rows"]) == ("flights", 4_000)
        assert facts_of(await client.call_tool("cost", {"question": LATE}))["bits"]
        said = {"question": LATE, "guess": 0.25}
        told = facts_of(await client.call_tool("check", said))
        again = facts_of(await client.call_tool("check", said))
        assert again["answers"][0]["status"] == "repeated"
        (line,) = facts_of(await client.call_tool("history", {}))["lines"]
        assert (line["mine"], line["number"]) == (True, 1)
        resource = await client.read_resource("holdfast://flights/schema")
        assert "origin" in getattr(resource.contents[0], "text", "")
        assert facts_of(await client.call_tool("budget", {}))["checks"] == 1
        return told

    assert talk(service, ada, script)["answers"][0]["status"] == "confirmed"


def test_a_cap_and_a_key_are_the_services(service: Service) -> None:
    once = bearer(service, "once", questions=1)

    async def script(client: Client) -> list[CallToolResult]:
        said = {"question": "avg(x > 20)", "request_key": "first"}
        return [
            await client.call_tool("ask", said),
            await client.call_tool("ask", said),
            await client.call_tool("ask", {"question": "avg(x > 30)"}),
        ]

    first, again, refused = talk(service, once, script)
    assert facts_of(first) == facts_of(again)
    problem = refused.structured_content or {}
    assert (refused.is_error, problem["status"], problem["of"]) == (True, 409, "questions")
    assert (problem["requested"], problem["remaining"], problem["missing"]) == (1, 0, 1)


def test_a_viewer_may_look_and_not_ask(service: Service) -> None:
    async def script(client: Client) -> CallToolResult:
        assert facts_of(await client.call_tool("budget", {}))["asked"] == 0
        return await client.call_tool("ask", {"question": LATE})

    viewer = talk(service, bearer(service, "vi", "viewer"), script)
    assert (viewer.structured_content or {})["status"] == 403


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer hf_x_y"}, {"Authorization": "x"}])
def test_without_a_token_nobody_gets_to_the_tools(service: Service, header: dict[str, str]) -> None:
    reply = posted(service, header)
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"] == "Bearer"
    assert reply.json()["next_steps"]


def test_a_token_for_several_data_sets_says_which(service: Service) -> None:
    publish(service.folder, "other", seed=2)
    custodian = bearer(service, "cy", "custodian")

    async def script(client: Client) -> dict[str, Any]:
        return facts_of(await client.call_tool("describe", {}))

    assert talk(service, custodian, script, "?dataset=other")["name"] == "other"


def test_of_several_data_sets_none_is_meant_by_itself(service: Service) -> None:
    publish(service.folder, "other", seed=2)
    reply = posted(service, bearer(service, "cy", "custodian"))
    assert reply.status_code == 422
    assert "?dataset=NAME" in reply.text


def test_any_number_of_agents_may_share_a_capped_token(service: Service) -> None:
    """Calls that wait hold no thread that what they wait for needs."""
    capped = bearer(service, "capped", questions=1_000)

    async def script(client: Client) -> list[CallToolResult]:
        said = [{"question": f"avg(x > {n})"} for n in range(60)]
        calls = (client.call_tool("ask", each) for each in said)
        return await asyncio.wait_for(asyncio.gather(*calls), 60)

    assert all(not each.is_error for each in talk(service, capped, script))


def test_progress_is_sent_as_it_comes(service: Service, ada: dict[str, str]) -> None:
    heard: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async def script(client: Client) -> CallToolResult:
        said = {"question": LATE}
        return await client.call_tool("ask", said, progress_callback=note)

    assert facts_of(talk(service, ada, script))["answers"][0]["value"] is not None
    assert heard == ["asked; waiting for 0 s"]
