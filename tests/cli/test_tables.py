"""Dividing a table, and drawing what was answered, from the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.cli.run import holdfast
from tests.seam import PATIENCE_OF_PROGRESS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pl.DataFrame({"x": range(1_000), "unit": [n // 10 for n in range(1_000)]}).write_csv(
        tmp_path / "t.csv"
    )
    return tmp_path


def test_a_table_is_divided_protected_and_drawn(folder: Path) -> None:
    done = holdfast("split", "t.csv", "--by", "unit", "--test-size", "0.3", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "hold.parquet: 300 rows to protect" in done.stdout
    train, hold = (pl.read_parquet(folder / f"{name}.parquet") for name in ("train", "hold"))
    assert not set(train["unit"]) & set(hold["unit"])
    assert sorted([*train["x"], *hold["x"]]) == list(range(1_000))

    following = done.stdout.splitlines()[-1].removeprefix("Next: holdfast ").split()
    assert holdfast(*following, cwd=folder).returncode == 0
    assert holdfast("ask", "hold", "avg(x > 500)", cwd=folder).returncode == 0
    pytest.importorskip("altair", reason="the extra charts is not installed")
    drawn = holdfast("chart", "hold", "answers.svg", cwd=folder)
    assert drawn.stdout == "Chart written to answers.svg.\n", drawn.stderr
    assert "avg(x &gt; 500)" in (folder / "answers.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("none.csv",), "that is there"),
        (("t.csv", "--hold", "hold.csv"), "must end in .parquet"),
        (("t.csv", "--test-size", "1"), "test_size"),
        (("t.csv", "--by", "none"), "none"),
    ],
)
def test_what_cannot_be_divided(folder: Path, words: tuple[str, ...], why: str) -> None:
    done = holdfast("split", *words, cwd=folder)
    assert done.returncode == 2
    assert why in done.stderr
    assert not list(folder.glob("*.parquet"))


def test_a_part_is_not_written_over(folder: Path) -> None:
    assert json.loads(holdfast("split", "t.csv", "--json", cwd=folder).stdout)["rows"] == [500, 500]
    assert "nothing may be there yet" in holdfast("split", "t.csv", cwd=folder).stderr


def test_init_counts_its_seconds_on_a_terminal_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def line(name: str, *words: str, patience: float = 0.0, terminal: bool = True) -> str:
        monkeypatch.setattr(PATIENCE_OF_PROGRESS, patience)
        begun = ("init", "t.csv", "--name", name, *words)
        return holdfast(*begun, cwd=folder, terminal=terminal).stderr.partition("holdfast: ")[0]

    clear = re.escape("\r\033[K")
    assert re.fullmatch(rf"({clear}reading the table: \d+ s)+{clear}", line("a"))
    assert line("b", terminal=False) == line("c", "--json") == line("d", patience=600.0) == ""


def test_the_process_ends_without_a_word_of_what_duckdb_leaves_behind(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the extra duckdb is not installed")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("create table t as select range / 1000 as x from range(1000)")
    for words in (
        ["init", "t.duckdb", "--table", "t", "--name", "t", "--questions", "9"],
        ["ask", "t", "avg(x > 0.5)"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *words],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert "leaked" not in done.stderr
