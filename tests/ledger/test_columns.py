"""Columns beside the ledger: whole, durable, and what was attached or nothing."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from holdfast.data.attached import ColumnValues
from holdfast.data.keys import ordered
from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.column_files import (
    ColumnStore,
    computed_file,
    kept_values,
    read_column,
    submitted_file,
)
from holdfast.ledger.side_files import OwnFolder
from holdfast.question.expression import ColumnType

KEYS = {"text": pl.Series(["c", "é", "a", "b"]), "integer": pl.Series([5, -3, 2**60, 0])}
VALUES = {
    "boolean": pl.Series([True, False, None, True]),
    "integer": pl.Series([1, -(2**60), None, 0]),
    "float": pl.Series([0.5, None, -1e300, 0.0]),
    "text": pl.Series(["", None, "x\n", "é"]),
}


def column(values: str = "float", keys: str = "text") -> ColumnValues:
    return ColumnValues(ordered("id", KEYS[keys]), VALUES[values])


@pytest.fixture
def store(tmp_path: Path) -> ColumnStore:
    return ColumnStore(OwnFolder(tmp_path / "t.ledger-columns"), b"secret")


def folder_of(store: ColumnStore) -> Path:
    return Path(store.ledger.file_name("x")).parent


def kept(store: ColumnStore, attached: ColumnValues | None = None) -> tuple[Path, str, str]:
    """A column in the store: its path, its file and its digest."""
    attached = attached or column()
    digest = attached.digest()
    file = submitted_file(digest)
    store.write(file, attached)
    return folder_of(store) / file, file, digest


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("values", VALUES)
def test_what_was_written_is_read(store: ColumnStore, values: str, keys: str) -> None:
    attached = column(values, keys)
    _, file, digest = kept(store, attached)
    found = read_column(store.ledger, file, "id", digest)
    assert found.order == attached.order
    assert found.frame("v").equals(attached.frame("v"))


def test_only_the_owner_reads_it(store: ColumnStore) -> None:
    path, _, _ = kept(store)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder_of(store).stat().st_mode) == 0o700
    assert folder_of(store).name == "t.ledger-columns"


def test_a_name_is_no_path(store: ColumnStore) -> None:
    files = {computed_file(name) for name in ("../../x", "a/b", "", "é" * 200, "A", "a")}
    assert len(files) == 6
    assert all(Path(file).name == file and len(file) < 100 and file.isascii() for file in files)
    assert computed_file("0" * 64) != submitted_file("0" * 64)


def test_a_file_that_is_gone_is_named(store: ColumnStore) -> None:
    path, file, digest = kept(store)
    path.unlink()
    with pytest.raises(LedgerTampered) as found:
        read_column(store.ledger, file, "id", digest)
    assert f"{str(path)!r} of an attached column is gone" in str(found.value)


def test_a_file_that_is_cut_or_changed_anywhere_is_named(store: ColumnStore) -> None:
    path, file, digest = kept(store)
    whole = path.read_bytes()
    step = len(whole) // 40
    damaged = [whole[:end] for end in range(0, len(whole), step)]
    for place in range(0, len(whole), step):
        damaged.append(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
    damaged += [whole + b"\n", b"\n", b""]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(LedgerTampered, match="does not hold what was attached") as found:
            read_column(store.ledger, file, "id", digest)
        assert str(path) in str(found.value)


def forged(table: pl.DataFrame, path: Path) -> None:
    """A file whose checksum is right."""
    table.write_ipc(path)
    content = path.read_bytes()
    path.write_bytes(sha256(content).hexdigest().encode() + b"\n" + content)


FORGERIES: dict[str, Any] = {
    "another value": {"key": ["a", "b", "c", "é"], "value": [0.5, None, 1e300, 0.0]},
    "another type": {"key": ["a", "b", "c", "é"], "value": ["0.5", None, "-1e300", "0.0"]},
    "a row less": {"key": ["a", "c", "é"], "value": [0.5, -1e300, 0.0]},
    "a key twice": {"key": ["a", "a", "c", "é"], "value": [0.5, None, -1e300, 0.0]},
    "another order": {"key": ["b", "a", "c", "é"], "value": [0.5, None, -1e300, 0.0]},
    "an infinity": {"key": ["a", "b", "c", "é"], "value": [0.5, None, float("-inf"), 0.0]},
    "other columns": {"id": ["a", "b", "c", "é"], "value": [0.5, None, -1e300, 0.0]},
    "dates": {"key": ["a"], "value": pl.Series([0]).cast(pl.Date)},
}


def test_the_same_content_by_hand_is_the_same(store: ColumnStore) -> None:
    path, file, digest = kept(store)
    forged(pl.DataFrame({"key": ["a", "b", "c", "é"], "value": [0.5, None, -1e300, 0.0]}), path)
    read_column(store.ledger, file, "id", digest)


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forgery_with_a_good_checksum_is_named(store: ColumnStore, what: str) -> None:
    path, file, digest = kept(store)
    forged(pl.DataFrame(FORGERIES[what]), path)
    with pytest.raises(LedgerTampered, match="does not hold what was attached"):
        read_column(store.ledger, file, "id", digest)


def test_the_file_of_another_column_is_no_substitute(store: ColumnStore) -> None:
    path, file, digest = kept(store)
    other, _, _ = kept(store, column("integer"))
    path.write_bytes(other.read_bytes())
    with pytest.raises(LedgerTampered):
        read_column(store.ledger, file, "id", digest)


def test_protected_values_are_known_by_a_mark_that_needs_the_secret(store: ColumnStore) -> None:
    plain = AttachedColumn("m3", "m3", "computed", "d", ColumnType.FLOAT, None, "", None)
    values = column()
    with pytest.raises(InvalidArgument, match="'m3' was attached, and its values were never kept"):
        store.values(plain, "id")
    marked = replace(plain, kept=store.keep_computed("m3", values))
    assert store.values(marked, "id").digest() == values.digest()
    again = store.keep_computed("m3", values)
    assert marked.kept is not None
    assert again.mark != marked.kept.mark  # by its salt: nobody sees that they are the same
    with pytest.raises(LedgerUnavailable, match="marked with the ledger's secret"):
        kept_values(store.ledger, None, marked, "id")
    with pytest.raises(LedgerTampered):
        kept_values(store.ledger, b"another", marked, "id")
    store.keep_computed("m3", column("integer"))
    with pytest.raises(LedgerTampered):
        store.values(marked, "id")


def test_content_is_on_the_disk_before_the_name_and_the_name_before_the_return(
    store: ColumnStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(store)
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "content")
        fsync(handle)

    def renamed(draft: str, path: Path) -> None:
        steps.append("name")
        replace(draft, path)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    kept(store)
    assert steps == ["content", "name", "folder"]


def test_the_first_column_makes_the_name_of_the_folder_durable(
    store: ColumnStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("holdfast.ledger.side_files.sync_folder", synced.append)
    kept(store)
    kept(store, column("integer"))
    assert synced.count(folder_of(store).parent) == 1


def test_two_that_write_the_same_at_once_leave_one_good_file(
    store: ColumnStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def interleaved(draft: str, path: Path) -> None:
        monkeypatch.setattr(os, "replace", replace)
        kept(store)  # the other one starts and finishes while this one is about to
        replace(draft, path)

    monkeypatch.setattr(os, "replace", interleaved)
    path, file, digest = kept(store)
    assert list(folder_of(store).iterdir()) == [path]
    read_column(store.ledger, file, "id", digest)


def test_two_may_make_the_folder_at_once(
    store: ColumnStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir = Path.mkdir

    def slow(folder: Path, **options: Any) -> None:
        mkdir(folder, mode=0o700)
        mkdir(folder, **options)

    monkeypatch.setattr(Path, "mkdir", slow)
    _, file, digest = kept(store)
    read_column(store.ledger, file, "id", digest)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_fails_leaves_what_was_there_and_no_rubbish(
    store: ColumnStore, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path, file, digest = kept(store)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, step, full)
        with pytest.raises(LedgerUnavailable, match="No space left"):
            store.write(file, column("integer"))
    assert list(folder_of(store).iterdir()) == [path]
    read_column(store.ledger, file, "id", digest)


def test_a_folder_that_cannot_be_used_is_named(store: ColumnStore) -> None:
    folder_of(store).write_text("no folder")
    with pytest.raises(LedgerUnavailable, match=r"t\.ledger-columns"):
        kept(store)
    with pytest.raises(LedgerUnavailable, match=r"t\.ledger-columns"):
        read_column(store.ledger, "x", "id", "")
