"""Uniform noise: every whole number of cells up to the scale, equally likely; or no noise at all.

Without noise the symbol is the sample's value rounded to the grid. An interval of length 2 alpha
meets at most H + 1 cells: the same charge as that of uniform noise of scale 0. Nothing is said here
of the lecture's global count, which charges all cells for every answer and is never narrower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from holdfast.mechanisms.laws.law import Grid
from holdfast.mechanisms.noise import Noise
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.release import RESOLUTION

__all__ = ["NO_NOISE", "UNIFORM", "Uniform"]


@dataclass(frozen=True, slots=True)
class Uniform:
    """Uniform on {-scale, ..., scale}."""

    name: str
    resolution: int
    parts: int = 1

    def draw(self, noise: Noise, scale: int) -> int:
        return noise.uniform(-scale, scale)

    def reach(self, scale: int) -> int:
        return scale

    def error(self, scale: int, log_beta: float) -> float:  # noqa: ARG002 - it is sure
        return scale

    def log_charge(self, radius: float, grid: Grid) -> float:
        """ln(1 + H/(2 scale + 1))."""
        return round_up(math.log1p(grid.steps(radius) / (2 * grid.scale + 1)))


UNIFORM = Uniform("uniform", RESOLUTION)
NO_NOISE = Uniform("rounding", 0)
