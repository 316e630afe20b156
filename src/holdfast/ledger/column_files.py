"""Files of attached columns beside the ledger's entries, for their owner only, one for each.

An entry names a column by its digest; the values are kept here, durable before the entry is. A file
that is gone, cut or changed is noticed: what it holds no longer has the digest. A file is a
checksum, a line end, and keys and values in Arrow's file format: by the checksum, damage is noticed
before anything tries to read it.

The digest of *submitted* values is public. That of values made from protected rows says something
about them, so that a ledger writes only a mark of it, keyed with its secret, the column and a salt:
it tells neither what they are nor whether those of two columns are the same.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from io import BytesIO
from typing import Protocol, TypeAlias

import polars as pl

from holdfast.data.attached import ColumnValues
from holdfast.data.keys import ordered
from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable
from holdfast.ledger.attachments import AttachedColumn, ValuesKept
from holdfast.ledger.chain import RESTORE, canonical, keyed, now

_KEY, _VALUE = "key", "value"
_PURPOSE = "holdfast values/1"

Mark: TypeAlias = Callable[[str], str]  # of a digest: what the ledger writes for it


def submitted_file(digest: str) -> str:
    """The file of values that are known by their content."""
    return f"submitted-{digest}.column"


def computed_file(column: str) -> str:
    """The file of values that are known by what was declared, whatever is written in it.

    Hashed, for a name may hold what no file name can.
    """
    return f"computed-{sha256(column.encode()).hexdigest()}.column"


class ColumnFiles(Protocol):
    """Files that are kept beside a ledger's entries, to be read."""

    def file(self, name: str) -> bytes | None:
        """Content stored under a name; None if there is nothing."""
        ...

    def file_name(self, name: str) -> str:
        """Name of a stored file, for messages."""
        ...


class _ColumnKeeper(ColumnFiles, Protocol):
    """The same, and they may be written."""

    def keep_file(self, name: str, content: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class ColumnStore:
    """The columns of one ledger, whose secret marks those that are protected."""

    ledger: _ColumnKeeper
    secret: bytes

    def write(self, file: str, column: ColumnValues) -> None:
        """Keep the values, durably when this returns; the same ones may be written again."""
        self.ledger.keep_file(file, _encoded(column))

    def keep_computed(self, column: str, values: ColumnValues) -> ValuesKept:
        """Keep values of a column that is known by what was declared, durably when this returns."""
        salt = secrets.token_hex(16)
        mark = _mark(self.secret, column, salt)(values.digest())
        self.write(computed_file(column), values)
        return ValuesKept(salt, mark, now())

    def values(self, column: AttachedColumn, key: str) -> ColumnValues:
        """Values of an attached column, as `kept_values` finds them."""
        return kept_values(self.ledger, self.secret, column, key)


def kept_values(
    files: ColumnFiles, secret: bytes | None, column: AttachedColumn, key: str
) -> ColumnValues:
    """Values of an attached column, for the table's `key`; refused if they changed.

    Without the `secret` only what was submitted can be compared.
    """
    if column.kept is not None:
        mark = _mark(secret, column.column, column.kept.salt)
        return read_column(files, computed_file(column.column), key, column.kept.mark, mark)
    if column.digest is None or not column.ready:
        raise InvalidArgument(
            f"column {column.name!r} was attached, and its values were never kept: whoever "
            "computed them stopped before. Attach it again in the same way, under the same name. "
            "Nothing was spent."
        )
    return read_column(files, submitted_file(column.digest), key, column.digest)


def read_column(
    files: ColumnFiles, file: str, key: str, expected: str, mark: Mark = str
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


def _mark(secret: bytes | None, column: str, salt: str) -> Mark:
    """Mark of the digest of protected values."""
    if secret is None:
        raise LedgerUnavailable(
            f"the values of column {column!r} are marked with the ledger's secret, which is not "
            "here; restore it."
        )
    return partial(_marked, secret, canonical({"column": column, "salt": salt}))


def _marked(secret: bytes, about: str, digest: str) -> str:
    return keyed(secret, _PURPOSE, f"{about}|{digest}")


def _encoded(column: ColumnValues) -> bytes:
    table = BytesIO()
    pl.DataFrame({_KEY: column.order.keys, _VALUE: column.values}).write_ipc(table)
    content = table.getvalue()
    return _checksum(content) + b"\n" + content


def _checksum(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()


def _parsed(encoded: bytes, key: str) -> ColumnValues | None:
    """Column values, parsed from what `_encoded` wrote; None, if it is anything else."""
    checksum, _, content = encoded.partition(b"\n")
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


def _tampered(file: str, fault: str) -> LedgerTampered:
    return LedgerTampered(f"the file {file!r} of an attached column {fault}. {RESTORE}")
