"""Session with the database of a ledger: a server that forgets nothing, its errors in our words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast import require
from holdfast.data.database import DatabaseUrl, connected, reason_of
from holdfast.errors import HoldfastError, LedgerBusy, LedgerTampered, LedgerUnavailable
from holdfast.ledger.chain import RESTORE

if TYPE_CHECKING:
    import psycopg

_T = TypeVar("_T")

_SETTINGS = """
    SELECT current_setting('fsync'), current_setting('synchronous_commit'),
        current_setting('full_page_writes'), pg_is_in_recovery(),
        current_setting('server_encoding'), pg_backend_pid()
"""


class LedgerSession:
    """A connection, made again if it was lost while nothing hung on it; threads may share it.

    While it `holds` the ledger's lock it is never made again: another connection would not have
    the lock. One that only `looks` writes nothing, and may be to a standby.
    """

    def __init__(self, url: DatabaseUrl, *, looks: bool = False) -> None:
        self.url = url
        self.holds = False
        self._looks = looks
        self._turn = threading.RLock()
        self._unread: AbstractContextManager[Any] | None = None  # what was sent and not answered
        self._connection = self._opened()

    @property
    def connection(self) -> psycopg.Connection[Any]:
        """The connection, as it is."""
        return self._connection

    @property
    def backend(self) -> int:
        """The server's process of this connection."""
        return int(self._connection.info.backend_pid)

    def read(self, statement: str, values: Any) -> list[Any]:
        """Rows of a statement; tried again if the connection was found to be lost."""
        (rows,) = self.read_all([(statement, values)])
        return rows

    def read_all(self, statements: Sequence[tuple[str, Any]]) -> list[list[Any]]:
        """Rows of statements sent together; each is a transaction, and sees the last.

        All are tried again if the connection was found to be lost.
        """

        def reading(connection: psycopg.Connection[Any]) -> list[list[Any]]:
            try:
                return _together(connection, statements)
            except _library().OperationalError:
                if not connection.closed or self.holds:
                    raise
            return _together(self._usable(), statements)

        return self._by_connection(reading)

    def write(self, statement: str, values: Any) -> list[Any]:
        """One statement, which is a transaction, with what it returns; never tried twice."""

        def writing(connection: psycopg.Connection[Any]) -> list[Any]:
            cursor = connection.execute(statement, values)
            return [] if cursor.description is None else cursor.fetchall()

        return self._by_connection(writing)

    def require_still_durable(self) -> None:
        """Refuse a server that was told since that it may forget."""
        self._by_connection(lambda connection: require_durable(self.url, connection))

    def send(self, statement: str, values: Any) -> None:
        """One statement on its way to the server; nobody waits until it is done."""

        def sending(connection: psycopg.Connection[Any]) -> None:
            pipeline = connection.pipeline()
            sent = pipeline.__enter__()
            self._unread = pipeline
            connection.execute(statement, values)
            sent.sync()

        self._by_connection(sending)

    def close(self) -> None:
        """Let go of the connection."""
        with self._turn:
            try:
                self._read_answer()
            finally:
                self._connection.close()

    def _by_connection(self, work: Callable[[psycopg.Connection[Any]], _T]) -> _T:
        """What some work on the connection returns; interrupted in its midst, that is given up."""
        with self._turn, in_our_words(self.url):
            connection = self._usable()
            with _given_up_if_interrupted(connection):
                return work(connection)

    def _read_answer(self) -> None:
        """Of what was sent, so that the connection is free; that is lost with its connection."""
        if self._unread is None:
            return
        try:
            with _given_up_if_interrupted(self._connection):
                self._unread.__exit__(None, None, None)
        except _library().Error as error:
            self._connection.close()
            # The end of a pipeline that is interrupted fails, too, and that is what it raises. Any
            # other error is of somebody who goes on without what was not there.
            interrupt = error.__context__
            if isinstance(interrupt, MemoryError) or not isinstance(interrupt, Exception | None):
                raise interrupt from None
        finally:
            self._unread = None

    def _usable(self) -> psycopg.Connection[Any]:
        self._read_answer()
        connection = self._connection
        if not connection.closed and connection.info.pipeline_status:
            connection.close()  # begun and never ended: its answers would be waited for for ever
        if self._connection.closed and not self.holds:
            self._connection = self._opened()
        return self._connection

    def _opened(self) -> psycopg.Connection[Any]:
        settings = {"default_transaction_read_only": "on"} if self._looks else {}
        with in_our_words(self.url):
            connection = connected(self.url, "ledger", **settings)
            try:
                if not self._looks:
                    require_durable(self.url, connection)
            except BaseException:
                connection.close()
                raise
            return connection


def _together(
    connection: psycopg.Connection[Any], statements: Sequence[tuple[str, Any]]
) -> list[list[Any]]:
    if len(statements) == 1:
        return [connection.execute(*statements[0]).fetchall()]
    with connection.pipeline() as sent, _given_up_if_interrupted(connection):
        cursors = []
        for statement, values in statements:
            cursors.append(connection.execute(statement, values))
            sent.sync()  # which ends the transaction
    return [cursor.fetchall() for cursor in cursors]


@contextmanager
def _given_up_if_interrupted(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """A connection that is closed, and with it what it holds, by whatever is no error of its own.

    What it still has to say, and whether what was sent is done, cannot be known; a pipeline's end
    would wait for it, perhaps for ever.
    """
    try:
        yield
    except (_library().Error, HoldfastError):
        raise
    except BaseException:
        connection.close()
        raise


def require_durable(url: DatabaseUrl, connection: psycopg.Connection[Any]) -> None:
    """Refuse a server that may forget a commit, and whatever changes the backend between two.

    A pooler hands out process numbers of its own; a server that is reached directly says the same
    number at the beginning and whenever it is asked.
    """
    ((fsync, commit, pages, standby, encoding, backend),) = connection.execute(_SETTINGS).fetchall()
    off = {"fsync": fsync, "synchronous_commit": commit, "full_page_writes": pages}
    named = " and ".join(f"{name}=off" for name, value in off.items() if value == "off")
    refused = None
    if standby:
        refused = "is on a standby, which only repeats what another server writes; name that one"
    elif named:
        refused = f"is on a server with {named}, which may forget what it confirmed; set it to on"
    elif encoding != "UTF8":
        refused = f"is in a database whose encoding is {encoding}; use one in UTF8"
    elif backend != connection.info.backend_pid:
        refused = (
            "is behind a connection pooler, where the lock of one question may end up in the hands "
            "of another; connect to the server itself"
        )
    if refused is not None:
        raise LedgerUnavailable(f"the ledger {str(url)!r} {refused}. Nothing was written.")


@contextmanager
def in_our_words(url: DatabaseUrl) -> Iterator[None]:
    """The database's errors: busy, out of reach, or damaged."""
    psycopg = _library()
    try:
        yield
    except (psycopg.errors.LockNotAvailable, psycopg.errors.SerializationFailure) as error:
        raise LedgerBusy(
            f"another program holds the ledger {str(url)!r}; what was recorded is kept. Try again "
            "when it is done."
        ) from error
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn) as error:
        raise LedgerTampered(
            f"the ledger {str(url)!r} is damaged ({reason_of(error, url)}). {RESTORE}"
        ) from error
    except psycopg.Error as error:
        raise LedgerUnavailable(
            f"the ledger {str(url)!r} cannot be used ({reason_of(error, url)}); check that its "
            "server runs, can be reached and lets this user in. Nothing that was recorded is lost."
        ) from None  # the original may quote the address, with its password


def _library() -> Any:
    with require.installed("ledgers in PostgreSQL", "postgres"):
        import psycopg

    return psycopg
