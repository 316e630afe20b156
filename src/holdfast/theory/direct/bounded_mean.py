"""The mean of a bounded column by bets: with a guess of its spread, without, and by two methods.

Bets that know no order (section 12.2) hold for any independent rows. Bets one block of rows after
the other aim, at each block, at what is still missing (section 12.3): they are narrower where n
alike rows have much more spread than the level needs, and wider for columns of tiny spread. What
both leave, with half of the level each, is nearly as narrow as the better one.

The order must not depend on the values: it is drawn by a key that was made before the rows were
read, and is never made again. The order in which rows are stored will not do: sorted rows break it.

Symbols: x_1..x_n in [0, 1] independent rows, alike or not; mu the average of their means; p the
two-sided level, q one side's, L = -ln q; W the capital of the bets in order, block by block,
against a mean of m.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import (
    Array,
    Settled,
    Tally,
    counted,
    even_odds_log_p,
    fixed_lower_odds,
    log_bets,
    log_capital,
    lower_odds,
    odds_interval,
    settled_by,
    share_below,
    unit_values,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import level_share, round_up
from holdfast.theory.base.theorem import theorem


@theorem(
    source="Holdfast",
    place="Section 12.2, one side",
    statement="For independent rows in [0, 1], alike or not, with average mean mu, the lower end "
    "by the mixture of bets in cells of odds is above mu with probability at most e^{log_q}.",
    domain="values in [0, 1], log_q <= 0; independent rows",
    slack="against the best single bet that knows the variance 4-8 %",
)
def bounded_mean_lower(
    values: ArrayLike,
    log_q: float,
    times: ArrayLike | None = None,
    settled: Settled | None = None,
) -> float:
    """A lower bound on the average mean of the rows, at one-sided level e^{log_q}.

    `times` says how often each value occurred. Dividing gain by loss turns mu into the odds
    mu/(1 - mu) of `lower_odds`: 1 - l + l x/m = 1 - l(1 - x) + l x (1 - m)/m. It is looked for
    until `settled` holds of two means that it is between.
    """
    tally = Tally.of_values(*counted(times, unit_values(values)))
    of_odds = settled and (lambda a, b: settled(share_below(a), share_below(b)))
    return share_below(lower_odds(tally, log_q, of_odds))


@theorem(
    source="Holdfast",
    place="Section 12.2",
    statement="For independent rows in [0, 1], alike or not, the lower ends of the rows and of "
    "1 - x at e^{log_p}/2 each enclose the average mean with probability >= 1 - e^{log_p}.",
    domain="values in [0, 1], log_p <= 0; independent rows",
    slack="half-width 3.5 times the 95 % normal one at p = e^-20, where the normal limit is 3.06",
)
def bounded_mean_interval(
    values: ArrayLike, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """The two-sided interval, rounded outwards; [0, 1] without rows."""
    return enclosed_mean_interval(values, values, log_p, times)


def above_half_log_p(values: ArrayLike, log_q: float, times: ArrayLike | None = None) -> float:
    """ln of a p-value of "the average mean is at most 1/2", by the bets of `bounded_mean_lower`."""
    return even_odds_log_p(Tally.of_values(*counted(times, unit_values(values))), log_q)


def enclosed_mean_interval(
    low: ArrayLike,
    high: ArrayLike,
    log_p: float,
    times: ArrayLike | None = None,
    told: Callable[[Interval], object] | None = None,
) -> Interval:
    """`bounded_mean_interval` of values known only to lie between `low` and `high`.

    With `told`, what will be told of the interval, no sharper than that needs.
    """
    least, most, counts = counted(times, unit_values(low), unit_values(high, up=True))
    below, above = Tally.of_values(least, counts), Tally.of_values(1.0 - most, counts)
    return odds_interval(below, above, log_p, told)


# Around the best stake for the guessed second moment: a wrong guess costs width, never validity.
_FIVE = (0.5, 0.75, 1.0, 1.35, 1.8)
_EQUAL = (0.2,) * 5


def _five_stakes(n: int, second_moment: float, log_q: float) -> list[float]:
    d = require.between("second_moment", second_moment, 0.0, 1.0, open_low=True)
    best = math.sqrt(-2.0 * require.log_probability("log_q", log_q) / (max(n, 1) * d))
    return [min(1.0, best * step) for step in _FIVE]


@theorem(
    source="Holdfast",
    place="Section 11.3, five bets, one side",
    statement="For independent rows in [0, 1], alike or not, and a public guess d of the second "
    "moment of 2x - 1, the least m that the mixture of five bets does not reject is above the "
    "average mean with probability at most e^{log_q}.",
    domain="values in [0, 1], 0 < second_moment <= 1, log_q <= 0; independent rows",
    slack="a wrong guess costs width, never validity",
)
def bet_lower(
    values: ArrayLike, second_moment: float, log_q: float, times: ArrayLike | None = None
) -> float:
    """A lower bound on the average mean; best where 2x - 1 has mean near 0 and E(2x - 1)^2 = d."""
    tally = Tally.of_values(*counted(times, unit_values(values)))
    stakes = _five_stakes(tally.units, second_moment, log_q)
    return share_below(fixed_lower_odds(tally, stakes, _EQUAL, log_q))


def bet_excess(
    values: ArrayLike,
    second_moment: float,
    log_q: float,
    least: float,
    times: ArrayLike | None = None,
) -> float:
    """By how many nats five bets surely reject "the mean is at most `least`": >= 0 rejects it.

    This is the test of a check or gate: it needs no bound, only the capital at the claim's edge.
    """
    least = require.between("least", least, 0.0, 1.0, open_low=True, open_high=True)
    tally = Tally.of_values(*counted(times, unit_values(values)))
    stakes = _five_stakes(tally.units, second_moment, log_q)
    odds = round_up(least / (1.0 - least))
    return float(log_bets(tally, stakes, _EQUAL, odds) + log_q)


@theorem(
    source="Holdfast",
    place="Section 12.0, the outlier floor",
    statement="Any interval valid at level e^{log_p} for all laws of n iid rows on a declared box "
    "contains, on samples of P, the truth of (1 - e) P + e (a point of the box) with probability "
    ">= 1/2, for e = 1 - (2 e^{log_p})^(1/n).",
    domain="n >= 1, log_p <= -ln 2",
    monotone={"n": "down", "log_p": "down"},
    slack="what no method can exclude: a tight declared range is worth more than any inequality",
)
def outlier_floor_mass(n: int, log_p: float) -> float:
    """The mass e at one point that no valid procedure can exclude.

    *Proof.* A sample of the mixture is one of P with probability (1 - e)^n = 2 e^{log_p}; were the
    mixture's truth excluded there with probability above 1/2, it would be missed with more than
    e^{log_p}.
    """
    n = require.positive_integer("n", n)
    doubled = require.log_probability("log_p", log_p) + math.log(2.0)
    return -math.expm1(min(0.0, doubled) / n)


# Two methods, half of the level each.


BLOCKS = 128  # of rows, at most
_MOST_AT_STAKE = 0.9
_PRIOR_ROWS, _PRIOR_SPREAD = 4.0, 0.25  # what is taken for known of the spread before any row
_TOGETHER = 128  # cells of means that are tried at once
# For y >= -1/2 the sum of these times y, y^2, ... is at most ln(1 + y), and close to it up to NEAR:
# that is y - y^2/2 + ... + y^7/7 - y^8 f(y), where f, the integral of t^7/(1 + t y) over [0, 1], is
# at most f(-1/2) = 1/8 + (1/2)/9 + (1/4)/10 + (1/8)/11 + ... < .2267.
NEAR, SERIES = 0.5, np.array([(-1) ** (k + 1) / k for k in range(1, 8)] + [-0.2267])
_IN_CACHE = 1 << 15  # rows whose powers are summed at once
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
    if ranks.size == n and (n == 0 or (ranks.min() >= 0 and ranks.max() < n)):
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
        places = np.flatnonzero(log_wealth(x, ends, tops, L)[-1] < L)
        if places.size or not tops.size:
            return cell + (int(places[0]) if places.size else 0)
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
        side.accumulate(side.reduceat(x, ends[:-1]))[:, np.newaxis]
        for side in (np.minimum, np.maximum)
    )
    near = NEAR / np.maximum(means - least, largest - means)
    most = _MOST_AT_STAKE / means
    wealth = np.zeros((sizes.size + 1, means.size))
    for block, size in enumerate(sizes.tolist()):
        stake = L - wealth[block]
        np.maximum(stake, 0.0, out=stake)
        stake *= aims[block]
        np.sqrt(stake, out=stake)
        np.minimum(most, stake, out=stake)
        gain = sum_of_series(series[:, block], stake)
        gain -= _SLACK * size
        if (far := stake > near[block]).any():
            rows = x[ends[block] : ends[block + 1]]
            factors = 1.0 + stake[far, np.newaxis] * (rows - means[far, np.newaxis])
            gain[far] = log_capital(factors, np.ones(size), 1.0 + stake[far])
        np.add(wealth[block], gain, out=wealth[block + 1])
    return wealth[1:]


def block_powers(x: Array, ends: NDArray[np.int64], means: Array) -> Array:
    """Sums of (x - m)^k over each block, for k = 1, 2, ... and each mean m.

    Each depends on the rows of its own block and of the first one, to the last bit.
    """
    centre, sizes = float(x[: ends[1]].mean()), np.diff(ends)
    sums = np.empty((len(SERIES) + 1, sizes.size))
    sums[0] = sizes
    together = max(1, _IN_CACHE // int(sizes.max()))
    for first in range(0, sizes.size, together):
        blocks = slice(first, first + together)
        starts, end = ends[:-1][blocks], ends[1:][blocks][-1]
        deviation = x[starts[0] : end] - centre
        power = deviation.copy()
        for k in range(1, len(sums)):
            np.add.reduceat(power, starts - starts[0], out=sums[k, blocks])
            power *= deviation
    shifts = [(centre - means) ** k for k in range(len(sums))]
    powers = np.zeros((len(SERIES), sizes.size, means.size))
    term = np.empty(powers.shape[1:])
    for k in range(1, len(sums)):
        for j in range(k + 1):
            np.multiply.outer(sums[j], shifts[k - j], out=term)
            if 0 < j < k:
                np.multiply(term, math.comb(k, j), out=term)
            powers[k - 1] += term
    return powers


def sum_of_series(terms: Array, stake: Array) -> Array:
    """The sum of each term times the stake to the power of its place, from 1 on."""
    total = terms[-1] * stake
    for term in terms[-2::-1]:
        total += term
        total *= stake
    return np.asarray(total)
