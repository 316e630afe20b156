"""Accuracy of k adaptive answers under typical stability: Theorem 6.1 of BF2.

Each of k adaptive questions is answered by Algorithm 2, q_j(X) + Laplace(alpha/eta), or by
Algorithm 3, q_j(X) + N(0, s^2), with alpha = radius(ln nu) of whatever concentration the questions
have. The k answers are together (eta*, tau*, nu*)-stable (Theorem 4.2 or 4.8), so each question is
within alpha of its truth on the sample (Theorem 3.4), and each noise is within its error at beta2/k
with probability 1 - beta2 (Theorem 5.2 or 5.4). Three ways to add that up:

    literal     as printed: from oracle to pairs, then Lemma 3.3 with its 5 nu and its hypotheses
    direct      near independence in oracle form, nothing lost
    leakage     no composition theorem at all: Theorem L with the charge 1 + eta of Laplace noise,
                or that of Gaussian noise

The paper proves it for Algorithm 2 and says that the same can be had for Algorithm 3: here it is.
`best_accuracy` has the half-widths, the parameters chosen best.

Legend
    k           the number of questions
    eta, nu     the Algorithm's parameters, with tau for the Gaussian one; tau_prime the composition
                theorem's tau'
    distance    alpha/s of Gaussian answers
    beta2       the share of the failure probability that the noise gets; beta all of it
    half_width  of every answer's interval, in the unit of the concentration
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.composition import (
    Composed,
    approximate_composed_eta,
    approximate_composition,
    composed_eta,
    pure_composition,
)
from holdfast.papers.theorems.other_accounts import gaussian_log_charge, laplace_log_charge
from holdfast.papers.theorems.typical_noise import (
    gaussian_mechanism_error_printed,
    gaussian_scale_printed,
    laplace_mechanism_error,
)
from holdfast.theory.base.concentration import Concentration, SubGaussian
from holdfast.theory.base.safeside import (
    golden_minimum,
    largest_true,
    log1mexp,
    log_add,
    log_up,
    round_up,
)
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.nats import gaussian_noise_error
from holdfast.theory.typical.calibrated_noise import gaussian_scale, near_gaussian_scale
from holdfast.theory.typical.notion import log_probability_or_zero
from holdfast.theory.typical.sharp_composition import log_geometric_sum


def accuracy_half_width(k: int, alpha: float, eta: float, log_beta2: float) -> float:
    """alpha + (alpha/eta) ln(k/beta2), rounded up: the same for all three ways."""
    return round_up(alpha + laplace_mechanism_error(alpha, eta, _log_each(k, log_beta2)))


def gaussian_accuracy_half_width(k: int, alpha: float, s: float, log_beta2: float) -> float:
    """alpha + s Phi^{-1}(1 - beta2/(2k)), rounded up: whatever sets the noise s."""
    return round_up(alpha + gaussian_noise_error(s, _log_each(k, log_beta2)))


def _log_each(k: int, log_beta2: float) -> float:
    """ln(beta2/k): what the noise of one answer has."""
    log_beta2 = require.log_probability("log_beta2", log_beta2)
    return log_beta2 - math.log(require.positive_integer("k", k))


def _literal(k: int, star: Composed, log_nu: float, log_beta2: float) -> float:
    """ln(e^{2 eta*} k nu + 3 tau* + 10 nu* + beta2), or 0 where a printed hypothesis fails."""
    if 2 * star.eta >= 1 or star.log_nu >= math.log(0.05):
        return 0.0
    log_question = 2 * star.eta + math.log(k) + log_nu
    return log_up(
        log_add(log_question, math.log(3) + star.log_tau, math.log(10) + star.log_nu, log_beta2)
    )


def _direct(k: int, star: Composed, log_nu: float, log_beta2: float) -> float:
    """ln(e^{eta*} k nu + tau* + nu* + beta2)."""
    log_question = star.eta + math.log(k) + log_nu
    return log_up(log_add(log_question, star.log_tau, star.log_nu, log_beta2))


def _leaked(k: int, charge: float, log_nu: float, log_beta2: float) -> float:
    """ln(sum_{j<k} e^{j charge} nu + beta2)."""
    k = require.positive_integer("k", k)
    log_nu = log_probability_or_zero("log_nu", log_nu)
    log_beta2 = require.log_probability("log_beta2", log_beta2)
    return log_up(log_add(log_geometric_sum(charge, k) + log_nu, log_beta2))


@theorem(
    source="BF2",
    place="Theorem 6.1, constants of the printed chain",
    statement="k adaptive answers of Algorithm 2 are all within alpha + (alpha/eta) ln(k/beta2) of "
    "the truth but for probability e^{2 eta*} k nu + 3 tau* + 10 nu* + beta2, alpha = "
    "radius(ln nu), if 2 eta* < 1 and 2 nu* < 1/10; any population.",
    domain="k >= 1, 0 < eta <= 500, ln nu <= 0 (-inf for 0), ln tau' < 0, ln beta2 <= 0; "
    "0 (certain failure) where a hypothesis does not hold",
    monotone={"k": "up", "log_nu": "up", "log_beta2": "up"},
    slack="30 to 90 times the direct chain's half-width, for k = 1 to 100",
)
def literal_accuracy_log_failure(
    k: int, eta: float, log_nu: float, log_tau_prime: float, log_beta2: float
) -> float:
    """ln of the failure probability of the printed chain (composition repaired)."""
    log_beta2 = require.log_probability("log_beta2", log_beta2)
    star = pure_composition(k, eta, log_nu, log_tau_prime)
    return _literal(k, star, log_nu, log_beta2)


@theorem(
    source="Holdfast",
    place="Section 6.7, direct chain",
    statement="k adaptive answers of Algorithm 2 are all within alpha + (alpha/eta) ln(k/beta2) of "
    "the truth but for probability e^{eta*} k nu + tau* + nu* + beta2, alpha = radius(ln nu); any "
    "population.",
    domain="k >= 1, 0 < eta <= 500, ln nu <= 0 (-inf for 0), ln tau' < 0, ln beta2 <= 0",
    monotone={"k": "up", "log_nu": "up", "log_beta2": "up"},
    slack="10 to 25 times the half-width of Theorem L, for k = 1 to 100",
    printed="literal_accuracy_log_failure",
)
def direct_accuracy_log_failure(
    k: int, eta: float, log_nu: float, log_tau_prime: float, log_beta2: float
) -> float:
    """ln of the failure probability without the detour over pairs."""
    log_beta2 = require.log_probability("log_beta2", log_beta2)
    star = pure_composition(k, eta, log_nu, log_tau_prime)
    return _direct(k, star, log_nu, log_beta2)


@theorem(
    source="Holdfast",
    place="Section 6.7, leakage chain",
    statement="k adaptive answers of Algorithm 2 are all within alpha + (alpha/eta) ln(k/beta2) of "
    "the truth but for probability sum_{j<k} (1 + eta)^j nu + beta2, alpha = radius(ln nu); any "
    "population.",
    domain="k >= 1, eta > 0, ln nu <= 0 (-inf for 0), ln beta2 <= 0",
    monotone={"k": "up", "eta": "up", "log_nu": "up", "log_beta2": "up"},
    slack="noise and radius are the same for all questions; bounded noise is narrower still",
)
def leakage_accuracy_log_failure(k: int, eta: float, log_nu: float, log_beta2: float) -> float:
    """ln of the failure probability by Theorem L: question j has been charged j times."""
    charge = laplace_log_charge(require.positive("eta", eta), 1.0)  # radius alpha, scale alpha/eta
    return _leaked(k, charge, log_nu, log_beta2)


@theorem(
    source="BF2",
    place="Theorem 6.1 for Algorithm 3, constants of the printed chain",
    statement="k adaptive answers of Algorithm 3 with noise s = alpha sqrt(2 ln(1.5/tau))/eta are "
    "all within alpha + 2 alpha sqrt(ln(1.5/tau) ln(k/beta2))/eta of the truth but for probability "
    "e^{2 eta*} k nu + 3 tau* + 10 nu* + beta2, the stars those of Theorem 4.8, if 2 eta* < 1 and "
    "2 nu* < 1/10; any population.",
    domain="k >= 1, 0 < eta <= 3/2, ln tau <= ln(eta/50), ln nu <= 0 (-inf for 0), ln tau' < 0, "
    "ln beta2 <= 0; 0 (certain failure) where a hypothesis does not hold",
    monotone={"k": "up", "log_tau": "up", "log_nu": "up", "log_beta2": "up"},
    slack="a factor 2 in eta and 13 in tau* and nu* against the direct chain",
)
def gaussian_literal_accuracy_log_failure(
    k: int, eta: float, log_tau: float, log_nu: float, log_tau_prime: float, log_beta2: float
) -> float:
    """ln of the failure probability of the printed chain (composition repaired)."""
    log_beta2 = require.log_probability("log_beta2", log_beta2)
    star = approximate_composition(k, eta, log_tau, log_nu, log_tau_prime)
    return _literal(k, star, log_nu, log_beta2)


@theorem(
    source="Holdfast",
    place="Section 6.7, direct chain, Gaussian answers",
    statement="k adaptive answers of Algorithm 3 with the exact noise s are all within alpha + "
    "s Phi^{-1}(1 - beta2/(2k)) of the truth but for probability e^{eta*} k nu + tau* + nu* + "
    "beta2, the stars those of Theorem 4.8; any population.",
    domain="k >= 1, 0 < eta <= 3/2, ln tau <= ln(eta/50), ln nu <= 0 (-inf for 0), ln tau' < 0, "
    "ln beta2 <= 0",
    monotone={"k": "up", "log_tau": "up", "log_nu": "up", "log_beta2": "up"},
    slack="the composition theorem's; the stopped oracle needs none",
    printed="gaussian_literal_accuracy_log_failure",
)
def gaussian_direct_accuracy_log_failure(
    k: int, eta: float, log_tau: float, log_nu: float, log_tau_prime: float, log_beta2: float
) -> float:
    """ln of the failure probability without the detour over pairs."""
    log_beta2 = require.log_probability("log_beta2", log_beta2)
    star = approximate_composition(k, eta, log_tau, log_nu, log_tau_prime)
    return _direct(k, star, log_nu, log_beta2)


@theorem(
    source="Holdfast",
    place="Section 6.7, leakage chain, Gaussian answers",
    statement="k adaptive Gaussian answers with noise s = alpha/distance are all within alpha + "
    "s Phi^{-1}(1 - beta2/(2k)) of the truth but for probability sum_{j<k} (1 + 2 distance/"
    "sqrt(2 pi))^j nu + beta2, alpha = radius(ln nu); any population.",
    domain="k >= 1, distance > 0, ln nu <= 0 (-inf for 0), ln beta2 <= 0",
    monotone={"k": "up", "distance": "up", "log_nu": "up", "log_beta2": "up"},
    slack="noise and radius are the same for all questions; bounded noise is narrower still",
)
def gaussian_leakage_accuracy_log_failure(
    k: int, distance: float, log_nu: float, log_beta2: float
) -> float:
    """ln of the failure probability by Theorem L, with the charge of Gaussian noise."""
    charge = gaussian_log_charge(require.positive("distance", distance), 1.0)
    return _leaked(k, charge, log_nu, log_beta2)


# The two noises of Theorem 6.1: Algorithm 2 with Theorem 4.2, Algorithm 3 with Theorem 4.8.
#
# What a search for the best parameters asks of each: what the k answers are together, how far the
# noise is from the sample's value, and the failure bound of each chain. With Gaussian noise tau
# is tied to tau': tau_hat = 2 tau', which is within 1 % of the best.


AccuracyNoise = Literal["laplace", "gaussian"]
AccuracyForm = Literal["leakage", "direct", "literal"]


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
    largest_eta = 12.5  # of the search: long before it eta* empties the statement
    masses = 1.0  # of tau' in the mass of one step

    def log_tau(self, eta: float, log_tau_prime: float) -> float:  # noqa: ARG002 - it is 0
        return -math.inf

    def eta_star(self, k: int, eta: float, log_tau_prime: float) -> float:
        return 3 * composed_eta(k, eta, log_tau_prime)

    def composed(self, k: int, eta: float, log_tau_prime: float) -> Composed:
        return pure_composition(k, eta, 0.0, log_tau_prime)

    def errors(self, eta: float, log_tau: float, printed: bool) -> Callable[[float], float]:  # noqa: ARG002
        """The error of the noise at ln(beta2/k), in units of alpha, as near as a search needs."""
        return lambda log_each: -log_each / eta

    def half_width(self, k: int, alpha: float, result: Accuracy, printed: bool) -> float:  # noqa: ARG002
        return accuracy_half_width(k, alpha, result.eta, result.log_beta2)

    def log_failure(self, k: int, result: Accuracy, printed: bool) -> float:
        chain = literal_accuracy_log_failure if printed else direct_accuracy_log_failure
        return chain(k, result.eta, result.log_nu, result.log_tau_prime, result.log_beta2)

    def log_charge(self, eta: float) -> float:
        return laplace_log_charge(eta, 1.0)

    def charged_half_width(self, k: int, alpha: float, result: Accuracy) -> float:
        return accuracy_half_width(k, alpha, result.eta, result.log_beta2)

    def charged_log_failure(self, k: int, result: Accuracy) -> float:
        return leakage_accuracy_log_failure(k, result.eta, result.log_nu, result.log_beta2)


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
        s = near_gaussian_scale(1.0, eta, log_tau)
        return lambda log_each: gaussian_noise_error(s, log_each)

    def half_width(self, k: int, alpha: float, result: Accuracy, printed: bool) -> float:
        if printed:
            log_each = result.log_beta2 - math.log(k)
            error = gaussian_mechanism_error_printed(alpha, result.eta, result.log_tau, log_each)
            return round_up(alpha + error)
        s = gaussian_scale(alpha, result.eta, result.log_tau)
        return gaussian_accuracy_half_width(k, alpha, s, result.log_beta2)

    def log_failure(self, k: int, result: Accuracy, printed: bool) -> float:
        chain = (
            gaussian_literal_accuracy_log_failure
            if printed
            else gaussian_direct_accuracy_log_failure
        )
        return chain(
            k, result.eta, result.log_tau, result.log_nu, result.log_tau_prime, result.log_beta2
        )

    def log_charge(self, eta: float) -> float:
        return gaussian_log_charge(eta, 1.0)

    def charged_half_width(self, k: int, alpha: float, result: Accuracy) -> float:
        s = round_up(alpha / result.eta)
        return gaussian_accuracy_half_width(k, alpha, s, result.log_beta2)

    def charged_log_failure(self, k: int, result: Accuracy) -> float:
        return gaussian_leakage_accuracy_log_failure(k, result.eta, result.log_nu, result.log_beta2)


NOISES: dict[AccuracyNoise, LaplaceAnswers | GaussianAnswers] = {
    "laplace": LaplaceAnswers(),
    "gaussian": GaussianAnswers(),
}


# Theorem 6.1 with its best parameters: the half-width of k adaptive concentrated questions.
#
# For any concentration (sub-Gaussian, sub-exponential, low sensitivity, any gamma_n) and both
# noises, by each of the chains of `accuracy`. The search is over (tau', eta, beta2), or for the
# leakage chain over (eta, beta2), with nu as large as the failure probability allows; whatever it
# finds is confirmed by the chain's own failure bound, so it is valid, the best or not.
#
# Legend
#     k, beta     the number of questions, the failure probability of all of them together
#     profile     the concentration of every question; the half-width is in its unit


_UNIT = SubGaussian(1.0)
_LOG2, _LOG4 = math.log(2.0), math.log(4.0)
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
        """Largest ln(eta) that the chain's hypothesis allows."""
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
            root = 0.5 * log_add(2 * b, _LOG4 + r + a, _LOG4 + 2 * a + g)
            below = log_add(_LOG2 + r + a, 2 * b, b + root)
            above = _LOG2 + 2 * r + log1mexp(2 * b + g - 2 * r)
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
            lambda result: self.noise.log_failure(k, result, self.printed) <= log_beta,
            lambda result: _at_radius(
                profile,
                result.log_nu,
                lambda alpha: self.noise.half_width(k, alpha, result, self.printed),
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
    certified = accuracy(log_nu)
    return replace(certified, half_width=width(certified))


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

    def width_of(result: Accuracy) -> float:
        return _at_radius(
            profile, result.log_nu, lambda alpha: noise.charged_half_width(k, alpha, result)
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
        lambda result: noise.charged_log_failure(k, result) <= log_beta,
        width_of,
    )


ACCURACY_CHAINS: dict[
    AccuracyForm, Callable[[int, float, Concentration, AccuracyNoise], Accuracy]
] = {
    "leakage": leakage_accuracy,
    "direct": direct_accuracy,
    "literal": literal_accuracy,
}


def accuracy_log_failure(noise: _Noise, form: AccuracyForm, k: int, result: Accuracy) -> float:
    """ln of the failure probability of k answers with these parameters, by one of the chains."""
    if form == "leakage":
        return noise.charged_log_failure(k, result)
    return noise.log_failure(k, result, form == "literal")
