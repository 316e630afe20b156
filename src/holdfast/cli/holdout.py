"""The commands that work on a holdout: init, check, ask, budget, ledger, audit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from holdfast.cli.app import Json, app, number, sampling_of_text, show_json
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    from holdfast.answer import Answer
    from holdfast.budget import Cost
    from holdfast.groups import Groups
    from holdfast.holdout import Holdout

AUDIT_FAILED = 4

Name = Annotated[str, typer.Argument(help="The holdout's name (NAME.ledger) or its ledger file.")]
QuestionText = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION",
        help='A statistic, such as "avg(arr_delay > 15)", "median(distance)" or '
        '"auc(score, late)".',
    ),
]
Where = Annotated[str | None, typer.Option(help="Only among rows like these: \"origin = 'JFK'\".")]
By = Annotated[
    str | None,
    typer.Option(
        help="For each value of a column: a design column, or one whose values are known from "
        "other rows."
    ),
]
Bounds = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="LOW HIGH", help="The range of the value; it is cut to it."),
]
Better = Annotated[
    Literal["higher", "lower"] | None,
    typer.Option(help="Of a difference: say whether the first is better, worse, or cannot tell."),
]
Data = Annotated[str | None, typer.Option(help="The data, if it is not where it was at init.")]
Table = Annotated[str | None, typer.Option(help="The table in a DuckDB file with several.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost; ask nothing.")]
Why = Annotated[str | None, typer.Option(help="Why you ask; kept in the ledger.")]
Tolerance = Annotated[
    str | None, typer.Option(help="Another half-width than the declared one (part of the range).")
]


def _ledger(name: str) -> Path:
    path = Path(name)
    return path if path.is_file() else Path(f"{name}.ledger")


def _resumed(name: str, train: str | None = None, guesser: str | None = None) -> Holdout:
    """The holdout without its rows: nothing new can be asked of it."""
    from holdfast.opening import open as open_holdout

    path = _ledger(name)
    if not path.is_file():
        raise InvalidArgument(
            f"there is no ledger {str(path)!r}; make one: holdfast init DATA --name {name}"
        )
    return open_holdout(ledger=path, train=train, guesser=guesser)


def _opened(
    name: str,
    data: str | None,
    table: str | None,
    train: str | None,
    guesser: str | None = None,
) -> Holdout:
    """The holdout with its rows, from `data` or from where they were at first."""
    from holdfast.opening import open as open_holdout

    known = _resumed(name).source  # first of all: a name that is misspelt makes no new ledger
    return open_holdout(
        data or known, ledger=_ledger(name), table=table, train=train, guesser=guesser
    )


@app.command(epilog="Example: holdfast init hold.parquet --name flights --questions 500")
def init(
    data: Annotated[str, typer.Argument(help="A CSV, Parquet or DuckDB file, or a glob.")],
    name: Annotated[str | None, typer.Option(help="A name; the ledger is NAME.ledger.")] = None,
    questions: Annotated[str | None, typer.Option(help="How many will be asked.")] = None,
    tolerance: Annotated[
        str | None, typer.Option(help="Promised half-width, as a part of the range: 0.025.")
    ] = None,
    confidence_level: Annotated[
        str, typer.Option(help="Probability that all intervals are true together.")
    ] = "0.95",
    sampling: Annotated[
        str,
        typer.Option(help="independent, clustered:COLUMN, m-dependent:M or declared:SIGMA."),
    ] = "independent",
    schema: Annotated[
        str | None, typer.Option(help="A TOML file with the bounds of columns.")
    ] = None,
    design: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that somebody decided (arm, site, category, label); it becomes public. "
            "Repeat for several.",
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
    table: Table = None,
    as_json: Json = False,
) -> None:
    """Protect a table: fingerprint it and open its ledger."""
    from holdfast.cli.mechanisms import options_of_text
    from holdfast.opening import open as open_holdout

    path = Path(f"{name or Path(data).stem}.ledger")
    if path.exists():
        raise InvalidArgument(
            f"there is already a ledger {str(path)!r}; ask it, or choose another --name."
        )
    holdout = open_holdout(
        data,
        ledger=path,
        questions=number("questions", questions),  # type: ignore[arg-type]
        tolerance=number("tolerance", tolerance),
        confidence_level=number("confidence_level", confidence_level),
        sampling=sampling_of_text(sampling),
        schema=schema,
        design=design,
        mechanism=mechanism,
        options=options_of_text(option or []),
        private=private,
        table=table,
    )
    public = holdout.opening.design
    if as_json:
        columns = [] if public is None else public["columns"]
        show_json({"ledger": str(path), "design": columns, **holdout.budget.to_dict()})
        return
    typer.echo(f"Protected {holdout.rows:,} rows of {data}; the ledger is {path}.")
    if public is not None:
        typer.echo(
            f"Public by design: {', '.join(public['columns'])}, with the number of rows of each "
            f"of {len(public['cells']):,} combinations."
        )
    typer.echo(str(holdout.budget))
    typer.echo(f'\nNext: holdfast ask {path.stem} "avg(column > 0)"')


@app.command(epilog='Example: holdfast ask flights "avg(arr_delay)" --bounds -60 180 --by origin')
def ask(
    name: Name,
    question: QuestionText,
    where: Where = None,
    by: By = None,
    bounds: Bounds = None,
    better: Better = None,
    train: Annotated[
        str | None, typer.Option(metavar="FILE", help="Other rows, to guess from by itself.")
    ] = None,
    guesser: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who guesses: a name of docs/guessers.md.")
    ] = None,
    why: Why = None,
    tolerance: Tolerance = None,
    dry_run: DryRun = False,
    data: Data = None,
    table: Table = None,
    as_json: Json = False,
) -> None:
    """Ask a question without a guess.

    Statistics: avg, sum, count, variance, std, covariance, correlation, quantile, median,
    histogram, difference, auc, accuracy, error, log_loss, brier and f1; add "where ..." for rows
    like these.
    """
    from holdfast.cli.asked import question_of

    asked = question_of(question, where=where, by=by, bounds=bounds, better=better)
    wanted: Any = number("tolerance", tolerance)
    if dry_run:
        _show_cost(_resumed(name, train, guesser).cost(asked, tolerance=wanted), as_json)
        return
    holdout = _opened(name, data, table, train, guesser)
    _show(name, holdout.ask(asked, why=why, tolerance=wanted), as_json)


@app.command(
    epilog='Example: holdfast check flights "avg(arr_delay > 15)" --guess 0.237 --why "baseline"'
)
def check(
    name: Name,
    question: QuestionText,
    guess: Annotated[str | None, typer.Option(help="What you think it is.")] = None,
    guess_from: Annotated[
        str | None, typer.Option(metavar="FILE", help="Other rows, to compute the guess from.")
    ] = None,
    at_most: Annotated[str | None, typer.Option(help="Check one side: at most this.")] = None,
    at_least: Annotated[str | None, typer.Option(help="Check one side: at least this.")] = None,
    where: Where = None,
    by: By = None,
    bounds: Bounds = None,
    better: Better = None,
    why: Why = None,
    tolerance: Tolerance = None,
    dry_run: DryRun = False,
    data: Data = None,
    table: Table = None,
    as_json: Json = False,
) -> None:
    """Check a guess: almost free when confirmed, answered as an ask when a surprise.

    The same statistics as for ask.
    """
    from holdfast.cli.asked import question_of

    asked = question_of(question, where=where, by=by, bounds=bounds, better=better)
    if [guess, guess_from, at_most, at_least].count(None) != 3:
        raise InvalidArgument("check takes one of --guess, --guess-from, --at-most and --at-least.")
    claim: dict[str, Any] = {
        "guess": number("guess", guess),
        "at_most": number("at_most", at_most),
        "at_least": number("at_least", at_least),
    }
    wanted: Any = number("tolerance", tolerance)
    if dry_run:
        _show_cost(_resumed(name, guess_from).cost(asked, tolerance=wanted, **claim), as_json)
        return
    holdout = _opened(name, data, table, guess_from)
    if guess_from is not None:
        # To ask with other rows at hand is to check what those rows say.
        _show(name, holdout.ask(asked, why=why, tolerance=wanted), as_json)
    else:
        _show(name, holdout.check(asked, why=why, tolerance=wanted, **claim), as_json)


def _show_cost(cost: Cost, as_json: bool) -> None:
    show_json(cost.to_dict()) if as_json else typer.echo(str(cost))


def _show(name: str, found: Answer | Groups, as_json: bool) -> None:
    from holdfast.groups import Groups

    if as_json:
        show_json(found.to_dicts() if isinstance(found, Groups) else found.to_dict())
        return
    typer.echo(str(found) if isinstance(found, Groups) else f"{found.question}\n  {found}")
    typer.echo(f"\nNext: holdfast budget {name}")


@app.command(epilog="Example: holdfast budget flights")
def budget(name: Name, as_json: Json = False) -> None:
    """What is left, and what is promised."""
    left = _resumed(name).budget
    if as_json:
        show_json(left.to_dict())
    else:
        typer.echo(f"{left}\n\nNext: holdfast ledger {name}")


@app.command(epilog="Example: holdfast ledger flights --output answers.csv")
def ledger(
    name: Name,
    explain: Annotated[
        bool, typer.Option("--explain", help="How every interval came about.")
    ] = False,
    output: Annotated[
        str | None, typer.Option(help="Write the table to a .csv, .json or .parquet file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Every question and answer so far."""
    holdout = _resumed(name)
    view = holdout.ledger
    if output is not None:
        _write(view, Path(output))
    if as_json:
        show_json(view.to_dicts())
        return
    typer.echo(holdout.explain() if explain else str(view))
    typer.echo(f"\nWritten to {output}." if output else f"\nNext: holdfast audit {name}")


def _write(view: Any, path: Path) -> None:
    frame = view.to_polars()
    match path.suffix.lower():
        case ".csv":
            frame.write_csv(path)
        case ".json":
            frame.write_json(path)
        case ".parquet":
            frame.write_parquet(path)
        case _:
            raise InvalidArgument(
                f"output is {str(path)!r}; its name must end in .csv, .json or .parquet."
            )


@app.command(epilog="Example: holdfast audit flights")
def audit(
    name: Name,
    data: Data = None,
    table: Table = None,
    as_json: Json = False,
) -> None:
    """Check the chain, derive every interval again from the ledger alone, and look at the data."""
    from holdfast.data.fingerprint import fingerprint
    from holdfast.data.source import open_sample
    from holdfast.ledger.audit import audit as run_audit

    path = _ledger(name)
    if not path.is_file():
        raise InvalidArgument(f"there is no ledger {str(path)!r}; nothing to audit.")
    source = data or _source(path)
    findings = run_audit(
        path,
        (lambda: fingerprint(open_sample(source, table=table))) if source is not None else None,
    )
    fine = all(finding.fine for finding in findings)
    if as_json:
        show_json({"fine": fine, "findings": [finding.to_dict() for finding in findings]})
    else:
        for finding in findings:
            typer.echo(
                f"{'ok    ' if finding.fine else 'FAILED'}  {finding.what}: {finding.detail}"
            )
        if source is None:
            typer.echo("skip    data: the ledger names no file; give --data to compare")
        typer.echo("\nThe promise is intact." if fine else "\nThe promise cannot be relied upon.")
    if not fine:
        sys.exit(AUDIT_FAILED)


def _source(path: Path) -> str | None:
    from holdfast.errors import HoldfastError
    from holdfast.opening import open as open_holdout

    try:
        return open_holdout(ledger=path).source
    except HoldfastError:
        return None  # the audit itself will say what is wrong
