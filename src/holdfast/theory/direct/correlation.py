"""Correlations of two columns: Pearson's by one bet on its influence function, and Kendall's tau.

Symbols: x, y in [0, 1] with means mu_x, mu_y; X = x - a0, Y = y - b0 around the centres of their
boxes; alpha = mu_x - a0, beta = mu_y - b0; r = sd_x/sd_y in [r1, r2]; delta = alpha - r_m beta for
some r_m near r, which is far better known than alpha and beta if y follows x; rho0 a candidate. For
rows that are independent but not alike the truth is the correlation of the rows' average law.

Kendall's tau is found by bets on the taus of disjoint blocks. It needs no declared range, and no
nuisance. Symbols: tau = E sign(X - X') sign(Y - Y') of two independent rows, ties counting 0
(tau-a); n alike rows; B blocks, R public partitions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import (
    Array,
    StakeLadder,
    centred,
    counted_pairs,
    first_kept,
    log_least_capital,
    spread_ladder,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import level_share, round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.auc import auc_block_interval
from holdfast.theory.direct.bounded_mean import bounded_mean_interval, enclosed_mean_interval

# The ratios r_m of which the sample chooses one: their boxes have 1/200 of a box's level.
_RATIOS = [1.05**i for i in range(-100, 100)]
# Levels: four boxes of means, two sides of r, two ends of rho: 4/20 + 2/40 + 2 * 3/8 = 1.
_BOX, _RATIO_SIDE, _END = 0.05, 0.025, 0.375
# A column made of x and y is known to this much.
_ROUNDING = 2.0**-49


@theorem(
    source="Holdfast",
    place="Section 12.7",
    statement="For independent rows in [0, 1]^2, bets on +-((x - mu_x)(y - mu_y) - rho0((x - "
    "mu_x)^2/r + (y - mu_y)^2 r)/2), least over boxes of the means and of r = sd_x/sd_y, enclose "
    "the correlation with probability >= 1 - e^{log_p}.",
    domain="values in [0, 1], log_p <= 0; independent rows; unlike rows: of their average law",
    slack="first order that of the influence function; far outliers cannot be excluded for small n",
)
def correlation_by_bets(
    x: ArrayLike, y: ArrayLike, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """The interval of the correlation, inside [-1, 1], rounded outwards.

    *Proof.* Let g = XY - rho0(X^2/r + Y^2 r)/2 in deviations from the true means. At the true r its
    mean is sd_x sd_y(rho - rho0), and g falls in rho0, so the capital of any rho0 >= rho is at most
    that of rho, which has mean at most 1: any rejected rho0 is below rho outside one event. g is
    concave in r, so over [r1, r2] its capital is least at an end; for -g, which is convex in r, 1/r
    is first replaced by its tangent, which only lowers it. In alpha and delta, g is affine in
    (alpha, alpha^2, delta, delta^2, alpha delta), so capital is least at a vertex of any polytope
    around; squares and product enter as constants, whose worst values are taken. If rho < 0, the
    test of rho0 = 0 is below the capital of the test of -rho for (x, 1 - y): both tests of an end
    are one event.
    """
    require.log_probability("log_p", log_p)
    first, second, counts = counted_pairs(x, y, times)
    if not counts.size:
        return Interval(-1.0, 1.0)
    straight = _prepared(first, second, counts, log_p)
    if straight is None:
        return Interval(-1.0, 1.0)
    flipped = straight.mirrored(first, second, log_p)
    return Interval(_lower_end(straight, flipped), -_lower_end(flipped, straight))


@dataclass(frozen=True, slots=True, eq=False)
class PairBets:
    """Two columns around their centres, and the boxes of all that is not known about them."""

    X: Array
    Y: Array
    centres: tuple[float, float]
    means: tuple[Interval, Interval]
    deltas: Interval
    alphas: Interval
    r: Interval
    r_m: float
    times: Array
    ladder: StakeLadder
    threshold: float

    def mirrored(self, x: Array, y: Array, log_p: float) -> PairBets:
        """The same rows as (x, 1 - y)."""
        a0, b0 = self.centres[0], 1.0 - self.centres[1]
        mean_y = Interval(
            max(0.0, round_down(1.0 - self.means[1].high)),
            min(1.0, round_up(1.0 - self.means[1].low)),
        )
        return PairBets(
            self.X,
            -self.Y,
            (a0, b0),
            (self.means[0], mean_y),
            _delta_box(x, 1.0 - y, (a0, b0), self.r_m, self.times, log_p),
            self.alphas,
            self.r,
            self.r_m,
            self.times,
            self.ladder,
            self.threshold,
        )

    def correlation(self) -> float:
        """That of the sample."""
        weights = self.times / self.times.sum()
        X, Y = (v - (v * weights).sum() for v in (self.X, self.Y))
        spread = math.sqrt((X * X * weights).sum() * (Y * Y * weights).sum())
        return float((X * Y * weights).sum() / spread) if spread > 0.0 else 0.0

    def excess(self, rho0: float, sign: int) -> float:
        """By how many nats rho0 is surely rejected: as too low (sign 1) or as too high (-1)."""
        r_c = math.sqrt(self.r.low * self.r.high)
        deviations, size = [], 0.0
        for r in self.r:  # 1/r or its tangent at r_c
            h = 1.0 / r if sign > 0 else 2.0 / r_c - r / r_c**2
            for alpha, delta in product(self.alphas, self.deltas):
                g, terms = self._deviations(rho0, r, h, alpha, delta, sign)
                deviations.append(g)
                size = max(size, terms)
        worst = round_up(self._largest_loss(rho0, sign), 64)
        return log_least_capital(self.ladder, deviations, self.times, worst, size) - self.threshold

    def _deviations(
        self, rho0: float, r: float, h: float, alpha: float, delta: float, sign: int
    ) -> tuple[Array, float]:
        """sign * g at one vertex, its constants the worst ones, and the sum of its terms' sizes."""
        X, Y, r_m = self.X, self.Y, self.r_m
        beta = (alpha - delta) / r_m
        half = 0.5 * rho0
        # Coefficients of alpha^2, delta^2 and alpha delta.
        square = sign * (1.0 / r_m - half * (h + r / r_m**2))
        slope = -sign * half * r / r_m**2
        cross = sign * (rho0 * r / r_m**2 - 1.0 / r_m)
        bounds = (
            (square, (0.0, max(end * end for end in self.alphas))),
            (slope, (0.0, max(end * end for end in self.deltas))),
            (cross, [a * d for a, d in product(self.alphas, self.deltas)]),
        )
        constant = sum(min(coefficient * end for end in ends) for coefficient, ends in bounds)
        g = X * Y - alpha * Y - beta * X
        g -= half * (h * (X * X - 2.0 * alpha * X) + r * (Y * Y - 2.0 * beta * Y))
        x_size, y_size = 1.0 + 2.0 * abs(alpha), 1.0 + 2.0 * abs(beta)
        terms = x_size * y_size + half * (abs(h) * x_size**2 + r * y_size**2)
        sizes = sum(abs(coefficient) * max(map(abs, ends)) for coefficient, ends in bounds)
        return sign * g + constant, terms + sizes

    def _largest_loss(self, rho0: float, sign: int) -> float:
        """The largest -(sign * g) of any declared row, wherever in the boxes the truth is.

        -g is convex in x, y, each mean and r, so it is largest at a corner; g itself is at most
        (1 - rho0)/2 (X^2/r + Y^2 r).
        """
        worst = 0.0
        for u, v, mu_x, mu_y, r in product((0.0, 1.0), (0.0, 1.0), *self.means, self.r):
            X, Y = u - mu_x, v - mu_y
            squares = 0.5 * (X * X / r + Y * Y * r)
            worst = max(worst, rho0 * squares - X * Y if sign > 0 else (1.0 - rho0) * squares)
        return worst


def _lower_end(pair: PairBets, flipped: PairBets) -> float:
    """A lower bound on the pair's correlation: tests of rho0 >= 0, or of (x, 1 - y) if 0 stands."""
    estimate = pair.correlation()
    step = math.sqrt(2.0 * (pair.threshold + 1.0) / pair.times.sum()) * max(
        1e-3, 1.0 - estimate * estimate
    )
    if pair.excess(0.0, 1) >= 0.0:
        start = min(max(estimate, 0.0), 1.0)
        return first_kept(lambda rho0: pair.excess(rho0, 1), start, 0.0, step)
    start = min(max(-estimate, 0.0), 1.0)
    return -first_kept(lambda rho0: flipped.excess(rho0, -1), start, 1.0, step)


def _prepared(x: Array, y: Array, counts: Array, log_p: float) -> PairBets | None:
    """The boxes of everything that the bets need; None if a spread may be 0 for all one knows."""
    mean_x, mean_y = (bounded_mean_interval(v, level_share(log_p, _BOX), counts) for v in (x, y))
    (a0, w), (b0, v) = centred(mean_x), centred(mean_y)
    X, Y = x - a0, y - b0
    ladder = spread_ladder(int(counts.sum()), log_p)
    threshold = -level_share(log_p, _RATIO_SIDE)
    below = _least_ratio(X, w, Y, v, max(b0, 1.0 - b0), counts, ladder, threshold)
    above = _least_ratio(Y, v, X, w, max(a0, 1.0 - a0), counts, ladder, threshold)
    if below <= 0.0 or above <= 0.0:
        return None
    r = Interval(round_down(math.sqrt(below)), round_up(math.sqrt(1.0 / above)))
    weights = counts / counts.sum()
    ratio = math.sqrt((X * X * weights).sum() / (Y * Y * weights).sum())
    r_m = min(_RATIOS, key=lambda value: abs(math.log(value / ratio)))
    return PairBets(
        X,
        Y,
        (a0, b0),
        (mean_x, mean_y),
        _delta_box(x, y, (a0, b0), r_m, counts, log_p),
        Interval(-w, w),
        r,
        r_m,
        counts,
        ladder,
        -level_share(log_p, _END),
    )


def _least_ratio(
    X: Array,
    w: float,
    Y: Array,
    v: float,
    reach: float,
    counts: Array,
    ladder: StakeLadder,
    threshold: float,
) -> float:
    """A lower bound t on var_x/var_y by bets on (X - alpha)^2 - t(Y - beta)^2.

    alpha is within w, beta within v; their squares are constants, taken at their worst: 0 and v^2.
    `reach` is how far a declared y can be from its centre.
    """
    squares = [
        (X * X - 2.0 * alpha * X, Y * Y - 2.0 * beta * Y + v * v)
        for alpha, beta in product((-w, w), (-v, v))
    ]
    furthest = round_up((reach + v) ** 2)

    def excess(t: float) -> float:
        deviations = [square - t * denominator for square, denominator in squares]
        return (
            log_least_capital(ladder, deviations, counts, t * furthest, 4.0 + 4.0 * t) - threshold
        )

    means = [float((V * V * counts).sum() / counts.sum()) for V in (X, Y)]
    if min(means) <= 0.0:
        return 0.0
    ratio = means[0] / means[1]
    return first_kept(excess, ratio, 0.0, ratio * min(0.5, 4.0 / math.sqrt(counts.sum())))


def _delta_box(
    x: Array, y: Array, centres: tuple[float, float], r_m: float, counts: Array, log_p: float
) -> Interval:
    """delta = (mu_x - a0) - r_m(mu_y - b0), from the mean of (x + r_m(1 - y))/(1 + r_m)."""
    column = (x + r_m * (1.0 - y)) / (1.0 + r_m)
    low, high = enclosed_mean_interval(
        np.clip(column - _ROUNDING, 0.0, 1.0),
        np.clip(column + _ROUNDING, 0.0, 1.0),
        level_share(log_p, _BOX / len(_RATIOS)),
        counts,
    )
    centre = (centres[0] - r_m * centres[1] + r_m) / (1.0 + r_m)
    slack = 2.0**-45 * (1.0 + r_m)
    return Interval((1.0 + r_m) * (low - centre) - slack, (1.0 + r_m) * (high - centre) + slack)


# Kendall's tau.


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
