"""Attached columns beside the ledger's entries, for their owner only, one file for each.

An entry names a column by its digest; the values are kept here, durable before the entry is. A file
that is gone, cut or changed is noticed: what it holds no longer has the digest. A file is a
checksum, a line end, and keys and values in Arrow's file format: by the checksum, damage is noticed
before anything tries to read it.

The digest of *submitted* values is public. That of values made from protected rows says something
about them, so that a ledger writes only a mark of it, keyed with its secret (`chain.keyed`), which
`read` is given the way to make.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from typing import Protocol

import polars as pl

from holdfast.data.attached import ColumnValues
from holdfast.data.keys import ordered
from holdfast.errors import LedgerTampered
from holdfast.ledger.chain import RESTORE

__all__ = ["ColumnFiles", "ColumnStore", "computed_file", "read_column", "submitted_file"]

_KEY, _VALUE = "key", "value"


def submitted_file(digest: str) -> str:
    """The file of values that are known by their content."""
    return f"submitted-{digest}.column"


def computed_file(identity: str) -> str:
    """The file of values that are known by a name or a declared digest, whatever is written in it.

    Hashed, for a name may hold what no file name can.
    """
    return f"computed-{sha256(identity.encode()).hexdigest()}.column"


class ColumnFiles(Protocol):
    """Files that are kept beside a ledger's entries, to be read."""

    def file(self, name: str) -> bytes | None:
        """What was kept under a name; None if there is nothing."""
        ...

    def file_name(self, name: str) -> str:
        """What people call it."""
        ...


class _ColumnKeeper(ColumnFiles, Protocol):
    """The same, and they may be written."""

    def keep_file(self, name: str, content: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class ColumnStore:
    """The columns of one ledger."""

    ledger: _ColumnKeeper

    def write(self, file: str, column: ColumnValues) -> None:
        """Keep the values, durably when this returns; the same ones may be written again."""
        self.ledger.keep_file(file, _written(column))

    def read(
        self, file: str, key: str, expected: str, mark: Callable[[str], str] = str
    ) -> ColumnValues:
        """The values in a file, as `read_column` finds them."""
        return read_column(self.ledger, file, key, expected, mark)


def read_column(
    files: ColumnFiles, file: str, key: str, expected: str, mark: Callable[[str], str] = str
) -> ColumnValues:
    """The values in a file, for the table's `key`.

    Refused unless the mark of their digest is the `expected` one, which the ledger has.
    """
    content = files.file(file)
    if content is None:
        raise _tampered(files.file_name(file), "is gone")
    column = _parsed(content, key)
    if column is None or mark(column.digest()) != expected:
        raise _tampered(
            files.file_name(file), "does not hold what was attached, it was cut or changed"
        )
    return column


def _written(column: ColumnValues) -> bytes:
    table = BytesIO()
    pl.DataFrame({_KEY: column.order.keys, _VALUE: column.values}).write_ipc(table)
    content = table.getvalue()
    return _checksum(content) + b"\n" + content


def _checksum(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()


def _parsed(written: bytes, key: str) -> ColumnValues | None:
    """What `_written` wrote; nothing, if it is anything else."""
    checksum, _, content = written.partition(b"\n")
    if checksum != _checksum(content):
        return None
    try:
        frame = pl.read_ipc(BytesIO(content))
        keys, values = frame[_KEY], frame[_VALUE]
        order = ordered(key, keys)
        column = ColumnValues(order, values)
    except (Exception, pl.exceptions.PanicException):  # made by hand, to break Polars
        return None
    return column if order.keys.equals(keys) else None


def _tampered(file: str, what: str) -> LedgerTampered:
    return LedgerTampered(f"the file {file!r} of an attached column {what}. {RESTORE}")
