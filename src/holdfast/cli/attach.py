"""The commands for columns that arrive later: attach, promote, columns."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.commands import Json, app, read_bounds, show_json
from holdfast.cli.elsewhere import again, anywhere, require_here, served, with_rows
from holdfast.cli.init import read_table
from holdfast.cli.ledgers import Data, Name, TableName, looked_at, opened, resumed
from holdfast.cli.parameters import with_options
from holdfast.holdout.options import TableFormOptions

if TYPE_CHECKING:
    import polars as pl

    from holdfast.holdout.holdout import Holdout


@app.command(epilog="Example: holdfast attach reviews v7 predictions.csv --value predicted")
@anywhere
@with_options(TableFormOptions)
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
    asked_by: Annotated[str | None, typer.Option(metavar="WHO", help="Who attaches it.")] = None,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
    **form: Any,
) -> None:
    """Attach values that arrive later: predictions, scores.

    Each belongs to the row with its key, the column named by --key at init. A name is written once;
    the same values under another name are the same column. Values that were made with protected
    columns, such as scores of labels, have a --digest of what made them and --bounds: they are
    known by it, and never by their content.
    """
    from holdfast.question.expression import identifier

    flags = {f"--{name.removesuffix('s')}": value for name, value in form.items()}
    require_here({"--digest": digest, "--asked-by": asked_by, **flags})
    options: dict[str, Any] = {"key": key, "value": value, "bounds": read_bounds(bounds)}
    options |= {"missing": missing} | ({"digest": digest} if digest else {})
    options |= {"asked_by": asked_by} if asked_by else {}
    holdout = with_rows(name, data, table)
    values = _read_as_its_keys(holdout, file, key, form) if form else file
    attached = holdout.attach(column, values, **options)
    if as_json:
        show_json(attached.to_dict())
        return
    question = f"avg({identifier(attached.name)} is not null)"
    typer.echo(f"Attached {attached}.")
    typer.echo(f"\nNext: holdfast ask {again(name)} {quote(question)}, or about its values")


def _read_as_its_keys(
    holdout: Holdout, file: str, key: str | None, form: Mapping[str, Any]
) -> pl.DataFrame:
    """The file of values, its keys of the type that the holdout's have."""
    own = holdout.opening.terms.key
    types = {} if own is None else {key or own: holdout.schema.types[own]}
    return read_table(file, form, types)


@app.command(epilog="Example: holdfast promote reviews v7 --why 'shown to be better'")
def promote(
    name: Name,
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="A column that is there.")],
    why: Annotated[str | None, typer.Option(metavar="TEXT", help="Why it is promoted.")] = None,
    asked_by: Annotated[str | None, typer.Option(metavar="WHO", help="Who promotes it.")] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The data, to finish what a job that died had begun."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Name the incumbent, with which others are compared.

    It is an entry of the ledger, costs nothing and changes no answer.
    """
    with resumed(name) if data is None else opened(name, data, None) as holdout:
        promotion = holdout.promote(column, why=why, asked_by=asked_by)
    if as_json:
        show_json(promotion.to_dict())
        return
    typer.echo(f"The incumbent is {promotion}.")
    typer.echo(f"\nNext: holdfast columns {quote(name)}")


@app.command(epilog="Example: holdfast columns reviews")
@anywhere
def columns(name: Name, as_json: Json = False) -> None:
    """The columns of questions: the table's, and those attached."""
    there, incumbent = served(name), None
    if there is None:
        with looked_at(name) as transcript:
            schema, attachments = transcript.opening.schema, list(transcript.attached)
            incumbent = transcript.attached.incumbent
    else:
        schema, attachments = there.schema, there.columns
    if as_json:
        last = None if incumbent is None else incumbent.to_dict()
        attached = [column.to_dict() for column in attachments]
        show_json({"table": schema.to_dict(), "columns": attached, "incumbent": last})
        return
    typer.echo(str(schema))
    for column in attachments:
        typer.echo(f"attached {column}")
    if not attachments:
        typer.echo("No column has been attached.")
    if incumbent is not None:
        typer.echo(f"The incumbent is {incumbent}.")
    typer.echo(f"\nNext: holdfast attach {again(name)} COLUMN FILE")
