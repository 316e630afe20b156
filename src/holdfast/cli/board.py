"""The commands of a leaderboard: board init, submit, show, final."""

from __future__ import annotations

import warnings
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.commands import Json, app, read_bounds, read_number, secret_file, show_json
from holdfast.cli.elsewhere import again, anywhere, require_at_the_rows, require_here, served
from holdfast.cli.ledgers import Data, LedgerAddress, Name, TableName, new_ledger, opened, resumed
from holdfast.cli.verbs import NOT_SHOWN
from holdfast.errors import InvalidArgument, SecondLedger

if TYPE_CHECKING:
    from holdfast.boards.standings import Standing, Standings
    from holdfast.holdout.holdout import Holdout

board_commands = typer.Typer(no_args_is_help=True, help="A leaderboard: init, submit, show, final.")
app.add_typer(board_commands, name="board")


@board_commands.command(
    "init", epilog="Example: holdfast board init labels.csv --name digits --key item --label digit"
)
def init_board(
    labels: Annotated[
        str, typer.Argument(metavar="LABELS", help="A CSV or Parquet file: a key and a label.")
    ],
    key: Annotated[str, typer.Option(metavar="COLUMN", help="The column that names each item.")],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="A name; the ledger is NAME.ledger.")
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            metavar="M",
            help="accuracy, brier, log_loss, mean_absolute_error, mean_squared_error or "
            "root_mean_squared_error.",
        ),
    ] = "accuracy",
    label: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of labels, if there are several."),
    ] = None,
    y_range: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="LOW HIGH", help="For errors: where labels and predictions are."),
    ] = None,
    cap: Annotated[
        str | None,
        typer.Option(metavar="C", help="For errors instead: one beyond C counts as C."),
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind", help="Look at nothing before `board final`.")
    ] = False,
    submissions: Annotated[
        str | None,
        typer.Option(metavar="N", help="How many there will be, at most; left out: any number."),
    ] = None,
    wrong_claims: Annotated[
        str, typer.Option(metavar="N", help="Check claims until so many were refuted.")
    ] = "3",
    confidence_level: Annotated[
        str, typer.Option(metavar="X", help="Probability that all of the board is true together.")
    ] = "0.95",
    ledger: LedgerAddress = None,
    as_json: Json = False,
) -> None:
    """Make a leaderboard of labels that nobody else sees.

    Submissions are predictions for all items, known by their content: the same file from any
    account is one submission. A new rank is given only when the labels show it.
    """
    from holdfast.boards.leaderboard import Leaderboard

    where, called = new_ledger(name, labels, ledger)
    numbers: dict[str, Any] = {
        "submissions": read_number("submissions", submissions),
        "wrong_claims": read_number("wrong_claims", wrong_claims),
        "confidence_level": read_number("confidence_level", confidence_level),
        "y_range": read_bounds(y_range),
        "cap": read_number("cap", cap),
    }
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always", SecondLedger)
        board = Leaderboard(
            labels,
            key=key,
            metric=metric,
            ledger=where,
            secret=secret_file(),
            public=not blind,
            label=label,
            **numbers,
        )
    for warning in noticed:
        typer.echo(f"holdfast: {warning.message}", err=True)
    with board:
        if as_json:
            show_json({"name": called, "items": board.holdout.rows, **board.terms.to_dict()})
            return
        typer.echo(str(board))
    typer.echo(f"\nNext: holdfast board submit {quote(called)} FILE --team TEAM")


@board_commands.command(
    "submit", epilog="Example: holdfast board submit digits net7.csv --team ada"
)
@anywhere
def submit_predictions(
    name: Name,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="CSV, Parquet or JSONL: a prediction per item.")
    ],
    team: Annotated[
        str | None,
        typer.Option(metavar="TEAM", help="Who submits it; at a service your token says that."),
    ] = None,
    called: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="What to call it; default: a number.")
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option(metavar="X", help="The score that it has by labels of your own; checked."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="K", help="The file's column of keys, if it is not named as usual."),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(metavar="V", help="The file's column of predictions, if it has several."),
    ] = None,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Submit predictions: is it shown that they are better than the leader's?

    Exit code 0: it leads, or the board is blind; 5: that was not shown, which says nothing against
    it. A file that does not fit is listed and costs nothing (2).
    """
    require_here({"--team": team, "--data": data, "--table": table})
    claimed = read_number("claim", claim)
    options: dict[str, Any] = {"name": called, "claim": claimed, "key": key, "value": value}
    there = served(name)
    if there is not None:
        standing = there.board.submit(file, **options)
        leads = standing.leads or not any(row.leads for row in there.board.standings())
    else:
        standing, leads = _submitted(opened(name, data, table), file, team, options)
    if as_json:
        show_json(standing.to_dict())
    else:
        typer.echo(str(standing))
        typer.echo(f"\nNext: holdfast board show {again(name)}")
    if not leads:
        raise typer.Exit(NOT_SHOWN)


def _submitted(
    holdout: Holdout, file: str, team: str | None, options: dict[str, Any]
) -> tuple[Standing, bool]:
    """Where a submission stands that is made here, and whether nobody leads but it."""
    from holdfast.boards.leaderboard import Leaderboard

    if team is None:
        raise InvalidArgument("a submission is somebody's; say whose: --team TEAM.")
    with Leaderboard.over(holdout) as board:
        standing = board.submit(file, team=team, **options)
        return standing, standing.leads or not board.terms.public


@board_commands.command("show", epilog="Example: holdfast board show digits --output board.html")
@anywhere
def show_board(
    name: Name,
    output: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write it, too: .html or .csv.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The standings: ranks as far as they were shown, and files that were invalid. Free."""
    from holdfast.boards.standings import write_board

    called, standings = _standings(name)
    if output is not None:
        write_board(standings, called, output)
    if as_json:
        show_json(standings.to_dict())
        return
    typer.echo(str(standings))
    if output is not None:
        typer.echo(f"\nWritten to {output}.")
    typer.echo(f"\nNext: holdfast board submit {again(name)} FILE")


def _standings(name: str) -> tuple[str, Standings]:
    """What the board is called, and its standings."""
    from holdfast.boards.leaderboard import Leaderboard

    there = served(name)
    if there is not None:
        return there.name, there.board.standings()
    with Leaderboard.over(resumed(name)) as board:
        return board.holdout.name, board.standings()


@board_commands.command("final", epilog="Example: holdfast board final digits --dry-run")
@anywhere
def final_board(
    name: Name,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would show and end; look at nothing.")
    ] = False,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """End the challenge: exact scores of all, with intervals that are true together.

    It is the last look: nothing is submitted, compared or checked after it.
    """
    from holdfast.boards.leaderboard import Leaderboard

    require_here({"--data": data, "--table": table})
    if dry_run:
        require_at_the_rows("what a last look would show is told where the ledger is.")
    there = served(name)
    if there is not None:
        _show_ended(name, there.board.final(), as_json)
        return
    if dry_run:
        with Leaderboard.over(resumed(name)) as board:
            cost = board.final_cost()
        if as_json:
            show_json(cost.to_dict())
            return
        typer.echo(f"{cost}\n\nNext: the same without --dry-run, to end it.")
        return
    with Leaderboard.over(opened(name, data, table)) as board:
        _show_ended(name, board.final(), as_json)


def _show_ended(name: str, standings: Standings, as_json: bool) -> None:
    if as_json:
        show_json(standings.to_dict())
        return
    typer.echo(str(standings))
    typer.echo(f"\nNext: holdfast audit {again(name)}")
