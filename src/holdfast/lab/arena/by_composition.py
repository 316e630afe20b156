"""The composition experiment: what k adaptive steps are together, measured and proved side by side.

The population is the one on which Algorithms 2 and 3 are as little stable as they may be: every
sample is typical, and its statistic is exactly a radius off, to one side or the other. The
adversary asks for the statistic or for its negative, by the last answer. Of each run the log-ratio
between the law of its answers and the oracle's is known. If all steps together are
(eta, tau, nu)-typically stable, it is within eta + ln 2 of 0 but for probability 3 tau + nu: where
P > 2 e^eta Q, P <= e^eta Q + tau makes P at most 2 tau, and the other way round. A run that is not
is a failure. The measured eta is the least at which the mass beyond the ratio is tau.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from holdfast import require
from holdfast.lab.arena.comparison import Entrant, Experiment, Run, run_entrants
from holdfast.lab.arena.trial import Final, Result
from holdfast.mechanisms.composition import AdaptiveComposition, Interaction
from holdfast.mechanisms.laws.laplace import LAPLACE
from holdfast.mechanisms.steps import NoisyStep, gaussian_step, laplace_step
from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.base.safeside import smallest_true
from holdfast.theory.typical.notion import TypicalStability

__all__ = ["ComposedRun", "composition", "measured_eta"]

_ComposedNoise = Literal["laplace", "gaussian", "printed gaussian"]

_PROFILE = SubGaussian(1.0)
_NU, _TAU = 1e-24, 1e-6
_LEVEL = 0.01
_MEASURED = 4_000  # steps, in all runs of which eta is measured
_SABOTAGE = 10.0


@cache
def _step(noise: _ComposedNoise, sign: float) -> NoisyStep:
    """The statistic of a sample, or its negative, with the noise of one of the Algorithms."""

    def value(sample: float) -> float:
        return sign * sample

    if noise == "laplace":
        return laplace_step(value, _PROFILE, 0.5, _NU)
    return gaussian_step(value, _PROFILE, 3.0, _TAU, _NU, printed=noise != "gaussian")


@dataclass(frozen=True, slots=True)
class _Follower:
    """Asks for the statistic, or for its negative after an answer below the truth."""

    noise: _ComposedNoise

    def sign(self, answers: Sequence[Any]) -> float:
        return -1.0 if answers and answers[-1] < 0 else 1.0

    def next_step(self, answers: tuple[Any, ...]) -> NoisyStep:
        return _step(self.noise, self.sign(answers))


@dataclass(frozen=True, slots=True)
class ComposedRun:
    """k steps against the adversary, and the eta that is claimed of them together."""

    noise: _ComposedNoise
    steps: int
    claimed: float

    def trial(self, seed: int, number: int) -> Result:
        """One run on a sample of its own: its log-ratio, against what is claimed."""
        found = self.log_ratio(seed, number)
        most = self.claimed + math.log(2.0)
        final = Final(found, found, -most, most)
        return Result(self.steps, 1, int(abs(found) > most), 0, 0.0, abs(found) / most, final)

    def log_ratio(self, seed: int, number: int) -> float:
        """ln of the law of the answers on the sample over the oracle's, at the answers."""
        rng = np.random.default_rng([seed, number])
        first, follower = _step(self.noise, 1.0), _Follower(self.noise)
        sample = float(first.unit) * float(rng.choice([-1.0, 1.0]))
        played = AdaptiveComposition(self.steps, first.stability).run(
            follower, sample, rng.bytes(32)
        )
        scale = float(first.unit) * first.grid.scale / float(first.grid.cells)
        total = 0.0
        for place, answer in enumerate(map(float, played.answers)):
            off = answer - follower.sign(played.answers[:place]) * sample
            if first.law is LAPLACE:
                total += (abs(answer) - abs(off)) / scale
            else:
                total += (answer * answer - off * off) / (2 * scale * scale)
        return total


def measured_eta(log_ratios: Sequence[float], tau: float) -> float:
    """The least eta at which the mass beyond the ratio e^eta is tau, in these runs."""
    found = np.asarray(log_ratios)

    def fits(eta: float) -> bool:
        return float(np.maximum(0.0, -np.expm1(eta - found)).mean()) <= tau

    most = max(0.0, float(found.max()))
    return smallest_true(fits, 0.0, most, relative=1e-6) if not fits(0.0) else 0.0


def composition(steps: int = 10, *, run: Run | None = None) -> Experiment:
    """Algorithm 1 with the noise of Algorithms 2 and 3: proved, measured, and claimed too low."""
    steps = require.integer_between("questions", steps, 1, 1_000)
    run = run or Run(trials=200)
    entrants = []
    noises: tuple[_ComposedNoise, ...] = ("laplace", "gaussian", "printed gaussian")
    for noise in noises:
        apart = ComposedRun(noise, steps, math.inf)
        ratios = [apart.log_ratio(run.seed + 1, number) for number in range(_MEASURED // steps)]
        measured = measured_eta(ratios, _LEVEL)
        stability = _step(noise, 1.0).stability
        found = Interaction((0,) * steps, stability).certificate(_LEVEL)
        low = TypicalStability(measured / _SABOTAGE, _LEVEL, 0.0)
        claims = {"printed": found.printed, "sharp": found.sharp, "too low": low}
        entrants += [
            _entrant(noise, by, steps, claimed, measured)
            for by, claimed in claims.items()
            if claimed is not None
        ]
    return run_entrants(
        "composition",
        f"{steps:,} adaptive steps on a sample that is as far off as a typical one may be. Shown "
        "is the log-ratio of the answers, which is within the eta that is claimed of all of them "
        f"and ln 2 of 0 (tau = {_LEVEL:g}); false: a run in which it is not.",
        entrants,
        run,
    )


def _entrant(
    noise: _ComposedNoise, by: str, steps: int, claimed: TypicalStability, measured: float
) -> Entrant:
    return Entrant(
        f"{noise}, {by}: eta {claimed.eta:.3g}, measured {measured:.3g}",
        by != "too low",
        ComposedRun(noise, steps, claimed.eta),
        3 * claimed.tau + claimed.nu,
        reported="broken",
        note=f"tau {claimed.tau:.2g}, nu {claimed.nu:.2g}",
    )
