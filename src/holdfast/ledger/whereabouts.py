"""Where a ledger's data was last, and how its files were then: one small file beside the ledger.

It spares the reader of untouched files their fingerprint, and tells the command line where to look.
The ledger itself names no place, so that it can be shown to others. It is sealed with the secret,
for otherwise whoever can write it could pass another table off as the protected one; without it, or
if it cannot be written, the data is only read again.
"""

from __future__ import annotations

import hmac
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.data.files import FileStamp
from holdfast.ledger.chain import keyed
from holdfast.ledger.records import LedgerHome

__all__ = ["Whereabouts", "note", "recall"]

_FILE, _PURPOSE = "files", "holdfast files/1"


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """The path or glob, the table in a database, the files as they were, and what they held.

    `print_` is what the ledger writes for such a table. Without `stamps` the rows were not those of
    files alone, and must be read again.
    """

    source: str
    table: str | None = None
    stamps: tuple[FileStamp, ...] = ()
    print_: str = ""


def note(ledger: LedgerHome, secret: bytes, found: Whereabouts) -> None:
    """Keep it beside the ledger, for its owner only."""
    path = ledger.beside(_FILE)
    facts = json.dumps(asdict(found))
    text = json.dumps({"facts": facts, "seal": keyed(secret, _PURPOSE, facts)})
    draft = path.with_name(f"{path.name}-{os.getpid()}")
    with suppress(OSError):
        try:
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            draft.replace(path)  # at once: others may be reading
        finally:
            draft.unlink(missing_ok=True)


def recall(ledger: LedgerHome, secret: bytes) -> Whereabouts | None:
    """What was kept; nothing, if it is not there or was not written by the ledger's owner."""
    try:
        text = json.loads(ledger.beside(_FILE).read_text(encoding="utf-8"))
        facts: str = text["facts"]
        if not hmac.compare_digest(text["seal"], keyed(secret, _PURPOSE, facts)):
            return None
        return _read(json.loads(facts))
    except (OSError, LookupError, RecursionError, TypeError, ValueError):
        return None


def _read(facts: dict[str, Any]) -> Whereabouts:
    stamps = tuple(FileStamp(**stamp) for stamp in facts["stamps"])
    return Whereabouts(**{**facts, "stamps": stamps})
