"""The command line, run as a user runs it."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

import typer.main

from holdfast.cli import main

_make = typer.main.get_command
_made: dict[tuple[int, ...], Any] = {}


def _commands(app: typer.Typer) -> Iterator[int]:
    yield from map(id, app.registered_commands)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            yield from _commands(group.typer_instance)


def _kept(app: typer.Typer) -> Any:
    """The command that an app is: it is the same as long as it has the same commands."""
    of = tuple(_commands(app))
    if of not in _made:
        _made[of] = _make(app)
    return _made[of]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def holdfast(*words: str, cwd: Path | None = None, terminal: bool = False) -> CompletedProcess[str]:
    """`holdfast WORDS`, without the second that a process of its own takes to start.

    Nor is the app made of its functions again, which takes longer than most commands.
    """
    out, err = io.StringIO(), _Terminal() if terminal else io.StringIO()
    with (
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch.object(sys, "argv", ["holdfast", *words]),
        patch.object(typer.main, "get_command", _kept),
    ):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return CompletedProcess(words, code, out.getvalue(), err.getvalue())


def process(*words: str, cwd: Path | None = None) -> CompletedProcess[str]:
    """`python -m holdfast WORDS` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )
