"""The command that makes a holdout: init."""

from __future__ import annotations

import warnings
from shlex import quote
from typing import Annotated, Literal

import typer

from holdfast.cli.app import Json, app, secret_file, show_json
from holdfast.cli.forms import Flag, Null, Separator
from holdfast.cli.introducing import first_question, introduction
from holdfast.cli.ledgers import LedgerAddress, TableName, new_ledger
from holdfast.errors import SecondLedger

__all__ = ["init"]


@app.command(epilog="Example: holdfast init hold.parquet --name flights --questions 500")
def init(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A CSV, Parquet or DuckDB file, a glob, or a URL.")
    ],
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A name; the ledger is NAME.ledger."),
    ] = None,
    ledger: LedgerAddress = None,
    questions: Annotated[
        str | None, typer.Option(metavar="N", help="How many will be asked; left out: open.")
    ] = None,
    surprises: Annotated[
        str | None,
        typer.Option(metavar="N", help="Guesses expected to be refuted, of those questions."),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(metavar="X", help="Promised half-width, as a part of the range: 0.025."),
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(metavar="N", help="How many will be gated, at most; left out: open."),
    ] = None,
    confidence_level: Annotated[
        str, typer.Option(metavar="X", help="Probability that all intervals are true together.")
    ] = "0.95",
    sampling: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="How the rows came about: independent, clustered:COLUMN:LARGEST (rows of a unit, "
            "at most; without, unit sizes are public), m-dependent:M, dependency-graph:DEGREE, "
            "markov-chain:CONTRACTION or declared:SIGMA.",
        ),
    ] = "independent",
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A TOML file with the bounds, scales, values and weights of columns, and "
            "favourites.",
        ),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Other rows: values of text columns are learnt from them."
        ),
    ] = None,
    learn_bounds: Annotated[
        bool,
        typer.Option(
            "--learn-bounds",
            help="With --train: the bounds of columns that the schema leaves out, too.",
        ),
    ] = False,
    design: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that somebody decided (arm, site, category, label); it becomes public. "
            "Repeat for several.",
        ),
    ] = None,
    described: Annotated[
        Literal["exact", "rounded", "off"] | None,
        typer.Option(help="How questions are answered that are text over the table's columns."),
    ] = None,
    described_share: Annotated[
        str | None,
        typer.Option(metavar="X", help="The part of the failure probability that is for them."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="A public column that names each row, so that columns can be attached later.",
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the rows are called together; it tells bare ids from those of another task.",
        ),
    ] = None,
    public: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that people know: the promise is for these items. Repeat for several.",
        ),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How it answers: a name of `holdfast mechanisms`."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="An option of the mechanism. Repeat for several."),
    ] = None,
    private: Annotated[
        bool,
        typer.Option("--private", help="Everything released is differentially private."),
    ] = False,
    separator: Separator = None,
    null: Null = None,
    flag: Flag = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Protect a table: fingerprint it and open its ledger.

    It shows the columns with their types and what is declared of them, and says what to ask first.
    Types of CSV files are learnt from --train, or found in the file itself, and shown to be
    confirmed; bounds and values are never taken from the protected rows.
    """
    from holdfast.cli.opening import protected

    where, called = new_ledger(name, data, ledger)
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always", SecondLedger)
        holdout = protected(
            where,
            data,
            secret=secret_file(),
            questions=questions,
            surprises=surprises,
            candidates=candidates,
            tolerance=tolerance,
            confidence_level=confidence_level,
            sampling=sampling,
            schema=schema,
            train=train,
            learn_bounds=learn_bounds,
            design=design,
            described=described,
            described_share=described_share,
            key=key,
            public=public,
            task=task,
            mechanism=mechanism,
            option=option,
            private=private,
            separator=separator,
            null=null,
            flag=flag,
            table=table,
        )
    for warning in noticed:
        typer.echo(f"holdfast: {warning.message}", err=True)
    if as_json:
        columns = list(holdout.opening.terms.design.columns)
        facts = {"design": columns, "schema": holdout.schema.to_dict()}
        show_json({"ledger": str(where), **facts, **holdout.budget.to_dict()})
        return
    typer.echo(f"Protected {holdout.rows:,} rows of {data}; the ledger is {where}.\n")
    typer.echo(f"{introduction(holdout, data, train, schema)}\n\n{holdout.budget}")
    if candidates is not None and key is not None:  # it was made to be shown scores
        typer.echo(f"\nNext: holdfast gate {quote(called)} FILE --as NAME --first")
        return
    if holdout.budget.questions_left == 0 and not holdout.budget.terms.describes:
        many = questions or 100
        typer.echo("\nNo average can be asked at this half-width; see what these rows can give.")
        typer.echo(f"\nNext: holdfast plan --rows {holdout.rows} --questions {many}")
        return
    typer.echo(f"\nNext: holdfast ask {quote(called)} {first_question(holdout)}")
