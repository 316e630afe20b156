"""Quantiles by order statistics, and all thresholds at once.

Symbols: n rows with distribution function F (for rows that are not alike, the average of theirs),
X_(1) <= ... <= X_(n) the sorted sample, F_n its distribution function, q the quantile's share, p
the two-sided level. A quantile is inf{x : F(x) >= q}, the `inverted_cdf` of a sample.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval, log_binomial_cdf, unlike_level
from holdfast.theory.base.safeside import (
    float_below,
    largest_integer,
    level_share,
    round_down,
    round_up,
    smallest_integer,
)
from holdfast.theory.base.theorem import theorem

__all__ = [
    "band_points",
    "cdf_band_lower",
    "dkw_radius",
    "order_statistics_interval",
    "quantile_ranks",
    "threshold_interval",
]


@theorem(
    source="Literature",
    place="order statistics (Thompson 1936), exact; section 12.5",
    statement="For alike rows the q-quantile is in [X_(r), X_(s)] with probability >= 1 - "
    "e^{log_p}, r the largest with P[Bin(n, q) <= r - 1] and s the least with P[Bin(n, q) >= s] at "
    "most e^{log_p}/2; 0 and n + 1 stand for the declared ends. Rows that are not alike: at "
    "alpha(1 - alpha), alpha = e^{log_p}/2.",
    domain="n >= 1, 0 < q < 1, log_p <= 0; independent rows; one event for each q",
    slack="none but the discreteness of ranks and halving the level",
)
def quantile_ranks(n: int, q: float, log_p: float, *, alike: bool = True) -> tuple[int, int]:
    """The two ranks, rounded outwards.

    *Proof.* X_(r) is above the quantile iff at most r - 1 rows are at or below it, each with
    probability at least q; X_(s) is below it iff s rows are, each with probability at most q.
    """
    n = require.positive_integer("n", n)
    q = require.probability("q", q)
    side = _side_level(level_share(log_p), alike)
    complement = float_below(1 - Fraction(q))
    low = largest_integer(lambda r: log_binomial_cdf(n, r - 1, q) <= side, most=n)
    high = smallest_integer(lambda s: log_binomial_cdf(n, n - s, complement) <= side, most=n)
    return low, n + 1 if high is None else high


def order_statistics_interval(
    values: ArrayLike, q: float, log_p: float, declared: Interval, *, alike: bool = True
) -> Interval:
    """The closed interval of the order statistics, inside the declared range."""
    x = np.asarray(values, dtype=np.float64).ravel()
    if np.isnan(x).any():
        raise InvalidArgument("a value is not a number; leave missing values out or declare them.")
    if x.size == 0:
        return declared
    low, high = quantile_ranks(x.size, q, log_p, alike=alike)
    wanted = [rank - 1 for rank in (low, high) if 1 <= rank <= x.size]
    ordered = np.partition(x, wanted) if wanted else x
    return Interval(
        max(declared.low, float(ordered[low - 1])) if low >= 1 else declared.low,
        min(declared.high, float(ordered[high - 1])) if high <= x.size else declared.high,
    )


@theorem(
    source="Literature",
    place="Dvoretzky, Kiefer & Wolfowitz 1956 with Massart's constant 1990, Corollary 1",
    statement="For alike rows sup_x |F_n(x) - F(x)| <= sqrt(ln(2/p)/(2n)) with probability >= 1 - "
    "p, p = e^{log_p}.",
    domain="n >= 1, log_p <= 0; iid rows",
    monotone={"n": "down", "log_p": "down"},
    slack="none at F = 1/2; rare events are far better known, see `cdf_band_lower`",
)
def dkw_radius(n: int, log_p: float) -> float:
    """The half-width of the band around F_n, rounded up."""
    n = require.positive_integer("n", n)
    log_p = require.log_probability("log_p", log_p)
    return round_up(math.sqrt((math.log(2.0) - log_p) / (2 * n)))


def band_points(n: int, log_p: float) -> int:
    """K, the number of quantiles whose union the binomial band pays for."""
    points = 200
    for _ in range(6):
        points = math.ceil(10 * math.pi * math.sqrt(n / (2 * (math.log(2 * points) - log_p))))
    return points


@theorem(
    source="Holdfast",
    place="Section 12.5, binomial band on a grid of quantiles",
    statement="For all x at once, with probability >= 1 - e^{log_p}/2, F(x) is at least the "
    "largest u_k = sin^2(pi(k + 1/2)/(2K)) with P[Bin(n, u_k) >= n F_n(x)] <= e^{log_p}/(2K). The "
    "mirrored statement for 1 - F is the other half of the level.",
    domain="n >= 1, 0 <= count <= n, log_p <= 0; alike rows, or unlike at alpha(1 - alpha)",
    monotone={"count": "up"},
    slack="the union over K quantiles: as wide as DKW at F = 1/2, three to six times narrower for "
    "rare events",
)
def cdf_band_lower(
    n: int, count: int, log_p: float, *, alike: bool = True, beyond: float = 0.0
) -> float:
    """A lower bound on F(x) from the `count` rows at or below x; 0 where nothing is known.

    What is known `beyond` another bound is looked for; where that is nothing, 0 is said as well.

    *Proof.* Let x_k be the u_k-quantile. If F(x) < u_k then x < x_k, so n F_n(x) is at most the
    number of rows below x_k, which reaches c with probability at most P[Bin(n, u_k) >= c]. A
    union over the K quantiles; P[Bin(n, u) >= c] rises in u, so the largest k is found by halving.
    """
    n = require.positive_integer("n", n)
    count = require.integer_between("count", count, 0, n)
    points = band_points(n, require.log_probability("log_p", log_p))
    level = _side_level(level_share(log_p, 0.5 / points), alike)

    def share(k: int) -> float:  # k from 1
        return math.sin(math.pi * (k - 0.5) / (2 * points)) ** 2

    def rejects(k: int) -> bool:
        return log_binomial_cdf(n, n - count, float_below(1 - Fraction(share(k)))) <= level

    first = bisect_right(range(1, points + 1), beyond, key=share)  # so many are no better
    if first == points:
        return 0.0
    more = largest_integer(lambda k: rejects(first + k), most=points - first)
    return share(first + more) if more else 0.0


def threshold_interval(n: int, count: int, log_p: float, *, alike: bool = True) -> Interval:
    """F(x) from the rows at or below x, for all x at once: DKW and the band at half the level each.

    For rows that are not alike only the band is proved, and takes the whole level.
    """
    part = level_share(log_p) if alike else log_p
    low, high = 0.0, 1.0
    if alike:
        radius = dkw_radius(n, part)
        low = max(low, round_down(count / n - radius))
        high = min(high, round_up(count / n + radius))
    low = max(low, cdf_band_lower(n, count, part, alike=alike, beyond=low))
    above = cdf_band_lower(n, n - count, part, alike=alike, beyond=round_down(1.0 - high))
    return Interval(low, min(1.0, round_up(min(high, 1.0 - above))))


def _side_level(log_alpha: float, alike: bool) -> float:
    return log_alpha if alike else unlike_level(log_alpha)
