"""The command that makes a holdout: init."""

from __future__ import annotations

import warnings
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from holdfast.cli.app import Json, app, secret_file, show_json
from holdfast.cli.ledgers import LedgerAddress, TableName, new_ledger
from holdfast.errors import SecondLedger

if TYPE_CHECKING:
    from holdfast.holdout.holdout import Holdout

__all__ = ["init"]


@app.command(epilog="Example: holdfast init hold.parquet --name flights --questions 500")
def init(
    data: Annotated[str, typer.Argument(help="A CSV, Parquet or DuckDB file, a glob, or a URL.")],
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
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Protect a table: fingerprint it and open its ledger."""
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
            mechanism=mechanism,
            option=option,
            private=private,
            table=table,
        )
    for warning in noticed:
        typer.echo(f"holdfast: {warning.message}", err=True)
    fixed = holdout.opening.terms.design
    if as_json:
        columns = list(fixed.columns)
        show_json({"ledger": str(where), "design": columns, **holdout.budget.to_dict()})
        return
    typer.echo(f"Protected {holdout.rows:,} rows of {data}; the ledger is {where}.")
    if fixed:
        typer.echo(
            f"Public by design: {', '.join(fixed.columns)}, with the number of rows of each "
            f"of {len(fixed.cells):,} combinations."
        )
    _show_learnt(holdout, train, schema)
    typer.echo(str(holdout.budget))
    if candidates is not None and key is not None:  # it was made to be shown scores
        typer.echo(f"\nNext: holdfast gate {quote(called)} FILE --as NAME --first")
        return
    if holdout.budget.questions_left == 0 and not holdout.budget.terms.describes:
        many = questions or 100
        typer.echo("\nNo average can be asked at this half-width; see what these rows can give.")
        typer.echo(f"\nNext: holdfast plan --rows {holdout.rows} --questions {many}")
        return
    typer.echo(f"\nNext: holdfast ask {quote(called)} {_first_question(holdout)}")


def _show_learnt(holdout: Holdout, train: str | None, schema: str | None) -> None:
    """What was taken from training rows, and what that means."""
    from holdfast.question.columns import Schema

    if train is None:
        return
    known = holdout.schema
    said = Schema(known.types).declare(schema).bounds
    ranges = known.bounds.keys() - said.keys()
    for name in known.types:
        if name in known.learnt or name in ranges:
            typer.echo(f"Learnt from {train}: {name}, {'; '.join(known.facts(name))}.")
    if ranges:
        typer.echo("Where a column is averaged, values outside its range count as the nearest end.")


def _first_question(holdout: Holdout) -> str:
    """Something that can be asked of these columns, as it is typed."""
    from holdfast.question.expression import ValueKind
    from holdfast.question.text import identifier

    kinds = {name: kind.kind for name, kind in holdout.schema.types.items() if kind.kind}
    by_kind = {kind: identifier(name) for name, kind in reversed(kinds.items())}
    if ValueKind.BOOLEAN in by_kind:
        question = f"avg({by_kind[ValueKind.BOOLEAN]})"
    elif ValueKind.NUMBER in by_kind:
        question = f"avg({by_kind[ValueKind.NUMBER]} > 0)"
    else:
        question = f"avg({next(iter(by_kind.values()), 'column')} is not null)"
    return quote(question) if '"' in question else f'"{question}"'
