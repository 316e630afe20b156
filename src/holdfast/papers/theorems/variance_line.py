"""Median noise with a variance bound for each question: Theorem V2, and the shift of Theorem V1.

Legend
------
n, k, D, a, C, H, theta, F, beta    as in `median_noise`
y           2 sqrt(v), from 0 to 1 (variances of [0, 1] values are at most 1/4)
G(y)        y H(beta y), H with beta y in place of beta:
            G(y) = min_b G_b(y), G_b(y) = (1/2) sqrt((2y + c)^2/(4(1 - b)) - y^2), c = F(b)/beta
kappa0, kappa1    a line above G on (0, 1]

V2. For v_j that depend on j, let G(s) be the weight of the failures with 2 sqrt(v_j) >= s. Given
that weight the bound is G H(beta G) <= kappa0 + kappa1 G; integrate over s.

The line. For each b, G_b is the root of a quadratic of positive discriminant, hence concave in y:
its tangent anywhere lies above G_b, hence above G = min_b G_b, on the whole interval. No grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from holdfast import require
from holdfast.theory.base.safeside import golden_minimum, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.transfer.likelihood_cover import order
from holdfast.theory.transfer.median_width import (
    exact_shift,
    median_max_noise,
    shift_excess,
    variance_between,
)


@theorem(
    source="Holdfast",
    place="section 5b, Theorem V1",
    statement=(
        "If every question's value has variance at most v in every row, declared in advance, the "
        "shift part of Theorem M is 2 sqrt(v) H + theta/beta."
    ),
    domain="as median_shift, 1e-12 <= variance <= 1/4",
    monotone={"variance": "up", "D": "down", "log_beta": "down"},
    slack="as median_shift; at v = 1/4 it is Theorem M",
)
def declared_variance_shift(
    n: int, k: int, D: float, a: int, variance: float, log_beta: float
) -> float:
    """At most 1; H itself is not capped."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    D, a = require.positive("D", D), order(a)
    weight = 2.0 * math.sqrt(variance_between("variance", variance))
    log_beta = require.log_probability("log_beta", log_beta)
    return min(1.0, exact_shift(n, k, D, a, log_beta).bound(weight))


@dataclass(frozen=True, slots=True)
class VarianceLine:
    """Half-widths for questions of different variances, all holding together."""

    noise_part: float
    theta_over_beta: float
    kappa0: float
    kappa1: float

    def half_width(self, variance: float) -> float:
        """D C + theta/beta + kappa0 + 2 kappa1 sqrt(v), v known independently of the answers."""
        v = require.between("variance", variance, 0.0, 0.25)
        shift = self.theta_over_beta + self.kappa0 + 2.0 * self.kappa1 * math.sqrt(v)
        return round_up(self.noise_part + min(1.0, round_up(shift)))


@dataclass(frozen=True, slots=True)
class _Branch:
    """G_b for one b = rho^2."""

    rho: float
    c: float

    def value(self, y: float) -> float:
        b, c = self.rho * self.rho, self.c
        return 0.5 * math.sqrt((b * y * y + c * y + 0.25 * c * c) / (1.0 - b))

    def slope(self, y: float) -> float:
        b = self.rho * self.rho
        return (2.0 * b * y + self.c) / (8.0 * (1.0 - b) * self.value(y))

    def touching(self, slope: float) -> float:
        """The y in [0, 1] at which the slope is nearest to this one."""
        b = self.rho * self.rho
        steep = 4.0 * slope * slope * (1.0 - b) - b  # above 0: G_b's slope falls below it somewhere
        if steep <= 0.0:
            return 1.0
        lead = 1.0 - 4.0 * slope * slope * (1.0 - b)
        y = self.c * lead / (2.0 * steep * (1.0 + 2.0 * slope * (1.0 - b) / math.sqrt(steep)))
        return min(max(y, 0.0), 1.0)


def _best_branch(
    value: Callable[[_Branch], float],
    log_excess: Callable[[float], float],
    m: float,
    ln_beta: float,
) -> _Branch:
    def branch(log_rho: float) -> _Branch:
        rho = math.exp(log_rho)
        return _Branch(rho, math.exp(min(log_excess(rho) - ln_beta, 300.0)))

    far = min(40.0 * m, 0.999)
    log_rho, _ = golden_minimum(
        lambda x: value(branch(x)), math.log(min(0.2 * m, 0.1 * far)), math.log(far), steps=30
    )
    return branch(log_rho)


@theorem(
    source="Holdfast",
    place="section 5b, Theorem V2",
    statement=(
        "With variance bounds v_j known independently of the answers, all median-noise answers are "
        "within D C + theta/beta + kappa0 + 2 kappa1 sqrt(v_j), "
        "kappa0 + kappa1 y being a line above y H(beta y) on (0, 1]."
    ),
    domain="as median_shift, 1e-12 <= aim <= 1/4: the variance at which the line touches",
    slack="none at v = aim beyond that of H(2 beta sqrt(aim)); the line elsewhere",
)
def variance_line(n: int, k: int, D: float, a: int, aim: float, log_beta: float) -> VarianceLine:
    """The tangent of the best G_b at y = 2 sqrt(aim); (1, 0) where the cover says nothing."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    D, a = require.positive("D", D), order(a)
    y = 2.0 * math.sqrt(variance_between("aim", aim))
    log_beta = require.log_probability("log_beta", log_beta)
    noise_part = round_up(D * median_max_noise(k, a, log_beta))
    shift = shift_excess(n, k, D, a, log_beta)
    if shift is None:
        return VarianceLine(noise_part, 0.0, 1.0, 0.0)
    log_excess, m, theta = shift
    best = _best_branch(lambda branch: branch.value(y), log_excess, m, log_beta)
    slope = best.slope(y)
    intercept = max(best.value(y) - slope * y, 0.0) + 1e-12 * best.value(y)
    over = round_up(theta * math.exp(-log_beta))
    return VarianceLine(noise_part, over, round_up(intercept), round_up(slope))


@theorem(
    source="Holdfast",
    place="section 5b, Theorem V2: a line with a given slope",
    statement=(
        "kappa0 + kappa1 y >= y H(beta y) on (0, 1] for the returned kappa0: a declared line "
        "(kappa0, kappa1) is valid if its kappa0 is no smaller."
    ),
    domain="as median_shift, kappa1 >= 0",
    monotone={"kappa1": "down"},
    slack="one b serves for all y: nothing where G is smooth",
)
def least_variance_intercept(
    n: int, k: int, D: float, a: int, kappa1: float, log_beta: float
) -> float:
    """For each b, a tangent near the given slope; the line is raised above it at 0 and at 1."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    D, a = require.positive("D", D), order(a)
    kappa1 = require.non_negative("kappa1", kappa1)
    log_beta = require.log_probability("log_beta", log_beta)
    shift = shift_excess(n, k, D, a, log_beta)
    if shift is None:
        return 1.0

    def intercept(branch: _Branch) -> float:
        y = branch.touching(kappa1)
        value, slope = branch.value(y), branch.slope(y)
        return max(value - slope * y, value + slope * (1.0 - y) - kappa1)

    log_excess, m, _ = shift
    best = _best_branch(intercept, log_excess, m, log_beta)
    return min(1.0, round_up(intercept(best) + 1e-12 * best.value(1.0)))
