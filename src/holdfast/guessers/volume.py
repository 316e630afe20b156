"""A version space of all distributions on a domain, sampled: the Median mechanism for more cells.

The distributions that agree with the answers are a convex set: those of the simplex whose values
are near what was revealed. Many points wander in it at once, each by moving mass between two cells
as far as the set goes, to anywhere on that way with equal probability; the uniform law is the one
that this leaves as it is. When an answer removes points, the others take their places and all
wander on. A guess is the median of the question over the points.

How good it is rests on the points being as if drawn independently, which nobody proves of so many
moves. No interval rests on it: a worse median means more surprises, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from holdfast.guessers.domain import Domain, Face
from holdfast.theory.base.bets import Array
from holdfast.theory.base.intervals import Interval

__all__ = ["MOST_SAMPLED_CELLS", "DistributionSpace", "all_distributions"]

MOST_SAMPLED_CELLS = 256
_MOVES = 8  # of each point for each cell, after points were removed
_ROUNDING = 1e-12


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

    def told(self, face: Face, revealed: Interval) -> DistributionSpace:
        """The points after an answer: those further than alpha from what it reveals are gone."""
        cells = _cells(face)
        ends = np.array([revealed.low - self.alpha, revealed.high + self.alpha])
        values = self.points @ cells
        inside = (values >= ends[0] - _ROUNDING) & (values <= ends[1] + _ROUNDING)
        if inside.all():
            return self
        smaller = replace(
            self,
            questions=np.vstack((self.questions, cells)),
            ends=np.vstack((self.ends, ends)),
        )
        return smaller._moved(self.points[inside])

    def _moved(self, left: Array) -> DistributionSpace:
        """As many points as before, from those that are left, moved about."""
        start = left if left.size else self._anywhere()
        if not start.size:
            return replace(self, points=start)
        address = self.seed + len(self.questions).to_bytes(8, "big")
        rng = np.random.default_rng(int.from_bytes(blake2b(address).digest(), "big"))
        chosen = rng.integers(0, len(start), len(self.points))
        points = start[chosen]
        for _ in range(_MOVES * self.domain.size):
            points = _shifted(points, self.questions, self.ends, rng)
        return replace(self, points=points)

    def _anywhere(self) -> Array:
        """A distribution that agrees with all answers, where no point was left; or none."""
        from scipy import optimize  # it takes a command longer to load than a question to answer

        size = self.domain.size
        room = np.ones((len(self.questions), 1))
        # As far inside as can be: every end is kept by the same distance.
        found = optimize.linprog(
            np.append(np.zeros(size), -1.0),
            A_ub=np.vstack((np.hstack((self.questions, room)), np.hstack((-self.questions, room)))),
            b_ub=np.concatenate((self.ends[:, 1], -self.ends[:, 0])),
            A_eq=np.append(np.ones(size), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0, 1)] * size + [(0, None)],
        )
        return found.x[None, :size] if found.status == 0 else np.empty((0, size))


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


def _shifted(points: Array, questions: Array, ends: Array, rng: np.random.Generator) -> Array:
    """Every point after mass was moved between two of its cells, as far as it may be."""
    many, cells = points.shape
    rows = np.arange(many)
    taken, given = _pairs(many, cells, rng)
    least, most = -points[rows, given], points[rows, taken].copy()
    if len(questions):
        slopes = (questions[:, given] - questions[:, taken]).T
        values = points @ questions.T
        with np.errstate(divide="ignore", invalid="ignore"):
            to_low, to_high = (ends[:, 0] - values) / slopes, (ends[:, 1] - values) / slopes
        flat = slopes == 0.0
        near = np.where(flat, -np.inf, np.minimum(to_low, to_high))
        far = np.where(flat, np.inf, np.maximum(to_low, to_high))
        least, most = np.maximum(least, near.max(axis=1)), np.minimum(most, far.min(axis=1))
    # A point on the edge, by rounding a little outside, stays where it is.
    least, most = np.minimum(least, 0.0), np.maximum(most, 0.0)
    step = least + (most - least) * rng.random(many)
    moved = points.copy()
    moved[rows, taken] -= step
    moved[rows, given] += step
    return np.maximum(moved, 0.0)


def _pairs(
    many: int, cells: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two different cells for each point."""
    one = rng.integers(0, cells, many)
    return one, (one + rng.integers(1, cells, many)) % cells
