"""How benchmarks measure: alternately, in one run, so that noise of the machine hits both sides."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Row", "compare", "seconds", "within"]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what, against what, the ratio and what it should be at most."""

    what: str
    against: str
    seconds: float
    ratio: float
    at_most: float

    def __str__(self) -> str:
        mark = "ok" if self.ratio <= self.at_most else "ABOVE"
        return (
            f"| {self.what} | {self.against} | {self.seconds:.4f} | {self.ratio:.2f} | "
            f"{self.at_most:g} | {mark} |"
        )


def seconds(work: Callable[[], object]) -> float:
    """The time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


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
    work()
    raw()
    pairs = [(seconds(work), seconds(raw)) for _ in range(repeats)]
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    return Row(what, against, statistics.median(ours for ours, _ in pairs), ratio, at_most)


def within(what: str, work: Callable[[], object], *, at_most: float) -> Row:
    """One call against so many seconds of the processor: others on the machine do not count."""
    start = time.process_time()
    work()
    took = time.process_time() - start
    return Row(what, "one second", took, took, at_most)
