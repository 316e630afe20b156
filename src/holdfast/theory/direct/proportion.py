"""Shares of rows: exact binomial bounds, also for independent rows that are not alike.

Symbols: n rows, `successes` of them 1; alpha a one-sided level.
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base.intervals import Interval, clopper_pearson, clopper_pearson_upper
from holdfast.theory.base.safeside import level_share, round_down
from holdfast.theory.base.theorem import theorem

__all__ = [
    "bentkus_upper",
    "independent_clopper_pearson",
    "independent_clopper_pearson_upper",
    "share_interval",
    "two_sided_unlike_level",
    "unlike_level",
]


def unlike_level(log_alpha: float) -> float:
    """ln(alpha(1 - alpha)), rounded down, for alpha at most 1/4: the level for unlike rows."""
    log_alpha = min(require.log_probability("log_alpha", log_alpha), math.log(0.25))
    return round_down(log_alpha + math.log1p(-math.exp(log_alpha)))


def two_sided_unlike_level(log_p: float) -> float:
    """The level of `clopper_pearson`, which halves it, for two bounds at e^{log_p}/2 each."""
    return round_down(unlike_level(level_share(log_p)) + math.log(2.0))


@theorem(
    source="Holdfast",
    place="Section 12.1 (Hoeffding 1956, Theorem 4; Greenberg & Mohri 2014)",
    statement="For independent 0/1 rows that need not be alike, Clopper and Pearson's upper bound "
    "at level alpha(1 - alpha) is below the average rate with probability at most alpha <= 1/4.",
    domain="n >= 1, 0 <= successes <= n, log_alpha <= 0 (above 1/4 it is taken as 1/4)",
    monotone={"successes": "up", "log_alpha": "down"},
    slack="at alpha itself the miss can be 1.07 alpha, so hardly any",
)
def independent_clopper_pearson_upper(n: int, successes: int, log_alpha: float) -> float:
    """The one-sided bound on the average rate, rounded up.

    *Proof.* The bound misses the average rate r iff S <= s*, the largest s with P[Bin(n, r) <= s]
    < alpha' = alpha(1 - alpha). If s* <= n r - 1, Hoeffding's theorem says P[S <= s*] <= P[Bin <=
    s*]. Otherwise s* >= floor(n r), so P[Bin <= n r] < 1/4, which by Greenberg and Mohri needs r >=
    1 - 1/n; then s* = n - 1, r^n > 1 - alpha', and P[S <= n - 1] <= n(1 - r) <= -ln(1 - alpha') <=
    alpha.
    """
    return clopper_pearson_upper(n, successes, unlike_level(log_alpha))


def independent_clopper_pearson(n: int, successes: int, log_p: float) -> Interval:
    """Both one-sided bounds at e^{log_p}/2, rounded outwards."""
    return clopper_pearson(n, successes, two_sided_unlike_level(log_p))


@theorem(
    source="Literature",
    place="Bentkus 2004, On Hoeffding's inequalities (at integers); section 12.1",
    statement="For independent rows in [0, 1], alike or not, with sum S and average mean mu, "
    "P[S <= k] <= e P[Bin(n, mu) <= k] for every integer k, so Clopper and Pearson's upper bound "
    "of ceil(S) successes at e^{log_q}/e is below mu with probability at most e^{log_q}.",
    domain="n >= 1, 0 <= total <= n, log_q <= 0; independent rows",
    monotone={"total": "up", "log_q": "down"},
    slack="a factor e in the level; a small variance is not used",
)
def bentkus_upper(n: int, total: float, log_q: float) -> float:
    """An upper bound on the average mean that needs only the rows' sum, rounded up."""
    n = require.positive_integer("n", n)
    total = require.between("total", total, 0.0, n)
    level = round_down(require.log_probability("log_q", log_q) - 1.0)
    return clopper_pearson_upper(n, math.ceil(total), level)


def share_interval(hits: int, misses: int, log_p: float) -> Interval:
    """Clopper and Pearson's interval for a share among the rows that count; [0, 1] without any.

    Which of alike rows count may be random: given which, the hits are binomial. This is precision
    (among those predicted), recall (among those labelled), Jaccard's index (true positives among
    the rows that are not true negatives), and a mean of 0/1 values inside a group.
    """
    hits = require.integer_at_least("hits", hits, 0)
    misses = require.integer_at_least("misses", misses, 0)
    require.log_probability("log_p", log_p)
    return clopper_pearson(hits + misses, hits, log_p) if hits + misses else Interval(0.0, 1.0)
