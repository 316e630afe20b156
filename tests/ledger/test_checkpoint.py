"""Opening and asking read what came after the checkpoint, and come to the same as the whole fold.

The intervals between checkpoints are short here. What is counted is entries, not seconds.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import holdfast
from holdfast.errors import LedgerTampered
from holdfast.holdout.holdout import Holdout
from holdfast.ledger import checkpoint as filing
from holdfast.ledger.audit import audit
from holdfast.ledger.chain import canonical
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.terms import Account
from tests.holdout.tables import BOUNDS, copied
from tests.ledger.children import ask_batch, create, play, resumed
from tests.ledger.reading import folded
from tests.mechanisms.sessions import DECLARED, TABLE, TOGETHER, questions_of
from tests.seam import CHECKPOINT_EVERY, FOLD_ENTRY, answers_in_memory, real, transcript_of

EVERY = 8
AS_SHIPPED = real(CHECKPOINT_EVERY)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, EVERY)


def test_checkpoints_are_not_rare() -> None:
    assert AS_SHIPPED <= 256


def test_a_few_long_batches_are_not_read_again(tmp_path: Path) -> None:
    create(tmp_path / "t.ledger")
    with resumed(tmp_path / "t.ledger") as holdout:
        for first in range(3):
            holdout.ask_many([f"avg(x > {first + n / 10})" for n in range(EVERY)])
    with resumed(tmp_path / "t.ledger") as again:
        transcript = transcript_of(again)
        assert len(answers_in_memory(transcript)) <= EVERY  # of 24: the rest a checkpoint folded
        assert len(transcript.answers) == 3 * EVERY


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of forty batches: 81 entries."""
    path = tmp_path_factory.mktemp("long") / "t.ledger"
    create(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CHECKPOINT_EVERY, EVERY)
        with resumed(path) as holdout:
            play(holdout, 40)
    return path


@pytest.fixture
def ledger(long: Path, tmp_path: Path) -> Path:
    return copied(long, tmp_path / "copy")


def keep(connection: sqlite3.Connection, secret: bytes, text: str) -> None:
    """Another checkpoint, sealed."""
    stored = filing.sealed_checkpoint(secret, text)
    connection.execute("UPDATE checkpoint SET text = ?, seal = ?", stored)


def changed(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount == 1
        connection.commit()


def kept(path: Path) -> dict[str, object]:
    with closing(Store.open(path)) as store:
        found = store.checkpoint()
    assert found is not None
    body: dict[str, object] = json.loads(found.text)
    return body


class Counted:
    """A store that counts the entries it hands out."""

    def __init__(self, store: Store) -> None:
        self.store, self.read, self.guard = store, 0, store.guard

    def checkpoint(self) -> filing.StoredCheckpoint | None:
        self.read += 1
        return self.store.checkpoint()

    def look_up(self, question: str, newest: int | None = None) -> list[filing.FiledAnswer]:
        found = self.store.look_up(question, newest)
        self.read += 2 * len(found)
        return found

    def news(self, after: int = 0, head: str = "0" * 64) -> list[tuple[int, str, str]]:
        rows = self.store.news(after, head)
        self.read += len(rows)
        return rows


# It is flat, and it is the same ------------------------------------------------------------------


def test_opening_and_asking_read_no_more_of_a_long_ledger(ledger: Path) -> None:
    with closing(Store.open(ledger)) as store:
        counted = Counted(store)
        transcript = Transcript.resumed(counted)
        assert transcript.count == 81
        assert counted.read <= 1 + EVERY
        counted.read = 0
        assert transcript.by_question["avg(abs(x + 0) > 0.5)"].number == 1
        assert "avg(x > 12345)" not in transcript.by_question
        assert counted.read <= 4


def test_a_session_on_a_long_ledger_folds_only_what_is_new(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied: list[int] = []
    fold = real(FOLD_ENTRY)

    def counting(self: Transcript, seq: int, body: dict[str, object], receipt: str) -> None:
        applied.append(seq)
        fold(self, seq, body, receipt)

    monkeypatch.setattr(FOLD_ENTRY, counting)
    with resumed(ledger) as holdout:
        assert holdout.ask("avg(abs(x + 0) > 0.5)").status == "repeated"
        ask_batch(holdout, 40)
        _ = holdout.budget
        assert holdout.cost("avg(abs(x - 3) > 0.5)").most == 0.0
    assert len(applied) <= 1 + EVERY + 2


def same(found: Transcript, whole: Transcript) -> None:
    assert (found.count, found.head, found.pending) == (whole.count, whole.head, whole.pending)
    assert found.account == whole.account
    for question in whole.by_question:
        assert found.by_question[question] == whole.by_question[question]
    assert found.answers == whole.answers
    assert found.abandoned == whole.abandoned
    assert dict(found.by_question) == dict(whole.by_question)


def test_from_a_checkpoint_it_is_what_it_is_from_the_first_entry(ledger: Path) -> None:
    assert kept(ledger)["count"] == 73
    with closing(Store.open(ledger)) as store:
        same(Transcript.resumed(store), folded(ledger))


def played(holdout: Holdout, name: str, steps: list[int]) -> Iterator[None]:
    """A session of this mechanism: each step asks or checks what comes next."""
    questions = [*questions_of(name), *(f"avg(x > {level} and late)" for level in range(12))]
    for step in steps:
        question = questions[step % len(questions)]
        try:
            if step % 3 == 0 and transcript_of(holdout).checker is not None:
                holdout.check(question, 0.3, tolerance=0.3)
            elif step % 3 == 1:
                holdout.ask_many([question, questions[(step + 1) % len(questions)]])
            else:
                holdout.ask(question)
        except holdfast.HoldfastError:  # refused, or not a question of this mechanism
            continue
        yield


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name not in TOGETHER])
@settings(max_examples=3)
@given(steps=st.lists(st.integers(0, 10**6), min_size=6, max_size=12))
def test_every_mechanism_resumes_from_a_checkpoint(
    tmp_path_factory: pytest.TempPathFactory, name: str, steps: list[int]
) -> None:
    path = tmp_path_factory.mktemp("session") / "m.ledger"
    declared = {"questions": 40, **DECLARED.get(name, {})}
    with (
        pytest.MonkeyPatch.context() as patch,
        holdfast.open(TABLE, ledger=path, mechanism=name, schema=BOUNDS, **declared) as holdout,
    ):
        patch.setattr(CHECKPOINT_EVERY, 2)
        for _ in played(holdout, name, steps):
            with closing(Store.open(path)) as store:
                same(Transcript.resumed(store), transcript_of(holdout))
        account = transcript_of(holdout).account
    assert Account.from_dict(json.loads(canonical(account.to_dict()))) == account
    assert [each for each in audit(path) if not each.fine] == []


# Missing, of another version, forged -------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM checkpoint",
        "another version",
    ],
)
def test_without_a_checkpoint_everything_is_folded(ledger: Path, statement: str) -> None:
    if statement == "another version":
        text = canonical({**kept(ledger), "kind": "checkpoint/0"})
        secret = ledger.with_name("t.ledger-secret").read_bytes()
        with closing(sqlite3.connect(ledger)) as connection:
            keep(connection, secret, text)
            connection.commit()
    else:
        changed(ledger, statement)
    with closing(Store.open(ledger)) as store:
        counted = Counted(store)
        same(Transcript.resumed(counted), folded(ledger))
        assert counted.read >= 81
    with resumed(ledger) as holdout:
        play(holdout, 48)
    assert kept(ledger)["count"] == 89  # and there is one again


FORGED = [
    """UPDATE checkpoint SET text = replace(text, '"surprises":', '"surprises":1')""",
    """UPDATE checkpoint SET text = replace(text, '"count":73', '"count":65')""",
    "UPDATE checkpoint SET seal = 'x'",
    "UPDATE checkpoint SET text = '{'",
]


@pytest.mark.parametrize("statement", FORGED)
def test_a_forged_checkpoint_is_found(ledger: Path, statement: str) -> None:
    changed(ledger, statement)
    with pytest.raises(LedgerTampered, match="the checkpoint of the ledger was not sealed by it"):
        holdfast.open(ledger=ledger, described="off")
    assert not all(finding.fine for finding in audit(ledger))


@pytest.mark.parametrize(
    "text", ["{", "[]", '"x"', "[" * 10**5, '{"kind":"checkpoint/2"}', '{"kind":"checkpoint/2",']
)
def test_a_sealed_checkpoint_must_make_sense(ledger: Path, text: str) -> None:
    secret = ledger.with_name("t.ledger-secret").read_bytes()
    with closing(sqlite3.connect(ledger)) as connection:
        keep(connection, secret, text)
        connection.commit()
    with pytest.raises(LedgerTampered, match="cannot be read"):
        holdfast.open(ledger=ledger, described="off")
    assert not all(finding.fine for finding in audit(ledger))


def test_a_sealed_checkpoint_with_another_account_is_found_by_the_audit(ledger: Path) -> None:
    """What only the holder of the secret can do; reading all answers finds it, too."""
    body = kept(ledger)
    account = dict(body["account"])  # type: ignore[call-overload]
    secret = ledger.with_name("t.ledger-secret").read_bytes()
    with closing(sqlite3.connect(ledger)) as connection:
        forged = {**body, "account": {**account, "nats": account["nats"] / 2}}
        keep(connection, secret, canonical(forged))
        connection.commit()
    (fault,) = [finding for finding in audit(ledger) if not finding.fine]
    assert "checkpoint" in fault.detail
    with (
        holdfast.open(ledger=ledger, described="off") as holdout,
        pytest.raises(LedgerTampered, match="checkpoint is not what its entries say"),
    ):
        _ = holdout.ledger


# Old entries that were changed -------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET text = replace(text, '\"value\":0.', '\"value\":0.0') WHERE seq = 3",
        "UPDATE entries SET text = replace(text, 'abs(x + 0)', 'abs(x - 9)') WHERE seq = 2",
        "DELETE FROM entries WHERE seq = 2",
        "UPDATE answers SET leaked = 1.0 WHERE look = 1",
        "UPDATE answers SET settled = 5 WHERE look = 1",
    ],
)
def test_an_old_answer_that_was_changed_is_found_when_it_is_used(
    ledger: Path, statement: str
) -> None:
    changed(ledger, statement)
    found = pytest.raises(LedgerTampered, match=r"entry [235] of the ledger")
    with resumed(ledger) as holdout, found:  # opened without a word: nobody has read it yet
        holdout.ask("avg(abs(x + 0) > 0.5)")
    assert not all(finding.fine for finding in audit(ledger))


def test_the_opening_is_read_every_time(ledger: Path) -> None:
    changed(ledger, "UPDATE entries SET text = replace(text, '0.3', '0.2') WHERE seq = 1")
    with pytest.raises(LedgerTampered, match="entry 1 of the ledger does not follow"):
        holdfast.open(ledger=ledger, described="off")


def test_an_answer_that_is_no_longer_filed_is_found_by_the_audit(ledger: Path) -> None:
    changed(ledger, "DELETE FROM answers WHERE look = 1")
    (fault,) = [finding for finding in audit(ledger) if not finding.fine]
    assert "entry 3" in fault.detail


def test_an_older_copy_is_noticed_beside_its_checkpoint(long: Path, tmp_path: Path) -> None:
    """The witness names an entry before the checkpoint, of another history."""
    one, two = (copied(long, tmp_path / name) for name in ("one", "two"))
    with resumed(one) as holdout:
        holdout.ask("avg(x > 777)")
    with resumed(two) as holdout:
        play(holdout, 48)
    witness = one.with_name("t.ledger-newest").read_bytes()
    two.with_name("t.ledger-newest").write_bytes(witness)
    with pytest.raises(LedgerTampered, match=r"entry 83 .* is not the one that had been written"):
        holdfast.open(ledger=two, described="off")
