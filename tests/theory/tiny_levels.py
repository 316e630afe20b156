"""Misses at levels from 1e-6 to 1e-12, by importance sampling.

Rows are drawn from a law that is tilted until the interval of its expected table just misses the
truth, so that every other sample is a miss, and each counts by how likely it is under the true law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.auc import auc_interval, block_counts
from holdfast.theory.direct.correlation import correlation_by_bets
from holdfast.theory.direct.difference import share_difference_interval
from holdfast.theory.direct.spread import covariance_by_bets
from tests.theory.direct.areas import area_under_curve, block_areas
from tests.theory.direct.worlds import shrunk

Counts = NDArray[np.int64]
SIZES = (200, 600, 2_000)
LEVELS = (1e-6, 1e-9, 1e-12)
_FAR = 0.98  # the tilt beyond which no sample is likely at all
_CAP = 10.0  # levels: no sample counts for more
_SURE = math.log(1e9)  # nats of evidence by which a level is refuted


class Case(NamedTuple):
    """A law of cells, two that it is tilted to, what is true of it, and what a table tells."""

    shares: tuple[float, ...]
    far: tuple[tuple[float, ...], tuple[float, ...]]
    truth: float
    interval: Callable[[Counts, float], Interval]
    seen: Callable[[Counts], float]


class Estimate(NamedTuple):
    """The probability of a miss, how many samples missed, and nats against the level.

    A weight is capped at `_CAP` levels, and its mean no larger by that: where the promise holds,
    the mean of capped weights over the cap is at most 1/_CAP, and Chernoff's bound says how likely
    what was seen is. There are so many nats against the worse of two sides.
    """

    value: float
    tried: int
    missed: int
    nats: float

    @property
    def refutes(self) -> bool:
        return self.nats > _SURE


_X, _Y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
_SCORES = np.array([0.1, 0.5, 0.9])


def _correlation(counts: Counts, log_p: float) -> Interval:
    return correlation_by_bets(_X, _Y, log_p, counts)


def _seen_correlation(counts: Counts) -> float:
    n = counts.sum()
    x, y, both = counts @ _X / n, counts @ _Y / n, counts[3] / n
    spread = x * (1 - x) * y * (1 - y)
    return float((both - x * y) / math.sqrt(spread)) if spread else 0.0


def _covariance(counts: Counts, log_p: float) -> Interval:
    return covariance_by_bets(_X, _Y, log_p, counts)


def _seen_covariance(counts: Counts) -> float:
    n = counts.sum()
    return float(counts[3] / n - (counts @ _X / n) * (counts @ _Y / n))


def _classes(counts: Counts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.repeat(_SCORES, counts[:3]), np.repeat(_SCORES, counts[3:])


def _area(counts: Counts, log_p: float) -> Interval:
    positives, negatives = _classes(counts)
    if not (positives.size and negatives.size):
        return Interval(0.0, 1.0)
    rng = np.random.default_rng(counts)
    first, second = (
        np.array([rng.permutation(each.size) for _ in range(8)]) for each in (positives, negatives)
    )
    few, many = (
        block_areas(positives, negatives, first, second, blocks)
        for blocks in block_counts(positives.size, negatives.size)
    )
    auc = area_under_curve(positives, negatives)
    return auc_interval(auc, positives.size, negatives.size, few, many, log_p)


def _contrast(counts: Counts, log_p: float) -> Interval:
    (a, b), (c, d) = counts[:2].tolist(), counts[2:].tolist()
    if not (a + b and c + d):
        return Interval(-1.0, 1.0)
    return share_difference_interval(a + b, b, c + d, d, log_p)


def _seen_contrast(counts: Counts) -> float:
    a, b, c, d = counts.tolist()
    return float(b / max(a + b, 1) - d / max(c + d, 1))


def _halves(first: tuple[float, ...], second: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(each / 2 for each in (*first, *second))


CASES: Mapping[str, Case] = {
    "correlation": Case(
        (0.35, 0.15, 0.15, 0.35),
        ((0.05, 0.45, 0.45, 0.05), (0.49, 0.01, 0.01, 0.49)),
        0.4,
        _correlation,
        _seen_correlation,
    ),
    "covariance": Case(
        (0.35, 0.15, 0.15, 0.35),
        ((0.05, 0.45, 0.45, 0.05), (0.49, 0.01, 0.01, 0.49)),
        0.1,
        _covariance,
        _seen_covariance,
    ),
    "AUC": Case(
        _halves((0.2, 0.3, 0.5), (0.5, 0.3, 0.2)),
        (
            _halves((0.6, 0.3, 0.1), (0.1, 0.3, 0.6)),
            _halves((0.02, 0.03, 0.95), (0.95, 0.03, 0.02)),
        ),
        float(Fraction(1, 2) * Fraction(29, 100) + Fraction(56, 100)),
        _area,
        lambda counts: area_under_curve(*_classes(counts)),
    ),
    "contrast": Case(
        _halves((0.7, 0.3), (0.8, 0.2)),
        (_halves((0.95, 0.05), (0.3, 0.7)), _halves((0.1, 0.9), (0.95, 0.05))),
        0.3 - 0.2,
        _contrast,
        _seen_contrast,
    ),
}


def miss_probability(
    case: Case, n: int, level: float, trials: int, seed: int, factor: float = 1.0
) -> Estimate:
    """How likely the interval misses to either side; by a `factor` below 1, of one too narrow."""
    rng, true = np.random.default_rng(seed), np.array(case.shares)
    value, missed, nats = 0.0, 0, 0.0

    def misses(counts: Counts) -> bool:
        low, high = shrunk(case.interval(counts, math.log(level)), case.seen(counts), factor)
        return not low <= case.truth <= high

    for far in case.far:
        tilted = _tilted(true, np.array(far), n, misses)
        weights = [
            math.exp(counts @ (np.log(true) - np.log(tilted)))
            for counts in rng.multinomial(n, tilted, size=trials)
            if misses(counts)
        ]
        capped = sum(min(each / (_CAP * level), 1.0) for each in weights) / trials
        value, missed = value + sum(weights) / trials, missed + len(weights)
        nats = max(nats, trials * _divergence(capped, 1.0 / _CAP))
    return Estimate(value, 2 * trials, missed, nats)


def _divergence(m: float, p: float) -> float:
    """Of a share m from p, in nats; 0 below p."""
    if m <= p:
        return 0.0
    return m * math.log(m / p) + ((1 - m) * math.log((1 - m) / (1 - p)) if m < 1 else 0.0)


def _tilted(
    true: NDArray[np.float64],
    far: NDArray[np.float64],
    n: int,
    misses: Callable[[Counts], bool],
) -> NDArray[np.float64]:
    """The law nearest to the true one whose expected table misses; the farthest if none does."""
    near, beyond = 0.0, _FAR
    for _ in range(10):
        middle = 0.5 * (near + beyond)
        if misses(np.rint(n * ((1 - middle) * true + middle * far)).astype(np.int64)):
            beyond = middle
        else:
            near = middle
    return (1 - beyond) * true + beyond * far
