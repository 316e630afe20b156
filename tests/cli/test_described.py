"""Described questions and half-widths in their own unit, on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.cli.run import holdfast
from tests.holdout.tables import table

ROWS = 4_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table(ROWS).write_parquet(tmp_path / "t.parquet")
    (tmp_path / "bounds.toml").write_text("[bounds]\nx = [-60, 180]\n")
    words = "init t.parquet --schema bounds.toml --tolerance 0.2 --described exact"
    done = holdfast(*words.split(), "--described-share", "0.5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "failure probability" not in done.stdout
    return tmp_path


def told(*words: str, cwd: Path) -> Any:
    done = holdfast(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_bits_and_rows_are_told_everywhere(folder: Path) -> None:
    cost = told("ask", "t", "avg(late) where x > 0", "--dry-run", cwd=folder)
    answer = told("ask", "t", "avg(late) where x > 0", cwd=folder)
    assert answer["bits"] == cost["bits"] > 0
    assert answer["n"] == answer["n_most"] == table(ROWS).filter(pl.col("x") > 0).height
    (line,) = told("ledger", "t", cwd=folder)
    assert (line["bits"], line["n"]) == (answer["bits"], answer["n"])
    text = holdfast("ledger", "t", "--output", "a.csv", cwd=folder).stdout
    assert f" {answer['bits']:.1f} " in text
    assert f" {answer['n']:,} " in text
    assert pl.read_csv(folder / "a.csv")["n_most"].to_list() == [answer["n"]]
    assert "Theorem O" in holdfast("ledger", "t", "--explain", cwd=folder).stdout


def test_a_half_width_in_its_own_unit(folder: Path) -> None:
    asked = told("ask", "t", "avg(x)", "--half-width", "40", cwd=folder)
    assert (asked["bits"], asked["half_width"]) == (None, pytest.approx(40))
    words = ("check", "t", "avg(x > 3)", "--guess", "0.6", "--half-width", "0.15")
    assert "half-width 0.15; takes about " in holdfast(*words, "--dry-run", cwd=folder).stdout
    assert told(*words, cwd=folder)["half_width"] == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("--half-width 40 --tolerance 0.1", 2, "give one of them"),
        ("--half-width x", 2, "half_width"),
        ("--half-width 0.1", 3, "Without a half-width it is answered by its description"),
    ],
)
def test_what_cannot_be_is_refused(folder: Path, words: str, code: int, said: str) -> None:
    done = holdfast("ask", "t", "avg(x)", *words.split(), cwd=folder)
    assert done.returncode == code
    assert said in done.stderr
    assert told("budget", "t", cwd=folder)["asked"] == 0


def test_bookkeeping_is_shown_with_verbose_only(folder: Path) -> None:
    words = ("avg(late)", "avg(x > 20) by late")
    for question in words:
        plain = holdfast("ask", "t", question, cwd=folder).stdout
        told = holdfast("ask", "t", question, "--verbose", cwd=folder).stdout
        assert not re.search(r"bits|nats|receipt|question \d", plain)
        assert re.search(r"question \d.* · length \d+\.\d bits · cost 0 nats · .*receipt ", told)
    gate = holdfast("gate", "t", "avg(late)", "--at-least", "0.01", "--verbose", cwd=folder)
    assert " nats · failure probability 5 %, of it 2.5 % for text questions" in gate.stdout
    budget = holdfast("budget", "t", "--verbose", cwd=folder).stdout
    assert "failure probability 5 %, of it 2.5 % for text questions and 2.5 % for all" in budget
    assert " nats leaked · 4,000 rows" in budget
