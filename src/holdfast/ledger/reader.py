"""A ledger that is read: its entries in order and sealed, its checkpoint, its answers by question.

`look` opens one that is only looked at, on read-only media too: it takes no lock and writes no
witness, and without the secret it does all that needs none and says what was not compared.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable
from holdfast.ledger import filing
from holdfast.ledger.chain import GENESIS, RESTORE, Row, seal, verify
from holdfast.ledger.trouble import plainly, unavailable
from holdfast.ledger.witness import Witness, require_seen

__all__ = ["SECRET_BYTES", "Reader", "beside", "known_secret", "look", "require_ledger"]

# The seal, and the entries in order: one statement, so that both are of one moment.
_NEWS = (
    "SELECT NULL, seal, NULL FROM head "
    "UNION ALL SELECT seq, text, hash FROM entries WHERE seq >= ? ORDER BY 1"
)
_ENTRY = "SELECT seq, text, hash FROM entries WHERE seq = ?"
SECRET_BYTES = 32


class Reader:
    """What a connection to a ledger's file says. `guard` is held while it is used.

    Without the `secret` no seal is compared, and so no checkpoint and no filed answer is believed.
    """

    def __init__(self, path: Path, secret: bytes | None, connection: sqlite3.Connection) -> None:
        self.path = path
        self.secret = secret
        self.guard = threading.RLock()
        self.witness = Witness(beside(path, "newest"))
        self._connection = connection

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
        with self.guard, plainly(self.path):
            rows: list[Any] = self._connection.execute(_NEWS, (after,)).fetchall()
        sealed = rows.pop(0)[1] if rows and rows[0][0] is None else None
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
        with self.guard, plainly(self.path):
            return filing.find_answers(self._connection, self.secret, question)

    def kept(self) -> filing.Kept | None:
        """The checkpoint, if there is one."""
        seen = self.witness.seen()
        with self.guard, plainly(self.path):
            if seen is not None:  # it may lie before the checkpoint
                rows = self._connection.execute(_ENTRY, (seen[0],)).fetchall()
                require_seen(seen if rows else None, rows, seen[0] - 1)
            if self.secret is None:
                return None
            return filing.kept(self._connection, self.secret)

    def filed(self) -> list[filing.FiledPlace]:
        """Where all answers are filed, as they were sealed."""
        with self.guard, plainly(self.path):
            return list(filing.every_place(self._connection, self.secret))


@contextmanager
def look(path: Path) -> Iterator[Reader]:
    """A ledger to be looked at: no entry, no lock and no witness is written."""
    require_ledger(path)
    secret = None
    with suppress(LedgerUnavailable):
        secret = known_secret(path)
    with _read_only(path) as connection:
        yield Reader(path, secret, connection)


def require_ledger(path: Path) -> None:
    """Refuse a name without a ledger."""
    if not path.is_file():
        raise InvalidArgument(f"there is no ledger {str(path)!r}; create one with open or init.")


def known_secret(ledger: Path) -> bytes:
    """The secret beside a ledger."""
    path = beside(ledger, "secret")
    try:
        secret = path.read_bytes()
    except FileNotFoundError:
        raise LedgerUnavailable(
            f"the secret {str(path)!r} of the ledger {str(ledger)!r} is missing; without it no "
            "answer can be finished or added. Restore it beside the ledger."
        ) from None
    except OSError as error:
        raise unavailable(path, error) from error
    if len(secret) != SECRET_BYTES:
        raise LedgerTampered(
            f"the secret {str(path)!r} has {len(secret)} bytes, not {SECRET_BYTES}; restore it."
        )
    return secret


def beside(path: Path, what: str) -> Path:
    """A file that belongs to a ledger."""
    return path.with_name(f"{path.name}-{what}")


def _after(rows: list[Row], seq: int, hashed: str) -> list[Row]:
    """The rows after the first, which must be the entry that was read before."""
    if not rows or (rows[0][0], rows[0][2]) != (seq, hashed):
        raise LedgerTampered(
            f"entry {seq} of the ledger, read before, is gone or changed. {RESTORE}"
        )
    return rows[1:]


@contextmanager
def _read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that reads; where the folder cannot be written, SQLite's log is no help.

    Entries that are still in the log are read from a copy, since SQLite needs a third file for it.
    """
    with tempfile.TemporaryDirectory() as folder:
        log, how = beside(path, "wal"), "mode=ro"
        if not os.access(path.parent, os.W_OK):
            how = "immutable=1"
            if log.exists() and log.stat().st_size:
                for each in (path, log):
                    shutil.copyfile(each, Path(folder, each.name))
                path, how = Path(folder, path.name), "mode=rw"
        with plainly(path):
            connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)
        try:
            yield connection
        finally:
            connection.close()
