"""The tables of a ledger in a SQLite file, and how those of earlier versions become these."""

from __future__ import annotations

import sqlite3

from holdfast.ledger.trouble import newer_tables

__all__ = ["UPGRADES", "make_tables", "upgrade_tables"]

# Version n of the tables is what follows from those of version 0 by the first n of these.
UPGRADES = ("ALTER TABLE head ADD COLUMN moved TEXT",)
_SCHEMA = (
    "CREATE TABLE entries (seq INTEGER PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL) STRICT",
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), seal TEXT NOT NULL) STRICT",
    "CREATE TABLE answers (question TEXT NOT NULL, settled INTEGER NOT NULL, look INTEGER NOT "
    "NULL, line INTEGER NOT NULL, leaked REAL NOT NULL, seal TEXT NOT NULL, PRIMARY KEY (question, "
    "settled, look, line)) STRICT, WITHOUT ROWID",
    "CREATE TABLE checkpoint (one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL, seal "
    "TEXT NOT NULL) STRICT",
)


def make_tables(connection: sqlite3.Connection) -> None:
    """The tables of this version, without rows."""
    for statement in (*_SCHEMA, *UPGRADES):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(UPGRADES)}")


def upgrade_tables(ledger: object, connection: sqlite3.Connection) -> None:
    """Make tables of an earlier version those of this one; refused if a newer one made them."""
    if _version(connection) == len(UPGRADES):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        if version > len(UPGRADES):
            raise newer_tables(ledger, version, len(UPGRADES))
        for statement in UPGRADES[version:]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(UPGRADES)}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
