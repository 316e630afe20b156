"""`holdfast init | check | ask | budget | ledger | audit`, as custodian and analyst run them."""

from __future__ import annotations

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.run import holdfast


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and its ledger, as `init` makes it."""
    folder = tmp_path_factory.mktemp("session")
    rng = np.random.default_rng(3)
    pl.DataFrame(
        {"delay": rng.normal(5, 30, 4_000), "origin": rng.choice(["JFK", "LGA"], 4_000)}
    ).write_parquet(folder / "hold.parquet")
    (folder / "bounds.toml").write_text("[bounds]\ndelay = [-60, 180]\n", encoding="utf-8")
    words = ("--name", "flights", "--questions", "40", "--tolerance", "0.1", "--described", "off")
    done = holdfast("init", "hold.parquet", *words, "--schema", "bounds.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Protected 4,000 rows" in done.stdout
    assert "Columns:\n  delay   float; -60 to 180\n  origin  text\n" in done.stdout
    assert 'Next: holdfast ask flights "avg(delay)"' in done.stdout
    return folder


def facts(*words: str, cwd: Path) -> dict[str, object]:
    done = holdfast(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def entries(folder: Path) -> list[tuple[int, str, str]]:
    """What the ledger holds, its write-ahead log included."""
    with closing(sqlite3.connect(folder / "flights.ledger")) as ledger:
        return ledger.execute("SELECT seq, text, hash FROM entries ORDER BY seq").fetchall()


def test_a_session(folder: Path) -> None:
    table = pl.read_parquet(folder / "hold.parquet")
    truth = float(table.select((pl.col("delay") > 15).mean()).item())
    cost = facts("ask", "flights", "avg(delay > 15)", "--dry-run", cwd=folder)
    asked = facts("ask", "flights", "avg(delay > 15)", "--why", "baseline", cwd=folder)
    assert asked["cost"] == cost["most"]
    assert asked["low"] <= truth <= asked["high"]  # type: ignore[operator]
    again = facts("check", "flights", "AVG(15 < delay)", "--guess", "0.9", cwd=folder)
    assert (again["status"], again["value"], again["cost"]) == ("repeated", asked["value"], 0.0)
    named = ("check", "flights", "avg(origin = 'JFK')", "--guess", "0.5", "--tolerance", "0.1")
    checked = holdfast(*named, cwd=folder)
    line = "confirmed 0.50 [0.40, 0.60] · 4,000 rows · all answers together 95 % sure · 39"
    assert f"{line} questions left\n" in checked.stdout
    one_side = facts("check", "flights", "avg(delay > 150)", "--at-most", "0.2", cwd=folder)
    assert (one_side["status"], one_side["high"]) == ("confirmed", pytest.approx(0.2))
    unit = facts("ask", "flights", "avg(delay)", cwd=folder)
    assert unit["half_width"] == pytest.approx(24, rel=1e-9)
    left = facts("budget", "flights", cwd=folder)
    assert (left["asked"], left["checks"], left["questions"]) == (2, 2, 40)

    listed = holdfast("ledger", "flights", "--output", "answers.csv", cwd=folder)
    assert "(baseline)" in listed.stdout
    assert pl.read_csv(folder / "answers.csv").height == 4
    explained = holdfast("ledger", "flights", "--explain", cwd=folder)
    assert "Theorem L" in explained.stdout
    for ending in ("json", "parquet"):
        assert holdfast("ledger", "flights", "--output", f"a.{ending}", cwd=folder).returncode == 0
        assert (folder / f"a.{ending}").stat().st_size > 100

    audited = holdfast("audit", "flights", cwd=folder)
    assert audited.returncode == 0
    assert "4 derived again from the ledger alone" in audited.stdout
    assert "The promise is intact." in audited.stdout


def test_a_check_with_a_forecast(folder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    others = pl.DataFrame(
        {"delay": rng.normal(5, 30, 500), "origin": rng.choice(["JFK", "LGA"], 500)}
    )
    others.write_parquet(tmp_path / "train.parquet")
    train = str(tmp_path / "train.parquet")
    words = ("check", "flights", "avg(delay > 5)", "--guess-from", train, "--expect", "training")
    price = facts(*words, "--dry-run", cwd=folder)
    checked = facts(*words, cwd=folder)
    assert checked["cost"] == price["least"]
    assert 0.5 < checked["forecast"] < 1.0  # type: ignore[operator]
    stated = ("check", "flights", "avg(delay > 20)", "--guess", "0.31", "--expect", "0.4")
    assert facts(*stated, cwd=folder)["forecast"] is not None


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("ask", "flights", "avg(delai > 15)"), 2, "did you mean 'delay'"),
        (("ask", "flights", "drop table x"), 2, "write it like avg(delay > 15)"),
        (("ask", "nowhere", "avg(delay > 15)"), 2, "there is no ledger 'nowhere.ledger'"),
        (("check", "flights", "avg(delay > 15)"), 2, "one of --guess, --guess-from, --at-most"),
        (("check", "flights", "avg(delay > 99)", "--guess", "2"), 2, "guess is 2"),
        (("check", "flights", "avg(delay > 99)", "--guess", "0", "--expect", "often"), 2, "expect"),
        (("ask", "flights", "avg(delay > 7)", "--tolerance", "0.001"), 3, "best possible"),
        (("init", "hold.parquet", "--name", "flights"), 2, "already a ledger"),
        (("init", "absent.parquet"), 2, "names no file"),
        (("ledger", "flights", "--output", "a.xlsx"), 2, "must end in .csv, .json or .parquet"),
        (("ledger", "flights", "--output", "no/a.csv"), 2, "there is no folder 'no'"),
        (("audit", "nowhere"), 2, "there is no ledger 'nowhere.ledger'"),
        (("budget", "flihgts"), 2, "did you mean 'flights'?"),
        (("ask", "flights", "sum(delay)"), 2, "like sum(value, size of the population)"),
        (("ask", "flights", "avg(delay > 15) where"), 2, "After where comes a condition"),
        (("ask", "flights", "avg(delay)", "--bounds", "9", "1"), 2, "not (9, 1)"),
        (("init", "hold.parquet", "--name", "x", "--design", "orign"), 2, "did you mean 'origin'"),
    ],
)
def test_errors_are_one_sentence_and_an_exit_code(
    folder: Path, words: tuple[str, ...], code: int, text: str
) -> None:
    before = entries(folder)
    done = holdfast(*words, cwd=folder)
    assert done.returncode == code, done.stderr
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert entries(folder) == before


def test_a_dry_run_says_what_is_left_and_what_to_type(folder: Path) -> None:
    done = holdfast("ask", "flights", "avg(delay > 33)", "--dry-run", cwd=folder)
    assert done.returncode == 0
    assert " questions left\n\nNext: " in done.stdout
    assert "without --dry-run" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("columns", "question"),
    [
        ({"t": ["a", "b"] * 50}, "avg(t is not null)"),
        ({"t": ["a", "b"] * 50, "on time": [1.0, 2.0] * 50}, 'avg("on time" > 0)'),
        ({"x": [1.0, 2.0] * 50, "yes": [True, False] * 50}, "avg(yes)"),
        ({"number": [1, 2] * 50, "weight": [1.0, 2.0] * 50}, "avg(weight > 0)"),
    ],
)
def test_what_init_says_to_type_next_works(
    tmp_path: Path, columns: dict[str, list[object]], question: str
) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    done = holdfast("init", "t.parquet", "--tolerance", "0.4", cwd=tmp_path)
    command = shlex.split(done.stdout.splitlines()[-1].removeprefix("Next: holdfast "))
    assert command == ["ask", "t", question]
    assert holdfast(*command, cwd=tmp_path).returncode == 0


def test_init_for_a_gate_says_how_scores_are_brought(tmp_path: Path) -> None:
    items = pl.DataFrame({"item": [f"q{place}" for place in range(200)]})
    items.write_csv(tmp_path / "items.csv")
    items.with_columns(score=True).write_csv(tmp_path / "scores.csv")
    words = ("--key", "item", "--candidates", "10", "--described", "off")
    done = holdfast("init", "items.csv", *words, cwd=tmp_path)
    following = done.stdout.splitlines()[-1].removeprefix("Next: holdfast ")
    assert following == "gate items FILE --as NAME --first"
    command = following.replace("FILE", "scores.csv").replace("NAME", "main").split()
    assert holdfast(*command, cwd=tmp_path).returncode == 0


def test_data_that_was_moved_is_asked_for(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [True, False] * 500})
    table.write_csv(tmp_path / "t.csv")
    assert holdfast("init", "t.csv", "--tolerance", "0.2", cwd=tmp_path).returncode == 0
    (tmp_path / "t.csv").rename(tmp_path / "elsewhere.csv")
    refused = holdfast("ask", "t", "avg(x)", cwd=tmp_path)
    assert refused.returncode == 2
    assert "t.csv' and is not there now; say where: --data FILE" in refused.stderr
    audited = holdfast("audit", "t", cwd=tmp_path)
    assert audited.returncode == 0
    assert "skip    data" in audited.stdout
    assert "The promise is intact." not in audited.stdout
    facts = json.loads(holdfast("audit", "t", "--json", cwd=tmp_path).stdout)
    assert (facts["fine"], facts["data_compared"]) == (True, False)
    there = ("--data", "elsewhere.csv")
    assert holdfast("ask", "t", "avg(x)", *there, cwd=tmp_path).returncode == 0
    assert "The promise is intact." in holdfast("audit", "t", *there, cwd=tmp_path).stdout


def test_an_audit_that_fails_exits_with_four(tmp_path: Path) -> None:
    pl.DataFrame({"x": list(range(500))}).write_csv(tmp_path / "t.csv")
    assert holdfast("init", "t.csv", "--tolerance", "0.3", cwd=tmp_path).returncode == 0
    assert holdfast("ask", "t", "avg(x > 250)", cwd=tmp_path).returncode == 0

    moved = pl.DataFrame({"x": [0, *range(1, 499), 7]})
    moved.write_csv(tmp_path / "other.csv")
    changed = holdfast("audit", "t", "--data", "other.csv", cwd=tmp_path)
    assert changed.returncode == 4
    assert "FAILED  data" in changed.stdout
    asked = holdfast("ask", "t", "avg(x > 9)", "--data", "other.csv", cwd=tmp_path)
    assert asked.returncode == 2
    assert "is not the one of the ledger" in asked.stderr

    with sqlite3.connect(tmp_path / "t.ledger") as ledger:
        ledger.execute("UPDATE entries SET text = replace(text, '0.3', '0.2') WHERE seq = 1")
    ledger.close()
    broken = holdfast("audit", "t", "--json", cwd=tmp_path)
    assert broken.returncode == 4
    assert json.loads(broken.stdout)["fine"] is False


@pytest.mark.parametrize("name", ["n" * 300, "a\0b"])
def test_what_cannot_be_a_name_says_so(tmp_path: Path, name: str) -> None:
    pl.DataFrame({"x": [True, False] * 500}).write_csv(tmp_path / "t.csv")
    wrong = [["init", "t.csv", "--name", name], ["init", name], ["budget", name]]
    for words in (*wrong, ["init", ":memory:"]):
        refused = holdfast(*words, cwd=tmp_path)
        assert refused.returncode == 2, words
        assert refused.stderr.startswith("holdfast: ")


def test_surprises_are_declared_among_the_questions(folder: Path) -> None:
    few = ("--name", "few", "--questions", "3", "--surprises")
    done = holdfast("init", "hold.parquet", *few, "4", cwd=folder)
    assert done.returncode == 2
    assert "surprises is 4 and questions is 3" in done.stderr
    done = holdfast("init", "hold.parquet", *few, "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    cost = facts("check", "few", "avg(delay > 15)", "--guess", "0.3", "--dry-run", cwd=folder)
    assert cost["least"] == pytest.approx(np.log(2))  # eps = 1/2: one of two charged checks
