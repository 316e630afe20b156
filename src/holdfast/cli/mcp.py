"""`holdfast mcp`: a holdout for agents, over stdio."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

from holdfast import require
from holdfast.cli.commands import app, show_json
from holdfast.cli.ledgers import Data, Name, TableName, ledger_path, opened

__all__ = ["mcp"]


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
    from holdfast.agents.calling import Agent

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
