"""How benchmarks measure: alternately, in one run, so that noise of the machine hits both sides."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Beside", "Row", "Timing", "compare", "side_by_side", "timed", "within"]

PATIENCE = 30.0  # seconds, after which nothing is done again


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what, against what, the ratio and what it should be at most."""

    what: str
    against: str
    seconds: float
    ratio: float
    at_most: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The line as the cells of a table."""
        mark = "ok" if self.ratio <= self.at_most else "ABOVE"
        numbers = f"{self.seconds:.4f}", f"{self.ratio:.2f}", f"{self.at_most:g}"
        return (self.what, self.against, *numbers, mark)

    def __str__(self) -> str:
        return f"| {' | '.join(self.cells)} |"


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of a call: by the clock, and of the processor in this process and all its threads."""

    clock: float
    processor: float


@dataclass(frozen=True, slots=True)
class Beside:
    """Medians of two kinds of calls that took turns, and the medians of their pairs' ratios."""

    ours: Timing
    theirs: Timing
    ratio: Timing


def timed(work: Callable[[], object]) -> Timing:
    """The time of one call."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return Timing(time.perf_counter() - clock, time.process_time() - processor)


def side_by_side(work: Callable[[], object], raw: Callable[[], object], repeats: int = 5) -> Beside:
    """Pairs of calls, each pair side by side; one pair to warm up, unless it takes long."""
    pairs: list[tuple[Timing, Timing]] = []
    start, warm = time.perf_counter(), False
    while len(pairs) < repeats and not (pairs and time.perf_counter() - start > PATIENCE):
        pair = timed(work), timed(raw)
        if warm or time.perf_counter() - start > PATIENCE:
            pairs.append(pair)
        warm = True
    return Beside(
        _median([ours for ours, _ in pairs]),
        _median([theirs for _, theirs in pairs]),
        _median(
            [
                Timing(ours.clock / theirs.clock, ours.processor / max(theirs.processor, 1e-9))
                for ours, theirs in pairs
            ]
        ),
    )


def _median(timings: list[Timing]) -> Timing:
    return Timing(
        statistics.median(each.clock for each in timings),
        statistics.median(each.processor for each in timings),
    )


def compare(
    what: str,
    work: Callable[[], object],
    against: str,
    raw: Callable[[], object],
    *,
    at_most: float,
    repeats: int = 7,
) -> Row:
    """The median ratio of times of pairs of calls, each pair side by side; one pair to warm up."""
    found = side_by_side(work, raw, repeats)
    return Row(what, against, found.ours.clock, found.ratio.clock, at_most)


def within(what: str, work: Callable[[], object], *, at_most: float) -> Row:
    """One call against so many seconds of the processor: others on the machine do not count."""
    took = timed(work).processor
    return Row(what, "one second", took, took, at_most)
