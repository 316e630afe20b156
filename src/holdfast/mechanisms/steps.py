"""Steps for `AdaptiveComposition`: noise on a statistic in its own unit, and learners.

A statistic may be in any unit: it is divided by what the noise is measured by (its radius, or what
one row can do to it), put on a grid, and whole-number noise is added; the answer is in the
statistic's unit again. So nothing of the value is told but the noisy cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.composition import Notion
from holdfast.mechanisms.laws.laplace import LAPLACE
from holdfast.mechanisms.laws.law import Grid, Law
from holdfast.mechanisms.laws.normal import NORMAL
from holdfast.mechanisms.noise import Noise
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import round_down
from holdfast.theory.leakage.release import RESOLUTION
from holdfast.theory.notions.arrows import gdp_to_approx_dp
from holdfast.theory.notions.distances import gaussian_scale_for_tv
from holdfast.theory.notions.stability import GDP, TV, PureDP
from holdfast.theory.typical.noise import gaussian_scale, gaussian_scale_printed
from holdfast.theory.typical.notion import TypicalStability

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "LearnerStep",
    "NoisyStep",
    "dp_step",
    "gaussian_step",
    "laplace_step",
    "learner_step",
    "tv_step",
]

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
    """A learner of your own, whose stability you state: nobody checks it (`holdfast.probe` may)."""

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
