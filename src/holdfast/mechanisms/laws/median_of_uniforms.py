"""The median of 2a + 1 uniform whole numbers on {-M, ..., M - 1} units, at the middle of its unit.

A cell is half a unit, so that the middle of one is a cell: the noise is twice the median, plus 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from holdfast.mechanisms.laws.law import Grid
from holdfast.mechanisms.noise import Noise
from holdfast.theory.base.safeside import round_down
from holdfast.theory.leakage.release import RESOLUTION
from holdfast.theory.transfer.median_width import median_noise_log_charge

__all__ = ["Median"]


@dataclass(frozen=True, slots=True)
class Median:
    """`order` is a; the scale is M, in units of two cells."""

    order: int
    name: str = "median"
    resolution: int = RESOLUTION
    parts: int = 2

    def draw(self, noise: Noise, scale: int) -> int:
        uniforms = sorted(islice(noise.uniforms(-scale, scale - 1), 2 * self.order + 1))
        return 2 * uniforms[self.order] + 1

    def reach(self, scale: int) -> int:
        return 2 * scale + 1  # twice the noise, and the unit to which the sum was rounded down

    def error(self, scale: int, log_beta: float) -> float:  # noqa: ARG002 - it is sure
        return self.reach(scale)

    def log_charge(self, radius: float, grid: Grid) -> float:
        units = int(grid.cells) // self.parts
        bound = round_down(grid.scale / units)
        return median_noise_log_charge(radius, units, 1, bound, self.order)
