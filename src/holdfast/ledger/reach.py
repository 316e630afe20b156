"""Other ledgers over the same table, as far as they can be found.

A promise is kept by one budget, and a second ledger over the same rows is a second budget. Ledgers
in the same folder, or the same database, are looked at, and those of the user's index: a list of
paths and addresses (without passwords) in the folder of
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

from holdfast.data.database import is_database_url
from holdfast.data.files import FileStamp
from holdfast.errors import HoldfastError
from holdfast.ledger.homes import home_of
from holdfast.ledger.identity import keyed_print
from holdfast.ledger.reader import known_secret
from holdfast.ledger.records import LedgerHome
from holdfast.ledger.sqlite import FileHome
from holdfast.ledger.whereabouts import recall

__all__ = ["STATE", "in_reach", "index_path", "note_ledger", "others_over"]

STATE = "HOLDFAST_STATE"  # the variable that names the folder of the index


def others_over(
    content: str,
    ledger: LedgerHome,
    files: tuple[FileStamp, ...] = (),
    task: str | None = None,
) -> list[LedgerHome]:
    """The ledgers in reach, but this one, that protect a table of this fingerprint.

    The very same files are the same rows, too, however they are read: with other flags, say. What
    is declared to be of another `task` is another table, even if the ids of its rows are the same.
    Of databases only the ledger's own is looked at: others may be far away.
    """
    near = [*ledger.neighbours(), *(each for each in _indexed() if isinstance(each, FileHome))]
    found = {str(each): each for each in near}
    own = str(_resolved(ledger))
    return [
        each
        for name, each in sorted(found.items())
        if name != own and _protects(each, content, files, task)
    ]


def in_reach(folder: Path) -> list[LedgerHome]:
    """The ledgers of a folder and of the user's index."""
    near = [*FileHome(folder.resolve() / "x.ledger").neighbours(), *_indexed()]
    return [each for _, each in sorted({str(each): each for each in near}.items())]


def note_ledger(ledger: LedgerHome) -> None:
    """Enter a ledger in the user's index, without a password; those that are gone are left out."""
    index, own = index_path(), str(_resolved(ledger))
    if index is None or own in (known := [str(each) for each in _indexed()]):
        return
    with suppress(OSError):
        index.parent.mkdir(parents=True, exist_ok=True)
        draft = index.with_name(f"{index.name}-{os.getpid()}")
        draft.write_text("".join(f"{each}\n" for each in [*known, own]), "utf-8")
        draft.replace(index)


def _resolved(ledger: LedgerHome) -> LedgerHome:
    """The same ledger, by the one name that its file has."""
    return FileHome(ledger.path.resolve()) if isinstance(ledger, FileHome) else ledger


def _indexed() -> list[LedgerHome]:
    """The ledgers of the index: files that still exist, and addresses in databases."""
    index = index_path()
    if index is None:
        return []
    try:
        lines = [line for line in index.read_text("utf-8").splitlines() if line]
        kept = [line for line in lines if is_database_url(line) or Path(line).is_file()]
        return [home_of(line) for line in kept]
    except (OSError, ValueError):
        return []


def index_path() -> Path | None:
    """The file that lists the user's ledgers; None where there shall be none."""
    chosen = os.environ.get(STATE)
    if chosen is not None:
        return Path(chosen) / "ledgers" if chosen else None
    try:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:  # nobody's home
        return None
    return Path(state) / "holdfast" / "ledgers"


def _protects(
    ledger: LedgerHome, content: str, files: tuple[FileStamp, ...], task: str | None
) -> bool:
    try:
        opening, secret = json.loads(_first_text(ledger)), known_secret(ledger)
        stored, other_task = opening["fingerprint"], opening.get("task")
        if None not in (task, other_task) and task != other_task:
            return False
        if compare_digest(stored, keyed_print(secret, content)):
            return True
        last = recall(ledger, secret)
        return bool(files) and last is not None and last.stamps == files
    except (HoldfastError, OSError, LookupError, TypeError, ValueError, sqlite3.Error):
        return False


def _first_text(ledger: LedgerHome) -> str:
    if not isinstance(ledger, FileHome):
        with ledger.records() as records:
            ((_, text, _),) = records.entries(1, 1)
        return text
    # Nothing is made beside a ledger that is only looked at, and its first entry never changes.
    address = f"file:{quote(str(ledger))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        ((text,),) = connection.execute("SELECT text FROM entries WHERE seq = 1").fetchall()
    return str(text)
