"""Files of a ledger: for their owner only, durable, and trouble with them in our words."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import HoldfastError, LedgerBusy, LedgerTampered, LedgerUnavailable
from holdfast.ledger.chain import RESTORE

__all__ = [
    "OwnFolder",
    "busy",
    "is_busy",
    "newer_tables",
    "overtaken",
    "plainly",
    "replace_whole",
    "sync_folder",
    "unavailable",
    "was_moved",
    "write_new",
]


def write_new(path: Path, content: bytes) -> None:
    """A file that was not there before, durable but for its name."""
    _write(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), content)


def replace_whole(path: Path, content: bytes) -> None:
    """A file under this name, whole at every moment, whoever else writes it at the same time."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        _write(handle, content)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(handle: int, content: bytes) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


# Trouble with the ledger's file in our words: busy, out of reach, or damaged.


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


@contextmanager
def plainly(ledger: object) -> Iterator[None]:
    """SQLite's errors in our words; one that quotes damaged text is itself not readable."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _in_our_words(ledger, error) from error


def _in_our_words(ledger: object, error: Exception) -> HoldfastError:
    code = _code(error)
    if is_busy(error):
        return LedgerBusy(
            f"another program holds the ledger {str(ledger)!r} ({error}); what was recorded is "
            "kept. Try again when it is done."
        )
    if code in _OUTSIDE or isinstance(error, sqlite3.ProgrammingError):
        return unavailable(ledger, error)
    return LedgerTampered(f"the ledger {str(ledger)!r} is damaged ({error}). {RESTORE}")


def is_busy(error: Exception) -> bool:
    """Whether SQLite says that another program holds the file."""
    return _code(error) in _BUSY


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)) & 0xFF


def busy(ledger: object, timeout: float) -> LedgerBusy:
    return LedgerBusy(
        f"someone else has held the ledger {str(ledger)!r} for {timeout:g} s; nothing was asked "
        "and nothing was spent. Try again, or wait longer."
    )


def was_moved(ledger: object, how: str) -> LedgerUnavailable:
    """What is said of a ledger that went elsewhere, or has not wholly arrived."""
    word, _, other = how.partition(" ")
    if word == "to":
        told = f"was moved to {other!r}; open it there"
    else:
        told = f"has not wholly arrived from {other!r}; move it again (holdfast ledger move)"
    return LedgerUnavailable(f"the ledger {str(ledger)!r} {told}. Nothing was asked or spent.")


def overtaken(ledger: object, after: int) -> LedgerUnavailable:
    """What is said to one who did not notice that others went on."""
    return LedgerUnavailable(
        f"the ledger {str(ledger)!r} no longer ends with entry {after:,}: another process went on "
        "while this one had lost its hold. Nothing was written; ask again."
    )


def newer_tables(ledger: object, version: int, known: int) -> LedgerUnavailable:
    """What is said of a ledger that newer software wrote."""
    return LedgerUnavailable(
        f"the ledger {str(ledger)!r} is in tables of version {version}, and this software knows "
        f"them up to {known}; update it. Nothing was written."
    )


def unavailable(ledger: object, error: Exception) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"the ledger {str(ledger)!r} cannot be used ({error}); check that its folder can be "
        "written and that the disk has room. Nothing that was recorded is lost."
    )


# A folder beside a ledger: files for their owner only, durable when they are kept.


@dataclass(frozen=True, slots=True)
class OwnFolder:
    """A folder of files for their owner only; there is none before the first file."""

    path: Path

    def file(self, name: str) -> bytes | None:
        """What a file holds; None if there is no such file."""
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unavailable(self.path / name, error) from error

    def file_name(self, name: str) -> str:
        """Where a file is."""
        return str(self.path / name)

    def file_names(self) -> list[str]:
        """The files there are, sorted; those that begin with a dot were never finished."""
        try:
            found = list(self.path.iterdir()) if self.path.exists() else []
        except OSError as error:
            raise unavailable(self.path, error) from error
        return sorted(each.name for each in found if not each.name.startswith("."))

    def keep_file(self, name: str, content: bytes) -> None:
        """A file with this content, durable when this returns; the same may be kept again."""
        try:
            if not self.path.exists():
                self.path.mkdir(mode=0o700, exist_ok=True)  # another process may be as quick
                sync_folder(self.path.parent)
            replace_whole(self.path / name, content)
        except OSError as error:
            raise unavailable(self.path / name, error) from error
