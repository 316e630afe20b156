"""Store: a ledger, opened; its entries in order and sealed, whatever keeps their rows.

One writer at a time holds the ledger's lock (`lock`) over reserve, data and settle, and a commit
that returned is durable. What is sealed is sealed with the ledger's secret (`secret`).
"""

from __future__ import annotations

import os
import secrets
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from holdfast.data.database import is_database_url
from holdfast.errors import InvalidArgument, LedgerTampered, LedgerUnavailable
from holdfast.ledger import checkpoint as filing
from holdfast.ledger.backend import Addition, Keeper, LedgerHome, Records
from holdfast.ledger.chain import GENESIS, RESTORE, Row, chained, seal, verify
from holdfast.ledger.checkpoint import (
    Filed,
    FiledAnswer,
    StoredCheckpoint,
    sealed_checkpoint,
    sealed_places,
)
from holdfast.ledger.lock import ExclusiveLock
from holdfast.ledger.secret import SECRET_BYTES, SECRET_VARIABLE, known_secret, secret_itself
from holdfast.ledger.side_files import was_moved
from holdfast.ledger.sqlite import FileHome
from holdfast.ledger.witness import (
    OutsideWitness,
    Witness,
    has_outside_witness,
    outside_witness,
    require_seen,
)

_T = TypeVar("_T")


# Where a ledger is, from what people call it.


GIT = "git:"  # how the address of a branch begins: git:REMOTE/BRANCH


def is_git_address(ledger: object) -> bool:
    """Whether something names a branch that is a ledger."""
    return isinstance(ledger, str) and ledger.startswith(GIT)


def is_address(ledger: object) -> bool:
    """Whether something names a ledger in a database or a branch, and no file."""
    return is_database_url(ledger) or is_git_address(ledger)


def home_of(ledger: str | Path | LedgerHome, secret: str | Path | None = None) -> LedgerHome:
    """The home of a ledger that is named by its file, or by its address in a database or a branch.

    `secret` is the secret's file, if that is elsewhere.
    """
    if isinstance(ledger, LedgerHome):
        return ledger
    if isinstance(ledger, str) and is_git_address(ledger):
        from holdfast.ledger.git import GitHome

        return GitHome.named(ledger, secret)
    if secret_itself(secret) is not None:
        raise InvalidArgument(
            f"{SECRET_VARIABLE} (secret=) is a secret itself, as a ledger in a branch has it; this "
            "ledger has it in a file: say which one, or leave it out."
        )
    if isinstance(ledger, str) and is_database_url(ledger):
        from holdfast.ledger.postgres import DatabaseHome

        return DatabaseHome.named(ledger, secret)
    return FileHome.named(ledger, secret)


# A ledger that is read: its entries in order and sealed, its checkpoint, its answers by question.
#
# `look` opens one that is only looked at, on read-only media too: it takes no lock and writes no
# witness, and without the secret it does all that needs none and says what was not compared.


class Reader:
    """Reader of a ledger's rows. `guard` is held while they are read.

    Without the `secret` no seal is compared, and so no checkpoint and no filed answer is believed.
    A backup is not `witnessed`: it may be older than what was seen.
    """

    def __init__(
        self, home: LedgerHome, secret: bytes | None, records: Records, *, witnessed: bool = True
    ) -> None:
        self.home = home
        self.secret = secret
        self.guard = threading.RLock()
        self._witnessed = witnessed
        self._own_witness = Witness(home.beside("newest"))
        self._records = records

    @property
    def unchecked(self) -> str | None:
        """Warning of what was not compared for want of the secret."""
        if self.secret is not None:
            return None
        return (
            "its secret is not here or cannot be read, so that an end cut off or written by hand "
            "would not be noticed."
        )

    @property
    def outside(self) -> OutsideWitness | None:
        """The witness outside the ledger's folder, if one is named."""
        if not self._witnessed or not has_outside_witness():
            return None  # the first entry is read for its name alone
        with self.guard:
            rows = self._records.entries(1, 1)
        return outside_witness(rows[0][2]) if rows else None

    def note(self, seq: int, hashed: str) -> None:
        """Tell the witnesses the newest entry."""
        for witness in self._witnesses():
            witness.note(seq, hashed)

    def _witnesses(self) -> list[Witness | OutsideWitness]:
        own: list[Witness | OutsideWitness] = [self._own_witness] if self._witnessed else []
        outside = self.outside
        return own if outside is None else [*own, outside]

    def news(self, after: int = 0, head: str = GENESIS) -> list[Row]:
        """The entries that follow entry `after` (whose hash is `head`): in order and sealed."""
        # Before the entries are read: others may be adding some.
        notes = [witness.seen() for witness in self._witnesses()]
        with self.guard:
            sealed, rows = self._records.tail(after)
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
        for newest in notes:
            require_seen(newest, rows, after)
        return rows

    def look_up(self, question: str, newest: int | None = None) -> list[filing.FiledAnswer]:
        """The answers to a question, or the newest of them, without reading the history."""
        if self.secret is None:
            return []
        with self.guard:
            places = self._records.filed(filing.digest_of(question))
            return [
                filing.answer_at(
                    self.secret, question, place, self._records.entries(place[1] - 2, place[1])
                )
                for place in (places[-newest:] if newest else places)
            ]

    def checkpoint(self) -> filing.StoredCheckpoint | None:
        """The checkpoint, if there is one."""
        notes = [witness.seen() for witness in self._witnesses()]
        with self.guard:
            for newest in filter(None, notes):  # it may lie before the checkpoint
                rows = self._records.entries(newest[0], newest[0])
                require_seen(newest if rows else None, rows, newest[0] - 1)
            stored = None if self.secret is None else self._records.checkpoint()
        if self.secret is None or stored is None:
            return None
        return filing.checkpoint_at(self.secret, *stored)

    def filed(self) -> list[filing.FiledPlace]:
        """Places of all answers, as they were sealed."""
        with self.guard:
            stored = self._records.all_filed()
        return [filing.place_at(self.secret, place, hashed) for place, hashed in stored]

    def file(self, name: str) -> bytes | None:
        """Content stored under a name beside the entries; None if there is nothing."""
        with self.guard:
            return self._records.file(name)

    def file_name(self, name: str) -> str:
        """Name of a stored file, for messages."""
        return self._records.file_name(name)


@contextmanager
def look(ledger: str | Path | LedgerHome) -> Iterator[Reader]:
    """A ledger to be looked at: no entry, no lock and no witness is written."""
    home = home_of(ledger)
    with home.records() as records:
        secret = None
        with suppress(LedgerUnavailable):
            secret = known_secret(home)
        yield Reader(home, secret, records)


def _after(rows: list[Row], seq: int, hashed: str) -> list[Row]:
    """The rows after the first, which must be the entry that was read before."""
    if not rows or (rows[0][0], rows[0][2]) != (seq, hashed):
        raise LedgerTampered(
            f"entry {seq} of the ledger, read before, is gone or changed. {RESTORE}"
        )
    return rows[1:]


class Store:
    """One ledger. What was read from it is remembered by the transcript, not here.

    Threads may share a store. `guard` is held for the moments in which a transcript and the ledger
    must agree, never while rows are read: who only looks does not wait for a scan.
    """

    def __init__(self, home: LedgerHome, secret: bytes, keeper: Keeper) -> None:
        self.home = home
        self.secret = secret
        self._process, self._closed = os.getpid(), False
        self.keeper = keeper
        self._reader = Reader(home, secret, keeper.records)
        self.guard = self._reader.guard
        self.turn = threading.RLock()  # of the thread that asks; taken before the guard
        self.holder: ExclusiveLock | None = None  # what the thread whose turn it is asks under
        # A store that nobody holds any more lets go of its ledger by itself, and quietly.
        weakref.finalize(self, _let_go, self._process, keeper)

    @classmethod
    def create(
        cls,
        ledger: str | Path | LedgerHome,
        opening: Callable[[bytes], dict[str, Any]],
        timeout: float,
    ) -> None:
        """Make a ledger, whole or not at all; `opening` says its first entry, given its secret.

        If another process was quicker, its ledger stays.
        """
        home = home_of(ledger)
        own_secret = home.secret if isinstance(home.secret, bytes) else None
        secret = own_secret or secrets.token_bytes(SECRET_BYTES)
        rows = chained([opening(secret)], 0, GENESIS)
        home.create(secret, _addition(secret, 0, GENESIS, rows), timeout)

    @classmethod
    def open(cls, ledger: str | Path | LedgerHome) -> Store:
        """An existing ledger; nothing is verified until `news` is read."""
        home = home_of(ledger)
        keeper = home.keeper()
        try:
            moved = keeper.moved()
            if moved is not None:
                raise was_moved(home, moved)
            return cls(home, known_secret(home), keeper)
        except BaseException:
            keeper.close()
            raise

    def exclusively(self, timeout: float, work: Callable[[], _T]) -> _T:
        """Result of some work under the lock: no other of all threads and processes overlaps it.

        An interrupt can strike anywhere, in what ends a `with` as well: the lock is freed a second
        time, if it has to be.
        """
        lock = self.exclusive(timeout)
        try:
            with lock:
                return work()
        finally:
            lock.free()

    def exclusive(self, timeout: float) -> ExclusiveLock:
        """The lock by which one, of all threads and processes, asks questions of this ledger."""
        return ExclusiveLock(self, timeout)

    def news(self, after: int = 0, head: str = GENESIS) -> list[Row]:
        """The entries that follow entry `after` (whose hash is `head`): in order and sealed."""
        self.require_usable()
        rows = self._reader.news(after, head)
        holder = self.holder
        if holder is None or holder.thread != threading.get_ident():
            return rows
        # Only who holds the lock: nobody else goes on meanwhile.
        outside = self._reader.outside
        if outside is not None:
            newest = (rows[-1][0], rows[-1][2]) if rows else (after, head)
            if outside.seen() != newest:
                outside.note(*newest)
        return rows

    def look_up(self, question: str, newest: int | None = None) -> list[FiledAnswer]:
        """The answers to a question, or the newest of them, without reading the history."""
        self.require_usable()
        return self._reader.look_up(question, newest)

    def checkpoint(self) -> StoredCheckpoint | None:
        """The checkpoint, if there is one."""
        self.require_usable()
        return self._reader.checkpoint()

    def append(
        self,
        entries: Sequence[tuple[dict[str, Any], Sequence[Filed]]],
        after: int,
        head: str,
        checkpoint: str | None = None,
    ) -> list[Row]:
        """Write the entries that follow entry `after`, all durable when this returns, or none.

        With each, what is to be found of it is filed, and with all a `checkpoint` of what was
        before them. To be called under `exclusive`, with all news read.
        """
        rows = chained([body for body, _ in entries], after, head)
        filed = [filed for _, filed in entries]
        addition = _addition(self.secret, after, head, rows, filed, checkpoint)
        with self.guard:
            self.keeper.append(addition)
        seq, _, hashed = rows[-1]
        self._reader.note(seq, hashed)
        return rows

    def file(self, name: str) -> bytes | None:
        """Content stored under a name beside the entries; None if there is nothing."""
        self.require_usable()
        return self._reader.file(name)

    def file_name(self, name: str) -> str:
        """Name of a stored file, for messages."""
        return self._reader.file_name(name)

    def keep_file(self, name: str, content: bytes) -> None:
        """Keep content under a name beside the entries, durably when this returns."""
        self.require_usable()
        with self.guard:
            self.keeper.keep_file(name, content)

    def require_usable(self) -> None:
        """Refuse a store that is closed, or that a fork took along from another process.

        To be called before any lock is waited for: a fork may have copied one that is held.
        """
        if self._forked:
            raise LedgerUnavailable(
                f"the ledger {str(self.home)!r} was opened by process {self._process}, of which "
                "this one is a fork: what reads tables hangs in forks. Start processes by 'spawn' "
                "or 'forkserver' and open it there. Nothing was asked and nothing was spent."
            )
        if self._closed:
            raise LedgerUnavailable(f"the ledger {str(self.home)!r} is closed; open it again.")

    @property
    def _forked(self) -> bool:
        return os.getpid() != self._process

    def close(self) -> None:
        """Let go of the ledger; in a fork it is left to the process that opened it."""
        if self._forked:
            return
        with self.turn, self.guard:
            self._closed = True
            self.keeper.close()


def _let_go(process: int, keeper: Keeper) -> None:
    if os.getpid() == process:
        keeper.close()


def _addition(
    secret: bytes,
    after: int,
    head: str,
    rows: Sequence[Row],
    filed: Sequence[Sequence[Filed]] = (),
    checkpoint: str | None = None,
) -> Addition:
    """Entries with everything that is sealed in their commit."""
    seq, _, hashed = rows[-1]
    places = [
        place
        for row, answers in zip(rows, filed, strict=False)
        for place in sealed_places(secret, answers, row)
    ]
    sealed = None if checkpoint is None else sealed_checkpoint(secret, checkpoint)
    return Addition(after, head, rows, seal(secret, seq, hashed), places, sealed)
