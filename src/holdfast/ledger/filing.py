"""What spares reading the whole history: where each answer is, and a checkpoint of the fold.

Both are in the ledger's file, written in the transactions of the entries they follow from, and
sealed with the secret. They say nothing that the entries do not: an answer is read from its own
entries, whose text must have the hash that was sealed, and an audit folds everything again. Without
a checkpoint, or with one of another kind, the entries are folded from the first.
"""

from __future__ import annotations

import hmac
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from holdfast.errors import LedgerTampered
from holdfast.ledger.chain import RESTORE, Row, verify

__all__ = [
    "KEY",
    "SCHEMA",
    "Filed",
    "FiledPlace",
    "Found",
    "Kept",
    "every_place",
    "file_answers",
    "find_answers",
    "keep",
    "kept",
    "place_of",
    "told_filing",
]

KEY = "holdfast key/1 "  # no question's text begins like this
# The digest of a question, the entry that says it, its look and its line (0 for none), and what
# had leaked before.
FiledPlace = tuple[str, int, int, int, float]

SCHEMA = (
    "CREATE TABLE answers (question TEXT NOT NULL, settled INTEGER NOT NULL, look INTEGER NOT "
    "NULL, line INTEGER NOT NULL, leaked REAL NOT NULL, seal TEXT NOT NULL, PRIMARY KEY (question, "
    "settled, look, line)) STRICT, WITHOUT ROWID",
    "CREATE TABLE checkpoint (one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL, seal "
    "TEXT NOT NULL) STRICT",
)
_SEAL = "holdfast filing/1"


@dataclass(frozen=True, slots=True)
class Filed:
    """What is found by a text: an answer by its question, or by its key what a call was told.

    `look` and `line` are its numbers, 0 where it has none; `leaked` is what had leaked (nats)
    before its batch.
    """

    question: str
    look: int = 0
    line: int = 0
    leaked: float = 0.0


def told_filing(body: Mapping[str, Any]) -> list[Filed]:
    """What is to be found of lines that are told: what has parts, and all of them by their key."""
    wholes = [line for line in body["lines"] if "parts" in line]
    found = [Filed(line["request"]["question"], line=line["line"]) for line in wholes]
    return found if body["key"] is None else [*found, Filed(KEY + body["key"])]


@dataclass(frozen=True, slots=True)
class Found:
    """What is filed, with the entry that says it and the one before, as they were sealed.

    A look is reserved by the one and settled by the other.
    """

    filed: Filed
    before: Row
    settled: Row


@dataclass(frozen=True, slots=True)
class Kept:
    """A checkpoint as it was sealed, and the ledger's first entry."""

    text: str
    first: Row


def file_answers(
    connection: sqlite3.Connection, secret: bytes, answers: Iterable[Filed], settled: Row
) -> None:
    """File the answers that entry `settled` says, in its own transaction."""
    seq, _, hashed = settled
    for filed in answers:
        place = place_of(filed, seq)
        connection.execute(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", (*place, _seal(secret, *place, hashed))
        )


def find_answers(connection: sqlite3.Connection, secret: bytes, question: str) -> list[Found]:
    """All answers to a question; refused if their entries are not those that were sealed."""
    rows = connection.execute(
        "SELECT question, settled, look, line, leaked, seal FROM answers WHERE question = ? "
        "ORDER BY settled, look",
        (_digest(question),),
    ).fetchall()
    return [_found(connection, secret, question, *row) for row in rows]


def _found(
    connection: sqlite3.Connection,
    secret: bytes,
    question: str,
    digest: str,
    settled: int,
    look: int,
    line: int,
    leaked: float,
    stored: str,
) -> Found:
    entries: list[Row] = connection.execute(
        "SELECT seq, text, hash FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq",
        (settled - 2, settled),
    ).fetchall()
    if len(entries) != 3:
        raise _otherwise(settled)
    before, *said = entries
    hashed = verify(said, before[2], before[0])
    if stored != _seal(secret, digest, settled, look, line, leaked, hashed):
        raise _otherwise(settled)
    return Found(Filed(question, look, line, leaked), *said)


def place_of(filed: Filed, settled: int) -> FiledPlace:
    """Where an answer is filed that entry `settled` says."""
    return (_digest(filed.question), settled, filed.look, filed.line, filed.leaked)


def every_place(connection: sqlite3.Connection, secret: bytes | None) -> Iterator[FiledPlace]:
    """Where all answers are filed; each must be as it was sealed."""
    rows = connection.execute(
        "SELECT question, settled, look, line, leaked, answers.seal, hash FROM answers "
        "LEFT JOIN entries ON seq = settled"
    )
    for *place, stored, hashed in rows:
        if secret is not None and stored != _seal(secret, *place, hashed):
            raise _otherwise(place[1])
        yield (place[0], place[1], place[2], place[3], place[4])


def keep(connection: sqlite3.Connection, secret: bytes, text: str) -> None:
    """Put a checkpoint in place of the one before."""
    connection.execute(
        "INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?)", (text, _seal(secret, text))
    )


def kept(connection: sqlite3.Connection, secret: bytes) -> Kept | None:
    """The checkpoint; None if there is none, refused if it is not as it was sealed."""
    row = connection.execute(
        "SELECT checkpoint.text, seal, seq, entries.text, hash FROM checkpoint "
        "LEFT JOIN entries ON seq = 1"
    ).fetchone()
    if row is None:
        return None
    text, stored, *first = row
    if stored != _seal(secret, text):
        raise LedgerTampered(f"the checkpoint of the ledger was not sealed by it. {RESTORE}")
    return Kept(text, (first[0], first[1], first[2]))


def _digest(question: str) -> str:
    return sha256(question.encode()).hexdigest()


def _seal(secret: bytes, *facts: object) -> str:
    return hmac.digest(secret, "|".join([_SEAL, *map(str, facts)]).encode(), sha256).hex()


def _otherwise(seq: int) -> LedgerTampered:
    return LedgerTampered(
        f"entry {seq} of the ledger is not the one under which its answers were filed: one of them "
        f"was changed. {RESTORE}"
    )
