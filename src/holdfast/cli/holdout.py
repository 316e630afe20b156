"""The commands that make a holdout and ask it: init, ask, check."""

from __future__ import annotations

import warnings
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from holdfast import require
from holdfast.cli.app import Json, app, read_bounds, read_number, show_json
from holdfast.cli.ledgers import Data, Name, TableName, opened, resumed
from holdfast.errors import InvalidArgument, SecondLedger
from holdfast.statistics import call

if TYPE_CHECKING:
    from holdfast.holdout.answer import Answer
    from holdfast.holdout.distribution import Distribution
    from holdfast.holdout.groups import Groups
    from holdfast.holdout.holdout import Holdout

__all__ = ["ask", "check", "init"]

_QuestionText = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION",
        help='A statistic, such as "avg(arr_delay > 15)", "median(distance)" or '
        '"auc(score, late)".',
    ),
]
_Where = Annotated[
    str | None,
    typer.Option(metavar="CONDITION", help="Only among rows like these: \"origin = 'JFK'\"."),
]
_By = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="For each value of a column that is declared, or known from other rows. Twice for two "
        'columns; "avg(x) by origin, month" says the same.',
    ),
]
_Bounds = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="LOW HIGH", help="The range of the value; it is cut to it."),
]
_Better = Annotated[
    Literal["higher", "lower"] | None,
    typer.Option(help="Of a difference: say whether the first is better, worse, or cannot tell."),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost; ask nothing.")]
_Why = Annotated[str | None, typer.Option(metavar="TEXT", help="Why you ask; kept in the ledger.")]
_Tolerance = Annotated[
    str | None,
    typer.Option(metavar="X", help="Another half-width than the declared one (part of the range)."),
]
_HalfWidth = Annotated[
    str | None,
    typer.Option(metavar="X", help="The same in the unit of the answer: 6, of minutes."),
]


@app.command(epilog="Example: holdfast init hold.parquet --name flights --questions 500")
def init(
    data: Annotated[str, typer.Argument(help="A CSV, Parquet or DuckDB file, or a glob.")],
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A name; the ledger is NAME.ledger."),
    ] = None,
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
    confidence_level: Annotated[
        str, typer.Option(metavar="X", help="Probability that all intervals are true together.")
    ] = "0.95",
    sampling: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="How the rows came about: independent, clustered:COLUMN:LARGEST (rows of a unit, "
            "at most; without, unit sizes are public), m-dependent:M or declared:SIGMA.",
        ),
    ] = "independent",
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A TOML file with the bounds, values and weights of columns, and favourites.",
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
    from holdfast.ledger.naming import is_there

    path = require.file("name", f"{name or Path(data).stem}.ledger")
    if is_there(path):
        raise InvalidArgument(
            f"there is already a ledger {str(path)!r}; ask it (holdfast budget {path.stem}), or "
            "choose another --name."
        )
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always", SecondLedger)
        holdout = protected(
            path,
            data,
            questions=questions,
            surprises=surprises,
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
        show_json({"ledger": str(path), "design": columns, **holdout.budget.to_dict()})
        return
    typer.echo(f"Protected {holdout.rows:,} rows of {data}; the ledger is {path}.")
    if fixed:
        typer.echo(
            f"Public by design: {', '.join(fixed.columns)}, with the number of rows of each "
            f"of {len(fixed.cells):,} combinations."
        )
    _show_learnt(holdout, train, schema)
    typer.echo(str(holdout.budget))
    if holdout.budget.questions_left == 0 and not holdout.budget.terms.describes:
        many = questions or 100
        typer.echo("\nNo average can be asked at this half-width; see what these rows can give.")
        typer.echo(f"\nNext: holdfast plan --rows {holdout.rows} --questions {many}")
        return
    typer.echo(f"\nNext: holdfast ask {quote(path.stem)} {_first_question(holdout)}")


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


@app.command(
    help="Ask a question without a guess.\n\n"
    f'Statistics: {", ".join(["avg", *call.__all__])}; add "where ..." for rows like these.',
    epilog="Example: holdfast ask flights \"avg(arr_delay > 15) where origin = 'JFK'\"",
)
def ask(
    name: Name,
    question: _QuestionText,
    where: _Where = None,
    by: _By = None,
    bounds: _Bounds = None,
    better: _Better = None,
    train: Annotated[
        str | None, typer.Option(metavar="FILE", help="Other rows, to guess from by itself.")
    ] = None,
    guesser: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who guesses: a name of docs/guessers.md.")
    ] = None,
    discover: Annotated[
        bool,
        typer.Option(
            "--discover",
            help="Find the groups in the protected rows. This ends asks and checks for good; "
            "described questions stay.",
        ),
    ] = False,
    top: Annotated[
        str | None, typer.Option(metavar="K", help="Of discovered groups, the K largest.")
    ] = None,
    why: _Why = None,
    tolerance: _Tolerance = None,
    half_width: _HalfWidth = None,
    dry_run: _DryRun = False,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Ask a question without a guess."""
    from holdfast.statistics.asked import question_of

    ends = read_bounds(bounds)
    asked = question_of(question, where=where, by=by, bounds=ends, better=better)
    wanted = _wanted(tolerance, half_width)
    if dry_run:
        known = resumed(name, train, guesser)
        _show_cost(known, asked, as_json, discover=discover, **wanted)
        return
    largest: Any = read_number("top", top)
    holdout = opened(name, data, table, train, guesser)
    found = holdout.ask(asked, why=why, discover=discover, top=largest, **wanted)
    _show(name, found, as_json)


@app.command(
    epilog='Example: holdfast check flights "avg(arr_delay > 15)" --guess 0.237 --why "baseline"'
)
def check(
    name: Name,
    question: _QuestionText,
    guess: Annotated[
        str | None, typer.Option(metavar="X", help="What you think it is, in its own unit.")
    ] = None,
    guess_from: Annotated[
        str | None, typer.Option(metavar="FILE", help="Other rows, to compute the guess from.")
    ] = None,
    at_most: Annotated[
        str | None, typer.Option(metavar="X", help="Check one side: at most this.")
    ] = None,
    at_least: Annotated[
        str | None, typer.Option(metavar="X", help="Check one side: at least this.")
    ] = None,
    where: _Where = None,
    by: _By = None,
    bounds: _Bounds = None,
    better: _Better = None,
    why: _Why = None,
    tolerance: _Tolerance = None,
    half_width: _HalfWidth = None,
    dry_run: _DryRun = False,
    data: Data = None,
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Check a guess: almost free when confirmed.

    A guess that is not confirmed is a surprise, and is answered as an ask is. The same statistics
    as for ask.
    """
    from holdfast.statistics.asked import question_of

    ends = read_bounds(bounds)
    asked = question_of(question, where=where, by=by, bounds=ends, better=better)
    if [guess, guess_from, at_most, at_least].count(None) != 3:
        raise InvalidArgument("check takes one of --guess, --guess-from, --at-most and --at-least.")
    claim: dict[str, Any] = {
        "guess": read_number("guess", guess) if guess_from is None else guess_from,
        "at_most": read_number("at_most", at_most),
        "at_least": read_number("at_least", at_least),
    }
    wanted = _wanted(tolerance, half_width)
    if dry_run:
        _show_cost(resumed(name), asked, as_json, **wanted, **claim)
        return
    holdout = opened(name, data, table)
    _show(name, holdout.check(asked, why=why, **wanted, **claim), as_json)


def _wanted(tolerance: str | None, half_width: str | None) -> dict[str, Any]:
    """The half-width that is named, as the verbs take it."""
    return {
        "tolerance": read_number("tolerance", tolerance),
        "half_width": read_number("half_width", half_width),
    }


def _show_cost(holdout: Holdout, asked: Any, as_json: bool, **said: Any) -> None:
    cost = holdout.cost(asked, **said)
    if as_json:
        show_json(cost.to_dict())
        return
    typer.echo(f"{cost}\n  now {holdout.budget.remaining}")
    typer.echo("\nNext: the same without --dry-run, to ask it.")


def _show(name: str, found: Answer | Groups | Distribution, as_json: bool) -> None:
    from holdfast.holdout.answer import Answer

    one = isinstance(found, Answer)
    if as_json:
        show_json(found.to_dict() if isinstance(found, Answer) else found.to_dicts())
        return
    typer.echo(f"{found.question}\n  {found}" if one else str(found))
    typer.echo(f"\nNext: holdfast budget {quote(name)}")
