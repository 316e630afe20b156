"""Whether there is a ledger of a name."""

from __future__ import annotations

from pathlib import Path

from holdfast.errors import InvalidArgument, LedgerUnavailable

__all__ = ["is_there"]

_NO_FILES = frozenset({"", ".", "..", ":memory:"})  # the last one is SQLite's word for no file


def is_there(ledger: Path) -> bool:
    """Whether there is a ledger of this name, or anything else; refused if there could be none."""
    if ledger.name in _NO_FILES:
        raise InvalidArgument(
            f"the ledger is {str(ledger)!r}, which cannot be the name of a file; choose another."
        )
    try:
        return ledger.exists()
    except OSError as error:
        raise LedgerUnavailable(
            f"the ledger {str(ledger)!r} cannot be looked at ({error}); check the permissions of "
            "its folder."
        ) from error
