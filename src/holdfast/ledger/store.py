"""A ledger, opened: its entries in order and sealed, whatever keeps their rows (`records`).

One writer at a time holds the ledger over reserve, data and settle, and a commit that returned is
durable. The secret (a file, mode 0600) addresses the noise and seals the newest entry; it is never
in the ledger.
"""

from __future__ import annotations

import os
import secrets
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.errors import LedgerBusy, LedgerUnavailable
from holdfast.ledger.chain import GENESIS, Row, chained, seal
from holdfast.ledger.filing import Filed, Found, Kept, sealed_checkpoint, sealed_places
from holdfast.ledger.homes import home_of
from holdfast.ledger.reader import SECRET_BYTES, Reader, known_secret
from holdfast.ledger.records import Addition, Keeper, LedgerHome
from holdfast.ledger.trouble import busy, was_moved

__all__ = ["Store"]


class Store:
    """One ledger. What was read from it is remembered by the transcript, not here.

    Threads may share a store. `guard` is held for the moments in which a transcript and the ledger
    must agree, never while rows are read: who only looks does not wait for a scan.
    """

    def __init__(self, home: LedgerHome, secret: bytes, keeper: Keeper) -> None:
        self.home = home
        self.secret = secret
        self._process, self._closed, self._answering = os.getpid(), False, False
        self._keeper = keeper
        self._reader = Reader(home, secret, keeper.records)
        self.guard = self._reader.guard
        self._turn = threading.RLock()  # of the thread that asks; taken before the guard
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
        secret = secrets.token_bytes(SECRET_BYTES)
        rows = chained([opening(secret)], 0, GENESIS)
        home_of(ledger).create(secret, _addition(secret, 0, GENESIS, rows), timeout)

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

    @contextmanager
    def exclusive(self, timeout: float) -> Iterator[None]:
        """Be the only one, of all threads and processes, that asks questions of this ledger."""
        self.require_usable()
        if not self._turn.acquire(timeout=timeout):
            raise busy(self.home, timeout)
        try:
            if self._answering:
                raise LedgerBusy(
                    f"the ledger {str(self.home)!r} is answering a question in this very thread; "
                    "nothing was asked and nothing was spent. Ask when that one is answered."
                )
            with self._keeper.held(timeout):
                self._answering = True
                try:
                    yield
                finally:
                    self._answering = False
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
        """Write the entries that follow entry `after`, all durable when this returns, or none.

        With each, what is to be found of it is filed, and with all a `checkpoint` of what was
        before them. To be called under `exclusive`, with all news read.
        """
        rows = chained([body for body, _ in entries], after, head)
        filed = [filed for _, filed in entries]
        addition = _addition(self.secret, after, head, rows, filed, checkpoint)
        with self.guard:
            self._keeper.append(addition)
        seq, _, hashed = rows[-1]
        self._reader.witness.note(seq, hashed)
        return rows

    def file(self, name: str) -> bytes | None:
        """What was kept under a name beside the entries; None if there is nothing."""
        self.require_usable()
        return self._reader.file(name)

    def file_name(self, name: str) -> str:
        """What people call it."""
        return self._reader.file_name(name)

    def keep_file(self, name: str, content: bytes) -> None:
        """Keep content under a name beside the entries, durably when this returns."""
        self.require_usable()
        with self.guard:
            self._keeper.keep_file(name, content)

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
        with self._turn, self.guard:
            self._closed = True
            self._keeper.close()


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
    kept = None if checkpoint is None else sealed_checkpoint(secret, checkpoint)
    return Addition(after, head, rows, seal(secret, seq, hashed), places, kept)
