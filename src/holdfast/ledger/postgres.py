"""PostgreSQL backend: a ledger in a database, for workers on many machines.

How its rows are written is said in `postgres_rows`. The secret is a file of each worker's machine,
never a row.
"""

from __future__ import annotations

import os
import re
import struct
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from holdfast import require
from holdfast.data.database import DatabaseUrl, connected
from holdfast.errors import HoldfastError, InvalidArgument, LedgerBusy, LedgerTampered
from holdfast.ledger.backend import Addition, LedgerHome
from holdfast.ledger.chain import RESTORE, Row
from holdfast.ledger.checkpoint import SealedPlace
from holdfast.ledger.lock import busy, overtaken
from holdfast.ledger.postgres_session import LedgerSession, in_our_words, require_durable
from holdfast.ledger.side_files import (
    newer_tables,
    require_format,
    sync_folder,
    unavailable,
    was_moved,
    write_new,
)

if TYPE_CHECKING:
    import psycopg

# The rows of one ledger in a PostgreSQL database.
#
# **One writer at a time.** A session advisory lock of the ledger's own connection is held over
# reserve, data and settle; the server frees it when the connection ends. Entries are written by
#   that
# same connection, so that who lost the lock has lost the means to write as well. What was written
# meanwhile is asked for together with the lock, and nobody waits until it is given back.
#
# **A fence, should that fail.** A commit is one statement: it moves the head from the entry that
#   it
# follows to its own, and adds rows only if there was such a head and the statement runs in the
#   very
# backend that took the lock; (ledger, seq) is the primary key of entries. So nobody writes over a
# successor, whatever stands between a worker and the server. Nor is anything written once the
#   server
# was told that it may forget, as it can be at any time.


_TAIL = """
    SELECT NULL::bigint AS seq, seal, NULL FROM holdfast.ledger WHERE id = %(id)s
    UNION ALL
    SELECT seq, text, hash FROM holdfast.entry WHERE ledger = %(id)s AND seq >= %(after)s
    ORDER BY seq NULLS FIRST
"""
_ENTRIES = """
    SELECT seq, text, hash FROM holdfast.entry
    WHERE ledger = %s AND seq BETWEEN %s AND %s ORDER BY seq
"""
_FIRST = "SELECT text FROM holdfast.entry WHERE ledger = %s AND seq = 1"
_FILED = """
    SELECT question, settled, look, line, leaked, seal FROM holdfast.answer
    WHERE ledger = %s AND question = %s ORDER BY settled, look
"""
_ALL_FILED = """
    SELECT question, settled, look, line, leaked, seal, hash FROM holdfast.answer
    LEFT JOIN holdfast.entry ON entry.ledger = answer.ledger AND seq = settled
    WHERE answer.ledger = %s
"""
_CHECKPOINT = """
    SELECT checkpoint.text, seal, seq, entry.text, hash FROM holdfast.checkpoint
    LEFT JOIN holdfast.entry ON entry.ledger = checkpoint.ledger AND seq = 1
    WHERE checkpoint.ledger = %s
"""
APPEND = """
    WITH moved AS (
        UPDATE holdfast.ledger SET seq = %(seq)s, hash = %(hash)s, seal = %(seal)s
        WHERE id = %(id)s AND seq = %(after)s AND hash = %(head)s
            AND pg_backend_pid() = %(backend)s AND moved IS NOT DISTINCT FROM %(moved)s
            AND 'off' NOT IN (current_setting('fsync'), current_setting('synchronous_commit'),
                current_setting('full_page_writes'))
        RETURNING id
    ), entered AS (
        INSERT INTO holdfast.entry SELECT moved.id, new.* FROM moved,
            unnest(%(seqs)s::bigint[], %(texts)s::text[], %(hashes)s::text[]) AS new
    ), filed AS (
        INSERT INTO holdfast.answer SELECT moved.id, new.* FROM moved,
            unnest(%(questions)s::text[], %(settled)s::bigint[], %(looks)s::bigint[],
                %(lines)s::bigint[], %(leaked)s::float8[], %(seals)s::text[]) AS new
    ), kept AS (
        INSERT INTO holdfast.checkpoint SELECT moved.id, new.* FROM moved,
            unnest(%(kept)s::text[], %(kept_seals)s::text[]) AS new
        ON CONFLICT (ledger) DO UPDATE SET text = excluded.text, seal = excluded.seal
    )
    SELECT count(*) FROM moved
"""
# The time to wait for a lock is that of this one statement, which reads it before it waits.
_WAIT = """
    WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', %s, true))
    SELECT pg_advisory_lock(%s) FROM patience
"""
_KEEP_FILE = """
    INSERT INTO holdfast.file VALUES (%s, %s, %s)
    ON CONFLICT (ledger, name) DO UPDATE SET content = excluded.content
"""


class PostgresRecords:
    """Rows of one ledger in a database."""

    def __init__(self, identity: str, session: LedgerSession) -> None:
        self._id = identity
        self._session = session
        self._newest = 0  # the number of the last entry that was read or written
        self._ahead: tuple[int, list[Any]] | None = None  # what `locked` read

    def tail(self, after: int) -> tuple[str | None, list[Row]]:
        """The seal, and the entries from number `after` on."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == after:
            rows = ahead[1]
        else:
            rows = self._session.read(*self._tail_of(after))
        sealed = rows.pop(0)[1] if rows and rows[0][0] is None else None
        self._newest = rows[-1][0] if rows else after
        return sealed, rows

    def _tail_of(self, after: int) -> tuple[str, Any]:
        return _TAIL, {"id": self._id, "after": after}

    def locked(self, lock: int) -> bool:
        """Take the lock if it is free, and with it the entries that follow those known here.

        Who has the lock need not read them again: nobody else writes until it is `released`.
        """
        after = self._newest
        taking = "SELECT pg_try_advisory_lock(%s)", [lock]
        ((free,),), rows = self._session.read_all([taking, self._tail_of(after)])
        self._ahead = (after, rows) if free else None
        return bool(free)

    def released(self) -> None:
        """What was read ahead may no longer be all, though nobody asked for it."""
        self._ahead = None

    def wrote(self, newest: int) -> None:
        """What was read ahead is no longer all."""
        self._newest, self._ahead = newest, None

    def entries(self, first: int, last: int) -> list[Row]:
        """The entries of these numbers, in order."""
        return self._session.read(_ENTRIES, [self._id, first, last])

    def filed(self, question: str) -> list[SealedPlace]:
        """Places filed under the digest of a question, in order."""
        return self._session.read(_FILED, [self._id, question])

    def all_filed(self) -> list[tuple[SealedPlace, str | None]]:
        """Places filed, each with the hash of its entry."""
        rows = self._session.read(_ALL_FILED, [self._id])
        return [(row[:6], row[6]) for row in rows]

    def checkpoint(self) -> tuple[str, str, Row] | None:
        """The checkpoint's text and seal, and the first entry."""
        rows = self._session.read(_CHECKPOINT, [self._id])
        return None if not rows else (rows[0][0], rows[0][1], rows[0][2:])

    def file(self, name: str) -> bytes | None:
        """Content stored under this name."""
        rows = self._session.read(
            "SELECT content FROM holdfast.file WHERE ledger = %s AND name = %s",
            [self._id, name],
        )
        return None if not rows else bytes(rows[0][0])

    def file_name(self, name: str) -> str:
        """The row of the database that holds it."""
        return f"{name} in {self._session.url}"

    def file_names(self) -> list[str]:
        """The names of this ledger's rows."""
        rows = self._session.read("SELECT name FROM holdfast.file WHERE ledger = %s", [self._id])
        return sorted(name for (name,) in rows)


class PostgresKeeper:
    """A ledger in a database, to be written under its lock."""

    def __init__(self, identity: str, session: LedgerSession) -> None:
        self.records = PostgresRecords(identity, session)
        self.identity = identity
        self.session = session
        self._lock = lock_key(identity)

    def hold(self, timeout: float) -> None:
        """Take the cross-process lock."""
        if not self.records.locked(self._lock):
            try:
                self.session.write(_WAIT, [lock_wait(timeout), self._lock])
            except LedgerBusy as error:
                raise busy(self.session.url, timeout) from error
        self.session.holds = True

    def let_go(self) -> None:
        """Free the lock; nobody waits until that is done."""
        self.session.holds = False
        self.records.released()
        if not self.session.connection.closed:  # with the connection the lock is gone, too
            with suppress(HoldfastError):
                self.session.send("SELECT pg_advisory_unlock_all()", [])

    def append(self, addition: Addition) -> None:
        """Write it in one statement: durable when this returns, or not there."""
        values = append_values(self.identity, self.session.backend, addition)
        self.records.wrote(addition.rows[-1][0])
        ((appended,),) = self.session.write(APPEND, values)
        if not appended:
            self.session.require_still_durable()
            moved = self.moved()
            if moved is not None and moved != addition.moved:
                raise was_moved(self.session.url, moved)
            raise overtaken(self.session.url, addition.after)

    def keep_file(self, name: str, content: bytes) -> None:
        """Keep it in a table, where every worker finds it."""
        self.session.write(_KEEP_FILE, [self.identity, name, content])

    def moved(self) -> str | None:
        """Mark of a move; None if the ledger is in use here."""
        rows = self.session.read("SELECT moved FROM holdfast.ledger WHERE id = %s", [self.identity])
        return None if not rows or rows[0][0] is None else str(rows[0][0])

    def mark_moved(self, how: str | None) -> None:
        """Say so, durably when this returns."""
        statement = "UPDATE holdfast.ledger SET moved = %s WHERE id = %s"
        self.session.write(statement, [how, self.identity])

    def close(self) -> None:
        """Let go of the connection, and of the lock if it is held."""
        self.session.close()


def append_values(identity: str, backend: int, addition: Addition) -> dict[str, Any]:
    """Parameters of `APPEND` for a ledger, if this backend runs it."""
    seqs, texts, hashes = _columns(addition.rows, 3)
    questions, settled, looks, lines, leaked, seals = _columns(addition.filed, 6)
    checkpoints, checkpoint_seals = _columns(
        [] if addition.checkpoint is None else [addition.checkpoint], 2
    )
    return {
        "id": identity,
        "backend": backend,
        "after": addition.after,
        "head": addition.head,
        "moved": addition.moved,
        "seq": seqs[-1],
        "hash": hashes[-1],
        "seal": addition.seal,
        "seqs": seqs,
        "texts": texts,
        "hashes": hashes,
        "questions": questions,
        "settled": settled,
        "looks": looks,
        "lines": lines,
        "leaked": leaked,
        "seals": seals,
        "kept": checkpoints,
        "kept_seals": checkpoint_seals,
    }


def _columns(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    return [[row[place] for row in rows] for place in range(width)]


def lock_key(name: str) -> int:
    """The number of an advisory lock; others of the same database have other purposes."""
    (number,) = struct.unpack(">q", sha256(f"holdfast ledger/1 {name}".encode()).digest()[:8])
    return int(number)


def lock_wait(timeout: float) -> str:
    """A lock_timeout; 0 would mean for ever."""
    return f"{max(1, min(int(1000 * timeout), 2**31 - 1))}ms"


# The tables of ledgers in a PostgreSQL database, and how those of earlier versions become so.


# Version n is what the first n of these make. They are never changed, only added to.
VERSIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE holdfast.ledger (id text PRIMARY KEY, name text NOT NULL UNIQUE, "
        "seq bigint NOT NULL, hash text NOT NULL, seal text NOT NULL)",
        "CREATE TABLE holdfast.entry (ledger text NOT NULL, seq bigint NOT NULL, "
        "text text NOT NULL, hash text NOT NULL, PRIMARY KEY (ledger, seq))",
        "CREATE TABLE holdfast.answer (ledger text NOT NULL, question text NOT NULL, "
        "settled bigint NOT NULL, look bigint NOT NULL, line bigint NOT NULL, "
        "leaked double precision NOT NULL, seal text NOT NULL, "
        "PRIMARY KEY (ledger, question, settled, look, line))",
        "CREATE TABLE holdfast.checkpoint (ledger text PRIMARY KEY, text text NOT NULL, "
        "seal text NOT NULL)",
        "CREATE TABLE holdfast.file (ledger text NOT NULL, name text NOT NULL, "
        "content bytea NOT NULL, PRIMARY KEY (ledger, name))",
    ),
    ("ALTER TABLE holdfast.ledger ADD COLUMN moved text",),
)
_LOCK = 0x686F6C6466617374  # "holdfast": one process at a time makes tables


def made_ready(connection: psycopg.Connection[Any]) -> None:
    """Make the tables, or those that this version has in addition."""
    if _version(connection) == len(VERSIONS):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        connection.execute("CREATE SCHEMA IF NOT EXISTS holdfast")
        connection.execute("CREATE TABLE IF NOT EXISTS holdfast.version (version int NOT NULL)")
        version = _version(connection) or 0
        for statements in VERSIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute("DELETE FROM holdfast.version")
        connection.execute("INSERT INTO holdfast.version VALUES (%s)", [len(VERSIONS)])


def require_readable(connection: psycopg.Connection[Any], ledger: object) -> bool:
    """Whether the database has tables of ledgers; refused if a newer version made them."""
    version = _version(connection)
    if version is not None and version > len(VERSIONS):
        raise newer_tables(ledger, version, len(VERSIONS))
    return version is not None


def _version(connection: psycopg.Connection[Any]) -> int | None:
    ((there,),) = connection.execute("SELECT to_regclass('holdfast.version')").fetchall()
    if there is None:
        return None
    row = connection.execute("SELECT version FROM holdfast.version").fetchone()
    return None if row is None else int(row[0])


_ID = re.compile("[0-9a-f]{32}")
_NAME = "ledger"  # the parameter of an address that names one of a database's ledgers


@dataclass(frozen=True)
class DatabaseHome:
    """A ledger that is rows of a database, and its secret a file of this machine."""

    url: DatabaseUrl
    secret: Path | None = None

    @classmethod
    def named(cls, ledger: str, secret: str | Path | None = None) -> DatabaseHome:
        """By an address such as postgresql://user@host/database?ledger=flights."""
        url = DatabaseUrl.read("ledger", ledger, frozenset({_NAME}))
        if not url.ours.get(_NAME):
            raise InvalidArgument(
                f"the ledger is {str(url)!r}, which names a database and no ledger in it; add its "
                "name: ?ledger=NAME."
            )
        hidden = None if secret is None else Path(os.path.abspath(require.file("secret", secret)))
        return cls(url, hidden)

    def __str__(self) -> str:
        return str(self.url)

    @property
    def address(self) -> str:
        """The address with its password: what opens it again in another process."""
        return _addressed(self.url.whole, self.stem)

    @property
    def stem(self) -> str:
        """The ledger's name in its database."""
        return self.url.ours[_NAME]

    @cached_property
    def id(self) -> str:
        """Identifier that no other ledger has, of whatever database."""
        with self._connected() as connection:
            row = self._looked_up(connection)
        if row is None:
            raise InvalidArgument(
                f"there is no ledger {str(self)!r}; create one with open or init."
            )
        return row

    def beside(self, suffix: str) -> Path:
        """A file of this machine: beside the secret if that was named, else in the user's folder
        of settings (holdfast in XDG_CONFIG_HOME, or in ~/.config).
        """
        if self.secret is None:
            return _settings_folder() / f"{self.id}-{suffix}"
        return (
            self.secret
            if suffix == "secret"
            else self.secret.with_name(f"{self.secret.name}-{suffix}")
        )

    def neighbours(self) -> list[LedgerHome]:
        """The ledgers of the database whose secrets are in this user's folder."""
        with self._connected() as connection:
            if not require_readable(connection, self):
                return []
            rows = connection.execute("SELECT id, name FROM holdfast.ledger").fetchall()
        try:
            folder = _settings_folder()
            own = [name for identity, name in rows if (folder / f"{identity}-secret").is_file()]
        except (InvalidArgument, OSError):  # no such folder, or not for this user
            return []
        return [DatabaseHome.named(_addressed(self.url.whole, name)) for name in own]

    def is_there(self) -> bool:
        """Whether the database has a ledger of this name."""
        with self._connected() as connection:
            return self._looked_up(connection) is not None

    def create(self, secret: bytes, first: Addition, timeout: float) -> None:
        """Make the ledger; if another process was quicker, its ledger stays.

        The secret is on the disk before the commit that makes the ledger exist.
        """
        with self._connected() as connection:
            require_durable(self.url, connection)
            made_ready(connection)
            with connection.transaction():
                wait, lock = lock_wait(timeout), lock_key(f"new {self.stem}")
                connection.execute("SELECT set_config('lock_timeout', %s, true)", [wait])
                connection.execute("SELECT pg_advisory_xact_lock(%s)", [lock])
                if self._looked_up(connection) is not None:
                    return
                identity = uuid.uuid4().hex
                connection.execute(
                    "INSERT INTO holdfast.ledger VALUES (%s, %s, %s, %s, '', %s)",
                    [identity, self.stem, first.after, first.head, first.moved],
                )
                values = append_values(identity, connection.info.backend_pid, first)
                connection.execute(APPEND, values)
                self._write_secret(identity, secret)

    def keeper(self) -> PostgresKeeper:
        """The ledger, to be read and written."""
        with self._connected() as connection:
            row = self._looked_up(connection)
            if row is not None:
                require_durable(self.url, connection)
                for (text,) in connection.execute(_FIRST, [row]).fetchall():
                    require_format(self, text)
                made_ready(connection)
        return PostgresKeeper(self.id, LedgerSession(self.url))

    @contextmanager
    def records(self) -> Iterator[PostgresRecords]:
        """The ledger, to be looked at; a standby will do."""
        identity = self.id
        with closing(LedgerSession(self.url, looks=True)) as session:
            for (text,) in session.read(_FIRST, [identity]):
                require_format(self, text)
            yield PostgresRecords(identity, session)

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Any]]:
        with in_our_words(self.url), closing(connected(self.url, "ledger")) as connection:
            yield connection

    def _looked_up(self, connection: psycopg.Connection[Any]) -> str | None:
        """The ledger's id; None if there is none."""
        if not require_readable(connection, self):
            return None
        row = connection.execute(
            "SELECT id FROM holdfast.ledger WHERE name = %s", [self.stem]
        ).fetchone()
        if row is None:
            return None
        if not _ID.fullmatch(row[0]):  # it is part of the name of a file
            raise LedgerTampered(f"the id of the ledger {str(self)!r} was changed. {RESTORE}")
        return str(row[0])

    def _write_secret(self, identity: str, secret: bytes) -> None:
        path = self.secret or _settings_folder() / f"{identity}-secret"
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_new(path, secret)
            sync_folder(path.parent)
        except FileExistsError:
            raise InvalidArgument(
                f"there is a secret {str(path)!r} without its ledger; restore the ledger, or "
                "remove the secret if no answer was ever given with it."
            ) from None
        except OSError as error:
            raise unavailable(path, error) from error


def _addressed(database: str, name: str) -> str:
    """The address of a ledger of a database."""
    return f"{database}{'&' if '?' in database else '?'}{_NAME}={quote(name, safe='')}"


def _settings_folder() -> Path:
    try:
        settings = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    except RuntimeError:  # nobody's home
        raise InvalidArgument(
            "the ledger's secret needs a folder, and this user has no home; say which file it is: "
            "secret=FILE."
        ) from None
    return Path(settings) / "holdfast"
