"""What a transcript did not fold itself: where the entries are, and a checkpoint of their fold."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from holdfast.errors import LedgerTampered
from holdfast.ledger.chain import GENESIS, RESTORE, Row
from holdfast.ledger.entries import Recorded
from holdfast.ledger.filing import Found, Kept
from holdfast.ledger.recording import Pending, reading_entry, recorded, releases_of
from holdfast.ledger.wholes import read_whole

__all__ = ["CHECKPOINT", "Past", "checkpoint_of", "look_at", "told_line"]

CHECKPOINT = "checkpoint/2"  # 1 knew columns that were submitted, and no others


class Past(Protocol):
    """Where the entries are, for what a transcript did not fold itself."""

    @property
    def guard(self) -> AbstractContextManager[Any]:
        """Held while entries are folded: threads may share a transcript."""
        ...

    def kept(self) -> Kept | None:
        """The newest checkpoint."""
        ...

    def found(self, question: str) -> list[Found]:
        """The answers to a question, in order."""
        ...

    def news(self, after: int = 0, head: str = GENESIS) -> list[Row]:
        """The entries that follow entry `after`."""
        ...


def checkpoint_of(kept: Kept) -> dict[str, Any] | None:
    """What a checkpoint says; None if another version wrote it."""
    with reading_entry("the checkpoint"):
        body: dict[str, Any] = json.loads(kept.text)
        if body["kind"] != CHECKPOINT:
            return None
        names = ("kind", "count", "head", "first", "lines", "account", "attached")
        return {name: body[name] for name in names}


def look_at(batch: Callable[[int, dict[str, Any]], Pending], found: Found) -> Recorded | None:
    """The look that is filed; None for anything else. `batch` reads what an entry reserves."""
    if not found.filed.look:
        return None
    (reserve, reserved, _), (seq, text, receipt) = found.before, found.settled
    filed = found.filed
    with reading_entry(f"entry {seq}"):
        pending = batch(reserve, json.loads(reserved))
        body = json.loads(text)
        releases = releases_of(seq, body, pending)
    how = (body["at"], receipt, filed.leaked, pending.mechanism, filed.line or None)
    for asked, release in zip(pending.asked, releases, strict=True):
        if (release.number, asked.offer.question) == (filed.look, filed.question):
            return recorded(asked, release, *how)
    raise _unanswered(seq, filed.question)


def told_line(found: Found) -> Recorded | None:
    """The line that is filed and follows from looks; None for anything else that is filed."""
    if not found.filed.line or found.filed.look:
        return None
    seq, text, receipt = found.settled
    with reading_entry(f"entry {seq}"):
        body = json.loads(text)
        for line in body["lines"]:
            if line["line"] == found.filed.line and "parts" in line:
                return read_whole(line, body["at"], receipt)
    raise _unanswered(seq, found.filed.question)


def _unanswered(seq: int, question: str) -> LedgerTampered:
    """What is said of an entry that does not say what was filed under it."""
    return LedgerTampered(f"entry {seq} of the ledger does not answer {question}. {RESTORE}")
