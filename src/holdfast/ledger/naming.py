"""What can be the name of a ledger: of a file that others lie beside, each with a longer name."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.errors import InvalidArgument, LedgerUnavailable

__all__ = ["is_there"]

_LONGEST = 230  # bytes; most file systems have 255 for a name
_NO_FILES = frozenset({"", ".", "..", ":memory:"})  # the last one is SQLite's word for no file


def is_there(ledger: Path) -> bool:
    """Whether there is a ledger of this name, or anything else; refused if there could be none."""
    size = len(os.fsencode(ledger.name))
    if size > _LONGEST:
        raise InvalidArgument(
            f"the ledger's name has {size} bytes; at most {_LONGEST} leave room for the names of "
            "the files beside it. Choose a shorter one."
        )
    if ledger.name in _NO_FILES or "\0" in str(ledger):
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
