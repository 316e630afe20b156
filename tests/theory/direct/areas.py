"""Areas under curves of scores, and those of blocks of them: from all pairs, and from ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.theory.direct.auc import rank_areas


def area_under_curve(positives: ArrayLike, negatives: ArrayLike) -> float:
    """The share of pairs ranked rightly, ties counted 1/2, of two classes that are not empty."""
    s1, s0 = (np.asarray(scores, dtype=np.float64).ravel() for scores in (positives, negatives))
    ordered = np.sort(s0)
    below = np.searchsorted(ordered, s1, side="left")
    up_to = np.searchsorted(ordered, s1, side="right")
    return int(below.sum() + up_to.sum()) / (2 * s1.size * s0.size)


def block_areas(
    positives: NDArray[np.float64],
    negatives: NDArray[np.float64],
    orders1: NDArray[np.int64],
    orders0: NDArray[np.int64],
    blocks: int,
) -> NDArray[np.float64]:
    """The areas of the blocks of each partition: one row for each pair of orders."""
    n1 = positives.size
    ranks = np.unique(np.concatenate([positives, negatives]), return_inverse=True)[1]
    partitions = zip(orders1, orders0, strict=True)
    return np.stack([rank_areas(ranks[:n1][a], ranks[n1:][b], blocks) for a, b in partitions])
