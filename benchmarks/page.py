"""docs/benchmarks.md: sections that are measured one by one, kept, and put together.

What a section found is kept in benchmarks/results as soon as it is there, so that a run that was
interrupted loses one section at most, and one section can be measured again alone.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["LARGE", "QUICK", "USUAL", "Found", "Line", "Scale", "Section", "measured", "page"]

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
NOT_YET = "*Not measured in this run.*"

Line = tuple[str, ...] | str
"""The cells of a row of the table, or a remark under it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How far a run goes: rows in this process and in servers, and how often each thing is done."""

    name: str
    rows: tuple[int, ...]
    server_rows: tuple[int, ...]
    repeats: int = 5
    entries: int = 20_000

    def kept(self, section: str) -> Path:
        """Where what a section found is kept."""
        return RESULTS / f"{section}-{self.name}.json"


QUICK = Scale("quick", (10_000, 100_000), (10_000,), repeats=1, entries=1_000)
USUAL = Scale("usual", (100_000, 1_000_000, 10_000_000), (100_000, 1_000_000))
LARGE = Scale("large", (100_000_000,), (10_000_000,), entries=100_000)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: what it says, its table's head, and how the lines are measured."""

    name: str
    title: str
    words: str
    head: tuple[str, ...]
    lines: Callable[[Scale], Iterator[Line]]
    grows: bool = False  # with the rows: it has lines at the large scale, too


@dataclass(frozen=True, slots=True)
class Found:
    """What a section found: rows of its table, remarks, and how busy the machine was."""

    rows: list[list[str]]
    remarks: list[str]
    load: tuple[float, float]
    seconds: float

    @classmethod
    def kept(cls, path: Path) -> Found | None:
        """What was found before, if anything."""
        if not path.is_file():
            return None
        said = json.loads(path.read_text(encoding="utf-8"))
        return cls(said["rows"], said["remarks"], tuple(said["load"]), said["seconds"])


def measured(section: Section, scale: Scale, tell: Callable[[str], None]) -> Found:
    """Measure a section, tell each line as it comes, and keep it."""
    start, before = time.monotonic(), os.getloadavg()[0]
    found = Found([], [], (before, before), 0.0)
    RESULTS.mkdir(exist_ok=True)
    for line in section.lines(scale):
        remark = isinstance(line, str)
        tell(line if isinstance(line, str) else _row(line))
        found = Found(
            found.rows if remark else [*found.rows, list(line)],
            [*found.remarks, str(line)] if remark else found.remarks,
            (before, os.getloadavg()[0]),
            time.monotonic() - start,
        )
        scale.kept(section.name).write_text(json.dumps(asdict(found)) + "\n", encoding="utf-8")
    return found


def page(
    words: str, sections: Sequence[Section], found: Callable[[Section, bool], Found | None]
) -> str:
    """The whole page; `found(section, large)` gives what is kept of a section."""
    parts = [words.strip()]
    for section in sections:
        parts += [f"## {section.title}", *filter(None, [section.words.strip()])]
        here = found(section, False)
        parts.append(NOT_YET if here is None else _table(section, here))
        beyond = found(section, True) if section.grows else None
        if beyond is not None:
            parts += ["By `make bench-large`:", _table(section, beyond)]
    return "\n\n".join(parts) + "\n"


def _table(section: Section, found: Found) -> str:
    head = _row(section.head) + "\n|" + "---|" * len(section.head)
    table = "\n".join([head, *map(_row, found.rows)])
    before, after = found.load
    busy = f"Load of the machine {before:.1f} before and {after:.1f} after; {found.seconds:.0f} s."
    return "\n\n".join([table, *found.remarks, f"*{busy}*"])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
