"""Trouble with the ledger's file in our words: busy, out of reach, or damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.errors import HoldfastError, LedgerBusy, LedgerTampered, LedgerUnavailable
from holdfast.ledger.chain import RESTORE

__all__ = ["busy", "newer_tables", "overtaken", "plainly", "unavailable", "was_moved"]

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
# Failures of the disk, the folder or its permissions: the ledger itself may be in order.
_OUTSIDE = {
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_MISUSE,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}


@contextmanager
def plainly(ledger: object) -> Iterator[None]:
    """SQLite's errors in our words; one that quotes damaged text is itself not readable."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _in_our_words(ledger, error) from error


def _in_our_words(ledger: object, error: Exception) -> HoldfastError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code in _BUSY:
        return LedgerBusy(
            f"another program holds the ledger {str(ledger)!r} ({error}); what was recorded is "
            "kept. Try again when it is done."
        )
    if code in _OUTSIDE or isinstance(error, sqlite3.ProgrammingError):
        return unavailable(ledger, error)
    return LedgerTampered(f"the ledger {str(ledger)!r} is damaged ({error}). {RESTORE}")


def busy(ledger: object, timeout: float) -> LedgerBusy:
    return LedgerBusy(
        f"someone else has held the ledger {str(ledger)!r} for {timeout:g} s; nothing was asked "
        "and nothing was spent. Try again, or wait longer."
    )


def was_moved(ledger: object, how: str) -> LedgerUnavailable:
    """What is said of a ledger that went elsewhere, or has not wholly arrived."""
    word, _, other = how.partition(" ")
    if word == "to":
        told = f"was moved to {other!r}; open it there"
    else:
        told = f"has not wholly arrived from {other!r}; move it again (holdfast ledger move)"
    return LedgerUnavailable(f"the ledger {str(ledger)!r} {told}. Nothing was asked or spent.")


def overtaken(ledger: object, after: int) -> LedgerUnavailable:
    """What is said to one who did not notice that others went on."""
    return LedgerUnavailable(
        f"the ledger {str(ledger)!r} no longer ends with entry {after:,}: another process went on "
        "while this one had lost its hold. Nothing was written; ask again."
    )


def newer_tables(ledger: object, version: int, known: int) -> LedgerUnavailable:
    """What is said of a ledger that newer software wrote."""
    return LedgerUnavailable(
        f"the ledger {str(ledger)!r} is in tables of version {version}, and this software knows "
        f"them up to {known}; update it. Nothing was written."
    )


def unavailable(ledger: object, error: Exception) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"the ledger {str(ledger)!r} cannot be used ({error}); check that its folder can be "
        "written and that the disk has room. Nothing that was recorded is lost."
    )
