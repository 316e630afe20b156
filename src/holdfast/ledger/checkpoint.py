"""Checkpoints: where each answer is, and a fold of the history up to an entry.

Both are kept with the entries, written in the transactions of those they follow from, and sealed
with the secret. They say nothing that the entries do not: an answer is read from its own
entries, whose text must have the hash that was sealed, and an audit folds everything again. Without
a checkpoint, or with one of another kind, the entries are folded from the first.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from holdfast.errors import LedgerTampered
from holdfast.ledger.chain import RESTORE, Row, verify

KEY = "holdfast key/1 "  # no question's text begins like this
EVENT = "holdfast event/1 "  # nor like this
SUBJECT = "holdfast subject/1 "  # nor like this
# The digest of a question, the entry that says it, its look and its line (0 for none), and what
# had leaked before.
FiledPlace = tuple[str, int, int, int, float]
SealedPlace = tuple[str, int, int, int, float, str]  # the same, and its seal

_SEAL = "holdfast filing/1"


@dataclass(frozen=True, slots=True)
class Filed:
    """Index entry: an answer by its question, or what a call was told by its request key.

    `look` and `line` are its numbers, 0 where it has none; `leaked` is what had leaked (nats)
    before its batch.
    """

    question: str
    look: int = 0
    line: int = 0
    leaked: float = 0.0


def lines_filing(body: Mapping[str, Any]) -> list[Filed]:
    """Index entries of recorded lines: of composites, and of all of them by their request key."""
    wholes = [line for line in body["lines"] if "parts" in line]
    filed = [Filed(line["request"]["question"], line=line["line"]) for line in wholes]
    return filed if body["key"] is None else [*filed, Filed(KEY + body["key"])]


@dataclass(frozen=True, slots=True)
class FiledAnswer:
    """Answer found by the index, with its entry and the one before, as they were sealed.

    A look is reserved by the one and settled by the other.
    """

    filed: Filed
    before: Row
    settled: Row


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """Checkpoint as it was sealed, and the ledger's first entry."""

    text: str
    first: Row


def sealed_places(secret: bytes, answers: Iterable[Filed], settled: Row) -> list[SealedPlace]:
    """Places of the answers that entry `settled` says, sealed; for its own transaction."""
    seq, _, hashed = settled
    places = [place_of(filed, seq) for filed in answers]
    return [(*place, _seal(secret, *place, hashed)) for place in places]


def answer_at(
    secret: bytes, question: str, filed: SealedPlace, entries: Sequence[Row]
) -> FiledAnswer:
    """Answer at a place, with the three entries that end with the one that says it.

    Refused if they are not those that were sealed.
    """
    digest, settled, look, line, leaked, stored = filed
    if len(entries) != 3:
        raise _otherwise(settled)
    before, reserved, settlement = entries
    hashed = verify((reserved, settlement), before[2], before[0])
    if stored != _seal(secret, digest, settled, look, line, leaked, hashed):
        raise _otherwise(settled)
    return FiledAnswer(Filed(question, look, line, leaked), reserved, settlement)


def place_of(filed: Filed, settled: int) -> FiledPlace:
    """Place of an answer that entry `settled` says."""
    return (digest_of(filed.question), settled, filed.look, filed.line, filed.leaked)


def place_at(secret: bytes | None, filed: SealedPlace, hashed: str | None) -> FiledPlace:
    """Place of an answer, as it was sealed with the hash of its entry."""
    question, settled, look, line, leaked, stored = filed
    place = (question, settled, look, line, leaked)
    if secret is not None and stored != _seal(secret, *place, hashed):
        raise _otherwise(settled)
    return place


def sealed_checkpoint(secret: bytes, text: str) -> tuple[str, str]:
    """A checkpoint, and its seal."""
    return text, _seal(secret, text)


def checkpoint_at(secret: bytes, text: str, stored: str, first: Row) -> StoredCheckpoint:
    """A checkpoint; refused if it is not as it was sealed."""
    if stored != _seal(secret, text):
        raise LedgerTampered(f"the checkpoint of the ledger was not sealed by it. {RESTORE}")
    return StoredCheckpoint(text, first)


def digest_of(question: str) -> str:
    """Digest under which a question is filed."""
    return sha256(question.encode()).hexdigest()


def _seal(secret: bytes, *facts: object) -> str:
    return hmac.digest(secret, "|".join([_SEAL, *map(str, facts)]).encode(), sha256).hex()


def _otherwise(seq: int) -> LedgerTampered:
    return LedgerTampered(
        f"entry {seq} of the ledger is not the one under which its answers were filed: one of them "
        f"was changed. {RESTORE}"
    )
