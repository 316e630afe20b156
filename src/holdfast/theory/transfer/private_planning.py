"""Laplace noise with the best epsilon: the half-width, the questions or the rows, by search.

Whatever epsilon a search ends at, `private_laplace_half_width` holds there, so every number is on
the safe side. Noise costs N/(n epsilon), N the CVaR of the largest of k noises; the shift is nearly
proportional to epsilon, about sqrt(2 k (1 - ln beta))/4 times it, which says where to look.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from holdfast import require
from holdfast.theory.base.safeside import golden_minimum, largest_integer, round_up
from holdfast.theory.transfer.private_release import (
    composed_private_shift,
    laplace_max_noise,
    private_laplace_half_width,
)

__all__ = [
    "MOST_PRIVATE_LAPLACE",
    "best_private_laplace",
    "private_laplace_questions",
    "private_laplace_rows",
]

MOST_PRIVATE_LAPLACE = 20_000  # answers: the optimal composition of more takes its time
_AROUND = 2.0  # how far ln epsilon may be from the first guess
_STEPS = 16


def best_private_laplace(n: int, k: int, log_beta: float) -> tuple[float, float]:
    """About the best epsilon of one answer, and the half-width that it gives."""
    guess = math.sqrt(laplace_max_noise(k, log_beta) / (n * _slope(k, log_beta)))
    return _least(lambda epsilon: private_laplace_half_width(n, k, epsilon, log_beta), guess)


def private_laplace_questions(n: int, tolerance: float, log_beta: float) -> int:
    """The most questions, up to 20,000, whose half-width on n rows is within the tolerance."""
    n = require.positive_integer("n", n)
    return largest_integer(lambda k: _rows(k, tolerance, log_beta) <= n, most=MOST_PRIVATE_LAPLACE)


def private_laplace_rows(k: int, tolerance: float, log_beta: float) -> int | None:
    """The fewest rows for k questions; None for more than 20,000."""
    k = require.positive_integer("k", k)
    return None if k > MOST_PRIVATE_LAPLACE else math.ceil(_rows(k, tolerance, log_beta))


def _rows(k: int, tolerance: float, log_beta: float) -> float:
    """N/(n epsilon) + shift <= tolerance, solved for n at the epsilon that makes it least."""
    tolerance = require.positive("tolerance", tolerance)

    def missing(epsilon: float) -> float:
        return epsilon * (composed_private_shift(k, epsilon, log_beta) - tolerance)

    _, least = _least(missing, tolerance / (2 * _slope(k, log_beta)))
    return math.inf if least >= 0 else round_up(-laplace_max_noise(k, log_beta) / least, 16)


def _slope(k: int, log_beta: float) -> float:
    return math.sqrt(2 * k * (1.0 - log_beta)) / 4


def _least(function: Callable[[float], float], guess: float) -> tuple[float, float]:
    """(epsilon, value) of the least value near a guess of the epsilon."""
    log_epsilon, value = golden_minimum(
        lambda x: function(math.exp(x)),
        math.log(guess) - _AROUND,
        math.log(guess) + _AROUND,
        steps=_STEPS,
    )
    return math.exp(log_epsilon), value
