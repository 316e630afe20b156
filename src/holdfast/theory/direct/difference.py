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
from holdfast.theory.direct.unit_sums import enclosed_group_interval, group_mean_interval

__all__ = [
    "Enclosed",
    "design_difference_lower",
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
