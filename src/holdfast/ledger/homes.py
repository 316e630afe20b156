"""Where a ledger is, from what people call it."""

from __future__ import annotations

from pathlib import Path

from holdfast.data.database import is_database_url
from holdfast.ledger.records import LedgerHome
from holdfast.ledger.sqlite import FileHome

__all__ = ["home_of"]


def home_of(ledger: str | Path | LedgerHome, secret: str | Path | None = None) -> LedgerHome:
    """The home of a ledger that is named by its file, or by its address in a database.

    `secret` is the secret's file, if that is elsewhere.
    """
    if isinstance(ledger, LedgerHome):
        return ledger
    if isinstance(ledger, str) and is_database_url(ledger):
        from holdfast.ledger.postgres import DatabaseHome

        return DatabaseHome.named(ledger, secret)
    return FileHome.named(ledger, secret)
