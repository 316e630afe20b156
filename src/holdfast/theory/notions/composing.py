"""Stability of a whole interaction: DP, zCDP, GDP and TV as values that compose.

Neighbours differ in one row; n is fixed. Each value bounds, for every pair of neighbours, the
distance between the two laws of the transcript, and composes within its own notion by **adaptive**
composition: step j may be chosen from all earlier answers, as long as its own parameter was fixed
in advance. The arrows from one notion to another are in `stability_arrows`. These values bound
neighbours only: they never enter the leakage ledger, whose charges bound all data sets at once.

Legend
    epsilon     privacy loss: P(O) <= e^epsilon Q(O) + delta for every event O
    log_delta   ln delta; -inf stands for delta = 0
    rho         zCDP: the Renyi divergence of every order a > 1 is at most a rho
    mu          GDP: no easier to tell apart than N(0, 1) from N(mu, 1)
    distance    total variation, the largest P(O) - Q(O)
    k           number of steps
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import log_add, round_up
from holdfast.theory.base.theorem import SourceNote, theorem


def _only(notion: type, notions: tuple[object, ...]) -> None:
    # ApproxDP also has an epsilon: without this check PureDP.compose would drop its delta.
    for each in notions:
        if not isinstance(each, notion):
            raise InvalidArgument(
                f"{each!r} is not a {notion.__name__}; convert it with an arrow before composing."
            )


def _up(value: float) -> float:
    """Rounded up; probability or loss 0 is exact and stays."""
    return value if value in (0.0, -math.inf) else round_up(value)


def _total(parts: list[float]) -> float:
    """The sum, rounded up unless there is one part; `fsum` makes it independent of the order."""
    return parts[0] if len(parts) == 1 else _up(math.fsum(parts))


def _times(k: int, value: float) -> float:
    return value if k == 1 else _up(k * value)


@theorem(
    source="L4",
    place="Theorems 7 and 8 with delta = 0; L12 Definition 0.4",
    statement="The adaptive composition of epsilon_i-DP steps is (sum of epsilon_i)-DP.",
    domain="epsilon >= 0, fixed before the step",
    monotone={"epsilon": "up"},
    slack="attained by randomised response; advanced composition is better for many small steps",
)
@dataclass(frozen=True, slots=True, order=True)
class PureDP:
    """P(O) <= e^epsilon Q(O) for every event O and every pair of neighbours."""

    epsilon: float

    def __post_init__(self) -> None:
        require.non_negative("epsilon", self.epsilon)

    def compose(self, *notions: PureDP) -> PureDP:
        """This step and the others, adaptively, in any order."""
        _only(PureDP, notions)
        return PureDP(_total([part.epsilon for part in (self, *notions)]))

    def repeated(self, k: int) -> PureDP:
        """k such steps, adaptively."""
        return PureDP(_times(require.positive_integer("k", k), self.epsilon))


@theorem(
    source="L4",
    place="Theorems 7 and 8; L15 Definition 0.2",
    statement="The adaptive composition of (epsilon_i, delta_i)-DP steps is "
    "(sum of epsilon_i, sum of delta_i)-DP.",
    domain="epsilon >= 0, ln delta <= 0 (-inf for delta = 0), fixed before the step",
    monotone={"epsilon": "up", "log_delta": "up"},
    slack="basic composition; the Gaussian curve of gdp_to_approx_dp is exact for Gaussian noise",
)
@dataclass(frozen=True, slots=True)
class ApproxDP:
    """P(O) <= e^epsilon Q(O) + delta. Two parameters: pairs are not ordered."""

    epsilon: float
    log_delta: float

    def __post_init__(self) -> None:
        require.non_negative("epsilon", self.epsilon)
        if self.log_delta != -math.inf:
            require.log_probability("log_delta", self.log_delta)

    @property
    def delta(self) -> float:
        """e^log_delta, rounded up: above 0 even where e^log_delta is too small for a float."""
        return 0.0 if self.log_delta == -math.inf else min(1.0, round_up(math.exp(self.log_delta)))

    def compose(self, *notions: ApproxDP) -> ApproxDP:
        """This step and the others, adaptively, in any order."""
        _only(ApproxDP, notions)
        parts = (self, *notions)
        if not notions:
            return self
        log_delta = _up(log_add(*(part.log_delta for part in parts)))
        return ApproxDP(_total([part.epsilon for part in parts]), min(0.0, log_delta))

    def repeated(self, k: int) -> ApproxDP:
        """k such steps, adaptively."""
        k = require.positive_integer("k", k)
        if k == 1:
            return self
        log_delta = _up(self.log_delta + math.log(k))
        return ApproxDP(_times(k, self.epsilon), min(0.0, log_delta))


@theorem(
    source="Literature",
    place="Bun & Steinke 2016, Definition 1.1 and Lemma 2.3",
    statement="The adaptive composition of rho_i-zCDP steps is (sum of rho_i)-zCDP.",
    domain="rho >= 0, fixed before the step",
    monotone={"rho": "up"},
    slack="exact for Gaussian noise",
)
@dataclass(frozen=True, slots=True, order=True)
class ZCDP:
    """The Renyi divergence of every order a > 1 between neighbours is at most a rho."""

    rho: float

    def __post_init__(self) -> None:
        require.non_negative("rho", self.rho)

    def compose(self, *notions: ZCDP) -> ZCDP:
        """This step and the others, adaptively, in any order."""
        _only(ZCDP, notions)
        return ZCDP(_total([part.rho for part in (self, *notions)]))

    def repeated(self, k: int) -> ZCDP:
        """k such steps, adaptively."""
        return ZCDP(_times(require.positive_integer("k", k), self.rho))


@theorem(
    source="Literature",
    place="Dong, Roth & Su 2022, Definition 2.6 and Corollary 3.3",
    statement="The adaptive composition of mu_i-GDP steps is sqrt(sum of mu_i^2)-GDP.",
    domain="mu >= 0, fixed before the step",
    monotone={"mu": "up"},
    slack="exact for Gaussian noise",
)
@dataclass(frozen=True, slots=True, order=True)
class GDP:
    """Neighbours are no easier to tell apart than N(0, 1) from N(mu, 1)."""

    mu: float

    def __post_init__(self) -> None:
        require.non_negative("mu", self.mu)

    def compose(self, *notions: GDP) -> GDP:
        """This step and the others, adaptively, in any order."""
        _only(GDP, notions)
        # Sorted, because the rounding of hypot may depend on the order.
        return (
            GDP(_up(math.hypot(*sorted(part.mu for part in (self, *notions))))) if notions else self
        )

    def repeated(self, k: int) -> GDP:
        """k such steps, adaptively."""
        k = require.positive_integer("k", k)
        return self if k == 1 else GDP(_up(math.sqrt(k) * self.mu))


@theorem(
    source="L15",
    place="Theorem 0.1; L12 Definition 0.1",
    statement="The adaptive composition of TV-stable steps has at most the sum of their distances.",
    domain="0 <= distance <= 1, fixed before the step",
    monotone={"distance": "up"},
    slack="loose for many steps: k Gaussian answers have a distance that grows as sqrt(k)",
    notes=(
        SourceNote(
            kind="slip",
            source="L15",
            place="Theorem 0.1, last line of the proof",
            printed="d_TV(Y, Z) = k epsilon",
            right="d_TV(Y, Z) <= k epsilon (and at most 1)",
            why="the proof bounds each step from above; two Gaussian answers have a smaller "
            "distance than twice that of one",
        ),
    ),
)
@dataclass(frozen=True, slots=True, order=True)
class TV:
    """The total-variation distance between neighbours is at most `distance`."""

    distance: float

    def __post_init__(self) -> None:
        require.between("distance", self.distance, 0.0, 1.0)

    def compose(self, *notions: TV) -> TV:
        """This step and the others, adaptively, in any order."""
        _only(TV, notions)
        return TV(min(1.0, _total([part.distance for part in (self, *notions)])))

    def repeated(self, k: int) -> TV:
        """k such steps, adaptively."""
        return TV(min(1.0, _times(require.positive_integer("k", k), self.distance)))
