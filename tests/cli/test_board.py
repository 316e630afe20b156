"""`holdfast board`: init, submit, show and final, with the exit codes of a gate."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.boards.making import ITEMS, answers, table
from tests.cli.run import holdfast


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A board of labels, and files to submit."""
    table().write_csv(tmp_path / "labels.csv")
    for name, right in (("base", 0.7), ("better", 0.85), ("noise", 0.5)):
        said = pl.DataFrame({"item": range(ITEMS), "says": answers(right, len(name))})
        said.write_csv(tmp_path / f"{name}.csv")
    done = holdfast("board", "init", "labels.csv", "--name", "b", "--key", "item", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Leaderboard 'b': accuracy on 2,000 items")
    return tmp_path


def test_leads_not_shown_invalid_and_refused(folder: Path) -> None:
    words = ["board", "submit", "b"]
    done = holdfast(*words, "base.csv", "--team", "host", "--claim", "0.7", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.startswith("host/1: rank 1 · leads · score [0.6")
    assert done.stdout.endswith("Next: holdfast board show b\n")
    done = holdfast(*words, "better.csv", "--team", "ada", "--as", "net", "--json", cwd=folder)
    assert done.returncode == 0
    assert json.loads(done.stdout)["submission"] == "ada/net"
    done = holdfast(*words, "noise.csv", "--team", "bob", cwd=folder)
    assert done.returncode == 5
    assert "not shown to be better than the leader" in done.stdout
    done = holdfast(*words, "labels.csv", "--team", "eve", "--value", "nothing", cwd=folder)
    assert done.returncode == 2
    assert "values has no one column to take" in done.stderr
    done = holdfast("board", "show", "b", "--json", cwd=folder)
    told = json.loads(done.stdout)
    assert [row["rank"] for row in told["standings"]] == [1, 2, None]
    assert [each["team"] for each in told["invalid"]] == ["eve"]
    done = holdfast("board", "final", "b", "--dry-run", cwd=folder)
    assert "a last look at 3 new questions" in done.stdout
    done = holdfast("board", "final", "b", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("rank  submission")
    done = holdfast(*words, "noise.csv", "--team", "late", cwd=folder)
    assert done.returncode == 3
    assert "the board was ended" in done.stderr


def test_a_blind_board_takes_everything_and_writes_what_it_shows(folder: Path) -> None:
    table(ITEMS + 1).write_csv(folder / "other.csv")
    words = ["board", "init", "other.csv", "--key", "item", "--blind", "--json"]
    done = holdfast(*words, cwd=folder)
    assert done.returncode == 0
    assert json.loads(done.stdout)["public"] is False
    said = pl.DataFrame({"item": range(ITEMS + 1), "says": answers(0.7, 1, ITEMS + 1)})
    said.write_csv(folder / "mine.csv")
    done = holdfast("board", "submit", "other", "mine.csv", "--team", "ada", cwd=folder)
    assert done.returncode == 0
    done = holdfast("board", "show", "other", "--output", "board.html", cwd=folder)
    assert "Written to board.html." in done.stdout
    assert "ada/1" in (folder / "board.html").read_text(encoding="utf-8")


def test_what_is_no_board_and_what_is_no_metric(folder: Path) -> None:
    pl.DataFrame({"x": [0.5] * 50}).write_csv(folder / "plain.csv")
    assert holdfast("init", "plain.csv", "--name", "plain", cwd=folder).returncode == 0
    done = holdfast("board", "show", "plain", cwd=folder)
    assert done.returncode == 2
    assert "'plain' is no leaderboard" in done.stderr
    words = ["board", "init", "labels.csv", "--key", "item", "--name", "auc", "--metric", "roc_auc"]
    done = holdfast(*words, cwd=folder)
    assert done.returncode == 2
    assert "no average of scores" in done.stderr
    assert not (folder / "auc.ledger").exists()
