"""Bets against a truth that needs other unknowns: the capital at the worst of their values.

A variance needs the mean, a difference of two means needs one of them. If the other unknowns lie in
a box (an event of its own, at its own part of the level) and g is affine in them, the logarithm of
prod(1 + lam g) is concave in them, so over the box it is least at a vertex: what that capital
rejects is rejected whatever they are.

Symbols: g_v the deviations of all rows at vertex v, with mean 0 at the truth; lam_k public stakes
with weights w_k; b a bound on -g over all declared values and the whole box.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from holdfast.theory.base.bets import Array, log_capital, log_mixture
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem

__all__ = ["StakeLadder", "centred", "log_least_capital", "spread_ladder"]

# Part one of the sign guard: no stake can lose more than this share of the capital at one row.
_MOST_AT_STAKE = 1.0 - 2.0**-10
# Terms so many nats below the best are not computed and count as 0: the sample may choose them.
_FAR = 8.0
_SMALL = 2**13


@dataclass(frozen=True, slots=True)
class StakeLadder:
    """Public stakes lam_k and their weights, which add up to 1 at most."""

    stakes: tuple[float, ...]
    weights: tuple[float, ...]

    @classmethod
    def weighed(cls, stakes: Sequence[float], weights: Sequence[float]) -> StakeLadder:
        """Weights in these proportions, their sum rounded down to 1."""
        total = math.fsum(weights) * (1 + 2.0**-40)
        return cls(tuple(stakes), tuple(weight / total for weight in weights))


def centred(box: Interval) -> tuple[float, float]:
    """a0 and w with [a0 - w, a0 + w] around the box."""
    centre = 0.5 * (box.low + box.high)
    return centre, round_up(max(centre - box.low, box.high - centre))


def spread_ladder(units: int, log_p: float) -> StakeLadder:
    """The 73 stakes of section 12.6, 2^18 below to 2^18 above 40 sqrt(2 L/n)."""
    middle = 40.0 * math.sqrt(-2.0 * min(log_p, -1.0) / units)
    steps = range(-36, 37)
    return StakeLadder.weighed(
        [middle * 2.0 ** (step / 2) for step in steps], [(3.0 + abs(step)) ** -2 for step in steps]
    )


@theorem(
    source="Holdfast",
    place="Sections 12.4, 12.6 and 12.13, bets with nuisance parameters",
    statement="If g is affine in unknowns whose true values lie in the hull of the vertices, and "
    "the mean of prod(1 + lam g) at the truth is at most 1 for every lam with lam b < 1, then ln "
    "sum_k w_k min_v prod(1 + lam_k g_v) is at most the logarithm of capital that cannot grow on "
    "average.",
    domain="b >= -g for every declared value and vertex; vertices, stakes and weights as declared",
    slack="second order in the size of the box",
)
def log_least_capital(
    ladder: StakeLadder, deviations: Sequence[Array], times: Array, worst: float, size: float
) -> float:
    """A lower bound on ln sum_k w_k min_v prod(1 + lam_k g_v); -inf where no stake is safe.

    Two guards, neither of which replaces the other: a stake counts 0 if lam_k b > 1 - 2^-10 (b is
    `worst`: at the truth the factor of any declared value must be positive), or if any single
    factor at any vertex is not above 0 (the concavity needs it). `size` bounds the sum of the
    absolute values of the terms that g is made of, whose rounding the capital pays for.
    """
    safe = [
        (stake, weight)
        for stake, weight in zip(ladder.stakes, ladder.weights, strict=True)
        if stake * worst <= _MOST_AT_STAKE
    ]
    moments = [((g * times).sum(), (g * g * times).sum()) for g in deviations]
    # To second order a vertex's capital is lam sum g - lam^2 sum g^2 / 2: where the best stake is.
    guessed = [
        min(stake * first - 0.5 * stake * stake * second for first, second in moments)
        for stake, _ in safe
    ]

    # Small samples: all vertices in one call.
    groups = [np.stack(deviations)] if times.size <= _SMALL else deviations

    def capital(place: int) -> float:
        stake = safe[place][0]
        bound = 1.0 + stake * size
        return min(float(log_capital(1.0 + stake * g, times, bound).min()) for g in groups)

    capitals = _near_the_top(capital, int(np.argmax(guessed)), len(safe)) if safe else {}
    return log_mixture(list(capitals.values()), [safe[place][1] for place in capitals])


def _near_the_top(capital: Callable[[int], float], start: int, count: int) -> dict[int, float]:
    """The terms that matter, from `start` outwards: capital is concave in the stake.

    A stake that a row ruins is followed by smaller ones, never by larger ones.
    """
    found = {start: capital(start)}
    for places in (range(start - 1, -1, -1), range(start + 1, count)):
        for place in places:
            found[place] = capital(place)
            ruined = place > start and found[place] == -math.inf
            if ruined or found[place] < max(found.values()) - _FAR:
                break
    return found
