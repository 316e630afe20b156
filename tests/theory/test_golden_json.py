"""Every row of golden.json, by name: values computed independently of this code."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from holdfast.papers.theorems import (
    composition as typical_composition,
    notions,
    other_accounts,
    surprise_codes,
    tv_generalisation,
)
from holdfast.theory.base import intervals
from holdfast.theory.base.concentration import BoundedMean, SubExponential, SubGaussian
from holdfast.theory.direct import (
    auc as ranking,
    bounded_mean as mean,
    paired,
    unit_sums as ratio,
)
from holdfast.theory.leakage import (
    claim_levels as claims,
    equal_width as rounds,
    forecasts,
    winners,
)
from holdfast.theory.leakage.equal_width import bounded_noise_half_width
from holdfast.theory.leakage.forecasts import forecast_log_charge as charge_of
from holdfast.theory.length import families, levels
from holdfast.theory.length.levels import described_log_level
from holdfast.theory.notions import (
    composing as stability,
    distances,
)
from holdfast.theory.transfer import (
    gaussian_noise as gaussian_transfer,
    median_width as median_noise,
)
from holdfast.theory.typical import (
    calibrated_noise as typical_mechanisms,
    generalisation as stopped_oracle,
    notion as typical,
    sharp_composition,
)
from tests.theory.rows import numbers

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "golden.json").read_text(encoding="utf-8")
)
log = math.log


def balanced(composed: typical_composition.Composed) -> tuple[float, float]:
    assert composed.log_tau == composed.log_nu
    return composed.eta, math.exp(composed.log_tau)


def pair(eta: float, tau: float, nu: float) -> tuple[float, float, float]:
    stable = typical.oracle_to_pair(eta, tau, nu)
    return stable.eta, stable.tau, stable.nu


def five_bets(
    values: list[float], counts: list[int], lo: float, hi: float, log_p: float, d: float
) -> float:
    scaled = [(value - lo) / (hi - lo) for value in values]
    return lo + (hi - lo) * mean.bet_lower(scaled, d, log_p, counts)


def described_level(beta: float, bits: float) -> float:
    """A row may have a length that is no whole number of thousandths."""
    whole = math.floor(1000 * bits)
    return described_log_level(log(beta), whole) - (bits - whole / 1000) * log(2)


def described_nats(n: int, bits: float, beta: float) -> float:
    alpha = BoundedMean(n).radius(described_level(beta, bits))
    return levels.coexistence_log_charge(levels.count_symbols(n, alpha))


def claim_level(beta_l: float, spent: float, f: int, c: int, nats: float) -> float:
    left = claims.log_left(log(beta_l), log(spent))
    return claims.claim_log_level(left, 1.0 - claims.surprise_prior(c, f), nats)


def development_forecast(
    devs: list[list[int]], n: int, p: float, optimism: float, gamma: float
) -> float:
    results = [forecasts.DevResult(*dev) for dev in devs]
    shown = forecasts.DevPosterior.of(results).show_probability(results[-1], n, log(p))
    return float(shown[forecasts.OPTIMISMS.index(optimism)] ** gamma)


def first_gate(
    A: float, k: int, devs: list[list[int]], n: int, prior: list[float], **ours: Any
) -> float:
    """Before it is rounded; the row's other inputs are constants of ours."""
    assert ours == {"optimisms": [0, 1.5, 3], "emin": 0.05 / (k + 1), "emax": 0.99, "rounds": 5}
    results = [forecasts.DevResult(*dev) for dev in devs]
    posterior, mixture = forecasts.DevPosterior.of(results), forecasts.Mixture.opened(prior)
    members = forecasts.gate_forecasters(1 / (k + 1), n, posterior, results[-1], candidates=k)
    return mixture.weight(forecasts.forecast(mixture, members, log(A)).members)


def instance_bits(share: float, tier: float, instances: int) -> float:
    """Of a plan of this weight: 39 pairs of three factors' values."""
    assert tier == families.tier_share(2, 2)
    weight = families.pattern_weight((5, 3, 3), 2, 2)
    assert weight == Fraction(tier) / instances
    return -math.log2(Fraction(share) * weight)


def effect_bits(arms: int, values: int, tier: int) -> float:
    return -math.log2(families.pattern_weight((values,), tier, 1, arms - 1) / 2)


CALLS: dict[str, Callable[..., Any]] = {
    "SubGaussian radius": lambda sigma, p: SubGaussian(sigma).radius(log(p)),
    "SubExponential radius": lambda sigma, b, p: SubExponential(sigma, b).radius(log(p)),
    "Clopper-Pearson upper, one-sided": intervals.clopper_pearson_upper,
    "KL upper: sup p with n*kl(mean,p) <= L": intervals.kl_upper,
    "kappa of discrete uniform release": lambda alpha, g, m: math.exp(
        other_accounts.discrete_uniform_log_charge(alpha, g, m)
    ),
    "half-width/sigma, k questions, equal half-width, uniform noise, last answer noiseless, "
    "beta_j free (best of equal and geometric weights)": lambda k, beta: bounded_noise_half_width(
        SubGaussian(1.0), k, log(beta)
    ),
    "ln N, fixed (k, m, G)": surprise_codes.log_nodes,
    "ln weight, KT code incl. 1/(t(t+1))": surprise_codes.kt_log_weight,
    "global rounding half-width, best integer G": lambda n, k, beta: (
        surprise_codes.global_rounding_width(n, k, log(beta))
    ),
    "F(b) = E(V-b)_+": lambda b, m: math.exp(gaussian_transfer.log_shift_excess(b, m)),
    "CVaR of posterior shift (Theorem T, min over b)": lambda m, beta: (
        gaussian_transfer.gaussian_shift(m, log(beta))
    ),
    "CVaR_beta(max_j |N(0,1)|)": lambda k, beta: gaussian_transfer.gaussian_max_noise(k, log(beta)),
    "Gaussian T half-width, optimised noise": lambda n, k, beta: (
        gaussian_transfer.gaussian_half_width(n, k, log(beta)).half_width
    ),
    "C = CVaR_beta(max |V_j|), median noise": lambda k, a, beta: median_noise.median_max_noise(
        k, a, log(beta)
    ),
    "median noise half-width, optimised D and a in {2, 3}": lambda n, k, beta: (
        median_noise.median_noise_half_width(n, k, log(beta)).half_width
    ),
    "H + theta/beta at given D, a": lambda n, k, D, a, beta: median_noise.median_shift(
        n, k, D, a, log(beta)
    ),
    "oracle -> pair": pair,
    "eta_t": lambda t, eta, tau_prime: typical_composition.composed_eta(t, eta, log(tau_prime)),
    "printed pure composition (eta*, tau*=nu*)": lambda k, eta, nu, tau_prime: balanced(
        typical_composition.pure_composition(k, eta, log(nu), log(tau_prime))
    ),
    "printed approximate composition (eta*, tau*=nu*), exponent eta_t": (
        lambda k, eta, tau, nu, tau_prime: balanced(
            typical_composition.approximate_composition(k, eta, log(tau), log(nu), log(tau_prime))
        )
    ),
    "optimal composition delta_k(eta')": lambda k, eta, eta_prime: math.exp(
        sharp_composition.optimal_composition_log_delta(k, eta, eta_prime)
    ),
    "sharp composition (eta', tau=nu)": lambda k, eta, nu, eta_prime: balanced(
        typical_composition.sharp_composition_balanced(k, eta, log(nu), eta_prime)
    ),
    "exact Gaussian calibration s": lambda alpha, eta, tau: typical_mechanisms.gaussian_scale(
        alpha, eta, log(tau)
    ),
    "ln Phi(Phi^-1(p0)+m)": stopped_oracle.stopped_oracle_log_bound,
    "k-fold Gaussian TV, exact": distances.gaussian_tv,
    "TV of an (eps, delta) pair": lambda eps, delta: (
        notions.approx_dp_to_tv(
            stability.ApproxDP(eps, log(delta) if delta else -math.inf)
        ).distance
    ),
    "expected generalisation from TV": lambda eps, n, delta: tv_generalisation.tv_expected_error(
        eps, n, log(delta)
    ),
    "least s for expected error tau (exact TV)": lambda n, k, tau, delta: (
        tv_generalisation.gaussian_scale_for_expected_error(n, k, tau, log(delta))
    ),
    "described half-width, Hoeffding, bits": lambda n, bits, beta: BoundedMean(n).radius(
        described_level(beta, bits)
    ),
    "described Clopper-Pearson interval": lambda n, successes, bits, beta: (
        intervals.clopper_pearson(n, successes, described_level(beta, bits))
    ),
    "nats an exact described answer costs later leakage questions": described_nats,
    "nats of c confirmations from none, default prior": claims.confirmations_log_charge,
    "default prior of a surprise after c checks, f of them surprises": lambda f, c: (
        claims.surprise_prior(c, f)
    ),
    "ln level of a claim (a side), default prior": claim_level,
    "mixture forecast e of gates 1..3; prior .1 .5 .2 .2, symbols shown, not shown": (
        forecasts.forecast_weights
    ),
    "nats of the two symbols": lambda prior, forecasts, symbols: charge_of(
        prior, forecasts[: len(symbols)], symbols
    ),
    "ln level of a gate: ln((beta_L-s) e/K)": lambda beta_L, s, nats, e: claims.claim_log_level(
        claims.log_left(log(beta_L), log(s)), e, nats
    ),
    "margin b-c that the sign test needs (smooth): m, p": lambda m, p: forecasts.needed_margin(
        m, log(p)
    ),
    "EB forecast at level p; dev results in order (b, c, n'), last is the candidate's": (
        development_forecast
    ),
    "first gate: u = the mixture at A e_5, A=.05, k=100, dev 40:10 of 1000": first_gate,
    "prior of the member of CV rank r among N: (N+1)/(N r (r+1))": lambda r, N: float(
        winners.rank_weight(r, N)
    ),
    "charge of the order of the first m (Plackett-Luce), nats": winners.order_log_charge,
    "prior of the cell 588..591 of 600 from a CV score .976 on 1200 rows, cells of 4": (
        lambda cv, n_cv, n, low, high, cells: math.exp(
            winners.cell_log_weight(n, low, high, cells, winners.Cv(cv, n_cv))
        )
    ),
    "interval of the told winner: cell 588..591 of 600, beta_L=.05, rank 2 of 16, K=1": (
        winners.winner_interval
    ),
    "bits of an instance: share 1/2, tier 1/2, 39 instances": instance_bits,
    "bits of an effect: arms, factor values, tier of depth-1 plan (planned 1/2, one pattern)": (
        effect_bits
    ),
    "adjusted p = s + p K/u": lambda p, spent, nats, u: claims.adjusted_p(log(p), spent, u, nats),
    "half-width, k questions in d rounds, the last without noise, shares beta/k": (
        lambda n, k, d, beta: rounds.rounds_half_width(BoundedMean(n), k, d, log(beta))
    ),
    "lower end by five bets (d: second moment in units of [-1, 1])": five_bets,
    "ln p of the exact sign test": paired.sign_test_log_p,
    "smallest observed difference shown by the sign test at a ln level, "
    "round(n d) differing rows": (
        lambda n, d, log_level: paired.smallest_shown_difference(n, round(n * d), log_level)
    ),
    "ranks [r, s] of the closed interval of a quantile (0, n+1: the declared end), "
    "two-sided level": intervals.quantile_ranks,
    "F1 interval from counts": ratio.f1_interval,
    "AUC interval by KL": ranking.auc_kl_interval,
    "lower end of a bounded mean by the mixture in odds cells, two-sided level": (
        lambda values, counts, log_p: mean.bounded_mean_interval(values, log_p, counts).low
    ),
    "mass of the outlier floor": mean.outlier_floor_mass,
}


def name(row: dict[str, Any]) -> str:
    inputs = ", ".join(
        f"{key}={value:g}" if isinstance(value, int | float) else f"{len(value)} {key}"
        for key, value in row["inputs"].items()
    )
    return f"{row['section']}: {row['what'][:40]} ({inputs})"


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_golden_row(row: dict[str, Any]) -> None:
    value = numbers(CALLS[row["what"]](**row["inputs"]))
    expected = row["expected"] if isinstance(row["expected"], list) else [row["expected"]]
    assert value == pytest.approx(tuple(expected), rel=row["rel"])
    if "not narrower by more than 1 %" in row.get("note", ""):
        assert value[0] >= 0.99 * expected[0]


def test_every_kind_of_row_is_called() -> None:
    assert {row["what"] for row in ROWS} == CALLS.keys()
