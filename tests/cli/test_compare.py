"""`holdfast compare A B`, as somebody types it on the first day."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.run import holdfast, process
from tests.evals.logs import FILES

N = 600


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Files of scores of 600 items: what is there, a better one, one that is no better."""
    scores = {
        "main": [number % 5 < 3 for number in range(N)],
        "better": [number % 5 < 4 or number % 25 == 4 for number in range(N)],
        "alike": [number % 5 > 1 for number in range(N)],
    }
    for name, right in scores.items():
        lines = [
            f"q{number:03},{int(each)},level {number % 3}" for number, each in enumerate(right)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,acc,level", *lines, ""]))
    return tmp_path


def test_better_worse_and_cannot_tell(runs: Path) -> None:
    done = holdfast("compare", "main.csv", "better.csv", cwd=runs)
    assert (done.returncode, done.stderr) == (0, "")
    first, *_, last = done.stdout.splitlines()
    assert re.match(r"B is better: \+24.0 points \[\d\d.\d, \d\d.\d\], p < 0.0001, 144 wins", first)
    assert "A second look at these items? `--ledger bench`" in last
    done = holdfast("compare", "better.csv", "main.csv", cwd=runs)
    assert done.returncode == 6
    assert done.stdout.startswith("B is worse: -24.0 points")
    done = holdfast("compare", "main.csv", "alike.csv", cwd=runs)
    assert done.returncode == 5
    assert done.stdout.startswith("cannot tell which is better: +0.0 points [")


def test_json_categories_and_the_summary_of_a_job(runs: Path) -> None:
    (runs / "summary.md").write_text("# Job\n\n")
    words = ["main.csv", "better.csv", "--by", "level", "--json", "--summary", "summary.md"]
    done = holdfast("compare", *words, cwd=runs)
    told = json.loads(done.stdout)
    assert (done.returncode, told["verdict"], told["wins"]) == (0, "better", 144)
    assert [each["category"] for each in told["categories"]] == ["level 0", "level 1", "level 2"]
    summary = (runs / "summary.md").read_text()
    assert summary.startswith("# Job\n\n| compare |  |\n")
    assert "All intervals of the 3 categories together are 95 % sure" in summary
    done = holdfast("compare", "main.csv", "none.csv", "--json", cwd=runs)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"] == "InvalidArgument"


def test_a_second_look_is_counted(runs: Path) -> None:
    done = holdfast("compare", "main.csv", "better.csv", "--ledger", "bench", cwd=runs)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("promote: better is better than main · for items like these")
    assert "candidate 1 of 100" in lines[0]
    assert lines[-1] == "Next: holdfast promote bench better"
    assert "points" not in done.stdout  # what the ledger did not release is not shown beside it
    done = holdfast("compare", "main.csv", "alike.csv", "--ledger", "bench", cwd=runs)
    assert done.returncode == 5
    assert "candidate 2 of 100" in done.stdout
    again = holdfast("compare", "main.csv", "alike.csv", "--ledger", "bench", "--json", cwd=runs)
    told = json.loads(again.stdout)
    assert (again.returncode, told["repeated"], told["looks"]) == (5, True, 2)
    # It is a ledger as others are: the gate goes on from it.
    assert holdfast("promote", "bench", "better", cwd=runs).returncode == 0
    done = holdfast("gate", "bench", "alike.csv", "--as", "alike", cwd=runs)
    assert done.returncode == 5
    assert holdfast("audit", "bench", cwd=runs).returncode == 0
    words = ["--ledger", "bench", "--by", "level"]
    done = holdfast("compare", "main.csv", "alike.csv", *words, cwd=runs)
    assert done.returncode == 2
    assert "leave one of them out" in done.stderr


def test_a_ledger_for_logs_with_items_of_one_alone(runs: Path) -> None:
    main, stopped = str(FILES / "inspect.eval"), str(FILES / "inspect-stopped.eval")
    done = holdfast("compare", main, stopped, "--partial", "--ledger", "sums", cwd=runs)
    assert (done.returncode, done.stderr) == (5, "")
    assert "8 items without a score counted as wrong" in done.stdout
    done = holdfast("compare", stopped, main, "--partial", "--ledger", "four", cwd=runs)
    assert (done.returncode, done.stderr) == (5, "")
    assert "In B only, and left out: 8 items ('sum-05', 'sum-06', 'sum-07', ...)." in done.stdout
    (runs / "four.ledger").unlink()
    done = holdfast("compare", stopped, main, "--partial", "--ledger", "four", cwd=runs)
    assert done.returncode == 2
    assert "there is a file 'four.items.parquet' and no ledger" in done.stderr
    graded = ["--score", "includes", "--ledger", "graded"]
    done = holdfast("compare", main, str(FILES / "inspect-epochs.eval"), *graded, cwd=runs)
    assert (done.returncode, done.stderr) == (5, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["main.csv", "main.csv"], "A and B are one file, 'main.csv'"),
        (["main.csv", "better.csv", "--score", "f1"], "there is no score 'f1' in 'main.csv'"),
        (["main.csv", "better.csv", "--by", "topic"], "by names 'topic', which is not a column"),
        (["main.csv", "better.csv", "--bounds", "1", "x"], "bounds is 'x'; it must be a number"),
        (["main.csv", "better.csv", "--summary", "no/where.md"], "cannot be written"),
        (["main.csv", "better.csv", "--confidence-level", "5"], "must be in (0, 1)"),
        (["main.csv", str(FILES / "inspect.eval")], "has the scorer 'acc', and B"),
    ],
)
def test_what_cannot_be_compared(runs: Path, words: list[str], said: str) -> None:
    done = holdfast("compare", *words, cwd=runs)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_two_logs_given_to_the_gate_are_told_where_to_go(runs: Path) -> None:
    done = holdfast("gate", "main.csv", "better.csv", cwd=runs)
    assert done.returncode == 2
    assert "'main.csv' is a file of scores and no ledger" in done.stderr
    assert "holdfast compare A B" in done.stderr


def test_two_columns_of_one_file(runs: Path) -> None:
    (runs / "both.csv").write_text("id,old,new\n" + "".join(f"{n},0.5,1.5\n" for n in range(99)))
    words = ["both.csv", "both.csv", "--score", "old", "--score", "new", "--bounds", "0", "2"]
    done = holdfast("compare", *words, cwd=runs)
    assert done.returncode == 0
    assert "Scores are graded, from 0 to 2" in done.stdout


def test_in_a_process_of_its_own(runs: Path) -> None:
    done = process("compare", "main.csv", "better.csv", cwd=runs)
    assert done.returncode == 0
    assert done.stdout.startswith("B is better: +24.0 points")
