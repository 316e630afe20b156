"""Backup of a ledger in one file, and its restoration.

A backup takes a ledger back to its day, and not the people: what was answered since is known, and
no longer counted. So a ledger that is restored answers nothing new (it is retired), unless a
witness outside its folder saw the backup's newest entry last, or its owner says that nothing was
answered since; a witness that saw more contradicts the owner.

The file is a tar of a SQLite ledger with its secret and columns, wherever the ledger was kept. A
restoration that is interrupted is done again, and goes on from there; until then nothing can be
asked.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from holdfast.errors import InvalidArgument, LedgerTampered
from holdfast.ledger.backend import Addition, Keeper, LedgerHome, Records
from holdfast.ledger.chain import GENESIS, RESTORE, Row, chained, now, seal
from holdfast.ledger.entries import retirement
from holdfast.ledger.index import copies_of, note, recall
from holdfast.ledger.lock import held
from holdfast.ledger.secret import known_secret
from holdfast.ledger.side_files import sync_folder, was_moved, write_new
from holdfast.ledger.sqlite import FileHome
from holdfast.ledger.store import Reader, home_of
from holdfast.ledger.transcript import Transcript
from holdfast.ledger.witness import WITNESS, Witness, outside_witness, require_seen

_SUFFIX = ".ledger"


@dataclass(frozen=True, slots=True)
class Restoration:
    """Result of restoring: where the ledger is, its entries, and why it is retired, if it is."""

    ledger: str
    entries: int
    retired: str | None


def backup(ledger: str | Path | LedgerHome, file: Path, timeout: float = 60.0) -> int:
    """Copy a ledger with its secret and columns into a new file, between two questions.

    Returns the number of entries.
    """
    here, path = home_of(ledger), Path(os.path.abspath(file))
    if path.exists() or not path.parent.is_dir():
        fault = "it is there already" if path.exists() else "there is no such folder"
        raise InvalidArgument(f"the backup is {str(path)!r}, and {fault}; name another file.")
    secret = known_secret(here)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        copy = FileHome(Path(folder, f"{here.stem}{_SUFFIX}"))
        with closing(here.keeper()) as keeper, held(keeper, timeout):
            moved = keeper.moved()
            if moved is not None:
                raise was_moved(here, moved)
            reader = Reader(here, secret, keeper.records)
            whole = everything(reader, keeper.records, secret)
            if Transcript.resumed(reader).pending is not None:
                raise InvalidArgument(
                    f"the ledger {str(here)!r} has a question that was not finished; open it with "
                    "its rows and ask again, and then copy it. Nothing was written."
                )
            copy.create(secret, whole, timeout)
            for name in keeper.records.file_names():
                copy.columns.keep_file(name, keeper.records.file(name) or b"")
        draft = Path(folder, "backup")
        _pack(copy, draft)
        draft.replace(path)
    sync_folder(path.parent)
    return len(whole.rows)


def restore(
    file: Path,
    target: str | Path | LedgerHome | None = None,
    *,
    nothing_since: bool = False,
    timeout: float = 60.0,
) -> Restoration:
    """Make the ledger of a backup again, where there is none; retired if it may lack answers."""
    path = Path(os.path.abspath(file))
    with tempfile.TemporaryDirectory() as folder:
        source = _unpacked(path, Path(folder))
        there, secret = home_of(target or source.path.name), known_secret(source)
        with source.records() as records:
            reader = Reader(source, secret, records, witnessed=False)
            whole = everything(reader, records, secret)
            closed = Transcript.resumed(reader).account.closed
            mark = f"restored {path}"
            why = _doubt(whole.rows, there, nothing_since)
            _require_lost(there, whole.rows[0][2], retired=why is not None)
            history = replace(whole, moved=mark)
            if why is not None and not (closed and closed.retired):
                history = _retired(history, secret, why)
            there.create(secret, history, timeout)
            with closing(there.keeper()) as copy, held(copy, timeout):
                _, rows = copy.records.tail(0)
                if copy.moved() != mark or rows[: len(whole.rows)] != list(whole.rows):
                    raise InvalidArgument(
                        f"there is already a ledger {str(there)!r}; move all its files away, or "
                        "name another place. Nothing was restored."
                    )
                for name in records.file_names():
                    copy.keep_file(name, records.file(name) or b"")
                outside = outside_witness(rows[0][2])
                if outside is not None:  # which knew of answers that are given up here
                    outside.note(rows[-1][0], rows[-1][2], restored=True)
                copy.mark_moved(None)
                closed = Transcript.resumed(Reader(there, secret, copy.records)).account.closed
    retired = closed.why if closed is not None and closed.retired else None
    return Restoration(str(there), len(rows), retired)


def _doubt(rows: Sequence[Row], there: LedgerHome, nothing_since: bool) -> str | None:
    """Why answers may be missing from a backup; None if a witness or its owner says there are none.

    Refused where a witness saw another history, or more than its owner says.
    """
    count, outside = len(rows), outside_witness(rows[0][2])
    own = Witness(there.beside("newest")).seen() if not there.is_there() else None
    notes = [each for each in (own, outside.seen() if outside else None) if each is not None]
    most = max((seq for seq, _ in notes), default=0)
    for newest in notes:
        require_seen(newest if newest[0] <= count else None, rows, 0)
    if most > count:
        if nothing_since:
            raise LedgerTampered(
                f"rolled back: the witness saw {most:,} entries, here are {count:,}, so that "
                "something was written since the backup; leave --nothing-since out. Nothing was "
                "restored."
            )
        return f"restored from a backup of {count:,} entries, and a witness saw {most:,}"
    if nothing_since or (outside is not None and outside.seen() == (count, rows[-1][2])):
        return None
    return f"restored from a backup of {count:,} entries, and nobody knows what was answered since"


def _require_lost(there: LedgerHome, first: str, *, retired: bool) -> None:
    """Refuse a second ledger beside its original, or one that takes over the original's witness.

    One that is retired and has no witness harms nobody: so a backup is tried.
    """
    if retired and outside_witness(first) is None:
        return
    for original in copies_of(there, first):
        trial = f", or unset {WITNESS} to try the backup: the copy is then retired"
        advice = trial if retired else ""
        raise InvalidArgument(
            f"the ledger {str(original)!r} is the one of this backup, and is here; go on with it. "
            f"If it is damaged, move all its files away{advice}. Nothing was restored."
        )


def _retired(whole: Addition, secret: bytes, why: str) -> Addition:
    seq, _, hashed = whole.rows[-1]
    last = chained([retirement(now(), why, None)], seq, hashed)
    sealed = seal(secret, last[-1][0], last[-1][2])
    return replace(whole, rows=[*whole.rows, *last], seal=sealed)


# The file: a tar of NAME.ledger, NAME.ledger-secret and NAME.ledger-columns/.


def _pack(copy: FileHome, draft: Path) -> None:
    """Write the files of a copy, for their owner only, durable but for the name."""
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        with tarfile.open(fileobj=file, mode="w") as tar:
            for each in (copy.path, copy.beside("secret"), copy.columns.path):
                if each.exists():
                    tar.add(each, each.name)
        file.flush()
        os.fsync(file.fileno())


def _unpacked(path: Path, folder: Path) -> FileHome:
    """The ledger of a backup, in a folder; what else a file could hold is refused."""
    try:
        with tarfile.open(path, "r:") as tar:
            members = [member for member in tar if not member.isdir()]
            names = [PurePosixPath(member.name) for member in members]
            ledgers = [each for each in names if each.suffix == _SUFFIX and len(each.parts) == 1]
            if len(ledgers) != 1:
                raise tarfile.ReadError("it has no ledger")
            stem = ledgers[0].name
            own = {(stem,), (f"{stem}-secret",)}
            for member, name in zip(members, names, strict=True):
                column = len(name.parts) == 2 and name.parts[0] == f"{stem}-columns"
                content = tar.extractfile(member) if member.isreg() else None
                if content is None or ".." in name.parts or not (column or name.parts in own):
                    raise tarfile.ReadError(f"it holds {member.name!r}")
                folder.joinpath(name).parent.mkdir(exist_ok=True)
                write_new(folder / name, content.read())
    except (OSError, tarfile.TarError) as error:
        raise InvalidArgument(
            f"the file {str(path)!r} is no backup of a ledger that can be read ({error}); name one "
            "that holdfast ledger backup wrote."
        ) from error
    return FileHome(folder / stem)


# Move of a ledger: every entry, answer and column goes elsewhere, and none is asked here.
#
# At no moment can both be asked: that would be two budgets for one table. So the source is closed
# first; the copy is made closed, in one commit, and opened last. Whoever is interrupted in between
# does it again, and it goes on from there.


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
