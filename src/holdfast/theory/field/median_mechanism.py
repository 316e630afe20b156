"""The Median mechanism (lecture 4): parameters, printed and repaired, and mistake bounds.

The guess for a question is the weighted median of its value over a version space of small data sets
(histograms of n' points on a domain of N values). A mistake halves the space, and one small data
set that is close to the sample on every question is never removed.

Symbols: eta the accuracy of a guess that is accepted, alpha the accuracy of the best small data
set, rho the rounding error of a correction, theta the removal threshold, n' points, N = |X| values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.base.theorem import Erratum, theorem

__all__ = [
    "MedianParameters",
    "histogram_mistakes",
    "median_parameters",
    "median_parameters_printed",
    "sequence_mistakes",
]


@dataclass(frozen=True, slots=True)
class MedianParameters:
    """What a run of the Median mechanism is set up with."""

    eta: float
    alpha: float
    rho: float
    theta: float
    points: int
    mistakes: int


@theorem(
    source="L4",
    place="MedianMechanism, auxiliary claim and Claim 1 (repaired)",
    statement="Any alpha, rho, theta with alpha + rho <= theta <= eta - rho keep the best small "
    "data set and halve the version space at each mistake; alpha = eta - 2 rho, theta = eta - "
    "rho and n' > ln(2k)/(2 alpha^2) points suffice.",
    domain="k >= 1, N >= 2, eta > 0, 0 <= rho < eta/2",
    monotone={"k": "up", "N": "up", "eta": "down", "rho": "up"},
    slack="the union over k questions in the existence of the small data set",
    printed="median_parameters_printed",
    errata=(
        Erratum(
            "L4",
            "MedianMechanism, step 1",
            "n' = 8 ln(4k)/eta^2 = 8 sqrt(ln(4k)) 2n",
            "8 sqrt(2 n ln(4k))",
            "With eta = (ln(4k)/(2n))^{1/4}, eta^2 = sqrt(ln(4k)/(2n)), and 8 ln(4k)/eta^2 = "
            "8 sqrt(2 n ln(4k)): 2n belongs under the root.",
        ),
        Erratum(
            "L4",
            "MedianMechanism, step 1",
            "number of guesses m = n' log|X|",
            "m = floor(n' log2|X|) mistakes; halt on mistake m + 1",
            "Each mistake halves the version space, so the logarithm is to base 2, and it counts "
            "refuted guesses, not guesses.",
        ),
        Erratum(
            "L4",
            "MedianMechanism, proof of Theorem 2",
            "alpha = eta/4, rounding error eta/4, removal at eta/2",
            "alpha + rho <= theta <= eta - rho",
            "The fixed quarters waste up to 9 times the points: with rho = eta/8, alpha = 3 eta/4 "
            "works and n' falls as 1/alpha^2.",
        ),
    ),
)
def median_parameters(k: int, N: int, eta: float, rho: float = 0.0) -> MedianParameters:
    """The repaired parameters for k questions on a domain of N values; histogram weights."""
    k, N = require.positive_integer("k", k), require.integer_at_least("N", N, 2)
    eta = require.positive("eta", eta)
    rho = require.non_negative("rho", rho)
    if not 2 * rho < eta:
        raise InvalidArgument(f"rho is {rho!r} and eta is {eta!r}; rho must be below eta/2.")
    theta = round_down(eta - rho, 1)
    alpha = round_down(theta - rho, 1)
    points = math.floor(math.log(2 * k) / (2 * alpha**2)) + 1
    return MedianParameters(eta, alpha, rho, theta, points, histogram_mistakes(points, N))


@theorem(
    source="L4",
    place="MedianMechanism, step 1, printed",
    statement="Printed: eta = (ln(4k)/(2n))^{1/4}, n' = 8 ln(4k)/eta^2, m = n' log2|X|, with "
    "alpha = rho = eta/4 and removal at eta/2 (2n read under the root, log to base 2).",
    domain="n >= 1, k >= 1, N >= 2",
    monotone={"N": "up"},
    slack="about 9 to 16 times the points needed",
)
def median_parameters_printed(n: int, k: int, N: int) -> MedianParameters:
    """The lecture's parameters, with its two slips read as they must be meant."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    N = require.integer_at_least("N", N, 2)
    log_4k = math.log(4 * k)
    eta = (log_4k / (2 * n)) ** 0.25
    points = math.ceil(8 * log_4k / eta**2)
    return MedianParameters(eta, eta / 4, eta / 4, eta / 2, points, sequence_mistakes(points, N))


@theorem(
    source="L4",
    place="Theorem 2, conclusion",
    statement="With weights over sequences X^{n'} there are at most floor(n' log2 N) mistakes.",
    domain="points >= 1, N >= 1",
    monotone={"points": "up", "N": "up"},
    slack="counts the same histogram once per ordering",
)
def sequence_mistakes(points: int, N: int) -> int:
    """floor(n' log2 N)."""
    points, N = require.positive_integer("points", points), require.positive_integer("N", N)
    return math.floor(round_up(points * math.log2(N)))


@theorem(
    source="Holdfast",
    place="Section 4, Median mechanism",
    statement="With uniform weights over histograms of n' points on N values there are at most "
    "log2 C(n' + N - 1, N - 1) mistakes.",
    domain="points >= 1, N >= 1",
    monotone={"points": "up", "N": "up"},
    slack="a histogram space is smaller than the sequence space by up to n'!",
)
def histogram_mistakes(points: int, N: int) -> int:
    """floor(log2 C(n' + N - 1, N - 1))."""
    points, N = require.positive_integer("points", points), require.positive_integer("N", N)
    log_count = -float(special.betaln(points + 1, N)) - math.log(points + N)
    # The count is a whole number's logarithm: the allowance covers the error of betaln.
    return math.floor(log_count / math.log(2) * (1 + 1e-12) + 1e-9)
