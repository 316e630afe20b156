"""Scores of two classes, for the AUC and for the AUCs of random blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holdfast.data.counting import Counting
from holdfast.data.evaluate import evaluate
from holdfast.data.orders import MOST_ORDERS, row_tickets
from holdfast.data.runs import ScoreCounts, merged_scores
from holdfast.data.sample import Sample
from holdfast.data.shuffled import RUN, Shuffled
from holdfast.question.expression import Expression, column_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RankedPairs", "ShuffledClasses", "ranked_pairs", "shuffled_classes"]

_HASHED = 1 << 16  # rows that get their tickets at once


@dataclass(frozen=True, slots=True)
class RankedPairs:
    """Of all pairs of a positive and a negative row: twice those won, a tie counting 1."""

    doubled: int
    positives: int
    negatives: int


class _Pairs:
    """Pairs that are counted score by score, ascending."""

    def __init__(self, rows: int) -> None:
        self._wide = np.int64 if rows < 2**31 else object  # what products of counts fit into
        self._doubled = self._positives = self._negatives = 0

    def add(self, found: ScoreCounts) -> None:
        above, below = found.positives.astype(self._wide), found.negatives.astype(self._wide)
        self._doubled += 2 * self._negatives * int(above.sum())
        self._doubled += int((above * (2 * np.cumsum(below) - below)).sum())
        self._positives += int(above.sum())
        self._negatives += int(below.sum())

    def counted(self) -> RankedPairs:
        return RankedPairs(self._doubled, self._positives, self._negatives)


@dataclass(frozen=True, slots=True, eq=False)
class ShuffledClasses:
    """Both classes' rows as the ranks of their scores, in random orders.

    Equal scores have equal ranks. This is what `holdfast.theory.direct.ranking.rank_areas` takes.
    Rows of one class with equal scores are the same to an AUC, so an order by a keyed hash of
    score, class and the number among equals is a random order of the class's rows.
    """

    pairs: RankedPairs
    positives: Shuffled
    negatives: Shuffled


@contextmanager
def shuffled_classes(
    sample: Sample,
    score: Expression,
    positive: Expression,
    key: bytes,
    *,
    orders: int = MOST_ORDERS,
    run: int = RUN,
) -> Iterator[ShuffledClasses]:
    """The classes from one scan and the key; memory does not grow with the rows, but files do."""
    pairs, ranked = _Pairs(sample.n), 0
    with Shuffled(orders, run) as positives, Shuffled(orders, run) as negatives:
        for found in _tallied(sample, score, positive):
            pairs.add(found)
            for rows, counts, label in (
                (positives, found.positives, np.uint64(1)),
                (negatives, found.negatives, np.uint64(0)),
            ):
                for place, among_equals in _single_rows(counts, min(run, _HASHED)):
                    words = found.scores[place].view(np.uint64)
                    content = np.column_stack((words, np.full(words.size, label)))
                    tickets = row_tickets(content, among_equals, key, orders)
                    rows.add(ranked + place, tickets)
            ranked += found.scores.size
        yield ShuffledClasses(pairs.counted(), positives, negatives)


def _single_rows(
    counts: NDArray[np.int64], most: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Which entry each row is of, and its number among the rows of that, so many at a time."""
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]) if ends.size else 0, most):
        rows = np.arange(start, min(start + most, int(ends[-1])))
        place = np.searchsorted(ends, rows, side="right")
        yield place, rows - (ends - counts)[place]


def ranked_pairs(sample: Sample, score: Expression, positive: Expression) -> RankedPairs:
    """How many pairs of rows of both classes are ranked rightly; memory does not grow with rows."""
    pairs = _Pairs(sample.n)
    for found in _tallied(sample, score, positive):
        pairs.add(found)
    return pairs.counted()


def _tallied(sample: Sample, score: Expression, positive: Expression) -> Iterator[ScoreCounts]:
    """Each score once, ascending, and how many rows of each class have it, in pieces."""
    if isinstance(sample, Counting):
        for frame in sample.class_counts(score, positive):
            columns = (frame[name].to_numpy() for name in ("score", "negatives", "positives"))
            yield ScoreCounts(*columns)
    else:
        yield from merged_scores(_batches(sample, score, positive))


def _batches(sample: Sample, score: Expression, positive: Expression) -> Iterator[ScoreCounts]:
    import polars as pl

    for frame in sample.frames(sorted({*column_names(score), *column_names(positive)})):
        found, label = evaluate(frame, [score, positive])
        # Adding 0 turns -0 into 0: they are equal scores.
        scores = found.cast(pl.Float64).fill_null(-math.inf).to_numpy() + 0.0
        positives = label.fill_null(value=False).cast(pl.Int64).to_numpy()
        yield ScoreCounts(scores, 1 - positives, positives)
