"""Witness: the newest entry, named once more outside the ledger.

An older copy of a ledger is in itself in order, and so is a ledger that lost its write-ahead log:
nothing in it says that later entries are missing, and what they leaked would no longer be counted.
So a small file beside the ledger names the newest entry. It is written after the entry is durable
and not forced to the disk: after a power failure it may be behind, never ahead. Without it, or if
it cannot be written, nothing is refused.

Who reads while another process writes may find the one half of an old line and the other one of a
new: a line ends with its checksum, and one that does not fit is no witness.

A whole folder that is put back brings its own witness along. So a second one is kept in the folder
that HOLDFAST_WITNESS names, if it names one: a file for each ledger, called by the hash of its
first entry. That one is forced to the disk before an answer is shown, and refuses what it cannot
witness.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import LedgerTampered, LedgerUnavailable
from holdfast.ledger.chain import RESTORE
from holdfast.ledger.side_files import open_here

__all__ = ["WITNESS", "Witness", "outside_witness", "require_seen"]

WITNESS = "HOLDFAST_WITNESS"  # the variable that names a folder outside the ledger's

_LENGTH = 15 + 1 + 64 + 1 + 8 + 1  # number, hash, checksum and the end of the line
_TEXT = re.compile(rb"( *(\d+) ([0-9a-f]{64})) ([0-9a-f]{8})\n")


@dataclass(frozen=True, slots=True)
class Witness:
    """Witness file of one line: the newest entry seen of a ledger."""

    path: Path
    outside: bool = False

    def note(self, seq: int, hashed: str) -> None:
        """Remember the newest entry; an outside witness must, durably."""
        try:
            handle = open_here(self.path, os.O_WRONLY | os.O_CREAT, 0o644)
            try:
                os.write(handle, _line(f"{seq:>15} {hashed}".encode()))  # always of one length
                if self.outside:
                    os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            if self.outside:
                raise self._out_of_reach(error) from error

    def seen(self) -> tuple[int, str] | None:
        """Number and hash of the newest entry that was noted."""
        try:
            handle = open_here(self.path, os.O_RDONLY)
            try:
                match = _TEXT.fullmatch(os.read(handle, _LENGTH + 1))
            finally:
                os.close(handle)
        except LedgerUnavailable:
            raise
        except OSError as error:
            if self.outside and not self.path.parent.is_dir():
                raise self._out_of_reach(error) from error
            return None
        if match is None or match[0] != _line(match[1]):
            return None
        return int(match[2]), match[3].decode()

    def _out_of_reach(self, error: OSError) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"the witness {str(self.path)!r} cannot be used ({error}); see that the folder of "
            f"{WITNESS} is there and can be written, or unset it. Nothing was shown, and what was "
            "recorded is kept: ask again."
        )


def outside_witness(first: str) -> Witness | None:
    """The witness outside the ledger's folder, by the hash of its first entry; None if unnamed."""
    folder = os.environ.get(WITNESS)
    return Witness(Path(folder, first), outside=True) if folder else None


def _line(content: bytes) -> bytes:
    return b"%s %08x\n" % (content, zlib.crc32(content))


def require_seen(
    newest: tuple[int, str] | None, rows: Sequence[tuple[int, str, str]], after: int
) -> None:
    """Refuse a ledger whose entries, `rows` after entry `after`, lack one that was seen before."""
    if newest is None or newest[0] <= after:
        return
    seq, hashed = newest
    if seq > after + len(rows):
        raise LedgerTampered(
            f"rolled back: the witness saw {seq:,} entries, here are {after + len(rows):,}. The "
            f"ledger ends after entry {after + len(rows)}, and entry {seq} had been written: "
            f"an older copy was put back, or a part was lost. {RESTORE}"
        )
    if rows[seq - after - 1][2] != hashed:
        raise LedgerTampered(
            f"entry {seq} of the ledger is not the one that had been written: another history was "
            f"put in its place. {RESTORE}"
        )
