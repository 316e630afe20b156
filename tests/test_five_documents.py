"""docs/five-documents.md: every row has a command, and every command runs."""

from __future__ import annotations

import ast
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

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "five-documents.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ")
    and not re.match(r"\| (place|document|no\.|\d+ \||\w+ \| `python)", line)
]
CONSTRUCTS = re.findall(r"^\| (\d+) \| (.+) \| (.+) \| `(.+)` \| `(.+)` \|$", PAGE, re.MULTILINE)
COUNTED = {"BF2": 34, "BF1": 23, "L4": 14, "L12": 8, "L15": 5}  # of each document
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


def test_every_construct_has_a_number_and_nothing_is_left_over() -> None:
    assert [int(number) for number, *_ in CONSTRUCTS] == list(range(1, 84 + 1))
    folded = re.findall(r"<summary>(\w+), (\d+)[^<]*</summary>(.*?)</details>", PAGE, re.DOTALL)
    assert {name: int(many) for name, many, _ in folded} == COUNTED
    for _, many, table in folded:
        lines = re.findall(r"^\| \d+ \| (.*)$", table, re.MULTILINE)
        assert len(set(lines)) == len(lines) == int(many)
    assert "partly" not in PAGE


@pytest.mark.parametrize(
    ("number", "runs_as", "run_by"), [(n, name, by) for n, _, _, name, by in CONSTRUCTS]
)
def test_every_construct_is_run_where_the_page_says(number: str, runs_as: str, run_by: str) -> None:
    """By a script that every run of the tests runs, or by a test that no mark leaves out."""
    name, _, test = run_by.partition("::")
    if not test:
        assert name in {f"examples.documents.{source.lower()}" for source in SEEDS}
        path = ROOT / (name.replace(".", "/") + ".py")
    else:
        path = ROOT / "tests" / name
    source = path.read_text(encoding="utf-8")
    assert re.search(rf"\b{re.escape(runs_as)}\b", source), (number, path, runs_as)
    if not test:
        return
    tree = ast.parse(source)
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    marks = [ast.unparse(mark) for mark in functions[test].decorator_list]
    marks += [
        ast.unparse(each.value)
        for each in tree.body
        if isinstance(each, ast.Assign) and "pytestmark" in ast.unparse(each.targets[0])
    ]
    assert not any(re.search(r"mark\.(campaign|long|skip|xfail)", mark) for mark in marks)


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
