"""docs/five-documents.md: every row has a command, and every command runs."""

from __future__ import annotations

import re
import shlex
import warnings
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from docs.running import alone

import holdfast
from holdfast.theory.base.theorem import SOURCES, registry
from holdfast.theory.evaluating import evaluated
from tests.cli.run import holdfast as command_line

PAGE = (Path(__file__).parents[1] / "docs" / "five-documents.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not re.match(r"\| (place|document|\w+ \| `python)", line)
]
SEEDS = [source for source in SOURCES if source not in ("Holdfast", "Literature")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table for each ledger of the page: two over the same rows would warn of each other."""
    here, rng = tmp_path_factory.mktemp("documents"), np.random.default_rng(0)
    for name in re.findall(r"`holdfast init (\w+)\.parquet ", PAGE):
        table = {"late": rng.random(20_000) < 0.25, "x": rng.integers(0, 101, 20_000).astype(float)}
        pl.DataFrame(table).write_parquet(here / f"{name}.parquet")
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


@pytest.mark.parametrize("script", sorted(source.lower() for source in SEEDS))
def test_every_document_has_a_script_that_runs_and_keeps_what_it_promises(
    script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"`python -m examples.documents.{script}`" in PAGE
    with alone(script), warnings.catch_warnings():  # the same noise in every run
        warnings.simplefilter("error", holdfast.errors.SecondLedger)
        import_module(f"examples.documents.{script}").main()
    told = capsys.readouterr().out
    assert told.count("all true: True") >= 2
    assert "False" not in told
    lines = told.splitlines()
    for line, below in pairwise(lines):  # what the page shows of it
        if line.startswith(("typical laplace: ", "gaussian: ")):
            assert f"{line}\n{below}\n" in PAGE


def test_every_command_runs(folder: Path) -> None:
    """In the order of the page: what is asked of a ledger comes after it is made."""
    for row in ROWS:
        command, *words = shlex.split(row[4].strip("`"))[1:]
        if command == "theorems":  # as the command does it, without a command line each time
            assert evaluated(registry()[words[0]], words[1:]).lines(), row
            continue
        done = command_line(command, *words, cwd=folder)
        assert done.returncode == 0, (row[4], done.stderr)
        assert "protects the same" not in done.stderr
        assert done.stdout.strip()


def test_the_numbers_of_the_neighbours_are_true() -> None:
    page = Path(__file__).parents[1] / "docs" / "neighbours.md"
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        exec(block, {})
