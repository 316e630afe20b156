"""docs/five-documents.md: every row has a command, and every command runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from holdfast.theory.base.theorem import SOURCES, registry
from holdfast.theory.evaluating import evaluated
from tests.cli.run import holdfast

PAGE = (Path(__file__).parents[1] / "docs" / "five-documents.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| place")
]
SEEDS = [source for source in SOURCES if source not in ("Holdfast", "Literature")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("documents")
    table = {
        "late": [i % 4 == 0 for i in range(20_000)],
        "x": [float(i % 101) for i in range(20_000)],
    }
    pl.DataFrame(table).write_parquet(here / "hold.parquet")
    return here


def test_no_row_is_without_a_command() -> None:
    assert len(ROWS) > 100
    for row in ROWS:
        assert len(row) == 5, row
        assert re.fullmatch(r"`holdfast \w+ .*`", row[4]), row


def test_every_document_is_here() -> None:
    titles = re.findall(r"^## (\w+):", PAGE, re.MULTILINE)
    assert sorted(titles) == sorted(SEEDS)


def test_every_result_of_the_documents_is_in_a_row() -> None:
    """What the registry has from a document is run, or named, by a row."""
    missing = [
        name for name, entry in registry().items() if entry.source in SEEDS and name not in PAGE
    ]
    # Parts of a chain that a row runs as a whole.
    assert set(missing) <= {"log_rounding_nodes"} | {
        name for name in missing if name.endswith("_log_failure")
    }


def test_names_that_rows_give_are_there() -> None:
    named = {name for row in ROWS for name in re.findall(r"`([a-z]+_\w+)`", row[2])}
    assert named - registry().keys() == {"half_width"}  # of a certificate


def test_every_command_runs(folder: Path) -> None:
    """In the order of the page: what is asked of a ledger comes after it is made."""
    for row in ROWS:
        command, *words = shlex.split(row[4].strip("`"))[1:]
        if command == "theorems":  # as the command does it, without a command line each time
            assert evaluated(registry()[words[0]], words[1:]).lines(), row
            continue
        done = holdfast(command, *words, cwd=folder)
        assert done.returncode == 0, (row[4], done.stderr)
        assert done.stdout.strip()
