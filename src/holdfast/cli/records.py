"""The commands that look at a ledger and ask nothing: budget, ledger, audit."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from holdfast.cli.app import Json, app, show_json
from holdfast.cli.ledgers import Data, Name, Table, ledger_path, resumed, where_the_data_is
from holdfast.cli.progress import progress
from holdfast.errors import HoldfastError, InvalidArgument

AUDIT_FAILED = 4


@app.command(epilog="Example: holdfast budget flights")
def budget(name: Name, as_json: Json = False) -> None:
    """What is left, and what is promised."""
    left = resumed(name).budget
    if as_json:
        show_json(left.to_dict())
    else:
        typer.echo(f"{left}\n\nNext: holdfast ledger {quote(name)}")


@app.command(epilog="Example: holdfast ledger flights --output answers.csv")
def ledger(
    name: Name,
    explain: Annotated[
        bool, typer.Option("--explain", help="How every interval came about.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the table to a .csv, .json or .parquet file."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Every question and answer so far."""
    holdout = resumed(name)
    view = holdout.ledger
    if output is not None:
        _write(view, Path(output))
    if as_json:
        show_json(view.to_dicts())
        return
    typer.echo(holdout.explain() if explain else str(view))
    typer.echo(f"\nWritten to {output}." if output else f"\nNext: holdfast audit {quote(name)}")


def _write(view: Any, path: Path) -> None:
    if not path.parent.is_dir():
        raise InvalidArgument(
            f"output is {str(path)!r}, and there is no folder {str(path.parent)!r}; create it "
            "first."
        )
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
    """Check the ledger's chain, every interval, and the data.

    Every interval is derived again from the ledger alone; the data is read for its fingerprint,
    and for what the ledger says of it.
    """
    from holdfast.data.source import open_sample
    from holdfast.ledger.audit import audit as run_audit

    path = ledger_path(name)
    source, skipped = (data, None) if data is not None else _source(path)
    findings = run_audit(
        path,
        None if source is None else lambda: open_sample(source, table=table),
        progress("entries audited"),
    )
    fine = all(finding.fine for finding in findings)
    if as_json:
        found = [finding.to_dict() for finding in findings]
        show_json({"fine": fine, "data_compared": source is not None, "findings": found})
    else:
        for finding in findings:
            typer.echo(f"{'ok' if finding.fine else 'FAILED':<8}{finding.what}: {finding.detail}")
        if skipped is not None:
            typer.echo(f"skip    data: {skipped}")
        typer.echo(f"\n{_verdict(fine, compared=source is not None)}")
        if fine:
            typer.echo(f"\nNext: holdfast ledger {quote(name)} --explain")
    if not fine:
        sys.exit(AUDIT_FAILED)


def _verdict(fine: bool, *, compared: bool) -> str:
    if not fine:
        return (
            "The promise cannot be relied upon: restore the ledger or the data that it belongs to."
        )
    if compared:
        return "The promise is intact."
    return "The ledger is intact; whether its data is unchanged was not looked at."


def _source(path: Path) -> tuple[str | None, str | None]:
    from holdfast.holdout.open import open as open_holdout

    try:
        source = open_holdout(ledger=path).source
    except HoldfastError:
        return None, None  # the audit itself will say what is wrong
    return where_the_data_is(source)
