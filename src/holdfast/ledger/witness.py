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

import json
import os
import re
import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable
from holdfast.ledger.chain import RESTORE
from holdfast.ledger.lock import LostRace
from holdfast.ledger.side_files import open_here, read_here, replace_whole

if TYPE_CHECKING:
    from holdfast.ledger.git import Repository

__all__ = [
    "TOKEN",
    "WITNESS",
    "OutsideWitness",
    "Witness",
    "has_outside_witness",
    "outside_witness",
    "require_seen",
]

WITNESS = "HOLDFAST_WITNESS"  # a folder outside the ledger's, git:REMOTE/BRANCH, or https://...
TOKEN = "HOLDFAST_WITNESS_TOKEN"  # what a service asks for, if it does

_LENGTH = 15 + 1 + 64 + 1 + 8 + 1  # number, hash, checksum and the end of the line
_TEXT = re.compile(rb"( *(\d+) ([0-9a-f]{64})) ([0-9a-f]{8})\n")
_HASH = re.compile("[0-9a-f]{64}")
_TRIES = 20  # of a note that others are quicker with
_PATIENCE = 30.0  # seconds for one request
_MOST = 4096  # bytes of an answer

_Newest = tuple[int, str]  # number and hash of an entry


class OutsideWitness(Protocol):
    """Witness that is not restored with the ledger: it knows, or refuses."""

    def note(self, seq: int, hashed: str, *, restored: bool = False) -> None:
        """Remember the newest entry, durably; only of a restored ledger an earlier one."""

    def seen(self) -> _Newest | None:
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

    def seen(self) -> _Newest | None:
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
        return _WebWitness.at(place, first)
    return _FolderWitness(Path(place, first))


@dataclass(frozen=True, slots=True)
class _FolderWitness:
    """Folder with a file for each ledger, replaced whole: no half of a line is ever read."""

    path: Path

    def note(self, seq: int, hashed: str, *, restored: bool = False) -> None:
        if not restored and _goes_back(self.seen(), seq):
            return
        try:
            replace_whole(self.path, _line(seq, hashed))
        except OSError as error:
            raise _out_of_reach(self.path, error) from error

    def seen(self) -> _Newest | None:
        try:
            content = read_here(self.path)
        except FileNotFoundError as error:
            if not self.path.parent.is_dir():
                raise _out_of_reach(self.path, error) from error
            return None
        except LedgerUnavailable:
            raise
        except OSError as error:
            raise _out_of_reach(self.path, error) from error
        return _undamaged(self.path, _read(content))


@dataclass(frozen=True)
class _BranchWitness:
    """Branch of a git remote with a file for each ledger: every note is a commit that is pushed.

    A push moves the branch from the very commit that was read, or is refused and done again.
    """

    address: str
    first: str

    def note(self, seq: int, hashed: str, *, restored: bool = False) -> None:
        with closing(self._repository()) as repository:
            for _ in range(_TRIES):
                commit, newest = self._newest(repository)
                if newest == (seq, hashed) or (not restored and _goes_back(newest, seq)):
                    return
                files = {self.first: _line(seq, hashed)}
                try:
                    repository.push(repository.commit(commit, f"Saw {seq}", files), commit)
                except LostRace:
                    continue
                return
        raise _out_of_reach(self.address, "others were quicker every time")

    def seen(self) -> _Newest | None:
        with closing(self._repository()) as repository:
            return self._newest(repository)[1]

    def _newest(self, repository: Repository) -> tuple[str | None, _Newest | None]:
        commit = repository.fetch()
        blob = None if commit is None else repository.files(commit).get(self.first)
        if blob is None:
            return commit, None
        return commit, _undamaged(self, _read(repository.content(blob)))

    def _repository(self) -> Repository:
        from holdfast.ledger.git import GitHome, Repository

        class Home(GitHome):
            """A branch of notes, which refuses in the words of a witness."""

            def unreachable(self, failure: Exception) -> LedgerUnavailable:
                return _out_of_reach(self, failure)

            refused = unreachable

        try:
            return Repository(Home.named(self.address))
        except InvalidArgument as error:
            raise InvalidArgument(f"{WITNESS}: {error}") from None

    def __str__(self) -> str:
        return f"{self.address}, {self.first}"


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class _WebWitness:
    """Service that keeps a JSON document for each ledger, at an address of its own.

    GET says {"entry": 9, "hash": ...} and its ETag, or 404. PUT has the ETag that was read in
    If-Match, or If-None-Match: * for a new document; 412 says that another was quicker.
    """

    address: str
    token: str | None = field(default=None, repr=False)

    @classmethod
    def at(cls, address: str, first: str) -> _WebWitness:
        """By the address of all notes, which is refused where others could read or change them."""
        parts = urlsplit(address)
        near = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
        if (parts.scheme != "https" and not near) or "@" in parts.netloc:
            raise InvalidArgument(
                f"{WITNESS} names a service by https:// (http:// on this machine alone), without "
                f"user or password, which belong into {TOKEN}; or a folder, or git:REMOTE/BRANCH."
            )
        return cls(f"{address.rstrip('/')}/{first}", os.environ.get(TOKEN) or None)

    def note(self, seq: int, hashed: str, *, restored: bool = False) -> None:
        content = json.dumps({"entry": seq, "hash": hashed}).encode()
        for _ in range(_TRIES):
            tag, newest = self._newest()
            if newest == (seq, hashed) or (not restored and _goes_back(newest, seq)):
                return
            condition = {"If-None-Match": "*"} if tag is None else {"If-Match": tag}
            status, _, _ = self._reply("PUT", content, condition)
            if status in (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT):
                return
            if status != HTTPStatus.PRECONDITION_FAILED:
                raise _out_of_reach(self.address, f"PUT is answered by {status}")
        raise _out_of_reach(self.address, "others were quicker every time")

    def seen(self) -> _Newest | None:
        return self._newest()[1]

    def _newest(self) -> tuple[str | None, _Newest | None]:
        status, tag, content = self._reply("GET")
        if status == HTTPStatus.NOT_FOUND:
            return None, None
        if status != HTTPStatus.OK:
            raise _out_of_reach(self.address, f"GET is answered by {status}")
        if tag is None or tag.startswith("W/"):
            raise _out_of_reach(self.address, "it gives no strong ETag to compare by")
        try:
            match json.loads(content):
                case {"entry": int(seq), "hash": str(hashed)} if _HASH.fullmatch(hashed):
                    return tag, (seq, hashed)
        except (ValueError, RecursionError):
            pass
        return tag, _undamaged(self.address, None)

    def _reply(
        self, method: str, content: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str | None, bytes]:
        request = Request(self.address, content, headers or {}, method=method)
        if content is not None:
            request.add_header("Content-Type", "application/json")
        if self.token is not None:
            request.add_unredirected_header("Authorization", f"Bearer {self.token}")
        try:
            with self._opener.open(request, timeout=_PATIENCE) as reply:
                return reply.status, reply.headers.get("ETag"), reply.read(_MOST)
        except HTTPError as error:
            with error:
                return error.code, None, b""
        except (OSError, HTTPException, ValueError) as error:
            raise _out_of_reach(self.address, error) from error

    @cached_property
    def _opener(self) -> Any:
        return build_opener(_NoRedirects)


def _goes_back(newest: _Newest | None, seq: int) -> bool:
    return newest is not None and newest[0] > seq


def _line(seq: int, hashed: str) -> bytes:
    content = f"{seq:>15} {hashed}".encode()
    return b"%s %08x\n" % (content, zlib.crc32(content))


def _read(line: bytes) -> _Newest | None:
    """What a line says; None if it is none that was written."""
    match = _TEXT.fullmatch(line)
    if match is None or int(match[4], 16) != zlib.crc32(match[1]):
        return None
    return int(match[2]), match[3].decode()


def _undamaged(place: object, newest: _Newest | None) -> _Newest:
    if newest is None:
        raise LedgerTampered(
            f"the witness's note {str(place)!r} is damaged, so that nobody knows whether entries "
            "of the ledger are missing. Put it back as it was; if you know that the ledger is "
            "complete, remove the note, and it is written anew."
        )
    return newest


def _out_of_reach(place: object, error: object) -> LedgerUnavailable:
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
