"""Ledgers by name, as the commands find them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast import require
from holdfast.cli.commands import secret_file
from holdfast.did_you_mean import did_you_mean
from holdfast.errors import InvalidArgument, LedgerUnavailable

if TYPE_CHECKING:
    import polars as pl

    from holdfast.evals.item_scores import ItemList
    from holdfast.holdout.holdout import Holdout
    from holdfast.ledger.backend import LedgerHome
    from holdfast.ledger.store import Reader
    from holdfast.ledger.transcript import Transcript

SCORE_SUFFIXES = (".eval", ".jsonl", ".csv", ".parquet")  # as files of other tools are called
_LOG_SUFFIXES = (".eval", ".json", ".jsonl")
_SQLITE = b"SQLite format 3\0"  # a ledger's first bytes

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="The holdout's name (NAME.ledger), its ledger file, or the ledger's address in a "
        "database or a branch: postgresql://USER@HOST/DATABASE?ledger=NAME, git:REMOTE/BRANCH.",
    ),
]
LedgerAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Keep the ledger in a database, postgresql://USER@HOST/DATABASE?ledger=NAME, or as "
        "commits of a branch: git:REMOTE/BRANCH.",
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The data, if it is not where it was at init; a log has the items of one.",
    ),
]
TableName = Annotated[
    str | None, typer.Option(metavar="NAME", help="The table in a database with several.")
]


def ledger_path(name: str) -> str | Path:
    """The ledger of a name, the file itself or its address; refused if there is no such file."""
    from holdfast.data.database import is_database_url
    from holdfast.ledger.store import is_git_address

    if is_database_url(name):
        return without_password("name", name)
    if is_git_address(name):
        return name
    for path in (require.file("name", name), require.file("name", f"{name}.ledger")):
        if path.is_file():
            if path.suffix in SCORE_SUFFIXES:
                raise InvalidArgument(
                    f"{str(path)!r} is a file of scores and no ledger; compare two of them: "
                    f"holdfast compare A B. Or protect a table: holdfast init {quote(str(path))}"
                )
            return path
    here = [each.stem for each in sorted(Path().glob("*.ledger"))]
    hint = did_you_mean(name, here)
    instead = f"{hint} Or make one" if hint else "make one"
    raise InvalidArgument(
        f"there is no ledger {str(path)!r}; {instead}: holdfast init DATA --name {quote(name)}"
    )


def is_certificate(path: Path) -> bool:
    """Whether a file is to be read as a certificate: JSON, and not a ledger."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_SQLITE))
    except OSError as error:
        raise LedgerUnavailable(f"the file {str(path)!r} cannot be read ({error}).") from error
    if path.suffix.lower() in (".html", ".htm") and start != _SQLITE:
        raise InvalidArgument(
            f"{str(path)!r} is a page for people; audit the certificate's other form: holdfast "
            "certificate NAME --output FILE.json"
        )
    return start != _SQLITE and (path.suffix.lower() == ".json" or start.startswith(b"{"))


def new_ledger(name: str | None, data: str, address: str | None) -> tuple[str | Path, str]:
    """Where a new ledger will be, and what commands call it; refused if there is one."""
    from holdfast.data.database import is_database_url
    from holdfast.ledger.store import home_of, is_git_address

    if is_database_url(data):
        without_password("data", data)
        if name is None and address is None:
            raise InvalidArgument("the ledger of a database's table needs a name: --name NAME.")
    if address is None:
        name = name or Path(data).stem
        where: str | Path = require.file("name", f"{name}.ledger")
    elif is_git_address(address):
        where = name = address
    else:
        where = name = without_password("ledger", address)
    if home_of(where, secret_file()).is_there():
        raise InvalidArgument(
            f"there is already a ledger {str(where)!r}; ask it (holdfast budget {quote(name)}), or "
            "choose another --name."
        )
    return where, name


def is_log(data: str) -> bool:
    """Whether a path can only be that of a log, as no table is called so."""
    return data.lower().endswith(_LOG_SUFFIXES)


def item_table(ledger: str | Path, items: ItemList) -> pl.DataFrame | Path:
    """The table of items that a new ledger protects: a file beside it, if it is a file itself."""
    from holdfast.ledger.store import is_address

    if is_address(ledger):
        return items.to_frame()
    table = Path(ledger).with_suffix(".items.parquet")
    if table.exists():
        raise InvalidArgument(
            f"there is a file {str(table)!r} and no ledger {str(ledger)!r}; move it away, or "
            "choose another name."
        )
    items.to_frame().write_parquet(table)
    return table


def without_password(label: str, address: str) -> str:
    """The address of a database; refused with a password, which everybody on the machine sees."""
    from holdfast.data.database import DatabaseUrl

    if DatabaseUrl.read(label, address).open_secret:
        raise InvalidArgument(
            f"{label} holds a password, and others can read what is typed here; leave it out, and "
            "keep it in ~/.pgpass or PGPASSWORD."
        )
    return address


def home_named(name: str) -> LedgerHome:
    """Where the ledger of a name is, and where its secret is."""
    from holdfast.ledger.store import home_of

    return home_of(ledger_path(name), secret_file())


@contextmanager
def looked_at(name: str) -> Iterator[Transcript]:
    """The ledger as it stands, on read-only media too; what was not compared is said."""
    from holdfast.ledger.store import look
    from holdfast.ledger.transcript import Transcript

    with look(home_named(name)) as reader:
        transcript = Transcript.resumed(reader)
        if reader.unchecked is not None:
            typer.echo(f"Not checked: the seal; {reader.unchecked}", err=True)
        yield transcript


def resumed(name: str, train: str | None = None, guesser: str | None = None) -> Holdout:
    """The holdout without its rows: nothing new can be asked of it."""
    from holdfast.holdout.open import open as open_holdout

    path = ledger_path(name)
    return open_holdout(ledger=path, secret=secret_file(), train=train, guesser=guesser)


def opened(
    name: str,
    data: str | None,
    table: str | None,
    train: str | None = None,
    guesser: str | None = None,
) -> Holdout:
    """The holdout with its rows, from `data` or from where they were at first."""
    from holdfast.data.database import is_database_url
    from holdfast.holdout.open import open as open_holdout
    from holdfast.ledger.store import look

    path = ledger_path(name)  # first of all: a name that is misspelt makes no new ledger
    source: Any = data
    secret = secret_file()
    if is_database_url(data):
        source = without_password("data", str(data))
    elif data is not None and is_log(data):
        from holdfast.evals.submission import read_items

        source = read_items(data).to_frame()
    if source is None:
        with look(home_named(name)) as reader:
            source, missing = where_the_data_is(reader)
        if missing is not None:
            raise InvalidArgument(f"{missing} Nothing was spent.")
    return open_holdout(
        source, ledger=path, secret=secret, table=table, train=train, guesser=guesser
    )


def known_table(home: LedgerHome, source: str | None) -> str | None:
    """Which table of a database the protected one was, if it was in this one."""
    from holdfast.ledger.index import recall
    from holdfast.ledger.store import look

    with look(home) as reader:
        recalled = None if reader.secret is None else recall(reader.home, reader.secret)
    return recalled.table if recalled is not None and recalled.source == source else None


def where_the_data_is(reader: Reader) -> tuple[str | None, str | None]:
    """Where the data was last, if it is still there; else why it cannot be read."""
    from holdfast.data.source import files_of
    from holdfast.ledger.index import recall

    if reader.secret is None:
        return None, "without the secret nobody can tell whether a table is the protected one."
    recalled = recall(reader.home, reader.secret)
    if recalled is None:
        return (
            None,
            "the ledger was opened for a table in memory or on another machine, or was restored "
            "from a backup; give the table: --data FILE.",
        )
    try:
        files_of(recalled.source)  # a database is looked for when it is read
    except InvalidArgument:
        return (
            None,
            f"the data was {recalled.source!r} and is not there now; say where: --data FILE.",
        )
    return recalled.source, None
