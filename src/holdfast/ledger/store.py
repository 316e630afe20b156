"""Where the ledger lives: one SQLite file in WAL mode with full synchronisation.

A commit that returned is on the disk. One writer at a time: a second SQLite file beside the ledger
is the lock, held over reserve, data and settle. The system frees it when a process dies, so an
unfinished entry seen under the lock is one whose process crashed. The secret beside the ledger
(mode 0600) addresses the noise and seals the newest entry; it is never in the ledger.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, InvalidArgument, LedgerBusy, LedgerUnavailable
from holdfast.ledger import filing
from holdfast.ledger.chain import GENESIS, Row, canonical, chained, link, seal
from holdfast.ledger.durable import sync_folder, write_new
from holdfast.ledger.filing import Filed, Found, Kept
from holdfast.ledger.reader import SECRET_BYTES, Reader, beside, known_secret, require_ledger
from holdfast.ledger.trouble import busy, plainly, unavailable

__all__ = ["Store"]

_SCHEMA = (
    "CREATE TABLE entries (seq INTEGER PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL) STRICT",
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), seal TEXT NOT NULL) STRICT",
    *filing.SCHEMA,
)
_LOG_PAGES = 100


class Store:
    """One ledger file, opened. What was read from it is remembered by the transcript, not here.

    Threads may share a store. `guard` is held for the moments in which a transcript and the file
    must agree, never while rows are read: who only looks does not wait for somebody's scan.
    """

    def __init__(self, path: Path, secret: bytes) -> None:
        self.path = path
        self.secret = secret
        self._process, self._closed = os.getpid(), False
        self._lock = _lock(path)
        try:
            self._connection = _connect(path)
        except BaseException:
            self._lock.close()
            raise
        self._reader = Reader(path, secret, self._connection)
        self.guard = self._reader.guard
        self._turn = threading.RLock()  # of the thread that asks; taken before the guard
        # A store that nobody holds any more lets go of its files by itself, and quietly.
        for connection in (self._connection, self._lock):
            weakref.finalize(self, _let_go, self._process, connection)

    @classmethod
    def create(cls, path: Path, opening: Callable[[bytes], dict[str, Any]], timeout: float) -> None:
        """Make a ledger, whole or not at all; `opening` says its first entry, given its secret.

        If another process was quicker, its ledger stays.
        """
        if not path.parent.is_dir():
            raise InvalidArgument(
                f"the ledger is {str(path)!r}, and there is no folder {str(path.parent)!r}; "
                "create it first."
            )
        with closing(_lock(path)) as lock, _held(lock, path, timeout):
            if not path.exists():
                _make(path, opening)

    @classmethod
    def open(cls, path: Path) -> Store:
        """An existing ledger; nothing is verified until `news` is read."""
        require_ledger(path)
        return cls(path, known_secret(path))

    @contextmanager
    def exclusive(self, timeout: float) -> Iterator[None]:
        """Be the only one, of all threads and processes, that asks questions of this ledger."""
        self.require_usable()
        if not self._turn.acquire(timeout=timeout):
            raise busy(self.path, timeout)
        try:
            with _held(self._lock, self.path, timeout):
                yield
        finally:
            self._turn.release()

    def news(self, after: int = 0, head: str = GENESIS) -> list[Row]:
        """The entries that follow entry `after` (whose hash is `head`): in order and sealed."""
        self.require_usable()
        return self._reader.news(after, head)

    def found(self, question: str) -> list[Found]:
        """The newest answer to a question, without reading the history."""
        self.require_usable()
        return self._reader.found(question)

    def kept(self) -> Kept | None:
        """The checkpoint, if there is one."""
        self.require_usable()
        return self._reader.kept()

    def append(
        self,
        entries: Sequence[tuple[dict[str, Any], Sequence[Filed]]],
        after: int,
        head: str,
        checkpoint: str | None = None,
    ) -> list[Row]:
        """Write the entries that follow entry `after`, all on the disk when this returns, or none.

        With each, what is to be found of it is filed, and with all a `checkpoint` of what was
        before them. To be called under `exclusive`, with all news read.
        """
        rows = chained([body for body, _ in entries], after, head)
        with self.guard, plainly(self.path):
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                for row, (_, filed) in zip(rows, entries, strict=True):
                    _insert(connection, self.secret, row)
                    filing.file_answers(connection, self.secret, filed, row)
                if checkpoint is not None:
                    filing.keep(connection, self.secret, checkpoint)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:  # something failed, the commit itself perhaps
                    connection.execute("ROLLBACK")
        seq, _, hashed = rows[-1]
        self._reader.witness.note(seq, hashed)
        return rows

    def require_usable(self) -> None:
        """Refuse a store that is closed, or that a fork took along from another process.

        To be called before any lock is waited for: a fork may have copied one that is held.
        """
        if self._forked:
            raise LedgerUnavailable(
                f"the ledger {str(self.path)!r} was opened by process {self._process}, of which "
                "this one is a fork: what reads tables hangs in forks. Start processes by 'spawn' "
                "or 'forkserver' and open it there. Nothing was asked and nothing was spent."
            )
        if self._closed:
            raise LedgerUnavailable(f"the ledger {str(self.path)!r} is closed; open it again.")

    @property
    def _forked(self) -> bool:
        return os.getpid() != self._process

    def close(self) -> None:
        """Let go of the files; in a fork they are left to the process that opened them."""
        if self._forked:
            return
        with self._turn, self.guard:
            self._closed = True
            self._connection.close()
            self._lock.close()


def _let_go(process: int, connection: sqlite3.Connection) -> None:
    if os.getpid() == process:
        connection.close()


def _make(path: Path, opening: Callable[[bytes], dict[str, Any]]) -> None:
    """Under the lock: a draft, then the secret, and last the name that makes the ledger exist.

    A draft that is found here is of a process that died in between: its secret was never used.
    """
    draft, hidden = beside(path, "draft"), beside(path, "secret")
    if hidden.exists() and not draft.exists():
        raise InvalidArgument(
            f"there is a secret {str(hidden)!r} without its ledger; restore the ledger, or remove "
            "the secret if no answer was ever given with it."
        )
    secret = secrets.token_bytes(SECRET_BYTES)
    text = canonical(opening(secret))
    try:
        for leftover in ("secret", "draft-journal", "draft-wal", "draft-shm", "draft"):
            beside(path, leftover).unlink(missing_ok=True)
        with plainly(path), closing(_connect(draft, journal="DELETE")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO head VALUES (1, '')")
            _insert(connection, secret, (1, text, link(GENESIS, text)))
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")  # all is in the file that is renamed
        # Of a ledger that was removed by hand:
        for stale in ("wal", "shm", "journal", "newest", "files"):
            beside(path, stale).unlink(missing_ok=True)
        write_new(hidden, secret)
        draft.rename(path)
        sync_folder(path.parent)
    except OSError as error:
        if isinstance(error, HoldfastError):
            raise
        raise unavailable(path, error) from error


def _insert(connection: sqlite3.Connection, secret: bytes, row: Row) -> None:
    seq, _, hashed = row
    connection.execute("INSERT INTO entries VALUES (?, ?, ?)", row)
    connection.execute("UPDATE head SET seal = ?", (seal(secret, seq, hashed),))


def _connect(path: Path, journal: str = "WAL") -> sqlite3.Connection:
    with plainly(path):
        connection = sqlite3.connect(
            path, timeout=60.0, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA journal_mode = {journal}")
            connection.execute("PRAGMA synchronous = FULL")
            # A short log is soon written over in place: a commit that makes the file longer waits
            # for the file system's journal, too.
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        except BaseException:
            connection.close()
            raise
        return connection


def _lock(path: Path) -> sqlite3.Connection:
    """The lock of a ledger, free. It is an empty file, and who holds it writes nothing.

    With its journal in memory: on the disk it would be made and removed by every holder, and their
    commits would wait for that, too.
    """
    with plainly(path):
        lock = sqlite3.connect(beside(path, "lock"), isolation_level=None, check_same_thread=False)
        try:
            lock.execute("PRAGMA journal_mode = MEMORY")  # it reads, and need not wait for a holder
        except BaseException:
            lock.close()
            raise
        return lock


@contextmanager
def _held(lock: sqlite3.Connection, path: Path, timeout: float) -> Iterator[None]:
    if lock.in_transaction:
        raise LedgerBusy(
            f"the ledger {str(path)!r} is answering a question in this very thread; nothing was "
            "asked and nothing was spent. Ask when that one is answered."
        )
    try:
        with plainly(path):
            lock.execute(f"PRAGMA busy_timeout = {int(1000 * timeout)}")
            lock.execute("BEGIN IMMEDIATE")
    except LedgerBusy as error:
        raise busy(path, timeout) from error
    try:
        yield
    finally:
        lock.execute("ROLLBACK")
