"""Backend protocol: what a database must offer to hold the rows of a ledger.

A SQLite file, a PostgreSQL database and a branch of git do. They say what stands there and write
what they are given, whole or not at all; whether it is in order is for the reader to find out
(`store.Reader`), who knows the chain and the secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from holdfast.ledger.chain import Row
from holdfast.ledger.checkpoint import SealedPlace


@dataclass(frozen=True, slots=True)
class Addition:
    """Commit: what is added to a ledger that ends with entry `after`, whose hash is `head`.

    `moved` is what that ledger is marked with (see `Keeper.moved`): None of one that is in use.
    """

    after: int
    head: str
    rows: Sequence[Row]
    seal: str
    filed: Sequence[SealedPlace] = ()
    checkpoint: tuple[str, str] | None = None
    moved: str | None = None


class Records(Protocol):
    """A ledger to be read, as it stands."""

    def tail(self, after: int) -> tuple[str | None, list[Row]]:
        """The seal, and the entries from number `after` on, in order: both of one moment."""
        ...

    def entries(self, first: int, last: int) -> list[Row]:
        """The entries of these numbers, in order."""
        ...

    def filed(self, question: str) -> list[SealedPlace]:
        """Places filed under the digest of a question, in order."""
        ...

    def all_filed(self) -> list[tuple[SealedPlace, str | None]]:
        """Places filed, each with the hash of its entry."""
        ...

    def checkpoint(self) -> tuple[str, str, Row] | None:
        """The checkpoint's text and seal, and the first entry."""
        ...

    def file(self, name: str) -> bytes | None:
        """Content stored under this name, an attached column; None if there is nothing."""
        ...

    def file_name(self, name: str) -> str:
        """Name of a stored file, for messages."""
        ...

    def file_names(self) -> list[str]:
        """The names under which something is kept, sorted."""
        ...


class Keeper(Protocol):
    """A ledger to be written, by one at a time."""

    @property
    def records(self) -> Records:
        """The same ledger, to be read."""
        ...

    def hold(self, timeout: float) -> None:
        """Take the cross-process lock; whoever is interrupted meanwhile calls `let_go`."""
        ...

    def let_go(self) -> None:
        """Free the lock, and end what was begun and not finished under it; twice does no harm."""
        ...

    def append(self, addition: Addition) -> None:
        """Write it, durably when this returns, or nothing of it.

        Refused unless the ledger ends with the very entry that it follows: who lost hold of the
        ledger without noticing cannot write over whoever went on. Refused, too, if it was moved
        otherwise than the addition says.
        """
        ...

    def keep_file(self, name: str, content: bytes) -> None:
        """Keep content under a name, durably when this returns; the same may be kept again."""
        ...

    def moved(self) -> str | None:
        """Mark of a move, "to ..." or "from ..."; None if the ledger is in use here."""
        ...

    def mark_moved(self, how: str | None) -> None:
        """Mark a move, durably when this returns; nothing more is asked of the ledger here."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


@runtime_checkable
class LedgerHome(Protocol):
    """Home of a ledger. Its text names it in messages, and holds no password."""

    @property
    def address(self) -> str:
        """Address that opens it again, in another process too."""
        ...

    @property
    def secret(self) -> Path | bytes | None:
        """The file of its secret, if that was named; or the secret itself."""
        ...

    @property
    def stem(self) -> str:
        """Default name of its holdout."""
        ...

    def beside(self, suffix: str) -> Path:
        """A file of this machine that belongs to the ledger: its `secret`, what was `newest`."""
        ...

    def neighbours(self) -> list[LedgerHome]:
        """The ledgers that are kept in the same place, as far as this user may know them."""
        ...

    def is_there(self) -> bool:
        """Whether there is a ledger, or anything else in its place."""
        ...

    def create(self, secret: bytes, first: Addition, timeout: float) -> None:
        """Make the ledger with its secret, whole or not at all; one that is there stays."""
        ...

    def keeper(self) -> Keeper:
        """The ledger, to be read and written; refused if there is none."""
        ...

    def records(self) -> AbstractContextManager[Records]:
        """The ledger, to be looked at, on read-only media too; refused if there is none."""
        ...
