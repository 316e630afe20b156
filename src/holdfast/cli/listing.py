"""The command that finds ledgers: list."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from holdfast.cli.app import Json, app, show_json
from holdfast.cli.records import AUDIT_FAILED
from holdfast.errors import HoldfastError, LedgerTampered

if TYPE_CHECKING:
    from holdfast.ledger.records import LedgerHome

__all__ = ["list"]


@app.command(epilog="Example: holdfast list")
def list(as_json: Json = False) -> None:
    """The ledgers of this folder, and others that were opened."""
    from holdfast.ledger.reach import in_reach

    found = [_facts(ledger) for ledger in in_reach(Path())]
    if as_json:
        show_json(found)
    elif found:
        for facts in found:
            typer.echo(f"{facts['ledger']}\n  {_told(facts)}")
        typer.echo(f"\nNext: holdfast budget {quote(found[0]['ledger'])}")
    else:
        typer.echo("There is no ledger here, nor was one opened elsewhere.")
        typer.echo("\nNext: holdfast init DATA --name NAME")
    if any(facts.get("tampered") for facts in found):
        sys.exit(AUDIT_FAILED)


def _facts(ledger: LedgerHome) -> dict[str, Any]:
    """What a ledger is about; or why that cannot be said. It is looked at, and needs no secret."""
    from holdfast.holdout.budget import budget_of
    from holdfast.ledger.reader import look
    from holdfast.ledger.transcript import Transcript

    try:
        with look(ledger) as reader:
            transcript = Transcript.resumed(reader)
            name, answered = transcript.opening.name, transcript.next_line - 1
            budget = budget_of(transcript)
    except LedgerTampered as error:
        return {"ledger": str(ledger), "error": str(error), "tampered": True}
    except HoldfastError as error:
        return {"ledger": str(ledger), "error": str(error)}
    return {
        "ledger": str(ledger),
        "name": name,
        "rows": budget.terms.rows,
        "answered": answered,
        "questions_left": budget.questions_left,
        "left": budget.remaining,
    }


def _told(facts: dict[str, Any]) -> str:
    if "error" in facts:
        return f"cannot be read: {facts['error']}"
    return (
        f"{facts['name']}: {facts['rows']:,} rows, {facts['answered']:,} answered, {facts['left']}"
    )
