"""Median noise in integers all the way: what is drawn, what is reported, what it leaks.

Legend
------
n, B        rows; row values are multiples of 1/B, so that the sum S of a question is a whole number
M           the noise is the median of 2a + 1 independent uniform integers on {-M, ..., M - 1}
D           M/(n B), the bound of the real noise that the integer noise is the floor of
alpha       radius of the question in the leakage ledger (section 3)

floor(S + M V) = S + floor(M V), and the floor of a median is the median of the floors: the integer
release is a post-processing of the real mechanism q + D V, so Theorem M holds for it as it is. The
reported (Z + 1/2)/(n B) is within 1/(2 n B) of the real answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from holdfast import require
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.transfer.likelihood_cover import order, peak_density

__all__ = ["MedianRelease", "median_noise_log_charge", "median_noise_release"]


@dataclass(frozen=True, slots=True)
class MedianRelease:
    """Draw integers from {-M, ..., M - 1}; every half-width grows by `extra_half_width`."""

    n: int
    B: int
    M: int
    extra_half_width: float

    @property
    def D(self) -> Fraction:
        """The bound of the real noise, at least the one that was asked for."""
        return Fraction(self.M, self.n * self.B)

    def answer(self, total: int, median: int) -> Fraction:
        """The reported number for the exact sum `total` and a drawn median."""
        return Fraction(2 * (total + median) + 1, 2 * self.n * self.B)


@theorem(
    source="Holdfast",
    place="section 5b, Release in integers",
    statement=(
        "With M = ceil(n B D) and the median of 2a + 1 uniform integers on {-M, ..., M - 1}, the "
        "half-width of Theorem M for noise bound D holds after adding M/(n B) - D + 1/(2 n B)."
    ),
    domain="n, B >= 1, D > 0; values are multiples of 1/B",
    slack="C <= 1 for the rounding of D up: at most 1/(n B)",
)
def median_noise_release(n: int, B: int, D: float) -> MedianRelease:
    """A larger noise bound only hides more, so H at D serves for the D that is a multiple."""
    n, B = require.positive_integer("n", n), require.positive_integer("B", B)
    bound = Fraction(require.positive("D", D))
    M = math.ceil(bound * n * B)
    extra = Fraction(2 * M + 1, 2 * n * B) - bound
    return MedianRelease(n, B, M, round_up(float(extra)))


@theorem(
    source="Holdfast",
    place="section 5b, Leakage charge",
    statement=(
        "An integer median-noise answer that enters the leakage ledger is charged "
        "kappa = 1 + 2 (alpha + 1/(2 n B)) f_a(0)/D, f_2(0) = 15/16, f_3(0) = 35/32."
    ),
    domain="radius >= 0, n, B >= 1, D > 0, 2 <= a <= 7",
    monotone={"radius": "up", "n": "down", "B": "down", "D": "down", "a": "up"},
    slack="1/(2 n B) is not needed when the centres S are the only ones possible",
)
def median_noise_log_charge(radius: float, n: int, B: int, D: float, a: int) -> float:
    """ln kappa: the envelope of a unimodal density over centres 2 (alpha + ...) apart."""
    alpha = require.non_negative("radius", radius)
    n, B = require.positive_integer("n", n), require.positive_integer("B", B)
    D, a = require.positive("D", D), order(a)
    spread = 2.0 * alpha + 1.0 / (n * B)
    return round_up(math.log1p(spread * peak_density(a) / D), 16)
