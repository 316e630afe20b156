"""Scores of two classes, for the AUC and for the AUCs of random blocks of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holdfast.data.evaluate import evaluate
from holdfast.data.orders import MOST_ORDERS, random_orders
from holdfast.data.sample import Sample
from holdfast.question.expression import Expression, column_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ClassScores", "class_scores", "scores_by_class"]


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


def class_scores(
    sample: Sample, score: Expression, positive: Expression, key: bytes, orders: int = MOST_ORDERS
) -> ClassScores:
    """The scores of both classes and `orders` random orders of each, from one scan and the key."""
    classes = scores_by_class(sample, score, positive)
    shuffled = (
        random_orders(scores.view(np.uint64), np.full(scores.size, label), key, orders)
        for scores, label in zip(classes, (np.uint64(1), np.uint64(0)), strict=True)
    )
    return ClassScores(*classes, *shuffled)


def scores_by_class(
    sample: Sample, score: Expression, positive: Expression
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The scores of positive rows, and of the others, ascending; a missing one is below all."""
    import polars as pl

    scores, labels = [np.empty(0)], [np.empty(0, dtype=np.bool_)]
    for frame in sample.frames(sorted({*column_names(score), *column_names(positive)})):
        found, label = evaluate(frame, [score, positive])
        scores.append(found.cast(pl.Float64).fill_null(-math.inf).to_numpy())
        labels.append(label.fill_null(value=False).to_numpy())
    # Adding 0 turns -0 into 0: they are equal scores.
    every, is_positive = np.concatenate(scores) + 0.0, np.concatenate(labels)
    return np.sort(every[is_positive]), np.sort(every[~is_positive])
