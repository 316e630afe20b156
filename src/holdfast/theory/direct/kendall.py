"""Kendall's tau: bets on the taus of disjoint blocks. It needs no declared range, and no nuisance.

Symbols: tau = E sign(X - X') sign(Y - Y') of two independent rows, ties counting 0 (tau-a); n alike
rows; B blocks, R public partitions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import Array
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.auc import auc_block_interval

__all__ = ["block_concordance", "kendall_block_interval", "kendall_blocks", "sum_of_signs"]

_TOGETHER = 1 << 22  # pairs of rows that are compared at once


def kendall_blocks(n: int) -> int:
    """The public number of blocks for n rows: each has two rows at least."""
    n = require.integer_at_least("n", n, 2)
    blocks: int = round(1.3 * n ** (2 / 3))
    return max(1, min(n // 2, blocks))


@theorem(
    source="Holdfast",
    place="Section 13.5, Kendall's tau by the blocks of 12.8",
    statement="If each of R partitions, chosen without looking at the values, splits alike rows "
    "into B blocks, the bets of 12.8 on (1 + tau of a block)/2 enclose (1 + tau)/2, so that tau is "
    "enclosed with probability >= 1 - e^{log_p}.",
    domain="an R x B array of (1 + tau)/2 in [0, 1], log_p <= 0; alike rows",
    slack="1.4-1.6 of Fisher's normal half-width at the same level",
)
def kendall_block_interval(concordance: ArrayLike, log_p: float) -> Interval:
    """The interval of tau from what `block_concordance` found, a line for each partition.

    *Proof.* A block's tau is an average over its pairs of rows, whose mean is tau; blocks of one
    partition are independent. The rest is that of `auc_block_interval`.
    """
    low, high = auc_block_interval(concordance, log_p)
    return Interval(max(-1.0, round_down(2.0 * low - 1.0)), min(1.0, round_up(2.0 * high - 1.0)))


def block_concordance(x: ArrayLike, y: ArrayLike, B: int) -> Array:
    """(1 + tau)/2 of each of B blocks of rows in a public order, of nearly equal sizes.

    Any numbers in the order of the values will do, such as their ranks. Time grows with n^2/B.
    """
    first, second = (np.asarray(side, dtype=np.float64).ravel() for side in (x, y))
    n = first.size
    if second.size != n:
        raise InvalidArgument(
            f"x has {n} values and y has {second.size}; give the same rows of both."
        )
    B = require.integer_between("B", B, 1, n // 2)
    larger = n % B
    cut = larger * (n // B + 1)
    parts = ((slice(0, cut), larger), (slice(cut, n), B - larger))
    return np.concatenate(
        [_of_equal_blocks(first[part], second[part], count) for part, count in parts if count]
    )


def sum_of_signs(x: ArrayLike, y: ArrayLike) -> int:
    """The sum of sign(x - x') sign(y - y') over all pairs of rows: tau times their number.

    Of rows sorted by x, and then by y, the discordant pairs are those whose y comes down: they are
    counted while halves are merged, in a time of n (ln n)^2.
    """
    first, second = (np.unique(side, return_inverse=True)[1].astype(np.int64) for side in (x, y))
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    n, values = first.size, int(second.max(initial=0)) + 1
    discordant, width, merged = 0, 1, second
    while width < n:
        block = np.arange(n) // (2 * width)
        left = np.arange(n) % (2 * width) < width
        keys = block * values + merged
        ends = np.searchsorted(keys[left], (block[~left] + 1) * values)
        discordant += int((ends - np.searchsorted(keys[left], keys[~left], side="right")).sum())
        merged = np.sort(keys) - block * values
        width *= 2
    tied = [_pairs(np.unique(each, return_counts=True)[1]) for each in (first, second)]
    both = _pairs(np.unique(first * values + second, return_counts=True)[1])
    return n * (n - 1) // 2 - sum(tied) + both - 2 * discordant


def _pairs(sizes: NDArray[np.int64]) -> int:
    """How many pairs of rows groups of these sizes have."""
    return int((sizes * (sizes - 1) // 2).sum())


def _of_equal_blocks(x: Array, y: Array, count: int) -> Array:
    first, second = x.reshape(count, -1), y.reshape(count, -1)
    size = first.shape[1]
    step = max(1, _TOGETHER // size**2)
    totals = np.concatenate(
        [
            (_signs(first[start : start + step]) * _signs(second[start : start + step])).sum(
                axis=(1, 2), dtype=np.int64
            )
            for start in range(0, count, step)
        ]
    )
    # Each pair of rows is counted twice, with the same sign.
    pairs = size * (size - 1)
    return np.asarray((pairs + totals) / (2 * pairs))


def _signs(rows: Array) -> NDArray[np.int8]:
    """1, 0 or -1 for each pair of rows of a block."""
    above = (rows[:, :, np.newaxis] > rows[:, np.newaxis, :]).astype(np.int8)
    return np.asarray(above - above.transpose(0, 2, 1))
