"""CSV files as people have them: separators, words for nothing, 0 and 1 for no and yes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast as library
from tests.cli.run import holdfast

FORM = ("--separator", ";", "--null", "NA", "--null", "?", "--flag", "late")
ROWS = 400


def visits(
    path: Path, *, late: str = "1", age: str = "NA", cost: str = "?", first: int = 0
) -> None:
    """A table as a hospital would send it; `late`, `age` and `cost` stand in its last row."""
    lines = [
        f"{first + i};{20 + i % 60};{i % 2};{100 + i % 7}.5;{'AB?'[i % 3]}" for i in range(ROWS - 1)
    ]
    last = f"{first + ROWS};{age};{late};{cost};A"
    path.write_text("\n".join(["id;age;late;cost;ward", *lines, last, ""]), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    visits(tmp_path / "visits.csv")
    return tmp_path


def facts(*words: str, cwd: Path) -> dict[str, Any]:
    done = holdfast(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stdout
    return dict(json.loads(done.stdout))


def test_a_file_is_read_as_it_is_said_to_be_written(folder: Path) -> None:
    done = holdfast("init", "visits.csv", *FORM, "--described", "exact", cwd=folder)
    assert done.returncode == 0, done.stderr
    told = (
        "  age   integer; may be missing\n  cost  float; may be missing\n  id    integer\n"
        "  late  boolean\n  ward  text; may be missing\n"
    )
    assert told in done.stdout
    assert "Rows without a value are left out of what is asked" in done.stdout
    assert "Check these column types, which are those of visits.csv itself" in done.stdout
    assert "No bounds are declared" in done.stdout
    following = shlex.split(done.stdout.splitlines()[-1].removeprefix("Next: holdfast "))
    assert following == ["ask", "visits", "avg(late)"]
    # What stands for nothing is missing, in columns of any type, in every later command too.
    for question, truth in (
        ("avg(late)", 200 / ROWS),
        ("avg(age is null)", 1 / ROWS),
        ("avg(ward is null)", 133 / ROWS),
    ):
        answer = facts("ask", "visits", question, cwd=folder)
        assert answer["value"] == pytest.approx(truth, abs=1e-4)
    assert facts("audit", "visits", cwd=folder)["data_compared"]
    shown = holdfast("columns", "visits", cwd=folder)
    assert "late  boolean" in shown.stdout


def test_it_is_read_the_same_wherever_it_lies(folder: Path) -> None:
    """The ledger keeps how it is written: neither a copy nor a touched file is read otherwise."""
    assert holdfast("init", "visits.csv", *FORM, cwd=folder).returncode == 0
    (folder / "visits.ledger-files").unlink()
    copied = (folder / "visits.csv").rename(folder / "copied.csv")
    moved = ("--data", "copied.csv")
    assert facts("ask", "visits", "avg(late)", *moved, cwd=folder)["value"] == 0.5
    copied.touch()
    assert facts("ask", "visits", "avg(age > 50)", cwd=folder)["number"] == 2
    with library.open(copied, ledger=folder / "visits.ledger", separator=";") as holdout:
        assert holdout.ask("avg(late)") == 0.5
    with pytest.raises(library.errors.InvalidArgument, match=r"separator is '\|', and the ledger"):
        library.open(copied, ledger=folder / "visits.ledger", separator="|")


@pytest.mark.parametrize("changed", [{"late": "2"}, {"age": "old"}, {"age": "21"}])
def test_another_file_is_noticed(folder: Path, changed: dict[str, Any]) -> None:
    assert holdfast("init", "visits.csv", *FORM, cwd=folder).returncode == 0
    visits(folder / "visits.csv", **changed)
    done = holdfast("ask", "visits", "avg(late)", cwd=folder)
    assert done.returncode == 2
    assert "is not the one of the ledger" in done.stderr
    assert holdfast("audit", "visits", cwd=folder).returncode == 4


def test_a_table_that_is_not_csv_may_have_flags(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"late": [0, 1, None, 1] * 100, "used": [0.0, 1.0, float("nan"), 1.0] * 100}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    words = ("--flag", "late", "--flag", "used")
    assert holdfast("init", "t.parquet", *words, cwd=tmp_path).returncode == 0
    # Of the 300 rows that have a value; a quarter has none.
    answer = facts("ask", "t", "avg(late and used)", cwd=tmp_path)
    assert (answer["value"], answer["missing"]) == (pytest.approx(2 / 3), 100)
    ledger = tmp_path / "t.ledger"
    with library.open(frame, ledger=ledger, flags=["late", "used"]) as holdout:
        assert holdout.ask("avg(late and used)").status == "repeated"


def test_a_file_that_is_read_in_another_way_is_the_same_table(folder: Path) -> None:
    assert holdfast("init", "visits.csv", *FORM, "--name", "one", cwd=folder).stderr == ""
    second = holdfast("init", "visits.csv", "--separator", ";", "--name", "two", cwd=folder)
    assert "one.ledger' protects the same table: two ledgers have two budgets" in second.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--flag", "late"), "are its cells separated by ';'?"),
        (("--separator", ";;"), "separator is ';;'"),
        (
            (*FORM, "--flag", "lat"),
            "flags names 'lat', which is not a column of the table; did you",
        ),
        ((*FORM, "--flag", "age"), "'age', a column that holds other numbers than 0 and 1"),
        ((*FORM, "--flag", "ward"), "'ward', a column of type text"),
        (("--separator", ";", "--flag", "age"), "'age', a column of type text"),
        (("--separator", ";", "--schema", "bounds.toml"), "column 'age', which is text"),
    ],
)
def test_errors_name_the_column(folder: Path, words: tuple[str, ...], said: str) -> None:
    (folder / "bounds.toml").write_text("[bounds]\nage = [0, 120]\n", encoding="utf-8")
    done = holdfast("init", "visits.csv", *words, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (folder / "visits.ledger").exists()


def test_what_says_how_csv_is_written_is_for_csv(tmp_path: Path) -> None:
    pl.DataFrame({"x": [0, 1]}).write_parquet(tmp_path / "t.parquet")
    for command in (("init", "t.parquet"), ("split", "t.parquet")):
        done = holdfast(*command, "--null", "NA", cwd=tmp_path)
        assert (done.returncode, "is in none" in done.stderr) == (2, True)


def test_types_are_those_of_training_rows(folder: Path) -> None:
    """An age of 3.5 makes the column a float, in rows that nobody protects."""
    visits(folder / "train.csv", age="3.5", first=10_000)
    done = holdfast("init", "visits.csv", *FORM, "--train", "train.csv", cwd=folder)
    assert "  age   float; 0 to 87 (learnt from training rows); may be missing\n" in done.stdout, (
        done.stderr
    )
    assert "Check these column types, which are those of train.csv" in done.stdout
    assert "2 values: 'A', 'B' (learnt from training rows)" in done.stdout
    guess = ("--guess-from", "train.csv", "--tolerance", "0.3")
    checked = facts("check", "visits", "avg(late)", *guess, cwd=folder)
    assert checked["guess"] == 0.5
    assert holdfast("audit", "visits", cwd=folder).returncode == 0

    visits(folder / "other.csv", age="unknown", late="0", first=20_000)
    again = ("init", "other.csv", *FORM, "--train", "visits.csv")
    done = holdfast(*again, cwd=folder)
    assert done.returncode == 2
    assert "column 'age' is integer in the training rows, and cannot be read as that" in done.stderr
    assert "where it is text" in done.stderr
    visits(folder / "third.csv", cost="much")
    done = holdfast("init", "third.csv", *FORM, "--train", "train.csv", cwd=folder)
    assert "column 'cost' is float in the training rows" in done.stderr
    assert holdfast(*again, "--null", "unknown", cwd=folder).returncode == 0


def test_a_word_for_nothing_moves_no_mean(tmp_path: Path) -> None:
    """Of a quarter of the rows nothing was observed, and of the others 2 on average."""
    lines = ["x", *["1", "3", "2", "NA"] * 100]
    (tmp_path / "seen.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    done = holdfast("init", "seen.csv", "--null", "NA", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answer = facts("ask", "seen", "avg(x)", "--bounds", "0", "4", cwd=tmp_path)
    assert answer["value"] == pytest.approx(2.0, abs=0.01)
    assert answer["low"] < 2.0 < answer["high"]
    assert (answer["n"], answer["missing"]) == (300, 100)
    said = holdfast("ask", "seen", "avg(x > 1)", cwd=tmp_path)
    assert "300 of 400 rows, 100 missing" in said.stdout
    ledger = holdfast("ledger", "seen", cwd=tmp_path)
    assert "(100 missing)" in ledger.stdout


def test_training_rows_of_other_types_are_read_as_they_are(folder: Path) -> None:
    assert holdfast("init", "visits.csv", *FORM, cwd=folder).returncode == 0
    visits(folder / "train.csv", age="old", first=10_000)
    guess = ("--guess-from", "train.csv", "--tolerance", "0.3")
    assert facts("check", "visits", "avg(late)", *guess, cwd=folder)["guess"] == 0.5


def test_a_table_is_divided_as_it_is_written(folder: Path) -> None:
    assert holdfast("split", "visits.csv", *FORM, cwd=folder).returncode == 0
    assert pl.read_parquet(folder / "hold.parquet").schema["late"] == pl.Boolean
    refused = holdfast("split", "visits.csv", cwd=folder)
    assert "nothing may be there yet" in refused.stderr


def test_values_are_attached_as_they_are_written(tmp_path: Path) -> None:
    """Keys are read as the table has them: 007 is a text there."""
    keys = [f"{n:03}" for n in range(300)]
    pl.DataFrame({"item": keys, "label": [True, False, True] * 100}).write_parquet(
        tmp_path / "items.parquet"
    )
    lines = [f"{key}\t{n % 3 != 1:d}" for n, key in enumerate(keys[:-1])]
    (tmp_path / "said.csv").write_text("\n".join(["item\tsaid", *lines, f"{keys[-1]}\t-", ""]))
    assert holdfast("init", "items.parquet", "--key", "item", cwd=tmp_path).returncode == 0
    words = ["attach", "items", "v1", "said.csv", "--separator", "tab", "--null", "-"]
    words += ["--missing", "null"]
    done = holdfast(*words, "--flag", "said", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "boolean" in done.stdout
    sent = holdfast(*words, "--url", "http://127.0.0.1:9", cwd=tmp_path)
    assert "--separator and --null cannot be sent to a service" in sent.stderr


def test_init_suggests_what_is_declared(tmp_path: Path) -> None:
    pl.DataFrame(
        {"b": [True, False] * 50, "x": [1.0, 2.0] * 50, "o": ["A", "B"] * 50}
    ).write_parquet(tmp_path / "t.parquet")
    suggested = []
    for number, declared in enumerate(
        ['favourites = ["avg(x > 1)"]', "[bounds]\nx = [0, 9]", '[values]\no = ["A", "B"]']
    ):
        (tmp_path / "schema.toml").write_text(declared, encoding="utf-8")
        words = ("--schema", "schema.toml", "--design", "b", "--name", f"t{number}")
        done = holdfast("init", "t.parquet", *words, cwd=tmp_path)
        suggested.append(
            done.stdout.splitlines()[-1].removeprefix(f"Next: holdfast ask t{number} ")
        )
    assert suggested == ['"avg(x > 1)"', '"avg(x)"', "\"avg(o = 'A')\""]


def test_a_text_without_quotes_is_told_apart_from_a_column(tmp_path: Path) -> None:
    pl.DataFrame({"late": [True, False] * 50, "o": ["JFK", "LGA"] * 50}).write_parquet(
        tmp_path / "t.parquet"
    )
    (tmp_path / "schema.toml").write_text('[values]\no = ["JFK", "LGA"]', encoding="utf-8")
    holdfast("init", "t.parquet", "--schema", "schema.toml", cwd=tmp_path)
    done = holdfast("ask", "t", "avg(late) where o = JFK", cwd=tmp_path)
    assert done.returncode == 2
    assert "write texts in single quotes: 'JFK'." in done.stderr


def test_init_proposes_outcomes_and_segments_and_takes_them(tmp_path: Path) -> None:
    pl.DataFrame(
        {
            "late": [True, False] * 50,
            "x": [1.0, 2.0] * 50,
            "o": ["A", "B"] * 50,
            "y": [1.0, 2.0] * 50,
            "years": [4.5] * 100,
        }
    ).write_parquet(tmp_path / "t.parquet")
    bounds = "x = [0, 9]\ny = [0, 9]\nyears = [0, 99]"
    (tmp_path / "schema.toml").write_text(f'[bounds]\n{bounds}\n[values]\no = ["A", "B"]')
    schema = ("--schema", "schema.toml")
    proposed = holdfast("init", "t.parquet", "--name", "plain", *schema, cwd=tmp_path).stdout
    outlook = "--outcome late --outcome x --outcome y --segment o --segment 'years at 49.5'"
    assert outlook in proposed
    cut = ("--segment", "years at 18, 49.5")
    family = ("--outcome", "late", "--segment", "o", *cut, "--planned", "effect(x, o) by late")
    taken = holdfast("init", "t.parquet", "--name", "told", *schema, *family, cwd=tmp_path)
    assert taken.returncode == 0, taken.stderr
    assert "outcome: late" in taken.stdout
    assert "planned: effect(x, o) by late" in taken.stdout
    assert "--outcome" not in taken.stdout
    question = "difference(avg(late) where o = 'B', rest)"
    lengths = {
        name: json.loads(holdfast("ask", name, question, "--json", cwd=tmp_path).stdout)["bits"]
        for name in ("plain", "told")
    }
    assert lengths["told"] < lengths["plain"] - 8
    wrong = holdfast("init", "t.parquet", "--name", "no", "--segment", "o", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "no outcome is declared" in wrong.stderr
