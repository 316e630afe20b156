"""Tampering, older copies and flipped bits: found, and the entry named; or nothing has changed."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import LedgerTampered
from holdfast.ledger.chain import link
from holdfast.ledger.transcript import Transcript
from tests.holdout.tables import copied, opened, table
from tests.ledger.forging import sealed_again
from tests.ledger.reading import rows_of


def tampered(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


CHANGES = {
    "a changed value": (
        ["UPDATE entries SET text = replace(text, '0.2', '0.1') WHERE seq = 1"],
        "entry 1 of the ledger does not follow",
    ),
    "a changed why": (
        ["UPDATE entries SET text = replace(text, 'to see', 'to sea') WHERE seq = 4"],
        "entry 4 of the ledger does not follow",
    ),
    "a deleted entry": (["DELETE FROM entries WHERE seq = 5"], "entry 5 of the ledger is missing"),
    "the first deleted": (["DELETE FROM entries WHERE seq = 1"], "entry 1 of the ledger is missi"),
    "two entries swapped": (
        [
            "UPDATE entries SET seq = 99 WHERE seq = 3",
            "UPDATE entries SET seq = 3 WHERE seq = 4",
            "UPDATE entries SET seq = 4 WHERE seq = 99",
        ],
        "entry 3 of the ledger does not follow",
    ),
    "the last cut off": (["DELETE FROM entries WHERE seq = 7"], "ends after entry 6"),
    "all cut off": (["DELETE FROM entries"], "ends after entry 0"),
    "an entry added without the chain": (
        ["INSERT INTO entries SELECT 8, text, hash FROM entries WHERE seq = 7"],
        "entry 8 of the ledger does not follow",
    ),
    "the seal removed": (["DELETE FROM head"], "ends after entry 7, but its seal"),
    "the seal changed": (["UPDATE head SET seal = 'x'"], "ends after entry 7, but its seal"),
    "a table renamed": (["ALTER TABLE entries RENAME TO other"], "no such table: entries"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_tampering_is_named(ledger: Path, change: str) -> None:
    statements, said = CHANGES[change]
    tampered(ledger, *statements)
    for look in (
        lambda: rows_of(ledger),
        lambda: holdfast.open(table(), ledger=ledger, described="off"),
    ):
        with pytest.raises(LedgerTampered, match=said):
            look()


def test_a_damaged_schema_is_told_plainly(ledger: Path) -> None:
    """SQLite quotes the damaged text in its error, which then is no text."""
    content = ledger.read_bytes()
    assert b"CREATE TABLE entries" in content
    ledger.write_bytes(content.replace(b"CREATE TABLE entries", b"CREATE T\xffBLE entries"))
    with pytest.raises(LedgerTampered, match="damaged"):
        rows_of(ledger)


def test_an_entry_added_with_the_chain_lacks_the_seal(ledger: Path) -> None:
    head = rows_of(ledger)[-1][2]
    tampered(ledger, f"INSERT INTO entries VALUES (8, '{{}}', '{link(head, '{}')}')")
    with pytest.raises(LedgerTampered, match="ends after entry 8, but its seal is of another"):
        rows_of(ledger)


def test_a_live_session_notices(ledger: Path) -> None:
    with opened(ledger.parent, table()) as holdout:
        before = holdout.budget
        tampered(ledger, "DELETE FROM entries WHERE seq > 5")
        for _ in range(2):  # not only once
            with pytest.raises(LedgerTampered, match="entry 7 of the ledger, read before"):
                holdout.ask("avg(x > 1)")
            with pytest.raises(LedgerTampered):
                _ = holdout.budget
        assert before.asked == 3


@pytest.mark.parametrize(
    ("seq", "old", "new", "said"),
    [
        (3, '"charge":0', '"charge":1', "entry 3 .* do not follow from its symbols"),
        (3, '"status":"answered"', '"status":"confirmed"', "entry 3 .* do not follow"),
        (3, '"reserve":2', '"reserve":4', "entry 3 .* finishes a batch that is not open"),
        (3, "settle/2", "settle/9", "entry 3 .* unknown kind 'settle/9'"),
        (4, '"number":2', '"number":1', "entry 4 .* reserves questions .1.; the next is 2"),
        (4, "bounded noise/1", "wishful thinking/1", "entry 4 .* cannot be read"),
        (4, '"scale":1048576', '"scale":null', "entry 4 .* cannot be read"),
        (3, '"symbols":[', '"symbols":["x",', "entry 3 .* cannot be read"),
    ],
)
def test_even_a_forged_chain_must_make_sense(
    ledger: Path, seq: int, old: str, new: str, said: str
) -> None:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    sealed_again(ledger, seq, change)
    with pytest.raises(LedgerTampered, match=said):
        rows_of(ledger)


def test_an_unfinished_batch_cannot_be_passed_over(ledger: Path) -> None:
    rows = rows_of(ledger)
    transcript = Transcript()
    transcript.apply(rows[:2])
    (_, fourth, _) = rows[3]
    with pytest.raises(LedgerTampered, match=r"entry 3 .* while entry 2 is not finished"):
        transcript.apply([(3, fourth, "")])
    with pytest.raises(LedgerTampered, match="entry 4 of the ledger came after entry 2"):
        transcript.apply([rows[3]])
    transcript = Transcript()
    transcript.apply(rows[:1])
    with pytest.raises(LedgerTampered, match="entry 2 of the ledger opens it a second time"):
        transcript.apply([(2, rows[0][1], "")])


# An older copy -----------------------------------------------------------------------------------


def test_an_older_copy_put_back_is_noticed(ledger: Path, tmp_path: Path) -> None:
    older = copied(ledger, tmp_path / "older")
    with opened(ledger.parent, table()) as holdout:
        holdout.ask("avg(x > 50)")
    shutil.copy2(older, ledger)
    with pytest.raises(LedgerTampered, match="ends after entry 7, and entry 9 had been written"):
        rows_of(ledger)


def test_another_history_of_the_same_length_is_noticed(ledger: Path, tmp_path: Path) -> None:
    other = copied(ledger, tmp_path / "other")
    for path, question in ((ledger, "avg(x > 50)"), (other, "avg(x > 51)")):
        with opened(path.parent, table()) as holdout:
            holdout.ask(question)
    shutil.copy2(other, ledger)
    with pytest.raises(LedgerTampered, match=r"entry 9 .* is not the one that had been written"):
        rows_of(ledger)


def test_a_lost_log_is_noticed(ledger: Path, tmp_path: Path) -> None:
    with opened(ledger.parent, table()) as holdout:
        holdout.ask("avg(x > 50)")
        torn = copied(ledger, tmp_path / "torn")  # as a crash would leave it
    assert len(rows_of(torn)) == 9  # whole, with its log
    shutil.rmtree(torn.parent)
    with opened(ledger.parent, table()) as holdout:
        holdout.ask("avg(x > 60)")
        torn = copied(ledger, tmp_path / "torn")
    torn.with_name("t.ledger-wal").unlink()
    with pytest.raises(LedgerTampered, match="ends after entry 9, and entry 11 had been written"):
        rows_of(torn)


@pytest.mark.parametrize("content", [None, b"", b"9" * 80, b"\xff" * 80])
def test_without_a_readable_witness_nothing_is_refused(ledger: Path, content: bytes | None) -> None:
    witness = ledger.with_name("t.ledger-newest")
    if content is None:
        witness.unlink()
    else:
        witness.write_bytes(content)
    assert len(rows_of(ledger)) == 7


# Flipped bits ------------------------------------------------------------------------------------


def flips(path: Path, count: int, seed: int) -> Iterator[tuple[int, int]]:
    rng, size = random.Random(seed), path.stat().st_size
    for _ in range(count):
        yield rng.randrange(size), 1 << rng.randrange(8)


def flipped(path: Path, at: int, mask: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= mask
    path.write_bytes(content)


@pytest.fixture(scope="module")
def crashed(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger as a crash after two more answers leaves it: with a write-ahead log."""
    folder = tmp_path_factory.mktemp("crashed")
    live = copied(finished, folder / "live")
    with opened(live.parent, table()) as holdout:
        holdout.ask("avg(x > 50)")
        holdout.ask("avg(x > 60)")
        return copied(live, folder / "left")


@pytest.mark.parametrize(
    ("state", "suffix", "least"),
    [
        ("finished", "", 10),
        ("crashed", "-wal", 10),
        ("crashed", "-newest", 0),  # by its checksum it is no witness any more
        ("crashed", "-secret", 10),
    ],
)
def test_a_flipped_bit_is_found_or_changes_nothing(
    tmp_path: Path, request: pytest.FixtureRequest, state: str, suffix: str, least: int
) -> None:
    start: Path = request.getfixturevalue(state)
    whole = rows_of(copied(start, tmp_path / "whole"))
    assert len(whole) == (7 if state == "finished" else 11)
    found = 0
    for place, (at, mask) in enumerate(flips(Path(f"{start}{suffix}"), 100, seed=5)):
        ledger = copied(start, tmp_path / f"{place}")
        flipped(Path(f"{ledger}{suffix}"), at, mask)
        try:
            rows = rows_of(ledger)
        except LedgerTampered:  # any other error is one too many
            found += 1
        else:
            assert rows == whole, f"bit {mask} of byte {at}"
        shutil.rmtree(ledger.parent)
    assert found >= least


def test_every_byte_of_the_entries_is_covered(finished: Path, tmp_path: Path) -> None:
    """Flips aimed at the text of entries, where a change would be an answer changed."""
    ledger = copied(finished, tmp_path / "text")
    content = ledger.read_bytes()
    starts = [at for at in range(len(content)) if content.startswith(b'{"answers"', at)]
    assert len(starts) == 3
    rng = random.Random(6)
    for _ in range(60):
        at = rng.choice(starts) + rng.randrange(300)
        damaged = bytearray(content)
        damaged[at] ^= 1 << rng.randrange(8)
        ledger.write_bytes(damaged)
        with pytest.raises(LedgerTampered, match=r"entry [357] of the ledger|damaged"):
            rows_of(ledger)


@pytest.mark.parametrize("content", [b"", b"not a database", b"\0" * 8192])
def test_something_else_in_its_place_is_no_ledger(ledger: Path, content: bytes) -> None:
    ledger.write_bytes(content)
    with pytest.raises(LedgerTampered, match=r"damaged \(.*Restore its newest copy"):
        holdfast.open(table(), ledger=ledger, described="off")
    assert ledger.read_bytes()[:14] in (content[:14], b"SQLite format ")  # and no new one is made


def test_a_truncated_file_is_found(finished: Path, tmp_path: Path) -> None:
    """The last page is that of the checkpoint, which is still empty: half of it is not missed."""
    size = finished.stat().st_size
    for part in range(1, 9):
        ledger = copied(finished, tmp_path / str(part))
        with ledger.open("r+b") as file:
            file.truncate(size * part // 10)
        with pytest.raises(LedgerTampered):
            rows_of(ledger)
