"""Pages whose examples are run: what they print is held on the page, digit for digit.

All examples of a page are run in their order, in one empty folder. Below an expression of a
`python` block its value stands as a comment, or what was printed since the last one; below a
command of a `console` block what it prints. `docs/generate.py` writes both anew, and
tests/test_docs.py fails if they differ from the page.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
from pathlib import Path
from typing import Any

from docs.running import alone, commanded, folded, value_of

__all__ = ["ELSEWHERE", "held", "names", "ran"]

HERE = Path(__file__).resolve().parent
FOLDERS = ("concepts", "how-to")
SINGLE = ("start.md", "compare.md", "tutorials/command-line.md")
ELSEWHERE = ("how-to/move.md",)  # its examples need servers: tests/test_postgres_page.py has them
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
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
    return ran((HERE / name).read_text(encoding="utf-8"), name)


def ran(page: str, name: str = "page") -> str:
    """The same of a page's text; the noise in it follows from the name."""
    variables: dict[str, Any] = {}

    def run(block: re.Match[str]) -> str:
        language, text = block.groups()
        shown = _python(text, name, variables) if language == "python" else _console(text)
        return f"```{language}\n{_settled(shown)}```"

    with alone(name):
        return BLOCK.sub(run, page)


def _python(text: str, place: str, variables: dict[str, Any]) -> str:
    """A block's statements, each run; a comment below is its value, or what was printed."""
    lines, shown, printed = text.splitlines(), list[str](), io.StringIO()
    past = 0
    for statement in ast.parse(text).body:
        start, end = statement.lineno - 1, statement.end_lineno or 0
        below = end
        while below < len(lines) and lines[below].startswith("#"):
            below += 1
        shown += lines[past:end]
        past = end
        with contextlib.redirect_stdout(printed):
            value = value_of("\n".join(lines[start:end]), place, variables)
            if below > end and value is not None:
                print(value)
        if below > end and printed.getvalue():
            shown += [f"# {line}".rstrip() for line in folded(printed.getvalue()).splitlines()]
            past, printed = below, io.StringIO()
    return "".join(f"{line}\n" for line in [*shown, *lines[past:]])


def _console(text: str) -> str:
    """A block's commands, each followed by what it prints."""
    typed = re.findall(r"^\$ (.*)$", text, re.MULTILINE)
    return "".join(f"{commanded(command)}\n" for command in typed)


def _settled(shown: str) -> str:
    """What is shown, as it is whenever it is run."""
    return MOMENT.sub("2027-01-01T12:00:00+00:00", HASH.sub("0123456789ab", shown))
