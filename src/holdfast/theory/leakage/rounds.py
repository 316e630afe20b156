"""Rounds of questions chosen together, and a last look without noise.

Questions of a batch share one leakage: each has its own share, and all are charged afterwards. So k
questions in d rounds are charged d - 1 times, at the radius that a round starts with; and the last
round, which nothing comes after, needs no noise: it shows exact values (`post_selected_radius`: m
questions of a last look are m candidates) and closes the ledger for all that is not described.

Symbols: k questions, d rounds, t the half-width, alpha the radius, L = ln K + ln(k/beta).
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.equal_width import least_half_width, uniform_cost

__all__ = ["rounds_fit", "rounds_half_width"]


def rounds_fit(profile: Concentration, k: int, rounds: int, t: float, log_beta: float) -> bool:
    """Whether k questions of half-width t fit into so many rounds, the last without noise.

    All rounds but the last have ceil(k/d) questions, or none once all are asked.
    """
    k = require.positive_integer("k", k)
    rounds = require.integer_between("rounds", rounds, 1, k)
    L = math.log(k) - require.log_probability("log_beta", log_beta)
    each = math.ceil(k / rounds)
    for _ in range(math.ceil(k / each) - 1):
        alpha = profile.radius(-L)
        if alpha >= t:
            return False
        L += each * uniform_cost(alpha, t)
    return profile.radius(-L) <= t


@theorem(
    source="Holdfast",
    place="Section 11.5, rounds",
    statement="k questions in d rounds of ceil(k/d), each round chosen together from the answers "
    "before it, the last shown exactly, are all within t of the truth with probability 1 - beta if "
    "alpha < t along ln K <- ln K - ceil(k/d) ln(1 - alpha/t) from round to round.",
    domain="1 <= rounds <= k, log_beta <= 0; any population for which the profile holds",
    monotone={"log_beta": "down"},
    slack="equal rounds: larger ones at the end, which cost less, are narrower",
)
def rounds_half_width(profile: Concentration, k: int, rounds: int, log_beta: float) -> float:
    """The least half-width for k questions in so many rounds, the last without noise."""
    k = require.positive_integer("k", k)
    floor = profile.radius(require.log_probability("log_beta", log_beta) - math.log(k))
    if rounds_fit(profile, k, rounds, floor, log_beta):
        return floor
    return least_half_width(lambda t: rounds_fit(profile, k, rounds, t, log_beta), floor)
