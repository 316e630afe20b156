"""Distances between two laws on finitely many outcomes, as the definitions state them.

Legend
    p, q        two laws: probabilities of the same outcomes, in the same order
    eta, tau    P(O) <= e^eta Q(O) + tau and Q(O) <= e^eta P(O) + tau for every event O
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem


def _laws(p: Sequence[float], q: Sequence[float]) -> list[tuple[float, float]]:
    for name, law in (("p", p), ("q", q)):
        for each in law:
            require.between(name, each, 0.0, 1.0)
        if not law or abs(math.fsum(law) - 1.0) > 1e-9:
            raise InvalidArgument(f"{name} sums to {math.fsum(law):g}; a law sums to 1.")
    if len(p) != len(q):
        raise InvalidArgument(
            f"p has {len(p)} outcomes and q has {len(q)}; they must be the same outcomes."
        )
    return list(zip(p, q, strict=True))


@theorem(
    source="BF2",
    place="Definition 2.1 (BF1 Definition 2.1)",
    statement="Two laws are (eta, tau)-indistinguishable exactly for tau at least the larger of "
    "sum (p - e^eta q)_+ and sum (q - e^eta p)_+.",
    domain="p, q of one length, each summing to 1; eta >= 0",
    monotone={"eta": "down"},
    slack="none",
)
def least_tau(p: Sequence[float], q: Sequence[float], eta: float) -> float:
    """The event that shows it best has the outcomes whose ratio is above e^eta."""
    pairs, ratio = _laws(p, q), math.exp(min(700.0, require.non_negative("eta", eta)))
    ways = (
        math.fsum(max(0.0, a - ratio * b) for a, b in pairs),
        math.fsum(max(0.0, b - ratio * a) for a, b in pairs),
    )
    return min(1.0, round_up(max(ways))) if max(ways) > 0 else 0.0


@theorem(
    source="L12",
    place="Definition 0.1, the distance",
    statement="The total-variation distance is the largest P(O) - Q(O), sum (p - q)_+.",
    domain="p, q of one length, each summing to 1",
    slack="none",
)
def total_variation(p: Sequence[float], q: Sequence[float]) -> float:
    """Indistinguishability at eta = 0."""
    return least_tau(p, q, 0.0)


@theorem(
    source="L12",
    place="Definition 0.3",
    statement="The multiplicative distance is the largest |ln(P(O)/Q(O))|, which an outcome has.",
    domain="p, q of one length, each summing to 1; infinite where one is 0 and the other is not",
    slack="none",
)
def multiplicative_distance(p: Sequence[float], q: Sequence[float]) -> float:
    """The least eta at which the laws are (eta, 0)-indistinguishable."""
    logs = [
        math.inf if min(a, b) == 0.0 else abs(math.log(a) - math.log(b))
        for a, b in _laws(p, q)
        if max(a, b) > 0.0
    ]
    return round_up(max(logs)) if max(logs) not in (0.0, math.inf) else max(logs)
