"""SQLite backend: a ledger in one file, in WAL mode with full synchronisation.

One writer at a time: a second SQLite file beside the ledger is the lock, held over reserve, data
and settle. The system frees it when a process dies, so an unfinished entry seen under the lock is
one whose process crashed.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast import require
from holdfast.errors import (
    HoldfastError,
    InvalidArgument,
    LedgerBusy,
    LedgerTampered,
    LedgerUnavailable,
)
from holdfast.ledger.backend import Addition, LedgerHome
from holdfast.ledger.chain import RESTORE, Row
from holdfast.ledger.checkpoint import SealedPlace
from holdfast.ledger.lock import busy, lock_in_use, overtaken
from holdfast.ledger.side_files import (
    OwnFolder,
    linked,
    newer_tables,
    require_format,
    sync_folder,
    unavailable,
    was_moved,
    write_new,
)

# The tables of a ledger in a SQLite file, and how those of earlier versions become these.


# Version n of the tables is what follows from those of version 0 by the first n of these.
UPGRADES = ("ALTER TABLE head ADD COLUMN moved TEXT",)
_SCHEMA = (
    "CREATE TABLE entries (seq INTEGER PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL) STRICT",
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), seal TEXT NOT NULL) STRICT",
    "CREATE TABLE answers (question TEXT NOT NULL, settled INTEGER NOT NULL, look INTEGER NOT "
    "NULL, line INTEGER NOT NULL, leaked REAL NOT NULL, seal TEXT NOT NULL, PRIMARY KEY (question, "
    "settled, look, line)) STRICT, WITHOUT ROWID",
    "CREATE TABLE checkpoint (one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL, seal "
    "TEXT NOT NULL) STRICT",
)


def make_tables(connection: sqlite3.Connection) -> None:
    """The tables of this version, without rows."""
    for statement in (*_SCHEMA, *UPGRADES):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(UPGRADES)}")


def upgrade_tables(ledger: object, connection: sqlite3.Connection) -> None:
    """Make tables of an earlier version those of this one; refused if a newer one made them."""
    if _number(connection, "user_version") == len(UPGRADES):
        return
    try:
        connection.execute("BEGIN IMMEDIATE")
        version = _number(connection, "user_version")
        if version > len(UPGRADES):
            raise newer_tables(ledger, version, len(UPGRADES))
        for statement in UPGRADES[version:]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(UPGRADES)}")
        connection.execute("COMMIT")
    finally:
        connection.rollback()  # unless it was committed


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


# The seal, and the entries in order: one statement, so that both are of one moment.
_TAIL = (
    "SELECT NULL, seal, NULL FROM head "
    "UNION ALL SELECT seq, text, hash FROM entries WHERE seq >= ? ORDER BY 1"
)
_NEWEST = "SELECT seq, hash, moved FROM entries, head ORDER BY seq DESC LIMIT 1"
_LOG_PAGES = 100
_PATIENCE = 60.0  # seconds for programs that know nothing of the lock
_MOMENT = 0.1  # seconds after which an interrupt is heard
_NO_FILES = frozenset({"", ".", "..", ":memory:"})  # the last one is SQLite's word for no file


@dataclass(frozen=True, slots=True)
class FileHome:
    """A ledger that is a file, with its other files beside it; the secret may be elsewhere."""

    path: Path
    secret: Path | None = None

    @classmethod
    def named(cls, ledger: str | Path, secret: str | Path | None = None) -> FileHome:
        """By its path, from wherever one works later; refused if no file can have that name."""
        path = require.file("ledger", ledger)
        if path.name in _NO_FILES:
            raise InvalidArgument(
                f"the ledger is {str(path)!r}, which cannot be the name of a file; choose another."
            )
        hidden = None if secret is None else Path(os.path.abspath(require.file("secret", secret)))
        return cls(Path(os.path.abspath(path)), hidden)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def address(self) -> str:
        """The whole path."""
        return str(self.path)

    @property
    def stem(self) -> str:
        """The file's name without what says that it is a ledger."""
        return self.path.stem

    def beside(self, suffix: str) -> Path:
        """A file that belongs to the ledger."""
        if suffix == "secret" and self.secret is not None:
            return self.secret
        return self.path.with_name(f"{self.path.name}-{suffix}")

    @property
    def columns(self) -> OwnFolder:
        """Folder of attached columns."""
        return OwnFolder(self.beside("columns"))

    def neighbours(self) -> list[LedgerHome]:
        """The ledgers of the folder; what cannot be read is passed over."""
        try:
            ledgers = sorted(self.path.parent.glob("*.ledger"))
            return [FileHome(path.resolve()) for path in ledgers if path.is_file()]
        except OSError:
            return []

    def is_there(self) -> bool:
        """Whether there is a file of this name."""
        try:
            return self.path.exists()
        except OSError as error:
            raise LedgerUnavailable(
                f"the ledger {str(self)!r} cannot be looked at ({error}); check the permissions of "
                "its folder."
            ) from error

    def create(self, secret: bytes, first: Addition, timeout: float) -> None:
        """Make the ledger; if another process was quicker, its ledger stays."""
        folder = self.path.parent
        if not folder.is_dir():
            raise InvalidArgument(
                f"the ledger is {str(self)!r}, and there is no folder {str(folder)!r}; "
                "create it first."
            )
        with closing(file_lock(self)) as lock:  # which frees it
            hold_file_lock(lock, self, timeout)
            if not self.path.exists():
                _make(self, secret, first)

    def keeper(self) -> SqliteKeeper:
        """The ledger, to be read and written."""
        self._require_ledger()
        with ExitStack() as opened:
            lock = opened.enter_context(closing(file_lock(self)))
            connection = opened.enter_context(closing(_connect(self.path)))
            with plainly(self):
                _require_own_format(self, connection)
                upgrade_tables(self, connection)
            opened.pop_all()
            return SqliteKeeper(self, lock, SqliteRecords(self, connection))

    @contextmanager
    def records(self) -> Iterator[SqliteRecords]:
        """The ledger, to be looked at: no entry, no lock and no witness is written."""
        self._require_ledger()
        with _read_only(self) as connection:
            with plainly(self):
                _require_own_format(self, connection)
            yield SqliteRecords(self, connection)

    def _require_ledger(self) -> None:
        if not self.path.is_file():
            raise InvalidArgument(
                f"there is no ledger {str(self)!r}; create one with open or init."
            )


class SqliteRecords:
    """Rows of a ledger, read through a connection to its file."""

    def __init__(self, home: FileHome, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._home = home

    def tail(self, after: int) -> tuple[str | None, list[Row]]:
        """The seal, and the entries from number `after` on."""
        with plainly(self._home):
            rows: list[Row] = self.connection.execute(_TAIL, (after,)).fetchall()
        sealed = rows.pop(0)[1] if rows and rows[0][0] is None else None
        return sealed, rows

    def entries(self, first: int, last: int) -> list[Row]:
        """The entries of these numbers, in order."""
        with plainly(self._home):
            return self.connection.execute(
                "SELECT seq, text, hash FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq",
                (first, last),
            ).fetchall()

    def filed(self, question: str) -> list[SealedPlace]:
        """Places filed under the digest of a question, in order."""
        with plainly(self._home):
            return self.connection.execute(
                "SELECT question, settled, look, line, leaked, seal FROM answers "
                "WHERE question = ? ORDER BY settled, look",
                (question,),
            ).fetchall()

    def all_filed(self) -> list[tuple[SealedPlace, str | None]]:
        """Places filed, each with the hash of its entry."""
        with plainly(self._home):
            rows = self.connection.execute(
                "SELECT question, settled, look, line, leaked, answers.seal, hash FROM answers "
                "LEFT JOIN entries ON seq = settled"
            ).fetchall()
        return [((row[0], row[1], row[2], row[3], row[4], row[5]), row[6]) for row in rows]

    def checkpoint(self) -> tuple[str, str, Row] | None:
        """The checkpoint's text and seal, and the first entry."""
        with plainly(self._home):
            row = self.connection.execute(
                "SELECT checkpoint.text, seal, seq, entries.text, hash FROM checkpoint "
                "LEFT JOIN entries ON seq = 1"
            ).fetchone()
        return None if row is None else (row[0], row[1], (row[2], row[3], row[4]))

    def file(self, name: str) -> bytes | None:
        """Content stored under this name."""
        return self._home.columns.file(name)

    def file_name(self, name: str) -> str:
        """Path of a stored file."""
        return self._home.columns.file_name(name)

    def file_names(self) -> list[str]:
        """The files of the folder."""
        return self._home.columns.file_names()


class FileVersion:
    """Version of a ledger's file: another one after every commit, and of another file of its name.

    It is looked at in some microseconds, and never waited for. What is not a file has none.
    """

    def __init__(self, home: object) -> None:
        self._path = home.path if isinstance(home, FileHome) else None
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, ...] = ()
        self._opened = 0  # numbers of one connection say nothing to another one

    def read(self) -> tuple[int, int] | None:
        """The version; None where it cannot be told now."""
        if self._path is None:
            return None
        try:
            status = self._path.stat()
            if self._connection is None or (status.st_dev, status.st_ino) != self._file:
                self.close()
                self._opened, self._file = self._opened + 1, (status.st_dev, status.st_ino)
                where = f"{self._path.absolute().as_uri()}?mode=ro"
                self._connection = sqlite3.connect(
                    where, uri=True, timeout=0.0, check_same_thread=False
                )
            return self._opened, _number(self._connection, "data_version")
        except (OSError, sqlite3.Error):
            return None

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class SqliteKeeper:
    """A ledger's file to be written, with its lock."""

    def __init__(self, home: FileHome, lock: sqlite3.Connection, records: SqliteRecords) -> None:
        self.records = records
        self._home = home
        self._lock = lock

    def hold(self, timeout: float) -> None:
        """Take the cross-process lock."""
        hold_file_lock(self._lock, self._home, timeout)

    def let_go(self) -> None:
        """Free the lock; what an interrupt left open in the ledger itself is taken back, too."""
        for connection in (self.records.connection, self._lock):
            with suppress(sqlite3.Error):  # one that is closed holds nothing
                connection.rollback()

    def append(self, addition: Addition) -> None:
        """Write it, on the disk when this returns, or nothing of it."""
        connection = self.records.connection
        with plainly(self._home):
            try:
                _begin(connection, _PATIENCE)
                *newest, moved = connection.execute(_NEWEST).fetchone()
                if moved is not None and moved != addition.moved:
                    raise was_moved(self._home, moved)
                if [*newest, moved] != [addition.after, addition.head, addition.moved]:
                    raise overtaken(self._home, addition.after)
                _write(connection, addition)
                connection.execute("COMMIT")
            finally:
                connection.rollback()  # unless it was committed: the commit itself may have failed

    def keep_file(self, name: str, content: bytes) -> None:
        """Keep it in a folder of the ledger, for its owner only."""
        self._home.columns.keep_file(name, content)

    def moved(self) -> str | None:
        """Mark of a move; None if the ledger is in use here."""
        with plainly(self._home):
            rows = self.records.connection.execute("SELECT moved FROM head").fetchall()
        # Without a head its seal is missing, too, which is told when the entries are read.
        return next((str(moved) for (moved,) in rows if moved is not None), None)

    def mark_moved(self, how: str | None) -> None:
        """Say so, on the disk when this returns."""
        with plainly(self._home):
            self.records.connection.execute("UPDATE head SET moved = ?", (how,))

    def close(self) -> None:
        """Let go of the files."""
        self.records.connection.close()
        self._lock.close()


def _require_own_format(home: FileHome, connection: sqlite3.Connection) -> None:
    for (text,) in connection.execute("SELECT text FROM entries WHERE seq = 1").fetchall():
        require_format(home, text)


def _make(home: FileHome, secret: bytes, first: Addition) -> None:
    """Under the lock: a draft, then the secret, and last the name that makes the ledger exist.

    A draft that is found here is of a process that died in between: its secret was never used. One
    that is elsewhere may be another ledger's, and is never removed.
    """
    draft, hidden = home.beside("draft"), home.beside("secret")
    if hidden.exists() and (home.secret is not None or not draft.exists()):
        raise InvalidArgument(
            f"there is a secret {str(hidden)!r} without its ledger; restore the ledger, or remove "
            "the secret if no answer was ever given with it."
        )
    try:
        for leftover in ("secret", "draft-journal", "draft-wal", "draft-shm", "draft"):
            home.beside(leftover).unlink(missing_ok=True)
        with plainly(home), closing(_connect(draft, journal="DELETE")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            make_tables(connection)
            connection.execute("INSERT INTO head VALUES (1, '', ?)", (first.moved,))
            _write(connection, first)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")  # all is in the file that is renamed
        # Of a ledger that was removed by hand:
        for stale in ("wal", "shm", "journal", "newest", "files"):
            home.beside(stale).unlink(missing_ok=True)
        write_new(hidden, secret)
        if home.secret is not None:
            sync_folder(hidden.parent)  # there before the ledger is
        draft.rename(home.path)
        sync_folder(home.path.parent)
    except OSError as error:
        if isinstance(error, HoldfastError):
            raise
        raise unavailable(home, error) from error


def _write(connection: sqlite3.Connection, addition: Addition) -> None:
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", addition.rows)
    connection.execute("UPDATE head SET seal = ?", (addition.seal,))
    connection.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", addition.filed)
    if addition.checkpoint is not None:
        connection.execute(
            "INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?)", addition.checkpoint
        )


def _connect(path: Path, journal: str = "WAL") -> sqlite3.Connection:
    with plainly(path):
        connection = sqlite3.connect(
            path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
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


def file_lock(home: LedgerHome) -> sqlite3.Connection:
    """The lock of a ledger, free. It is an empty file, and who holds it writes nothing.

    With its journal in memory: on the disk it would be made and removed by every holder, and their
    commits would wait for that, too.
    """
    path = home.beside("lock")
    if path.is_symlink():
        raise linked(path)
    if path.is_dir() or (path.exists() and path.stat().st_size > 0):
        raise lock_in_use(path)
    with plainly(home):
        lock = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            lock.execute("PRAGMA journal_mode = MEMORY")  # it reads, and need not wait for a holder
        except BaseException:
            lock.close()
            raise
        return lock


def hold_file_lock(lock: sqlite3.Connection, home: LedgerHome, timeout: float) -> None:
    try:
        with plainly(home):
            _begin(lock, timeout)
    except LedgerBusy as error:
        raise busy(home, timeout) from error


def _begin(connection: sqlite3.Connection, timeout: float) -> None:
    """Begin to write, when whoever else writes is done.

    SQLite waits without hearing a signal, so it is let wait for moments only: in between an
    interrupt is raised.
    """
    deadline = time.monotonic() + timeout
    try:
        while True:
            seconds = max(0.0, deadline - time.monotonic())
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * min(seconds, _MOMENT))}")
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() >= deadline:
                    raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(1000 * _PATIENCE)}")  # of who reads


@contextmanager
def _read_only(home: FileHome) -> Iterator[sqlite3.Connection]:
    """A connection that reads; where the folder cannot be written, SQLite's log is no help.

    Entries that are still in the log are read from a copy, since SQLite needs a third file for it.
    """
    path = home.path
    with tempfile.TemporaryDirectory() as folder:
        log, how = home.beside("wal"), "mode=ro"
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


# Errors of SQLite in our words: busy, out of reach, or damaged.


_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
# Failures of the disk, the folder or its permissions: the ledger itself may be in order.
_OUTSIDE = {
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_MISUSE,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}


class plainly:  # noqa: N801 - it stands after `with`, ten times in an answer
    """Translation of SQLite's errors; one that quotes damaged text is itself not readable."""

    __slots__ = ("_ledger",)

    def __init__(self, ledger: object) -> None:
        self._ledger = ledger

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, (sqlite3.Error, UnicodeDecodeError)):
            raise _in_our_words(self._ledger, error) from error


def _in_our_words(ledger: object, error: Exception) -> HoldfastError:
    code = _code(error)
    if _is_busy(error):
        return LedgerBusy(
            f"another program holds the ledger {str(ledger)!r} ({error}); what was recorded is "
            "kept. Try again when it is done."
        )
    if code in _OUTSIDE or isinstance(error, sqlite3.ProgrammingError):
        return unavailable(ledger, error)
    return LedgerTampered(f"the ledger {str(ledger)!r} is damaged ({error}). {RESTORE}")


def _is_busy(error: Exception) -> bool:
    """Whether SQLite says that another program holds the file."""
    return _code(error) in _BUSY


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)) & 0xFF
