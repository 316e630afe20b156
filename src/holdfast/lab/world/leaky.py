"""Holders that give something away beside the value: what careful-looking code can do wrong.

Their values are noisy, and yet everything is there to be read: in a width, or in the time taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast.lab.world.holders import Session, Shown, as_if_fixed
from holdfast.lab.world.questions import Arrays, LabQuestion
from holdfast.mechanisms.terms import Terms
from holdfast.theory.base.intervals import empirical_bernstein_radius

__all__ = ["LeakyTime", "LeakyWidth"]

_BLOCK = 20


@dataclass(frozen=True, slots=True)
class LeakyWidth:
    """Noise on the value, but a width computed on the exact sample: the width tells everything."""

    noise: float = 0.05

    @property
    def name(self) -> str:
        return "noisy value, width of the sample"

    @property
    def promises(self) -> bool:
        return False

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:  # noqa: ARG002
        return _LeakySession(self, terms, sample, np.random.default_rng(seed))


@dataclass(frozen=True, slots=True)
class _LeakySession:
    settings: LeakyWidth
    terms: Terms
    sample: Arrays
    rng: np.random.Generator

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        values = np.asarray(question.values(self.sample), dtype=np.float64)
        log_p = self.terms.log_beta - math.log(self.terms.questions or 1)
        radius = empirical_bernstein_radius(len(values), float(values.var(ddof=1)), log_p)
        noise = self.settings.noise
        value = float(values.mean() + self.rng.uniform(-noise, noise))
        return Shown(value, value - noise - radius, value + noise + radius, reach=noise)


@dataclass(frozen=True, slots=True)
class LeakyTime:
    """Noise on the value, and a scan that stops as soon as it has counted a quarter of the rows:
    the number of blocks read, and so the time taken, tells the count."""

    noise: float = 0.05

    @property
    def name(self) -> str:
        return "noisy value, scan that stops early"

    @property
    def promises(self) -> bool:
        return False

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:  # noqa: ARG002
        return _TimedSession(self, terms, sample, np.random.default_rng(seed))


@dataclass(frozen=True, slots=True)
class _TimedSession:
    settings: LeakyTime
    terms: Terms
    sample: Arrays
    rng: np.random.Generator

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        values = np.asarray(question.values(self.sample), dtype=np.float64)
        enough = np.flatnonzero(np.cumsum(values) >= len(values) / 4)
        rows = int(enough[0]) + 1 if len(enough) else len(values)
        noise = self.settings.noise
        value = float(values.mean() + self.rng.uniform(-noise, noise))
        reach = noise + as_if_fixed(self.terms)
        blocks = math.ceil(rows / _BLOCK)
        return Shown(value, value - reach, value + reach, reach=noise, work=blocks)
