"""The area under the ROC curve: bets on the AUCs of disjoint blocks, and Chernoff's bound on pairs.

Symbols: n1 positives, n0 negatives, m = min(n1, n0); theta = P[a positive scores above a negative]
+ half the ties; B blocks, R public partitions. Labels need not be fixed by design: everything holds
given their counts.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import Array, Tally, odds_interval, unit_values
from holdfast.theory.base.intervals import Interval, kl_interval
from holdfast.theory.base.safeside import level_share
from holdfast.theory.base.theorem import theorem

_TOGETHER = 1 << 20  # rows whose blocks are ranked at once


@theorem(
    source="Literature",
    place="Hoeffding 1963, section 5, with Chernoff's bound (Theorem 1); section 12.8(a)",
    statement="For alike rows within each class, {theta : m kl(AUC, theta) <= ln 2 - log_p}, m the "
    "smaller class, covers with probability >= 1 - e^{log_p}, given the label counts.",
    domain="0 <= auc <= 1, n1 >= 1, n0 >= 1, log_p <= 0; alike rows within each class",
    monotone={"auc": "up"},
    slack="that of m independent pairs: the larger class is not used",
)
def auc_kl_interval(auc: float, n1: int, n0: int, log_p: float) -> Interval:
    """Averaging over all matchings of m pairs does not raise the exponential moment (Jensen)."""
    pairs = min(require.positive_integer("n1", n1), require.positive_integer("n0", n0))
    return kl_interval(pairs, auc, log_p)


def block_counts(n1: int, n0: int) -> tuple[int, int]:
    """The two public numbers of blocks, for n1 positives and n0 negatives."""
    m = min(require.positive_integer("n1", n1), require.positive_integer("n0", n0))
    few, many = (max(1, min(m, round(c * m ** (2 / 3)))) for c in (2.6, 6.0))
    return few, many


@theorem(
    source="Holdfast",
    place="Section 12.8(b), block bets",
    statement="If each of R partitions, chosen without looking at scores, splits both classes into "
    "B blocks, the R-th root of the product of the bets of 12.2 on all block AUCs has mean <= 1 at "
    "theta, so they enclose theta with probability >= 1 - e^{log_p}.",
    domain="an R x B array of block AUCs in [0, 1], log_p <= 0; alike rows within each class",
    slack="a block's variance is the projection's plus zeta B/(n1 n0)",
)
def auc_block_interval(areas: ArrayLike, log_p: float) -> Interval:
    """The interval of theta from the AUCs of the blocks, one row of them for each partition.

    *Proof.* Blocks of one partition are independent with mean theta, so each partition's capital
    has mean at most 1; a geometric mean of such capitals is at most their average.
    """
    table = np.asarray(areas, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise InvalidArgument(
            f"the block AUCs have {table.ndim} dimensions and {table.size} entries; give one row "
            "of blocks for each partition."
        )
    below, above = (
        Tally.of_values(values, np.ones(values.size), root=table.shape[0])
        for values in (unit_values(table), 1.0 - unit_values(table, up=True))
    )
    return odds_interval(below, above, log_p)


def auc_interval(
    auc: float, n1: int, n0: int, few: ArrayLike, many: ArrayLike, log_p: float
) -> Interval:
    """One event: blocks of both sizes at .4 of the level each, pairs at .2, intersected."""
    parts = (
        auc_block_interval(few, level_share(log_p, 0.4)),
        auc_block_interval(many, level_share(log_p, 0.4)),
        auc_kl_interval(auc, n1, n0, level_share(log_p, 0.2)),
    )
    return Interval(max(part.low for part in parts), min(part.high for part in parts))


class Ranks(Protocol):
    """Ranks of scores in an order, in memory or not."""

    @property
    def size(self) -> int: ...

    def __getitem__(self, part: slice, /) -> NDArray[np.int64]: ...


def rank_areas(positives: Ranks, negatives: Ranks, B: int, most: int = _TOGETHER) -> Array:
    """The AUCs of B blocks of one partition, from the ranks of scores in the classes' orders.

    Each class, in its order, is cut into B parts of nearly equal size. So many blocks are ranked
    in one sort as have about `most` rows.
    """
    n1, n0 = positives.size, negatives.size
    B = require.integer_between("B", B, 1, min(n1, n0))
    sizes1, sizes0 = _part_sizes(n1, B), _part_sizes(n0, B)
    ends1, ends0 = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in (sizes1, sizes0))
    step = max(1, most * B // (n1 + n0))
    return np.concatenate(
        [
            _areas_of_ranks(
                positives[int(ends1[start]) : int(ends1[end])],
                negatives[int(ends0[start]) : int(ends0[end])],
                sizes1[start:end],
                sizes0[start:end],
            )
            for start, end in ((start, min(start + step, B)) for start in range(0, B, step))
        ]
    )


def _areas_of_ranks(
    ranks1: NDArray[np.int64],
    ranks0: NDArray[np.int64],
    sizes1: NDArray[np.int64],
    sizes0: NDArray[np.int64],
) -> Array:
    """The AUC of each block; a block's ranks follow those of the block before it."""
    # A key is the block, then the rank, then 1 for a positive: of equals, negatives come first.
    above = 2 * (1 + max(int(ranks1.max()), int(ranks0.max())))
    block1, block0 = (np.repeat(np.arange(each.size) * above, each) for each in (sizes1, sizes0))
    keys = np.concatenate([block1 + 2 * ranks1 + 1, block0 + 2 * ranks0])
    return _areas_by_keys(np.sort(keys), sizes1, sizes0)


def _part_sizes(n: int, B: int) -> NDArray[np.int64]:
    """B sizes that add up to n and differ by at most 1, the larger ones first."""
    return n // B + (np.arange(B) < n % B)


def _areas_by_keys(
    keys: NDArray[np.int64], sizes1: NDArray[np.int64], sizes0: NDArray[np.int64]
) -> Array:
    """The AUC of each block from its sorted keys: twice its pairs won, ties counted 1, over all."""
    is_positive = keys & 1
    up_to = np.cumsum(1 - is_positive)  # negatives at or below, earlier blocks included
    new = np.r_[True, keys[1:] >> 1 != keys[:-1] >> 1]
    below = np.maximum.accumulate(np.where(new, up_to - 1 + is_positive, 0))
    won = (up_to + below)[is_positive == 1]
    of_blocks = np.add.reduceat(won, np.cumsum(sizes1) - sizes1)
    earlier = np.cumsum(sizes0) - sizes0
    areas: Array = (of_blocks - 2 * sizes1 * earlier) / (2 * sizes1 * sizes0)
    return areas
