"""Files beside a ledger: what is wrong with one of them is not said of the ledger."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psycopg
import pytest

import holdfast
from holdfast.data.sample import prepare
from holdfast.errors import (
    DataChanged,
    HoldfastError,
    InvalidQuestion,
    LedgerUnavailable,
    SecondLedger,
)
from holdfast.ledger.audit import audit
from holdfast.ledger.backup import move
from tests.holdout.tables import copied, made, opened, table


def asked(ledger: Path) -> str:
    with opened(ledger.parent, table()) as holdout:
        return holdout.ask("avg(late)").status


@pytest.mark.parametrize("content", [b"rubbish", b"SQLite format 3\0" + b"\0" * 200])
def test_a_lock_that_holds_something_is_told_and_the_ledger_is_not_accused(
    ledger: Path, content: bytes
) -> None:
    lock = ledger.with_name("t.ledger-lock")
    lock.write_bytes(content)
    with pytest.raises(
        LedgerUnavailable, match=r"the lock .*t\.ledger-lock' is no empty file.*rem"
    ):
        asked(ledger)
    assert lock.read_bytes() == content
    lock.unlink()
    assert asked(ledger) == "repeated"


@pytest.mark.parametrize("what", ["lock", "newest", "secret"])
def test_a_link_in_the_place_of_a_side_file_is_refused(
    ledger: Path, tmp_path: Path, what: str
) -> None:
    """Who may write the folder could have us write, or read, another file of ours."""
    beside, target = ledger.with_name(f"t.ledger-{what}"), tmp_path / "elsewhere"
    target.write_bytes(beside.read_bytes() if beside.exists() else b"")
    before = target.read_bytes()
    beside.unlink(missing_ok=True)
    beside.symlink_to(target)
    with pytest.raises(
        LedgerUnavailable, match=rf"t\.ledger-{what}' of a ledger is a symbolic link"
    ):
        asked(ledger)
    assert target.read_bytes() == before
    beside.unlink()
    beside.write_bytes(before)
    assert asked(ledger) == "repeated"


def test_a_secret_that_is_named_may_be_a_link(ledger: Path, tmp_path: Path) -> None:
    """As those are that a cluster puts in a folder."""
    ledger.with_name("t.ledger-secret").rename(tmp_path / "kept")
    (tmp_path / "named").symlink_to(tmp_path / "kept")
    with holdfast.open(table(), ledger=ledger, secret=tmp_path / "named") as holdout:
        assert holdout.ask("avg(late)").status == "repeated"


def test_a_link_in_the_place_of_an_attached_column_is_refused(tmp_path: Path) -> None:
    data = table().with_row_index("id")
    made(tmp_path, data, key="id")
    with opened(tmp_path, data) as holdout:
        holdout.attach("c", np.arange(400) % 2 == 0)
    (column,) = (tmp_path / "t.ledger-columns").iterdir()
    column.rename(tmp_path / "moved")
    column.symlink_to(tmp_path / "moved")
    with (
        opened(tmp_path, data) as holdout,
        pytest.raises(LedgerUnavailable, match="symbolic link"),
    ):
        holdout.check("avg(c = late)", guess=0.5)


# Copies ------------------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))


def test_a_copied_folder_is_noticed_at_either_place(
    ledger: Path, tmp_path: Path, index: None
) -> None:
    asked(ledger)
    copy = copied(ledger, tmp_path / "there")
    for here, other in ((copy, ledger), (ledger, copy)):
        with pytest.warns(SecondLedger, match="one is a copy of the other") as said:
            asked(here)
        assert str(other) in str(said[0].message)
    shutil.rmtree(copy.parent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(ledger)  # the other one is gone


def test_a_folder_that_was_moved_is_no_copy(ledger: Path, tmp_path: Path, index: None) -> None:
    asked(ledger)
    ledger.parent.rename(tmp_path / "there")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(tmp_path / "there" / "t.ledger")


def test_a_ledger_that_was_moved_is_no_copy(ledger: Path, tmp_path: Path, index: None) -> None:
    asked(ledger)
    (tmp_path / "there").mkdir()
    move(ledger, tmp_path / "there" / "t.ledger")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(tmp_path / "there" / "t.ledger")
    assert all(finding.fine for finding in audit(tmp_path / "there" / "t.ledger"))


# What an engine says before a question is paid for -----------------------------------------------


def failing(error: BaseException) -> Callable[[object], None]:
    def scan(_: object) -> None:
        raise error

    return scan


@pytest.mark.parametrize(
    ("error", "expected", "said"),
    [
        (MemoryError("none"), MemoryError, "none"),
        (psycopg.OperationalError("gone"), HoldfastError, "database was lost; .* ask again"),
        (psycopg.errors.AdminShutdown("off"), HoldfastError, "database was lost"),
        (DataChanged("the table is another"), DataChanged, "is another"),
        (psycopg.errors.StatementTooComplex("deep"), InvalidQuestion, "write it smaller"),
        (RecursionError(), InvalidQuestion, "write it smaller"),
    ],
)
def test_only_the_question_is_blamed_for_itself(
    error: BaseException, expected: type[BaseException], said: str
) -> None:
    with pytest.raises(expected, match=said) as raised:
        prepare(failing(error), [])
    assert type(raised.value) is expected
