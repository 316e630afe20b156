"""Questions of one batch that are the coordinates of one bounded vector, and its ball.

Two batches are: coordinates of a declared vector with an l2 bound, and conditions of which no two
hold in one row, as the bins of a histogram. Which they are is seen from their texts alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from holdfast.described.disjoint import are_disjoint
from holdfast.mechanisms.laws.law import Grid, Law
from holdfast.mechanisms.laws.normal import NORMAL
from holdfast.mechanisms.laws.uniform import UNIFORM
from holdfast.question.expression import Expression
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.vectors import Coordinate
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.vectors import (
    vector_gaussian_log_charge,
    vector_mean_radius,
    vector_uniform_log_charge,
)

__all__ = ["VectorShape", "joint_log_charge", "shape_of"]

_MOST = 256  # questions; of more, every pair would have to be looked at
_ROUNDED = 1 + 2.0**-40  # what doubles may make longer of a vector


class VectorShape(NamedTuple):
    """The set that the vectors of all rows are in, as parts of the range of one coordinate."""

    dimension: int
    diameter: float
    spread: float

    def radius(self, rows: int, log_p: float) -> float:
        """How far the sample's vector may be from the truth (l2), with the rows' rounding."""
        exact = vector_mean_radius(rows, self.diameter, self.spread, min(0.0, log_p))
        return round_up(exact * _ROUNDED + math.sqrt(self.dimension) * GRID_ERROR)


def shape_of(questions: Sequence[Statistic]) -> VectorShape | None:
    """The shape of the vector that the questions are coordinates of; None if they are of none."""
    d = len(questions)
    if not 2 <= d <= _MOST:
        return None
    if _is_one_vector(questions):
        return VectorShape(d, 1.0, 0.5)  # the range is from -bound to bound
    if _exclude_each_other(questions):
        return VectorShape(d, math.sqrt(2.0), math.sqrt(1 - 1 / d))
    return None


def _is_one_vector(questions: Sequence[Statistic]) -> bool:
    first = questions[0]
    return isinstance(first, Coordinate) and all(
        isinstance(each, Coordinate) and (each.vector, each.bound) == (first.vector, first.bound)
        for each in questions
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
    return all(are_disjoint(one, other) for one, other in combinations(trees, 2))


def joint_log_charge(law: Law, d: int, radius: float, grid: Grid) -> float | None:
    """ln kappa of one release of a vector in a ball of this radius; None: the law has no theorem.

    Gaussian noise is rounded to cells after it was added, as the sample's value was before.
    """
    cells = round_up(radius * grid.cells)
    if law == UNIFORM and grid.reach is not None:
        return vector_uniform_log_charge(d, cells, grid.reach)
    if law == NORMAL:
        return vector_gaussian_log_charge(d, round_up((cells + math.sqrt(d) / 2) / grid.scale))
    return None
