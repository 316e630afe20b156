"""k-fold adaptive composition (the papers' Algorithm 1): any typically stable steps, any adversary.

An adversary sees the answers so far and names the next step; the step sees the sample. What every
step keeps to, (eta, tau, nu) in oracle form, is declared before the first one: the theorems on
adaptive composition are about parameters that no answer has changed. The certificate of the steps
so far runs along.

    composition = AdaptiveComposition(k=10, step=TypicalStability(0.1, 0.0, 1e-9))
    for interaction in composition.play(adversary, sample, secret):
        interaction.answers, interaction.certificate(level=0.05)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.calibration import Calibration
from holdfast.mechanisms.laws.laplace import LAPLACE
from holdfast.mechanisms.laws.law import Grid, Law
from holdfast.mechanisms.laws.normal import NORMAL
from holdfast.mechanisms.noise import Noise
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.typical.certificate import (
    least_printed_composition,
    least_sharp_composition,
)
from holdfast.theory.typical.notion import TypicalStability

__all__ = [
    "AdaptiveComposition",
    "Adversary",
    "CompositionCertificate",
    "Interaction",
    "NoisyStep",
    "Step",
    "gaussian_step",
    "laplace_step",
]


class Step(Protocol):
    """One access to the sample. The noise must be fresh: take all of it from `noise`."""

    @property
    def stability(self) -> TypicalStability:
        """What it is for the population that the sample came from."""
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
    """What the steps are together, in oracle form; None where nothing can be said at the level."""

    printed: TypicalStability | None
    sharp: TypicalStability | None


@dataclass(frozen=True, slots=True)
class Interaction:
    """The answers so far, each a step within `step`."""

    answers: tuple[Any, ...]
    step: TypicalStability

    def certificate(self, level: float) -> CompositionCertificate:
        """The least eta with which the answers are (eta, level, level)-typically stable together.

        By the papers' theorem as repaired, and by the sharp one.
        """
        log_level = math.log(require.probability("level", level))
        if not self.answers:
            nothing = TypicalStability(0.0, 0.0, 0.0)
            return CompositionCertificate(nothing, nothing)
        candidates = [(self.step.eta, self.step.log_tau, self.step.log_nu)]
        k = len(self.answers)
        printed = least_printed_composition(k, candidates, log_level)
        sharp = least_sharp_composition(k, candidates, log_level)
        return CompositionCertificate(
            None if printed is None else printed.stability(),
            None if sharp is None else sharp.stability(),
        )


@dataclass(frozen=True, slots=True)
class AdaptiveComposition:
    """At most k steps, each (eta, tau, nu)-typically stable in oracle form as `step` says."""

    k: int
    step: TypicalStability

    def __post_init__(self) -> None:
        require.positive_integer("k", self.k)
        if self.step.form != "oracle":
            raise InvalidArgument(
                f"step is in {self.step.form} form; what composes adaptively is the oracle form: "
                "convert it with to_oracle()."
            )

    def play(self, adversary: Adversary, sample: Any, secret: bytes) -> Iterator[Interaction]:
        """The interaction after each step, until the adversary stops or k steps are done.

        `secret` must be unknown to the adversary, and used for one interaction only.
        """
        answers: tuple[Any, ...] = ()
        for number in range(1, self.k + 1):
            step = adversary.next_step(answers)
            if step is None:
                return
            self._admit(step, number)
            answers = (*answers, step.answer(sample, Noise(secret, str(number))))
            yield Interaction(answers, self.step)

    def run(self, adversary: Adversary, sample: Any, secret: bytes) -> Interaction:
        """The whole interaction."""
        interactions = [Interaction((), self.step), *self.play(adversary, sample, secret)]
        return interactions[-1]

    def _admit(self, step: Step, number: int) -> None:
        found, most = step.stability.to_oracle(), self.step
        if found.eta <= most.eta and found.tau <= most.tau and found.nu <= most.nu:
            return
        raise InvalidArgument(
            f"step {number} is ({found.eta:g}, {found.tau:g}, {found.nu:g})-typically stable, which"
            f" is more than the ({most.eta:g}, {most.tau:g}, {most.nu:g}) that was declared."
        )


@dataclass(frozen=True, slots=True)
class NoisyStep:
    """A value in [0, 1] of the sample on a grid, plus whole-number noise."""

    value: Callable[[Any], float | Fraction]
    law: Law
    grid: Grid
    stability: TypicalStability

    def answer(self, sample: Any, noise: Noise) -> Fraction:
        cell = self.grid.cell(*Fraction(self.value(sample)).as_integer_ratio())
        return self.grid.place(cell + self.law.draw(noise, self.grid.scale))


def laplace_step(
    value: Callable[[Any], float | Fraction], profile: Concentration, eta: float, nu: float
) -> NoisyStep:
    """Algorithm 2: (eta, 0, nu)-typically stable for every population in which `profile` holds."""
    return _noisy_step(value, profile, LAPLACE, Calibration(2, eta, 0.0, nu))


def gaussian_step(
    value: Callable[[Any], float | Fraction],
    profile: Concentration,
    eta: float,
    tau: float,
    nu: float,
) -> NoisyStep:
    """Algorithm 3, calibrated exactly: (eta, tau, nu)-typically stable."""
    require.probability("tau", tau)
    return _noisy_step(value, profile, NORMAL, Calibration(2, eta, tau, nu))


def _noisy_step(
    value: Callable[[Any], float | Fraction],
    profile: Concentration,
    law: Law,
    calibration: Calibration,
) -> NoisyStep:
    require.positive("eta", calibration.eta)
    require.probability("nu", calibration.nu)
    grid = calibration.grid(profile, 0.0)
    if grid is None:
        raise InvalidArgument(
            f"eta={calibration.eta:g} needs noise beyond the whole range; declare a larger eta."
        )
    return NoisyStep(value, law, grid, calibration.stability)
