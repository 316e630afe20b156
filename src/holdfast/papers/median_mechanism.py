"""The Median mechanism (lecture 4): the middle guess of small data sets still possible.

The version space holds every histogram of s points on the N cells of a small domain. The guess for
a question is the weighted median of its value over them. An answer reveals an interval that holds
the sample's value q; histograms whose value is further than alpha from it are removed. Some
histogram is within alpha of the sample on all k questions (Claim 1), and it stays. A surprise has
|q - guess| > eta; for alpha < eta everything up to the median, half of the weight, goes: there are
at most log2 of the weight of the space to the weight of that histogram surprises.

With `weights="histograms"` all histograms weigh the same; "sequences" counts the s-point sequences
behind each, as printed. These are enumerated, which is for the smallest domains only. With "volume"
the space is all distributions on the domain, sampled; left out, what can be enumerated is, and
other domains are sampled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.guessers.guesser import Grounds, Lesson, around
from holdfast.mechanisms.mechanism import Claim
from holdfast.mechanisms.terms import Terms
from holdfast.papers.domain import DeclaredValues, Domain, Face, domain_of
from holdfast.papers.theorems.median_parameters import (
    MedianParameters,
    median_parameters,
    median_parameters_printed,
    median_samples,
)
from holdfast.statistics.statistic import Statistic, averaged
from holdfast.theory.base import special
from holdfast.theory.base.bets import Array
from holdfast.theory.base.intervals import Interval

# A version space of all distributions on a domain, sampled: the Median mechanism for more cells.
#
# The distributions that agree with the answers are a convex set: those of the simplex whose
# values are near what was revealed. Many points wander in it at once, each by moving mass between
# two cells as far as the set goes, to anywhere on that way with equal probability; the uniform
# law is the one that this leaves as it is. When an answer removes points, the others take their
# places and all wander on. A guess is the median of the question over the points.
#
# How good it is rests on the points being as if drawn independently, which nobody proves of so
# many moves. No interval rests on it: a worse median means more surprises, and nothing else.


MOST_SAMPLED_CELLS = 2**16
_MOVES = 8  # of each point for each cell, after points were removed
_MOST_MOVES = _MOVES * 512  # of a point: on larger domains not every cell is moved every time
_MOST_NUMBERS = 2**24  # of all points together
_VOLUME_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class DistributionSpace:
    """Points that are left, one a row; what was told that removed some; and the distance allowed.

    `questions` are values on all cells, one question a row, and `ends` where each must be. `seed`
    and the number of questions address the moves, so that the same answers make the same points.
    """

    domain: Domain
    points: Array
    alpha: float
    seed: bytes
    questions: Array
    ends: Array

    @property
    def is_empty(self) -> bool:
        return len(self.points) == 0

    def middle(self, face: Face) -> float:
        """The median of a question over the points."""
        return min(1.0, max(0.0, float(np.median(self.points @ _cells(face)))))

    def after(self, face: Face, revealed: Interval) -> DistributionSpace:
        """The points after an answer: those further than alpha from what it reveals are gone."""
        cells = _cells(face)
        ends = np.array([revealed.low - self.alpha, revealed.high + self.alpha])
        values = self.points @ cells
        inside = (values >= ends[0] - _VOLUME_ROUNDING) & (values <= ends[1] + _VOLUME_ROUNDING)
        if inside.all():
            return self
        smaller = replace(
            self,
            questions=np.vstack((self.questions, cells)),
            ends=np.vstack((self.ends, ends)),
        )
        return smaller._moved(self.points[inside])

    def _moved(self, center: Array) -> DistributionSpace:
        """As many points as before, from those that are left, moved about."""
        start = center if center.size else self._anywhere()
        if not start.size:
            return replace(self, points=start)
        address = self.seed + len(self.questions).to_bytes(8, "big")
        rng = np.random.default_rng(int.from_bytes(blake2b(address).digest(), "big"))
        chosen = rng.integers(0, len(start), len(self.points))
        points = start[chosen]
        values = points @ self.questions.T
        for _ in range(min(_MOST_MOVES, _MOVES * self.domain.size)):
            _shift(points, values, self.questions, self.ends, rng)
        return replace(self, points=points)

    def _anywhere(self) -> Array:
        """A distribution that agrees with all answers, where no point was left; or none."""
        from scipy import optimize  # it takes a command longer to load than a question to answer

        size = self.domain.size
        room = np.ones((len(self.questions), 1))
        # As far inside as can be: every end is kept by the same distance.
        solution = optimize.linprog(
            np.append(np.zeros(size), -1.0),
            A_ub=np.vstack((np.hstack((self.questions, room)), np.hstack((-self.questions, room)))),
            b_ub=np.concatenate((self.ends[:, 1], -self.ends[:, 0])),
            A_eq=np.append(np.ones(size), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0, 1)] * size + [(0, None)],
        )
        return solution.x[None, :size] if solution.status == 0 else np.empty((0, size))


def all_distributions(domain: Domain, count: int, alpha: float, secret: bytes) -> DistributionSpace:
    """So many points of the whole simplex, uniform and independent."""
    seed = blake2b(b"holdfast median/1" + secret).digest()
    rng = np.random.default_rng(int.from_bytes(seed, "big"))
    points = rng.dirichlet(np.ones(domain.size), count)
    nothing = np.empty((0, domain.size))
    return DistributionSpace(domain, points, alpha, seed, nothing, np.empty((0, 2)))


def _cells(face: Face) -> Array:
    """The question's value on every cell of the domain."""
    return np.broadcast_to(face.values, face.shape).ravel()


def _shift(
    points: Array, values: Array, questions: Array, ends: Array, rng: np.random.Generator
) -> None:
    """Moves mass between two cells of every point, as far as it may be; `values` follow."""
    many, cells = points.shape
    rows = np.arange(many)
    sources, targets = _pairs(many, cells, rng)
    least, most = -points[rows, targets], points[rows, sources]
    slopes = (questions[:, targets] - questions[:, sources]).T
    if len(questions):
        with np.errstate(divide="ignore", invalid="ignore"):
            to_low, to_high = (ends[:, 0] - values) / slopes, (ends[:, 1] - values) / slopes
        flat = slopes == 0.0
        near = np.where(flat, -np.inf, np.minimum(to_low, to_high))
        far = np.where(flat, np.inf, np.maximum(to_low, to_high))
        least, most = np.maximum(least, near.max(axis=1)), np.minimum(most, far.min(axis=1))
    # A point on the edge, by rounding a little outside, stays where it is.
    least, most = np.minimum(least, 0.0), np.maximum(most, 0.0)
    step = least + (most - least) * rng.random(many)
    points[rows, sources] = np.maximum(points[rows, sources] - step, 0.0)
    points[rows, targets] = np.maximum(points[rows, targets] + step, 0.0)
    values += step[:, None] * slopes


def _pairs(
    many: int, cells: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two different cells for each point."""
    first = rng.integers(0, cells, many)
    return first, (first + rng.integers(1, cells, many)) % cells


MOST_HISTOGRAMS = 2**20
# Averages over histograms are rounded; a histogram is removed when it is out by more than that.
_ROUNDING = 1e-12
_EXCESS = 0.1  # beyond a half, what may be on one side of a sampled median; large domains have more
_Weights = Literal["histograms", "sequences", "volume"]

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

    def after(self, face: Face, revealed: Interval) -> VersionSpace:
        """The histograms after an answer."""
        return self.near(self.values(face), revealed.low, revealed.high)

    def near(self, values: Array, low: float, high: float) -> VersionSpace:
        """The histograms whose value is within alpha of the interval."""
        reach = self.alpha + _ROUNDING
        consistent = (values >= low - reach) & (values <= high + reach)
        return VersionSpace(
            self.domain, self.histograms[consistent], self.weights[consistent], self.alpha
        )


@dataclass(frozen=True, slots=True)
class MedianMechanism:
    """Guesses from all histograms on the domain of these columns that agree with the answers.

    `accuracy` is eta: surprises are bounded while the tolerance less the radius is at least that
    (by default half the tolerance). With `printed` the lecture's own parameters are used. What
    cannot be enumerated is sampled, unless `weights` says otherwise (`weights="volume"`): there are
    so many points that all medians have at most 0.6 of the volume on either side (`excess` says how
    much more on large domains) except with probability `failure`, were they drawn independently.
    """

    name: ClassVar[str] = "median mechanism"

    columns: Mapping[str, DeclaredValues] | None = None
    accuracy: float | None = None
    weights: _Weights | None = None
    printed: bool = False
    failure: float = 0.01

    def __post_init__(self) -> None:
        if self.weights is not None:
            require.one_of("weights", get_args(_Weights), self.weights)
        require.probability("failure", self.failure)
        if self.accuracy is not None:
            require.between("accuracy", self.accuracy, 0.0, 1.0, open_low=True)
            if self.printed:
                raise InvalidArgument(
                    "the printed parameters fix the accuracy themselves; leave out one of "
                    "accuracy= and printed=."
                )

    def parameters(self, grounds: Grounds, cells: int) -> MedianParameters:
        """Parameters on these terms."""
        terms, questions = grounds.terms, _declared_questions(grounds.terms)
        if self.printed:
            return median_parameters_printed(terms.rows, questions, cells)
        return median_parameters(questions, cells, self._accuracy(terms))

    def _accuracy(self, terms: Terms) -> float:
        return terms.half_width / 2 if self.accuracy is None else self.accuracy

    def start(self, grounds: Grounds) -> VersionSpace | DistributionSpace:
        domain = domain_of(grounds.table, self.columns, MOST_SAMPLED_CELLS)
        space = self.parameters(grounds, domain.size)
        count = math.comb(space.points + domain.size - 1, domain.size - 1)
        too_many = count > MOST_HISTOGRAMS
        if self.weights == "volume" or (self.weights is None and too_many):
            alpha = space.alpha if self.printed else self._accuracy(grounds.terms)
            return all_distributions(
                domain, self.samples(grounds.terms, domain.size), alpha, grounds.secret
            )
        if too_many:
            raise InvalidArgument(
                f"there are 2^{count.bit_length() - 1} histograms of {space.points:,} points on "
                f"{domain.size:,} cells; at most {MOST_HISTOGRAMS:,} can be enumerated. Declare a "
                "smaller domain or a larger accuracy=, leave weights out to sample them, or use "
                "multiplicative weights."
            )
        histograms = _histograms(space.points, domain.size)
        weights = _orders(histograms) if self.weights == "sequences" else np.ones(count)
        return VersionSpace(domain, histograms, weights, space.alpha)

    def samples(self, terms: Terms, cells: int) -> int:
        """Number of points of a domain with so many cells."""
        wanted = median_samples(_declared_questions(terms), math.log(self.failure), _EXCESS)
        return min(wanted, max(2, _MOST_NUMBERS // cells))

    def excess(self, terms: Terms, cells: int) -> float:
        """Beyond a half, what the volume on one side of a sampled median may be, at `failure`."""
        questions, log_failure = _declared_questions(terms), math.log(self.failure)
        return math.sqrt((math.log(2 * questions) - log_failure) / (2 * self.samples(terms, cells)))

    def learn(self, state: _Space, lesson: Lesson) -> _Space:
        face = state.domain.face_of(lesson.question)
        if face is None or state.is_empty:
            return state
        return state.after(face, lesson.revealed)

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
    remaining = np.array([points], dtype=np.int32)
    for _ in range(cells - 1):
        choices = remaining + 1
        starts = np.repeat(np.cumsum(choices) - choices, choices)
        counts = np.arange(choices.sum(), dtype=np.int64) - starts
        rows = np.column_stack((np.repeat(rows, choices, axis=0), counts)).astype(np.int32)
        remaining = (np.repeat(remaining, choices) - counts).astype(np.int32)
    return np.column_stack((rows, remaining)).astype(np.int32)


def _orders(histograms: NDArray[np.int32]) -> Array:
    """How many sequences each histogram has, as a part of the greatest such number."""
    logs = -special.gammaln(histograms + 1.0).sum(axis=1)
    return np.asarray(np.exp(logs - logs.max()))
