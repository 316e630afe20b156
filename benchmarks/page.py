"""docs/benchmarks.md: sections that are measured one by one, kept, and put together.

What a section found is kept in benchmarks/results as soon as it is there, so that a run that was
interrupted loses one section at most. The files are part of the repository, and the page is made of
them: one section can be measured again alone, and the others stay as they were measured.
"""

from __future__ import annotations

import json
import os
import platform
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = [
    "LARGE",
    "QUICK",
    "USUAL",
    "Found",
    "Line",
    "Scale",
    "Section",
    "failed",
    "kept_page",
    "measured",
    "page",
]

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
PACKAGES = ("polars", "duckdb", "psycopg", "pyspark", "opendp", "numpy")
NOT_YET = "*Not measured yet.*"
BROKEN_OFF = "**The run was broken off here: what would follow was not measured.**"

Line = tuple[str, ...] | str
"""The cells of a row of the table, or a remark under it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How far a run goes: rows in this process and in servers, and how often each thing is done."""

    rows: tuple[int, ...]
    server_rows: tuple[int, ...]
    folder: str = ""
    repeats: int = 5
    entries: int = 20_000

    def kept(self, section: str) -> Path:
        """Where what a section found is kept; trials are no part of the repository."""
        return RESULTS / self.folder / f"{section}.json"


QUICK = Scale((10_000, 100_000), (10_000,), "quick", repeats=1, entries=1_000)
USUAL = Scale((100_000, 1_000_000, 10_000_000), (100_000, 1_000_000))
LARGE = Scale((100_000_000,), (100_000_000,), "large", entries=100_000)


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
    """What a section found: rows of its table, remarks, and the machine at that time."""

    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]
    load: tuple[float, float]
    seconds: int
    machine: str

    @classmethod
    def kept(cls, path: Path) -> Found | None:
        """What was found before, if anything."""
        if not path.is_file():
            return None
        said = json.loads(path.read_text(encoding="utf-8"))
        rows = tuple(map(tuple, said["rows"]))
        before, after = said["load"]
        remarks = tuple(said["remarks"])
        return cls(rows, remarks, (before, after), said["seconds"], said["machine"])

    def keep(self, path: Path) -> None:
        """As JSON, with a line for each row of the table."""
        parts = {
            "rows": _listed(self.rows),
            "remarks": _listed(self.remarks),
            "load": json.dumps(self.load),
            "seconds": json.dumps(self.seconds),
            "machine": json.dumps(self.machine),
        }
        said = ",\n".join(f"  {json.dumps(name)}: {part}" for name, part in parts.items())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{{\n{said}\n}}\n", encoding="utf-8")


def _listed(items: Sequence[object]) -> str:
    lines = ",\n".join(f"    {json.dumps(item, ensure_ascii=False)}" for item in items)
    return f"[\n{lines}\n  ]" if items else "[]"


def measured(section: Section, scale: Scale, tell: Callable[[str], None]) -> Found:
    """Measure a section, tell each line as it comes, and keep it.

    One that fails says so and keeps the lines that it has; it does not stop the run.
    """
    start, before, path = time.monotonic(), os.getloadavg()[0], scale.kept(section.name)
    rows: list[tuple[str, ...]] = []
    remarks: list[str] = []

    def found(*more: str) -> Found:
        load = (round(before, 1), round(os.getloadavg()[0], 1))
        seconds = round(time.monotonic() - start)
        return Found(tuple(rows), (*remarks, *more), load, seconds, _machine())

    for line in _with_failures(section, scale, tell):
        if isinstance(line, str):
            remarks.append(line)
        else:
            rows.append(line)
        found(BROKEN_OFF).keep(path)
        tell(line if isinstance(line, str) else _row(line))
    whole = found()
    whole.keep(path)
    return whole


def _with_failures(section: Section, scale: Scale, tell: Callable[[str], None]) -> Iterator[Line]:
    try:
        yield from section.lines(scale)
    except Exception as error:
        tell(traceback.format_exc())
        yield failed(section.title, error)


def failed(what: str, error: Exception) -> str:
    """What the page says of an error: its kind, since its words may be about this machine."""
    return f"**{what}: failed ({type(error).__name__}), and the rest of it was not measured.**"


def _machine() -> str:
    """What numbers depend on, but for how busy it is."""
    versions = ", ".join(map(_version, PACKAGES))
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {versions}"


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"


def kept_page(words: str, sections: Sequence[Section], scale: Scale = USUAL) -> str:
    """The page of what is kept; that of a trial has nothing else."""

    def found(section: Section, large: bool) -> Found | None:
        if scale is QUICK:
            return None if large else Found.kept(QUICK.kept(section.name))
        return Found.kept((LARGE if large else USUAL).kept(section.name))

    return page(words, sections, found)


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
    busy = f"Load of the machine {before:.1f} before and {after:.1f} after; {found.seconds} s"
    return "\n\n".join([table, *found.remarks, f"*{busy}; {found.machine}.*"])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
