"""Ledgers that move, and ledgers of earlier versions: the same entries, and one budget."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable
from holdfast.ledger.audit import audit
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.backup import move
from holdfast.ledger.chain import GENESIS, chained
from holdfast.ledger.postgres import VERSIONS, PostgresKeeper
from holdfast.ledger.sqlite import UPGRADES, SqliteKeeper
from holdfast.ledger.store import Store, home_of
from tests.cli.run import holdfast as command
from tests.holdout.tables import same_secret
from tests.ledger.homes import HOMES
from tests.ledger.reading import rows_of
from tests.ledger.started import is_usable, opened, started
from tests.postgres import server
from tests.seam import keeper_of

WAYS = [("sqlite", "postgresql"), ("postgresql", "sqlite"), ("postgresql", "postgresql")]


@pytest.fixture(params=WAYS, ids=" to ".join)
def ends(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[LedgerHome, LedgerHome]:
    """A ledger, and where there is none yet."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    source, target = request.param
    return started(HOMES[source](tmp_path / "a")), HOMES[target](tmp_path / "b")


def test_it_goes_on_elsewhere_as_it_would_have_here(
    ends: tuple[LedgerHome, LedgerHome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = ends
    before = rows_of(source)
    assert move(source, target) == len(before)
    assert rows_of(target) == before
    assert all(finding.fine for finding in audit(target))
    assert all(finding.fine for finding in audit(source))  # it can still be looked at
    (tmp_path / "stayed").mkdir()
    with monkeypatch.context() as patch:
        secret = target.beside("secret").read_bytes()
        patch.setattr("holdfast.ledger.store.secrets.token_bytes", lambda _: secret)
        stayed = started(HOMES["sqlite"](tmp_path / "stayed"))
    with opened(target) as moved, opened(stayed) as other:
        assert moved.ask("avg(v)").status == "repeated"
        mine, theirs = moved.ask("avg(v = late)"), other.ask("avg(v = late)")
        assert (mine.value, mine.interval) == (theirs.value, theirs.interval)
    assert move(source, target) == len(before)  # done already, whatever was asked since


def test_nothing_more_is_asked_of_the_source(ends: tuple[LedgerHome, LedgerHome]) -> None:
    source, target = ends
    with opened(source) as held:  # by somebody who has it open
        move(source, target)
        with pytest.raises(LedgerUnavailable, match=r"was moved to .*; open it there") as raised:
            held.ask("avg(v = late)")
    assert str(target) in str(raised.value)
    with pytest.raises(LedgerUnavailable, match=r"was moved to .*Nothing was asked or spent"):
        opened(source)


def test_another_ledger_is_not_written_over(ends: tuple[LedgerHome, LedgerHome]) -> None:
    source, target = ends
    started(target)
    before = rows_of(target)
    with pytest.raises(InvalidArgument, match="there is already a ledger"):
        move(source, target)
    assert rows_of(target) == before
    with opened(source) as holdout:  # as before
        assert holdout.ask("avg(v or late)").number == 2
    with pytest.raises(InvalidArgument, match="is there already"):
        move(source, source)


class Stopped(BaseException):
    """The process ends here, as far as ledgers can tell."""


KEEPERS = (SqliteKeeper, PostgresKeeper)


def stop(*_: object) -> None:
    raise Stopped


def marking_once(patch: pytest.MonkeyPatch) -> None:
    """The source is closed; whatever is said of either ledger after that is never written."""
    marked: list[object] = []

    def once(keeper: Any, how: str | None, does: Any) -> None:
        if marked:
            stop()
        marked.append(how)
        does(keeper, how)

    for kind in KEEPERS:
        patch.setattr(kind, "mark_moved", partialmethod(once, does=kind.mark_moved))


@pytest.mark.parametrize("killed", [False, True], ids=["fails", "killed"])
@pytest.mark.parametrize("step", ["create", "keep_file", "the end"])
def test_what_was_interrupted_is_done_again(
    ends: tuple[LedgerHome, LedgerHome], monkeypatch: pytest.MonkeyPatch, step: str, killed: bool
) -> None:
    """What fails leaves the source as it was; a process that is killed leaves neither in use."""
    source, target = ends
    with monkeypatch.context() as patch:
        if killed or step == "the end":
            marking_once(patch)
        if step == "create":
            patch.setattr(type(target), "create", stop)
        if step == "keep_file":
            for kind in KEEPERS:
                patch.setattr(kind, "keep_file", stop)
        with pytest.raises(Stopped):
            move(source, target)
    closed = killed or step == "the end"
    assert [each for each in ends if is_usable(each)] == ([] if closed else [source])
    move(source, target)
    assert [each for each in ends if is_usable(each)] == [target]
    assert all(finding.fine for finding in audit(target))


def test_a_source_that_went_on_after_a_failure_is_moved_with_all_it_was_asked(
    ends: tuple[LedgerHome, LedgerHome], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = ends
    with monkeypatch.context() as patch:
        for kind in KEEPERS:
            patch.setattr(kind, "keep_file", stop)
        with pytest.raises(Stopped):
            move(source, target)  # the copy is made, and not opened
    with opened(source) as holdout:
        later = holdout.ask("avg(v = late)").receipt
    everything = rows_of(source)
    assert move(source, target) == len(everything)
    assert rows_of(target) == everything
    assert all(finding.fine for finding in audit(target))
    with opened(target) as holdout:
        assert holdout.ask("avg(v = late)").receipt == later


def test_another_ledger_where_it_was_to_go_is_not_taken_for_the_copy(
    ends: tuple[LedgerHome, LedgerHome], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = ends
    with monkeypatch.context() as patch:
        marking_once(patch)
        patch.setattr(type(target), "create", stop)
        with pytest.raises(Stopped):
            move(source, target)
    started(target)
    with pytest.raises(InvalidArgument, match=r"is on its way to .* where there is another"):
        move(source, target)
    assert not is_usable(source)
    assert is_usable(target)


def test_a_ledger_that_was_tampered_with_stays(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    source, target = started(HOMES["sqlite"](tmp_path)), HOMES["postgresql"](tmp_path / "b")
    with closing(sqlite3.connect(tmp_path / "t.ledger")) as connection:
        connection.execute("UPDATE answers SET leaked = leaked + 1")
        connection.commit()
    with pytest.raises(LedgerTampered):
        move(source, target)
    assert not target.is_there()
    assert is_usable(source)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    same_secret(monkeypatch)
    started(HOMES["sqlite"](tmp_path))
    target = server().ledger()
    done = command("ledger", "move", "t", target, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Moved 4 entries to {target}; nothing more is asked of t.ledger")
    assert "avg(v)" in command("ledger", target, cwd=tmp_path).stdout
    assert "was moved to" in command("ask", "t", "avg(late)", "--dry-run", cwd=tmp_path).stderr
    assert json.loads(command("ledger", "move", "t", target, "--json", cwd=tmp_path).stdout) == {
        "ledger": target,
        "entries": 4,
    }
    for words in (("move", "t"), ("t", "u"), ("move", "a", "b", "c")):
        done = command("ledger", *words, cwd=tmp_path)
        assert (done.returncode, "holdfast ledger move SOURCE" in done.stderr) == (2, True), words


# Tables of earlier versions ----------------------------------------------------------------------

FIXTURES = Path(__file__).parent / "fixtures"
OLD = [{"kind": "open/3", "at": "2026-01-01T00:00:00+00:00"}, {"kind": "note/1", "text": "it's"}]


@pytest.fixture(params=["sqlite-0", "postgresql-1"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LedgerHome]:
    """A ledger as earlier software wrote it."""
    kind, statements = request.param, (FIXTURES / f"{request.param}.sql").read_text("utf-8")
    with ExitStack() as stack:
        if kind.startswith("sqlite"):
            with closing(sqlite3.connect(tmp_path / "old.ledger")) as connection:
                connection.executescript(statements)
            home = home_of(tmp_path / "old.ledger")
        else:
            database = stack.enter_context(server().database())
            with closing(server().connected(database)) as connected:
                connected.execute(statements)
            home = home_of(f"{server().url(database)}&ledger=old", tmp_path / "secret")
        home.beside("secret").write_bytes(b"s" * 32)
        yield home


def test_tables_of_an_earlier_version_become_those_of_this_one(old: LedgerHome) -> None:
    rows = chained(OLD, 0, GENESIS)
    with old.records() as records:  # who only looks changes nothing
        assert records.tail(0)[1] == rows
    for _ in range(2):
        with closing(Store.open(old)) as store:
            assert store.news() == rows
    with closing(Store.open(old)) as store, store.exclusive(1.0):
        rows += store.append([({"kind": "note/1"}, ())], 2, rows[-1][2])
        assert store.news() == rows
        assert keeper_of(store).moved() is None


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    home = started(HOMES["sqlite"](tmp_path))
    with closing(sqlite3.connect(tmp_path / "t.ledger")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(UPGRADES),)
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(LedgerUnavailable, match=r"of version 99, .* knows them up to 1; update it"):
        Store.open(home)
    assert len(VERSIONS) == 2
