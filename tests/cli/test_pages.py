"""What the pages and the help tell to type is typed, and it works."""

from __future__ import annotations

import contextlib
import re
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast as library
from holdfast.cli import whole_app
from holdfast.errors import ToleranceTooLoose
from holdfast.lab.pages import report as demonstration
from holdfast.lab.pages.report import showcase
from tests.cli.run import holdfast

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS = 160_000  # about as many as the pages speak of
BOUNDS = {"distance": (0, 5_000), "air_time": (0, 700)}


def flights(seed: int) -> pl.DataFrame:
    """A table with the columns that the pages speak of."""
    rng = np.random.default_rng(seed)
    late = rng.random(ROWS) < 0.237
    return pl.DataFrame(
        {
            "arr_delay": np.where(late, 16, -5) + rng.integers(0, 15, ROWS),
            "dep_delay": np.where(late, 10, -5) + rng.integers(0, 60, ROWS),
            "distance": rng.integers(100, 3_000, ROWS),
            "air_time": rng.integers(20, 600, ROWS),
            "origin": rng.choice(["EWR", "JFK", "LGA"], ROWS),
            "carrier": rng.choice(["AA", "B6"], ROWS),
            "dest": rng.choice(["BOS", "LAX"], ROWS),
            "late": late,
            "score": np.clip(late + rng.normal(0, 0.5, ROWS), 0, 1),
            "new": late,
            "old": ~late,
            "month": rng.integers(1, 13, ROWS),
            "hour": rng.integers(5, 24, ROWS),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    flights(1).write_parquet(folder / "hold.parquet")
    flights(2).write_parquet(folder / "train.parquet")
    flights(3).head(20_000).write_csv(folder / "flights.csv")
    flights(1).head(4_000).write_parquet(folder / "few.parquet")
    visits = pl.DataFrame({"patient_id": [i // 3 for i in range(3_000)], "x": [0.5] * 3_000})
    visits.write_csv(folder / "visits.csv")
    wards = pl.DataFrame({"readmitted": [0, 1] * 500, "cost": ["NA", "7.5"] * 500})
    wards.write_csv(folder / "wards.csv", separator=";")
    rng = np.random.default_rng(3)
    reviews = pl.DataFrame({"item_id": range(5_000), "label": rng.random(5_000) < 0.4})
    reviews.write_csv(folder / "reviews.csv")
    said = reviews.with_columns(predicted="label", v6=~pl.col("label")).drop("label")
    said.write_csv(folder / "predictions.csv")
    said.rename({"v6": "right"}).write_csv(folder / "scores.csv")
    said.rename({"predicted": "right"}).write_csv(folder / "scores-9.csv")
    runs = pl.DataFrame({"id": range(200), "category": ["math", "code"] * 100})
    runs.with_columns(right=pl.col("id") % 3 > 0).write_csv(folder / "main.csv")
    runs.with_columns(right=pl.col("id") % 9 > 0).write_csv(folder / "candidate.csv")
    runs.with_columns(right=pl.col("id") % 27 > 0).write_csv(folder / "next.csv")
    pl.DataFrame({"x": rng.random(300).round(3)}).write_csv(folder / "rows.csv")
    (folder / "train.py").write_text(
        "def learner(rows, rng):\n    return round(float(rows['x'].mean()), 1)\n\n\n"
        "def accuracy(said, rows):\n    return float((rows['x'] > said).mean())\n",
        encoding="utf-8",
    )
    (folder / "bounds.toml").write_text("[bounds]\nx = [0, 1]\n", encoding="utf-8")
    return folder


def commands(page: str) -> list[list[str]]:
    """The lines of a page that are typed on the command line."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = re.findall(r"^(?:\$ )?(holdfast .*)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True)[1:] for line in lines]


def test_every_command_of_the_page_and_of_the_help_works(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    # The demonstration in small: tests/test_docs.py runs it as it is.
    monkeypatch.setattr(demonstration, "showcase", partial(showcase, 300, 20, 0.3))
    typed = commands("docs/cli.md")
    assert len(typed) >= 25
    helped = [command.epilog or "" for command in whole_app().registered_commands]
    assert len(helped) >= 11
    shown = [shlex.split(each.removeprefix("Example: "))[1:] for each in helped]
    small = holdfast("init", "few.parquet", "--tolerance", "0.2", cwd=folder)
    assert small.returncode == 0, small.stderr
    # The ledger of `init` is there by then, and what the page has too was typed.
    again = [words for words in shown if words[0] != "init" and words not in typed]
    for words in [*typed, *again]:
        if {"--all", "--tightness"} & set(words):
            continue  # minutes of work: tests/lab and test_attack.py do them in small
        if words[0] == "serve":
            continue  # until it is stopped: tests/service/test_running.py does it
        short = ["--trials", "1"] if words[0] == "attack" and len(words) > 1 else []
        # A ledger is rehearsed in small, too.
        of = ["few" if "--like" in words and word == "flights" else word for word in words]
        done = holdfast(*of, *short, cwd=folder)
        assert done.returncode == 0, (words, done.stdout, done.stderr)


def test_every_command_of_the_readme_works(folder: Path) -> None:
    (folder / "readme").mkdir()
    for file in ("main.csv", "candidate.csv", "next.csv"):
        (folder / "readme" / file).symlink_to(folder / file)
    typed = commands("README.md")
    assert [words[0] for words in typed] == ["compare", "compare", "gate"]
    for words in typed:
        done = holdfast(*words, cwd=folder / "readme")
        assert done.returncode == 0, (words, done.stderr)


def test_every_statistic_of_the_table_can_be_asked(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    table = page.partition("| | as text |")[2].partition("\n\n")[0]
    questions = re.findall(r"`([^`]*)`", table)
    assert len(questions) >= 15
    ledger = tmp_path / "asked.ledger"
    declared: dict[str, Any] = {"tolerance": 0.1, "schema": BOUNDS, "design": ["late"]}
    with library.open(flights(1), ledger=ledger, **declared) as holdout:
        for question in questions:
            # It is understood; what so few rows could say nothing of is refused by name.
            with contextlib.suppress(ToleranceTooLoose):
                holdout.ask(question)


@pytest.mark.parametrize("page", ["docs/holdout.md", "docs/planner.md"])
def test_every_line_of_python_works(
    page: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for table in ("hold.parquet", "train.parquet", "flights.csv"):
        (tmp_path / table).symlink_to(folder / table)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)
    assert blocks
    names: dict[str, object] = {"holdfast": library}
    for block in blocks:  # one goes on where the one before it ended
        exec(compile(block, page, "exec"), names)
