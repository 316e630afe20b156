"""The reference has every public name, and every public name says what it is."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

import holdfast
from holdfast.agents.server import server_of
from holdfast.cli import whole_app

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
LEDGER = ROOT / "src" / "holdfast" / "ledger"
# What people import, and the pages that have their names.
PUBLIC = {
    "holdfast": ("api", "objects", "errors"),
    "holdfast.evals": ("modules", "objects"),
    "holdfast.guessers": ("modules",),
    "holdfast.optuna": ("modules",),
    "holdfast.papers": ("modules",),
    "holdfast.sampling": ("modules",),
    "holdfast.sklearn": ("modules",),
    "holdfast.stats": ("modules",),
    "holdfast.tails": ("modules",),
    "holdfast.trackers": ("modules",),
}
FIELD = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def _page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_the_reference(module: str) -> None:
    pages = "\n".join(map(_page, PUBLIC[module]))
    named = set(re.findall(r"^(?:##+ |\| )`(\w+)`", pages, re.MULTILINE))
    assert set(importlib.import_module(module).__all__) <= named


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_says_what_it_is(module: str) -> None:
    found = importlib.import_module(module)
    assert inspect.getdoc(found)
    silent = [
        where
        for name in found.__all__
        for where, each in _documented(name, getattr(found, name))
        if not inspect.getdoc(each)
    ]
    assert not silent


def _documented(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """A name, and if it is a class what it does beside what a protocol says; no alias of a type."""
    if not inspect.isclass(thing):
        yield from [(name, thing)] if inspect.isroutine(thing) else []
        return
    yield name, thing
    protocol = {each for each in vars(holdfast.guessers.Guesser) if not each.startswith("_")}
    told = protocol if protocol <= vars(thing).keys() else set()
    for member, value in vars(thing).items():
        plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        own = isinstance(plain, property) or inspect.isfunction(plain)
        if own and not member.startswith("_") and member not in told:
            yield f"{name}.{member}", plain


def _commands(command: Any, words: str) -> Iterator[tuple[str, TyperCommand]]:
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from _commands(inner, f"{words} {name}")
    else:
        yield words, command


def test_every_command_and_option_says_what_it_does() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    _, _, made = page.partition("<!-- Made by `make docs` from the commands -->")
    for words, command in _commands(typer.main.get_command(whole_app()), "holdfast"):
        assert command.help, words
        _, known, after = made.partition(f"**`{words}")
        assert known, words
        table = after.partition("\n**")[0]
        for each in command.params:
            match each:
                case TyperOption(hidden=False):
                    assert each.help, (words, each.name)
                    assert all(f"`{option}`" in table for option in each.opts), (words, each.name)
                case TyperArgument():
                    assert each.help, (words, each.name)


def test_every_tool_of_agents_says_what_it_does() -> None:
    tools = asyncio.run(server_of(_nobody).list_tools())
    page = _page("mcp")
    assert len(tools) >= 8
    for tool in tools:
        assert tool.description
        assert f"## `{tool.name}`\n" in page
        told = tool.output_schema or {}
        for schema in (tool.input_schema, told, *told.get("$defs", {}).values()):
            fields = schema.get("properties", {})
            silent = [name for name, field in fields.items() if not field.get("description")]
            assert not silent, (tool.name, silent)


def _nobody(_: Any) -> Any:
    raise NotImplementedError


def _fields(page: str, heading: str) -> set[str]:
    """The fields in the table under a heading of the page on kinds of entries."""
    _, known, after = page.partition(f"{heading}\n")
    assert known, heading
    table = after.partition("\n#")[0]
    as_of = re.search(r"The fields of `(\S+)`\.", table)
    return _fields(page, f"## `{as_of[1]}`") if as_of else set(FIELD.findall(table))


def test_the_reference_has_every_kind_of_entry() -> None:
    written = {
        kind
        for path in (*LEDGER.glob("*.py"), LEDGER.parent / "mechanisms" / "forecast_gates.py")
        for kind in re.findall(r"\"([a-z_]+/\d)\"", path.read_text(encoding="utf-8"))
    }
    named = set(re.findall(r"^## `(\S+/\d)`$", _page("ledger-kinds"), re.MULTILINE))
    assert named == {kind for kind in written if not kind.startswith("checkpoint/")}


def test_entries_have_the_fields_of_the_reference(tmp_path: Path) -> None:
    """Those of a ledger in which everything happens, and of what is inside its entries."""
    page, entries = _page("ledger-kinds"), _busy_ledger(tmp_path)
    assert entries.keys() >= {"open/3", "reserve/2", "settle/2", "told/1", "attach/1", "final/2"}
    for kind, bodies in entries.items():
        assert {name for body in bodies for name in body} == {
            *_fields(page, f"## `{kind}`"),
            "kind",
            "at",
        }, kind
    inside = {
        "Request": [each for body in entries["reserve/2"] for each in body["asked"]],
        "Look": [each for body in entries["reserve/2"] for each in body["items"]],
        "Offer": [each["offer"] for body in entries["reserve/2"] for each in body["items"]],
        "Release": [each for body in entries["settle/2"] for each in body["answers"]],
        "Line": [each for body in entries["told/1"] for each in body["lines"]],
    }
    for name, records in inside.items():
        assert {field for each in records for field in each} == _fields(page, f"### {name}"), name


def _busy_ledger(folder: Path) -> Mapping[str, list[dict[str, Any]]]:
    """The entries of a small ledger by their kinds."""
    table = pl.DataFrame({"item": range(400), "late": [True, False] * 200, "delay": [3.0] * 400})
    path = folder / "busy.ledger"
    with holdfast.open(table, ledger=path, key="item", schema={"delay": (0, 10)}) as holdout:
        holdout.ask("median(delay)", request_key="one")
        holdout.check("avg(late)", guess=0.5)
        holdout.attach("v7", [True] * 400)
        holdout.promote("v7")
        holdout.search("model", size=3, question="avg(model = late)")
        holdout.final(["avg(v7 = late)"])
        holdout.end.retire(why="the end")
    found = defaultdict(list)
    with closing(sqlite3.connect(path)) as rows:
        for (text,) in rows.execute("SELECT text FROM entries ORDER BY seq"):
            body = json.loads(text)
            found[body["kind"]].append(body)
    return found
