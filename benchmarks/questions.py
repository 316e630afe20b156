"""Questions beside the same averages by the engine itself, for each engine that is here.

Every question is a new one. The engine is asked in its own words for what the question is about:
the same clipped average, share, difference of shares, or many averages in one query; and for the
very SQL that the question sent.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import holdfast
from benchmarks.engines import ENGINES, Engine, Table, opened
from benchmarks.kinds import KINDS, Kind
from benchmarks.measure import Beside, beside, in_turns
from benchmarks.page import Line, Scale, Section

__all__ = ["HEAD", "SECTIONS", "Asked", "asked", "lines"]

SHORTEST = 0.05  # seconds of the processor of a server, of which ratios are made
MANY_ROWS = 100_000_000  # their opening is told, and a server is not asked for many at once
OF_SAME = 1.3  # times what the engine takes for the same SQL


@dataclass(frozen=True, slots=True)
class Asked:
    """New questions beside the plain averages by the engine, and beside the same SQL."""

    plain: Beside
    same: Beside


def asked(kind: Kind, together: int, holdout: holdfast.Holdout, table: Table, turns: int) -> Asked:
    """New questions of a kind, the engine asked for what they are about, and for the same SQL."""
    numbers, others = itertools.count(1), itertools.count(1)
    again: Callable[[], object] = _nothing

    def ours() -> None:
        nonlocal again
        table.scans.taken()
        kind.ask(holdout, [kind.text(next(numbers)) for _ in range(together)])
        again = table.scans.taken()

    def plain() -> object:
        return table.run([kind.term(next(others)) for _ in range(together)])

    def same() -> object:
        return again()

    took = in_turns([ours, plain, same], turns, table.processor)
    return Asked(*(beside(took[0], each) for each in took[1:]))


def _nothing() -> None:
    """What is done again before anything was asked."""


def lines(engine: Engine, scale: Scale) -> Iterator[Line]:
    """Every kind of question, for every number of rows."""
    missing = engine.missing()
    if missing is not None:
        yield f"{engine.name} needs {missing}: it was left out."
        return
    for rows in scale.rows if engine.in_process else scale.server_rows:
        with opened(engine, rows) as (holdout, table, took):
            if rows >= MANY_ROWS:
                yield (
                    f"Opened {rows:,} rows, their fingerprint included, in {took.clock:.1f} s, "
                    f"{took.processor:.1f} s of the processor."
                )
            for kind in KINDS:
                together = engine.many if kind.many else 1
                if kind.many and rows >= MANY_ROWS and not engine.in_process:
                    yield f"{kind.name}({together}) of {rows:,} rows takes an hour: left out."
                    continue
                found = asked(kind, together, holdout, table, scale.repeats)
                name = f"{kind.name}({together})" if kind.many else kind.name
                judged = partial(_judged, engine, rows)
                yield (
                    f"{rows:,}",
                    name,
                    *(
                        f"{each.clock:.4f}"
                        for each in (found.plain.ours, found.plain.theirs, found.same.theirs)
                    ),
                    *judged(found.plain, kind.at_most),
                    *judged(found.same, None if engine.in_process and kind.binned else OF_SAME),
                    f"{found.plain.turns}",
                )


def _judged(engine: Engine, rows: int, found: Beside, at_most: float | None) -> tuple[str, str]:
    """The ratio by the processor, unless a server tells it in pieces which are too large for it."""
    coarse = not engine.in_process and found.theirs.processor < SHORTEST
    ratio = found.ratio.clock if coarse else found.ratio.processor
    if at_most is None or rows < engine.full:
        return f"{ratio:.2f}", ""
    return f"{ratio:.2f}", f"{at_most:g}: {'yes' if ratio <= at_most else 'no'}"


HEAD = (
    *("rows", "question", "seconds", "plain", "same SQL"),
    *("times plain", "aim", "times same SQL", "aim", "turns"),
)
WORDS = """
A new question each time, beside the engine asked for the same averages in plain words, and beside
the very SQL that the question sent, again by the engine alone (here: the plan that was collected).
These three take turns; medians of as many turns as are told, five or, where that takes more than
half a minute, fewer. The first three figures are seconds by the clock. *Times* are ratios of the
processor's seconds, those of a server and of all its processes included, which others on the
machine hardly change; of a server that takes less than a twentieth of a second they are the
clock's. What a question takes beyond the same SQL is Holdfast: it reads the text, prices it, tries
it without rows and writes two durable commits. What the SQL takes beyond the plain average is what
makes it exact, the same on every engine, and no longer or shorter for what the rows hold. `ask` and
`ask_many` are answered with noise, *described* exactly with an interval (of a mean: from a
histogram instead of a sum). Polars and DuckDB only read the column of a described mean, whose
batches are clipped and put into bins here: beside such SQL there is no aim. Aims are for ten
million rows and more, of servers for a million.
"""


OF_ENGINES = {
    "Polars": WORDS,
    "DuckDB": """
DuckDB concludes nothing from what it knows of a column, its least and greatest number and whether
it has NaN: with that it skips what a condition need not compute, and how long it takes would tell
about the rows. The same SQL is run with the same setting, the plain average without it.
""",
}


def _section(engine: Engine) -> Section:
    return Section(
        engine.name.lower(),
        f"Questions beside {engine.name}",
        OF_ENGINES.get(engine.name, ""),
        HEAD,
        partial(lines, engine),
        grows=True,
    )


SECTIONS = tuple(map(_section, ENGINES))
