"""`holdfast budget | ledger | audit` without a secret, on read-only media, and when tampered."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from tests.cli.run import holdfast

LOOKS = [("budget", "t"), ("ledger", "t"), ("ledger", "t", "--explain"), ("audit", "t")]
COMMANDS = [
    *LOOKS,
    ("list",),
    ("ask", "t", "avg(x > 9)"),
    ("ask", "t", "avg(x > 9)", "--dry-run"),
    ("check", "t", "avg(x > 9)", "--guess", "0.5"),
    ("check", "t", "avg(x > 9)", "--guess", "0.5", "--dry-run"),
    ("attack", "--like", "t"),
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    pl.DataFrame({"x": list(range(500))}).write_csv(folder / "t.csv")
    plain = ("--tolerance", "0.3", "--described", "off")
    assert holdfast("init", "t.csv", *plain, cwd=folder).returncode == 0
    assert holdfast("ask", "t", "avg(x > 250)", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def folder(asked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(asked, tmp_path / "copy"))


@pytest.fixture
def read_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that says of itself that it cannot be written, as one on a DVD would."""
    for left in ("lock", "newest", "wal", "shm"):
        (folder / f"t.ledger-{left}").unlink(missing_ok=True)
    access = os.access

    def refusing(path: str | Path, mode: int) -> bool:
        return Path(path) != Path() and Path(path) != folder and access(path, mode)

    monkeypatch.setattr("os.access", refusing)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("command", LOOKS, ids=" ".join)
def test_looking_writes_nothing_on_read_only_media(
    read_only: Path, command: tuple[str, ...]
) -> None:
    before = files(read_only)
    done = holdfast(*command, cwd=read_only)
    assert (done.returncode, done.stderr) == (0, "")
    assert files(read_only) == before


def test_entries_in_the_log_are_read_on_read_only_media(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(folder / "t.ledger")) as other:  # keeps the log in place
        other.execute("SELECT * FROM head").fetchall()
        assert holdfast("ask", "t", "avg(x > 9)", cwd=folder).returncode == 0
        left = Path(shutil.copytree(folder, tmp_path / "left"))
    assert (left / "t.ledger-wal").stat().st_size > 0
    monkeypatch.setattr("os.access", lambda *_: False)
    before = files(left)
    assert len(json.loads(holdfast("ledger", "t", "--json", cwd=left).stdout)) == 2
    assert holdfast("audit", "t", cwd=left).returncode == 0
    assert files(left) == before


@pytest.mark.parametrize("command", LOOKS, ids=" ".join)
def test_looking_needs_no_secret_and_says_what_was_not_checked(
    folder: Path, command: tuple[str, ...]
) -> None:
    with_secret = holdfast(*command, cwd=folder)
    (folder / "t.ledger-secret").unlink()
    done = holdfast(*command, cwd=folder)
    assert done.returncode == 0
    if command[0] == "audit":
        assert "skip    seal: its secret is not here" in done.stdout
        assert "The ledger is intact; not looked at: seal and data." in done.stdout
        facts = json.loads(holdfast("audit", "t", "--json", cwd=folder).stdout)
        assert (facts["fine"], facts["seal_compared"], facts["data_compared"]) == (
            True,
            False,
            False,  # the fingerprint is keyed with the secret
        )
    else:
        assert done.stdout == with_secret.stdout
        assert "Not checked: the seal" in done.stderr


def test_a_broken_chain_is_found_without_the_secret(folder: Path) -> None:
    (folder / "t.ledger-secret").unlink()
    (folder / "t.ledger-newest").unlink()
    with closing(sqlite3.connect(folder / "t.ledger")) as ledger:
        ledger.execute("UPDATE entries SET text = replace(text, '0.3', '0.2') WHERE seq = 1")
        ledger.commit()
    assert "FAILED  chain: entry 1" in holdfast("audit", "t", cwd=folder).stdout


def test_a_damaged_note_of_the_witness_is_no_fault_of_the_ledger(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    monkeypatch.setenv("HOLDFAST_WITNESS", str(notes))
    assert holdfast("ask", "t", "avg(x > 8)", cwd=folder).returncode == 0
    (note,) = notes.iterdir()
    note.write_text("damaged")
    done = holdfast("audit", "t", cwd=folder)
    assert done.returncode == 4
    assert f"FAILED  witness: the witness's note '{note}' is damaged" in done.stdout
    assert "cannot be relied upon until the witness's note is in order" in done.stdout
    assert "restore" not in done.stdout.lower()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET text = replace(text, '0.3', '0.2') WHERE seq = 1",
        "DELETE FROM entries WHERE seq = 3",
        "UPDATE head SET seal = 'x'",
        "DROP TABLE entries",
    ],
)
def test_a_tampered_ledger_exits_with_four_whatever_the_command(
    folder: Path, command: tuple[str, ...], statement: str
) -> None:
    with closing(sqlite3.connect(folder / "t.ledger")) as ledger:
        ledger.execute(statement)
        ledger.commit()
    assert holdfast(*command, cwd=folder).returncode == 4
    assert holdfast(*command, "--json", cwd=folder).returncode == 4


def test_parts_fold_under_what_was_asked(folder: Path) -> None:
    question = "quantile(x, 0.5, 125)"
    asked = holdfast("ask", "t", question, "--bounds", "0", "500", "--json", cwd=folder)
    assert (asked.returncode, json.loads(asked.stdout)["number"]) == (0, 2)
    folded, shown = (
        json.loads(holdfast("ledger", "t", "--json", *more, cwd=folder).stdout)
        for more in ((), ("--parts",))
    )
    assert [row["number"] for row in folded] == [1, 2]
    parts = [row for row in shown if row["part_of"] is not None]
    assert {row["part_of"] for row in parts} == {folded[1]["question"]}
    assert len(shown) == 2 + len(parts) > 2
    done = holdfast("ledger", "t", "--parts", "--output", "all.csv", cwd=folder)
    assert f"(look {parts[0]['look']})" in done.stdout
    assert pl.read_csv(folder / "all.csv").height == len(shown)
