"""Files of a ledger: for their owner only, durable, and refused in our words."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import LedgerUnavailable


def open_here(path: Path, flags: int, mode: int = 0o600) -> int:
    """A file of a ledger itself, opened; refused if another one is linked to from its place."""
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise linked(path) from error
        raise


def read_here(path: Path) -> bytes:
    """Content of a file of the ledger itself."""
    with os.fdopen(open_here(path, os.O_RDONLY), "rb") as file:
        return file.read()


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


# Refusals of a file: of another version, moved, linked, or out of reach.


# The format of a ledger's entries is the number of its first one: `open/3`. It is raised whenever
# an entry that was written before would be read otherwise, or not at all; tests/ledger/formats has
# a ledger of each. The first form of format 3 was written for half an hour, without never_null.
FORMAT = 3
_OPENED = re.compile('"kind":"open/([0-9]{1,9})"')


def was_moved(ledger: object, how: str) -> LedgerUnavailable:
    """Refusal of a ledger that went elsewhere, or has not wholly arrived."""
    word, _, address = how.partition(" ")
    if word == "to":
        advice = f"was moved to {address!r}; open it there"
    elif word == "restored":
        advice = f"was not wholly restored from {address!r}; do it again (holdfast ledger restore)"
    else:
        advice = f"has not wholly arrived from {address!r}; move it again (holdfast ledger move)"
    return LedgerUnavailable(f"the ledger {str(ledger)!r} {advice}. Nothing was asked or spent.")


def require_format(ledger: object, first: str) -> None:
    """Refuse a ledger whose entries another version of this software wrote, by its first entry.

    What is no first entry at all is for the chain to find.
    """
    match = _OPENED.search(first)
    number = FORMAT if match is None else int(match[1])
    if number == FORMAT and '"schema":{' in first and '"never_null":{' not in first:
        raise LedgerUnavailable(
            f"the ledger {str(ledger)!r} is of the first form of format {FORMAT} (its first entry "
            "does not say which columns miss no values), which this version of Holdfast does not "
            "read; open it with the version that wrote it, or protect fresh rows by a new ledger. "
            "Nothing in it was found wrong, and nothing was written."
        )
    if number != FORMAT:
        advice = (
            "open it with the version that wrote it, or protect fresh rows by a new ledger: there "
            "a missing value counted as 0 or as the nearest bound, and here it is left out, so "
            "that the same words would ask something else"
            if number < FORMAT
            else "update Holdfast"
        )
        raise LedgerUnavailable(
            f"the ledger {str(ledger)!r} is of format {number} (its first entry is open/{number}), "
            f"and this version of Holdfast reads format {FORMAT}; {advice}. Nothing in it was "
            "found wrong, and nothing was written."
        )


def linked(path: Path) -> LedgerUnavailable:
    """Refusal of a link in the place of a ledger's own file."""
    return LedgerUnavailable(
        f"the file {str(path)!r} of a ledger is a symbolic link, and a ledger follows none; put "
        "the file itself there (of a secret that is elsewhere, say where: secret=FILE). Nothing "
        "was asked or spent."
    )


def newer_tables(ledger: object, version: int, supported: int) -> LedgerUnavailable:
    """Refusal of a ledger that newer software wrote."""
    return LedgerUnavailable(
        f"the ledger {str(ledger)!r} is in tables of version {version}, and this software knows "
        f"them up to {supported}; update it. Nothing was written."
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
        """Content of a file; None if there is no such file."""
        try:
            return read_here(self.path / name)
        except FileNotFoundError:
            return None
        except LedgerUnavailable:
            raise
        except OSError as error:
            raise unavailable(self.path / name, error) from error

    def file_name(self, name: str) -> str:
        """Path of a file."""
        return str(self.path / name)

    def file_names(self) -> list[str]:
        """The files there are, sorted; those that begin with a dot were never finished."""
        try:
            files = list(self.path.iterdir()) if self.path.exists() else []
        except OSError as error:
            raise unavailable(self.path, error) from error
        return sorted(each.name for each in files if not each.name.startswith("."))

    def keep_file(self, name: str, content: bytes) -> None:
        """A file with this content, durable when this returns; the same may be kept again."""
        try:
            if not self.path.exists():
                self.path.mkdir(mode=0o700, exist_ok=True)  # another process may be as quick
                sync_folder(self.path.parent)
            replace_whole(self.path / name, content)
        except OSError as error:
            raise unavailable(self.path / name, error) from error
