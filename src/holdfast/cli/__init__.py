"""The command line. Human text on a terminal, `--json` everywhere; every text ends with what to do
next.

Exit codes: 0 ok (of a gate: shown), 2 usage, 3 refused, 4 audit failed, or the ledger was tampered
with, 5 not shown.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, LedgerTampered, Refused

if TYPE_CHECKING:
    from typer import Typer

__all__ = ["main", "whole_app"]

_USAGE, _REFUSED, _TAMPERED = 2, 3, 4


def whole_app() -> Typer:
    """The app with all its commands, in the order of `holdfast --help`."""
    from holdfast.cli.app import app

    for module in (
        "holdout",
        "verbs",
        "columns",
        "last_looks",
        "board",
        "service",
        "records",
        "mcp",
        "listing",
        "demo",
        "attack",
        "mechanisms",
        "theorems",
    ):
        importlib.import_module(f"holdfast.cli.{module}")  # its commands enter themselves
    return app


def main() -> None:
    """Run the command line; errors become one sentence and an exit code."""
    try:
        whole_app()()
    except HoldfastError as error:
        if "--json" in sys.argv:
            print(json.dumps({"error": type(error).__name__, "message": str(error)}))
        else:
            print(f"holdfast: {error}", file=sys.stderr)
        sys.exit(_code(error))


def _code(error: HoldfastError) -> int:
    match error:
        case Refused():
            return _REFUSED
        case LedgerTampered():
            return _TAMPERED
        case _:
            return _USAGE
