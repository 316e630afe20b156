"""Whatever keeps a ledger keeps it in the same way: one suite for all."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument, LedgerBusy, LedgerTampered, LedgerUnavailable
from holdfast.ledger.audit import audit
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.chain import GENESIS, chained, seal
from holdfast.ledger.checkpoint import Filed
from holdfast.ledger.store import Store, look
from holdfast.ledger.witness import Witness
from tests.holdout.tables import BOUNDS, same_secret, table
from tests.ledger.homes import HOMES

FIRST = {"kind": "open/3", "at": "now", "fingerprint": "é"}
NOTE = {"kind": "note/1", "text": "it's \\ a 'note' of \u2028 lines\n"}


@pytest.fixture(params=HOMES)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> LedgerHome:
    """Where there is no ledger yet."""
    return HOMES[request.param](tmp_path)


@pytest.fixture
def ledger(home: LedgerHome) -> LedgerHome:
    """A ledger of one entry."""
    Store.create(home, lambda _: FIRST, 1.0)
    return home


@pytest.fixture
def store(ledger: LedgerHome) -> Iterator[Store]:
    with closing(Store.open(ledger)) as opened:
        yield opened


def test_a_ledger_is_made_with_its_first_entry(home: LedgerHome) -> None:
    assert not home.is_there()
    with pytest.raises(InvalidArgument, match="there is no ledger"):
        Store.open(home)
    Store.create(home, lambda secret: {**FIRST, "fingerprint": secret.hex()}, 1.0)
    assert home.is_there()
    secret = home.beside("secret")
    assert secret.stat().st_mode & 0o777 == 0o600
    with closing(Store.open(home)) as opened:
        first = {**FIRST, "fingerprint": secret.read_bytes().hex()}
        assert opened.news() == chained([first], 0, GENESIS)


def test_a_second_maker_keeps_the_first_ledger(ledger: LedgerHome) -> None:
    secret = ledger.beside("secret").read_bytes()
    Store.create(ledger, lambda _: NOTE, 1.0)
    with closing(Store.open(ledger)) as opened:
        assert opened.news() == chained([FIRST], 0, GENESIS)
    assert ledger.beside("secret").read_bytes() == secret


def test_what_was_appended_is_news_for_all(ledger: LedgerHome, store: Store) -> None:
    (first,) = store.news()
    with closing(Store.open(ledger)) as other:
        with other.exclusive(1.0):
            added = other.append([(NOTE, ()), (FIRST, ())], 1, first[2])
        assert store.news(1, first[2]) == added == other.news(1, first[2])
        assert [seq for seq, _, _ in store.news()] == [1, 2, 3]
        assert store.news(3, added[1][2]) == []


def test_answers_are_found_by_their_questions(ledger: LedgerHome, store: Store) -> None:
    (first,) = store.news()
    filed = [Filed("avg(x)", look=1, line=1, leaked=0.1), Filed("avg('é')", look=2, leaked=1e-300)]
    with store.exclusive(1.0):
        rows = store.append([(NOTE, ()), (FIRST, filed)], 1, first[2])
    for each in filed:
        (found,) = store.look_up(each.question)
        assert (found.filed, found.before, found.settled) == (each, *rows)
    assert store.look_up("avg(y)") == []
    with look(ledger) as reader:
        assert {place[1:] for place in reader.filed()} == {(3, 1, 1, 0.1), (3, 2, 0, 1e-300)}


def test_the_newest_checkpoint_is_kept(store: Store) -> None:
    (first,) = store.news()
    assert store.checkpoint() is None
    head, seq = first[2], 1
    with store.exclusive(1.0):
        for text in ("one", "{two}"):
            ((seq, _, head),) = store.append([(NOTE, ())], seq, head, text)
            kept = store.checkpoint()
            assert kept is not None
            assert (kept.text, kept.first) == (text, first)


def test_files_are_kept_under_their_names(ledger: LedgerHome, store: Store) -> None:
    assert store.file("a.column") is None
    for content in (bytes(range(256)) * 9, b""):
        store.keep_file("a.column", content)
        with look(ledger) as reader:
            assert store.file("a.column") == reader.file("a.column") == content
    assert "a.column" in store.file_name("a.column")


@pytest.mark.parametrize(("after", "head"), [(1, "0" * 64), (2, None), (0, GENESIS)])
def test_who_does_not_follow_the_newest_entry_writes_nothing(
    store: Store, after: int, head: str | None
) -> None:
    (first,) = store.news()
    fenced = pytest.raises(LedgerUnavailable, match=rf"no longer ends with entry {after}.* again\.")
    with store.exclusive(1.0), fenced:
        store.append([(NOTE, [Filed("avg(x)")])], after, head or first[2], "kept")
    assert store.news() == [first]
    assert store.look_up("avg(x)") == []
    assert store.checkpoint() is None


def test_one_at_a_time(ledger: LedgerHome, store: Store) -> None:
    with closing(Store.open(ledger)) as other:
        with store.exclusive(1.0):
            assert other.news() == store.news()
            held = pytest.raises(LedgerBusy, match=r"someone else has held .* for 0\.02 s")
            with held, other.exclusive(0.02):
                pass
            this_thread = pytest.raises(LedgerBusy, match="in this very thread")
            with this_thread, store.exclusive(0.02):
                pass
        with other.exclusive(0.02):
            pass


def test_who_waits_gets_it_when_it_is_free(ledger: LedgerHome, store: Store) -> None:
    order: list[str] = []
    with closing(Store.open(ledger)) as other:

        def wait() -> None:
            with other.exclusive(30.0):
                order.append("other")

        waiting = threading.Thread(target=wait)
        with store.exclusive(1.0):
            waiting.start()
            waiting.join(0.05)
            order.append("first")
        waiting.join()
    assert order == ["first", "other"]


def test_a_failure_frees_it(ledger: LedgerHome, store: Store) -> None:
    with pytest.raises(KeyboardInterrupt), store.exclusive(1.0):
        raise KeyboardInterrupt
    with closing(Store.open(ledger)) as other, other.exclusive(0.02):
        pass


def test_a_closed_ledger_says_so(store: Store) -> None:
    store.close()
    store.close()
    for use in (store.news, store.checkpoint, lambda: store.file("x"), lambda: store.look_up("x")):
        with pytest.raises(LedgerUnavailable, match="is closed"):
            use()


def test_a_fork_may_not_use_it(store: Store) -> None:
    child = os.fork()
    if child == 0:  # pragma: no cover: another process
        try:
            store.news()
        except LedgerUnavailable as error:
            os._exit(0 if "is a fork" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert len(store.news()) == 1


def test_without_the_secret_it_can_be_looked_at(ledger: LedgerHome) -> None:
    ledger.beside("secret").unlink()
    with pytest.raises(LedgerUnavailable, match=r"secret .* is missing.* Restore it"):
        Store.open(ledger)
    with look(ledger) as reader:
        assert reader.unchecked is not None
        assert reader.news() == chained([FIRST], 0, GENESIS)


def test_what_was_read_with_the_lock_is_nothing_without_it(
    ledger: LedgerHome, store: Store
) -> None:
    (first,) = store.news()
    with store.exclusive(1.0):
        pass  # nobody reads what came with it
    with closing(Store.open(ledger)) as other, other.exclusive(1.0):
        other.news()
        (second,) = other.append([(NOTE, ())], 1, first[2])
    assert store.news(1, first[2]) == [second]


def test_an_end_that_was_cut_off_is_noticed(ledger: LedgerHome, store: Store) -> None:
    (first,) = store.news()
    with store.exclusive(1.0):
        store.append([(NOTE, ())], 1, first[2])
    Witness(ledger.beside("newest")).note(9, "a" * 64)
    with pytest.raises(LedgerTampered, match="ends after entry 2, and entry 9 had been written"):
        store.news()
    ledger.beside("newest").unlink()
    ledger.beside("secret").write_bytes(b"x" * 32)
    with closing(Store.open(ledger)) as other, pytest.raises(LedgerTampered, match="its seal is"):
        other.news()
    assert seal(b"x" * 32, 2, "") != seal(store.secret, 2, "")


# A whole holdout ---------------------------------------------------------------------------------


def session(home: LedgerHome) -> list[tuple[object, ...]]:
    """Everything that writes entries, files, answers and checkpoints; opened twice."""
    rows = table().with_row_index("id").with_columns(pl.col("id").cast(pl.Int64))
    said = {"tolerance": 0.3, "questions": 20, "schema": BOUNDS, "key": "id"}
    scores = pl.DataFrame({"id": rows["id"], "v": np.arange(rows.height) % 3 == 0})
    with holdfast.open(rows, ledger=home, name="t", **said) as holdout:  # type: ignore[arg-type]
        holdout.attach("v", scores)
        holdout.check("avg(v)", guess=0.4, why="to see")
        holdout.ask("avg(x > 20)")
    with holdfast.open(rows, ledger=home) as holdout:  # type: ignore[arg-type]
        holdout.ask("avg(v = late)")
        holdout.ask_many(["avg(v)", "avg(v or late)"])
        assert holdout.check("avg(v)", guess=0.4).status == "repeated"
        return [(line.question, line.status, line.value, *line.interval) for line in holdout.ledger]


def test_a_session_is_the_same_wherever_its_ledger_is(
    home: LedgerHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_secret(monkeypatch)
    (tmp_path / "other").mkdir()
    assert session(home) == session(HOMES["sqlite"](tmp_path / "other"))
    findings = audit(home)
    assert all(finding.fine for finding in findings)
    assert {"chain", "index", "columns"} <= {finding.what for finding in findings}
