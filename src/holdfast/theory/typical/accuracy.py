"""How wide k adaptive answers are under typical stability: Theorem 6.1 of BF2 with its constants.

Each of k adaptive questions is answered by Algorithm 2: q_j(X) + Laplace(alpha/eta) with
alpha = radius(ln nu). The k answers are together (eta*, tau*, nu*)-stable (Theorem 4.2), so each
question is within alpha of its truth on the sample (Theorem 3.4), and each noise is within
(alpha/eta) ln(k/beta2) with probability 1 - beta2 (Theorem 5.2). Three ways to add that up:

    literal     as printed: from oracle to pairs, then Lemma 3.3 with its 5 nu and its hypotheses
    direct      near independence in oracle form, nothing lost
    leakage     Theorem L with the Laplace charge 1 + eta: no composition theorem at all

Legend
    k           the number of questions
    eta, nu     Algorithm 2's parameters; tau_prime the composition theorem's tau'
    beta2       the share of the failure probability that the noise gets; beta all of it
    half_width  of every answer's interval; in units of sigma for sub-Gaussian questions
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from holdfast import require
from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.base.safeside import (
    golden_minimum,
    largest_true,
    log1mexp,
    log_add,
    log_up,
    round_up,
)
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.nats import laplace_log_charge
from holdfast.theory.typical.composition import composed_eta, log_geometric_sum, pure_composition
from holdfast.theory.typical.noise import laplace_mechanism_error
from holdfast.theory.typical.notion import log_probability_or_zero

__all__ = [
    "Accuracy",
    "accuracy_half_width",
    "direct_accuracy",
    "direct_accuracy_log_failure",
    "leakage_accuracy",
    "leakage_accuracy_log_failure",
    "literal_accuracy",
    "literal_accuracy_log_failure",
]

_UNIT = SubGaussian(1.0)
_LARGEST_ETA = 12.5  # where the repaired composition theorem ends


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A half-width in units of sigma and the parameters that reach it (no tau': -inf)."""

    half_width: float
    eta: float
    log_nu: float
    log_tau_prime: float
    log_beta2: float


def accuracy_half_width(k: int, alpha: float, eta: float, log_beta2: float) -> float:
    """alpha + (alpha/eta) ln(k/beta2), rounded up: the same for all three ways."""
    log_each = require.log_probability("log_beta2", log_beta2) - math.log(
        require.positive_integer("k", k)
    )
    return round_up(alpha + laplace_mechanism_error(alpha, eta, log_each))


@theorem(
    source="BF2",
    place="Theorem 6.1, constants of the printed chain",
    statement="k adaptive answers of Algorithm 2 are all within alpha + (alpha/eta) ln(k/beta2) of "
    "the truth but for probability e^{2 eta*} k nu + 3 tau* + 10 nu* + beta2, alpha = "
    "radius(ln nu), if 2 eta* < 1 and 2 nu* < 1/10; any population.",
    domain="k >= 1, 0 < eta <= 12.5, ln nu <= 0 (-inf for 0), ln tau' < 0, ln beta2 <= 0; "
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
    if 2 * star.eta >= 1 or star.log_nu >= math.log(0.05):
        return 0.0
    log_question = 2 * star.eta + math.log(k) + log_nu
    return log_up(
        log_add(log_question, math.log(3) + star.log_tau, math.log(10) + star.log_nu, log_beta2)
    )


@theorem(
    source="Holdfast",
    place="Section 6.7, direct chain",
    statement="k adaptive answers of Algorithm 2 are all within alpha + (alpha/eta) ln(k/beta2) of "
    "the truth but for probability e^{eta*} k nu + tau* + nu* + beta2, alpha = radius(ln nu); any "
    "population.",
    domain="k >= 1, 0 < eta <= 12.5, ln nu <= 0 (-inf for 0), ln tau' < 0, ln beta2 <= 0",
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
    log_question = star.eta + math.log(k) + log_nu
    return log_up(log_add(log_question, star.log_tau, star.log_nu, log_beta2))


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
    k, eta = require.positive_integer("k", k), require.positive("eta", eta)
    log_nu = log_probability_or_zero("log_nu", log_nu)
    log_beta2 = require.log_probability("log_beta2", log_beta2)
    charge = laplace_log_charge(eta, 1.0)  # radius alpha, scale alpha/eta
    return log_up(log_add(log_geometric_sum(charge, k) + log_nu, log_beta2))


@dataclass(frozen=True, slots=True)
class _Chain:
    """e^{eta_factor eta*} k nu + tau_factor tau* + beta2, with tau* = nu*."""

    eta_factor: float
    tau_factor: float
    log_failure: Callable[[int, float, float, float, float], float]

    def largest_log_eta(self, k: int, log_tau_prime: float) -> float:
        """Where the chain's hypothesis on eta ends."""
        if self.eta_factor == 1:
            return math.log(_LARGEST_ETA)
        # 2 eta* = 6 eta_k < 1
        largest = largest_true(
            lambda eta: 6 * composed_eta(k, eta, log_tau_prime) < 1, 0.0, 1.0, relative=1e-6
        )
        return math.log(largest)

    def largest_log_nu(self, k: int, eta: float, log_tau_prime: float) -> Callable[[float], float]:
        """ln R -> ln nu with e^{c eta*} k nu + d tau* = R, up to rounding; -inf if there is none.

        For v = nu (1 + sum e^{eta_t}) and g = k tau' this is A v + B sqrt(g + v) = R: a quadratic
        equation, whose smaller root 2 (R^2 - B^2 g)/(2 R A + B^2 + B sqrt(B^2 + 4 R A + 4 A^2 g))
        has no cancellation and is found with logarithms.
        """
        star = pure_composition(k, eta, 0.0, log_tau_prime)
        log_ones = 2 * (star.log_tau - math.log(5)) + math.log(eta)
        a = self.eta_factor * star.eta + math.log(k) - log_ones
        b = math.log(5 * self.tau_factor) - 0.5 * math.log(eta)
        g = math.log(k) + log_tau_prime

        def solve(r: float) -> float:
            if 2 * r <= 2 * b + g:
                return -math.inf
            root = 0.5 * log_add(2 * b, math.log(4) + r + a, math.log(4) + 2 * a + g)
            below = log_add(math.log(2) + r + a, 2 * b, b + root)
            above = math.log(2) + 2 * r + log1mexp(2 * b + g - 2 * r)
            return min(0.0, above - below - log_ones)

        return solve


_LITERAL = _Chain(2.0, 13.0, literal_accuracy_log_failure)
_DIRECT = _Chain(1.0, 2.0, direct_accuracy_log_failure)


def _log_beta(value: float) -> float:
    # At beta <= 1/2 the literal chain's 2 nu* < 1/10 follows from 13 nu* <= beta.
    return require.between("log_beta", value, -math.inf, -math.log(2))


def _confirmed(
    k: int, eta: float, log_nu: float, log_beta2: float, holds: Callable[[float], bool]
) -> tuple[float, float]:
    """(half-width, ln nu) with nu lowered, if rounding needs it, until the failure bound holds."""
    step = 1e-13 * max(1.0, -log_nu)
    while not holds(log_nu):
        log_nu, step = log_nu - step, 2 * step
    return accuracy_half_width(k, _UNIT.radius(log_nu), eta, log_beta2), log_nu


def _optimised(chain: _Chain, k: int, log_beta: float) -> Accuracy:
    """The least half-width over (tau', eta, beta2), with nu as large as the failure allows."""
    k, log_beta = require.positive_integer("k", k), _log_beta(log_beta)

    def least_log_eta(log_tau_prime: float) -> float:
        # tau* is at least 5 sqrt(k tau'/eta), which must leave something of beta.
        return math.log(k) + log_tau_prime + 2 * (math.log(5 * chain.tau_factor) - log_beta)

    def best_share(log_tau_prime: float, log_eta: float) -> tuple[float, float]:
        eta = math.exp(log_eta)
        largest_log_nu = chain.largest_log_nu(k, eta, log_tau_prime)

        def width(share: float) -> float:
            log_nu = largest_log_nu(log_beta + math.log1p(-share))
            if log_nu == -math.inf:
                return math.inf
            return accuracy_half_width(k, _UNIT.radius(log_nu), eta, log_beta + math.log(share))

        most = -math.expm1(0.5 * (least_log_eta(log_tau_prime) - log_eta))
        return golden_minimum(width, 0.0, most, steps=16)

    def best_log_eta(log_tau_prime: float) -> tuple[float, float]:
        low, high = least_log_eta(log_tau_prime), chain.largest_log_eta(k, log_tau_prime)
        return golden_minimum(lambda x: best_share(log_tau_prime, x)[1], low, high, steps=20)

    largest = largest_true(
        lambda log_tau_prime: (
            least_log_eta(log_tau_prime) < chain.largest_log_eta(k, log_tau_prime)
        ),
        -100.0 - 4 * (math.log(k) - log_beta),
        -1e-9,
        relative=1e-9,
    )
    log_tau_prime, _ = golden_minimum(
        lambda x: best_log_eta(x)[1], 1.5 * largest - 50, largest, steps=20
    )
    log_eta, _ = best_log_eta(log_tau_prime)
    share, _ = best_share(log_tau_prime, log_eta)
    eta, log_beta2 = math.exp(log_eta), log_beta + math.log(share)
    half_width, log_nu = _confirmed(
        k,
        eta,
        chain.largest_log_nu(k, eta, log_tau_prime)(log_beta + math.log1p(-share)),
        log_beta2,
        lambda log_nu: chain.log_failure(k, eta, log_nu, log_tau_prime, log_beta2) <= log_beta,
    )
    return Accuracy(half_width, eta, log_nu, log_tau_prime, log_beta2)


@theorem(
    source="BF2",
    place="Theorem 6.1, the printed chain with its best parameters",
    statement="k adaptive sub-Gaussian questions on any population are answered by Algorithm 2 to "
    "within this many sigma of the truth, all together with probability 1 - beta (printed chain).",
    domain="k >= 1, ln beta <= ln(1/2)",
    slack="870, 5397, 27309 sigma for k = 1, 10, 100 at beta = .05; Theorem L: 2.72, 6.15, 14.9",
)
def literal_accuracy(k: int, log_beta: float) -> Accuracy:
    """The half-width that the printed chain gives, eta, nu, tau' and beta2 chosen best."""
    return _optimised(_LITERAL, k, log_beta)


@theorem(
    source="Holdfast",
    place="Section 6.7, the direct chain with its best parameters",
    statement="k adaptive sub-Gaussian questions on any population are answered by Algorithm 2 to "
    "within this many sigma of the truth, all together with probability 1 - beta (direct chain).",
    domain="k >= 1, ln beta <= ln(1/2)",
    slack="29.9, 98.3, 321.8 sigma for k = 1, 10, 100 at beta = .05; Theorem L: 2.72, 6.15, 14.9",
    printed="literal_accuracy",
)
def direct_accuracy(k: int, log_beta: float) -> Accuracy:
    """The half-width that the direct chain gives, eta, nu, tau' and beta2 chosen best."""
    return _optimised(_DIRECT, k, log_beta)


@theorem(
    source="Holdfast",
    place="Section 6.7, the leakage chain with its best parameters",
    statement="k adaptive sub-Gaussian questions on any population are answered by Algorithm 2 to "
    "within this many sigma of the truth, all together with probability 1 - beta, by Theorem L.",
    domain="k >= 1, ln beta <= ln(1/2)",
    slack="Laplace noise of one scale; bounded noise that follows the ledger is narrower",
)
def leakage_accuracy(k: int, log_beta: float) -> Accuracy:
    """The half-width that Theorem L gives for the same answers, eta and beta2 chosen best."""
    k, log_beta = require.positive_integer("k", k), _log_beta(log_beta)

    def log_nu_at(eta: float, share: float) -> float:
        log_charged = log_geometric_sum(laplace_log_charge(eta, 1.0), k)
        return min(0.0, log_beta + math.log1p(-share) - log_charged)

    def best_share(log_eta: float) -> tuple[float, float]:
        eta = math.exp(log_eta)

        def width(log_share: float) -> float:
            radius = _UNIT.radius(log_nu_at(eta, math.exp(log_share)))
            return accuracy_half_width(k, radius, eta, log_beta + log_share)

        return golden_minimum(width, -20.0, -1e-6, steps=40)

    log_eta, _ = golden_minimum(lambda x: best_share(x)[1], -20.0, 20.0, steps=40)
    log_share, _ = best_share(log_eta)
    eta, log_beta2 = math.exp(log_eta), log_beta + log_share
    half_width, log_nu = _confirmed(
        k,
        eta,
        log_nu_at(eta, math.exp(log_share)),
        log_beta2,
        lambda log_nu: leakage_accuracy_log_failure(k, eta, log_nu, log_beta2) <= log_beta,
    )
    return Accuracy(half_width, eta, log_nu, -math.inf, log_beta2)
