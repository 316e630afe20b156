"""Witness: the newest entry of a ledger, named once more outside it.

An older copy of a ledger is in itself in order, and so is a ledger that lost its write-ahead log:
nothing in it says that later entries are missing, and what they leaked would no longer be counted.
So a small file beside the ledger names the newest entry. It is written after the entry is durable
and not forced to the disk: after a power failure it may be behind, never ahead. Without it, or if
it cannot be written, nothing is refused.

A whole folder that is put back brings its own witness along. So a second one is kept where
HOLDFAST_WITNESS says, if it says something: a folder, a branch of a git remote, or a service by
HTTP. It has a note of each ledger, called by the hash of its first entry. It knows the newest entry
before an answer is shown, and refuses what it cannot witness: one that cannot be reached, and a
note that is damaged. A note never goes back to an earlier entry, except where a ledger is restored.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable
from holdfast.ledger.chain import RESTORE
from holdfast.ledger.lock import LostRace
from holdfast.ledger.side_files import open_here, read_here, replace_whole

if TYPE_CHECKING:
    from holdfast.ledger.git import Repository

WITNESS = "HOLDFAST_WITNESS"  # a folder outside the ledger's, git:REMOTE/BRANCH, or https://...
TOKEN = "HOLDFAST_WITNESS_TOKEN"  # what a service asks for, if it does

_LENGTH = 15 + 1 + 64 + 1 + 8 + 1  # number, hash, checksum and the end of the line
_TEXT = re.compile(rb"( *(\d+) ([0-9a-f]{64})) ([0-9a-f]{8})\n")
TRIES = 20  # of a note that others are quicker with

Newest = tuple[int, str]  # number and hash of an entry


class NoteDamaged(LedgerTampered):
    """Refusal of a witness's note that says nothing: the ledger itself may be in order."""


class OutsideWitness(Protocol):
    """Witness that is not restored with the ledger: it knows, or refuses."""

    def note(self, seq: int, hashed: str, *, restored: bool = False) -> None:
        """Remember the newest entry, durably; only of a restored ledger an earlier one."""

    def seen(self) -> Newest | None:
        """Number and hash of the newest entry that was noted; None if the ledger is new to it."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Witness file of one line beside the ledger: the newest entry seen of it.

    Who reads while another process writes may find the one half of an old line and the other one of
    a new: a line ends with its checksum, and one that does not fit is no witness.
    """

    path: Path

    def note(self, seq: int, hashed: str) -> None:
        """Remember the newest entry, if that is possible."""
        try:
            handle = open_here(self.path, os.O_WRONLY | os.O_CREAT, 0o644)
            try:
                os.write(handle, _line(seq, hashed))  # always of one length
            finally:
                os.close(handle)
        except OSError:
            pass

    def seen(self) -> Newest | None:
        """Number and hash of the newest entry that was noted."""
        try:
            handle = open_here(self.path, os.O_RDONLY)
            try:
                return _read(os.read(handle, _LENGTH + 1))
            finally:
                os.close(handle)
        except LedgerUnavailable:
            raise
        except OSError:
            return None


def has_outside_witness() -> bool:
    """Whether a witness outside the ledger's folder is named."""
    return bool(os.environ.get(WITNESS))


def outside_witness(first: str) -> OutsideWitness | None:
    """The witness outside the ledger's folder, by the hash of its first entry; None if unnamed."""
    if not has_outside_witness():
        return None
    place = os.environ[WITNESS]
    if place.startswith("git:"):
        return _BranchWitness(place, first)
    if "://" in place:
        from holdfast.ledger.web_witness import WebWitness  # few ledgers need what it loads

        return WebWitness.at(place, first)
    folder = Path(place)
    if not folder.is_absolute():
        raise InvalidArgument(
            f"{WITNESS} is {place!r}, which is another folder wherever a command is started; name "
            f"it from the root, as in {str(folder.absolute())!r}. Nothing was shown or spent."
        )
    return _FolderWitness(folder / first)


@dataclass(frozen=True, slots=True)
class _FolderWitness:
    """Folder with a file for each ledger, replaced whole: no half of a line is ever read."""

    path: Path

    def note(self, seq: int, hashed: str, *, restored: bool = False) -> None:
        if not restored and goes_back(self.path, self.seen(), seq, hashed):
            return
        try:
            replace_whole(self.path, _line(seq, hashed))
        except OSError as error:
            raise out_of_reach(self.path, error) from error

    def seen(self) -> Newest | None:
        try:
            content = read_here(self.path)
        except FileNotFoundError as error:
            if not self.path.parent.is_dir():
                raise out_of_reach(self.path, error) from error
            return None
        except LedgerUnavailable:
            raise
        except OSError as error:
            raise out_of_reach(self.path, error) from error
        return undamaged(self.path, _read(content))


@dataclass(frozen=True)
class _BranchWitness:
    """Branch of a git remote with a file for each ledger: every note is a commit that is pushed.

    A push moves the branch from the very commit that was read, or is refused and done again.
    """

    address: str
    first: str

    def note(self, seq: int, hashed: str, *, restored: bool = False) -> None:
        with closing(self._repository()) as repository:
            for _ in range(TRIES):
                commit, newest = self._newest(repository)
                back = not restored and goes_back(self, newest, seq, hashed)
                if back or newest == (seq, hashed):
                    return
                files = {self.first: _line(seq, hashed)}
                try:
                    repository.push(repository.commit(commit, f"Saw {seq}", files), commit)
                except LostRace:
                    continue
                return
        raise out_of_reach(self.address, "others were quicker every time")

    def seen(self) -> Newest | None:
        with closing(self._repository()) as repository:
            return self._newest(repository)[1]

    def _newest(self, repository: Repository) -> tuple[str | None, Newest | None]:
        commit = repository.fetch()
        blob = None if commit is None else repository.files(commit).get(self.first)
        if blob is None:
            return commit, None
        return commit, undamaged(self, _read(repository.content(blob)))

    def _repository(self) -> Repository:
        from holdfast.ledger.git import GitHome, Repository

        class Home(GitHome):
            """A branch of notes, which refuses in the words of a witness."""

            def unreachable(self, failure: Exception) -> LedgerUnavailable:
                return out_of_reach(self, failure)

            refused = unreachable

        try:
            return Repository(Home.named(self.address))
        except InvalidArgument as error:
            raise InvalidArgument(f"{WITNESS}: {error}") from None

    def __str__(self) -> str:
        return f"{self.address}, {self.first}"


def goes_back(place: object, newest: Newest | None, seq: int, hashed: str) -> bool:
    """Whether an earlier entry than the newest would be noted; refused if another one would be."""
    if newest is not None and newest[0] == seq and newest[1] != hashed:
        raise LedgerTampered(
            f"the witness {str(place)!r} saw another entry {seq:,}: a copy of this ledger is in "
            "use as well, and each misses what the other answered. Nothing was shown; go on with "
            f"the copy that the witness saw. {RESTORE}"
        )
    return newest is not None and newest[0] > seq


def _line(seq: int, hashed: str) -> bytes:
    content = f"{seq:>15} {hashed}".encode()
    return b"%s %08x\n" % (content, zlib.crc32(content))


def _read(line: bytes) -> Newest | None:
    """What a line says; None if it is none that was written."""
    match = _TEXT.fullmatch(line)
    if match is None or int(match[4], 16) != zlib.crc32(match[1]):
        return None
    return int(match[2]), match[3].decode()


def undamaged(place: object, newest: Newest | None) -> Newest:
    """What a note says; refused if it says nothing."""
    if newest is None:
        raise NoteDamaged(
            f"the witness's note {str(place)!r} is damaged, so that nobody knows whether entries "
            "of the ledger are missing. Put it back as it was; if you know that the ledger is "
            "complete, remove the note, and it is written anew."
        )
    return newest


def out_of_reach(place: object, error: object) -> LedgerUnavailable:
    """Refusal where a witness cannot be asked."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return LedgerUnavailable(
        f"the witness {str(place)!r} cannot be used ({reason}); see that what {WITNESS} names is "
        "there and can be written, or unset it. Nothing was shown, and what was recorded is kept: "
        "ask again."
    )


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
            f"put in its place, or its backup was restored elsewhere. {RESTORE}"
        )
