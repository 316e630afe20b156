"""Streams of candidates for the incumbent's place, each chosen after the verdicts on those before.

A candidate changes the incumbent's answers on a fixed share of the items: on b of them it alone is
right, on c the incumbent alone. What is promoted becomes the incumbent.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from holdfast.lab.world.promoters import Pair

__all__ = ["CandidateStream", "Candidates", "Challenger", "NullClimber", "SomeBetter"]

# How much less likely an item is changed again after its change was promoted, or was not.
_AFTER_PROMOTION, _AFTER_REFUSAL = 0.25, 0.5


class Challenger(NamedTuple):
    """A candidate: how it compares on the rows, and its true gain over the incumbent."""

    pair: Pair
    gain: float


# Yields candidates and is sent whether each was promoted.
CandidateStream = Generator[Challenger, bool, None]


class Candidates(Protocol):
    """A way to bring candidates, as a frozen value."""

    @property
    def name(self) -> str: ...

    def stream(self, rows: int, changed: int, rng: np.random.Generator) -> CandidateStream:
        """Candidates without end, each of which changes so many of the rows."""
        ...


@dataclass(frozen=True, slots=True)
class NullClimber:
    """Candidates that are no better: the labels are coins, and no change of answers gains anything.

    It climbs as if they were not: items whose change was promoted are right now, and those of a
    change that was refused were perhaps right before, so that both are left alone for a while.
    """

    @property
    def name(self) -> str:
        return "none is better"

    def stream(self, rows: int, changed: int, rng: np.random.Generator) -> CandidateStream:
        right = rng.random(rows) < 0.5  # whether the incumbent is, on each item
        wanted = np.ones(rows)
        while True:
            # The smallest of exponential clocks: a draw without replacement, weighted.
            clocks = rng.standard_exponential(rows) / wanted
            items = np.argpartition(clocks, changed - 1)[:changed]
            c = int(np.count_nonzero(right[items]))
            promoted = yield Challenger(Pair(changed - c, c), 0.0)
            if promoted:
                right[items] = ~right[items]
            wanted[items] *= _AFTER_PROMOTION if promoted else _AFTER_REFUSAL


@dataclass(frozen=True, slots=True)
class SomeBetter:
    """Candidates of which a share truly gains, and the others nothing; changes are independent."""

    gain: float = 0.03
    share: float = 0.1

    @property
    def name(self) -> str:
        return f"one in {1 / self.share:g} gains {self.gain:g}"

    def stream(self, rows: int, changed: int, rng: np.random.Generator) -> CandidateStream:
        while True:
            gain = self.gain if rng.random() < self.share else 0.0
            b = int(rng.binomial(changed, 0.5 * (1.0 + gain * rows / changed)))
            yield Challenger(Pair(b, changed - b), gain)
