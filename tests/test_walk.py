"""The walks of the verbs through the house are the tables in docs/how-it-works.md.

A table names every file that is entered from another room, in the order in which that happens
first; of the files that only their own room enters, it names those it wants to. The service's
names what the service enters: behind that is the walk of an ask.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from benchmarks.house import walks_of

from tests.traced import PACKAGE, WALKS

ROOT = Path(__file__).resolve().parent.parent
MOST_ROOMS = 9
CONCEPTS = 18


@cache
def calls(walk: str) -> list[tuple[str, str | None]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.traced", walk],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [(file, caller) for file, caller in json.loads(done.stdout)]


def room(file: str | None) -> str:
    """The package; the few modules of the root are in none."""
    return "" if file is None else file.rpartition("/")[0].partition("/")[0]


def doors(walk: str) -> list[str]:
    """The files that are entered from another room, in the order of the first time."""
    return list(
        dict.fromkeys(
            file
            for file, caller in calls(walk)
            if room(file) and room(file) != room(caller)
            if walk != "service" or room(caller) == "service"
        )
    )


def section(level: str, name: str) -> str:
    """What the page says below a heading."""
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    return re.split(r"\n##+ ", page.partition(f"\n{level} {name}\n")[2])[0]


def named(walk: str) -> list[str]:
    """The files that a walk's table names, in order."""
    lines = section("###", walk).splitlines()
    table = "\n".join(line for line in lines if line.startswith("|"))
    return list(dict.fromkeys(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", table)))


# The heading of a walk is the verb; a described ask is one of the same verb.
HEADINGS = {walk: walk for walk in WALKS} | {"described": "described ask"}


def test_a_check_enters_few_rooms() -> None:
    rooms = {room(file) for file, _ in calls("check")} - {""}
    assert {"holdout", "ledger", "mechanisms", "data"} <= rooms
    assert len(rooms) <= MOST_ROOMS, sorted(rooms)


@pytest.mark.parametrize("walk", WALKS)
def test_the_page_names_every_door_in_the_order_of_the_walk(walk: str) -> None:
    entered = doors(walk)
    assert [file for file in named(HEADINGS[walk]) if file in entered] == entered


@pytest.mark.parametrize("walk", WALKS)
def test_the_page_names_nothing_that_is_not_entered(walk: str) -> None:
    assert set(named(HEADINGS[walk])) <= {file for file, _ in calls(walk)}


def test_a_concept_is_where_the_page_says() -> None:
    rows = re.findall(
        r"^\| (.+) \| `(.+)` \| `(.+)` \|$", section("##", "Where is it?"), re.MULTILINE
    )
    assert len(rows) == CONCEPTS
    for concept, file, name in rows:
        tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
        functions = ast.FunctionDef | ast.ClassDef
        defined = {node.name for node in ast.walk(tree) if isinstance(node, functions)}
        targets = [node.targets[0] for node in tree.body if isinstance(node, ast.Assign)]
        assert name in defined | {ast.unparse(target) for target in targets}, concept


def test_to_price_an_ask_takes_no_more_calls_than_to_ask_it(tmp_path: Path) -> None:
    walks = walks_of(tmp_path)
    assert walks["cost"].calls <= walks["ask"].calls
