"""Variance, standard deviation and covariance by bets on squared deviations.

Symbols: x (and y) in [0, 1]; the mean a is in the box [a0 - w, a0 + w]; X = x - a0, alpha = a - a0,
A = alpha^2; s2 a candidate for the variance. For rows that are independent but not alike the truth
is the variance of the rows' average law.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from holdfast import require
from holdfast.theory.base.bets import (
    Array,
    centred,
    counted,
    counted_pairs,
    exact_values,
    first_kept,
    log_least_capital,
    spread_ladder,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import level_share, round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.bounded_mean import bounded_mean_interval, enclosed_mean_interval


@theorem(
    source="Holdfast",
    place="Section 12.6",
    statement="For independent rows in [0, 1], the bets on +-((x - a)^2 - s2) at the four vertices "
    "around {(alpha, alpha^2)}, a in a box at a tenth of the level, enclose the variance with "
    "probability >= 1 - e^{log_p}.",
    domain="values in [0, 1], log_p <= 0; independent rows; unlike rows: of their average law",
    slack="kurtosis enters by itself; upper ends of tight columns are those of the outlier floor",
)
def variance_by_bets(values: ArrayLike, log_p: float, times: ArrayLike | None = None) -> Interval:
    """The interval of the variance of values in [0, 1], inside [0, 1/4], rounded outwards.

    *Proof.* At the true mean and s2 the factors 1 + lam g have means that average to 1, so capital
    has mean at most 1. g = +-(X^2 - 2 alpha X + A - s2) is affine in (alpha, A), and the truth
    (alpha, alpha^2) lies in the quadrilateral cut by the tangents of the parabola at 0 and +-w and
    by its chord, with vertices (+-w, w^2), (+-w/2, 0). Capital falls in s2 for the lower end and
    rises for the upper one. Levels: box 1/10, each end 9/20.
    """
    return enclosed_variance_by_bets(values, values, log_p, times)


def enclosed_variance_by_bets(
    low: ArrayLike, high: ArrayLike, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """`variance_by_bets` of values known only to lie between `low` and `high`.

    Every factor is taken at its least over the row's own interval, where X^2 - 2 alpha X + A =
    (X - alpha)^2 + A - alpha^2: at the point nearest to alpha for the lower end and at the furthest
    for the upper one. So capital is at most that of the values.
    """
    least, most, counts = counted(times, exact_values(low), exact_values(high))
    n = counts.sum()
    require.log_probability("log_p", log_p)
    if n == 0:
        return Interval(0.0, 0.25)
    box = enclosed_mean_interval(least, most, level_share(log_p, 0.1), counts)
    a0, w = centred(box)
    below, above = least - a0, most - a0
    near, far = [], []
    for alpha, A in _around_parabola(w):
        gaps = np.maximum(0.0, np.maximum(below - alpha, alpha - above))
        reach = np.maximum(above - alpha, alpha - below)
        near.append(gaps * gaps + (A - alpha * alpha))
        far.append(reach * reach + (A - alpha * alpha))
    furthest = (max(1.0 - a0, a0) + w) ** 2
    ladder, threshold = spread_ladder(int(n), log_p), -level_share(log_p, 0.45)

    def low_excess(s2: float) -> float:
        deviations = [square - s2 for square in near]
        worst = s2 + 0.25 * w * w  # X^2 - 2 alpha X + A >= A - alpha^2 >= -w^2/4
        return log_least_capital(ladder, deviations, counts, worst, 4.0) - threshold

    def high_excess(s2: float) -> float:
        deviations = [s2 - square for square in far]
        worst = max(0.0, round_up(furthest - s2))
        return log_least_capital(ladder, deviations, counts, worst, 4.0) - threshold

    middle = 0.5 * (below + above)
    return _both_ends(low_excess, high_excess, middle * middle, counts, log_p, Interval(0.0, 0.25))


def enclosed_std_by_bets(
    low: ArrayLike, high: ArrayLike, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """The root of the variance's interval, the same event, of values that lie between these."""
    variance = enclosed_variance_by_bets(low, high, log_p, times)
    return Interval(
        max(0.0, round_down(math.sqrt(variance.low))), round_up(math.sqrt(variance.high))
    )


@theorem(
    source="Holdfast",
    place="Section 12.6, covariance",
    statement="For independent pairs in [0, 1]^2, the bets on +-((x - a)(y - b) - C) at the four "
    "corners of the boxes of both means, at a twentieth of the level each, enclose the covariance "
    "with probability >= 1 - e^{log_p}.",
    domain="values in [0, 1], log_p <= 0; independent rows; unlike rows: of their average law",
    slack="second order in the boxes",
)
def covariance_by_bets(
    x: ArrayLike, y: ArrayLike, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """The interval of the covariance, inside [-1/4, 1/4], rounded outwards.

    *Proof.* g is affine in each of a and b when the other is fixed, so ln(1 + lam g) is least over
    the box at a corner. Levels: boxes 1/20 each, each end 9/20.
    """
    first, second, counts = counted_pairs(x, y, times)
    n = counts.sum()
    require.log_probability("log_p", log_p)
    if n == 0:
        return Interval(-0.25, 0.25)
    boxes = [bounded_mean_interval(v, level_share(log_p, 0.05), counts) for v in (first, second)]
    corners = [(a, b) for a in boxes[0] for b in boxes[1]]
    products = [(first - a) * (second - b) for a, b in corners]
    most = max(max(a * b, (1.0 - a) * (1.0 - b)) for a, b in corners)
    least = max(max(a * (1.0 - b), (1.0 - a) * b) for a, b in corners)
    ladder, threshold = spread_ladder(int(n), log_p), -level_share(log_p, 0.45)

    def low_excess(C: float) -> float:
        deviations = [product - C for product in products]
        return log_least_capital(ladder, deviations, counts, round_up(least + C), 2.0) - threshold

    def high_excess(C: float) -> float:
        deviations = [C - product for product in products]
        return log_least_capital(ladder, deviations, counts, round_up(most - C), 2.0) - threshold

    around = (first - centred(boxes[0])[0]) * (second - centred(boxes[1])[0])
    return _both_ends(low_excess, high_excess, around, counts, log_p, Interval(-0.25, 0.25))


def _both_ends(
    low_excess: Callable[[float], float],
    high_excess: Callable[[float], float],
    products: Array,
    counts: Array,
    log_p: float,
    limits: Interval,
) -> Interval:
    """Each end, searched from the sample's own value in steps of its likely radius."""
    n = counts.sum()
    mean = float((products * counts).sum() / n)
    spread = float((products * products * counts).sum() / n) - mean * mean
    step = math.sqrt(2.0 * (1.0 - log_p) * max(spread, 1e-12) / n)
    center = min(max(mean, limits.low), limits.high)
    return Interval(
        first_kept(low_excess, center, limits.low, step),
        first_kept(high_excess, center, limits.high, step),
    )


def _around_parabola(w: float) -> list[tuple[float, float]]:
    return [(w, w * w), (-w, w * w), (0.5 * w, 0.0), (-0.5 * w, 0.0)]
