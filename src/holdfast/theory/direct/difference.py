"""The difference of two group means: one joint bet instead of a box of two intervals.

For groups that share rows there is the box only: `propagation.difference_interval` of two intervals
at half the level each. For 0/1 values in groups below some 500 rows the box of exact binomial
intervals is narrower too.

Symbols: x the n1 values of group 1, y the n2 values of group 2, in [0, 1]; theta1, theta2 their
means, delta = theta1 - theta2; q the one-sided level.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from holdfast import require
from holdfast.theory.base.bets import (
    StakeLadder,
    counted,
    exact_values,
    first_kept,
    log_least_capital,
    unit_values,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import difference_interval
from holdfast.theory.base.safeside import level_share, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.bounded_mean import bounded_mean_interval, enclosed_mean_interval

__all__ = [
    "Enclosed",
    "enclosed_difference_interval",
    "group_difference_interval",
    "group_difference_lower",
]

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
    low, first = counted(times_x, unit_values(x))
    high, second = counted(times_y, unit_values(y, up=True))
    n1, n2 = first.sum(), second.sum()
    L = -require.log_probability("log_q", log_q)
    if n1 == 0 or n2 == 0:
        return -1.0
    box = bounded_mean_interval(y, level_share(log_q, _BOX), times_y)
    kappa = math.sqrt(2.0 * (L - math.log(2.0) + 2.5) / (0.25 / n1 + 0.25 / n2))
    ladder = StakeLadder.weighed(
        [kappa * 2.0 ** (0.75 * k) for k in range(24)], [1.0 / (2 + k) for k in range(24)]
    )
    times = np.concatenate([first, second])
    threshold = -level_share(log_q, _BET)

    def excess(delta: float) -> float:
        ends = [(round_up(t2 + delta), t2) for t2 in box]
        worst = max(max(t1 / n1, (1.0 - t2) / n2) for t1, t2 in ends)
        deviations = [np.concatenate([(low - t1) / n1, (t2 - high) / n2]) for t1, t2 in ends]
        return log_least_capital(ladder, deviations, times, worst, 3.0 / min(n1, n2)) - threshold

    means, spread = [], 0.0
    for values, counts, n in ((low, first, n1), (high, second, n2)):
        means.append(float((values * counts).sum() / n))
        spread += float((values * values * counts).sum() / n - means[-1] ** 2) / n
    # Above the difference of the sample no bet gains.
    estimate = min(1.0, means[0] - means[1] + 2.0**-40)
    return first_kept(excess, estimate, -1.0, math.sqrt(2.0 * (L + 1.0) * max(spread, 1e-9)))


def group_difference_interval(
    x: ArrayLike,
    y: ArrayLike,
    log_p: float,
    times_x: ArrayLike | None = None,
    times_y: ArrayLike | None = None,
) -> Interval:
    """The interval of theta1 - theta2 for values that are known exactly."""
    return enclosed_difference_interval((x, x, times_x), (y, y, times_y), log_p)


# Values known only to lie between the first and the second, and how often each of them occurred.
Enclosed = tuple[ArrayLike, ArrayLike, ArrayLike | None]


def enclosed_difference_interval(first: Enclosed, second: Enclosed, log_p: float) -> Interval:
    """`group_difference_lower` of (x, y), and of (1 - x, 1 - y) mirrored, at e^{log_p}/2 each.

    For the lower end x is taken at its least and y at its most, for the upper one the other way
    round. Where the groups are so small that the joint bets' stakes are too high (a rule in n1, n2
    and the level only), the box of both means at e^{log_p}/2 each is narrower and takes their
    place.
    """
    side = level_share(log_p)
    n1, n2 = (counted(times, exact_values(low))[1].sum() for low, _, times in (first, second))
    if n1 == 0 or n2 == 0:
        return Interval(-1.0, 1.0)
    if n1 * n2 < _FEW * (n1 + n2) * (2.5 - log_p):
        boxes = (enclosed_mean_interval(*group[:2], side, group[2]) for group in (first, second))
        return difference_interval(*next(boxes), *next(boxes))
    (x_low, x_high, times_x), (y_low, y_high, times_y) = first, second
    x_mirrored, y_mirrored = 1.0 - unit_values(x_high, up=True), 1.0 - unit_values(y_low)
    return Interval(
        group_difference_lower(x_low, y_high, side, times_x, times_y),
        -group_difference_lower(x_mirrored, y_mirrored, side, times_x, times_y),
    )
