"""Scores of two classes, for the AUC and for the AUCs of random blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holdfast.data.counting import Counting
from holdfast.data.evaluate import evaluate
from holdfast.data.orders import MOST_ORDERS, random_orders
from holdfast.data.runs import ScoreCounts, merged_scores
from holdfast.data.sample import Sample
from holdfast.question.expression import Expression, column_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ClassScores", "RankedPairs", "class_scores", "ranked_pairs"]


@dataclass(frozen=True, slots=True, eq=False)
class ClassScores:
    """The scores of both classes, ascending, and random orders of each: one order a line.

    This is what `holdfast.theory.direct.ranking.block_areas` takes. Rows of one class with equal
    scores are the same to an AUC, so an order by a keyed hash of score, class and the number among
    equals is a random order of the class's rows.
    """

    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]
    positive_orders: NDArray[np.int64]
    negative_orders: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RankedPairs:
    """Of all pairs of a positive and a negative row: twice those won, a tie counting 1."""

    doubled: int
    positives: int
    negatives: int


def class_scores(
    sample: Sample, score: Expression, positive: Expression, key: bytes, orders: int = MOST_ORDERS
) -> ClassScores:
    """The scores of both classes and `orders` random orders of each, from one scan and the key."""
    classes = _scores_by_class(sample, score, positive)
    shuffled = (
        random_orders(scores.view(np.uint64), np.full(scores.size, label), key, orders)
        for scores, label in zip(classes, (np.uint64(1), np.uint64(0)), strict=True)
    )
    return ClassScores(*classes, *shuffled)


def _scores_by_class(
    sample: Sample, score: Expression, positive: Expression
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The scores of positive rows, and of the others, ascending; a missing one is below all."""
    pieces = list(_tallied(sample, score, positive))
    above = np.concatenate([np.repeat(each.scores, each.positives) for each in pieces])
    below = np.concatenate([np.repeat(each.scores, each.negatives) for each in pieces])
    return above, below


def ranked_pairs(sample: Sample, score: Expression, positive: Expression) -> RankedPairs:
    """How many pairs of rows of both classes are ranked rightly; memory does not grow with rows."""
    doubled = positives = negatives = 0
    wide = np.int64 if sample.n < 2**31 else object  # what products of counts fit into
    for found in _tallied(sample, score, positive):
        above, below = found.positives.astype(wide), found.negatives.astype(wide)
        doubled += 2 * negatives * int(above.sum())
        doubled += int((above * (2 * np.cumsum(below) - below)).sum())
        positives += int(above.sum())
        negatives += int(below.sum())
    return RankedPairs(doubled, positives, negatives)


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
