"""The mean of alike rows in [0, 1] by two methods, half of the level each.

Bets that know no order (section 12.2) hold for any independent rows. Bets one block of rows after
the other aim, at each block, at what is still missing (section 12.3): they are narrower where n
rows have much more spread than the level needs, and wider for columns of tiny spread. What both
leave is nearly as narrow as the better one.

The order must not depend on the values: it is drawn by a key that was made before the rows were
read, and is never made again. The order in which rows are stored will not do: sorted rows break it.

Symbols: x the rows' values, mu their mean, n their number; q the one-sided level, L = -ln q; W the
capital of the bets in order, block by block, against a mean of m.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import Array, Settled, counted, log_capital, settled_by, unit_values
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import level_share, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.bounded_mean import bounded_mean_lower

__all__ = [
    "BLOCKS",
    "NEAR",
    "SERIES",
    "block_powers",
    "half_each_interval",
    "half_each_lower",
    "log_wealth",
    "mean_cells",
    "sum_of_series",
]

BLOCKS = 128  # of rows, at most
_MOST_AT_STAKE = 0.9
_PRIOR_ROWS, _PRIOR_SPREAD = 4.0, 0.25  # what is taken for known of the spread before any row
_TOGETHER = 128  # cells of means that are tried at once
# For y >= -1/2 the sum of these times y, y^2, ... is at most ln(1 + y), and close to it up to NEAR:
# that is y - y^2/2 + ... + y^7/7 - y^8 f(y), where f, the integral of t^7/(1 + t y) over [0, 1], is
# at most f(-1/2) = 1/8 + (1/2)/9 + (1/4)/10 + (1/8)/11 + ... < .2267.
NEAR, SERIES = 0.5, np.array([(-1) ** (k + 1) / k for k in range(1, 8)] + [-0.2267])
_SLACK = 2.0**-34  # for each row: more than sums of powers over 2^13 rows can be off by


def mean_cells(n: int) -> int:
    """Into how many cells the means of n rows are cut: some 25 a standard error of a tenth."""
    return int(2 ** math.ceil(math.log2(256.0 * math.sqrt(require.positive_integer("n", n)))))


@theorem(
    source="Holdfast",
    place='Section 13.5, "half each" of 12.2 and 12.3 (after Voracek & Orabona 2025)',
    statement="For alike rows in [0, 1] in an order that does not depend on the values, let a "
    "bound mu by 12.2 at q/2. The left end of the first cell of a public grid, from a on, whose "
    "top is not rejected by the bets in order at q/2, or a if that is higher, is above mu with "
    "probability at most q = e^{log_q}.",
    domain="values in [0, 1] and how often each occurred, a permutation of the rows' ranks, "
    "log_q <= 0; alike rows",
    slack="1.05-1.17 times the normal half-width at the same level, where 12.2 alone has 1.20-1.34",
)
def half_each_lower(
    values: ArrayLike,
    times: ArrayLike,
    order: ArrayLike,
    log_q: float,
    settled: Settled | None = None,
) -> float:
    """A lower bound on the mean of rows that are told by value: `times` says how often each occurs.

    `order` is a permutation of the rows, as they stand value by value, that was drawn without
    looking at them. Of alike rows it is then as good as an order of the rows themselves, whatever
    stores them and however they come. It is cut into blocks of nearly equal sizes.

    *Proof.* For m the top of mu's cell the stakes of a block depend on earlier blocks only, and
    each factor 1 + lam(x - m) is positive with mean at most 1: by Ville's inequality W reaches
    2/q at some block's end with probability at most q/2. If it does not, and a <= mu (q/2), mu's
    cell is among those from a on and is not rejected, so the first such cell is not above it. No
    cell below a matters: W need not be monotone in m. With `settled`, a is looked for until its
    cell is known and what will be told of it.
    """
    x, side = unit_values(values), level_share(log_q)
    rows = _ordered(x, times, order)
    cells = mean_cells(max(1, rows.size))
    low = bounded_mean_lower(
        *(x, side, times),
        settled and (lambda a, b: _cell(a, cells) == _cell(b, cells) and settled(a, b)),
    )
    return max(low, _first_kept(rows, -side, _cell(low, cells), cells) / cells)


def half_each_interval(
    low: ArrayLike,
    high: ArrayLike,
    times: ArrayLike,
    order: ArrayLike,
    log_p: float,
    told: Callable[[Interval], object] | None = None,
) -> Interval:
    """The interval of the mean of values known only to lie between `low` and `high`.

    Both one-sided bounds at e^{log_p}/2, of the least values and of 1 minus the largest. With
    `told`, what will be told of the interval, each is looked for until that is known of it.
    """
    side = level_share(log_p)

    def mirror(mean: float) -> float:
        return min(1.0, round_up(1.0 - mean))

    above = settled_by(told, lambda mean: Interval(0.0, mirror(mean)))
    mirrored = half_each_lower(1.0 - unit_values(high, up=True), times, order, side, above)
    below = settled_by(told, lambda mean: Interval(mean, 1.0))
    return Interval(half_each_lower(low, times, order, side, below), mirror(mirrored))


def _ordered(x: Array, times: ArrayLike, order: ArrayLike) -> Array:
    """The rows' values in the order of their ranks."""
    values, counts = counted(times, x)
    rows, ranks = np.repeat(values, counts.astype(np.int64)), np.asarray(order, dtype=np.int64)
    n, once = rows.size, np.zeros(rows.size, dtype=np.bool_)
    if ranks.size == n and np.all((ranks >= 0) & (ranks < n)):
        once[ranks] = True
    if ranks.size != n or not once.all():
        raise InvalidArgument(
            f"the order of {n} rows has {ranks.size} ranks or one of them twice; give each rank, "
            "0 and up, once."
        )
    return np.asarray(rows[ranks])


def _cell(mean: float, cells: int) -> int:
    return min(cells - 1, math.floor(mean * cells))


def _first_kept(x: Array, L: float, cell: int, cells: int) -> int:
    """The first cell that is not rejected, from this one on; one whose top is 1 never is."""
    if not x.size:
        return 0
    blocks = min(BLOCKS, x.size)
    ends = np.arange(blocks + 1) * x.size // blocks
    while True:
        tops = np.arange(cell + 1, min(cell + _TOGETHER, cells - 1) + 1) / cells
        kept = np.flatnonzero(log_wealth(x, ends, tops, L)[-1] < L)
        if kept.size or not tops.size:
            return cell + (int(kept[0]) if kept.size else 0)
        cell += tops.size


def log_wealth(x: Array, ends: NDArray[np.int64], means: Array, L: float) -> Array:
    """ln W at the end of each block, against each of these means, until it reaches e^L.

    W is bounded from below, and stakes follow the bound. How a block's gain is bounded, to the last
    bit, may depend on its rows and on earlier ones, and on no later one: nor do stakes then.
    At e^L nothing is staked any more.
    """
    powers = block_powers(x, ends, means)
    series = SERIES[:, np.newaxis, np.newaxis] * powers
    before = np.vstack((np.zeros(means.size), np.cumsum(powers[1], axis=0)[:-1]))
    spread = before + _PRIOR_ROWS * _PRIOR_SPREAD
    past, sizes = ends[:-1, np.newaxis], np.diff(ends)
    aims = 2.0 * (_PRIOR_ROWS + past) / ((x.size - past) * spread)
    least, largest = (
        side.accumulate(side.reduceat(x, ends[:-1])) for side in (np.minimum, np.maximum)
    )
    most, ones = _MOST_AT_STAKE / means, np.ones(x.size)
    wealth = np.zeros((sizes.size + 1, means.size))
    for block, size in enumerate(sizes):
        stake = np.minimum(most, np.sqrt(aims[block] * np.maximum(L - wealth[block], 0.0)))
        gain = sum_of_series(series[:, block], stake) - _SLACK * size
        near = NEAR / np.maximum(means - least[block], largest[block] - means)
        if (far := stake > near).any():
            rows = slice(ends[block], ends[block + 1])
            factors = 1.0 + stake[far, np.newaxis] * (x[rows] - means[far, np.newaxis])
            gain[far] = log_capital(factors, ones[rows], 1.0 + stake[far])
        wealth[block + 1] = wealth[block] + gain
    return wealth[1:]


def block_powers(x: Array, ends: NDArray[np.int64], means: Array) -> Array:
    """Sums of (x - m)^k over each block, for k = 1, 2, ... and each mean m.

    Each depends on the rows of its own block and of the first one, to the last bit.
    """
    centre = float(x[: ends[1]].mean())
    power, sums = x - centre, [np.diff(ends).astype(np.float64)]
    for _ in SERIES:
        sums.append(np.add.reduceat(power, ends[:-1]))
        power = power * (x - centre)
    shifts = [(centre - means) ** k for k in range(len(sums))]
    return np.stack(
        [
            sum(math.comb(k, j) * np.outer(sums[j], shifts[k - j]) for j in range(k + 1))
            for k in range(1, len(sums))
        ]
    )


def sum_of_series(terms: Array, stake: Array) -> Array:
    """The sum of each term times the stake to the power of its place, from 1 on."""
    total = terms[-1] * stake
    for term in terms[-2::-1]:
        total += term
        total *= stake
    return np.asarray(total)
