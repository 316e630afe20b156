"""The commands for what is shown last: final, and reveal."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from holdfast.cli.commands import Json, app, show_json
from holdfast.cli.elsewhere import anywhere, require_at_the_rows
from holdfast.cli.ledgers import Data, Name, TableName, opened, resumed

__all__ = ["final", "reveal"]


_ENDS = "a last look ends asks, checks and gates for everybody, so that no service takes it."


@app.command(epilog='Example: holdfast final reviews "avg(v7 = label)" "avg(v6 = label)" --dry-run')
@anywhere
def final(
    name: Name,
    questions: Annotated[
        list[str], typer.Argument(metavar="QUESTION...", help="Statistics, chosen together.")
    ],
    why: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Why you ask; kept in the ledger.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would show and end; ask nothing.")
    ] = False,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Take a last look: exact values; then the ledger is closed.

    Asks, checks, gates and searches are ended by it, for good. Described questions stay.
    """
    require_at_the_rows(_ENDS)
    if dry_run:
        cost = resumed(name).end.final_cost(questions)
        if as_json:
            show_json(cost.to_dict())
            return
        typer.echo(f"{cost}\n\nNext: the same without --dry-run, to look.")
        return
    answers = opened(name, data, table).end.final(questions, why=why)
    if as_json:
        show_json([answer.to_dict() for answer in answers])
        return
    for answer in answers:
        typer.echo(f"{answer.question}\n  {answer}")
    typer.echo(f"\nNext: holdfast audit {quote(name)}")


@app.command(epilog='Example: holdfast reveal study "avg(arr_delay > 15)" --dry-run')
@anywhere
def reveal(
    name: Name,
    statistic: Annotated[
        str, typer.Argument(metavar="STATISTIC", help="One statistic, such as a mean.")
    ],
    why: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Why you ask; kept in the ledger.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would show and end; ask nothing.")
    ] = False,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Reveal one exact value; then the ledger is closed.

    It may be chosen from all answers. Asks, checks, gates and searches are ended by it, for good.
    Described questions stay.
    """
    require_at_the_rows(_ENDS)
    if dry_run:
        cost = resumed(name).end.reveal_cost(statistic)
        if as_json:
            show_json(cost.to_dict())
            return
        typer.echo(f"{cost}\n\nNext: the same without --dry-run, to look.")
        return
    answer = opened(name, data, table).end.reveal(statistic, why=why)
    if as_json:
        show_json(answer.to_dict())
        return
    typer.echo(f"{answer.question}\n  {answer}\n\nNext: holdfast audit {quote(name)}")
