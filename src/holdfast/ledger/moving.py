"""A ledger moves: every entry, answer and column goes elsewhere, and nothing is asked of it here.

At no moment can both be asked: that would be two budgets for one table. So the source is closed
first; the copy is made closed, in one commit, and opened last. Whoever is interrupted in between
does it again, and it goes on from there.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from holdfast.errors import InvalidArgument, LedgerTampered
from holdfast.ledger.chain import GENESIS, RESTORE, seal
from holdfast.ledger.homes import home_of
from holdfast.ledger.reader import Reader, known_secret
from holdfast.ledger.records import Addition, Keeper, LedgerHome, Records
from holdfast.ledger.trouble import was_moved
from holdfast.ledger.whereabouts import note, recall

__all__ = ["move"]


def move(
    source: str | Path | LedgerHome, target: str | Path | LedgerHome, timeout: float = 60.0
) -> int:
    """Copy a ledger with all that belongs to it, verify the copy, and retire the source.

    Returns the number of entries. The target has the same secret, so that it goes on with the same
    noise as the source would have.
    """
    here, there = home_of(source), home_of(target)
    if str(here) == str(there):
        raise InvalidArgument(f"the ledger {str(here)!r} is there already.")
    secret = known_secret(here)
    with closing(here.keeper()) as keeper, keeper.held(timeout):
        before, gone = keeper.moved(), f"to {there}"
        if before not in (None, gone):
            raise was_moved(here, before or "")
        whole = _everything(Reader(here, secret, keeper.records), keeper.records, secret)
        keeper.mark_moved(gone)
        try:
            there.create(secret, whole, timeout, f"from {here}")
            copy = there.keeper()
        except BaseException:
            keeper.mark_moved(before)
            raise
        with closing(copy), copy.held(timeout):
            if before is not None and copy.moved() is None:
                return len(whole.rows)  # it had been moved, and may have gone on since
            try:
                _require_copy(copy, here, there)
                for name in keeper.records.file_names():
                    copy.keep_file(name, keeper.records.file(name) or b"")
                _require_same(keeper.records, copy.records)
            except BaseException:
                keeper.mark_moved(before)
                raise
            copy.mark_moved(None)
    known = recall(here, secret)
    if known is not None:
        note(there, secret, known)
    return len(whole.rows)


def _everything(reader: Reader, records: Records, secret: bytes) -> Addition:
    """All that the ledger says, verified."""
    rows, kept = reader.news(), records.checkpoint()
    reader.kept(), reader.filed()
    seq, _, hashed = rows[-1]
    filed = [place for place, _ in records.all_filed()]
    checkpoint = None if kept is None else kept[:2]
    return Addition(0, GENESIS, rows, seal(secret, seq, hashed), filed, checkpoint)


def _require_copy(copy: Keeper, here: LedgerHome, there: LedgerHome) -> None:
    """Refuse another ledger in the place of the copy."""
    if copy.moved() != f"from {here}":
        raise InvalidArgument(
            f"there is already a ledger {str(there)!r}, and it is another one; name a place where "
            "there is none. Nothing was moved."
        )


def _require_same(source: Records, copy: Records) -> None:
    """Refuse a copy that does not say the very same."""
    same = (
        source.tail(0) == copy.tail(0)
        and sorted(source.all_filed(), key=str) == sorted(copy.all_filed(), key=str)
        and source.checkpoint() == copy.checkpoint()
        and all(source.file(name) == copy.file(name) for name in source.file_names())
    )
    if not same:
        raise LedgerTampered(f"the copy of the ledger is not the ledger. {RESTORE}")
