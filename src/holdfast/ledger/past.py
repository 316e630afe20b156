"""What a transcript did not fold itself: where the entries are, and a checkpoint of their fold."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from typing import Any, Protocol

from holdfast.errors import LedgerTampered
from holdfast.ledger.chain import GENESIS, RESTORE, Row
from holdfast.ledger.entries import Recorded
from holdfast.ledger.filing import Found, Kept
from holdfast.ledger.recording import reading_entry
from holdfast.ledger.wholes import read_whole

__all__ = ["CHECKPOINT", "Past", "checkpoint_of", "told_line", "unanswered"]

CHECKPOINT = "checkpoint/1"


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
    raise unanswered(seq, found.filed.question)


def unanswered(seq: int, question: str) -> LedgerTampered:
    """What is said of an entry that does not say what was filed under it."""
    return LedgerTampered(f"entry {seq} of the ledger does not answer {question}. {RESTORE}")
