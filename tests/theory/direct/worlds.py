"""Small worlds whose every sample is listed with its exact probability.

Coverage is then no matter of luck: the probability that an interval misses the truth is a sum, at
level 1e-6 as well as at 0.1, and so is the mean of a bet's capital.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from holdfast.theory.base.intervals import Interval

Weighted = tuple[tuple[int, ...], Fraction]


class World(NamedTuple):
    """n alike rows, each in cell i with probability shares[i]."""

    n: int
    shares: tuple[Fraction, ...]

    def mean(self, values: Sequence[Fraction | float]) -> Fraction:
        return sum((s * Fraction(v) for s, v in zip(self.shares, values, strict=True)), Fraction(0))

    def samples(self) -> Iterator[Weighted]:
        """Every table of counts with its multinomial probability."""
        for counts in _tables(self.n, len(self.shares)):
            ways, left = 1, self.n
            for count in counts:
                ways *= math.comb(left, count)
                left -= count
            weight = Fraction(ways)
            for share, count in zip(self.shares, counts, strict=True):
                weight *= share**count
            yield counts, weight


def coin(n: int, share: Fraction) -> World:
    """Counts are (zeros, ones)."""
    return World(n, (1 - share, share))


def _tables(n: int, cells: int) -> Iterator[tuple[int, ...]]:
    if cells == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in _tables(n - first, cells - 1):
            yield (first, *rest)


def miss(
    samples: Iterator[Weighted] | Sequence[Weighted],
    interval: Callable[[tuple[int, ...]], Interval],
    truth: float | Fraction,
) -> float:
    """The exact probability that the interval of a sample does not contain the truth."""
    missed = (weight for counts, weight in samples if not _holds(interval(counts), truth))
    return float(sum(missed, Fraction(0)))


def _holds(interval: Interval, truth: float | Fraction) -> bool:
    return interval.low <= truth <= interval.high


def mean_of(
    samples: Iterator[Weighted] | Sequence[Weighted],
    log_value: Callable[[tuple[int, ...]], float],
) -> float:
    """E e^{log_value}: the exact mean of a capital."""
    return math.fsum(float(weight) * math.exp(log_value(counts)) for counts, weight in samples)


def shrunk(interval: Interval, centre: float, factor: float) -> Interval:
    """The sabotage: both distances from the centre times a factor."""
    return Interval(
        centre - factor * (centre - interval.low), centre + factor * (interval.high - centre)
    )
