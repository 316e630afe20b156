"""How benchmarks measure: alternately, in one run, so that noise of the machine hits both sides."""

from __future__ import annotations

import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Beside",
    "Row",
    "Timing",
    "beside",
    "compare",
    "family_seconds",
    "in_turns",
    "pair_seconds",
    "parent_of",
    "peak_memory",
    "side_by_side",
    "timed",
    "within",
]

PATIENCE = 30.0  # seconds, after which nothing is done again
PROCESSES = Path("/proc")


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
    """Medians of two kinds of calls that took turns, and the medians of their pairs' ratios.

    `of_all` is the ratio of what all of them took of the processor: that of a server is told in
    hundredths of a second, which are too large for a single call.
    """

    ours: Timing
    theirs: Timing
    ratio: Timing
    of_all: float
    turns: int


def timed(work: Callable[[], object], processor: Callable[[], float] = time.process_time) -> Timing:
    """The time of one call."""
    clock, busy = time.perf_counter(), processor()
    work()
    return Timing(time.perf_counter() - clock, processor() - busy)


def in_turns(
    works: Sequence[Callable[[], object]],
    repeats: int = 5,
    processor: Callable[[], float] = time.process_time,
) -> list[list[Timing]]:
    """The times of each kind of call, which take turns; one turn to warm up, unless it is long."""
    turns: list[list[Timing]] = []
    start, warm = time.perf_counter(), False
    while len(turns) < repeats and not (turns and time.perf_counter() - start > PATIENCE):
        turn = [timed(work, processor) for work in works]
        if warm or time.perf_counter() - start > PATIENCE:
            turns.append(turn)
        warm = True
    return [list(times) for times in zip(*turns, strict=True)]


def beside(ours: Sequence[Timing], theirs: Sequence[Timing]) -> Beside:
    """What two kinds of calls took that took turns."""
    ratios = [
        Timing(mine.clock / other.clock, mine.processor / max(other.processor, 1e-9))
        for mine, other in zip(ours, theirs, strict=True)
    ]
    mine, others = (sum(each.processor for each in side) for side in (ours, theirs))
    of_all = mine / max(others, 1e-9)
    return Beside(_median(ours), _median(theirs), _median(ratios), of_all, len(ratios))


def side_by_side(work: Callable[[], object], raw: Callable[[], object], repeats: int = 5) -> Beside:
    """Pairs of calls, each pair side by side."""
    return beside(*in_turns([work, raw], repeats))


def family_seconds(process: int) -> float:
    """Seconds of the processor in this process and in another one with all that it has started.

    Those of processes that ended are with the one which waited for them.
    """
    children: defaultdict[int, list[int]] = defaultdict(list)
    ticks: dict[int, int] = {}
    for place in PROCESSES.iterdir():
        if place.name.isdigit() and (fields := _status(int(place.name))):
            children[int(fields[1])].append(int(place.name))
            ticks[int(place.name)] = sum(map(int, fields[11:15]))
    total, waiting = 0, [process]
    while waiting:
        one = waiting.pop()
        total += ticks.get(one, 0)
        waiting += children[one]
    return time.process_time() + total / os.sysconf("SC_CLK_TCK")


def pair_seconds(process: int) -> float:
    """Seconds of the processor in this process and in another one alone."""
    ticks = map(int, _status(process)[11:13])
    return time.process_time() + sum(ticks) / os.sysconf("SC_CLK_TCK")


def parent_of(process: int) -> int:
    """The process that started this one."""
    return int(_status(process)[1])


def peak_memory(process: int | str) -> float:
    """Megabytes that a process, by its number or "self", has held at its largest.

    What `getrusage` tells of a new process is at least what its parent had.
    """
    text = (PROCESSES / str(process) / "status").read_text(encoding="utf-8")
    return int(text.partition("VmHWM:")[2].split()[0]) / 1024


def _status(process: int) -> list[str]:
    """What Linux tells of a process, from its state on; nothing if it is gone."""
    try:
        text = (PROCESSES / str(process) / "stat").read_text(encoding="utf-8")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _median(timings: Sequence[Timing]) -> Timing:
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
    by_processor: bool = False,
) -> Row:
    """The median ratio of times of pairs of calls, each pair side by side; one pair to warm up.

    By the clock, which also counts what is waited for, a disk or others on the machine; or by the
    processor, which does not.
    """
    found = side_by_side(work, raw, repeats)
    if by_processor:
        return Row(what, against, found.ours.processor, found.ratio.processor, at_most)
    return Row(what, against, found.ours.clock, found.ratio.clock, at_most)


def within(what: str, work: Callable[[], object], *, at_most: float) -> Row:
    """One call against so many seconds of the processor: others on the machine do not count."""
    took = timed(work).processor
    return Row(what, "one second", took, took, at_most)
