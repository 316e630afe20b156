"""Where a ledger is, from what people call it."""

from __future__ import annotations

from pathlib import Path

from holdfast.ledger.records import LedgerHome
from holdfast.ledger.sqlite import FileHome

__all__ = ["home_of"]


def home_of(ledger: str | Path | LedgerHome, secret: str | Path | None = None) -> LedgerHome:
    """The home of a ledger that is named by its file; `secret` is the secret's file, if elsewhere.

    It stays there, wherever one works later.
    """
    return ledger if isinstance(ledger, LedgerHome) else FileHome.named(ledger, secret)
