"""The commands that divide a table, protect it and declare what is known of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast import require
from holdfast.cli.commands import Json, app, read_number, secret_file, show_json, waiting
from holdfast.cli.ledgers import (
    LedgerAddress,
    Name,
    TableName,
    is_log,
    item_table,
    new_ledger,
    resumed,
)
from holdfast.cli.parameters import with_options
from holdfast.errors import ImplausibleScale, InvalidArgument, SecondLedger
from holdfast.holdout.options import (
    CorrectionOptions,
    DeclareOptions,
    PromiseOptions,
    TableFormOptions,
)

if TYPE_CHECKING:
    import polars as pl

    from holdfast.evals.item_scores import ItemList
    from holdfast.holdout.holdout import Holdout
    from holdfast.question.columns import Schema
    from holdfast.question.expression import ColumnType


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
                "there yet: name others, as in --train explore.parquet --hold protect.parquet."
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
    for part, target, purpose in zip(parts, targets, ("explore", "protect"), strict=True):
        typer.echo(f"{target!s}: {part.height:,} rows to {purpose}")
    typer.echo(f"\nNext: holdfast init {quote(hold)} --train {quote(train)}")


# What a new ledger says of its table, and a first question to ask it: for init and publish.
#
# All of it is declared, or learnt from training rows. Of the protected rows only the types of
# columns are known, and which of them hold missing values; where these come from is said.


_PROPOSED = 3  # outcomes, and segments


def introduction(holdout: Holdout, data: str, declared: Mapping[str, Any]) -> str:
    """The columns, what is known of them, and where that is from."""
    from holdfast.data.source import csv_paths
    from holdfast.question.expression import ValueKind

    schema, train = holdout.schema, declared.get("train")
    lines = ["Columns:", *(f"  {line}" for line in str(schema).splitlines())]
    if csv_paths(data):
        whence = f"{data} itself" if train is None else f"{train}, or of {data} where it has none"
        lines.append(
            f"Check these column types, which are those of {whence}. To change one, remove the "
            "ledger and run init again with --flag COLUMN (0 and 1 mean no and yes), --null TEXT "
            "(it stands for a missing value), --decimal , --thousands . (numbers such as 2.071,68) "
            "or --date-format %d.%m.%Y."
        )
    if any(not never for never in schema.never_null.values()):
        lines.append(
            "Rows without a value are left out of what is asked of a column that may be missing, "
            "and every answer says how many."
        )
    looked_up = holdout.opening.terms.looked_up
    if looked_up is not None and looked_up[1]:
        lines.append(
            f"That {looked_up[1]:,} of {looked_up[0]:,} columns miss values was read from the "
            "protected rows, and makes answers about later columns or functions wider. To avoid "
            "it, put rows aside (--split 0.5, --train FILE), or declare never_null = false for "
            "them (--schema FILE)."
        )
    if holdout.train is not None:
        lines += holdout.learnt.notes
    if holdout.opening.split is not None:
        lines.append(f"The rows put aside are in {_aside(holdout.name)}, to be explored.")
    if not schema.bounds and any(kind.kind is ValueKind.NUMBER for kind in schema.types.values()):
        lines.append(
            "No bounds are declared: an average of numbers needs them (--schema FILE, or --bounds "
            "with the question); a condition, such as x > 0, does not."
        )
    fixed = holdout.opening.terms.design
    if fixed.columns:
        lines.append(
            f"Public by design: {', '.join(fixed.columns)}, with the number of rows of each "
            f"of {len(fixed.cells):,} combinations."
        )
    return "\n".join([*lines, *_family_to_declare(holdout.schema)])


def _family_to_declare(known: Schema) -> list[str]:
    """What could be declared to be measured, and to be cut by, where nobody said it."""
    from holdfast.holdout.declare import proposed_family
    from holdfast.prior.grammar import Columns
    from holdfast.prior.literals import Class
    from holdfast.question.expression import identifier, numeral

    outcomes, segments = proposed_family(known)
    if known.outcomes or known.planned or not outcomes:
        return []
    # A number that is not measured is cut half-way between its declared bounds, which are public.
    segments += [
        f"{identifier(name)} at {numeral(sum(known.bounds[name]) / 2)}"
        for name, place in Columns(known).places.items()
        if place.of is Class.RANGE and identifier(name) not in outcomes[:_PROPOSED]
    ]
    words = [f"--outcome {quote(name)}" for name in outcomes[:_PROPOSED]]
    words += [f"--segment {quote(name)}" for name in segments[:_PROPOSED]]
    return [
        "Questions of what you measure, by what you cut it, are answered with narrower intervals "
        f"if a new ledger is told so, for instance {' '.join(words)}."
    ]


def first_question(holdout: Holdout) -> str:
    """Something that can be asked, as it is typed; of columns that nobody knows already."""
    schema, terms = holdout.schema, holdout.opening.terms
    public = {terms.key, *(terms.public or ()), *terms.design.columns}
    names = [name for name in schema.types if name not in public] or list(schema.types)
    question = next(_questions(schema, names))
    return quote(question) if '"' in question else f'"{question}"'


def _questions(schema: Schema, names: Sequence[str]) -> Iterator[str]:
    """What can be asked of columns, by what is declared: the most telling first."""
    from holdfast.question.expression import ColumnType, identifier, numeral, string

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
            first = schema.values[name][0]
            constant = string(first) if isinstance(first, str) else numeral(first)
            yield f"avg({identifier(name)} = {constant})"
    for wanted in (ColumnType.FLOAT, ColumnType.INTEGER):  # whole numbers often only name things
        for column, kind in typed.values():
            if kind is wanted:
                yield f"avg({column} > 0)"
    for column, kind in typed.values():
        if kind is not ColumnType.OTHER:
            yield f"avg({column} is not null)"
    yield "avg(column is not null)"  # of these columns nothing can be asked


def read_table(
    data: str, written: Mapping[str, Any], types: dict[str, ColumnType] | None = None
) -> pl.DataFrame:
    """A table in a CSV or Parquet file, whole; it is nobody's protected one."""
    from holdfast.data.csv import require_flags
    from holdfast.data.plain import column_type
    from holdfast.data.sample import reading
    from holdfast.data.source import KnownTable, files_of, frame_in_files, require_form, table_form

    path = Path(data)
    if not path.is_file() or path.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidArgument(
            f"data is {data!r}; it must be a .csv or .parquet file that is there."
        )
    form = table_form(**written)
    require_form(data, form)
    with reading():
        frame = frame_in_files(files_of(data), KnownTable(form, types or {})).collect()
    require_flags({name: column_type(each) for name, each in frame.schema.items()}, form.flags)
    return frame


DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, Parquet or DuckDB file, a glob, a URL, or a log: the items of an evaluation.",
    ),
]
NewName = Annotated[
    str | None, typer.Option(metavar="NAME", help="A name; the ledger is NAME.ledger.")
]


@app.command(epilog="Example: holdfast init flights.csv --split 0.5")
@with_options(PromiseOptions, DeclareOptions)
def init(
    data: DataFile,
    name: NewName = None,
    ledger: LedgerAddress = None,
    table: TableName = None,
    as_json: Json = False,
    **declared: Any,
) -> None:
    """Protect a table: fingerprint it and open its ledger.

    It shows the columns with their types and what is declared of them, and says what to ask first.
    With --split a part of the rows is put aside, in NAME-train.parquet, to explore and to learn
    ranges and values from; with --train they are learnt from that file. Nothing is ever learnt from
    the protected rows but the types of columns, which are shown to be confirmed. Of a log (.eval,
    .json, .jsonl) only the ids of its items are taken, for candidates to be gated on.
    """

    where, called = new_ledger(name, data, ledger)
    rows: Any = data
    if is_log(data):
        from holdfast.evals.submission import read_items

        items = read_items(data)
        declared = {**_for_items(items), **declared}
        rows = item_table(where, items)
    with warnings.catch_warnings(record=True) as noticed:
        for each in (SecondLedger, ImplausibleScale):
            warnings.simplefilter("always", each)
        secret = secret_file()
        try:
            holdout = protected(where, rows, **declared, table=table, secret=secret)
        except BaseException:
            if isinstance(rows, Path):
                rows.unlink()  # it was made for this ledger
            raise
    for warning in noticed:
        typer.echo(f"holdfast: {warning.message}", err=True)
    if as_json:
        columns = list(holdout.opening.terms.design.columns)
        facts = {"design": columns, "schema": holdout.schema.to_dict()}
        show_json({"ledger": str(where), **facts, **holdout.budget.to_dict()})
        return
    typer.echo(f"Protected {holdout.rows:,} rows of {data}; the ledger is {where}.\n")
    typer.echo(f"{introduction(holdout, data, declared)}\n\n{holdout.budget}")
    if {"candidates", "key"} <= declared.keys():  # it was made to be shown scores
        typer.echo(f"\nNext: holdfast gate {quote(called)} FILE --as NAME --first")
        return
    if holdout.budget.questions_left == 0 and not holdout.budget.terms.describes:
        many = declared.get("questions", 100)
        typer.echo("\nNo average can be asked at this half-width; see what these rows can give.")
        typer.echo(f"\nNext: holdfast plan --rows {holdout.rows} --questions {many}")
        return
    typer.echo(f"\nNext: holdfast ask {quote(called)} {first_question(holdout)}")


@app.command(epilog="Example: holdfast declare flights2 --segment late --share 0.1 --dry-run")
@with_options(CorrectionOptions)
def declare(
    name: Name,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say the price; nothing is declared.")
    ] = False,
    as_json: Json = False,
    **declared: Any,
) -> None:
    """Correct what was declared.

    Anew until something is asked, then by additions: ranges and values are added at no price,
    and what makes questions shorter takes a share.
    """
    holdout = resumed(name)
    cost = holdout.declare_cost(**declared) if dry_run else holdout.declare(**declared)
    if as_json:
        show_json(cost.to_dict())
        return
    typer.echo(f"{'It would be' if dry_run else 'Declared;'} {cost}.")
    typer.echo(f"\nNext: holdfast {'declare' if dry_run else 'ask'} {quote(name)} ...")


# A new ledger from what the command line says of it: for init and publish.


def _for_items(items: ItemList) -> dict[str, Any]:
    """What is declared of the items of an evaluation where nobody says otherwise, as `EvalGate`."""
    task = {} if items.task is None else {"task": items.task}
    return {"key": items.key, "candidates": 100, "described": "off", **task}


def protected(ledger: str | Path, data: Any, **declared: Any) -> Holdout:
    """The holdout of a table whose ledger is made now; rows put aside are written to a file."""
    from holdfast.holdout.open import open as open_holdout
    from holdfast.ledger.store import home_of

    aside = _aside(home_of(ledger).stem)
    if "split" in declared and aside.exists():
        raise InvalidArgument(
            f"--split puts rows aside in {str(aside)!r}, and something is there already; move it, "
            "or choose another --name."
        )
    with waiting("reading the table"):
        holdout = open_holdout(data, ledger=ledger, **declared)
    if "split" in declared and holdout.train is not None:
        holdout.train.write_parquet(aside)
    return holdout


def _aside(name: str) -> Path:
    """Where the rows of a ledger go that were put aside."""
    return require.file("name", f"{name}-train.parquet")
