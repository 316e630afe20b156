"""Paired differences of alike rows by their exact law, at the worst share of differing rows.

Symbols: n alike rows with differences +1, -1 or 0, b and c of the first two; theta = P(+1) - P(-1),
d = P(+1) + P(-1); S the sum of all differences, T = b - c as observed; q the one-sided level.
"""

from __future__ import annotations

import math

import numpy as np

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.bets import level_share
from holdfast.theory.base.intervals import clopper_pearson_upper, log_binomial_cdf
from holdfast.theory.base.safeside import largest_true, round_down
from holdfast.theory.base.theorem import theorem

__all__ = ["DEEPEST", "exact_paired_lower"]

# What of the level goes to the bound on d, and what is left for the test.
_BOX, _TEST = 0.05, 0.95
# Below this log-level the floats of the exact law underflow.
DEEPEST = -600.0


@theorem(
    source="Holdfast",
    place="Section 12.10, exact test (after Berger & Boos 1994)",
    statement="For n alike rows with differences in {-1, 0, 1}, the largest theta0 with "
    "P[S >= b - c] <= .95 q at d = Clopper and Pearson's upper bound at .05 q, and with b - c >= "
    "n theta0 + 2 + sqrt(3(n d + 1)), is above theta with probability at most q = e^{log_q}.",
    domain="b, c >= 0, b + c <= n, log_q <= 0; alike rows; useful for n >= 500 L",
    slack="the bound on d in place of d; nothing is said if d may be above 2/3",
)
def exact_paired_lower(n: int, b: int, c: int, log_q: float) -> float:
    """A lower bound on theta, rounded down; -1 where this test says nothing.

    *Proof.* The derivative of P[S >= T] in d is (n/2)(P[S' = T - 1] - P[S' = T]), S' over n - 1
    rows. For d <= 2/3 the law of a difference is log-concave, so S' is unimodal, its mode within
    sqrt(3 var + 1/4) of its mean; where T - 1 is beyond the mode for every d up to the bound, the
    tail rises in d. So if the bound holds (.05 q), what is rejected has a true tail of at most
    .95 q. The tail and the condition rise in theta0 (coupling).
    """
    n = require.positive_integer("n", n)
    b = require.integer_at_least("b", b, 0)
    c = require.integer_at_least("c", c, 0)
    require.integer_between("b + c", b + c, 0, n)
    log_q = require.log_probability("log_q", log_q)
    d = clopper_pearson_upper(n, b + c, level_share(log_q, _BOX))
    if d > 2 / 3 or log_q < DEEPEST:
        return -1.0
    T, level = b - c, level_share(log_q, _TEST)
    highest = round_down((T - 2 - math.sqrt(3 * (n * d + 1))) / n, 16)
    if highest <= -d:
        return -1.0
    law = _SumLaw(n, d, T)
    if not law.log_tail(-d) <= level:
        return -1.0
    return largest_true(lambda theta0: law.log_tail(theta0) <= level, -d, highest)


class _SumLaw:
    """ln P[S >= T] at share d of differing rows: given m of them, (S + m)/2 is binomial."""

    def __init__(self, n: int, d: float, T: int) -> None:
        self._d = d
        # m within Chernoff's bound of n d; what is outside counts in full.
        reach = math.sqrt(2 * n * d * (25 - DEEPEST)) + 25 - DEEPEST
        least, most = max(0, math.floor(n * d - reach)), min(n, math.ceil(n * d + reach))
        self._outside = math.exp(log_binomial_cdf(n, least - 1, d)) + math.exp(
            log_binomial_cdf(n, n - most - 1, math.nextafter(1.0 - d, 0.0))
        )
        m = np.arange(least, most + 1, dtype=np.float64)
        logs = special.gammaln(n + 1) - special.gammaln(m + 1) - special.gammaln(n - m + 1)
        logs += special.xlogy(m, d) + special.xlog1py(n - m, -d)
        # Differences of log-gammas of such a size, and the incomplete beta function's own error.
        self._error = 2.0**-46 * float(special.gammaln(n + 1)) + 1e-8
        self._masses = np.exp(logs)
        self._m, self._wins = m, np.ceil((m + T) / 2)

    def log_tail(self, theta0: float) -> float:
        """An upper bound, for theta0 in [-d, d]."""
        share = min(max(0.5 * (1.0 + theta0 / self._d), 0.0), 1.0)
        inner = (self._wins >= 1) & (self._wins <= self._m)
        tails = np.where(self._wins >= 1, 0.0, 1.0)
        wins, m = self._wins[inner], self._m[inner]
        tails[inner] = special.betainc(wins, m - wins + 1, share)
        total = float((self._masses * tails).sum()) + self._outside + 1e-280
        return min(0.0, math.log(total) + self._error)
