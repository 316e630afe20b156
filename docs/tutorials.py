"""Tutorials: notebooks kept as Python files, run from top to bottom, and written as pages.

A notebook is `examples/notebooks/NAME.py`. `# %% [markdown]` begins a cell of text, `# %%` one of
code, and words behind `# %%` say what the cell's picture shows. Lines `# !holdfast ...` are
commands, which notebooks have behind a `!`. Its page, `docs/tutorials/NAME.md`, has the text, the
code, and what a notebook would show below each cell: so the two cannot differ.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import altair
import polars as pl
from docs.running import alone, commanded, folded, value_of

from holdfast.holdout.charts.canvas import svg_of

__all__ = ["FOLDER", "NOTEBOOKS", "Tutorial", "cells", "run"]

FOLDER = Path(__file__).resolve().parent / "tutorials"
NOTEBOOKS = sorted((FOLDER.parent.parent / "examples" / "notebooks").glob("[a-z]*.py"))

_CELL = re.compile(r"^# %%(?P<text> \[markdown\])? ?(?P<title>.*)$", re.MULTILINE)
_COMMAND = "# !"
_MADE_FROM = "<!-- the picture of {} -->"


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a notebook: text, or code with the words for what its picture shows."""

    source: str
    is_text: bool
    title: str


@dataclass(slots=True)
class Tutorial:
    """A page and its pictures, as a run of the notebook has shown them."""

    name: str
    parts: list[str] = field(default_factory=list)
    pictures: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The page, as Markdown."""
        return "\n\n".join(self.parts) + "\n"

    def write(self) -> None:
        """Put page and pictures where the site has them, and take older pictures away."""
        FOLDER.mkdir(exist_ok=True)
        for old in FOLDER.glob(f"{self.name}-*.svg"):
            old.unlink()
        for name, chart in self.pictures.items():
            picture = f"{svg_of(chart).rstrip()}\n{_made_from(chart)}\n"
            (FOLDER / name).write_text(picture, encoding="utf-8")
        (FOLDER / f"{self.name}.md").write_text(self.text, encoding="utf-8")

    def stale(self) -> Iterator[str]:
        """The files that are not what this run has shown.

        A picture is known by what it was drawn from: drawing it again would take long, and another
        machine's fonts would make another one.
        """
        files = {f"{self.name}.md", *(path.name for path in FOLDER.glob(f"{self.name}-*.svg"))}
        for name in sorted(files | self.pictures.keys()):
            path = FOLDER / name
            there = path.read_text(encoding="utf-8") if path.exists() else ""
            match self.pictures.get(name):
                case None:
                    fresh = there == self.text
                case chart:
                    fresh = there.endswith(f"{_made_from(chart)}\n")
            if not fresh:
                yield f"tutorials/{name}"

    def show(self, value: Any, title: str) -> None:
        """What a notebook shows below a cell that ends with a value."""
        match value:
            case None:
                pass
            case altair.TopLevelMixin():
                name = f"{self.name}-{len(self.pictures) + 1}.svg"
                self.pictures[name] = value
                self.parts.append(f"![{title}]({name})")
            case pl.DataFrame():
                self.parts.append(_table(value.columns, value.iter_rows()))
            case object(columns=columns, itertuples=rows):  # a frame of pandas
                self.parts.append(_table(columns, rows(index=False, name=None)))
            case _:
                self.print(str(value))

    def print(self, text: str) -> None:
        """Lines that a cell has printed."""
        if text.strip():
            self.parts.append(f"```text\n{folded(text)}\n```")


def _made_from(chart: Any) -> str:
    # Another machine's last digits are no other picture.
    drawn = json.loads(
        json.dumps(chart.to_dict()), parse_float=lambda number: f"{float(number):.6g}"
    )
    return _MADE_FROM.format(sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest())


def cells(notebook: str) -> list[Cell]:
    """The cells of a notebook; what stands before the first one is for tools that read Python."""
    heads = list(_CELL.finditer(notebook))
    ends = [head.start() for head in heads[1:]] + [len(notebook)]
    return [
        Cell(notebook[head.end() : end].strip("\n"), bool(head["text"]), head["title"])
        for head, end in zip(heads, ends, strict=True)
    ]


def run(notebook: Path) -> Tutorial:
    """The page of a notebook, from a run in an empty folder with secrets that follow from it."""
    name = notebook.stem.replace("_", "-")
    source = f"examples/notebooks/{notebook.name}"
    made = Tutorial(name, [f"<!-- Made by `make docs` from {source}: do not edit. -->"])
    names: dict[str, Any] = {"__name__": "__main__"}
    with alone(name):
        for number, cell in enumerate(cells(notebook.read_text(encoding="utf-8")), 1):
            if cell.is_text:
                made.parts.append("\n".join(_uncommented(cell.source.splitlines())))
                continue
            if cell.source.startswith(_COMMAND):
                session = "\n".join(
                    commanded(line.removeprefix(_COMMAND)) for line in cell.source.splitlines()
                )
                made.parts.append(f"```console\n{session}\n```")
                continue
            made.parts.append(f"```python\n{cell.source}\n```")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                value = value_of(cell.source, f"{source}, cell {number}", names)
            made.print(printed.getvalue())
            made.show(value, cell.title)
    made.parts.append(f"*This page is [`{source}`](../../{source}), run from top to bottom.*")
    return made


def _uncommented(lines: Iterable[str]) -> Iterator[str]:
    return (line.removeprefix("#").removeprefix(" ") for line in lines)


def _table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A frame, as a table of Markdown."""
    heads = [_cell(column) for column in columns]
    lines = [heads, ["---"] * len(heads), *(map(_cell, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:,.4f}".rstrip("0").rstrip(".")
        case _:
            return str(value).replace("|", "\\|")
