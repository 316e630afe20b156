"""Skeleton of a law of noise: the sum of two uniform numbers, on {-scale, ..., scale}.

z has probability (scale + 1 - |z|)/(scale + 1)^2. `Leakage` answers with any law; a charge or an
error that is more than a line is a theorem with its own file (`skeletons/theorem.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice

from holdfast.mechanisms.noise import Grid, Noise
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.release import RESOLUTION


@dataclass(frozen=True, slots=True)
class Triangular:
    """Bounded noise that is rarely large."""

    name: str = "triangular"
    resolution: int = RESOLUTION
    parts: int = 1

    def draw(self, noise: Noise, scale: int) -> int:
        # Exactly, in whole numbers: everything one question draws comes from one iterator.
        first, second = islice(noise.uniforms(0, scale), 2)
        return first + second - scale

    def reach(self, scale: int) -> int:
        # How far the noise can be, surely; None where nothing is sure.
        return scale

    def error(self, scale: int, log_beta: float) -> float:  # noqa: ARG002 - it is sure
        # What the noise exceeds with a probability of at most e^log_beta.
        return scale

    def log_charge(self, radius: float, grid: Grid) -> float:
        # ln kappa, rounded up. A law that falls to both sides of 0 has kappa = 1 + H P[Z = 0].
        return round_up(math.log1p(grid.steps(radius) / (grid.scale + 1)))


TRIANGULAR = Triangular()
