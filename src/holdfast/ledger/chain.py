"""Hash chain: each entry's hash covers its text and the hash before it.

An entry's text is canonical JSON (sorted keys, no spaces, shortest floats), so that the same facts
always have the same hash. The newest hash is also sealed with the secret beside the ledger: without
it nobody can cut entries off the end unnoticed. Tamper-evident, not tamper-proof: who holds the
secret can write a new history, and who puts back an older copy of all its files (see `witness`)
takes it back to that day; only an answer's receipt kept elsewhere contradicts them.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from holdfast.errors import InvalidArgument, LedgerTampered

Row = tuple[int, str, str]  # number, text and hash of an entry
GENESIS = "0" * 64
# What to do about a ledger that is not in order. What an older copy forgets is known all the same.
RESTORE = (
    "Restore its newest copy with all its files (answers given since an older one would be "
    "forgotten by the ledger, and not by those who saw them); no further question is answered from "
    "this one."
)
_SEAL = "holdfast head/1"
_TEXT = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,  # facts are made here, and none holds itself
)


def canonical(body: dict[str, Any]) -> str:
    """The one text of an entry's facts."""
    text = _TEXT.encode(body)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(
            "a text to be written in the ledger holds half a character (a lone surrogate); leave "
            "it out."
        ) from None
    return text


def link(previous: str, text: str) -> str:
    """The hash of an entry that follows `previous`."""
    return sha256(f"{previous}\n{text}".encode()).hexdigest()


def chained(bodies: Iterable[dict[str, Any]], after: int, head: str) -> list[Row]:
    """The rows of entries that follow entry `after`, whose hash is `head`."""
    rows: list[Row] = []
    for seq, body in enumerate(bodies, start=after + 1):
        text = canonical(body)
        head = link(head, text)
        rows.append((seq, text, head))
    return rows


def seal(secret: bytes, count: int, head: str) -> str:
    """A mark on the newest entry that only the holder of the secret can make."""
    return keyed(secret, _SEAL, f"{count}|{head}")


def keyed(secret: bytes, purpose: str, text: str) -> str:
    """A mark on a text, for one purpose, that only the holder of the secret can make."""
    return hmac.digest(secret, f"{purpose}|{text}".encode(), "sha256").hex()


def verify(rows: Iterable[Row], previous: str = GENESIS, after: int = 0) -> str:
    """Check (seq, text, hash) rows that follow entry `after`; returns the last hash."""
    expected = after + 1
    for seq, text, stored in rows:
        if seq != expected:
            raise LedgerTampered(
                f"entry {expected} of the ledger is missing: entry {seq} stands in its place. "
                f"{RESTORE}"
            )
        if link(previous, text) != stored:
            raise LedgerTampered(
                f"entry {seq} of the ledger does not follow from the entries before it: it was "
                f"changed or moved. {RESTORE}"
            )
        previous, expected = stored, seq + 1
    return previous


def now() -> str:
    """The time, as the ledger writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
