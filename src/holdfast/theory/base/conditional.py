"""The mean inside a group whose size is not public, from two claims about all rows.

Symbols: phi the value of a row, c the group, theta = E[phi given c], p = P(c), g a public pivot,
r = E[(phi - g) 1_c]. Then theta = g + r/p, so an interval for r and one for p give one for theta.
"""

from __future__ import annotations

from holdfast import require
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import ratio_interval
from holdfast.theory.base.theorem import theorem

__all__ = ["conditional_mean_interval"]


@theorem(
    source="Holdfast",
    place="residual form of a sub-population",
    statement="If E[(phi - g) 1_c] is in [r_low, r_high] and P(c) in [p_low, p_high], p_low > 0, "
    "then E[phi given c] is in [g + min(r_low/p_low, r_low/p_high), g + max(r_high/p_low, "
    "r_high/p_high)].",
    domain="r_low <= r_high, 0 <= p_low <= p_high <= 1, p_high > 0; p_low = 0 gives no end",
    monotone={"pivot": "up"},
    slack="none given the two intervals; they are used as if unrelated",
)
def conditional_mean_interval(
    pivot: float, r_low: float, r_high: float, p_low: float, p_high: float
) -> Interval:
    """The `ratio_interval` of num = phi 1_c and den = 1_c; infinite ends where p may be 0."""
    p_high = require.between("p_high", p_high, 0.0, 1.0, open_low=True)
    p_low = require.between("p_low", p_low, 0.0, p_high)
    return ratio_interval(pivot, r_low, r_high, p_low, p_high)
