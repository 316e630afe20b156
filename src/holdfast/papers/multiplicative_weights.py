"""Multiplicative weights: a distribution on a finite domain that learns from every surprise.

The guess for a question phi is g = E phi under the distribution. An answer reveals an interval that
holds the sample's value. If g is outside, at distance gap, every cell is multiplied by
exp(+-lambda phi): with lambda = 4 gap, or with the lambda that moves the guess exactly to the near
end of the interval (the I-projection, at least as large). Either lowers the divergence of the
sample from the distribution by 2 gap^2 or more, and it starts at ln(cells) at most: questions about
the domain, asked one by one, surprise at most ln(cells)/(2 gap^2) times (Hardt & Rothblum 2010).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from holdfast.errors import InvalidArgument
from holdfast.guessers.guesser import Grounds, Lesson, around
from holdfast.mechanisms.mechanism import Claim
from holdfast.papers.domain import (
    MOST_DOMAIN_CELLS,
    DeclaredValues,
    Domain,
    Face,
    domain_of,
)
from holdfast.papers.theorems.baselines import multiplicative_weights_step
from holdfast.statistics.statistic import Statistic, averaged
from holdfast.theory.base.bets import Array
from holdfast.theory.base.intervals import Interval

# Beyond this the projection adds nothing: e^-64 of the weight is left on the other side.
_STEEPEST = 64.0
# A guess this close to what was revealed is inside it: averages over cells are rounded.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class CellWeights:
    """Weights on the cells of a domain that add up to 1, and their logarithms."""

    domain: Domain
    logs: Array
    weights: Array

    def towards(self, face: Face, step: float) -> CellWeights:
        """Every cell multiplied by exp(step * phi)."""
        logs = (self.logs.reshape(face.shape) + step * face.values).ravel()
        return _normalised(self.domain, logs)


@dataclass(frozen=True, slots=True)
class MultiplicativeWeights:
    """Guesses from a distribution on the domain of these columns, uniform at first.

    `columns` declares the domain (see `Domain`); left out, it is every boolean column, column of
    the design and column with declared bounds. `update` is "projection", or "step" for 4 gap.
    """

    name: ClassVar[str] = "multiplicative weights"

    columns: Mapping[str, DeclaredValues] | None = None
    update: Literal["projection", "step"] = "projection"

    def __post_init__(self) -> None:
        if self.update not in ("projection", "step"):
            raise InvalidArgument(f"update is {self.update!r}; it must be 'projection' or 'step'.")

    def start(self, grounds: Grounds) -> CellWeights:
        domain = domain_of(grounds.table, self.columns, MOST_DOMAIN_CELLS)
        return _normalised(domain, np.zeros(domain.size))

    def learn(self, state: CellWeights, lesson: Lesson) -> CellWeights:
        face = state.domain.face_of(lesson.question)
        return state if face is None else self._updated(state, face, lesson.revealed)

    def covers(self, state: CellWeights, statistic: Statistic) -> bool:
        return state.domain.covers(statistic)

    def guess(self, state: CellWeights, statistics: Sequence[Statistic]) -> list[float]:
        return [
            state.domain.face(averaged(statistic)).average(state.weights)
            for statistic in statistics
        ]

    def claim(self, guess: float, tolerance: float) -> Claim:
        return around(guess, tolerance)

    def _updated(self, state: CellWeights, face: Face, revealed: Interval) -> CellWeights:
        """The distribution after learning where the sample's value is."""
        guess = face.average(state.weights)
        target = min(revealed.high, max(revealed.low, guess))
        gap = abs(target - guess)
        if gap <= _ROUNDING:
            return state
        sign = math.copysign(1.0, target - guess)
        step = multiplicative_weights_step(gap)
        if self.update == "projection":
            step = _projection(state, face, target, sign, step)
        return state.towards(face, sign * step)


def _normalised(domain: Domain, logs: Array) -> CellWeights:
    logs = logs - logs.max()
    weights = np.exp(logs)
    total = weights.sum()
    return CellWeights(domain, logs - math.log(total), weights / total)


def _projection(state: CellWeights, face: Face, target: float, sign: float, least: float) -> float:
    """The step that moves the guess to the target: between `least` and the steepest."""
    from scipy import optimize  # it takes a command longer to load than a question to answer

    values, weights = face.levels(state.weights)
    heights = sign * values
    heights = heights - heights.max()

    def beyond(step: float) -> float:
        raised = weights * np.exp(step * heights)
        return float(np.vdot(raised, values) / raised.sum() - target) * sign

    if beyond(_STEEPEST) <= 0.0:
        return _STEEPEST
    if beyond(least) >= 0.0:  # only by rounding: the variance of phi is at most 1/4
        return least
    return float(optimize.brentq(beyond, least, _STEEPEST, xtol=1e-12))
