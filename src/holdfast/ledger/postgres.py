"""A ledger in a PostgreSQL database, for workers on many machines.

How its rows are written is said in `postgres_rows`. The secret is a file of each worker's machine,
never a row.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from holdfast import require
from holdfast.data.database import DatabaseUrl, connected
from holdfast.errors import InvalidArgument, LedgerTampered
from holdfast.ledger.chain import RESTORE
from holdfast.ledger.durable import sync_folder, write_new
from holdfast.ledger.postgres_rows import (
    APPEND,
    PostgresKeeper,
    PostgresRecords,
    append_values,
    lock_key,
    lock_wait,
)
from holdfast.ledger.postgres_schema import made_ready, require_readable
from holdfast.ledger.postgres_session import LedgerSession, in_our_words, require_durable
from holdfast.ledger.records import Addition, LedgerHome
from holdfast.ledger.trouble import unavailable

if TYPE_CHECKING:
    import psycopg

__all__ = ["DatabaseHome"]

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
        """What no other ledger is called, of whatever database."""
        with self._connected() as connection:
            found = self._looked_up(connection)
        if found is None:
            raise InvalidArgument(
                f"there is no ledger {str(self)!r}; create one with open or init."
            )
        return found

    def beside(self, what: str) -> Path:
        """A file of this machine: beside the secret if that was named, else in the user's folder
        of settings (holdfast in XDG_CONFIG_HOME, or in ~/.config).
        """
        if self.secret is None:
            return _settings_folder() / f"{self.id}-{what}"
        return (
            self.secret if what == "secret" else self.secret.with_name(f"{self.secret.name}-{what}")
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
            if self._looked_up(connection) is not None:
                require_durable(self.url, connection)
                made_ready(connection)
        return PostgresKeeper(self.id, LedgerSession(self.url))

    @contextmanager
    def records(self) -> Iterator[PostgresRecords]:
        """The ledger, to be looked at; a standby will do."""
        identity = self.id
        with closing(LedgerSession(self.url, looks=True)) as session:
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
