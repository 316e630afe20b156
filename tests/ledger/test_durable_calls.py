"""Every durable system call may kill, fail or be cut off by a power failure: nothing is lost."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.ledger.durable_calls import compiled, run

TRIALS = int(os.environ.get("HOLDFAST_TRIALS", "150"))  # of each campaign


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = compiled(tmp_path_factory.mktemp("shim"))
    if found is None:
        pytest.skip("the shim is for Linux, and needs a C compiler (cc)")
    return found


@pytest.mark.parametrize("what", ["calls", "cuts"])
def test_durable_calls_that_are_struck(what: str, library: Path, tmp_path: Path) -> None:
    found = run(what, library, tmp_path, 14, 2026)
    assert found["calls"] > 40
    assert found["broken"] == []


def test_a_disk_that_lies_is_noticed(library: Path, tmp_path: Path) -> None:
    """The sabotage twin: what was said to be written is gone, and so are answers."""
    found = run("lies", library, tmp_path, 6, 2026)
    assert any("lost" in each for each in found["broken"])


@pytest.mark.campaign
@pytest.mark.parametrize("what", ["calls", "cuts"])
def test_many_durable_calls_that_are_struck(
    what: str, library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(what, library, tmp_path, TRIALS, 2027)
    broken = found["broken"]
    with capsys.disabled():
        sys.stdout.write(
            f"{what}: {found['tried']} tried, {found['tried'] - len(broken)} held, "
            f"{len(broken)} broken; {found['outcomes']}\n"
        )
    assert broken == []
