"""The commands for columns that arrive later: attach, promote, columns."""

from __future__ import annotations

from shlex import quote
from typing import Annotated, Any

import typer

from holdfast.cli.app import Json, app, read_bounds, show_json
from holdfast.cli.elsewhere import again, anywhere, require_here, served, with_rows
from holdfast.cli.ledgers import Data, Name, TableName, looked_at, resumed

__all__ = ["attach", "columns", "promote"]


@app.command(epilog="Example: holdfast attach reviews v7 predictions.csv --value predicted")
@anywhere
def attach(
    name: Name,
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="What questions call it.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A CSV, Parquet or JSONL file with the values.")
    ],
    key: Annotated[
        str | None,
        typer.Option(metavar="K", help="The file's column of keys, if it is not named as usual."),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(metavar="V", help="The file's column of values, if it has several."),
    ] = None,
    bounds: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="LOW HIGH", help="The range of numbers, to be averaged."),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(metavar="HOW", help="Keys without a value: refuse, or null."),
    ] = "refuse",
    digest: Annotated[
        str | None,
        typer.Option(metavar="D", help="Of what made values with protected columns: a model, say."),
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="TEXT", help="Who attaches it.")] = None,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Attach values that arrive later, such as predictions or scores.

    Each belongs to the row with its key, the column named by --key at init. A name is written once;
    the same values under another name are the same column. Values that were made with protected
    columns, such as scores of labels, have a --digest of what made them and --bounds: they are
    known by it, and never by their content.
    """
    from holdfast.question.text import identifier

    require_here({"--digest": digest, "--by": by})
    said: dict[str, Any] = {"key": key, "value": value, "bounds": read_bounds(bounds)}
    said |= (
        {"missing": missing} | ({"digest": digest} if digest else {}) | ({"by": by} if by else {})
    )
    found = with_rows(name, data, table).attach(column, file, **said)
    if as_json:
        show_json(found.to_dict())
        return
    question = f"avg({identifier(found.name)} is not null)"
    typer.echo(f"Attached {found}.")
    typer.echo(f"\nNext: holdfast ask {again(name)} {quote(question)}, or about its values")


@app.command(epilog="Example: holdfast promote reviews v7 --why 'shown to be better'")
def promote(
    name: Name,
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="A column that is there.")],
    why: Annotated[str | None, typer.Option(metavar="TEXT", help="Why it is promoted.")] = None,
    by: Annotated[str | None, typer.Option(metavar="TEXT", help="Who promotes it.")] = None,
    as_json: Json = False,
) -> None:
    """Name the incumbent: the column that others are compared with from now on.

    It is an entry of the ledger, costs nothing and changes no answer.
    """
    with resumed(name) as holdout:
        found = holdout.promote(column, why=why, by=by)
    if as_json:
        show_json(found.to_dict())
        return
    typer.echo(f"The incumbent is {found}.")
    typer.echo(f"\nNext: holdfast columns {quote(name)}")


@app.command(epilog="Example: holdfast columns reviews")
@anywhere
def columns(name: Name, as_json: Json = False) -> None:
    """The columns that were attached, and which one is the incumbent."""
    there, incumbent = served(name), None
    if there is None:
        with looked_at(name) as transcript:
            found, incumbent = list(transcript.attached), transcript.attached.incumbent
    else:
        found = there.columns
    if as_json:
        last = None if incumbent is None else incumbent.to_dict()
        show_json({"columns": [column.to_dict() for column in found], "incumbent": last})
        return
    for column in found:
        typer.echo(str(column))
    if not found:
        typer.echo("No column has been attached.")
    if incumbent is not None:
        typer.echo(f"The incumbent is {incumbent}.")
    typer.echo(f"\nNext: holdfast attach {again(name)} COLUMN FILE")
