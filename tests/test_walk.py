"""The walk of a question through the house is the picture in docs/how-it-works.md.

The page names every file that is entered from another room, in the order in which that happens
first; of the files that only their own room enters, it names those it wants to.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from benchmarks.house import walks_of

ROOT = Path(__file__).resolve().parent.parent
MOST_ROOMS = 9


@cache
def calls() -> list[tuple[str, str | None]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.traced"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [(file, caller) for file, caller in json.loads(done.stdout)]


def room(file: str | None) -> str:
    """The package; the few modules of the root are in none."""
    return "" if file is None else file.rpartition("/")[0].partition("/")[0]


def named() -> list[str]:
    """The files that the walk names, in order."""
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    walk = page.partition("## The walk of a question\n")[2].partition("\n## ")[0]
    table = "\n".join(line for line in walk.splitlines() if line.startswith("|"))
    return list(dict.fromkeys(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", table)))


def test_a_check_enters_few_rooms() -> None:
    rooms = {room(file) for file, _ in calls()} - {""}
    assert {"holdout", "ledger", "mechanisms", "data"} <= rooms
    assert len(rooms) <= MOST_ROOMS, sorted(rooms)


def test_the_page_names_every_door_in_the_order_of_the_walk() -> None:
    doors = {file: None for file, caller in calls() if room(file) and room(file) != room(caller)}
    assert [file for file in named() if file in doors] == list(doors)


def test_the_page_names_nothing_that_is_not_entered() -> None:
    assert set(named()) <= {file for file, _ in calls()}


def test_to_price_an_ask_takes_no_more_calls_than_to_ask_it(tmp_path: Path) -> None:
    walks = walks_of(tmp_path)
    assert walks["cost"].calls <= walks["ask"].calls
