"""Adaptive composition, k-fold (the papers' Algorithm 1): steps of any kind, any adversary.

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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.noise import LAPLACE, NORMAL, Grid, Law, Noise
from holdfast.papers.theorems.interaction import least_printed_composition, least_sharp_composition
from holdfast.papers.theorems.notions import advanced_composition_printed, gaussian_scale_for_tv
from holdfast.papers.theorems.typical_noise import gaussian_scale_printed
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import round_down, smallest_true
from holdfast.theory.leakage.release import RESOLUTION
from holdfast.theory.notions.arrows import gdp_to_approx_dp
from holdfast.theory.notions.composing import GDP, TV, ZCDP, ApproxDP, PureDP
from holdfast.theory.transfer.differential_privacy import optimal_composition_at_delta
from holdfast.theory.typical.calibrated_noise import gaussian_scale
from holdfast.theory.typical.notion import TypicalStability
from holdfast.theory.typical.sharp_composition import optimal_composition_log_delta

if TYPE_CHECKING:
    import numpy as np

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
        """Stability of the step: for the population of the sample, or for any sample."""
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
    """Certificate of the steps together; None where nothing can be said at the level.

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
        """Certificate of all answers, by the papers' theorem as repaired and by the sharp one.

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
        stability, most = step.stability, self.step
        if isinstance(stability, TypicalStability):
            stability = stability.to_oracle()
        if type(stability) is not type(most):
            raise InvalidArgument(
                f"step {number} is a {type(stability).__name__}, and {type(most).__name__} was "
                "declared; steps of one composition are of one notion: convert it first."
            )
        if all(
            parameter <= limit
            for parameter, limit in zip(_numbers(stability), _numbers(most), strict=True)
        ):
            return
        raise InvalidArgument(
            f"step {number} is {stability}, which is more than the declared {most}."
        )


def _numbers(notion: Notion) -> list[float]:
    return [each for each in astuple(notion) if not isinstance(each, str)]


# Steps for `AdaptiveComposition`: noise on a statistic in its own unit, and learners.
#
# A statistic may be in any unit: it is divided by what the noise is measured by (its radius, or
# what one row can do to it), put on a grid, and whole-number noise is added; the answer is in the
# statistic's unit again. So nothing of the value is told but the noisy cell.


_Value = Callable[[Any], float | Fraction]


@dataclass(frozen=True, slots=True)
class NoisyStep:
    """A statistic in units of `unit` on a grid, plus whole-number noise."""

    value: _Value
    law: Law
    grid: Grid
    unit: Fraction
    stability: Notion

    def answer(self, sample: Any, noise: Noise) -> Fraction:
        value = self.value(sample)
        if not math.isfinite(value):
            raise InvalidArgument(f"the statistic is {value!r} on this sample, which is no number.")
        cell = self.grid.cell(*(Fraction(value) / self.unit).as_integer_ratio())
        return self.grid.place(cell + self.law.draw(noise, self.grid.scale)) * self.unit


def laplace_step(value: _Value, profile: Concentration, eta: float, nu: float) -> NoisyStep:
    """Algorithm 2: (eta, 0, nu)-typically stable for every population in which `profile` holds."""
    eta = require.positive("eta", eta)
    return _noisy(value, _radius(profile, nu), LAPLACE, eta, TypicalStability(eta, 0.0, nu))


def gaussian_step(
    value: _Value,
    profile: Concentration,
    eta: float,
    tau: float,
    nu: float,
    *,
    printed: bool = False,
) -> NoisyStep:
    """Algorithm 3, calibrated exactly: (eta, tau, nu)-typically stable.

    With `printed`, the noise alpha sqrt(2 ln(1.5/tau))/eta as it is printed: what the step is says
    its `stability`, whose tau is the larger one where that noise is too small for the declared.
    """
    eta, tau = require.positive("eta", eta), require.probability("tau", tau)
    scale = gaussian_scale_printed if printed else gaussian_scale
    distance = round_down(1 / scale(1.0, eta, math.log(tau)))
    if printed:
        tau = max(tau, gdp_to_approx_dp(GDP(distance), eta).delta)
    stability = TypicalStability(eta, tau, nu)
    return _noisy(value, _radius(profile, nu), NORMAL, distance, stability)


def dp_step(value: _Value, sensitivity: float, epsilon: float) -> NoisyStep:
    """The Laplace mechanism: epsilon-DP, if one row moves the statistic by `sensitivity` at most.

    It is a step of a composition of `PureDP` steps.
    """
    epsilon = require.positive("epsilon", epsilon)
    return _noisy(value, _sensitivity(sensitivity), LAPLACE, epsilon, PureDP(epsilon))


def tv_step(value: _Value, sensitivity: float, distance: float) -> NoisyStep:
    """The Gaussian mechanism with the noise for a total variation: a step of `TV` steps."""
    shift = round_down(1 / gaussian_scale_for_tv(1, 1, require.probability("distance", distance)))
    return _noisy(value, _sensitivity(sensitivity), NORMAL, shift, TV(distance))


def _radius(profile: Concentration, nu: float) -> float:
    return profile.radius(math.log(require.probability("nu", nu)))


def _sensitivity(sensitivity: float) -> float:
    return require.positive("sensitivity", sensitivity)


def _noisy(value: _Value, unit: float, law: Law, most: float, stability: Notion) -> NoisyStep:
    """Noise of which a shift by the unit is `most` scales at most, cells rounded up."""
    cells = math.floor(Fraction(most) * RESOLUTION)
    if cells == 0:
        raise InvalidArgument(
            f"noise of {1 / most:.3g} units is more than a grid of {RESOLUTION:,} cells has; "
            "declare less stability."
        )
    return NoisyStep(value, law, Grid(cells, RESOLUTION, None), Fraction(unit), stability)


@dataclass(frozen=True, slots=True)
class LearnerStep:
    """A learner of your own, whose stability you state: only `papers.probe` may refute it."""

    learner: Callable[[Any, np.random.Generator], Any]
    stability: Notion

    def answer(self, sample: Any, noise: Noise) -> Any:
        import numpy as np

        return self.learner(sample, np.random.default_rng(noise.uniform(0, 2**128 - 1)))


def learner_step(
    learner: Callable[[Any, np.random.Generator], Any], stability: Notion
) -> LearnerStep:
    """A learner as a step: `learner(sample, rng)`, all of its coins from `rng`."""
    if not callable(learner):
        raise InvalidArgument(f"learner is {learner!r}; it must be a function of (sample, rng).")
    return LearnerStep(learner, stability)
