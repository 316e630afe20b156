"""The doors: a real process over stdio, and streamable HTTP with a token for each caller."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from holdfast.agents.server import http_app, server_of
from holdfast.agents.tools import Agent
from holdfast.errors import NotAllowed
from tests.agents.talking import facts_of
from tests.cli.run import holdfast
from tests.holdout.tables import opened, table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table(2000).write_csv(tmp_path / "t.csv")
    done = holdfast("init", "t.csv", "--tolerance", "0.2", "--questions", "20", cwd=tmp_path)
    assert done.returncode == 0
    return tmp_path


def test_a_process_is_talked_to_as_its_configuration_says(folder: Path) -> None:
    """From another folder, with the paths of the configuration, and nothing else on its output."""
    done = holdfast("mcp", "t", "--asked-by", "the agent", "--json", cwd=folder)
    (server,) = json.loads(done.stdout)["mcpServers"].values()
    assert server["command"] == sys.executable

    async def session() -> dict[str, Any]:
        started = StdioServerParameters(
            command=server["command"],
            args=server["args"],
            cwd=folder.parent,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        async with Client(started) as client:
            described = facts_of(await client.call_tool("describe", {}))
            assert described["rows"] == 2000
            told = facts_of(
                await client.call_tool("check", {"question": "avg(late)", "guess": 0.25})
            )
            refused = await client.call_tool("ask", {"question": "avg(late)", "half_width": 1e-9})
            assert refused.is_error
            assert (refused.structured_content or {})["status"] == 409
            resource = await client.read_resource("holdfast://t/promise")
            assert "all together" in getattr(resource.contents[0], "text", "")
            return told

    told = asyncio.run(session())
    (line,) = json.loads(holdfast("ledger", "t", "--json", cwd=folder).stdout)
    (answer,) = told["answers"]
    assert (line["asked_by"], line["receipt"]) == ("the agent", answer["receipt"])
    assert holdfast("audit", "t", cwd=folder).returncode == 0


def test_the_ledgers_name_is_needed_before_anything_is_served(tmp_path: Path) -> None:
    done = holdfast("mcp", "nowhere", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no ledger" in done.stderr


def test_without_the_extra_it_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "holdfast.agents.server")
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    done = holdfast("mcp", "t", cwd=folder)
    assert done.returncode == 2
    assert "pip install 'holdfast[mcp]'" in done.stderr


def test_every_token_has_its_own_holdout_and_name(tmp_path: Path) -> None:
    how: dict[str, Any] = {"tolerance": 0.2, "questions": 20, "schema": {"x": (-60, 180)}}
    with (
        opened(tmp_path, table(2000), "one", **how) as one,
        opened(tmp_path, table(1500), "two", **how) as two,
    ):
        tokens = {"Bearer a": Agent(one, "ann"), "Bearer b": Agent(two, "bob")}

        def by_token(request: Any) -> Agent:
            token = request.headers.get("authorization", "")
            if token not in tokens:
                raise NotAllowed("there is no such token. Ask the custodian for one.")
            return tokens[token]

        app = http_app(server_of(by_token), hosts=["holdfast.test"])

        async def ask(token: str, question: str, host: str = "holdfast.test") -> Any:
            transport = httpx2.ASGITransport(app)
            headers = {"Authorization": token}
            async with (
                httpx2.AsyncClient(transport=transport, headers=headers) as http,
                Client(streamable_http_client(f"http://{host}/", http_client=http)) as client,
            ):
                return await client.call_tool("ask", {"question": question})

        async def session() -> None:
            async with app.router.lifespan_context(app):
                found = await asyncio.gather(*(ask(token, "avg(late)") for token in tokens))
                assert [facts_of(each)["answers"][0]["n"] for each in found] == [2000, 1500]
                assert (await ask("Bearer c", "avg(x > 3)")).is_error
                refused = await ask("Bearer a", "avg(nothing)")
                assert (refused.structured_content or {})["status"] == 422
                with pytest.raises(Exception, match=r"(?i)421|host|error"):
                    await ask("Bearer a", "avg(x > 9)", host="elsewhere.test")

        asyncio.run(session())
        assert [line.request.by for line in (*one.ledger, *two.ledger)] == ["ann", "bob"]
