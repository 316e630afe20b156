"""Move of a ledger: every entry, answer and column goes elsewhere, and none is asked here.

At no moment can both be asked: that would be two budgets for one table. So the source is closed
first; the copy is made closed, in one commit, and opened last. Whoever is interrupted in between
does it again, and it goes on from there.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from holdfast.errors import InvalidArgument, LedgerTampered
from holdfast.ledger.backend import Addition, Keeper, LedgerHome, Records
from holdfast.ledger.chain import GENESIS, RESTORE, seal
from holdfast.ledger.index import note, recall
from holdfast.ledger.lock import held
from holdfast.ledger.secret import known_secret
from holdfast.ledger.side_files import was_moved
from holdfast.ledger.store import Reader, home_of

__all__ = ["everything", "move"]


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
    with closing(here.keeper()) as keeper, held(keeper, timeout):
        before, address = keeper.moved(), f"to {there}"
        if before not in (None, address):
            raise was_moved(here, before or "")
        whole = everything(Reader(here, secret, keeper.records), keeper.records, secret)
        whole = replace(whole, moved=f"from {here}")
        keeper.mark_moved(address)
        try:
            there.create(secret, whole, timeout)
            copy = there.keeper()
        except BaseException:
            keeper.mark_moved(before)
            raise
        with closing(copy), held(copy, timeout):
            if before is not None and copy.moved() is None:
                _require_begun(copy, whole, here, there)
                return len(whole.rows)  # it had been moved, and may have gone on since
            try:
                _require_copy(copy, whole, there)
                _catch_up(copy, whole)
                for name in keeper.records.file_names():
                    copy.keep_file(name, keeper.records.file(name) or b"")
                _require_same(keeper.records, copy.records)
            except BaseException:
                keeper.mark_moved(before)
                raise
            copy.mark_moved(None)
    whereabouts = recall(here, secret)
    if whereabouts is not None:
        note(there, secret, whereabouts)
    return len(whole.rows)


def everything(reader: Reader, records: Records, secret: bytes) -> Addition:
    """Content of a ledger, verified."""
    rows, stored = reader.news(), records.checkpoint()
    reader.checkpoint(), reader.filed()
    seq, _, hashed = rows[-1]
    filed = [place for place, _ in records.all_filed()]
    checkpoint = None if stored is None else stored[:2]
    return Addition(0, GENESIS, rows, seal(secret, seq, hashed), filed, checkpoint)


def _require_copy(copy: Keeper, whole: Addition, there: LedgerHome) -> None:
    """Refuse another ledger in the place of the copy."""
    if copy.moved() != whole.moved:
        raise InvalidArgument(
            f"there is already a ledger {str(there)!r}, and it is another one; name a place where "
            "there is none. Nothing was moved."
        )


def _require_begun(copy: Keeper, whole: Addition, here: LedgerHome, there: LedgerHome) -> None:
    """Refuse another ledger where the source was said to have gone.

    The source stays closed: whether its copy went on from there to another place cannot be known.
    """
    _, entries = copy.records.tail(0)
    if entries[: len(whole.rows)] != list(whole.rows):
        raise InvalidArgument(
            f"the ledger {str(here)!r} is on its way to {str(there)!r}, where there is another "
            "ledger; move that one elsewhere, or remove it, and do it again. Nothing was moved."
        )


def _catch_up(copy: Keeper, whole: Addition) -> None:
    """Add what the source was asked after an attempt that failed had made the copy."""
    _, entries = copy.records.tail(0)
    missing = whole.rows[len(entries) :]
    if not missing or not entries or list(whole.rows[: len(entries)]) != entries:
        return  # either nothing is missing, or it is no copy, which is told when they are compared
    seq, _, hashed = entries[-1]
    there = {place for place, _ in copy.records.all_filed()}
    filed = [place for place in whole.filed if place not in there]
    copy.append(replace(whole, after=seq, head=hashed, rows=missing, filed=filed))


def _require_same(source: Records, copy: Records) -> None:
    """Refuse a copy that does not say the very same."""
    equal = (
        source.tail(0) == copy.tail(0)
        and sorted(source.all_filed(), key=str) == sorted(copy.all_filed(), key=str)
        and source.checkpoint() == copy.checkpoint()
        and all(source.file(name) == copy.file(name) for name in source.file_names())
    )
    if not equal:
        raise LedgerTampered(f"the copy of the ledger is not the ledger. {RESTORE}")
