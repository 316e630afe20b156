"""The two noises of Theorem 6.1: Algorithm 2 with Theorem 4.2, Algorithm 3 with Theorem 4.8.

What a search for the best parameters asks of each: what the k answers are together, how far the
noise is from the sample's value, and the failure bound of each chain. With Gaussian noise tau is
tied to tau': tau_hat = 2 tau', which is within 1 % of the best.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from holdfast.theory.base.safeside import log1mexp, round_up
from holdfast.theory.leakage.nats import (
    gaussian_log_charge,
    gaussian_noise_error,
    laplace_log_charge,
)
from holdfast.theory.typical.accuracy import (
    accuracy_half_width,
    direct_accuracy_log_failure,
    gaussian_accuracy_half_width,
    gaussian_direct_accuracy_log_failure,
    gaussian_leakage_accuracy_log_failure,
    gaussian_literal_accuracy_log_failure,
    leakage_accuracy_log_failure,
    literal_accuracy_log_failure,
)
from holdfast.theory.typical.composition import (
    Composed,
    approximate_composed_eta,
    approximate_composition,
    composed_eta,
    pure_composition,
)
from holdfast.theory.typical.noise import (
    gaussian_mechanism_error_printed,
    gaussian_scale,
    gaussian_scale_printed,
)

__all__ = ["NOISES", "Accuracy", "AccuracyNoise", "GaussianAnswers", "LaplaceAnswers"]

AccuracyNoise = Literal["laplace", "gaussian"]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A half-width in the unit of the concentration and the parameters that reach it.

    Where the chain has no tau or tau', it is 0: ln -inf. With the leakage chain of Gaussian noise
    eta is the distance alpha/s.
    """

    half_width: float
    eta: float
    log_nu: float
    log_tau_prime: float
    log_beta2: float
    log_tau: float = -math.inf


class LaplaceAnswers:
    """Algorithm 2 and Theorem 4.2."""

    divisor = 1.0  # tau* is 5 sqrt(mass/(divisor eta))
    largest_eta = 12.5  # where the repaired composition theorem ends
    masses = 1.0  # of tau' in the mass of one step

    def log_tau(self, eta: float, log_tau_prime: float) -> float:  # noqa: ARG002 - it is 0
        return -math.inf

    def eta_star(self, k: int, eta: float, log_tau_prime: float) -> float:
        return 3 * composed_eta(k, eta, log_tau_prime)

    def composed(self, k: int, eta: float, log_tau_prime: float) -> Composed:
        return pure_composition(k, eta, 0.0, log_tau_prime)

    def errors(self, eta: float, log_tau: float, printed: bool) -> Callable[[float], float]:  # noqa: ARG002
        """The error of the noise at ln(beta2/k), in units of alpha."""
        return lambda log_each: -log_each / eta

    def half_width(self, k: int, alpha: float, found: Accuracy, printed: bool) -> float:  # noqa: ARG002
        return accuracy_half_width(k, alpha, found.eta, found.log_beta2)

    def log_failure(self, k: int, found: Accuracy, printed: bool) -> float:
        chain = literal_accuracy_log_failure if printed else direct_accuracy_log_failure
        return chain(k, found.eta, found.log_nu, found.log_tau_prime, found.log_beta2)

    def log_charge(self, eta: float) -> float:
        return laplace_log_charge(eta, 1.0)

    def charged_half_width(self, k: int, alpha: float, found: Accuracy) -> float:
        return accuracy_half_width(k, alpha, found.eta, found.log_beta2)

    def charged_log_failure(self, k: int, found: Accuracy) -> float:
        return leakage_accuracy_log_failure(k, found.eta, found.log_nu, found.log_beta2)


class GaussianAnswers:
    """Algorithm 3 and Theorem 4.8; the literal chain with the printed noise."""

    divisor = 2.0
    largest_eta = 1.5
    masses = 3.0  # tau' and tau_hat = 2 tau'

    def log_tau(self, eta: float, log_tau_prime: float) -> float:
        return log_tau_prime + log1mexp(-eta)

    def eta_star(self, k: int, eta: float, log_tau_prime: float) -> float:
        return 3 * approximate_composed_eta(k, eta, self.log_tau(eta, log_tau_prime), log_tau_prime)

    def composed(self, k: int, eta: float, log_tau_prime: float) -> Composed:
        log_tau = self.log_tau(eta, log_tau_prime)
        return approximate_composition(k, eta, log_tau, 0.0, log_tau_prime)

    def errors(self, eta: float, log_tau: float, printed: bool) -> Callable[[float], float]:
        if printed:
            s = gaussian_scale_printed(1.0, eta, log_tau)
            return lambda log_each: s * math.sqrt(-2 * log_each)
        s = gaussian_scale(1.0, eta, log_tau)
        return lambda log_each: gaussian_noise_error(s, log_each)

    def half_width(self, k: int, alpha: float, found: Accuracy, printed: bool) -> float:
        if printed:
            log_each = found.log_beta2 - math.log(k)
            error = gaussian_mechanism_error_printed(alpha, found.eta, found.log_tau, log_each)
            return round_up(alpha + error)
        s = gaussian_scale(alpha, found.eta, found.log_tau)
        return gaussian_accuracy_half_width(k, alpha, s, found.log_beta2)

    def log_failure(self, k: int, found: Accuracy, printed: bool) -> float:
        chain = (
            gaussian_literal_accuracy_log_failure
            if printed
            else gaussian_direct_accuracy_log_failure
        )
        return chain(
            k, found.eta, found.log_tau, found.log_nu, found.log_tau_prime, found.log_beta2
        )

    def log_charge(self, eta: float) -> float:
        return gaussian_log_charge(eta, 1.0)

    def charged_half_width(self, k: int, alpha: float, found: Accuracy) -> float:
        s = round_up(alpha / found.eta)
        return gaussian_accuracy_half_width(k, alpha, s, found.log_beta2)

    def charged_log_failure(self, k: int, found: Accuracy) -> float:
        return gaussian_leakage_accuracy_log_failure(k, found.eta, found.log_nu, found.log_beta2)


NOISES: dict[AccuracyNoise, LaplaceAnswers | GaussianAnswers] = {
    "laplace": LaplaceAnswers(),
    "gaussian": GaussianAnswers(),
}
