"""How examples of the documentation are run: alone, with the same noise every time, and folded."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import shlex
import sqlite3
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unittest import mock

from holdfast.cli import main as holdfast_command

__all__ = ["alone", "commanded", "folded", "value_of"]

_WIDTH = 84  # characters of a line that a page shows without being scrolled


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """An empty folder, no other ledgers, and noise that follows from the page's name.

    Readers close no holdout, so what was opened is closed in the end.
    """
    taken, connect, opened = 0, sqlite3.connect, list[sqlite3.Connection]()

    def connected(*said: Any, **how: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*said, **how)
        opened.append(connection)
        return connection

    def token_bytes(size: int) -> bytes:
        nonlocal taken
        taken += 1
        return blake2b(f"{name} {taken}".encode(), digest_size=size).digest()

    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, HOLDFAST_STATE="", COLUMNS="120", NO_COLOR="1"),
        mock.patch.dict(os.environ, XDG_CONFIG_HOME=f"{folder}/.config"),  # nobody's key signs
        mock.patch("holdfast.ledger.store.secrets.token_bytes", token_bytes),
        mock.patch("sqlite3.connect", connected),
    ):
        try:
            yield
        finally:
            for connection in opened:
                with contextlib.suppress(sqlite3.ProgrammingError):  # another thread's, and closed
                    connection.close()


def value_of(source: str, place: str, names: dict[str, Any]) -> Any:
    """Runs Python; its value is that of its last line, if this is an expression."""
    body = ast.parse(source, place).body
    match body[-1:]:
        case [ast.Expr(value=last)]:
            exec(compile(ast.Module(body[:-1], []), place, "exec"), names)
            return eval(compile(ast.Expression(last), place, "eval"), names)
        case _:
            exec(compile(ast.Module(body, []), place, "exec"), names)
            return None


def commanded(command: str) -> str:
    """A command and what it prints; its exit code, too, where that says something."""
    told, code = io.StringIO(), 0
    with (
        contextlib.redirect_stdout(told),
        contextlib.redirect_stderr(told),
        mock.patch.object(sys, "argv", shlex.split(command)),
    ):
        try:
            holdfast_command()
        except SystemExit as end:
            code = int(end.code or 0)
    here = told.getvalue().replace(f"{Path.cwd()}{os.sep}", "")  # another one in every run
    ending = f"\n[exit code {code}]" if code else ""
    return f"$ {command}\n{folded(here)}{ending}"


def folded(text: str) -> str:
    """Long lines in several, as wide as the page; those of a table stay as they are."""
    lines: list[str] = []
    for line in text.rstrip().splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        is_row = "  " in line.strip()
        lines += [line] if is_row else textwrap.wrap(line, _WIDTH, subsequent_indent=indent) or [""]
    return "\n".join(lines)
