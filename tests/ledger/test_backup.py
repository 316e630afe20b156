"""Backups: a consistent copy in use, a restored ledger that counts nothing it cannot know, and an
outside witness that finds a folder put back whole."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable, Retired
from holdfast.ledger import backup as module
from holdfast.ledger.audit import audit
from holdfast.ledger.backup import backup, restore
from holdfast.ledger.index import STATE
from holdfast.ledger.sqlite import FileHome, SqliteKeeper
from holdfast.ledger.store import home_of
from holdfast.ledger.witness import WITNESS
from tests.cli.run import holdfast as command
from tests.ledger.reading import rows_of
from tests.ledger.started import ROWS, is_usable, opened, started


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    started(home_of(tmp_path / "here" / "t.ledger"))
    return tmp_path / "here" / "t.ledger"


@pytest.fixture
def witness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "witness").mkdir()
    monkeypatch.setenv(WITNESS, str(tmp_path / "witness"))
    return tmp_path / "witness"


def lose(ledger: Path) -> None:
    """Everything of the ledger is gone, its own witness too."""
    shutil.rmtree(ledger.parent)
    ledger.parent.mkdir()


def test_a_ledger_in_use_is_copied_and_restored_retired(ledger: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.backup"
    with opened(home_of(ledger)) as holdout:
        known = holdout.ask("avg(v)").receipt
        assert backup(ledger, file) == len(rows_of(home_of(ledger)))
        holdout.ask("avg(v = late)")
    assert file.stat().st_mode & 0o77 == 0
    with pytest.raises(InvalidArgument, match="is there already"):
        backup(ledger, file)
    with pytest.raises(InvalidArgument, match="there is already a ledger"):
        restore(file, ledger)
    lose(ledger)
    done = restore(file, ledger)
    assert (
        done.retired == "restored from a backup of 4 entries, and nobody knows what was "
        "answered since"
    )
    assert done.entries == 5
    assert all(finding.fine for finding in audit(ledger))
    with opened(home_of(ledger)) as holdout:
        assert holdout.ask("avg(v)").receipt == known
        with pytest.raises(Retired):
            holdout.ask("avg(v = late)")


def test_who_knows_that_nothing_was_answered_asks_on(ledger: Path, tmp_path: Path) -> None:
    backup(ledger, tmp_path / "b")
    lose(ledger)
    assert restore(tmp_path / "b", ledger, nothing_since=True).retired is None
    with opened(home_of(ledger)) as holdout:
        holdout.ask("avg(v = late)")
    assert all(finding.fine for finding in audit(ledger))


def test_a_witness_that_lies_in_the_place_contradicts(ledger: Path, tmp_path: Path) -> None:
    backup(ledger, tmp_path / "b")
    with opened(home_of(ledger)) as holdout:
        holdout.ask("avg(v = late)")
    for each in (ledger, Path(f"{ledger}-secret")):
        each.unlink()
    with pytest.raises(LedgerTampered, match="saw 6 entries, here are 4"):
        restore(tmp_path / "b", ledger, nothing_since=True)
    done = restore(tmp_path / "b", ledger)
    assert done.retired == "restored from a backup of 4 entries, and a witness saw 6"


def test_no_copy_is_asked_beside_its_original(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does one take over the witness of an original in use; without a witness it is tried."""
    backup(ledger, tmp_path / "b")
    with pytest.raises(InvalidArgument, match=r"t\.ledger' is the one of this backup, and is here"):
        restore(tmp_path / "b", ledger.with_name("u.ledger"), nothing_since=True)
    (tmp_path / "witness").mkdir()
    monkeypatch.setenv(WITNESS, str(tmp_path / "witness"))
    monkeypatch.setenv(STATE, str(tmp_path / "index"))
    with opened(home_of(ledger)) as holdout:
        holdout.ask("avg(late)")
    for folder in (ledger.parent, tmp_path):  # beside it, or known by the index
        with pytest.raises(InvalidArgument, match=f"or unset {WITNESS} to try the backup"):
            restore(tmp_path / "b", folder / "u.ledger")
    with opened(home_of(ledger)) as holdout:
        holdout.ask("avg(v = late)")
    monkeypatch.delenv(WITNESS)
    assert restore(tmp_path / "b", ledger.with_name("u.ledger")).retired is not None
    monkeypatch.setenv(WITNESS, str(tmp_path / "witness"))
    opened(home_of(ledger)).close()


@pytest.mark.usefixtures("witness")
def test_an_outside_witness_knows_whether_something_was_answered(
    ledger: Path, tmp_path: Path
) -> None:
    with opened(home_of(ledger)) as holdout:
        holdout.ask("avg(late)")
    backup(ledger, tmp_path / "complete")
    lose(ledger)
    assert restore(tmp_path / "complete", ledger).retired is None
    with opened(home_of(ledger)) as holdout:
        holdout.ask("avg(v = late)")
    lose(ledger)
    with pytest.raises(LedgerTampered, match="rolled back: the witness saw 8 entries, here are 6"):
        restore(tmp_path / "complete", ledger, nothing_since=True)
    assert "a witness saw 8" in str(restore(tmp_path / "complete", ledger).retired)
    opened(home_of(ledger)).close()


def test_a_folder_put_back_whole_is_found_by_the_outside_witness_alone(
    ledger: Path, tmp_path: Path, witness: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ledger.parent, tmp_path / "older")
    with opened(home_of(ledger)) as holdout:
        holdout.ask("avg(late)")
    shutil.rmtree(ledger.parent)
    shutil.copytree(tmp_path / "older", ledger.parent)
    said = "rolled back: the witness saw 6 entries, here are 4"
    with pytest.raises(LedgerTampered, match=said):
        opened(home_of(ledger))
    assert said in audit(ledger)[0].detail
    assert len(list(witness.iterdir())) == 1
    monkeypatch.delenv(WITNESS)
    opened(home_of(ledger)).close()  # nobody else could know


def test_nothing_is_shown_that_the_witness_does_not_know(ledger: Path, witness: Path) -> None:
    with opened(home_of(ledger)) as holdout:
        shutil.rmtree(witness)
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match=r"the witness .* cannot be used"):
                holdout.ask("avg(late)")
        witness.mkdir()
        holdout.ask("avg(late)")
    (note,) = witness.iterdir()
    assert int(note.read_text().split()[0]) == len(rows_of(home_of(ledger)))


class Stopped(BaseException):
    """The process ends here."""


def stop(*_: Any, **__: Any) -> None:
    raise Stopped


STEPS: list[tuple[object, str]] = [
    (FileHome, "create"),
    (SqliteKeeper, "keep_file"),
    (SqliteKeeper, "mark_moved"),
]


@pytest.mark.parametrize(("place", "step"), STEPS, ids=[step for _, step in STEPS])
def test_a_restoration_that_is_interrupted_is_done_again(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: object, step: str
) -> None:
    backup(ledger, tmp_path / "b")
    lose(ledger)
    with monkeypatch.context() as patch:
        patch.setattr(place, step, stop)
        with pytest.raises(Stopped):
            restore(tmp_path / "b", ledger)
    assert not is_usable(home_of(ledger))
    assert restore(tmp_path / "b", ledger).entries == 5
    assert all(finding.fine for finding in audit(ledger))


def test_a_backup_that_is_interrupted_leaves_no_file(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, step in ((FileHome, "create"), (module, "_pack")):
        with monkeypatch.context() as patch:
            patch.setattr(place, step, stop)
            with pytest.raises(Stopped):
                backup(ledger, tmp_path / "b")
        assert not (tmp_path / "b").exists()
    assert backup(ledger, tmp_path / "b") == 4


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"no tar")
    with pytest.raises(InvalidArgument, match="is no backup of a ledger"):
        restore(tmp_path / "b", tmp_path / "t.ledger")
    assert not (tmp_path / "t.ledger").exists()


def test_the_commands(ledger: Path, tmp_path: Path) -> None:
    done = command("ledger", "backup", "t", "../t.backup", cwd=ledger.parent)
    assert done.stdout.startswith("Wrote 4 entries, the columns and the secret"), done.stderr
    done = command("ledger", "upgrade", "t", cwd=ledger.parent)
    assert "is of format 3" in done.stdout, done.stderr
    done = command("ledger", "restore", "../t.backup", "u.ledger", cwd=ledger.parent)
    assert "It is retired: restored from a backup of 4 entries" in done.stdout, done.stderr
    assert "Restored 5 entries" in done.stdout
    assert "u.ledger, the last of which retires it." in done.stdout
    for word in ("backup", "restore", "upgrade", "move"):
        assert "restore FILE [TARGET]" in command("ledger", word, cwd=tmp_path).stderr
    assert "--nothing-since is of" in command("ledger", "t", "--nothing-since", cwd=tmp_path).stderr
    with holdfast.open(ROWS, ledger=ledger) as holdout:
        holdout.ask("avg(late)")
