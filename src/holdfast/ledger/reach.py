"""Other ledgers over the same table, as far as they can be found.

A promise is kept by one budget, and a second ledger over the same rows is a second budget. Ledgers
in the same folder are looked at, and those of the user's index: a list of paths in the folder of
HOLDFAST_STATE (default: holdfast in XDG_STATE_HOME, or in ~/.local/state; empty: no index is kept).
Whatever cannot be read is passed over, and an index that cannot be written is not kept: it only
helps to notice an oversight.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, suppress
from hmac import compare_digest
from pathlib import Path
from urllib.parse import quote

from holdfast.ledger.identity import keyed_print
from holdfast.ledger.records import LedgerHome
from holdfast.ledger.sqlite import FileHome

__all__ = ["in_reach", "index_path", "note_ledger", "others_over"]


def others_over(content: str, ledger: LedgerHome) -> list[Path]:
    """The ledgers in reach, but this one, that protect a table of this fingerprint."""
    own = ledger.path.resolve() if isinstance(ledger, FileHome) else None
    found = in_reach(Path() if own is None else own.parent)
    return [path for path in found if path != own and _protects(path, content)]


def in_reach(folder: Path) -> list[Path]:
    """The ledgers of a folder and of the user's index."""
    return sorted({*_in_folder(folder), *_indexed()})


def note_ledger(ledger: LedgerHome) -> None:
    """Enter a ledger in the user's index; those that are gone are left out."""
    index = index_path()
    if not isinstance(ledger, FileHome) or index is None:
        return
    own = ledger.path.resolve()
    if own in (known := _indexed()):
        return
    with suppress(OSError):
        index.parent.mkdir(parents=True, exist_ok=True)
        draft = index.with_name(f"{index.name}-{os.getpid()}")
        draft.write_text("".join(f"{path}\n" for path in [*known, own]), "utf-8")
        draft.replace(index)


def _in_folder(folder: Path) -> list[Path]:
    try:
        return [path.resolve() for path in folder.glob("*.ledger") if path.is_file()]
    except OSError:
        return []


def _indexed() -> list[Path]:
    """The ledgers of the index that still exist."""
    index = index_path()
    if index is None:
        return []
    try:
        lines = index.read_text("utf-8").splitlines()
        return [Path(line) for line in lines if line and Path(line).is_file()]
    except (OSError, ValueError):
        return []


def index_path() -> Path | None:
    """The file that lists the user's ledgers; None where there shall be none."""
    chosen = os.environ.get("HOLDFAST_STATE")
    if chosen is not None:
        return Path(chosen) / "ledgers" if chosen else None
    try:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:  # nobody's home
        return None
    return Path(state) / "holdfast" / "ledgers"


def _protects(ledger: Path, content: str) -> bool:
    # Nothing is made beside a ledger that is only looked at, and its first entry never changes.
    address = f"file:{quote(str(ledger))}?mode=ro&immutable=1"
    try:
        secret = ledger.with_name(f"{ledger.name}-secret").read_bytes()
        with closing(sqlite3.connect(address, uri=True)) as connection:
            ((text,),) = connection.execute("SELECT text FROM entries WHERE seq = 1").fetchall()
        stored = json.loads(text)["fingerprint"]
        return compare_digest(stored, keyed_print(secret, content))
    except (OSError, LookupError, TypeError, ValueError, sqlite3.Error):
        return False
