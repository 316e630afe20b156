"""The command that divides a table: split."""

from __future__ import annotations

from shlex import quote
from typing import Annotated, Any

import typer

from holdfast import require
from holdfast.cli.commands import Json, app, read_number, show_json
from holdfast.cli.init import read_table
from holdfast.cli.parameters import with_options
from holdfast.errors import InvalidArgument
from holdfast.holdout.options import TableFormOptions

__all__ = ["split"]


@app.command(
    epilog="Example: holdfast split flights.csv --train explore.parquet --hold protect.parquet"
)
@with_options(TableFormOptions)
def split(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A CSV or Parquet file.")],
    test_size: Annotated[
        str, typer.Option(metavar="X", help="The part that is held out, of the rows or values.")
    ] = "0.5",
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows with the same value stay together: a patient."),
    ] = None,
    random_state: Annotated[
        str, typer.Option(metavar="N", help="Which random division; the same is always the same.")
    ] = "0",
    train: Annotated[
        str, typer.Option(metavar="FILE", help="Where the rows to explore go.")
    ] = "train.parquet",
    hold: Annotated[
        str, typer.Option(metavar="FILE", help="Where the rows to protect go.")
    ] = "hold.parquet",
    as_json: Json = False,
    **form: Any,
) -> None:
    """Divide a table: rows to explore, and rows to protect.

    Do it before anybody has looked at the table: what was seen cannot be held out. Both parts are
    Parquet, which keeps the types of columns.
    """
    from holdfast.data.split import split as divided

    targets = [require.file("train", train), require.file("hold", hold)]
    for target in targets:
        if target.suffix.lower() != ".parquet" or target.exists():
            raise InvalidArgument(
                f"the file is {str(target)!r}; its name must end in .parquet, and nothing may be "
                "there yet."
            )
    share: Any = read_number("test_size", test_size)
    seed: Any = read_number("random_state", random_state)
    table = read_table(data, form)
    parts = divided(table, share, seed, by=by)
    for part, target in zip(parts, targets, strict=True):
        part.write_parquet(target)
    if as_json:
        show_json({"train": train, "hold": hold, "rows": [part.height for part in parts]})
        return
    for part, target, what in zip(parts, targets, ("explore", "protect"), strict=True):
        typer.echo(f"{target!s}: {part.height:,} rows to {what}")
    typer.echo(f"\nNext: holdfast init {quote(hold)} --train {quote(train)}")
