"""Lock of a ledger: one writer at a time, of all threads and, within that, of all processes."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from holdfast.errors import LedgerBusy, LedgerUnavailable
from holdfast.ledger.backend import Keeper

if TYPE_CHECKING:
    from holdfast.ledger.store import Store

_T = TypeVar("_T")
_SHORTEST, _LONGEST = 0.02, 2.0  # seconds between two attempts


class ExclusiveLock:
    """The lock of a store's ledger against other threads and, within that, other processes."""

    def __init__(self, store: Store, timeout: float) -> None:
        self.thread = threading.get_ident()
        self._store, self._timeout, self._wanted = store, timeout, False

    def __enter__(self) -> None:
        try:
            self._take()
        except BaseException:
            self.free()
            raise

    def __exit__(self, *_: object) -> None:
        self.free()

    def _take(self) -> None:
        store = self._store
        store.require_usable()
        if store.holder is not None and store.holder.thread == self.thread:
            raise LedgerBusy(
                f"the ledger {str(store.home)!r} is answering a question in this very thread; "
                "nothing was asked and nothing was spent. Ask when that one is answered."
            )
        self._wanted = True  # before it is had: nobody is told of an interrupt in between
        if not store.turn.acquire(timeout=self._timeout):
            raise busy(store.home, self._timeout)
        store.holder = self
        store.keeper.hold(self._timeout)

    def free(self) -> None:
        """Free what was taken, however far that had come; twice does no harm."""
        store = self._store
        if not self._wanted:
            return
        if store.holder is self:
            with store.guard:
                store.keeper.let_go()
            store.holder = None
        with suppress(RuntimeError):  # if the turn is not this thread's
            store.turn.release()
        self._wanted = False


@contextmanager
def held(keeper: Keeper, timeout: float) -> Iterator[None]:
    """Hold the cross-process lock."""
    try:
        keeper.hold(timeout)
        yield
    finally:
        keeper.let_go()


def busy(ledger: object, timeout: float) -> LedgerBusy:
    """Timeout: somebody else holds the lock."""
    return LedgerBusy(
        f"someone else has held the ledger {str(ledger)!r} for {timeout:g} s; nothing was asked "
        "and nothing was spent. Try again, or wait longer."
    )


def lock_in_use(path: Path) -> LedgerUnavailable:
    """Lock file that is none: it must be empty, for nobody ever writes in it."""
    return LedgerUnavailable(
        f"the lock {str(path)!r} is no empty file, as the lock of a ledger is; the ledger itself "
        "is as it was. See that nobody uses the ledger, and remove the lock. Nothing was asked or "
        "spent."
    )


def overtaken(ledger: object, after: int) -> LedgerUnavailable:
    """Lock that was lost without notice: others went on meanwhile."""
    return LedgerUnavailable(
        f"the ledger {str(ledger)!r} no longer ends with entry {after:,}: another process went on "
        "while this one had lost its hold. Nothing was written; ask again."
    )


# Homes without a lock that all machines share: whoever writes first wins, and the others begin
# again from what it wrote.


class LostRace(LedgerUnavailable):
    """Another machine wrote first: nothing was written here, and what was computed is dropped."""

    def __init__(self, ledger: object) -> None:
        super().__init__(
            f"another machine went on with the ledger {str(ledger)!r} first, again and again; "
            "nothing was written or shown. Ask again, or let jobs wait for each other."
        )


def retried(work: Callable[[], _T], timeout: float = 60.0) -> _T:
    """Result of some work, begun anew from the newer entries whenever a race is lost."""
    deadline = time.monotonic() + timeout
    for attempt in count():
        try:
            return work()
        except LostRace:
            if time.monotonic() >= deadline:
                raise
        longest = min(_LONGEST, _SHORTEST * 2 ** min(attempt, 30))
        time.sleep(random.uniform(0.0, longest))
    raise RuntimeError("count() ended")  # pragma: no cover
