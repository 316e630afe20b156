"""Losses of regression: levels of capped losses, R2 as a ratio, and means without any range.

A squared residual has no useful range of its own. Capped at c^2, c public, its mean is a bounded
one (`bounded_mean`), and the truth is that of the capped loss. R2 compares it with the capped loss
of a fixed baseline. Without a cap only a declared bound on the spread gives an upper end.

Symbols: l a row's loss, l0 its baseline's, in [0, c^2] and [0, c0^2]; rho = E l / E l0 (ratio of
sums for unlike rows), R2 = 1 - rho; n rows; q the one-sided level, L = -ln q.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import Array, StakeLadder, Tally, counted, fixed_lower_odds
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import largest_true, level_share, round_down, round_up
from holdfast.theory.base.theorem import theorem


def root_interval(interval: Interval) -> Interval:
    """The interval of the root of a mean that is not negative (RMSE of MSE), rounded outwards."""
    low, high = (math.sqrt(max(0.0, end)) for end in interval)
    return Interval(max(0.0, round_down(low)), round_up(high))


@theorem(
    source="Holdfast",
    place="Section 13.6, R2: a ratio of losses, one side",
    statement="For independent rows, alike or not, with losses l >= 0 and baseline losses l0 in "
    "[0, most], the mixture of twelve bets 1 + b(l - rho l0)/(rho most) bounds rho = sum E l / sum "
    "E l0 from below at one-sided level e^{log_q}.",
    domain="l >= 0, 0 <= l0 <= most, log_q <= 0; independent rows, a fixed baseline",
    slack="no nuisance; that of paired bets",
)
def loss_ratio_lower(
    losses: ArrayLike,
    base: ArrayLike,
    most: float,
    log_q: float,
    times: ArrayLike | None = None,
) -> float:
    """A lower bound on E l / E l0, 0 where nothing can be said; `times` counts equal pairs.

    *Proof.* A factor is 1 - b l0/most + b l/(rho most) >= 1 - b: at the truth the factors' means
    average to 1, and capital falls in rho. Losses gain and the baseline loses, so this is
    `fixed_lower_odds`.
    """
    gains, lost, rows = counted(times, *_pairs(losses, base))
    L, n = -require.log_probability("log_q", log_q), int(rows.sum())
    most = require.positive("most", most)
    if n == 0:
        return 0.0
    middle, steps = math.sqrt(2.0 * (L + 2.5) / n), range(12)
    bets = StakeLadder.weighed(
        [min(1.0, middle * 2.0 ** (0.75 * k)) for k in steps], [1.0 / (2 + k) for k in steps]
    )
    return fixed_lower_odds(Tally(gains, lost, rows, n, most), bets.stakes, bets.weights, log_q)


def _finite(losses: ArrayLike) -> Array:
    values = np.asarray(losses, dtype=np.float64).ravel()
    if not np.all(np.isfinite(values) & (values >= 0.0)):
        raise InvalidArgument("a loss is not a number, 0 or above; leave out rows without one.")
    return values


def _pairs(losses: ArrayLike, base: ArrayLike) -> tuple[Array, Array]:
    first, second = _finite(losses), _finite(base)
    if first.size != second.size:
        raise InvalidArgument(
            f"there are {first.size} losses and {second.size} of the baseline; give the same rows "
            "of both."
        )
    return first, second


# Losses without a range.


_STEPS = tuple(2.0 ** (j / 2) for j in range(-6, 7))


@theorem(
    source="Holdfast",
    place="Section 13.6, a mean of losses that are not negative, lower end",
    statement="For independent rows l >= 0, alike or not, the mixture of thirteen bets 1 - b + b "
    "l/m, b = min(.999, sqrt(2(L + 2.5)/n) 2^(j/2)), |j| <= 6, bounds the average mean from below "
    "at one-sided level e^{log_q}.",
    domain="l >= 0, log_q <= 0; independent rows, no upper bound",
    slack="Markov; a heavy upper tail costs nothing here",
)
def positive_mean_lower(values: ArrayLike, log_q: float, times: ArrayLike | None = None) -> float:
    """A lower bound on the mean, 0 where nothing can be said: a row loses 1 and gains its value."""
    x, rows = counted(times, _finite(values))
    L = -require.log_probability("log_q", log_q)
    n = int(rows.sum())
    if n == 0:
        return 0.0
    middle = math.sqrt(2.0 * (L + 2.5) / n)
    bets = StakeLadder.weighed([min(0.999, middle * step) for step in _STEPS], [1.0] * len(_STEPS))
    return fixed_lower_odds(Tally(x, np.ones(x.size), rows, n), bets.stakes, bets.weights, log_q)


@theorem(
    source="Holdfast",
    place="Section 13.6, a mean of losses with a declared spread, upper end",
    statement="If independent losses l >= 0, alike or not, have E l^2 <= kappa (E l)^2 on average, "
    "mean/(kappa y), y < 1/kappa with kl(y, 1/kappa) = L/n, is below their average mean with "
    "probability at most e^{log_q}; there is no upper end if L/n >= -ln(1 - 1/kappa).",
    domain="mean >= 0, n >= 1, kappa >= 1, log_q <= 0; a false kappa makes the end false",
    monotone={"mean": "up", "n": "down", "kappa": "up", "log_q": "down"},
    slack="none to first order for losses of 0 and kappa times their mean",
)
def moment_upper(mean: float, n: int, kappa: float, log_q: float) -> float:
    """The upper bound, rounded up; inf if there is none. No row can check kappa: it has no default.

    *Proof.* The parabola through 1 at 0 that touches e^{-s l} at kappa m lies above it on l >= 0,
    and its square term is not negative, so E e^{-s l} <= 1 - 1/kappa + e^{-s kappa m}/kappa, also
    on average; Chernoff's bound for a binomial of chance 1/kappa is then that of the mean.
    """
    mean = require.non_negative("mean", mean)
    n = require.positive_integer("n", n)
    # A larger kappa is on the safe side; at 1 losses are all the same.
    share = min(round_down(1.0 / require.at_least("kappa", kappa, 1.0)), 1.0 - 2.0**-40)
    target = -require.log_probability("log_q", log_q) / n * (1 + 2.0**-49)
    if target >= -math.log1p(-share):
        return math.inf

    def far_below(y: float) -> bool:
        gap = share - y
        return -y * math.log1p(gap / y) - (1.0 - y) * math.log1p(-gap / (1.0 - y)) >= target

    least = 2.0**-60 * share
    if not far_below(least):
        return math.inf
    y = largest_true(far_below, least, share)
    return round_up(mean * share / y)


def enclosed_moment_interval(
    low: ArrayLike, high: ArrayLike, kappa: float, log_p: float, times: ArrayLike | None = None
) -> Interval:
    """The mean of losses with a declared spread, known only to lie between `low` and `high`.

    `high` may be inf; each side is at e^{log_p}/2.
    """
    side = level_share(log_p)
    most = np.asarray(high, dtype=np.float64).ravel()
    open_ended = bool(np.isinf(most).any())
    least, rows = counted(times, _finite(low))
    if not rows.size:
        return Interval(0.0, math.inf)
    lower = positive_mean_lower(least, side, rows)
    if open_ended:
        return Interval(lower, math.inf)
    mean = round_up(float((counted(times, _finite(most))[0] * rows).sum() / rows.sum()), 64)
    return Interval(lower, moment_upper(mean, int(rows.sum()), kappa, side))
