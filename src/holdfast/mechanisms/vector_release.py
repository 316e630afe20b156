"""Release of a vector: the ball that the sample's vector is in, and what one release of it costs.

Three batches are one vector: coordinates of a declared vector with a bound in l1 or l2, means of a
scale that was declared of a whole vector, and conditions of which no two hold in one row, as the
bins of a histogram.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from holdfast.mechanisms.mechanism import Wish
from holdfast.mechanisms.noise import LAPLACE, NORMAL, UNIFORM, Grid, Law, grid_within, tail_part
from holdfast.mechanisms.terms import Terms
from holdfast.question.declaring import Scale
from holdfast.question.expression import Expression
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import ConcentratedMean, Statistic
from holdfast.statistics.vectors import Coordinate, WholeVector
from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.leakage.release import (
    sub_gaussian_vector_l1_radius,
    sub_gaussian_vector_radius,
    vector_gaussian_log_charge,
    vector_laplace_log_charge,
    vector_mean_radius,
    vector_uniform_log_charge,
)

MOST_COORDINATES = 256  # questions; of more, every pair would have to be looked at
_ROUNDED = 1 + 2.0**-40  # what doubles may make longer of a vector


class VectorShape(NamedTuple):
    """The set that the vectors of all rows are in, as parts of the range of one coordinate.

    Its diameters are in the l2 norm and in the l1 norm.
    """

    dimension: int
    diameter: float
    spread: float
    l1_diameter: float

    def radius(self, rows: int, log_p: float, law: Law) -> float:
        """Radius of the sample's vector around the truth, with the rows' rounding; in the norm that
        the noise is charged by: l1 for Laplace noise, l2 for others."""
        root = math.sqrt(self.dimension)
        if law == LAPLACE:
            size, spread, roundings = self.l1_diameter, self.spread * root, float(self.dimension)
        else:
            size, spread, roundings = self.diameter, self.spread, root
        exact = vector_mean_radius(rows, size, spread, log_p)
        return round_up(exact * _ROUNDED + roundings * GRID_ERROR)


@dataclass(frozen=True, slots=True)
class ScaledShape:
    """A vector of a declared scale: `sigma` as a part of the range that its values are read in.

    `log_row` is ln of the probability that one value of a row is too far for that range.
    """

    dimension: int
    norm: str
    sigma: float
    log_row: float

    def radius(self, rows: int, log_p: float, law: Law) -> float:
        """Radius of the sample's vector around the truth, as that of a vector with a bound.

        Signs have the length sqrt(d), and who is sub-Gaussian for all signs is in every direction.
        """
        beyond = math.log(self.dimension * rows) + self.log_row - log_p
        if beyond >= -1.0:
            return math.inf  # to be read in a window fails as often
        log_p = round_down(log_p + math.log1p(-math.exp(beyond)))
        d, root = self.dimension, math.sqrt(self.dimension)
        in_l2 = sub_gaussian_vector_radius(rows, d, self.sigma, log_p)
        if law != LAPLACE:
            return round_up(in_l2 * _ROUNDED + root * 2 * GRID_ERROR)
        signs = self.sigma if self.norm == "l1" else round_up(self.sigma * root)
        in_l1 = min(sub_gaussian_vector_l1_radius(rows, d, signs, log_p), in_l2 * root)
        return round_up(in_l1 * _ROUNDED + d * 2 * GRID_ERROR)


def scaled_shape(wishes: Sequence[Wish]) -> ScaledShape | None:
    """The shape of the vector of a declared scale that these are the coordinates of, or none."""
    first = wishes[0].question
    if not 2 <= len(wishes) <= MOST_COORDINATES or wishes[0].vector is None:
        return None
    whole = WholeVector.of_text(wishes[0].vector)
    if whole.sigma is None or whole.norm == "linf" or not isinstance(first, ConcentratedMean):
        return None
    for wish in wishes:
        each = wish.question
        alike = isinstance(each, ConcentratedMean) and each.unbounded and each.scale == first.scale
        if not alike or wish.vector != wishes[0].vector:
            return None
    if first.scale != Scale(whole.sigma):
        return None
    return scaled_shape_of(len(wishes), whole.norm, first.unit(1))


def scaled_shape_of(d: int, norm: str, unit: float) -> ScaledShape:
    """The shape of a vector whose coordinates are read in a range of which this is 2 sigma."""
    sigma = round_up(unit / 2)
    far = SubGaussian(sigma).log_tail(0.25)  # a quarter of the window, which is the range
    return ScaledShape(d, norm, sigma, far)


def shape_of(questions: Sequence[Statistic]) -> VectorShape | None:
    """The shape of the vector that the questions are coordinates of; None if they are of none."""
    d = len(questions)
    if not 2 <= d <= MOST_COORDINATES:
        return None
    first = questions[0]
    if isinstance(first, Coordinate) and _is_one_vector(questions):
        return shape_within(d, first.norm)
    if _exclude_each_other(questions):
        return VectorShape(d, math.sqrt(2.0), math.sqrt(1 - 1 / d), 2.0)
    return None


def shape_within(d: int, norm: str) -> VectorShape:
    """The ball of a norm, in parts of the range of a coordinate: from -bound to bound."""
    return VectorShape(d, 1.0, 0.5, 1.0 if norm == "l1" else round_up(math.sqrt(d)))


def _is_one_vector(questions: Sequence[Statistic]) -> bool:
    first = questions[0]
    return isinstance(first, Coordinate) and all(
        isinstance(each, Coordinate) and each.of_vector == first.of_vector for each in questions
    )


def _exclude_each_other(questions: Sequence[Statistic]) -> bool:
    conditions = [
        each.row.source
        for each in questions
        if isinstance(each, Mean) and each.row.is_condition and each.variance is None
    ]
    trees = [each for each in conditions if isinstance(each, Expression)]
    if len(trees) < len(questions):
        return False
    from holdfast.statistics.mean_rules import are_disjoint  # rules that a plan does not need

    return all(are_disjoint(first, second) for first, second in combinations(trees, 2))


def joint_log_charge(law: Law, d: int, radius: float, grid: Grid) -> float | None:
    """ln kappa of one release of a vector in a ball of this radius; None: the law has no theorem.

    Gaussian noise is rounded to cells after it was added, as the sample's value was before; Laplace
    noise is a whole number of cells, and a sum over cells is below the integral with a cell more in
    each coordinate, half of it the rounding of the sample's value.
    """
    cells = round_up(radius * grid.cells)
    if law == LAPLACE:
        return vector_laplace_log_charge(d, round_up((cells + d) / grid.scale))
    if law == UNIFORM and grid.reach is not None:
        return vector_uniform_log_charge(d, cells, grid.reach)
    if law == NORMAL:
        return vector_gaussian_log_charge(d, round_up((cells + math.sqrt(d) / 2) / grid.scale))
    return None


class Together(NamedTuple):
    """One release of a vector: its grid, the level of a coordinate, its ball, and its charge."""

    grid: Grid
    log_p: float
    log_ball: float
    ball: float
    charge: float


def released_together(
    law: Law,
    terms: Terms,
    shape: VectorShape | ScaledShape,
    radius: Callable[[float], float],
    tolerance: float,
    log_all: float,
    nats: float,
) -> Together | None:
    """The release of a vector that has e^`log_all` of the failure probability, or none."""
    d, log_half = shape.dimension, math.log((1 - tail_part(law)) / 2)
    log_ball = round_down(log_all + log_half - nats)
    log_p, log_tail = round_down(log_ball - math.log(d)), round_down(log_all - math.log(2 * d))
    room = Fraction(tolerance) - Fraction(radius(log_p))
    if room <= 0:
        return None
    grid = grid_within(law, room, log_tail)
    ball = shape.radius(terms.rows, log_ball, law)
    charge = joint_log_charge(law, d, ball, grid) if math.isfinite(ball) else None
    return None if charge is None else Together(grid, log_p, log_ball, ball, charge)
