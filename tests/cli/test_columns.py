"""`holdfast attach | columns`: values by the key, from files."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.cli.run import holdfast

N = 400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    label = [place % 3 == 0 for place in range(N)]
    pl.DataFrame({"id": range(N), "label": label}).write_csv(tmp_path / "t.csv")
    said = pl.DataFrame({"id": range(N), "p": label, "score": [0.5, 0.25] * (N // 2)})
    said.write_csv(tmp_path / "said.csv")
    said.rename({"id": "item"}).head(10).write_parquet(tmp_path / "few.parquet")
    done = holdfast("init", "t.csv", "--key", "id", "--tolerance", "0.3", cwd=tmp_path)
    assert done.returncode == 0
    return tmp_path


def test_a_column_is_attached_asked_and_listed(folder: Path) -> None:
    done = holdfast(
        "attach", "t", "v7", "said.csv", "--value", "p", "--asked-by", "ann", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Attached v7: submitted, boolean, digest ")
    done = holdfast("attach", "t", "best", "said.csv", "--value", "p", "--json", cwd=folder)
    assert json.loads(done.stdout)["column"] == "v7"
    done = holdfast("ask", "t", "avg(v7 = label)", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "repeated" in holdfast("ask", "t", "avg(best = label)", cwd=folder).stdout
    listed = json.loads(holdfast("columns", "t", "--json", cwd=folder).stdout)["columns"]
    assert [(each["name"], each["by"]) for each in listed] == [("v7", "ann"), ("best", None)]
    assert "best: submitted, boolean, the same as v7" in holdfast("columns", "t", cwd=folder).stdout
    assert holdfast("audit", "t", cwd=folder).returncode == 0


def test_numbers_have_bounds_and_keys_may_be_missing(folder: Path) -> None:
    words = ("attach", "t", "s", "few.parquet", "--key", "item", "--value", "score")
    refused = holdfast(*words, cwd=folder)
    assert refused.returncode == 2
    assert "390 keys (10, 11, 12, ...) have no value" in refused.stderr
    done = holdfast(*words, "--missing", "null", "--bounds", "0", "1", "--json", cwd=folder)
    assert json.loads(done.stdout)["bounds"] == [0.0, 1.0]
    assert holdfast("ask", "t", "avg(s)", cwd=folder).returncode == 0


def test_scores_have_a_digest_and_one_column_is_the_incumbent(folder: Path) -> None:
    words = ("attach", "t", "m3", "said.csv", "--value", "score", "--digest", "prompt 3")
    assert "without bounds" in holdfast(*words, cwd=folder).stderr
    done = holdfast(*words, "--bounds", "0", "1", cwd=folder)
    assert done.stdout.startswith("Attached m3: computed, float in [0, 1], digest prompt 3, ")
    assert holdfast("ask", "t", "avg(m3)", cwd=folder).returncode == 0
    done = holdfast("promote", "t", "m3", "--why", "shown", "--asked-by", "ann", cwd=folder)
    assert done.stdout.startswith("The incumbent is m3, promoted ")
    assert json.loads(holdfast("promote", "t", "label", "--json", cwd=folder).stdout)["by"] is None
    assert "promote names 'm4'" in holdfast("promote", "t", "m4", cwd=folder).stderr
    listed = json.loads(holdfast("columns", "t", "--json", cwd=folder).stdout)
    assert listed["incumbent"]["name"] == "label"
    assert [(each["origin"], each["digest"]) for each in listed["columns"]] == [
        ("computed", "prompt 3")
    ]
    assert "The incumbent is label, promoted" in holdfast("columns", "t", cwd=folder).stdout
    assert holdfast("audit", "t", cwd=folder).returncode == 0


def test_what_cannot_be_attached_is_said_and_exits_with_2(folder: Path) -> None:
    assert "No column" in holdfast("columns", "t", cwd=folder).stdout
    for words, message in (
        (("t", "label", "said.csv", "--value", "p"), "the name 'label' is taken"),
        (("t", "v7", "said.csv"), "value= (--value)"),
        (("t", "v7", "gone.csv"), "gone.csv"),
        (("t", "v7", "said.csv", "--value", "p", "--bounds", "0", "1"), "only numbers have bounds"),
    ):
        done = holdfast("attach", *words, cwd=folder)
        assert done.returncode == 2
        assert message in done.stderr
    assert "No column" in holdfast("columns", "t", cwd=folder).stdout


def test_a_file_that_is_gone_fails_the_audit_and_the_question(folder: Path) -> None:
    holdfast("attach", "t", "v7", "said.csv", "--value", "p", cwd=folder)
    (path,) = (folder / "t.ledger-columns").glob("*.column")
    path.unlink()
    for words in (("audit", "t"), ("ask", "t", "avg(v7)")):
        done = holdfast(*words, cwd=folder)
        assert done.returncode == 4
        assert path.name in done.stdout + done.stderr
