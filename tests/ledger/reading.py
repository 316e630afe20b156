"""Reading a ledger file as it stands."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.chain import Row
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript


def folded(path: Path | LedgerHome) -> Transcript:
    """The ledger as it stands: verified, folded, and nothing finished."""
    transcript = Transcript()
    with closing(Store.open(path)) as store:
        transcript.apply(store.news())
    return transcript


def rows_of(path: Path | LedgerHome) -> list[Row]:
    """The entries as they are stored, once they are verified and folded."""
    with closing(Store.open(path)) as store:
        Transcript.resumed(store)
        rows = store.news()
    Transcript().apply(rows)
    return rows
