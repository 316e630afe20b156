"""The discrete Laplace law of scale T, drawn exactly: z has probability tanh(1/(2T)) e^{-|z|/T}.

It is drawn after Canonne, Kamath and Steinke (2020), Algorithm 2: no floating point, no table;
e^{-x} is the probability that von Neumann's falling run of uniform numbers is of odd length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.mechanisms.laws.law import Grid, below, words_of
from holdfast.mechanisms.noise import Noise
from holdfast.theory.leakage.release import (
    RESOLUTION,
    discrete_laplace_log_charge,
    discrete_laplace_noise_error,
)

__all__ = ["LAPLACE", "Laplace", "discrete_laplace", "happens_with_exp"]


def happens_with_exp(words: Iterator[int], numerator: int, denominator: int) -> bool:
    """An event of probability e^{-numerator/denominator}, for a ratio from 0 to 1."""
    run = 1
    while below(words, denominator * run) < numerator:
        run += 1
    return run % 2 == 1


def discrete_laplace(words: Iterator[int], scale: int) -> int:
    """A whole number z with probability proportional to e^{-|z|/scale}."""
    while True:
        rest = below(words, scale)
        if not happens_with_exp(words, rest, scale):
            continue
        wholes = 0
        while happens_with_exp(words, 1, 1):
            wholes += 1
        size, negative = rest + scale * wholes, below(words, 2) == 1
        if size or not negative:  # 0 has no second sign
            return -size if negative else size


@dataclass(frozen=True, slots=True)
class Laplace:
    """Discrete Laplace noise."""

    name: str = "laplace"
    resolution: int = RESOLUTION
    parts: int = 1

    def draw(self, noise: Noise, scale: int) -> int:
        return discrete_laplace(words_of(noise), scale)

    def reach(self, scale: int) -> None:
        """Nothing is sure."""

    def error(self, scale: int, log_beta: float) -> float:
        return discrete_laplace_noise_error(scale, log_beta)

    def log_charge(self, radius: float, grid: Grid) -> float:
        return discrete_laplace_log_charge(grid.steps(radius), grid.scale)


LAPLACE = Laplace()
