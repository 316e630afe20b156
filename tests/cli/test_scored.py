"""`holdfast gate NAME FILE`, as a job of continuous integration calls it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import polars as pl
import pytest

from tests.cli.run import holdfast
from tests.evals.logs import CHOICE, FILES
from tests.ledger.homes import bare_repository

N = 600
NAMES = [f"q{number:03}" for number in range(N)]
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A folder with a ledger of 600 items for three candidates, and files of scores."""
    scores = {
        "main": [number % 5 < 3 for number in range(N)],
        "better": [number % 5 < 4 for number in range(N)],
        "alike": [number % 5 > 1 for number in range(N)],
    }
    for name, right in scores.items():
        pl.DataFrame({"item": NAMES, "acc": right}).write_csv(tmp_path / f"{name}.csv")
    category = ["math" if number % 2 else "code" for number in range(N)]
    pl.DataFrame({"item": NAMES, "category": category}).write_csv(tmp_path / "items.csv")
    said = ["--key", "item", "--public", "category", "--candidates", "3", "--described", "off"]
    assert holdfast("init", "items.csv", "--name", "bench", *said, cwd=tmp_path).returncode == 0
    done = holdfast("gate", "bench", "main.csv", "--as", "main", "--first", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("main is the incumbent; nothing was compared.")
    return tmp_path


def test_promote_not_shown_refused_and_usage(bench: Path) -> None:
    done = holdfast("gate", "bench", "better.csv", "--as", "v7", "--against", "main", cwd=bench)
    assert done.returncode == 0
    said = "promote: v7 is better than main · for these items · all answers together 95 % sure"
    lines = [f"{said} · candidate 1 of 3", "", "Next: holdfast promote bench v7"]
    assert done.stdout.splitlines() == lines
    done = holdfast("gate", "bench", "alike.csv", "--as", "v8", cwd=bench)
    assert done.returncode == 5
    assert done.stdout.startswith("not shown: that v8 is better than main")
    words = ["gate", "bench", "alike.csv", "--as", "v9", "--digest", "prompt 9"]
    assert holdfast(*words, "--no-worse-than", "0.3", cwd=bench).returncode == 0
    done = holdfast(*words, "--min-gain", "0.01", cwd=bench)
    assert done.returncode == 3
    assert "3" in done.stderr
    done = holdfast("gate", "bench", "alike.csv", cwd=bench)
    assert done.returncode == 2
    assert "--as alike." in done.stderr


def test_grades_of_a_file(bench: Path) -> None:
    done = holdfast("gate", "bench", "better.csv", "--as", "v7", "--grades", cwd=bench)
    assert (done.returncode, done.stderr) == (0, "")
    assert "candidate 1 of 3 · adjusted at most 0.001" in done.stdout
    audited = holdfast("audit", "bench", cwd=bench)
    assert audited.returncode == 0, audited.stdout


def test_the_incumbent_is_promoted_by_a_command(bench: Path) -> None:
    holdfast("gate", "bench", "better.csv", "--as", "v7", cwd=bench)
    assert holdfast("promote", "bench", "v7", cwd=bench).returncode == 0
    done = holdfast("gate", "bench", "main.csv", "--as", "again", cwd=bench)
    assert done.stdout.startswith("not shown: that again is better than v7")


def test_json_and_the_summary_of_a_job(bench: Path) -> None:
    (bench / "summary.md").write_text("# Job\n\n")
    words = ["gate", "bench", "better.csv", "--as", "v7", "--min-gain", "0.05", "--json"]
    done = holdfast(*words, "--json-file", "gate.json", "--summary", "summary.md", cwd=bench)
    told = json.loads(done.stdout)
    assert told == json.loads((bench / "gate.json").read_text())
    assert (told["promote"], told["bound"], told["looks"], told["left"]) == (True, 0.05, 1, 2)
    summary = (bench / "summary.md").read_text()
    assert summary.startswith("# Job\n\n| gate | |\n|---|---|\n| verdict | **promote** |\n")
    assert told["receipt"] in summary


def test_categories_and_rehearsals(bench: Path) -> None:
    words = ["gate", "bench", "better.csv", "--as", "v7"]
    done = holdfast(*words, "--dry-run", cwd=bench)
    assert done.returncode == 0
    assert "submit 600 scores of 'acc' as 'v7'" in done.stdout
    assert "one candidate, with 3 candidates left now" in done.stdout
    assert "v7" not in holdfast("columns", "bench", cwd=bench).stdout
    done = holdfast(*words, "--where", "category = 'math'", cwd=bench)
    assert done.stdout.startswith("promote: v7 is better than main where category = 'math'")


def test_logs_and_how_they_are_read(tmp_path: Path) -> None:
    names = [f"sum-{number:02}" for number in range(1, 13)]
    pl.DataFrame({"id": names}).write_csv(tmp_path / "sums.csv")
    holdfast("init", "sums.csv", "--key", "id", "--candidates", "9", cwd=tmp_path)
    main, errors = str(FILES / "inspect.eval"), str(FILES / "inspect-errors.eval")
    epochs = str(FILES / "inspect-epochs.json")
    assert holdfast("gate", "sums", main, "--as", "main", "--first", cwd=tmp_path).returncode == 0
    done = holdfast("gate", "sums", errors, cwd=tmp_path)
    assert done.returncode == 2
    assert "2 items ('sum-05', 'sum-09') have no score" in done.stderr
    done = holdfast("gate", "sums", errors, "--missing", "wrong", cwd=tmp_path)
    assert done.returncode == 5
    assert re.match(r"not shown: that \w{22} is better than main", done.stdout)
    assert holdfast("gate", "sums", epochs, cwd=tmp_path).returncode == 2
    done = holdfast("gate", "sums", epochs, "--score", "exact", cwd=tmp_path)
    assert done.returncode == 2
    assert "has the scorer 'exact', and 'main' has 'includes'" in done.stderr
    done = holdfast("gate", "sums", epochs, "--score", "includes", cwd=tmp_path)
    assert done.returncode == 2
    assert "neither 0 nor 1, right nor wrong" in done.stderr
    graded = ["--score", "includes", "--bounds", "0", "1"]
    assert holdfast("gate", "sums", epochs, *graded, cwd=tmp_path).returncode == 5
    stopped = str(FILES / "inspect-stopped.eval")
    assert "--partial" in holdfast("gate", "sums", stopped, cwd=tmp_path).stderr
    said = ["--partial", "--missing", "wrong"]
    assert holdfast("gate", "sums", stopped, *said, cwd=tmp_path).returncode == 5


def test_options_of_the_other_form(bench: Path) -> None:
    for words, said in [
        (["better.csv", "--as", "x", "--at-least", "0"], "are for questions"),
        (["avg(category = 'math')", "--against", "main"], "there is no file"),
        (["none.csv", "--as", "x"], "there is no file 'none.csv'"),
        (["better.csv", "--as", "x", "--min-gain", "much"], "min_gain is 'much'"),
        (["better.csv", "--as", "x", "--against", "v0"], "'v0' was not submitted here"),
        (["better.csv", "--as", "x", "--summary", "no/where.md"], "cannot be written"),
    ]:
        done = holdfast("gate", "bench", *words, cwd=bench)
        assert done.returncode == 2, words
        assert said in done.stderr


def test_a_candidate_is_promoted_in_the_same_step(bench: Path) -> None:
    words = ["gate", "bench", "better.csv", "--as", "v7", "--promote-if-shown"]
    done = holdfast(*words, cwd=bench)
    assert done.returncode == 0
    told = ["v7 is the incumbent.", "", "Next: holdfast ledger bench"]
    assert done.stdout.splitlines()[1:] == told
    again = holdfast(*words, "--json", cwd=bench)  # a job that is tried again
    assert (again.returncode, json.loads(again.stdout)["repeated"]) == (0, True)
    done = holdfast("gate", "bench", "main.csv", "--as", "v8", "--promote-if-shown", cwd=bench)
    assert done.returncode == 5
    assert "not shown: that v8 is better than v7" in done.stdout
    assert "v7 is better than main, receipt" in holdfast("columns", "bench", cwd=bench).stdout


def test_nobody_is_promoted_by_another_comparison(bench: Path) -> None:
    holdfast("gate", "bench", "better.csv", "--as", "v7", "--promote-if-shown", cwd=bench)
    for how, said in [
        (["--first"], "promotes without a look"),
        (["--where", "category = 'math'"], "compares some items only"),
        (["--against", "main"], "is not the incumbent, which is 'v7'"),
    ]:
        words = ["gate", "bench", "alike.csv", "--as", "v8", *how, "--promote-if-shown"]
        done = holdfast(*words, cwd=bench)
        assert (done.returncode, said in done.stderr) == (2, True), words
    assert "v8" not in holdfast("columns", "bench", cwd=bench).stdout


def test_the_items_of_a_log_are_a_table(tmp_path: Path) -> None:
    """Its ids alone, whatever was scored, or was never tried."""
    for file, name, items in [
        (FILES / "inspect-epochs.eval", "epochs", 12),
        (FILES / "inspect-stopped.eval", "stopped", 12),
        (CHOICE, "choice", 12),
    ]:
        done = holdfast("init", str(file), "--name", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"Protected {items} rows" in done.stdout
        assert f"Next: holdfast gate {name} FILE --as NAME --first" in done.stdout
    main = str(FILES / "inspect.eval")
    done = holdfast("gate", "stopped", main, "--first", "--data", main, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = holdfast("init", main, "--name", "x", "--candidates", "none", cwd=tmp_path)
    assert done.returncode == 2
    assert not list(tmp_path.glob("x.*"))


# Ledgers in a branch -----------------------------------------------------------------------------


@pytest.fixture
def repository(bench: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a job, which has a secret: the remote has no ledger yet."""
    subprocess.run(["git", "init", "--quiet", str(bench)], check=True)
    remote = bare_repository(bench)
    subprocess.run(["git", "remote", "add", "origin", str(remote)], check=True, cwd=bench)
    monkeypatch.setenv("HOLDFAST_SECRET", "0123456789abcdef" * 4)
    monkeypatch.setenv("HOLDFAST_STATE", str(bench / "state"))
    return bench


def test_the_workflow_runs_as_it_is(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the example, as its jobs run them; and who may do what in it."""
    page = (ROOT / "examples" / "github-actions-gate.yml").read_text(encoding="utf-8")
    workflow = pytest.importorskip("yaml").safe_load(page)
    evaluate, gate, promote = (workflow["jobs"][name] for name in ("evaluate", "gate", "promote"))
    assert "secrets." not in json.dumps(evaluate)
    assert evaluate["permissions"] == {"contents": "read"}
    for trusted in (gate, promote):
        assert "head.sha" not in json.dumps(trusted)  # nothing of the pull request is checked out
        assert trusted["concurrency"]["cancel-in-progress"] is False
    steps = [step for job in (evaluate, gate, promote) for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", each) for each in used)
    filled = {"LEDGER": workflow["env"]["LEDGER"], "CANDIDATE": "1f3870be"}
    for name, value in {**filled, "GITHUB_STEP_SUMMARY": "summary.md"}.items():
        monkeypatch.setenv(name, value)
    once = re.findall(r"^#   holdfast (.*)$", page, re.MULTILINE)
    commands = [step["run"] for step in steps if step.get("run", "").startswith("holdfast")]
    for command in [*once, *(each.removeprefix("holdfast ") for each in commands)]:
        words = os.path.expandvars(command.replace("\\\n", " "))
        words = words.replace("candidate.eval", "better.csv").replace("main.eval", "main.csv")
        done = holdfast(*shlex.split(words), cwd=repository)
        assert done.returncode == 0, done.stderr
    assert "**promote**" in (repository / "summary.md").read_text()
    assert "The incumbent is 1f3870be" in done.stdout
    told = holdfast("audit", filled["LEDGER"], "--data", "items.csv", cwd=repository)
    assert (told.returncode, told.stderr) == (0, "")


def test_two_runs_are_counted_in_a_branch(repository: Path) -> None:
    """It needs no table: the items are those of the first run."""
    words = ["compare", "main.csv", "better.csv", "--ledger", "git:origin/compared"]
    assert holdfast(*words, cwd=repository).returncode == 0
    done = holdfast(*words, cwd=repository)
    assert "repeated" in done.stdout
    assert not list(repository.glob("*.items.parquet"))


def test_a_secret_is_not_typed(repository: Path) -> None:
    for words in (["--secret", "ab" * 32, "list"], ["budget", "bench"]):
        done = holdfast(*words, cwd=repository)
        assert done.returncode == 2
        assert "is a secret itself" in done.stderr
        assert "0123456789" not in done.stderr


def test_swapping_the_scorer_promotes_nobody(bench: Path) -> None:
    """The same file by a looser scorer is refused before it is submitted, and its name is free."""
    right = [number % 5 < 3 for number in range(N)]
    loose = [number % 5 < 4 for number in range(N)]
    both = pl.DataFrame({"item": NAMES, "acc": right, "loose": loose})
    both.write_csv(bench / "both.csv")
    for words in (["--dry-run"], []):
        done = holdfast(
            "gate", "bench", "both.csv", "--score", "loose", "--as", "v2", *words, cwd=bench
        )
        assert done.returncode == 2
        assert "'v2' has the scorer 'loose', and 'main' has 'acc'" in done.stderr
    assert "v2" not in holdfast("columns", "bench", cwd=bench).stdout


def test_a_job_that_is_tried_again(bench: Path) -> None:
    """The same verdict, and no second candidate: also if only the file has another name."""
    first = holdfast("gate", "bench", "better.csv", "--as", "v7", "--json", cwd=bench)
    (bench / "better.csv").rename(bench / "renamed.csv")
    again = holdfast("gate", "bench", "renamed.csv", "--as", "v7", "--json", cwd=bench)
    assert first.returncode == again.returncode == 0
    said, repeated = json.loads(first.stdout), json.loads(again.stdout)
    assert repeated == {**said, "repeated": True}
    assert said["holds_for"] == "these items"
    other = holdfast("gate", "bench", "alike.csv", "--as", "v7", cwd=bench)
    assert other.returncode == 2
    assert "'v7' was submitted before, with other scores" in other.stderr


def test_what_no_worse_than_takes_from_better_is_said_before(bench: Path) -> None:
    words = ["gate", "bench", "better.csv", "--as", "v7"]
    told = holdfast(*words, "--no-worse-than", "0.02", "--dry-run", cwd=bench).stdout
    assert re.search(r"decided at level 0\.0\d+, and if it is shown, the next one at 0\.00", told)
    assert "To show that it is better, too, ask for that first" in told
    assert "ask for that first" not in holdfast(*words, "--dry-run", cwd=bench).stdout


def test_ids_of_two_tasks_are_two_tables(tmp_path: Path) -> None:
    pl.DataFrame({"doc_id": range(20)}).write_csv(tmp_path / "ids.csv")
    for task in ("algebra", "history"):
        words = ["init", "ids.csv", "--name", task, "--key", "doc_id", "--task", task]
        done = holdfast(*words, "--candidates", "9", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    done = holdfast("init", "ids.csv", "--name", "third", "--key", "doc_id", cwd=tmp_path)
    assert "say which: task= (--task)" in done.stderr
