"""The command line. Human text on a terminal, `--json` everywhere; every text ends with what to do
next.

Exit codes: 0 ok (of a gate: shown, with `--better` and of compare: better), 2 usage, 3 refused, 4
audit failed, or the ledger was tampered with, 5 not shown or cannot tell, 6 worse.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

from holdfast.did_you_mean import (
    COMMANDS_ELSEWHERE,
    EXTRA_ARGUMENTS,
    near_names,
    option_meant,
    option_written,
)
from holdfast.errors import HoldfastError, LedgerTampered, Refused

if TYPE_CHECKING:
    from typer import Typer

__all__ = ["COMMANDS", "exit_code", "main", "whole_app"]

_USAGE, _REFUSED, _TAMPERED = 2, 3, 4
# New objects before garbage is looked for: what a command loads, it keeps (180,000 objects where a
# file of scores is gated), and by default every 700 of them are searched, which is a tenth of its
# start. What runs for long finds its garbage all the same.
_GARBAGE = 300_000
_FILE_OPTIONS = ("o", "out", "output", "file")

# Which module has which command, in the order of `holdfast --help`: to start, one is enough.
COMMANDS = {
    "compare": "compare",
    "plan": "plan_command",
    "split": "init",
    "init": "init",
    "declare": "init",
    "ask": "verbs",
    "check": "verbs",
    "gate": "verbs",
    "final": "verbs",
    "reveal": "verbs",
    "attach": "attach",
    "promote": "attach",
    "columns": "attach",
    "board": "board",
    "serve": "service",
    "publish": "service",
    "token": "service",
    "retire": "service",
    "mcp": "service",
    "budget": "ledger",
    "ledger": "ledger",
    "chart": "ledger",
    "audit": "ledger",
    "stability": "ledger",
    "certificate": "ledger",
    "countersign": "ledger",
    "key": "ledger",
    "list": "ledger",
    "demo": "attack",
    "attack": "attack",
    "probe": "attack",
    "mechanisms": "catalogues",
    "theorems": "catalogues",
}


def whole_app() -> Typer:
    """The app with all its commands, in the order of `holdfast --help`."""
    from holdfast.cli.commands import app

    for module in dict.fromkeys(COMMANDS.values()):
        importlib.import_module(f"holdfast.cli.{module}")  # its commands enter themselves
    return app


def _app_for(words: Sequence[str]) -> Typer:
    """The app with the one command that is wanted; whole, if it is not known which one."""
    from holdfast.cli.commands import app

    home = COMMANDS.get(_command_of(words))
    if home is None:
        return whole_app()
    importlib.import_module(f"holdfast.cli.{home}")
    return app


def _command_of(words: Sequence[str]) -> str:
    """The first word that is no option, nor the file that `--secret` names."""
    rest = iter(words)
    for word in rest:
        if word == "--secret":
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def _end_at_once() -> None:
    """The end of the process, without a search of what ends with it; DuckDB counts what is left."""
    if "_duckdb" not in sys.modules:
        gc.freeze()


def main() -> None:
    """Run the command line; errors become one sentence and an exit code."""
    gc.set_threshold(_GARBAGE)
    atexit.register(_end_at_once)
    try:
        sys.exit(_run(_app_for(sys.argv[1:])))
    except HoldfastError as error:
        if "--json" in sys.argv:
            print(json.dumps({"error": type(error).__name__, "message": str(error)}))
        else:
            print(f"holdfast: {error}", file=sys.stderr)
        sys.exit(exit_code(error))


def _run(app: Typer) -> int | None:
    """Run the app; what was typed wrongly is said with what was meant, and an example."""
    from typer import Abort, BadParameter

    usage_error = cast("type[Exception]", BadParameter.__base__)  # which has no name of Typer's own
    try:
        code: int | None = app(standalone_mode=False)
    except Abort:
        print("Aborted!", file=sys.stderr)
        return 1
    except usage_error as error:
        _explain_usage(error)
        return _USAGE
    return code


def _explain_usage(error: Any) -> None:
    """Print what is wrong, and below it what was meant and an example of the command."""
    context, option = error.ctx, getattr(error, "option_name", None)
    command: Any = None if context is None else context.command
    if command is not None and error.message == context.get_help():  # no command was named
        error.show()
        return
    hint = ""
    if option is not None:
        name = option.lstrip("-").replace("-", "_")
        if command is None:  # there is such an option, and its value is not
            hint = f"write {option_written(name, typed=True)}"
        else:
            flags = [flag for each in command.params for flag in each.opts if flag[:2] == "--"]
            known = [flag.lstrip("-").replace("-", "_") for flag in flags]
            values = _values_of(option)
            hint = option_meant(name, known, typed=True, values=values)
            if name in _FILE_OPTIONS and "output" not in known and command.name == "chart":
                hint = f"the file has no option: holdfast chart NAME {[*values, 'answers.svg'][0]}"
            error.possibilities = None
    elif hasattr(command, "commands") and context.parent is None:
        word = _command_of(sys.argv[1:])
        name = COMMANDS_ELSEWHERE.get(word) or next(iter(near_names(word, COMMANDS)), None)
        hint = f"did you mean holdfast {name or '-h'}?"
        command = command.commands.get(name)
        error.message = error.message.partition(" Did you mean")[0]
    extra = error.message.partition("extra argument(s) (")[2].removesuffix(")")
    if extra and command.name in EXTRA_ARGUMENTS:
        hint = f"did you mean {EXTRA_ARGUMENTS[command.name]} {extra}?"
    files = [word for word in sys.argv[1:] if word.endswith((".csv", ".jsonl", ".eval"))]
    if command is not None and command.name == "gate" and len(files) > 1:
        hint = f"two files are compared: holdfast compare {' '.join(files[:2])}"
    error.show()
    for line in filter(None, (f"holdfast: {hint}" if hint else "", getattr(command, "epilog", ""))):
        print(line, file=sys.stderr)


def _values_of(option: str) -> list[str]:
    """What was typed after an option, up to the next one."""
    for place, word in enumerate(sys.argv):
        if word == option:
            return list(takewhile(lambda each: not each.startswith("--"), sys.argv[place + 1 :]))
        if word.startswith(f"{option}="):
            return [word.partition("=")[2]]
    return []


def exit_code(error: HoldfastError) -> int:
    """The exit code of a command that ends with this error."""
    match error:
        case Refused():
            return _REFUSED
        case LedgerTampered():
            return _TAMPERED
        case _:
            return _USAGE
