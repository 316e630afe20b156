"""Theorem 6.1 with its best parameters: the half-width of k adaptive concentrated questions.

For any concentration (sub-Gaussian, sub-exponential, low sensitivity, any gamma_n) and both noises,
by each of the chains of `accuracy`. The search is over (tau', eta, beta2), or for the leakage chain
over (eta, beta2), with nu as large as the failure probability allows; whatever
it finds is confirmed by the chain's own failure bound, so it is valid, the best or not.

Legend
    k, beta     the number of questions, the failure probability of all of them together
    profile     the concentration of every question; the half-width is in its unit
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import get_args

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import Concentration, SubGaussian
from holdfast.theory.base.safeside import (
    golden_minimum,
    largest_true,
    log1mexp,
    log_add,
)
from holdfast.theory.base.theorem import theorem
from holdfast.theory.typical.accuracy_noises import (
    NOISES,
    Accuracy,
    AccuracyNoise,
    GaussianAnswers,
    LaplaceAnswers,
)
from holdfast.theory.typical.composition import log_geometric_sum

__all__ = ["direct_accuracy", "leakage_accuracy", "literal_accuracy"]

_UNIT = SubGaussian(1.0)
_LOG2 = math.log(2.0)
_LARGEST_TAU = math.log(0.02)  # of tau', so that the tied tau is at most eta/50

_Noise = LaplaceAnswers | GaussianAnswers


@dataclass(frozen=True, slots=True)
class _Chain:
    """e^{eta_factor eta*} k nu + tau_factor tau* + beta2, with tau* = nu*."""

    noise: _Noise
    printed: bool

    @property
    def eta_factor(self) -> float:
        return 2.0 if self.printed else 1.0

    @property
    def tau_factor(self) -> float:
        return 13.0 if self.printed else 2.0

    def largest_log_eta(self, k: int, log_tau_prime: float) -> float:
        """Where the chain's hypothesis on eta ends."""
        if not self.printed:
            return math.log(self.noise.largest_eta)

        def fits(eta: float) -> bool:
            return 2 * self.noise.eta_star(k, eta, log_tau_prime) < 1

        # What tau and tau' add to eta* is below 1 where they are what a promise needs.
        least = 1e-12
        return math.log(largest_true(fits, least, 1.0, relative=1e-6)) if fits(least) else -math.inf

    def largest_log_nu(self, k: int, eta: float, log_tau_prime: float) -> Callable[[float], float]:
        """ln R -> ln nu with e^{c eta*} k nu + d tau* = R, up to rounding; -inf if there is none.

        For v = nu (1 + sum e^{eta_t}) and g = k tau' (three times that with tau_hat) this is
        A v + B sqrt(g + v) = R: a quadratic equation, whose smaller root
        2 (R^2 - B^2 g)/(2 R A + B^2 + B sqrt(B^2 + 4 R A + 4 A^2 g)) has no cancellation and is
        found with logarithms.
        """
        star = self.noise.composed(k, eta, log_tau_prime)
        log_divisor = math.log(self.noise.divisor * eta)
        log_ones = 2 * (star.log_tau - math.log(5)) + log_divisor
        a = self.eta_factor * star.eta + math.log(k) - log_ones
        b = math.log(5 * self.tau_factor) - 0.5 * log_divisor
        g = math.log(k) + math.log(self.noise.masses) + log_tau_prime

        def solve(r: float) -> float:
            if 2 * r <= 2 * b + g:
                return -math.inf
            root = 0.5 * log_add(2 * b, math.log(4) + r + a, math.log(4) + 2 * a + g)
            below = log_add(math.log(2) + r + a, 2 * b, b + root)
            above = math.log(2) + 2 * r + log1mexp(2 * b + g - 2 * r)
            return min(0.0, above - below - log_ones)

        return solve

    def least_log_eta(self, k: int, log_tau_prime: float, log_beta: float) -> float:
        """tau* is at least 5 sqrt(mass/(divisor eta)), which must leave something of beta."""
        log_mass = math.log(k * self.noise.masses / self.noise.divisor) + log_tau_prime
        return log_mass + 2 * (math.log(5 * self.tau_factor) - log_beta)

    def best(self, k: int, log_beta: float, profile: Concentration) -> Accuracy:
        """The least half-width over (tau', eta, beta2), with nu as large as the failure allows."""
        log_k = math.log(k)

        def best_share(log_tau_prime: float, log_eta: float) -> tuple[float, float]:
            eta = math.exp(log_eta)
            largest_log_nu = self.largest_log_nu(k, eta, log_tau_prime)
            error = self.noise.errors(eta, self.noise.log_tau(eta, log_tau_prime), self.printed)

            def width(share: float) -> float:
                log_nu = largest_log_nu(log_beta + math.log1p(-share))
                if log_nu == -math.inf:
                    return math.inf
                log_each = log_beta + math.log(share) - log_k
                return _at_radius(profile, log_nu, lambda alpha: alpha * (1 + error(log_each)))

            least = self.least_log_eta(k, log_tau_prime, log_beta)
            return golden_minimum(width, 0.0, -math.expm1(0.5 * (least - log_eta)), steps=10)

        def best_log_eta(log_tau_prime: float) -> tuple[float, float]:
            high = self.largest_log_eta(k, log_tau_prime)
            if self.printed:  # its hypothesis 2 eta* < 1 is what keeps eta small
                return high, best_share(log_tau_prime, high)[1]
            low = self.least_log_eta(k, log_tau_prime, log_beta)
            return golden_minimum(lambda x: best_share(log_tau_prime, x)[1], low, high, steps=12)

        largest = largest_true(
            lambda log_tau_prime: (
                self.least_log_eta(k, log_tau_prime, log_beta)
                < self.largest_log_eta(k, log_tau_prime)
            ),
            -100.0 - 4 * (log_k - log_beta),
            _LARGEST_TAU,
            relative=1e-9,
        )
        log_tau_prime, _ = golden_minimum(
            lambda x: best_log_eta(x)[1], 1.5 * largest - 50, largest, steps=12
        )
        log_eta, _ = best_log_eta(log_tau_prime)
        share, _ = best_share(log_tau_prime, log_eta)
        eta, log_beta2 = math.exp(log_eta), log_beta + math.log(share)
        log_nu = self.largest_log_nu(k, eta, log_tau_prime)(log_beta + math.log1p(-share))
        log_tau = self.noise.log_tau(eta, log_tau_prime)

        def accuracy(log_nu: float) -> Accuracy:
            return Accuracy(math.inf, eta, log_nu, log_tau_prime, log_beta2, log_tau)

        return _confirmed(
            accuracy,
            log_nu,
            lambda found: self.noise.log_failure(k, found, self.printed) <= log_beta,
            lambda found: _at_radius(
                profile,
                found.log_nu,
                lambda alpha: self.noise.half_width(k, alpha, found, self.printed),
            ),
        )


def _at_radius(profile: Concentration, log_nu: float, width: Callable[[float], float]) -> float:
    """The width at a question's radius; infinite where a declared tail ends before this level."""
    try:
        return width(profile.radius(log_nu))
    except InvalidArgument:
        return math.inf


def _confirmed(
    accuracy: Callable[[float], Accuracy],
    log_nu: float,
    holds: Callable[[Accuracy], bool],
    width: Callable[[Accuracy], float],
) -> Accuracy:
    """With nu lowered, if rounding needs it, until the failure bound holds; then its half-width."""
    step = 1e-13 * max(1.0, -log_nu)
    while not holds(accuracy(log_nu)):
        log_nu, step = log_nu - step, 2 * step
    found = accuracy(log_nu)
    return replace(found, half_width=width(found))


def _checked(k: int, log_beta: float, noise: AccuracyNoise) -> tuple[int, float]:
    # At beta <= 1/2 the literal chain's 2 nu* < 1/10 follows from 13 nu* <= beta.
    require.one_of("noise", get_args(AccuracyNoise), noise)
    log_beta = require.between("log_beta", log_beta, -math.inf, -_LOG2)
    return require.positive_integer("k", k), log_beta


def _best_by(
    printed: bool, k: int, log_beta: float, profile: Concentration, noise: AccuracyNoise
) -> Accuracy:
    k, log_beta = _checked(k, log_beta, noise)
    return _Chain(NOISES[noise], printed).best(k, log_beta, profile)


@theorem(
    source="BF2",
    place="Theorem 6.1, the printed chain with its best parameters",
    statement="k adaptive questions of one concentration on any population are answered by "
    "Algorithm 2 (or 3) to within this of the truth, all together with probability 1 - beta "
    "(printed chain).",
    domain="k >= 1, ln beta <= ln(1/2), any profile, noise laplace or gaussian",
    slack="870, 5397, 27309 sigma for k = 1, 10, 100 at beta = .05 and sub-Gaussian questions; "
    "Theorem L: 2.72, 6.15, 14.9",
)
def literal_accuracy(
    k: int, log_beta: float, profile: Concentration = _UNIT, noise: AccuracyNoise = "laplace"
) -> Accuracy:
    """The half-width that the printed chain gives, eta, nu, tau' and beta2 chosen best."""
    return _best_by(True, k, log_beta, profile, noise)


@theorem(
    source="Holdfast",
    place="Section 6.7, the direct chain with its best parameters",
    statement="k adaptive questions of one concentration on any population are answered by "
    "Algorithm 2 (or 3) to within this of the truth, all together with probability 1 - beta "
    "(direct chain).",
    domain="k >= 1, ln beta <= ln(1/2), any profile, noise laplace or gaussian",
    slack="29.9, 98.3, 321.8 sigma for k = 1, 10, 100 at beta = .05 and sub-Gaussian questions; "
    "Theorem L: 2.72, 6.15, 14.9",
    printed="literal_accuracy",
)
def direct_accuracy(
    k: int, log_beta: float, profile: Concentration = _UNIT, noise: AccuracyNoise = "laplace"
) -> Accuracy:
    """The half-width that the direct chain gives, eta, nu, tau' and beta2 chosen best."""
    return _best_by(False, k, log_beta, profile, noise)


@theorem(
    source="Holdfast",
    place="Section 6.7, the leakage chain with its best parameters",
    statement="k adaptive questions of one concentration on any population are answered by "
    "Algorithm 2 (or 3) to within this of the truth, all together with probability 1 - beta, by "
    "Theorem L.",
    domain="k >= 1, ln beta <= ln(1/2), any profile, noise laplace or gaussian",
    slack="noise of one scale; bounded noise that follows the ledger is narrower",
)
def leakage_accuracy(
    k: int, log_beta: float, profile: Concentration = _UNIT, noise: AccuracyNoise = "laplace"
) -> Accuracy:
    """The half-width that no composition gives for the same answers, parameters chosen best."""
    k, log_beta = _checked(k, log_beta, noise)
    return _best_leakage(NOISES[noise], k, log_beta, profile)


def _best_leakage(noise: _Noise, k: int, log_beta: float, profile: Concentration) -> Accuracy:
    """Over (eta, beta2), eta that of Laplace noise or alpha/s; nu as large as is left."""

    def log_nu_at(eta: float, share: float) -> float:
        log_charged = log_geometric_sum(noise.log_charge(eta), k)
        return min(0.0, log_beta + math.log1p(-share) - log_charged)

    def width_of(found: Accuracy) -> float:
        return _at_radius(
            profile, found.log_nu, lambda alpha: noise.charged_half_width(k, alpha, found)
        )

    def accuracy(eta: float, log_nu: float, log_share: float) -> Accuracy:
        return Accuracy(math.inf, eta, log_nu, -math.inf, log_beta + log_share)

    def best_share(log_eta: float) -> tuple[float, float]:
        eta = math.exp(log_eta)

        def width(log_share: float) -> float:
            return width_of(accuracy(eta, log_nu_at(eta, math.exp(log_share)), log_share))

        return golden_minimum(width, -20.0, -1e-6, steps=40)

    log_eta, _ = golden_minimum(lambda x: best_share(x)[1], -20.0, 20.0, steps=40)
    log_share, _ = best_share(log_eta)
    eta = math.exp(log_eta)
    return _confirmed(
        lambda log_nu: accuracy(eta, log_nu, log_share),
        log_nu_at(eta, math.exp(log_share)),
        lambda found: noise.charged_log_failure(k, found) <= log_beta,
        width_of,
    )
