"""The entries that end a ledger: for asks and checks, or for everything."""

from __future__ import annotations

from typing import Any

__all__ = ["closing", "retirement"]


def closing(at: str, why: str) -> dict[str, str]:
    """The entry that ends asks and checks."""
    return {"kind": "close/1", "at": at, "why": why}


def retirement(at: str, why: str, successor: str | None) -> dict[str, Any]:
    """The entry after which nothing new is answered."""
    return {"kind": "retire/1", "at": at, "why": why, "successor": successor}
