"""Index of ledgers: where each was opened, and which are over the same table.

It spares the reader of untouched files their fingerprint, and tells the command line where to look.
The ledger itself names no place, so that it can be shown to others. It is sealed with the secret,
for otherwise whoever can write it could pass another table off as the protected one; without it, or
if it cannot be written, the data is only read again.
"""

from __future__ import annotations

import hmac
import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from hmac import compare_digest
from pathlib import Path
from typing import Any
from urllib.parse import quote

from holdfast.data.database import is_database_url
from holdfast.data.source import FileStamp
from holdfast.errors import HoldfastError
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.chain import keyed
from holdfast.ledger.secret import keyed_print, known_secret
from holdfast.ledger.side_files import open_here, read_here
from holdfast.ledger.sqlite import FileHome
from holdfast.ledger.store import home_of

_FILE, _PURPOSE = "files", "holdfast files/1"


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Whereabouts of a table: path or glob, table in a database, files as they were, and print.

    `print_` is what the ledger writes for such a table. Without `stamps` the rows were not those of
    files alone, and must be read again.
    """

    source: str
    table: str | None = None
    stamps: tuple[FileStamp, ...] = ()
    print_: str = ""


def note(ledger: LedgerHome, secret: bytes, whereabouts: Whereabouts) -> None:
    """Keep it beside the ledger, for its owner only."""
    path = ledger.beside(_FILE)
    facts = json.dumps(asdict(whereabouts))
    text = json.dumps({"facts": facts, "seal": keyed(secret, _PURPOSE, facts)})
    draft = path.with_name(f"{path.name}-{os.getpid()}")
    with suppress(OSError):
        try:
            handle = open_here(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            draft.replace(path)  # at once: others may be reading
        finally:
            draft.unlink(missing_ok=True)


def recall(ledger: LedgerHome, secret: bytes) -> Whereabouts | None:
    """Whereabouts on record; None, if they are not there or not written by the ledger's owner."""
    try:
        text = json.loads(read_here(ledger.beside(_FILE)))
        facts: str = text["facts"]
        if not hmac.compare_digest(text["seal"], keyed(secret, _PURPOSE, facts)):
            return None
        return _parsed(json.loads(facts))
    except (OSError, LookupError, RecursionError, TypeError, ValueError):
        return None


def _parsed(facts: dict[str, Any]) -> Whereabouts:
    stamps = tuple(FileStamp(**stamp) for stamp in facts["stamps"])
    return Whereabouts(**{**facts, "stamps": stamps})


# Other ledgers over the same table, as far as they can be found.
#
# A promise is kept by one budget, and a second ledger over the same rows is a second budget.
# Ledgers in the same folder, or the same database, are looked at, and those of the user's index:
# a list of paths and addresses (without passwords) in the folder of HOLDFAST_STATE (default:
# holdfast in XDG_STATE_HOME, or in ~/.local/state; empty: no index is kept). Whatever cannot be
# read is passed over, and an index that cannot be written is not kept: it only helps to notice an
# oversight.
#
# The same rows with a column added, renamed or cast have another fingerprint. They are known by
# their other columns, whose digests, keyed with the ledger's secret, are in a second file there. A
# table that grew has the rows, too, and others: it is known by the digests of some of them, those
# with the least words, which are among the least of the larger table.


STATE = "HOLDFAST_STATE"  # the variable that names the folder of the index
_ROW = "row "  # before the digest of a row
_MOST_ROWS, _FEWEST_ROWS = 64, 20  # whose digests are kept; by which a table is known


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
    ledgers = {str(each): each for each in near}
    own = str(_resolved(ledger))
    return [
        each
        for name, each in sorted(ledgers.items())
        if name != own and _protects(each, content, files, task)
    ]


def with_the_same_rows(
    columns: frozenset[str], rows: Sequence[str], ledger: LedgerHome
) -> dict[str, str]:
    """Indexed ledgers over the same rows as a table, or over a part of them, and what says so."""
    same = {
        name: f"the same rows, by the content of {shared:,} of {among:,} compared columns"
        for name, (shared, among) in _with_the_same_columns(columns, ledger).items()
    }
    grown = {
        name: f"rows that this table has, too, about {100 * share:.0f} %"
        for name, share in _with_rows_of(rows, ledger).items()
    }
    return {**grown, **same}


def _with_the_same_columns(
    columns: frozenset[str], ledger: LedgerHome
) -> dict[str, tuple[int, int]]:
    """Indexed ledgers over rows with the same columns, half of them or more: how many, of how many.

    `columns` are digests of those of the table. Ledgers that are gone are passed over.
    """
    overlapping, own = {}, str(_resolved(ledger))
    for name, marks in _noted_columns().items():
        if name == own or not marks or not columns or not Path(name).is_file():
            continue
        with suppress(HoldfastError, OSError, ValueError):
            shared = len(marks & _keyed_columns(known_secret(home_of(name)), columns))
            if 2 * shared >= min(len(marks), len(columns)):
                overlapping[name] = shared, len(marks)
    return overlapping


def _with_rows_of(rows: Sequence[str], ledger: LedgerHome) -> dict[str, float]:
    """Indexed ledgers of which half of the rows or more are in a table that may have others, too:
    about which part. `rows` are digests of rows of the table. Ledgers that are gone are passed
    over."""
    overlapping, own = {}, str(_resolved(ledger))
    for name, marks in _noted_rows().items():
        if name == own or len(marks) < _FEWEST_ROWS or not rows or not Path(name).is_file():
            continue
        with suppress(HoldfastError, OSError, ValueError):
            shared = len(marks & _keyed_rows(known_secret(home_of(name)), rows))
            if 2 * shared >= len(marks):
                overlapping[name] = shared / len(marks)
    return overlapping


def note_columns(ledger: LedgerHome, columns: frozenset[str], rows: Sequence[str] = ()) -> None:
    """Enter the digests of a new ledger's columns and of some rows in the index, without ledgers
    that are gone."""
    path = _columns_path()
    if path is None or not isinstance(ledger, FileHome):
        return
    with suppress(HoldfastError, OSError):
        secret = known_secret(ledger)
        marks_of_rows = _keyed_rows(secret, rows[:_MOST_ROWS])
        own = {str(_resolved(ledger)): _keyed_columns(secret, columns) | marks_of_rows}
        noted = {name: marks for name, marks in _noted().items() if Path(name).is_file()}
        _rewrite(
            path, [json.dumps([name, *sorted(marks)]) for name, marks in {**noted, **own}.items()]
        )


def _keyed_columns(secret: bytes, columns: frozenset[str]) -> frozenset[str]:
    return frozenset(keyed(secret, "holdfast columns/1", each) for each in columns)


def _keyed_rows(secret: bytes, rows: Sequence[str]) -> frozenset[str]:
    return frozenset(_ROW + keyed(secret, "holdfast rows/1", each) for each in rows)


def _noted_columns() -> dict[str, frozenset[str]]:
    """The keyed digests of the columns of each ledger in the index."""
    noted = _noted().items()
    return {
        name: frozenset(each for each in marks if not each.startswith(_ROW))
        for name, marks in noted
    }


def _noted_rows() -> dict[str, frozenset[str]]:
    """The keyed digests of some rows of each ledger in the index."""
    noted = _noted().items()
    return {
        name: frozenset(each for each in marks if each.startswith(_ROW)) for name, marks in noted
    }


def _noted() -> dict[str, frozenset[str]]:
    """The keyed digests of each ledger in the index: of its columns, and of some rows."""
    path = _columns_path()
    if path is None:
        return {}
    try:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return {str(name): frozenset(map(str, marks)) for name, *marks in lines}
    except (OSError, TypeError, ValueError):
        return {}


def _columns_path() -> Path | None:
    index = index_path()
    return None if index is None else index.with_name("columns")


def in_reach(folder: Path) -> list[LedgerHome]:
    """The ledgers of a folder and of the user's index."""
    near = [*FileHome(folder.resolve() / "x.ledger").neighbours(), *_indexed()]
    return [each for _, each in sorted({str(each): each for each in near}.items())]


def copies_of(ledger: LedgerHome, first: str) -> list[LedgerHome]:
    """Files in reach, but this one, whose first entry has this hash, and which are in use."""
    near, own = [*ledger.neighbours(), *_indexed()], str(_resolved(ledger))
    files = {str(each): each for each in near if isinstance(each, FileHome)}
    return [each for name, each in files.items() if name != own and _begins_with(each, first)]


def note_ledger(ledger: LedgerHome, first: str) -> list[LedgerHome]:
    """Enter a ledger in the user's index, without a password; those that are gone are left out.

    `first` is the hash of its first entry. What is returned are its copies: other files of the
    index that begin with the very same entry.
    """
    index, own = index_path(), str(_resolved(ledger))
    if index is None:
        return []
    marks = {str(each): mark for each, mark in _marked()}
    if marks.get(own) != first:
        marks[own] = first
        with suppress(OSError):
            _rewrite(index, [f"{mark}\t{each}" for each, mark in marks.items()])
    return [
        FileHome(Path(each))
        for each, mark in marks.items()
        if mark == first and each != own and not is_database_url(each)
        if _begins_with(FileHome(Path(each)), first)
    ]


def _begins_with(ledger: FileHome, first: str) -> bool:
    """Whether a ledger is in use, and its first entry has this hash."""
    try:
        with ledger.records() as records:
            ((moved,),) = records.connection.execute("SELECT moved FROM head").fetchall()
            return moved is None and [row[2] for row in records.entries(1, 1)] == [first]
    except (HoldfastError, OSError, ValueError, sqlite3.Error):
        return False


def _rewrite(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}-{os.getpid()}")
    draft.write_text("".join(f"{each}\n" for each in lines), "utf-8")
    draft.replace(path)


def _resolved(ledger: LedgerHome) -> LedgerHome:
    """The same ledger, by the one name that its file has."""
    return FileHome(ledger.path.resolve()) if isinstance(ledger, FileHome) else ledger


def _indexed() -> list[LedgerHome]:
    """The ledgers of the index: files that still exist, and addresses in databases."""
    return [each for each, _ in _marked()]


def _marked() -> list[tuple[LedgerHome, str]]:
    """The same, each with the hash of the first entry that it had when it was opened last."""
    index = index_path()
    if index is None:
        return []
    try:
        lines = [line.partition("\t") for line in index.read_text("utf-8").splitlines() if line]
        present = [line for line in lines if is_database_url(line[2]) or Path(line[2]).is_file()]
        return [(home_of(name), mark) for mark, _, name in present]
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
