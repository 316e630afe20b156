"""Many at once: exactly what was declared is granted, and who waits in vain is told so."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.data.sample import Moments
from holdfast.errors import BudgetExhausted, LedgerBusy
from holdfast.ledger.chain import GENESIS
from holdfast.ledger.store import Store
from holdfast.question.row import RowValue
from tests.ledger.children import ROWS, create, resumed, run, total
from tests.ledger.reading import folded
from tests.mechanisms.fake import Sums
from tests.seam import connected_by, connection_of, put_sample, store_of

RACERS, DECLARED = 8, 40


def granted(folder: Path) -> list[list[dict[str, Any]]]:
    return [
        json.loads((folder / f"granted{who}.json").read_text(encoding="utf-8"))
        for who in range(RACERS)
    ]


def test_eight_processes_get_exactly_what_was_declared(tmp_path: Path) -> None:
    """All want to make the ledger, too; nobody sees a lock."""
    ends = run("race", tmp_path, RACERS, 0)
    assert set(ends.values()) == {"exit 0"}
    answers = [answer for one in granted(tmp_path) for answer in one]
    assert sorted(answer["number"] for answer in answers) == list(range(1, DECLARED + 1))
    transcript = folded(tmp_path / "t.ledger")
    assert transcript.account.asked == DECLARED
    assert {answer["receipt"] for answer in answers} == {
        recorded.receipt for recorded in transcript.answers
    }
    # The leakage is that of forty answers one after the other: nobody started from an old account.
    leaked = [recorded.leaked for recorded in transcript.answers]
    assert leaked == sorted(set(leaked))
    assert transcript.account.nats >= sum(recorded.charge for recorded in transcript.answers)


def test_the_same_questions_are_paid_for_once(tmp_path: Path) -> None:
    ends = run("race", tmp_path, RACERS, 1)
    assert set(ends.values()) == {"exit 0"}
    everyone = granted(tmp_path)
    transcript = folded(tmp_path / "t.ledger")
    assert len(transcript.answers) == DECLARED
    for one in everyone:
        assert [answer["value"] for answer in one] == [
            recorded.value for recorded in transcript.answers
        ]
    paid = [answer for one in everyone for answer in one if answer["status"] != "repeated"]
    assert len(paid) == DECLARED
    assert sum(answer["cost"] for one in everyone for answer in one) == pytest.approx(
        transcript.account.nats
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create(tmp_path / "t.ledger", DECLARED)
    return tmp_path / "t.ledger"


def test_who_waits_in_vain_is_told(path: Path) -> None:
    with closing(Store.open(path)) as holder, resumed(path, timeout=0.02) as holdout:
        first = holdout.ask("avg(b)")
        with holder.exclusive(1.0):
            with pytest.raises(LedgerBusy, match=r"for 0\.02 s; nothing was asked and nothing was"):
                holdout.ask("avg(x)")
            # What needs no turn goes on: repeats, looking, and opening once more.
            assert holdout.ask("avg(b)") == first
            assert holdout.budget.asked == 1
            with resumed(path) as another:
                assert len(another.ledger) == 1
        assert holdout.ask("avg(x)").number == 2


def test_a_thread_that_waits_in_vain_is_told(path: Path) -> None:
    with closing(Store.open(path)) as store:
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with store.exclusive(1.0):
                held.set()
                done.wait(10)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(10)
        try:
            with pytest.raises(LedgerBusy, match=r"for 0\.02 s"), store.exclusive(0.02):
                pass
        finally:
            done.set()
            thread.join()


def test_a_question_inside_a_question_is_refused(path: Path) -> None:
    """A function of rows that asks, while it is being asked."""
    with resumed(path) as holdout:
        inner: list[LedgerBusy] = []

        def asking(row: RowValue) -> Moments:
            with pytest.raises(LedgerBusy, match="in this very thread") as refused:
                holdout.ask("avg(x > 3)")
            inner.append(refused.value)
            return total(row)

        put_sample(holdout, Sums(ROWS, asking))
        assert holdout.ask("avg(b)").number == 1
        assert len(inner) == 1
        assert holdout.budget.asked == 1


def test_the_lock_is_free_after_a_failure(path: Path) -> None:
    def broken(row: RowValue) -> Moments:
        raise KeyboardInterrupt

    with resumed(path) as holdout:
        put_sample(holdout, Sums(ROWS, broken))
        with pytest.raises(KeyboardInterrupt):
            holdout.ask("avg(b)")
    with closing(sqlite3.connect(path.with_name("t.ledger-lock"), timeout=0.0)) as lock:
        lock.execute("BEGIN EXCLUSIVE")


def test_threads_share_a_holdout(path: Path) -> None:
    answers: list[int] = []
    with resumed(path) as holdout:

        def ask(who: int) -> None:
            try:
                for place in range(DECLARED):
                    answers.append(holdout.ask(f"avg(x > {1_000 * who + place})").number)
                    _ = holdout.budget
            except BudgetExhausted:
                pass

        threads = [threading.Thread(target=ask, args=(who,)) for who in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answers) == list(range(1, DECLARED + 1))
    assert folded(path).account.asked == DECLARED


def test_news_that_another_thread_is_reading_are_not_missed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread has read new entries and not yet counted them: another may not ask meanwhile."""
    with resumed(path) as holdout, resumed(path) as other:
        other.ask("avg(x > 1)")
        reading, go_on, real = threading.Event(), threading.Event(), Store.news

        def slow_news(store: Store, after: int = 0, head: str = GENESIS) -> Any:
            rows = real(store, after, head)
            if threading.current_thread() is looker:
                reading.set()
                go_on.wait(10)
            return rows

        looker = threading.Thread(target=lambda: holdout.budget)
        monkeypatch.setattr(Store, "news", slow_news)
        looker.start()
        reading.wait(10)
        asker_done = threading.Event()

        def ask() -> None:
            holdout.ask("avg(x > 2)")
            asker_done.set()

        asker = threading.Thread(target=ask)
        asker.start()
        assert not asker_done.wait(0.05)  # it waits for its turn
        go_on.set()
        looker.join()
        asker.join()
    first, second = folded(path).answers
    assert first.leaked == 0.0
    assert second.leaked >= first.charge


def test_a_reader_never_sees_half_of_a_commit(path: Path) -> None:
    """Between reading the seal and reading the entries another process adds an entry."""
    with resumed(path) as holdout, resumed(path) as other:
        store = store_of(holdout)
        connection = connection_of(store)

        class Interleaved:
            def execute(self, statement: str, *args: Any) -> sqlite3.Cursor:
                cursor = connection.execute(statement, *args)  # reads the first row: the seal
                assert "FROM head" in statement
                other.ask("avg(x > 1)")
                return cursor

        with connected_by(store, Interleaved()):
            assert holdout.budget.asked == 0
        assert holdout.budget.asked == 1
