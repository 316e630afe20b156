"""The stability of a whole interaction at a chosen level: the least eta of each composition.

A mechanism whose noise is fixed is (eta, tau, nu)-typically stable for many triples at once: the
smaller nu, the larger eta. `candidates` are triples (eta, ln tau, ln nu) that hold for every step
of an interaction of k steps. Each function below looks for the least eta' with which all steps
together are (eta', level, level)-stable in oracle form; every candidate gives a valid statement, so
what is found is valid, found exactly or not. None means that nothing can be said at this level.

Legend
    k               steps
    mu              the distance of Gaussian answers on typical samples from the oracle's, in
                    standard deviations, for a share ln nu of samples that are not typical
    log_level       ln of tau_out = nu_out
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.composition import (
    Composed,
    approximate_composition,
    equal_marginal_conditioning,
    pure_composition,
    sharp_composition,
)
from holdfast.theory.base.safeside import log_add, log_up, round_up, smallest_true
from holdfast.theory.base.theorem import theorem
from holdfast.theory.notions.arrows import gdp_to_approx_dp
from holdfast.theory.notions.composing import GDP
from holdfast.theory.typical.generalisation import stopped_oracle_sequential_log_bound
from holdfast.theory.typical.notion import log_probability_or_zero
from holdfast.theory.typical.sharp_composition import (
    bad_event_log_bound,
    optimal_composition_log_delta,
)

Candidate = tuple[float, float, float]  # eta, ln tau, ln nu

_PRECISION = 1e-6
# Parts of the mass tau* stands for that the deviation of the privacy loss may have.
_SHARES = (0.999, 0.98, 0.9, 0.75, 0.5, 0.1, 0.01)


def gaussian_candidates(curve: Iterable[tuple[float, float]]) -> list[Candidate]:
    """(eta, ln tau, ln nu) from (mu, ln nu): points of the exact Gaussian curve for each."""
    return [
        (eta, gdp_to_approx_dp(GDP(mu), eta).log_delta, log_nu)
        for mu, log_nu in curve
        if mu > 0
        for eta in (mu * times for times in (2.0, 4.0, 8.0, 16.0, 32.0))
    ]


def least_printed_composition(
    k: int, candidates: Iterable[Candidate], log_level: float
) -> Composed | None:
    """By the papers' theorems, repaired (`pure_composition`, `approximate_composition`)."""
    k, log_level = require.positive_integer("k", k), _level(log_level)
    composed = (
        _printed(k, candidate, log_level, math.log(share))
        for candidate in candidates
        for share in _SHARES
    )
    return min((each for each in composed if each), key=lambda each: each.eta, default=None)


def _printed(k: int, candidate: Candidate, log_level: float, log_share: float) -> Composed | None:
    """tau' takes a share of the mass at which tau* = nu* is the level."""
    eta, log_tau, log_nu = candidate
    factor = 1.0 if log_tau == -math.inf else 2.0
    log_mass = 2 * (log_level - math.log(5.0)) + math.log(factor * eta) if eta > 0 else -math.inf
    log_tau_prime = log_mass + log_share - math.log(k)
    if not -math.inf < log_tau_prime < 0:
        return None
    try:
        if log_tau == -math.inf:
            composed = pure_composition(k, eta, log_nu, log_tau_prime)
        else:
            composed = approximate_composition(k, eta, log_tau, log_nu, log_tau_prime)
    except (InvalidArgument, OverflowError):  # outside the theorem's range of eta and tau
        return None
    if composed.log_tau > log_level or not math.isfinite(composed.eta):
        return None
    return Composed(composed.eta, log_level, log_level)


def least_sharp_composition(
    k: int, candidates: Iterable[Candidate], log_level: float
) -> Composed | None:
    """By `sharp_composition`."""
    k, log_level = require.positive_integer("k", k), _level(log_level)
    composed = (_sharp(k, candidate, log_level) for candidate in candidates)
    return min((each for each in composed if each), key=lambda each: each.eta, default=None)


def _sharp(k: int, candidate: Candidate, log_level: float) -> Composed | None:
    eta, log_tau, log_nu = candidate
    log_bad = bad_event_log_bound(k, eta, log_nu, log_tau)
    log_rest = log_add(log_bad, math.log(k) + log_nu)

    def fits(eta_prime: float) -> bool:
        log_delta = optimal_composition_log_delta(k, eta, eta_prime, log_tau)
        return log_add(log_rest, math.log(2.0) + log_delta) <= 2 * log_level - _PRECISION

    most = round_up(k * eta)
    if not math.isfinite(most) or not fits(most):
        return None
    eta_prime = smallest_true(fits, 0.0, most, relative=_PRECISION)
    composed = sharp_composition(k, eta, log_nu, eta_prime, log_level, log_tau)
    return composed if composed.log_nu <= log_level else None


@theorem(
    source="Holdfast",
    place="Sections 6.5 and 6.8 together, Gaussian answers",
    statement="k adaptive Gaussian answers, each on all but a share nu of samples within mu "
    "standard deviations of its oracle, are together (eta', tau_out, (P + k nu + 2 delta)/tau_out)-"
    "typically stable in oracle form, P = sum_{j<k} Phi(Phi^{-1}(nu) + mu sqrt(j)), m = mu sqrt(k),"
    " delta = Phi(m/2 - eta'/m) - e^{eta'} Phi(-m/2 - eta'/m), for every eta' and tau_out.",
    domain="k >= 1, mu >= 0, ln nu <= 0 (-inf for 0), eta' >= 0, ln tau_out <= 0",
    monotone={"k": "up", "mu": "up", "log_nu": "up"},
    slack="Markov's inequality; the union over steps",
)
def gaussian_composition(
    k: int, mu: float, log_nu: float, eta_prime: float, log_tau_out: float
) -> Composed:
    """The transcript stopped at its first bad event against the oracle's: N(m, 1) and N(0, 1)."""
    k, mu = require.positive_integer("k", k), require.non_negative("mu", mu)
    log_nu = log_probability_or_zero("log_nu", log_nu)
    log_all = min(0.0, math.log(k) + log_nu)
    log_bad = -math.inf
    if log_nu > -math.inf:
        log_bad = stopped_oracle_sequential_log_bound([log_nu] * k, [mu] * k, [1.0] * k)
    m = round_up(math.sqrt(k) * mu) if mu > 0 else 0.0
    log_delta = gdp_to_approx_dp(GDP(m), eta_prime).log_delta
    log_nu_out = equal_marginal_conditioning(
        log_up(log_add(log_bad, log_delta)), log_up(log_add(log_all, log_delta)), log_tau_out
    )
    return Composed(eta_prime, log_tau_out, log_nu_out)


def least_gaussian_composition(
    k: int, curve: Iterable[tuple[float, float]], log_level: float
) -> Composed | None:
    """By `gaussian_composition`, over pairs (mu, ln nu) that hold for every answer."""
    k, log_level = require.positive_integer("k", k), _level(log_level)
    best: Composed | None = None
    for mu, log_nu in curve:
        most = k * mu * mu + 2 * mu * math.sqrt(k * -2.0 * log_level) + 1.0

        def fits(eta: float, mu: float = mu, log_nu: float = log_nu) -> bool:
            return gaussian_composition(k, mu, log_nu, eta, log_level).log_nu <= log_level

        if fits(most):
            eta = smallest_true(fits, 0.0, most, relative=_PRECISION)
            if best is None or eta < best.eta:
                best = gaussian_composition(k, mu, log_nu, eta, log_level)
    return best


def _level(log_level: float) -> float:
    return require.between("log_level", log_level, -math.inf, 0.0, open_high=True)
