"""How wide k adaptive answers are under typical stability: Theorem 6.1 of BF2 with its constants.

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

from holdfast import require
from holdfast.theory.base.safeside import log_add, log_up, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.nats import (
    gaussian_log_charge,
    gaussian_noise_error,
    laplace_log_charge,
)
from holdfast.theory.typical.composition import (
    Composed,
    approximate_composition,
    log_geometric_sum,
    pure_composition,
)
from holdfast.theory.typical.noise import laplace_mechanism_error
from holdfast.theory.typical.notion import log_probability_or_zero

__all__ = [
    "accuracy_half_width",
    "direct_accuracy_log_failure",
    "gaussian_accuracy_half_width",
    "gaussian_direct_accuracy_log_failure",
    "gaussian_leakage_accuracy_log_failure",
    "gaussian_literal_accuracy_log_failure",
    "leakage_accuracy_log_failure",
    "literal_accuracy_log_failure",
]


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
    return _literal(k, star, log_nu, log_beta2)


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
