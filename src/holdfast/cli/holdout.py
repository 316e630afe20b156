"""The commands that work on a holdout: init, check, ask, budget, ledger, audit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.app import Json, app, number, sampling_of_text, show_json
from holdfast.errors import InvalidArgument

if TYPE_CHECKING:
    from holdfast.holdout import Holdout

AUDIT_FAILED = 4

Name = Annotated[str, typer.Argument(help="The holdout's name (NAME.ledger) or its ledger file.")]
Data = Annotated[str | None, typer.Option(help="The data, if it is not where it was at init.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost; ask nothing.")]
Why = Annotated[str | None, typer.Option(help="Why you ask; kept in the ledger.")]
Tolerance = Annotated[
    str | None, typer.Option(help="Another half-width than the declared one (part of the range).")
]


def _ledger(name: str) -> Path:
    path = Path(name)
    return path if path.is_file() else Path(f"{name}.ledger")


def _opened(name: str, data: str | None, *, with_data: bool) -> Holdout:
    from holdfast.opening import open as open_holdout

    path = _ledger(name)
    if not path.is_file():
        raise InvalidArgument(
            f"there is no ledger {str(path)!r}; make one: holdfast init DATA --name {name}"
        )
    if not with_data:
        return open_holdout(ledger=path)
    source = data or open_holdout(ledger=path).source
    return open_holdout(source, ledger=path)


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
    table: Annotated[str | None, typer.Option(help="The table in a DuckDB file.")] = None,
    as_json: Json = False,
) -> None:
    """Protect a table: fingerprint it and open its ledger."""
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
        table=table,
    )
    if as_json:
        show_json({"ledger": str(path), **holdout.budget.to_dict()})
        return
    typer.echo(f"Protected {holdout.rows:,} rows of {data}; the ledger is {path}.")
    typer.echo(str(holdout.budget))
    typer.echo(f'\nNext: holdfast ask {path.stem} "avg(column > 0)"')


@app.command(epilog='Example: holdfast ask flights "avg(dep_delay > 60)"')
def ask(
    name: Name,
    question: Annotated[str, typer.Argument(help='Such as "avg(arr_delay > 15)".')],
    why: Why = None,
    tolerance: Tolerance = None,
    dry_run: DryRun = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Ask a question without a guess."""
    wanted: Any = number("tolerance", tolerance)
    if dry_run:
        cost = _opened(name, data, with_data=False).cost(question, tolerance=wanted)
        show_json(cost.to_dict()) if as_json else typer.echo(str(cost))
        return
    holdout = _opened(name, data, with_data=True)
    _show(name, holdout.ask(question, why=why, tolerance=wanted), as_json)


@app.command(
    epilog='Example: holdfast check flights "avg(arr_delay > 15)" --guess 0.237 --why "baseline"'
)
def check(
    name: Name,
    question: Annotated[str, typer.Argument(help='Such as "avg(arr_delay > 15)".')],
    guess: Annotated[str | None, typer.Option(help="What you think it is.")] = None,
    at_most: Annotated[str | None, typer.Option(help="Check one side: at most this.")] = None,
    at_least: Annotated[str | None, typer.Option(help="Check one side: at least this.")] = None,
    why: Why = None,
    tolerance: Tolerance = None,
    dry_run: DryRun = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Check a guess: almost free when confirmed, answered as an ask when a surprise."""
    claim: dict[str, Any] = {
        "guess": number("guess", guess),
        "at_most": number("at_most", at_most),
        "at_least": number("at_least", at_least),
    }
    wanted: Any = number("tolerance", tolerance)
    if dry_run:
        cost = _opened(name, data, with_data=False).cost(question, tolerance=wanted, **claim)
        show_json(cost.to_dict()) if as_json else typer.echo(str(cost))
        return
    holdout = _opened(name, data, with_data=True)
    _show(name, holdout.check(question, why=why, tolerance=wanted, **claim), as_json)


def _show(name: str, answer: Any, as_json: bool) -> None:
    if as_json:
        show_json(answer.to_dict())
        return
    typer.echo(f"{answer.question}\n  {answer}")
    typer.echo(f"\nNext: holdfast budget {name}")


@app.command(epilog="Example: holdfast budget flights")
def budget(name: Name, as_json: Json = False) -> None:
    """What is left, and what is promised."""
    left = _opened(name, None, with_data=False).budget
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
    holdout = _opened(name, None, with_data=False)
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
        path, (lambda: fingerprint(open_sample(source))) if source is not None else None
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
