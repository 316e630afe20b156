"""Multiplicative weights: the efficient guesser, and why it is surprised only so often.

Symbols: X a finite domain, D-hat the guesser's distribution on it, phi the question, g = E_Dhat phi
its guess, gap the distance of g from what the surprise revealed, lambda = 4 gap the step.
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem

__all__ = [
    "multiplicative_weights_drop",
    "multiplicative_weights_step",
    "multiplicative_weights_surprises",
]


@theorem(
    source="Literature",
    place="Hardt & Rothblum 2010; step lambda = 4 gap",
    statement="If g = E_Dhat phi is at distance >= gap from E_D phi and phi has values in [0, 1], "
    "multiplying D-hat by exp(+-4 gap phi) lowers KL(D || D-hat) by at least 2 gap^2.",
    domain="0 < gap <= 1",
    monotone={"gap": "up"},
    slack="Hoeffding's lemma; the exact I-projection lowers it further",
)
def multiplicative_weights_drop(gap: float) -> float:
    """2 gap^2 nats."""
    return 2 * require.between("gap", gap, 0.0, 1.0, open_low=True) ** 2


@theorem(
    source="Literature",
    place="Hardt & Rothblum 2010; step size",
    statement="lambda = 4 gap maximises the guaranteed drop lambda gap - lambda^2/8 of the "
    "divergence.",
    domain="0 < gap <= 1",
    monotone={"gap": "up"},
    slack="none for the quadratic bound",
)
def multiplicative_weights_step(gap: float) -> float:
    """lambda = 4 gap."""
    return 4 * require.between("gap", gap, 0.0, 1.0, open_low=True)


@theorem(
    source="Literature",
    place="Hardt & Rothblum 2010; mistake bound",
    statement="Starting from the uniform distribution on X the surprises satisfy "
    "sum 2 gap^2 <= ln|X|, so there are at most ln|X|/(2 gap_min^2) of them.",
    domain="domain_size >= 2, 0 < gap <= 1",
    monotone={"domain_size": "up", "gap": "down"},
    slack="a prior close to the data replaces ln|X| by the divergence from it",
)
def multiplicative_weights_surprises(domain_size: int, gap: float) -> int:
    """floor(ln|X|/(2 gap^2))."""
    size = require.integer_at_least("domain_size", domain_size, 2)
    return math.floor(round_up(math.log(size) / multiplicative_weights_drop(gap)))
