"""Pages whose examples are run: what they print is held on the page, digit for digit.

All examples of a page are run in their order, in one empty folder. Below an expression of a
`python` block its value stands as a comment, or what was printed since the last one; below a
command of a `console` block what it prints.
`docs/generate.py` writes both anew, and tests/test_docs.py fails if they differ from the page.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

__all__ = ["held", "names", "ran"]

HERE = Path(__file__).resolve().parent
FOLDERS = ("concepts", "how-to")
SINGLE = ("start.md", "tutorials/command-line.md")
ELSEWHERE = ("how-to/move.md",)  # its examples need servers: tests/test_postgres_page.py has them
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WIDTH = 84  # of a comment that a page shows without being scrolled
# What is another one in every run: the time, and hashes that follow from it.
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
HASH = re.compile(r"\b[0-9a-f]{12}\b")


def names() -> list[str]:
    """The names of the pages that hold what their examples print."""
    found = [page for folder in FOLDERS for page in sorted((HERE / folder).glob("*.md"))]
    inside = (page.relative_to(HERE).as_posix() for page in found)
    return [*SINGLE, *(name for name in inside if name not in ELSEWHERE)]


def held(name: str) -> str:
    """A page with what its examples print now."""
    return ran((HERE / name).read_text(encoding="utf-8"))


def ran(page: str) -> str:
    """The same of a page's text."""
    variables: dict[str, Any] = {}
    with _empty_folder():
        return BLOCK.sub(lambda block: _run(block, variables), page)


@contextlib.contextmanager
def _empty_folder() -> Iterator[None]:
    # No index of ledgers outside the folder, and lines of one width without colours.
    alone = {"HOLDFAST_STATE": "", "COLUMNS": "160", "NO_COLOR": "1"}
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        patch.dict(os.environ, alone),
    ):
        yield


def _run(block: re.Match[str], variables: dict[str, Any]) -> str:
    language, text = block.groups()
    shown = _python(text, variables) if language == "python" else _console(text)
    return f"```{language}\n{shown}```"


def _python(text: str, variables: dict[str, Any]) -> str:
    """A block's statements, each run; a comment below is its value, or what was printed."""
    lines, shown, printed = text.splitlines(), list[str](), io.StringIO()
    past = 0
    for statement in ast.parse(text).body:
        end = below = statement.end_lineno or 0
        while below < len(lines) and lines[below].startswith("#"):
            below += 1
        shown += lines[past:end]
        past = end
        with contextlib.redirect_stdout(printed):
            value = _value(statement, variables)
        if below > end and (isinstance(statement, ast.Expr) or printed.getvalue()):
            if value is not None:
                print(value, file=printed)
            settled = [part for line in _settled(printed.getvalue()) for part in _short(line)]
            shown += [f"# {line}".rstrip() for line in settled]
            past, printed = below, io.StringIO()
    return "".join(f"{line}\n" for line in [*shown, *lines[past:]])


def _value(statement: ast.stmt, variables: dict[str, Any]) -> Any:
    if isinstance(statement, ast.Expr):
        return eval(compile(ast.Expression(statement.value), "page", "eval"), variables)
    exec(compile(ast.Module([statement], type_ignores=[]), "page", "exec"), variables)
    return None


def _console(text: str) -> str:
    """A block's commands, each followed by what it prints."""
    typed = re.findall(r"^\$ (.*(?:\\\n.*)*)$", text, re.MULTILINE)
    shown = list[str]()
    for command in typed:
        shown.append(f"$ {command}")
        shown += _settled(_printed(shlex.split(command.replace("\\\n", ""))))
    return "".join(f"{line}\n" for line in shown)


def _printed(words: list[str]) -> str:
    """What `holdfast WORDS` prints, and its exit code where that is not 0."""
    from holdfast.cli import main

    out, code = io.StringIO(), 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        patch.object(sys, "argv", words),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return out.getvalue() + (f"(exit code {code})\n" if code else "")


def _settled(printed: str) -> list[str]:
    """Its lines, as they are whenever and wherever it is run."""
    same = MOMENT.sub("2027-01-01T12:00:00+00:00", HASH.sub("0123456789ab", printed))
    return textwrap.dedent(same.replace(str(Path.cwd()) + os.sep, "")).rstrip().splitlines()


def _short(line: str) -> list[str]:
    """A long line in several, unless it is one of a table."""
    indent = " " * (len(line) - len(line.lstrip()))
    if "  " in line.strip():
        return [line]
    return textwrap.wrap(line, WIDTH, subsequent_indent=f"{indent}  ") or [""]
