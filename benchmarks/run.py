"""`make bench`: every section of docs/benchmarks.md, measured in this run.

`--quick` is a trial that writes benchmarks/results/quick.md, `--large` goes to a hundred million
rows, `--only polars,memory` measures some sections again. What was measured before is kept.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import holdfast
from benchmarks import commits, engines, growth, memory, planned, private
from benchmarks.measure import Row
from benchmarks.page import (
    LARGE,
    PAGE,
    QUICK,
    RESULTS,
    USUAL,
    Found,
    Line,
    Scale,
    Section,
    measured,
    page,
)

PACKAGES = ("polars", "duckdb", "psycopg", "pyspark", "opendp", "numpy")
BOUNDED = ("what", "against", "seconds", "ratio", "at most", "")


def _bounded(name: str, title: str, words: str, *groups: str) -> Section:
    """A section of lines that say what they should be at most, by modules of this package."""

    def lines(scale: Scale) -> Iterator[Line]:
        if scale is QUICK:
            yield "Left out of a quick run."
            return
        for group in groups:
            rows: Iterable[Row] = import_module(f"benchmarks.{group}").rows()
            yield from (row.cells for row in rows)

    return Section(name, title, words, BOUNDED, lines)


SECTIONS = (
    *engines.SECTIONS,
    memory.SECTION,
    growth.SECTION,
    commits.SECTION,
    _bounded(
        "databases",
        "PostgreSQL as a ledger and for sums",
        "A ledger in a database beside one in a file, and sums of a million rows beside plain SQL.",
        "databases",
    ),
    _bounded(
        "service",
        "The service",
        "Checks by HTTP, beside a bare endpoint that does one durable commit for each request; "
        "seconds are those of one request, ratios how many times longer it takes.",
        "serving",
    ),
    private.SECTION,
    planned.SECTION,
    _bounded(
        "rest",
        "Everything else",
        "What other parts take beside the plainest way to do the same, and what it should be at "
        "most; the guard is for a quiet machine.",
        "planner",
        "guessers",
        "attaching",
        "claiming",
        "csv",
        "searching",
        "logs",
        "asking",
        "evidence",
        "starting",
    ),
)


def words() -> str:
    """The head of the page: the command, the machine, and how to read it."""
    versions = ", ".join(map(_version, PACKAGES))
    return f"""
# Benchmarks

*Written by `make bench`* (`make bench-large` adds a hundred million rows). Both sides of every
ratio are measured in turns in one run, and medians are told. Seconds are of this machine on that
day; ratios travel better. {os.cpu_count()} cores, Python {platform.python_version()}, {versions}.
How busy the machine was stands under each table: with a load above the number of cores others were
at work, and ratios by the clock are rough. What follows for larger tables and many analysts is in
[Capacity](capacity.md).
"""


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"


def main(arguments: list[str]) -> None:
    scale, sections = _asked(arguments)
    warnings.simplefilter("ignore", holdfast.SecondLedger)  # one table stands for many here
    start = time.monotonic()
    for section in sections:
        print(f"\n## {section.title} (load {os.getloadavg()[0]:.1f})", flush=True)
        measured(section, scale, lambda line: print(line, flush=True))
        _write(scale)
    print(f"\n{time.monotonic() - start:.0f} s")


def _asked(arguments: list[str]) -> tuple[Scale, list[Section]]:
    reader = argparse.ArgumentParser(description=__doc__)
    names = {section.name: section for section in SECTIONS}
    size = reader.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="a trial")
    size.add_argument("--large", action="store_true", help="a hundred million rows")
    reader.add_argument("--only", help=f"some of {', '.join(names)}")
    said = reader.parse_args(arguments)
    scale = QUICK if said.quick else LARGE if said.large else USUAL
    chosen = [names[name] for name in said.only.split(",")] if said.only else list(SECTIONS)
    return scale, [section for section in chosen if scale is not LARGE or section.grows]


def _write(scale: Scale) -> None:
    """The page as far as it is known; a quick run does not touch the one in docs."""

    def found(section: Section, large: bool) -> Found | None:
        if scale is QUICK:
            return None if large else Found.kept(QUICK.kept(section.name))
        return Found.kept((LARGE if large else USUAL).kept(section.name))

    place = RESULTS / "quick.md" if scale is QUICK else PAGE
    place.write_text(page(words(), SECTIONS, found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
