"""k-fold adaptive composition (the papers' Algorithm 1): steps of any kind, any adversary.

An adversary sees the answers so far and names the next step; the step sees the sample. What every
step keeps to is declared before the first one, in one notion: (eta, tau, nu) in oracle form, or
what replacing a row does (`PureDP`, `ApproxDP`, `ZCDP`, `GDP`, `TV`). The theorems on adaptive
composition are about parameters that no answer has changed. The certificate of the steps so far
runs along.

    composition = AdaptiveComposition(k=10, step=TypicalStability(0.1, 0.0, 1e-9))
    for interaction in composition.play(adversary, sample):
        interaction.answers, interaction.certificate(level=0.05)
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple, Protocol

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.noise import Noise
from holdfast.theory.base.safeside import smallest_true
from holdfast.theory.notions.distances import advanced_composition_printed
from holdfast.theory.notions.stability import GDP, TV, ZCDP, ApproxDP, PureDP
from holdfast.theory.transfer.private_release import optimal_composition_at_delta
from holdfast.theory.typical.certificate import (
    least_printed_composition,
    least_sharp_composition,
)
from holdfast.theory.typical.notion import TypicalStability
from holdfast.theory.typical.sharp_composition import optimal_composition_log_delta

__all__ = [
    "AdaptiveComposition",
    "Adversary",
    "CompositionCertificate",
    "Interaction",
    "Notion",
    "Step",
]

# What one step, or all of them, keep to.
Notion = TypicalStability | PureDP | ApproxDP | ZCDP | GDP | TV
_NOTHING: Mapping[type, Notion] = {
    TypicalStability: TypicalStability(0.0, 0.0, 0.0),
    PureDP: PureDP(0.0),
    ApproxDP: ApproxDP(0.0, -math.inf),
    ZCDP: ZCDP(0.0),
    GDP: GDP(0.0),
    TV: TV(0.0),
}


class Step(Protocol):
    """One access to the sample. The noise must be fresh: take all of it from `noise`."""

    @property
    def stability(self) -> Notion:
        """What it is: for the population that the sample came from, or for any sample."""
        ...

    def answer(self, sample: Any, noise: Noise) -> Any:
        """The answer on this sample."""
        ...


class Adversary(Protocol):
    """Chooses the steps, from the answers alone; whatever coins it uses do not see the sample."""

    def next_step(self, answers: tuple[Any, ...]) -> Step | None:
        """The next step, or None to stop."""
        ...


class CompositionCertificate(NamedTuple):
    """What the steps are together; None where nothing can be said at the level.

    In the notion of the steps; pure DP becomes approximate DP.
    """

    printed: Any
    sharp: Any


@dataclass(frozen=True, slots=True)
class Interaction:
    """The answers so far, each a step within `step`."""

    answers: tuple[Any, ...]
    step: Notion

    def certificate(self, level: float) -> CompositionCertificate:
        """What the answers are together, by the papers' theorem as repaired and by the sharp one.

        Typically stable steps: the least eta with which they are (eta, level, level)-typically
        stable. Private steps: the least epsilon at delta = level. Total variation, zCDP and GDP
        have no second parameter.
        """
        log_level, k = math.log(require.probability("level", level)), len(self.answers)
        match self.step:
            case step if k == 0:
                nothing = _NOTHING[type(step)]
                return CompositionCertificate(nothing, nothing)
            case TypicalStability() as step:
                return _typical(step, k, log_level)
            case PureDP() as step:
                printed = advanced_composition_printed(step, k, log_level)
                basic = ApproxDP(step.repeated(k).epsilon, -math.inf)
                shorter = printed < basic.epsilon
                return CompositionCertificate(
                    ApproxDP(printed, log_level) if shorter else basic,
                    optimal_composition_at_delta(step, k, log_level),
                )
            case ApproxDP() as step:
                return CompositionCertificate(step.repeated(k), _optimal(step, k, log_level))
            case TV() as step:
                return CompositionCertificate(step.repeated(k), _coupled(step, k))
            case step:  # exact for Gaussian noise
                return CompositionCertificate(step.repeated(k), step.repeated(k))


def _typical(step: TypicalStability, k: int, log_level: float) -> CompositionCertificate:
    candidates = [(step.eta, step.log_tau, step.log_nu)]
    printed = least_printed_composition(k, candidates, log_level)
    sharp = least_sharp_composition(k, candidates, log_level)
    return CompositionCertificate(
        None if printed is None else printed.stability(),
        None if sharp is None else sharp.stability(),
    )


def _optimal(step: ApproxDP, k: int, log_level: float) -> ApproxDP | None:
    """The least epsilon at delta = level; None if the steps' own deltas are more than that."""

    def fits(epsilon: float) -> bool:
        log_delta = optimal_composition_log_delta(k, step.epsilon, epsilon, step.log_delta)
        return log_delta <= log_level

    most = step.repeated(k).epsilon
    if not fits(most):
        return None
    return ApproxDP(smallest_true(fits, 0.0, most, relative=1e-9), log_level)


def _coupled(step: TV, k: int) -> TV:
    """1 - (1 - distance)^k: the answers on two samples can be made to agree until one differs."""
    log_distance = math.log(step.distance) if step.distance else -math.inf
    log_all = optimal_composition_log_delta(k, 0.0, 0.0, log_distance)
    return TV(min(1.0, math.exp(log_all) * (1 + 1e-12)))


@dataclass(frozen=True, slots=True)
class AdaptiveComposition:
    """At most k steps, each of which keeps to `step`: one notion, every parameter at most its."""

    k: int
    step: Notion

    def __post_init__(self) -> None:
        require.positive_integer("k", self.k)
        if not isinstance(self.step, Notion):
            raise InvalidArgument(
                f"step is {self.step!r}; it must be a TypicalStability, PureDP, ApproxDP, ZCDP, "
                "GDP or TV: what every step keeps to."
            )
        if isinstance(self.step, TypicalStability) and self.step.form != "oracle":
            raise InvalidArgument(
                f"step is in {self.step.form} form; what composes adaptively is the oracle form: "
                "convert it with to_oracle()."
            )

    def play(
        self, adversary: Adversary, sample: Any, secret: bytes | None = None
    ) -> Iterator[Interaction]:
        """The interaction after each step, until the adversary stops or k steps are done.

        A `secret` repeats the noise; it must be unknown to the adversary, and used for one
        interaction only. Without one the noise is fresh.
        """
        answers: tuple[Any, ...] = ()
        secret = secret or secrets.token_bytes(32)
        for number in range(1, self.k + 1):
            step = adversary.next_step(answers)
            if step is None:
                return
            self._admit(step, number)
            answers = (*answers, step.answer(sample, Noise(secret, str(number))))
            yield Interaction(answers, self.step)

    def run(self, adversary: Adversary, sample: Any, secret: bytes | None = None) -> Interaction:
        """The whole interaction."""
        interactions = [Interaction((), self.step), *self.play(adversary, sample, secret)]
        return interactions[-1]

    def _admit(self, step: Step, number: int) -> None:
        found, most = step.stability, self.step
        if isinstance(found, TypicalStability):
            found = found.to_oracle()
        if type(found) is not type(most):
            raise InvalidArgument(
                f"step {number} is a {type(found).__name__}, and {type(most).__name__} was "
                "declared; steps of one composition are of one notion: convert it first."
            )
        if all(one <= other for one, other in zip(_numbers(found), _numbers(most), strict=True)):
            return
        raise InvalidArgument(f"step {number} is {found}, which is more than the declared {most}.")


def _numbers(notion: Notion) -> list[float]:
    return [each for each in astuple(notion) if not isinstance(each, str)]
