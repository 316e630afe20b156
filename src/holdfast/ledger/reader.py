"""A ledger that is read: its entries in order and sealed, its checkpoint, its answers by question.

`look` opens one that is only looked at, on read-only media too: it takes no lock and writes no
witness, and without the secret it does all that needs none and says what was not compared.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast.errors import LedgerTampered, LedgerUnavailable
from holdfast.ledger import filing
from holdfast.ledger.chain import GENESIS, RESTORE, Row, seal, verify
from holdfast.ledger.homes import home_of
from holdfast.ledger.records import LedgerHome, Records
from holdfast.ledger.trouble import unavailable
from holdfast.ledger.witness import Witness, require_seen

__all__ = ["SECRET_BYTES", "Reader", "known_secret", "look"]

SECRET_BYTES = 32


class Reader:
    """What the rows of a ledger say. `guard` is held while they are read.

    Without the `secret` no seal is compared, and so no checkpoint and no filed answer is believed.
    """

    def __init__(self, home: LedgerHome, secret: bytes | None, records: Records) -> None:
        self.home = home
        self.secret = secret
        self.guard = threading.RLock()
        self.witness = Witness(home.beside("newest"))
        self._records = records

    @property
    def unchecked(self) -> str | None:
        """What was not compared for want of the secret."""
        if self.secret is not None:
            return None
        return (
            "its secret is not here or cannot be read, so that an end cut off or written by hand "
            "would not be noticed."
        )

    def news(self, after: int = 0, head: str = GENESIS) -> list[Row]:
        """The entries that follow entry `after` (whose hash is `head`): in order and sealed."""
        seen = self.witness.seen()  # before the entries are read: others may be adding some
        with self.guard:
            sealed, rows = self._records.tail(after)
        if after:
            rows = _after(rows, after, head)
        head = verify(rows, head, after)
        count = after + len(rows)
        if self.secret is not None and sealed != seal(self.secret, count, head):
            raise LedgerTampered(
                f"the ledger ends after entry {count}, but its seal is of another entry, or of "
                "another secret: entries were cut off or added by hand, or another secret lies "
                f"beside it. Put back its own secret; if it is its own: {RESTORE}"
            )
        require_seen(seen, rows, after)
        return rows

    def found(self, question: str) -> list[filing.Found]:
        """The answers to a question, without reading the history."""
        if self.secret is None:
            return []
        with self.guard:
            return [
                filing.found_at(
                    self.secret, question, place, self._records.entries(place[1] - 2, place[1])
                )
                for place in self._records.filed(filing.digest_of(question))
            ]

    def kept(self) -> filing.Kept | None:
        """The checkpoint, if there is one."""
        seen = self.witness.seen()
        with self.guard:
            if seen is not None:  # it may lie before the checkpoint
                rows = self._records.entries(seen[0], seen[0])
                require_seen(seen if rows else None, rows, seen[0] - 1)
            stored = None if self.secret is None else self._records.checkpoint()
        if self.secret is None or stored is None:
            return None
        return filing.kept_at(self.secret, *stored)

    def filed(self) -> list[filing.FiledPlace]:
        """Where all answers are filed, as they were sealed."""
        with self.guard:
            stored = self._records.all_filed()
        return [filing.place_at(self.secret, place, hashed) for place, hashed in stored]

    def file(self, name: str) -> bytes | None:
        """What was kept under a name beside the entries; None if there is nothing."""
        with self.guard:
            return self._records.file(name)

    def file_name(self, name: str) -> str:
        """What people call it."""
        return self._records.file_name(name)


@contextmanager
def look(ledger: str | Path | LedgerHome) -> Iterator[Reader]:
    """A ledger to be looked at: no entry, no lock and no witness is written."""
    home = home_of(ledger)
    with home.records() as records:
        secret = None
        with suppress(LedgerUnavailable):
            secret = known_secret(home)
        yield Reader(home, secret, records)


def known_secret(ledger: LedgerHome) -> bytes:
    """The secret of a ledger."""
    path = ledger.beside("secret")
    try:
        secret = path.read_bytes()
    except FileNotFoundError:
        raise LedgerUnavailable(
            f"the secret {str(path)!r} of the ledger {str(ledger)!r} is missing; without it no "
            "answer can be finished or added. Restore it beside the ledger, or say where it "
            "is: secret= (holdfast --secret FILE)."
        ) from None
    except OSError as error:
        raise unavailable(path, error) from error
    if len(secret) != SECRET_BYTES:
        raise LedgerTampered(
            f"the secret {str(path)!r} has {len(secret)} bytes, not {SECRET_BYTES}; restore it."
        )
    return secret


def _after(rows: list[Row], seq: int, hashed: str) -> list[Row]:
    """The rows after the first, which must be the entry that was read before."""
    if not rows or (rows[0][0], rows[0][2]) != (seq, hashed):
        raise LedgerTampered(
            f"entry {seq} of the ledger, read before, is gone or changed. {RESTORE}"
        )
    return rows[1:]
