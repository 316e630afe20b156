"""The mean of alike rows in [0, 1] by two methods, half of the level each.

Bets that know no order (section 12.2) hold for any independent rows. Bets one block of rows after
the other aim, at each block, at what is still missing (section 12.3): they are narrower where n
rows have much more spread than the level needs, and wider for columns of tiny spread. What both
leave is nearly as narrow as the better one.

The order must not depend on the values: blocks are drawn by a key that was made before the rows
were read, and is never made again. The order in which rows are stored will not do: sorted rows
break it.

Symbols: x the rows' values, mu their mean, n their number; q the one-sided level, L = -ln q; W the
capital of the bets in order, block by block, against a mean of m.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import Array, exact_values, log_capital, unit_values
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import level_share, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.bounded_mean import bounded_mean_lower

__all__ = ["BLOCKS", "half_each_interval", "half_each_lower", "in_blocks", "mean_cells"]

BLOCKS = 128  # of rows, at most
_MOST_AT_STAKE = 0.9
_PRIOR_ROWS, _PRIOR_SPREAD = 4.0, 0.25  # what is taken for known of the spread before any row
_TOGETHER = 1 << 18  # rows times cells of means that are tried at once; 8 to 64 cells


def mean_cells(n: int) -> int:
    """Into how many cells the means of n rows are cut: some 25 a standard error of a tenth."""
    return int(2 ** math.ceil(math.log2(256.0 * math.sqrt(require.positive_integer("n", n)))))


def in_blocks(counts: ArrayLike, order: ArrayLike) -> NDArray[np.int32]:
    """Block histograms: rows sorted by value are put into an order, which is cut into blocks.

    `counts` says how often each value occurred, the values ascending; `order` is a permutation of
    the rows' ranks that was drawn without looking at the values. Of alike rows it is then as good
    as an order of the rows themselves, whatever stores them and however they come.
    """
    times, ranks = np.asarray(counts, dtype=np.int64), np.asarray(order, dtype=np.int64)
    n = int(times.sum())
    if ranks.size != n or not np.array_equal(np.bincount(ranks, minlength=n), np.ones(n)):
        raise InvalidArgument(
            f"the order of {n} rows has {ranks.size} ranks or one of them twice; give each rank, "
            "0 and up, once."
        )
    blocks = max(1, min(BLOCKS, n))
    places = np.searchsorted(np.cumsum(times), ranks, side="right")
    found = np.zeros((blocks, times.size), dtype=np.int32)
    np.add.at(found, (np.arange(n) * blocks // max(n, 1), places), 1)
    return found


@theorem(
    source="Holdfast",
    place='Section 13.5, "half each" of 12.2 and 12.3 (after Voracek & Orabona 2025)',
    statement="For alike rows in [0, 1] in blocks whose order does not depend on the values, let a "
    "bound mu by 12.2 at q/2. The left end of the first cell of a public grid, from a on, whose "
    "top is not rejected by the bets in order at q/2, or a if that is higher, is above mu with "
    "probability at most q = e^{log_q}.",
    domain="values in [0, 1], a line of counts for each block, log_q <= 0; alike rows",
    slack="1.05-1.17 times the normal half-width at the same level, where 12.2 alone has 1.20-1.34",
)
def half_each_lower(values: ArrayLike, blocks: ArrayLike, log_q: float) -> float:
    """A lower bound on the mean; `blocks` counts, for each block in order, how often each value
    occurred.

    *Proof.* For m the top of mu's cell the stakes of a block depend on earlier blocks only, and
    each factor 1 + lam(x - m) is positive with mean at most 1: by Ville's inequality W reaches
    2/q at some block's end with probability at most q/2. If it does not, and a <= mu (q/2), mu's
    cell is among those from a on and is not rejected, so the first such cell is not above it. No
    cell below a matters: W need not be monotone in m.
    """
    x, counts = _checked(values, blocks)
    side = level_share(log_q)
    low = bounded_mean_lower(x, side, counts.sum(axis=0))
    return _in_order(unit_values(x), counts, -side, low)


def half_each_interval(
    low: ArrayLike, high: ArrayLike, blocks: ArrayLike, log_p: float
) -> Interval:
    """The interval of the mean of values known only to lie between `low` and `high`.

    Both one-sided bounds at e^{log_p}/2, of the least values and of 1 minus the largest.
    """
    side = level_share(log_p)
    mirrored = half_each_lower(1.0 - unit_values(high, up=True), blocks, side)
    return Interval(half_each_lower(low, blocks, side), min(1.0, round_up(1.0 - mirrored)))


def _checked(values: ArrayLike, blocks: ArrayLike) -> tuple[Array, NDArray[np.int64]]:
    x, counts = exact_values(values), np.asarray(blocks)
    if counts.ndim != 2 or counts.shape[1] != x.size:
        raise InvalidArgument(
            f"the blocks have the shape {counts.shape} and there are {x.size} values; give one "
            "line for each block and one count for each value."
        )
    return x, counts


def _in_order(x: Array, counts: NDArray[np.int64], L: float, low: float) -> float:
    """The left end of the first cell that is not rejected, from that of `low` on; `low` at least.

    Cells whose top is 1 are never rejected.
    """
    occurred = [np.flatnonzero(line) for line in counts]
    blocks = [
        (x[places], line[places].astype(np.float64))
        for places, line in zip(occurred, counts, strict=True)
        if places.size
    ]
    n = int(counts.sum())
    if n == 0:
        return low
    cells, together = mean_cells(n), max(8, min(64, _TOGETHER // n))
    cell = min(cells - 1, math.floor(low * cells))
    while True:
        tops = np.arange(cell + 1, min(cell + together, cells - 1) + 1) / cells
        kept = np.flatnonzero(~_rejected(blocks, n, tops, L))
        if kept.size or not tops.size:
            return max(low, (cell + int(kept[0]) if kept.size else cell) / cells)
        cell += tops.size


def _rejected(
    blocks: list[tuple[Array, Array]], n: int, means: Array, L: float
) -> NDArray[np.bool_]:
    """Whether W reaches e^L against each of these means, at the end of some block."""
    rejected = np.zeros(means.size, dtype=np.bool_)
    open_, log_wealth = np.arange(means.size), np.zeros(means.size)
    squares, past = np.full(means.size, _PRIOR_ROWS * _PRIOR_SPREAD), 0.0
    for x, times in blocks:
        m = means[open_][:, np.newaxis]
        spread = squares[open_] / (_PRIOR_ROWS + past)
        aim = np.sqrt(2.0 * (L - log_wealth[open_]) / ((n - past) * spread))
        stake = np.minimum(_MOST_AT_STAKE / means[open_], aim)[:, np.newaxis]
        away = x - m
        log_wealth[open_] += log_capital(1.0 + stake * away, times, 1.0 + float(stake.max()))
        squares[open_] += (away * away) @ times
        past += float(times.sum())
        rejected[open_] = log_wealth[open_] >= L
        open_ = open_[~rejected[open_]]
        if not open_.size:
            break
    return rejected
