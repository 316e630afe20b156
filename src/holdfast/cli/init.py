"""The command that makes a holdout: init; and what a new ledger says of its table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from holdfast.cli.commands import Json, app, read_number, sampling_of_text, secret_file, show_json
from holdfast.cli.ledgers import LedgerAddress, TableName, new_ledger
from holdfast.cli.mechanisms import options_of_text
from holdfast.errors import ImplausibleScale, InvalidArgument, SecondLedger

if TYPE_CHECKING:
    import polars as pl

    from holdfast.data.files import TableForm
    from holdfast.holdout.holdout import Holdout
    from holdfast.question.columns import Schema
    from holdfast.question.expression import ColumnType

__all__ = [
    "Flag",
    "Null",
    "Separator",
    "first_question",
    "form_of_text",
    "init",
    "introduction",
    "protected",
    "read_table",
]


# What a new ledger says of its table, and a first question to ask it: for init and publish.
#
# All of it is declared, or learnt from training rows. Of the protected rows only the types of
# columns are known, and which of them hold missing values; where these come from is said.


def introduction(holdout: Holdout, data: str, train: str | None, schema: str | None) -> str:
    """The columns, what is known of them, and where that is from."""
    from holdfast.data.source import csv_paths
    from holdfast.question.expression import ValueKind

    known = holdout.schema
    told = ["Columns:", *(f"  {line}" for line in str(known).splitlines())]
    if csv_paths(data):
        whence = f"{data} itself" if train is None else f"{train}, or of {data} where it has none"
        told.append(
            f"Types are those of {whence}, and public from now on: confirm them, or remove the "
            "ledger and say --flag COLUMN (0 and 1 mean no and yes) or --null TEXT (it stands for "
            "a missing value)."
        )
    if any(not never for never in known.never_null.values()):
        told.append(
            "Rows without a value are left out of what is asked of a column that may be missing, "
            "and every answer says how many."
        )
    if train is not None:
        told += _learnt(known, train, schema)
    if not known.bounds and any(kind.kind is ValueKind.NUMBER for kind in known.types.values()):
        told.append(
            "No bounds are declared: an average of numbers needs them (--schema FILE, or --bounds "
            "with the question); a condition, such as x > 0, does not."
        )
    fixed = holdout.opening.terms.design
    if fixed:
        told.append(
            f"Public by design: {', '.join(fixed.columns)}, with the number of rows of each "
            f"of {len(fixed.cells):,} combinations."
        )
    return "\n".join(told)


def _learnt(known: Schema, train: str, schema: str | None) -> list[str]:
    """What was taken from training rows, and what that means."""
    from holdfast.question.columns import Schema

    ranges = known.bounds.keys() - Schema(known.types).declare(schema).bounds.keys()
    names = [name for name in known.types if name in ranges or name in known.learnt]
    said = [f"Learnt from {train}: {', '.join(names)}."] if names else []
    if ranges:
        said.append(
            "Where a column is averaged, values outside its range count as the nearest end."
        )
    return said


def first_question(holdout: Holdout) -> str:
    """Something that can be asked, as it is typed; of columns that nobody knows already."""
    schema, terms = holdout.schema, holdout.opening.terms
    public = {terms.key, *(terms.public or ()), *terms.design.columns}
    names = [name for name in schema.types if name not in public] or list(schema.types)
    question = next(_questions(schema, names))
    return quote(question) if '"' in question else f'"{question}"'


def _questions(schema: Schema, names: Sequence[str]) -> Iterator[str]:
    """What can be asked of columns, by what is declared: the most telling first."""
    from holdfast.question.expression import ColumnType
    from holdfast.question.text import identifier, string

    typed = {name: (identifier(name), schema.types[name]) for name in names}
    yield from schema.favourites
    for column, kind in typed.values():
        if kind is ColumnType.BOOLEAN:
            yield f"avg({column})"
    for name in names:
        if name in schema.bounds:
            yield f"avg({identifier(name)})"
    for name in names:
        if name in schema.values:
            yield f"avg({identifier(name)} = {string(schema.values[name][0])})"
    for wanted in (ColumnType.FLOAT, ColumnType.INTEGER):  # whole numbers often only name things
        for column, kind in typed.values():
            if kind is wanted:
                yield f"avg({column} > 0)"
    for column, kind in typed.values():
        if kind is not ColumnType.OTHER:
            yield f"avg({column} is not null)"
    yield "avg(column is not null)"  # of these columns nothing can be asked


# How a table is written, as commands take it: what separates cells, what is missing, flags.


Separator = Annotated[
    str | None,
    typer.Option(metavar="C", help="Of CSV: what stands between cells, such as ; or tab."),
]
Null = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="Of CSV: a text that stands for a missing value, such as NA. Repeat for several.",
    ),
]
Flag = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="A column of 0 and 1 that is a condition: no and yes. Repeat for several.",
    ),
]

_TABS = ("tab", "\\t")  # which nobody can type as it is


def form_of_text(
    separator: str | None, null: list[str] | None, flag: list[str] | None
) -> TableForm:
    """The form that the command line says."""
    from holdfast.data.files import table_form

    return table_form("\t" if separator in _TABS else separator, null, flag)


def read_table(
    data: str, form: TableForm, types: dict[str, ColumnType] | None = None
) -> pl.DataFrame:
    """A table in a CSV or Parquet file, whole; it is nobody's protected one."""
    from holdfast.data.csv import require_flags
    from holdfast.data.plain import column_type
    from holdfast.data.sample import reading
    from holdfast.data.source import KnownTable, files_of, frame_in_files, require_form

    path = Path(data)
    if not path.is_file() or path.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidArgument(
            f"data is {data!r}; it must be a .csv or .parquet file that is there."
        )
    require_form(data, form)
    with reading():
        frame = frame_in_files(files_of(data), KnownTable(form, types or {})).collect()
    require_flags({name: column_type(each) for name, each in frame.schema.items()}, form.flags)
    return frame


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
            "at most) or clustered:COLUMN:fixed (unit sizes were decided), m-dependent:M, "
            "dependency-graph:DEGREE, markov-chain:CONTRACTION or declared:SIGMA.",
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

    where, called = new_ledger(name, data, ledger)
    with warnings.catch_warnings(record=True) as noticed:
        for each in (SecondLedger, ImplausibleScale):
            warnings.simplefilter("always", each)
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


# A new ledger from what the command line says of it: for init and publish.


_NUMBERS = (
    "questions",
    "surprises",
    "candidates",
    "tolerance",
    "confidence_level",
    "described_share",
)


def protected(
    ledger: str | Path,
    data: str,
    *,
    sampling: str,
    schema: str | None,
    train: str | None,
    learn_bounds: bool,
    option: list[str] | None,
    separator: str | None,
    null: list[str] | None,
    flag: list[str] | None,
    **said: Any,
) -> Holdout:
    """The holdout of a table whose ledger is made now; `said` is as `open` takes it, in texts."""
    from holdfast.holdout.open import open as open_holdout

    numbers = {name: read_number(name, said.pop(name)) for name in _NUMBERS}
    form = form_of_text(separator, null, flag)
    return open_holdout(
        data,
        ledger=ledger,
        sampling=sampling_of_text(sampling),
        schema=_with_learnt_bounds(schema, train, form) if learn_bounds else schema,
        train=train,
        options=options_of_text(option or []),
        **asdict(form),
        **numbers,  # type: ignore[arg-type]
        **said,
    )


def _with_learnt_bounds(schema: str | None, train: str | None, form: TableForm) -> Schema:
    """What the file declares, and the ranges that training rows have in other columns."""
    from holdfast.data.learning import learnt_schema
    from holdfast.data.source import KnownTable, open_sample
    from holdfast.question.columns import Schema

    if train is None:
        raise InvalidArgument("--learn-bounds needs --train FILE: rows to learn them from.")
    sample = open_sample(train, known=KnownTable(form))
    declared = Schema(sample.types).declare(schema)
    learnt = {
        name: entry
        for name, entry in learnt_schema(sample).items()
        if isinstance(entry, tuple) and name not in declared.bounds
    }
    return declared.declare(learnt)
