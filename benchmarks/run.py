"""`make bench`: every section of docs/benchmarks.md, measured in this run.

`--quick` is a trial that writes benchmarks/results/quick, `--large` goes to a hundred million rows,
`--only polars,memory` measures some sections again. What was measured before is kept in
benchmarks/results, which is part of the repository.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module

import holdfast
from benchmarks import commits, growth, memory, planned, private, questions
from benchmarks.measure import Row
from benchmarks.page import (
    LARGE,
    PAGE,
    QUICK,
    USUAL,
    Line,
    Scale,
    Section,
    failed,
    kept_page,
    measured,
)

BOUNDED = ("what", "against", "seconds", "ratio", "at most", "")


def _bounded(name: str, title: str, words: str, *groups: str) -> Section:
    """A section of lines that say what they should be at most, by modules of this package."""

    def lines(scale: Scale) -> Iterator[Line]:
        if scale is QUICK:
            yield "Left out of a quick run."
            return
        for group in groups:
            try:
                rows: Iterable[Row] = import_module(f"benchmarks.{group}").rows()
                yield from (row.cells for row in rows)
            except Exception as error:  # the other groups are measured nevertheless
                traceback.print_exc()
                yield failed(group, error)

    return Section(name, title, words, BOUNDED, lines)


SECTIONS = (
    *questions.SECTIONS,
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


WORDS = """
# Benchmarks

*Written by `make bench`* (`make bench-large` adds a hundred million rows). Both sides of every
ratio are measured in turns in one run, and medians are told. Seconds are of one machine on one day;
ratios travel better. How busy that machine was stands under each table, and what it was: with a
load above the number of cores others were at work, and ratios by the clock are rough. A section can
be measured again by itself (`python -m benchmarks.run --only polars`). What follows for larger
tables and many analysts is in [Capacity](capacity.md).
"""


def main(arguments: list[str]) -> None:
    scale, sections = _asked(arguments)
    warnings.simplefilter("ignore", holdfast.errors.SecondLedger)  # one table stands for many here
    start = time.monotonic()

    def tell(line: str) -> None:
        print(f"{time.monotonic() - start:5.0f} s  {line}", file=sys.stderr, flush=True)

    for section in sections:
        tell(f"## {section.title} (load {os.getloadavg()[0]:.1f})")
        measured(section, scale, tell)
        place = QUICK.kept("page").with_suffix(".md") if scale is QUICK else PAGE
        place.write_text(kept_page(WORDS, SECTIONS, scale), encoding="utf-8")
    tell("all is measured")


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


if __name__ == "__main__":
    main(sys.argv[1:])
