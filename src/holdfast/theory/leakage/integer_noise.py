"""Noise in whole numbers that is not bounded: discrete Laplace and rounded Gaussian.

The sample's value q is put on a public grid of pitch 1/G, and a whole number Z of cells is added.
While q moves over [theta - alpha, theta + alpha], its cell moves over at most
H + 1 = ceil(2 alpha G) + 1 neighbouring cells. For a law that falls to both sides of 0 the sum over
z of the largest probability of z among those cells is 1 + H P[Z = 0]: that is the charge kappa.

Legend
    spanned     H, the number of steps that the sample's cell can make
    scale       T of the discrete Laplace law, P[Z = z] = tanh(1/(2T)) e^{-|z|/T}; or the standard
                deviation S of the normal law that is rounded to the nearest whole number
    beta        a probability that the noise exceeds its error, as ln beta
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.nats import gaussian_noise_error

__all__ = [
    "discrete_laplace_log_charge",
    "discrete_laplace_noise_error",
    "rounded_gaussian_log_charge",
    "rounded_gaussian_noise_error",
]


@theorem(
    source="Holdfast",
    place="Section 3, charges: Laplace noise on a grid",
    statement="A cell that can make H steps plus discrete Laplace noise of scale T is charged "
    "kappa = 1 + H tanh(1/(2T)).",
    domain="spanned >= 0, scale >= 1, whole numbers",
    monotone={"spanned": "up", "scale": "down"},
    slack="none; at most H/(2T), the continuous alpha/b with the radius rounded up to cells",
)
def discrete_laplace_log_charge(spanned: int, scale: int) -> float:
    """ln(1 + H tanh(1/(2T)))."""
    H = require.integer_at_least("spanned", spanned, 0)
    T = require.positive_integer("scale", scale)
    return round_up(math.log1p(H * math.tanh(0.5 / T)), 8)


@theorem(
    source="Holdfast",
    place="Section 3, the tail of Laplace noise on a grid",
    statement="Discrete Laplace noise of scale T exceeds T ln(1/beta) + 1/2 with probability at "
    "most beta.",
    domain="scale >= 1, log_beta <= 0",
    monotone={"scale": "up", "log_beta": "down"},
    slack="less than one cell",
)
def discrete_laplace_noise_error(scale: int, log_beta: float) -> float:
    """T ln(1/beta) + 1/2, in cells.

    With r = e^{-1/T}, P[|Z| > x] = 2 r^{floor(x) + 1}/(1 + r) <= r^x 2/(1 + r), and 2/(1 + r) is at
    most e^{1/(2T)}: |Z| is stochastically below |Y| + 1/2 for a Laplace variable Y of scale T.
    """
    T = require.positive_integer("scale", scale)
    return round_up(0.5 - T * require.log_probability("log_beta", log_beta))


@theorem(
    source="Holdfast",
    place="Section 3, charges: Gaussian noise on a grid",
    statement="A cell that can make H steps plus N(0, S^2) noise rounded to whole cells is charged "
    "kappa = 1 + H P[|N(0, S^2)| < 1/2].",
    domain="spanned >= 0 (a whole number), scale > 0",
    monotone={"spanned": "up", "scale": "down"},
    slack="none; at most H/(S sqrt(2 pi)), the continuous form with the radius rounded up to cells",
)
def rounded_gaussian_log_charge(spanned: int, scale: float) -> float:
    """ln(1 + H erf(1/(2 sqrt(2) S)))."""
    H = require.integer_at_least("spanned", spanned, 0)
    S = require.positive("scale", scale)
    return round_up(math.log1p(H * math.erf(0.5 / (math.sqrt(2.0) * S))), 8)


@theorem(
    source="Holdfast",
    place="Section 3, the tail of Gaussian noise on a grid",
    statement="N(0, S^2) noise rounded to whole cells exceeds S Phi^{-1}(1 - beta/2) + 1/2 with "
    "probability at most beta.",
    domain="scale > 0, log_beta <= 0",
    monotone={"scale": "up", "log_beta": "down"},
    slack="less than one cell",
)
def rounded_gaussian_noise_error(scale: float, log_beta: float) -> float:
    """S Phi^{-1}(1 - beta/2) + 1/2, in cells: rounding moves the noise by half a cell at most."""
    return round_up(gaussian_noise_error(scale, log_beta) + 0.5)
