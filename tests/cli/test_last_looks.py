"""`holdfast final` and `reveal`: exact values, and the end of asks and checks."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.cli.run import holdfast

N = 400
ASKED = ("avg(late)", "avg(x > 0.5)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frame = pl.DataFrame({"late": [place % 4 == 0 for place in range(N)], "x": [0.25, 0.75] * 200})
    frame.write_csv(tmp_path / "t.csv")
    words = ("init", "t.csv", "--tolerance", "0.2", "--described", "off")
    assert holdfast(*words, cwd=tmp_path).returncode == 0
    return tmp_path


def test_a_last_look_is_told_before_taken_and_repeated(folder: Path) -> None:
    dry = holdfast("final", "t", *ASKED, "--dry-run", cwd=folder)
    assert dry.returncode == 0, dry.stderr
    assert "a last look at 2 new questions" in dry.stdout
    told = json.loads(holdfast("final", "t", *ASKED, "--dry-run", "--json", cwd=folder).stdout)
    assert told["closes"] is True
    done = holdfast("final", "t", *ASKED, "--why", "the end", "--json", cwd=folder)
    answers = json.loads(done.stdout)
    assert [answer["value"] for answer in answers] == [0.25, 0.5]
    again = holdfast("final", "t", *ASKED, cwd=folder)
    assert again.stdout.count("repeated") == 2
    refused = holdfast("ask", "t", "avg(x > 0.7)", cwd=folder)
    assert refused.returncode == 3
    assert "when a last look was taken" in refused.stderr
    assert holdfast("final", "t", "avg(x > 0.7)", cwd=folder).returncode == 3
    assert holdfast("final", "t", "avg(nothing)", cwd=folder).returncode == 2
    assert holdfast("audit", "t", cwd=folder).returncode == 0


def test_a_statistic_is_told_before_revealed_and_repeated(folder: Path) -> None:
    dry = holdfast("reveal", "t", ASKED[0], "--dry-run", cwd=folder)
    assert dry.returncode == 0, dry.stderr
    assert "its exact value, half-width at most" in dry.stdout
    told = json.loads(holdfast("reveal", "t", ASKED[0], "--dry-run", "--json", cwd=folder).stdout)
    assert (told["closes"], told["by"]) == (True, "leakage")
    done = holdfast("reveal", "t", ASKED[0], "--why", "the end", "--json", cwd=folder)
    assert json.loads(done.stdout)["value"] == 0.25
    assert "repeated" in holdfast("reveal", "t", ASKED[0], cwd=folder).stdout
    refused = holdfast("reveal", "t", ASKED[1], cwd=folder)
    assert refused.returncode == 3
    assert "was revealed" in refused.stderr
    assert holdfast("reveal", "t", "avg(nothing)", cwd=folder).returncode == 2
    assert holdfast("audit", "t", cwd=folder).returncode == 0
