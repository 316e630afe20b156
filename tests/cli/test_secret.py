"""`holdfast --secret FILE`: a ledger whose secret is not beside it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.cli.run import holdfast

ASK = ("ask", "t", "avg(label)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = pl.DataFrame({"id": range(400), "label": [True, False] * 200})
    rows.write_csv(tmp_path / "t.csv")
    (tmp_path / "hidden").mkdir()
    said = ("init", "t.csv", "--key", "id", "--tolerance", "0.3", "--described", "off")
    done = holdfast("--secret", "hidden/s", *said, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "hidden" / "s").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "t.ledger-secret").exists()
    return tmp_path


def test_every_command_finds_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rest: tuple[tuple[str, ...], ...] = (
        ASK,
        ("check", "t", "avg(not label)", "--guess", "0.5"),
        ("attach", "t", "v", "t.csv", "--value", "label"),
        ("promote", "t", "v"),
        ("columns", "t"),
        ("budget", "t"),
        ("ledger", "t"),
        ("audit", "t"),
    )
    for words in rest:
        done = holdfast("--secret", "hidden/s", *words, cwd=folder)
        assert (done.returncode, done.stderr) == (0, ""), words
        assert "seal was not compared" not in done.stdout
    monkeypatch.setenv("HOLDFAST_SECRET", "hidden/s")
    assert holdfast("audit", "t", cwd=folder).stdout.count("intact") == 1


def test_without_it_the_error_says_where_to_put_it(folder: Path) -> None:
    done = holdfast(*ASK, "--data", "t.csv", cwd=folder)
    assert done.returncode == 2
    assert "t.ledger-secret' of the ledger" in done.stderr
    assert "holdfast --secret FILE" in done.stderr
    assert "not compared" in holdfast("audit", "t", cwd=folder).stdout


def test_a_ledger_is_moved_with_it(folder: Path) -> None:
    assert holdfast("ledger", "move", "t", "other.ledger", cwd=folder).returncode == 2
    done = holdfast("--secret", "hidden/s", "ledger", "move", "t", "other.ledger", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "other.ledger-secret").read_bytes() == (folder / "hidden/s").read_bytes()
    assert "intact" in holdfast("audit", "other", "--data", "t.csv", cwd=folder).stdout
