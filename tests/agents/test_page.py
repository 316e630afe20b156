"""The documentation of agents is true: its example runs, and it names the tools that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from mcp import Client

from holdfast.agents.tools import Agent
from tests.agents.talking import talk
from tests.cli.run import holdfast
from tests.holdout.tables import made, opened

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = blocks("python")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "agents.md", "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("h4 confirmed")
    assert "5 checked, 0 not confirmed" in said
    printed = json.loads(said[said.index("\n{\n") :])
    shown = json.loads(blocks("json")[-1])
    for number in ("remaining", "missing"):  # but for the last digits of another machine
        assert printed.pop(number) == pytest.approx(shown.pop(number), rel=1e-9)
    assert printed == shown


def test_the_page_names_every_tool(tmp_path: Path) -> None:
    made(tmp_path)

    async def script(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    with opened(tmp_path) as holdout:
        tools = talk(lambda _: Agent(holdout), script)
    table = PAGE.partition("| tool |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == sorted(tools)


def test_the_configuration_has_the_form_of_the_page(tmp_path: Path) -> None:
    shown = json.loads(blocks("json")[0])["mcpServers"]["flights"]
    made(tmp_path, name="flights")
    printed = holdfast(
        "mcp", "flights", "--asked-by", "research-agent", "--json", cwd=tmp_path
    ).stdout
    found = json.loads(printed)["mcpServers"]["flights"]
    assert found.keys() == shown.keys()
    assert [Path(word).name for word in found["args"]] == [
        Path(word).name for word in shown["args"]
    ]
