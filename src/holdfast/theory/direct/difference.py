"""The difference of two group means: one joint bet instead of a box; of two shares, exactly.

For groups that share rows there is the box only: `propagation.difference_interval` of two intervals
at half the level each. For 0/1 values of disjoint groups of alike rows the exact interval takes the
place of the joint bet and of the box at every size: the probability of a miss is a double binomial
sum, taken at the worst pair of shares that the counts allow.

Symbols: x the n1 values of group 1, y the n2 values of group 2, in [0, 1]; theta1, theta2 their
means, delta = theta1 - theta2; q the one-sided level. Of shares I of n1 rows and J of n2 rows are
1, i and j as counted; p1, p2 their chances, delta = p1 - p2, z = Phi^-1(1 - q).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.bets import (
    Array,
    StakeLadder,
    counted,
    exact_values,
    first_kept,
    log_least_capital,
    unit_values,
)
from holdfast.theory.base.intervals import Interval, clopper_pearson, log_binomial_cdf
from holdfast.theory.base.propagation import difference_interval
from holdfast.theory.base.safeside import level_share, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.unit_sums import enclosed_group_interval, group_mean_interval

# What of a side's level goes to the box of theta2, and what is left for the bet.
_BOX, _BET = 0.1, 0.9
# The joint bets are narrower from n1 n2/(n1 + n2) = 5 (L + 2.5) on: measured on coins and delays.
_FEW = 5.0


@theorem(
    source="Holdfast",
    place="Section 12.4, one side",
    statement="For two disjoint groups of alike rows (given their members), or groups fixed by "
    "design, the least delta that the joint bets do not reject at every end of theta2's box is "
    "above theta1 - theta2 with probability at most e^{log_q}.",
    domain="values in [0, 1], log_q <= 0; disjoint groups, independent rows; shared rows: never",
    slack="radius sqrt(2L(v1/n1 + v2/n2)) to first order, where a box has the sum of two radii",
)
def group_difference_lower(
    x: ArrayLike,
    y: ArrayLike,
    log_q: float,
    times_x: ArrayLike | None = None,
    times_y: ArrayLike | None = None,
) -> float:
    """A lower bound on theta1 - theta2; -1 if a group is empty.

    *Proof.* E_k(t1, t2) = prod(1 + (kappa/n1)(x - t1)) prod(1 - (kappa/n2)(y - t2)) has mean at
    most 1 at (theta1, theta2); ln E_k is concave along t1 - t2 = delta, so over the box of theta2
    (a tenth of the level) it is least at an end; it falls in delta. The grid of kappa depends on
    n1, n2 and the level only.
    """
    n1, n2 = (_rows(values, times) for values, times in ((x, times_x), (y, times_y)))
    return design_difference_lower(x, y, (n1, n2), log_q, times_x, times_y)


def _rows(values: ArrayLike, times: ArrayLike | None) -> int:
    return int(counted(times, exact_values(values))[1].sum())


@theorem(
    source="Holdfast",
    place="Section 13.5a, one side",
    statement="For independent rows, alike or not, in two arms of N1 and N2 rows that a design "
    "fixed, the joint bets with factors 1 + (kappa/N1) 1{B}(x - t1) and 1 - (kappa/N2) 1{B}(y - "
    "t2) bound theta1 - theta2 from below at one-sided level e^{log_q}: theta_g is E of the sum "
    "over E of the number of arm g's rows in B.",
    domain="values in [0, 1], at most N1 and N2 of them, log_q <= 0; B is measured before the arm",
    slack="1.37 and 1.26 times the normal half-width at levels 1e-4 and 1e-7; a box has 1.83, 1.64",
)
def design_difference_lower(
    x: ArrayLike,
    y: ArrayLike,
    arms: tuple[int, int],
    log_q: float,
    times_x: ArrayLike | None = None,
    times_y: ArrayLike | None = None,
) -> float:
    """A lower bound on theta1 - theta2, from the values of the rows in B; -1 if none can be had.

    The arms are taken as fixed: this is the difference of these arms' rows, not the average effect
    of a trial whose patients are fixed and whose arms were drawn (there the product has a mean of
    up to 1.245: see `holdfast.theory.direct.trials`).

    *Proof.* At (theta1, theta2) the mean factors of each arm average to 1, so their product is at
    most 1 (arithmetic and geometric mean). Stakes depend on N1 and N2 only, never on how many rows
    are in B.
    """
    first, second = counted(times_x, unit_values(x)), counted(times_y, unit_values(y, up=True))
    (low, rows_x), (high, rows_y) = first, second
    N1 = require.integer_at_least("arms[0]", arms[0], int(rows_x.sum()))
    N2 = require.integer_at_least("arms[1]", arms[1], int(rows_y.sum()))
    L = -require.log_probability("log_q", log_q)
    if not rows_x.size or not rows_y.size:
        return -1.0
    box = group_mean_interval(y, N2, level_share(log_q, _BOX), times_y)
    kappa = math.sqrt(2.0 * (L - math.log(2.0) + 2.5) / (0.25 / N1 + 0.25 / N2))
    ladder = StakeLadder.weighed(
        [kappa * 2.0 ** (0.75 * k) for k in range(24)], [1.0 / (2 + k) for k in range(24)]
    )
    times = np.concatenate([rows_x, rows_y])
    threshold = -level_share(log_q, _BET)

    def excess(delta: float) -> float:
        ends = [(round_up(t2 + delta), t2) for t2 in box]
        worst = max(max(t1 / N1, (1.0 - t2) / N2) for t1, t2 in ends)
        deviations = [np.concatenate([(low - t1) / N1, (t2 - high) / N2]) for t1, t2 in ends]
        return log_least_capital(ladder, deviations, times, worst, 3.0 / min(N1, N2)) - threshold

    means, spread = [], 0.0
    for values, counts in (first, second):
        means.append(float(np.average(values, weights=counts)))
        spread += float(((values - means[-1]) ** 2 * counts).sum() / counts.sum() ** 2)
    # Above the difference of the sample no bet gains.
    estimate = min(1.0, means[0] - means[1] + 2.0**-40)
    return first_kept(excess, estimate, -1.0, math.sqrt(2.0 * (L + 1.0) * max(spread, 1e-9)))


# Values known only to lie between the first and the second, and how often each of them occurred.
Enclosed = tuple[ArrayLike, ArrayLike, ArrayLike | None]


def enclosed_difference_interval(
    first: Enclosed, second: Enclosed, log_p: float, arms: tuple[int, int] | None = None
) -> Interval:
    """`group_difference_lower` of (x, y), and of (1 - x, 1 - y) mirrored, at e^{log_p}/2 each.

    With the sizes of `arms` that a design fixed, `design_difference_lower`.

    For the lower end x is taken at its least and y at its most, for the upper one the other way
    round. Where the groups are so small that the joint bets' stakes are too high (a rule in n1, n2
    and the level only), the box of both means at e^{log_p}/2 each is narrower and takes their
    place.
    """
    side = level_share(log_p)
    sizes = [_rows(low, times) for low, _, times in (first, second)]
    if 0 in sizes:
        return Interval(-1.0, 1.0)
    n1, n2 = sizes if arms is None else arms
    if n1 * n2 < _FEW * (n1 + n2) * (2.5 - log_p):
        boxes = [
            enclosed_group_interval(low, high, size, side, times)
            for (low, high, times), size in ((first, n1), (second, n2))
        ]
        return difference_interval(*boxes[0], *boxes[1])
    (x_low, x_high, times_x), (y_low, y_high, times_y) = first, second
    x_mirrored, y_mirrored = 1.0 - unit_values(x_high, up=True), 1.0 - unit_values(y_low)
    return Interval(
        design_difference_lower(x_low, y_high, (n1, n2), side, times_x, times_y),
        -design_difference_lower(x_mirrored, y_mirrored, (n1, n2), side, times_x, times_y),
    )


# Shares: exactly, no bet and no box.


# What of a side's level goes to the box of both shares, a quarter to each end; the rest to the
# test.
_SHARES_BOX, _TEST = 0.05, 0.95
# Below this log-level the floats of the exact law underflow, and the box says what can be said.
_DEEPEST = -600.0
# Counts outside so many standard deviations of the box have a millionth of the level.
_RARE = math.log(1e6)
# At so many points or in so many cells at least; a cell is cut into 8, and those again.
_POINTS, _CUT = 24, 8
_GAP = 2e-4  # how far below the end that points suggest a sure one is looked for, at most
# More values of a count than this are taken in blocks of a 32nd of a standard deviation.
_SINGLE, _FINE = 4000, 32
_TIE = 2.0**-40  # samples so close in order count as equal
_TOGETHER = 1 << 20  # terms at a time


@theorem(
    source="Holdfast",
    place="Section 13.5c, the order of samples (after Agresti & Coull 1998)",
    statement="With a = z^2/4 and p~ = (count + a)/(n + 2a), T = p~1 - p~2 - z sqrt(p~1(1 - p~1)/"
    "(n1 + 2a) + p~2(1 - p~2)/(n2 + 2a)) rises in the first count and falls in the second.",
    domain="n1, n2 >= 1, 0 <= i <= n1, 0 <= j <= n2, z > 0",
    monotone={"i": "up", "j": "down"},
    slack="an order, not a bound: any that is monotone is valid, this one is nearly the best",
)
def share_order(n1: int, i: float, n2: int, j: float, z: float) -> float:
    """T: how much a sample says for a large difference of shares.

    *Proof.* dT/dp~1 = 1 - z(1 - 2p~1)/(2(n1 + 2a) sqrt V), V the radicand, and (n1 + 2a) sqrt V >=
    sqrt((n1 + 2a) p~1(1 - p~1)) >= z|1 - 2p~1|/2: at the least p~1, x = a/(n1 + 2a), this is (1 -
    2x)^2 <= 1 - x, true for x <= 3/4, and the ratio falls towards 1/2. So for the second count.
    """
    return float(_order(n1, np.float64(i), n2, np.float64(j), require.positive("z", z)))


def _spread(n1: int, i: float, n2: int, j: float, z: float) -> float:
    """z standard errors of the difference, as the order estimates them."""
    a = 0.25 * z * z
    middle = (i + a) / (n1 + 2.0 * a) - (j + a) / (n2 + 2.0 * a)
    return middle - share_order(n1, i, n2, j, z)


def _order(n1: int, i: Array | np.float64, n2: int, j: Array | np.float64, z: float) -> Array:
    a = 0.25 * z * z
    N1, N2 = n1 + 2.0 * a, n2 + 2.0 * a
    p1, p2 = (i + a) / N1, (j + a) / N2
    ordered: Array = p1 - p2 - z * np.sqrt(p1 * (1.0 - p1) / N1 + p2 * (1.0 - p2) / N2)
    return ordered


@theorem(
    source="Holdfast",
    place="Section 13.5c, one side (after Berger & Boos 1994)",
    statement="For two disjoint groups of alike 0/1 rows, given their members, the largest delta "
    "at which P[T(I, J) >= T(i, j)] <= .95 q for all (p1, p2) with p1 - p2 <= delta in the box of "
    "Clopper and Pearson's ends at q/80 each is above p1 - p2 with probability at most q = "
    "e^{log_q}.",
    domain="0 <= i <= n1, 0 <= j <= n2, log_q <= 0 (above ln 1/4 it is taken as that)",
    slack="1.01-1.06 times the normal half-width at the same level from 400 rows a group on",
)
def share_difference_lower(n1: int, i: int, n2: int, j: int, log_q: float) -> float:
    """A lower bound on p1 - p2, rounded down to the end of a bracket; -1 if a group is empty.

    *Proof.* The order T rises in I and falls in J, so {T >= t} has a probability that rises in p1
    and falls in p2, and over p1 - p2 <= delta it is largest at p1 = p2 + delta or at a corner of
    the box. The regions are nested in t: for each (p1, p2) the probability of T(I, J)'s own region
    is a p-value. If the box holds (.05 q), a delta that is above the truth is rejected with at most
    .95 q. On a cell x <= p2 <= y of that line the probability is at most that at (y + delta, x).
    """
    n1, n2 = (require.integer_at_least(name, n, 0) for name, n in (("n1", n1), ("n2", n2)))
    i, j = require.integer_between("i", i, 0, n1), require.integer_between("j", j, 0, n2)
    log_q = min(require.log_probability("log_q", log_q), math.log(0.25))
    if n1 == 0 or n2 == 0:
        return -1.0
    if log_q < _DEEPEST:
        # Each end of these has half of the level.
        boxes = (clopper_pearson(n, count, log_q) for n, count in ((n1, i), (n2, j)))
        return difference_interval(*next(boxes), *next(boxes)).low
    test = _Test.of(n1, i, n2, j, log_q)
    spread = _spread(n1, i, n2, j, -float(special.ndtri_exp(log_q)))
    # Points of the line tell where the end is, up to a small gap; cells that cover it are surer.
    gap = min(_GAP, spread / 128)
    near = first_kept(test.least_excess, i / n1 - j / n2, -1.0, spread, absolute=gap / 8)
    while near - gap > -1.0:
        if test.rejects(near - gap, gap):
            return near - gap
        gap *= 2.0
    return -1.0


def share_difference_interval(n1: int, i: int, n2: int, j: int, log_p: float) -> Interval:
    """The interval of p1 - p2: both one-sided bounds at e^{log_p}/2, the groups exchanged."""
    side = level_share(log_p)
    low, high = (
        share_difference_lower(n1, i, n2, j, side),
        share_difference_lower(n2, j, n1, i, side),
    )
    return Interval(low, -high)


@dataclass(frozen=True, slots=True, eq=False)
class CountBlocks:
    """The likely counts of one group in blocks, and an upper bound on what each block has.

    A block's middle c is counted exactly. The logarithm of the law is concave, so to both sides it
    falls at least as fast as from c to its neighbour, and a chord is above a convex function: a
    block of 2m + 1 has at most e^{g(c)}(1 + m(e^s + e^{ms})/2 + ...), s the first step's loss.
    """

    n: int
    middle: Array
    ways: Array  # ln of the binomial coefficient
    beyond: tuple[Array, Array]  # how many counts a block has above its middle, and below
    steps: tuple[Array, Array]  # ln of the ratio of coefficients one step above, and below

    @classmethod
    def of(cls, n: int, edges: Array) -> CountBlocks:
        """Blocks from each edge up to before the next."""
        first, last = edges[:-1], edges[1:] - 1.0
        middle = np.floor(0.5 * (first + last))
        ways = special.gammaln(n + 1.0) - special.gammaln(middle + 1.0)
        ways = ways - special.gammaln(n - middle + 1.0)
        with np.errstate(divide="ignore"):
            above = np.log(n - middle) - np.log(middle + 1.0)
            below = np.log(middle) - np.log(n - middle + 1.0)
        return cls(n, middle, ways, (last - middle, middle - first), (above, below))

    def masses(self, shares: Array) -> Array:
        """For each share a line with an upper bound on each block's probability."""
        p = shares[:, np.newaxis]
        logs = special.xlogy(self.middle, p)
        logs += special.xlog1py(self.n - self.middle, -p)
        logs += self.ways
        masses = np.exp(logs)
        if not any(rows.any() for rows in self.beyond):
            return np.asarray(masses)
        odds = np.log(p) - np.log1p(-p)
        more = np.ones_like(masses)
        for rows, step, sign in zip(self.beyond, self.steps, (1.0, -1.0), strict=True):
            loss = np.where(rows > 0.0, step, 0.0) + sign * odds
            more += 0.5 * rows * (np.exp(loss) + np.exp(rows * loss))
        return np.asarray(masses * more)


def _likely(n: int, box: Interval, log_q: float) -> tuple[int, int, float]:
    """The least and the largest likely count, whatever the share in the box; a block's size."""
    spread = math.sqrt(n * max(share * (1 - share) for share in _extremes(box)))
    reach = math.sqrt(2.0 * (_RARE - log_q)) * spread + _RARE - log_q
    least = max(0, math.floor(n * box.low - reach))
    most = min(n, math.ceil(n * box.high + reach))
    whole = most - least < _SINGLE or box.low == 0.0 or box.high == 1.0
    return least, most, 1.0 if whole else max(1.0, spread / _FINE)


def _extremes(box: Interval) -> tuple[float, ...]:
    return (*box, 0.5) if box.low < 0.5 < box.high else tuple(box)


def _edges(least: int, most: int, size: float) -> Array:
    """Whole numbers from the least count to one above the largest, about so far apart."""
    blocks = max(1, math.ceil((most + 1 - least) / size))
    return np.unique(np.floor(np.linspace(least, most + 1, blocks + 1)))


@dataclass(frozen=True, slots=True, eq=False)
class _Test:
    """P[T(I, J) >= T(i, j)] as a sum over blocks of I, with what is needed for every delta."""

    boxes: tuple[Interval, Interval]
    first: CountBlocks
    second: CountBlocks
    reached: NDArray[np.int64]  # for each block of I, how many blocks of J are in the region
    outside: float  # unlikely counts of both groups: all of them are taken to be in it
    log_level: float

    @classmethod
    def of(cls, n1: int, i: int, n2: int, j: int, log_q: float) -> _Test:
        z = -float(special.ndtri_exp(log_q))
        bound = level_share(log_q, _SHARES_BOX / 2)  # two ends of half of that
        boxes = clopper_pearson(n1, i, bound), clopper_pearson(n2, j, bound)
        least, most, size = _likely(n1, boxes[0], log_q)
        edges = _edges(least, most, size)
        last = _last_in_region(n1, edges[1:] - 1.0, n2, z, share_order(n1, i, n2, j, z) - _TIE)
        lowest, highest, step = _likely(n2, boxes[1], log_q)
        # Blocks of J end where a region does.
        ends = np.clip(last + 1.0, lowest, highest + 1.0)
        inner = np.unique(np.concatenate([_edges(lowest, highest, step), ends]))
        # The worst shares of the box are its ends.
        tails = (
            (n1, least - 1, boxes[0].low),
            (n1, n1 - most - 1, 1.0 - boxes[0].high),
            (n2, lowest - 1, boxes[1].low),
            (n2, n2 - highest - 1, 1.0 - boxes[1].high),
        )
        # Differences of log-gammas, whose size sets their error, and everything else.
        error = 2.0**-46 * float(special.gammaln(n1 + 1.0) + special.gammaln(n2 + 1.0)) + 1e-6
        return cls(
            boxes,
            CountBlocks.of(n1, edges),
            CountBlocks.of(n2, inner),
            np.searchsorted(inner, ends),
            sum(math.exp(log_binomial_cdf(*tail)) for tail in tails if tail[1] >= 0),
            level_share(log_q, _TEST) - error,
        )

    def least_excess(self, delta: float) -> float:
        """By how many nats delta is rejected at the worst of some points: ln of the level over
        the probability.
        """
        p2 = self._line(delta, _POINTS)
        return float(self._margins(self._first_share(p2, delta), p2).min(initial=math.inf))

    def rejects(self, delta: float, width: float) -> bool:
        """Whether delta is surely rejected: whether it is in every cell, the last ones of a width.

        Cells are cut twice where they are not below the level as they are.
        """
        ends = self._line(delta, 1)
        cells = math.ceil(np.ptp(ends) / (_CUT * width)) if ends.size else 0
        ends = self._line(delta, max(_POINTS, cells))
        left, right = (ends, ends) if ends.size == 1 else (ends[:-1], ends[1:])
        for _ in range(3):
            open_ = self._margins(self._first_share(right, delta), left) < 0.0
            if not open_.any():
                return True
            cuts = np.linspace(left[open_], right[open_], _CUT + 1)
            left, right = cuts[:-1].ravel(), cuts[1:].ravel()
        return False

    def _line(self, delta: float, cells: int) -> Array:
        """The p2 of the box where p2 + delta is in p1's: ends of cells, in order.

        A single one if every pair of the box is at most delta apart (the corner that is worst), and
        none if no pair is.
        """
        (l1, u1), (l2, u2) = self.boxes
        if l1 - delta > u2:
            return np.empty(0)
        if u1 - delta <= l2:
            return np.array([l2])
        return np.linspace(max(l2, l1 - delta), min(u2, u1 - delta), cells + 1)

    def _first_share(self, p2: Array, delta: float) -> Array:
        """p2 + delta, rounded up, inside the box of p1."""
        box = self.boxes[0]
        return np.clip((p2 + delta) + 2.0**-52, box.low, box.high)

    def _margins(self, p1: Array, p2: Array) -> Array:
        """ln of the level over the region's probability, for each pair of shares."""
        found = np.empty(p1.size)
        together = max(1, _TOGETHER // (self.first.middle.size + self.second.middle.size))
        for start in range(0, p1.size, together):
            part = slice(start, start + together)
            up_to = np.cumsum(self.second.masses(p2[part]), axis=1)
            up_to = np.concatenate([np.zeros((up_to.shape[0], 1)), up_to], axis=1)
            inside = up_to[:, self.reached]
            found[part] = (self.first.masses(p1[part]) * inside).sum(axis=1)
        margins: Array = self.log_level - np.log(found + self.outside + 1e-290)
        return margins


def _last_in_region(n1: int, i: Array, n2: int, z: float, least: float) -> Array:
    """For each i the largest j with T(i, j) at its least or above; -1 if there is none."""
    inside, outside = np.full(i.size, -1.0), np.full(i.size, n2 + 1.0)
    while np.any(outside - inside > 1.0):
        middle = np.floor(0.5 * (inside + outside))
        open_ = outside - inside > 1.0
        holds = _order(n1, i, n2, np.clip(middle, 0.0, n2), z) >= least
        inside = np.where(open_ & holds, middle, inside)
        outside = np.where(open_ & ~holds, middle, outside)
    return inside
