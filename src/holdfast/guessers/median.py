"""The Median mechanism (lecture 4): the middle guess of all small data sets still possible.

The version space holds every histogram of s points on the N cells of a small domain. The guess for
a question is the weighted median of its value over them. An answer reveals an interval that holds
the sample's value q; histograms whose value is further than alpha from it are removed. Some
histogram is within alpha of the sample on all k questions (Claim 1), and it stays. A surprise has
|q - guess| > eta; for alpha < eta everything up to the median, half of the weight, goes: there are
at most log2 of the weight of the space to the weight of that histogram surprises.

With `weights="histograms"` all histograms weigh the same; "sequences" counts the s-point sequences
behind each, as printed. These are enumerated, which is for the smallest domains only. With "volume"
the space is all distributions on the domain, sampled (`guessers.volume`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.guessers.domain import DeclaredValues, Domain, Face, domain_of
from holdfast.guessers.guesser import Grounds, Lesson, around
from holdfast.guessers.volume import (
    MOST_SAMPLED_CELLS,
    DistributionSpace,
    all_distributions,
)
from holdfast.mechanisms.mechanism import Claim
from holdfast.mechanisms.terms import Terms
from holdfast.statistics.statistic import Statistic, averaged
from holdfast.theory.base import special
from holdfast.theory.base.bets import Array
from holdfast.theory.base.intervals import Interval
from holdfast.theory.field.median_mechanism import (
    MedianParameters,
    median_parameters,
    median_parameters_printed,
)
from holdfast.theory.field.median_widths import median_samples

__all__ = ["MOST_HISTOGRAMS", "MedianMechanism", "VersionSpace", "weighted_median"]

MOST_HISTOGRAMS = 2**20
# Averages over histograms are rounded; a histogram is removed when it is out by more than that.
_ROUNDING = 1e-12
_EXCESS = 0.1  # beyond a half, what may be on one side of a sampled median

_Space: TypeAlias = "VersionSpace | DistributionSpace"


@dataclass(frozen=True, slots=True, eq=False)
class VersionSpace:
    """The histograms that are left, one a row, with their weights; and the distance allowed."""

    domain: Domain
    histograms: NDArray[np.int32]
    weights: Array
    alpha: float

    def values(self, face: Face) -> Array:
        """The question's average over each histogram."""
        cells = np.broadcast_to(face.values, face.shape).ravel()
        return np.asarray(self.histograms @ cells / self.histograms[0].sum())

    @property
    def is_empty(self) -> bool:
        return not self.weights.size

    def middle(self, face: Face) -> float:
        """The weighted median of a question over the histograms."""
        return weighted_median(self.values(face), self.weights)

    def told(self, face: Face, revealed: Interval) -> VersionSpace:
        """The histograms after an answer."""
        return self.near(self.values(face), revealed.low, revealed.high)

    def near(self, values: Array, low: float, high: float) -> VersionSpace:
        """The histograms whose value is within alpha of the interval."""
        reach = self.alpha + _ROUNDING
        kept = (values >= low - reach) & (values <= high + reach)
        return VersionSpace(self.domain, self.histograms[kept], self.weights[kept], self.alpha)


@dataclass(frozen=True, slots=True)
class MedianMechanism:
    """Guesses from all histograms on the domain of these columns that agree with the answers.

    `accuracy` is eta: surprises are bounded while the tolerance less the radius is at least that
    (by default half the tolerance). With `printed` the lecture's own parameters are used. With
    `weights="volume"` there are so many points that all medians have at most 0.6 of the volume on
    either side except with probability `failure`, were they drawn independently.
    """

    columns: Mapping[str, DeclaredValues] | None = None
    accuracy: float | None = None
    weights: Literal["histograms", "sequences", "volume"] = "histograms"
    printed: bool = False
    failure: float = 0.01

    def __post_init__(self) -> None:
        require.one_of("weights", ("histograms", "sequences", "volume"), self.weights)
        require.probability("failure", self.failure)
        if self.printed and self.weights == "volume":
            raise InvalidArgument(
                "the printed parameters are about histograms; leave out one of printed= and "
                "weights='volume'."
            )
        if self.accuracy is not None:
            require.between("accuracy", self.accuracy, 0.0, 1.0, open_low=True)
            if self.printed:
                raise InvalidArgument(
                    "the printed parameters fix the accuracy themselves; leave out one of "
                    "accuracy= and printed=."
                )

    @property
    def name(self) -> str:
        return "median mechanism"

    def parameters(self, grounds: Grounds, cells: int) -> MedianParameters:
        """What it is set up with on these terms."""
        terms, questions = grounds.terms, _declared_questions(grounds.terms)
        if self.printed:
            return median_parameters_printed(terms.rows, questions, cells)
        return median_parameters(questions, cells, self._accuracy(terms))

    def _accuracy(self, terms: Terms) -> float:
        return terms.half_width / 2 if self.accuracy is None else self.accuracy

    def start(self, grounds: Grounds) -> VersionSpace | DistributionSpace:
        if self.weights == "volume":
            return self._sampled(grounds)
        domain = domain_of(grounds.table, self.columns, MOST_HISTOGRAMS)
        found = self.parameters(grounds, domain.size)
        count = math.comb(found.points + domain.size - 1, domain.size - 1)
        if count > MOST_HISTOGRAMS:
            raise InvalidArgument(
                f"there are {count:.3g} histograms of {found.points:,} points on {domain.size:,} "
                f"cells; at most {MOST_HISTOGRAMS:,} can be enumerated. Declare a smaller domain "
                "or a larger accuracy=, sample them with weights='volume', or use multiplicative "
                "weights."
            )
        histograms = _histograms(found.points, domain.size)
        weights = _orders(histograms) if self.weights == "sequences" else np.ones(count)
        return VersionSpace(domain, histograms, weights, found.alpha)

    def _sampled(self, grounds: Grounds) -> DistributionSpace:
        domain = domain_of(grounds.table, self.columns, MOST_SAMPLED_CELLS)
        questions = _declared_questions(grounds.terms)
        count = median_samples(questions, math.log(self.failure), _EXCESS)
        return all_distributions(domain, count, self._accuracy(grounds.terms), grounds.secret)

    def learn(self, state: _Space, lesson: Lesson) -> _Space:
        face = state.domain.face_of(lesson.question)
        if face is None or state.is_empty:
            return state
        return state.told(face, lesson.revealed)

    def covers(self, state: _Space, statistic: Statistic) -> bool:
        return not state.is_empty and state.domain.covers(statistic)

    def guess(self, state: _Space, statistics: Sequence[Statistic]) -> list[float]:
        faces = (state.domain.face(averaged(statistic)) for statistic in statistics)
        return [state.middle(face) for face in faces]

    def claim(self, guess: float, tolerance: float) -> Claim:
        return around(guess, tolerance)


def _declared_questions(terms: Terms) -> int:
    if terms.questions is None:
        raise InvalidArgument(
            "the median mechanism needs to know how many questions there will be; open the "
            "ledger with questions=."
        )
    return terms.questions


def weighted_median(values: Array, weights: Array) -> float:
    """A value with at most half of the weight strictly to each side."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    middle = int(np.searchsorted(reached, reached[-1] / 2))
    return min(1.0, max(0.0, float(values[order[middle]])))


def _histograms(points: int, cells: int) -> NDArray[np.int32]:
    """Every way to put the points into the cells, one a row."""
    rows = np.zeros((1, 0), dtype=np.int32)
    left = np.array([points], dtype=np.int32)
    for _ in range(cells - 1):
        choices = left + 1
        starts = np.repeat(np.cumsum(choices) - choices, choices)
        taken = np.arange(choices.sum(), dtype=np.int64) - starts
        rows = np.column_stack((np.repeat(rows, choices, axis=0), taken)).astype(np.int32)
        left = (np.repeat(left, choices) - taken).astype(np.int32)
    return np.column_stack((rows, left)).astype(np.int32)


def _orders(histograms: NDArray[np.int32]) -> Array:
    """How many sequences each histogram has, as a part of the greatest such number."""
    logs = -special.gammaln(histograms + 1.0).sum(axis=1)
    return np.asarray(np.exp(logs - logs.max()))
