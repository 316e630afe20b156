"""How many questions of one half-width: the leakage recurrence (`equal_width`), solved for k."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from holdfast import require
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.leakage.equal_width import (
    MOST_EXACT,
    rounding_cost,
    steps_at_least,
    uniform_cost,
)

__all__ = ["most_asks", "most_roundings"]

# A cost takes (alpha, t) and never falls with alpha.
_Cost = Callable[[float, float], float]
# ln of the share of the k-th of the questions to come; it never rises with k.
_Shares = Callable[[int], float]


def most_asks(profile: Concentration, t: float, log_share: _Shares, nats: float, most: int) -> int:
    """How many more questions of half-width t fit after `nats` of leakage, up to `most`.

    Each has the share of the last of them.
    """
    return _most(profile, t, log_share, nats, most, uniform_cost)


def most_roundings(
    profile: Concentration, t: float, log_share: _Shares, nats: float, most: int
) -> int:
    """How many more questions of half-width t fit, rounded, after `nats` of leakage."""
    return _most(profile, t, log_share, nats, most, rounding_cost)


def _most(
    profile: Concentration, t: float, log_share: _Shares, nats: float, most: int, cost: _Cost
) -> int:
    """The largest k up to `most` that the share of the k-th affords.

    With the share of a later one fewer fit: what a share affords is a bound for all on its one
    side, and the two bounds meet after a few counts.
    """
    leaked = require.non_negative("nats", nats)

    @cache
    def with_share(log_p: float) -> int:
        return _number_afforded(profile, t, leaked - log_p, most, cost)

    def afforded(k: int) -> int:
        return with_share(require.log_probability("log_share", log_share(k)))

    low, high = 0, afforded(1)
    while low < high:
        fits = afforded(high)
        if fits >= high:
            return high
        low = max(low, fits)  # the share of an earlier one affords no less
        high = min(high - 1, afforded(low + 1))
    return low


def _number_afforded(profile: Concentration, t: float, start: float, most: int, cost: _Cost) -> int:
    """The largest k up to `most` that affords k - 1 charges, counted once."""
    radius, L = profile.radius, start
    alpha = radius(-L)
    for k in range(1, min(most, MOST_EXACT + 1) + 1):
        if alpha >= t:
            return k - 1
        L += cost(alpha, t)
        alpha = radius(-L)
    if most <= MOST_EXACT + 1:
        return most
    steps = steps_at_least(profile, t, radius(-start), t, cost)
    beyond = most if math.isinf(steps) else math.ceil(steps)
    return min(most, max(MOST_EXACT + 1, beyond))
