"""Noise laws of whole numbers: discrete Laplace, drawn exactly here, and the rounded normal law.

The discrete Laplace law of scale T gives z the probability tanh(1/(2T)) e^{-|z|/T}. It is drawn
after Canonne, Kamath and Steinke (2020), Algorithm 2: no floating point, no table; e^{-x} is the
probability that von Neumann's falling run of uniform numbers is of odd length. The words that come
in are as in `normal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.normal import WORD, rounded_normal
from holdfast.theory.leakage.integer_noise import (
    discrete_laplace_log_charge,
    discrete_laplace_noise_error,
    rounded_gaussian_log_charge,
    rounded_gaussian_noise_error,
)

__all__ = [
    "GAUSSIAN",
    "LAPLACE",
    "NoiseLaw",
    "below",
    "discrete_laplace",
    "happens_with_exp",
    "words_of",
]

_BITS = WORD.bit_length() - 1


def words_of(noise: Noise) -> Iterator[int]:
    """The stream of one question; everything that it draws must come from one such iterator."""
    return noise.uniforms(0, WORD - 1)


def below(words: Iterator[int], span: int) -> int:
    """0, ..., span - 1, each equally likely, by rejection."""
    count = -(-span.bit_length() // _BITS) + 1  # one word more: a rejection is rarer than 2^-64
    limit = (1 << (_BITS * count)) // span * span
    while True:
        drawn = 0
        for _ in range(count):
            drawn = drawn << _BITS | next(words)
        if drawn < limit:
            return drawn % span


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
class NoiseLaw:
    """A law of whole numbers with a scale, and what a release with it costs and may be off."""

    name: str
    draw: Callable[[Iterator[int], int], int]
    log_charge: Callable[[int, int], float]  # of a cell that can make so many steps
    error: Callable[[int, float], float]  # in cells, exceeded with a probability of e^{log_beta}


LAPLACE = NoiseLaw(
    "laplace", discrete_laplace, discrete_laplace_log_charge, discrete_laplace_noise_error
)
GAUSSIAN = NoiseLaw(
    "gaussian", rounded_normal, rounded_gaussian_log_charge, rounded_gaussian_noise_error
)
