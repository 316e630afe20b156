"""The file: what was written is read again, and a full disk or a lost secret is told plainly."""

from __future__ import annotations

import json
import pickle
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import InvalidArgument, LedgerBusy, LedgerTampered, LedgerUnavailable
from holdfast.ledger.backend import Addition
from holdfast.ledger.chain import link, seal
from holdfast.ledger.sqlite import FileHome, FileVersion
from holdfast.ledger.store import Store
from tests.holdout.tables import made, opened, table
from tests.ledger.reading import rows_of
from tests.seam import (
    SQLITE_PATIENCE,
    SYNC_FOLDER,
    WRITE_ENTRIES,
    WRITE_SECRET,
    connected_by,
    connection_of,
    real,
    store_of,
)

# What is in the file ---------------------------------------------------------------------------


def test_entries_are_an_opening_and_two_for_each_question(ledger: Path) -> None:
    kinds = [json.loads(text)["kind"] for _, text, _ in rows_of(ledger)]
    assert kinds == ["open/3", *["reserve/2", "settle/2"] * 3]


def test_commits_are_durable(ledger: Path) -> None:
    with closing(Store.open(ledger)) as store:
        pragmas = [
            connection_of(store).execute(f"PRAGMA {pragma}").fetchone()[0]
            for pragma in ("journal_mode", "synchronous")
        ]
    assert pragmas == ["wal", 2]  # 2 is FULL


def test_the_log_is_written_over_in_place(ledger: Path) -> None:
    """Each entry is two pages of the log, and more; it begins again after a hundred or so."""
    log = ledger.with_name("t.ledger-wal")
    with closing(Store.open(ledger)) as store, store.exclusive(1.0):
        seq, _, head = store.news()[-1]
        sizes = []
        for _ in range(80):
            ((seq, _, head),) = store.append([({"kind": "note/1"}, ())], seq, head)
            sizes.append(log.stat().st_size)
        assert len(store.news()) == 87
    assert sizes[10] < sizes[-20] == sizes[-1] < 120 * 4_200


def test_the_lock_writes_nothing(ledger: Path) -> None:
    """A file made and removed for each question would be one more thing to wait for."""
    lock = ledger.with_name("t.ledger-lock")
    with closing(Store.open(ledger)) as store:
        names = {path.name for path in ledger.parent.iterdir()}
        with store.exclusive(1.0), closing(sqlite3.connect(lock, timeout=0.0)) as other:
            assert {path.name for path in ledger.parent.iterdir()} == names
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("BEGIN IMMEDIATE")
    assert lock.stat().st_size == 0


def test_a_ledger_opens_while_another_asks(ledger: Path) -> None:
    with closing(Store.open(ledger)) as first, first.exclusive(1.0):
        other = Store.open(ledger)
        assert other.news() == first.news()
        held = pytest.raises(LedgerBusy, match=r"someone else has held .* for 0\.02 s")
        with closing(other), held, other.exclusive(0.02):
            pass


def test_news_are_what_was_not_seen_yet(ledger: Path) -> None:
    rows = rows_of(ledger)
    with closing(Store.open(ledger)) as store, closing(Store.open(ledger)) as other:
        assert store.news(5, rows[4][2]) == rows[5:]
        assert store.news(7, rows[6][2]) == []
        with other.exclusive(1.0):
            added = other.append([({"kind": "note/1"}, ())], 7, rows[6][2])
        assert store.news(7, rows[6][2]) == added


def test_the_secret_is_for_the_owner_only_and_nowhere_else(ledger: Path) -> None:
    secret = ledger.with_name("t.ledger-secret")
    assert secret.stat().st_mode & 0o777 == 0o600
    content = secret.read_bytes()
    assert len(content) == 32
    with opened(ledger.parent, table()) as holdout:
        holdout.ask("avg(x > 50)")  # now there is a write-ahead log, too
        others = [path for path in ledger.parent.iterdir() if path != secret]
        assert {path.suffix for path in others} >= {".ledger", ".ledger-wal", ".ledger-newest"}
        for path in others:
            stored = path.read_bytes()
            assert content not in stored
            assert content.hex().encode() not in stored


def test_two_ledgers_have_two_secrets(tmp_path: Path) -> None:
    secrets = {
        made(tmp_path, name=name).with_name(f"{name}.ledger-secret").read_bytes()
        for name in ("a", "b")
    }
    assert len(secrets) == 2


# The secret --------------------------------------------------------------------------------------


def test_a_missing_secret_is_asked_for(ledger: Path) -> None:
    ledger.with_name("t.ledger-secret").unlink()
    with pytest.raises(LedgerUnavailable, match=r"secret .* is missing.* Restore it beside"):
        holdfast.open(table(), ledger=ledger, described="off")


def test_the_secret_may_be_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "safe").mkdir()
    hidden = tmp_path / "safe" / "of t"
    table().write_parquet(tmp_path / "t.parquet")
    said: dict[str, Any] = {"ledger": tmp_path / "t.ledger", "secret": hidden, "tolerance": 0.2}
    with holdfast.open(tmp_path / "t.parquet", described="off", **said) as holdout:
        answer = holdout.ask("avg(late)")
        with pickle.loads(pickle.dumps(holdout)) as again:
            assert again.ask("avg(late)").receipt == answer.receipt
    assert hidden.stat().st_size == 32
    assert not (tmp_path / "t.ledger-secret").exists()
    with pytest.raises(LedgerUnavailable, match=r"secret .*t\.ledger-secret' .* is missing"):
        holdfast.open(ledger=tmp_path / "t.ledger")
    with holdfast.open(ledger=tmp_path / "t.ledger", secret=str(hidden)) as holdout:
        assert holdout.ask("avg(late)").status == "repeated"


def test_a_wrong_secret_is_noticed(ledger: Path) -> None:
    ledger.with_name("t.ledger-secret").write_bytes(b"x" * 32)
    with pytest.raises(LedgerTampered, match="its seal is of another entry, or of another secret"):
        holdfast.open(table(), ledger=ledger, described="off")
    ledger.with_name("t.ledger-secret").write_bytes(b"short")
    with pytest.raises(LedgerTampered, match="has 5 bytes, not 32"):
        holdfast.open(table(), ledger=ledger, described="off")


def test_a_removed_ledger_is_not_replaced_unasked(ledger: Path) -> None:
    ledger.unlink()
    with pytest.raises(InvalidArgument, match=r"there is a secret .* without its ledger"):
        holdfast.open(table(), ledger=ledger, tolerance=0.2, described="off")
    assert not ledger.exists()
    ledger.with_name("t.ledger-secret").unlink()  # as the text says
    with holdfast.open(table(), ledger=ledger, tolerance=0.2, described="off") as holdout:
        assert holdout.budget.asked == 0


# Making one, whole or not at all ------------------------------------------------------------------


@pytest.mark.parametrize("step", [WRITE_ENTRIES, WRITE_SECRET, SYNC_FOLDER])
def test_an_interrupted_making_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(step, stop)
        with pytest.raises(KeyboardInterrupt):
            made(tmp_path)
    path = made(tmp_path)
    assert len(rows_of(path)) == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "t.ledger",
        "t.ledger-lock",
        "t.ledger-secret",
    ]


def test_a_secret_left_by_an_interrupted_making_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", stop)
        with pytest.raises(KeyboardInterrupt):
            made(tmp_path)
    assert (tmp_path / "t.ledger-secret").exists()
    assert not (tmp_path / "t.ledger").exists()
    assert len(rows_of(made(tmp_path))) == 1


def test_a_second_maker_keeps_the_first_ledger(tmp_path: Path) -> None:
    path = made(tmp_path)
    before = rows_of(path)
    Store.create(path, lambda _: {"kind": "open/3"}, 1.0)
    assert rows_of(path) == before


# Broken files beside it ---------------------------------------------------------------------------

BROKEN = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00",
    "half of it": b'{"files": [',
    "another kind": b"[1, 2]",
    "nested deeply": b"[" * 200_000,
    "nested deeply and closed": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("what", ["files", "newest"])
def test_a_broken_memory_is_no_memory(tmp_path: Path, what: str, content: bytes) -> None:
    data = tmp_path / "t.parquet"
    table().write_parquet(data)
    made(tmp_path, str(data))
    (tmp_path / f"t.ledger-{what}").write_bytes(content)
    with opened(tmp_path, str(data)) as holdout:
        assert holdout.ask("avg(late)").number == 1
    (tmp_path / f"t.ledger-{what}").unlink()
    (tmp_path / f"t.ledger-{what}").mkdir()
    with opened(tmp_path, str(data)) as holdout:
        assert holdout.ask("avg(x > 1)").number == 2


def test_an_entry_that_is_nested_too_deeply_is_no_entry(ledger: Path) -> None:
    secret, head = ledger.with_name("t.ledger-secret").read_bytes(), rows_of(ledger)[-1][2]
    text = "[" * 200_000
    with closing(sqlite3.connect(ledger)) as connection:
        hashed = link(head, text)
        addition = Addition(7, head, [(8, text, hashed)], seal(secret, 8, hashed))
        real(WRITE_ENTRIES)(connection, addition)
        connection.commit()
    with pytest.raises(LedgerTampered, match="entry 8 of the ledger cannot be read"):
        holdfast.open(table(), ledger=ledger, described="off")


# Disk and folder ---------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written() -> None:
    with pytest.raises(LedgerUnavailable, match="check that its folder can be written"):
        holdfast.open(table(), ledger="/proc/t.ledger", tolerance=0.2, described="off")


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in ("file", "nowhere"):
        with pytest.raises(InvalidArgument, match="there is no folder"):
            holdfast.open(
                table(), ledger=tmp_path / folder / "t.ledger", tolerance=0.2, described="off"
            )


def test_a_ledger_that_cannot_be_written_loses_nothing(ledger: Path) -> None:
    with opened(ledger.parent, table()) as holdout:
        connection_of(store_of(holdout)).execute("PRAGMA query_only = ON")
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match=r"readonly.* Nothing that was recorded is"):
                holdout.ask("avg(x > 50)")
        assert holdout.ask("avg(late)").status == "repeated"
        connection_of(store_of(holdout)).execute("PRAGMA query_only = OFF")
        assert holdout.ask("avg(x > 50)").number == 4
    assert len(rows_of(ledger)) == 9


def test_a_commit_that_fails_leaves_no_transaction_open(ledger: Path) -> None:
    class Failing:
        """The disk is full at the very end."""

        def __init__(self, connection: sqlite3.Connection) -> None:
            self.real = connection

        def execute(self, statement: str, *args: object) -> sqlite3.Cursor:
            if statement == "COMMIT":
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise error
            return self.real.execute(statement, *args)  # type: ignore[arg-type]

        def executemany(self, statement: str, *args: object) -> sqlite3.Cursor:
            return self.real.executemany(statement, *args)  # type: ignore[arg-type]

        def rollback(self) -> None:
            self.real.rollback()

    with closing(Store.open(ledger)) as store, closing(Store.open(ledger)) as other:
        rows = store.news()
        head, failing = rows[-1][2], Failing(connection_of(store))
        refused = pytest.raises(LedgerUnavailable, match="disk is full")
        with connected_by(store, failing), store.exclusive(1.0), refused:
            store.append([({"kind": "note/1"}, ())], 7, head)
        with other.exclusive(1.0):  # nothing is locked, and nothing was written
            assert other.append([({"kind": "note/1"}, ())], 7, head)[0][0] == 8
        assert len(store.news()) == 8


FULL = """
    import resource, signal, sys
    from pathlib import Path
    from tests.holdout.tables import opened, table
    from holdfast.errors import LedgerUnavailable

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with opened(Path(sys.argv[1]), table()) as holdout:
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
        for number in range(1_000):
            try:
                answer = holdout.check(f"avg(x > {number})", guess=0.5)
            except LedgerUnavailable as error:
                print(error)
                break
            print(answer.receipt)
"""


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """No file may grow beyond 150 kB: the log is full after some answers."""
    path = made(tmp_path, table(), questions=1_000, tolerance=0.45)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    *receipts, said = done.stdout.splitlines()
    assert "check that its folder can be written and that the disk has room" in said
    assert len(receipts) >= 3
    stored = {receipt for _, _, receipt in rows_of(path)}
    assert set(receipts) <= stored
    with opened(tmp_path, table()) as holdout:  # there is room again
        finished = holdout.check("avg(x > 999)", guess=0.5)
        assert [answer.receipt for answer in holdout.ledger][: len(receipts)] == receipts
        assert finished.number in (len(receipts) + 1, len(receipts) + 2)


def test_another_program_in_the_way_is_busy_not_broken(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SQLITE_PATIENCE, 0.02)
    with closing(Store.open(ledger)) as store, closing(sqlite3.connect(ledger)) as other:
        other.execute("BEGIN IMMEDIATE")
        with store.exclusive(1.0), pytest.raises(LedgerBusy, match="what was recorded is kept"):
            store.append([({"kind": "note/1"}, ())], 7, store.news()[-1][2])


def test_the_version_of_a_file_is_another_after_every_commit(ledger: Path) -> None:
    """And of another file of its name; what is no file, or cannot be read, has none."""
    version = FileVersion(FileHome.named(ledger))
    with closing(version):
        seen = [version.read(), version.read()]
        with closing(sqlite3.connect(ledger)) as other:
            other.execute("PRAGMA user_version = 7")
            seen += [version.read(), version.read()]
        shutil.copyfile(ledger, ledger.with_suffix(".copy"))
        ledger.with_suffix(".copy").rename(ledger)
        seen += [version.read(), version.read()]
        ledger.unlink()
        assert version.read() is None
    assert None not in seen
    assert seen[::2] == seen[1::2]
    assert len(set(seen)) == 3
    assert FileVersion("postgresql://host/ledger").read() is None


def test_a_closed_ledger_says_so(ledger: Path) -> None:
    with opened(ledger.parent, table()) as holdout:
        pass
    with pytest.raises(LedgerUnavailable, match="closed"):
        holdout.ask("avg(late)")
