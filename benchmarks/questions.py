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
from benchmarks.engines import ENGINES, HEAP, Engine, Table, opened
from benchmarks.kinds import KINDS, Kind
from benchmarks.measure import PROCESSES, Beside, beside, in_turns, peak_memory
from benchmarks.page import Line, Scale, Section

__all__ = ["HEAD", "SECTIONS", "Asked", "asked", "lines"]

MANY_ROWS = 100_000_000  # their opening is told, and servers are asked fewer questions together
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

    ours()  # the first about some columns has Spark look at all the others, too
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
                if table.driver is not None and PROCESSES.is_dir():
                    yield (
                        f"Peak memory by then: {peak_memory('self'):,.0f} MB of this process and "
                        f"{peak_memory(table.driver):,.0f} MB of its Java, which has {HEAP} MB for "
                        "objects and holds both workers; what their Python took of the processor "
                        "is not counted."
                    )
            for kind in KINDS:
                many = engine.many_large if rows >= MANY_ROWS else engine.many
                together = many if kind.many else 1
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
    """The ratio by the processor, of a server that of all turns."""
    ratio = found.ratio.processor if engine.in_process else found.of_all
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
machine hardly change: medians of the turns' ratios, and of a server, which tells hundredths of a
second, the ratio of all turns together. What a question takes beyond the same SQL is Holdfast: it
reads the text, prices it, tries it without rows and writes two durable commits. What the SQL takes
beyond the plain average is what makes it exact, the same on every engine, and no longer or shorter
for what the rows hold. `ask` and `ask_many` are answered with noise, *described* exactly with an
interval (of a mean: from a histogram instead of a sum; few rows take as long as many).
Polars and DuckDB only read the column of a described mean, whose batches are clipped and put into
bins here: beside such SQL there is no aim. Aims are for ten million rows and more, of servers for a
million. Of a hundred million rows servers are asked fewer questions together: as many as stand in
the brackets.
"""


OF_ENGINES = {
    "Polars": WORDS,
    "DuckDB": """
DuckDB concludes nothing from what it knows of a column, its least and greatest number and whether
it has NaN: with that it skips what a condition need not compute, and how long it takes would tell
about the rows. The same SQL is run with the same setting, the plain average without it.
""",
    "PostgreSQL": """
An exact share takes more than the plain one: beside the same scan and the same comparison
every row is seen to be one of the opening's (its `xmin` is compared), and the rows are counted. A
gate needs two counts where the plain difference is one sum: how often either condition holds
without the other. A described mean needs the bin of every row. Up to 2^24 rows the server sends
their steps, which takes nearly twice the plain mean, and the interval of so many bins takes as long
for a thousand rows as for all. Larger tables are grouped by up to 2^16 bins: even to count them and
nothing else takes more than twice the plain mean.
""",
    "Spark": """
A session on two threads, whose Java has 512 MB for objects and its best compiler. Of a
hundred million rows `ask` is the first question about its column. A described mean is grouped by
bins, with four sums for each.
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
