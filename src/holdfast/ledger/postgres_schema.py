"""The tables of ledgers in a PostgreSQL database, and how those of earlier versions become so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger.trouble import newer_tables

if TYPE_CHECKING:
    import psycopg

__all__ = ["VERSIONS", "made_ready", "require_readable"]

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
