"""PostgreSQL databases: addresses without passwords, connections, and trouble in our words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from holdfast import require
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    import psycopg

_SCHEMES = ("postgresql", "postgres")
_SECRETS = frozenset({"password", "sslpassword"})
# What a connection of ours never does: stop half-way because of a setting of the server, read
# text otherwise than it was written, compile a query for longer than it runs, take an operator, a
# function or a type of the database's own schemas for the one of PostgreSQL.
_SETTINGS = {
    "client_encoding": "UTF8",
    "datestyle": "ISO, YMD",
    "extra_float_digits": "1",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "jit": "off",
    "lock_timeout": "0",
    "search_path": "pg_catalog, pg_temp",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "tcp_keepalives_count": "3",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "timezone": "UTC",
}
_CONNECT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """The address of a database. Its text and its repr hold no password.

    `whole` is what libpq understands; `ours` are the parameters that only we do.
    """

    whole: str = field(repr=False)
    shown: str
    ours: Mapping[str, str]

    def __str__(self) -> str:
        return self.shown

    @classmethod
    def read(cls, what: str, text: str, ours: frozenset[str] = frozenset()) -> DatabaseUrl:
        """An address such as postgresql://user@host:5432/database?sslmode=require."""
        text = require.text(what, text)
        try:
            parts = urlsplit(text)
            # libpq ends a password at the first @, and what is left would be the server's name.
            fits = parts.netloc.count("@") < 2 and "@" not in parts.path and not parts.fragment
        except ValueError:
            fits = False
        if not fits:  # and it may be a password that does not: nothing is quoted
            raise InvalidArgument(
                f"{what} is no address of a database; write it as postgresql://USER@HOST/DATABASE, "
                "with / @ ? # of a name or a password as %2F %40 %3F %23."
            )
        pairs = [pair.partition("=") for pair in parts.query.split("&") if pair]
        own = {unquote(name): unquote(value) for name, _, value in pairs if unquote(name) in ours}
        theirs = [each for each in pairs if unquote(each[0]) not in ours]
        public = [each for each in pairs if unquote(each[0]) not in _SECRETS]
        user, at, host = parts.netloc.rpartition("@")
        shown = parts._replace(
            netloc=f"{user.partition(':')[0]}{at}{host}",
            query="&".join("".join(each) for each in public),
            fragment="",
        )
        whole = parts._replace(query="&".join("".join(each) for each in theirs))
        return cls(urlunsplit(whole), urlunsplit(shown), own)

    @property
    def open_secret(self) -> bool:
        """Whether a password is written in the address."""
        return bool(self.secrets)

    @property
    def secrets(self) -> list[str]:
        """The passwords in the address, as they are written there and as they are meant."""
        parts = urlsplit(self.whole)
        pairs = [pair.partition("=") for pair in parts.query.split("&")]
        passwords = [value for name, _, value in pairs if unquote(name) in _SECRETS]
        passwords.append(parts.netloc.rpartition("@")[0].partition(":")[2])
        return [each for text in passwords for each in (text, unquote(text)) if each]


def is_database_url(text: object) -> bool:
    """Whether it is the address of a PostgreSQL database."""
    return isinstance(text, str) and text.startswith(tuple(f"{each}://" for each in _SCHEMES))


def connected(url: DatabaseUrl, name: str, **settings: str) -> psycopg.Connection[Any]:
    """A connection in which every statement is a transaction, with settings of our own."""
    with require.installed("PostgreSQL databases", "postgres"):
        import psycopg

    connection = psycopg.connect(
        url.whole,
        autocommit=True,
        connect_timeout=_CONNECT_SECONDS,
        fallback_application_name=f"holdfast {name}",
    )
    try:
        wanted = {**_SETTINGS, **settings}
        chosen = ", ".join(f"pg_catalog.set_config('{each}', %s, false)" for each in wanted)
        connection.execute(f"SELECT {chosen}", list(wanted.values()))
    except BaseException:
        connection.close()
        raise
    return connection


def reason_of(error: Exception, url: DatabaseUrl) -> str:
    """What an error of the database says, in one line, without the SQL and without passwords."""
    message = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    reason = " ".join(message.split()).rstrip(".")
    for secret in url.secrets:
        reason = reason.replace(secret, "***")
    return reason or type(error).__name__
