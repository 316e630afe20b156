"""One free threshold: a described condition with a constant left open, true for all constants.

For independent rows that are alike, a real row function f, a condition B and one direction, the
indicators 1{f <= c, B} are 1{Y <= c} for one variable Y (f inside B, infinite outside): the
inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant holds for all c at once.

The other direction is 1{f > c, B}: with Y' = f inside B and minus infinity outside, another
variable. The two are complements, one event, only if B is everything and f is never NULL.
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem

__all__ = ["free_threshold_radius", "threshold_events"]


@theorem(
    source="Literature",
    place="Massart 1990, The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality",
    statement="For n independent rows that are alike, |mean 1{f <= c, B} - P| <= "
    "sqrt(ln(2/p)/(2n)) for all c at once with probability >= 1 - p, in one direction.",
    domain="n >= 1, log_p <= 0",
    monotone={"n": "down", "log_p": "down"},
    slack="reached as n grows for a continuous f",
)
def free_threshold_radius(n: int, log_p: float) -> float:
    """The half-width at level p for every constant at once, rounded up."""
    n = require.positive_integer("n", n)
    nats = math.log(2) - require.log_probability("log_p", log_p)
    return round_up(math.sqrt(nats / (2 * n)))


@theorem(
    source="Holdfast",
    place="Section 11.1, one free threshold: directions",
    statement="Below (<, <=) and above (>, >=) are one event if there is no further condition and "
    "f is never NULL; otherwise they are two, each with a weight of its own.",
    domain="what is publicly known of the condition and of f",
    slack="one event for both fails with up to 2p",
)
def threshold_events(*, conditioned: bool, may_be_missing: bool) -> int:
    """How many events both directions rest on."""
    return 2 if conditioned or may_be_missing else 1
