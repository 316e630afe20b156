"""Laws of the leakage theorem, its account and its charges; coverage of the noise errors."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, stats

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.other_accounts import (
    discrete_uniform_log_charge,
    dp_log_charge,
    gaussian_log_charge,
    laplace_log_charge,
    laplace_noise_error,
    log_capacity,
    typical_log_charge,
    uniform_log_charge,
)
from holdfast.theory.base.concentration import BoundedMean, SubGaussian
from holdfast.theory.leakage.nats import (
    LeakageAccount,
    ask_log_cost,
    confirmed_log_charge,
    fixed_share,
    gaussian_noise_error,
    leakage_log_failure,
    open_ended_share,
    post_selected_radius,
    rounding_log_charge,
    surprise_log_charge,
)
from tests.theory.coverage import LEVELS, too_many

LAWS = (
    "ask_log_cost",
    "confirmed_log_charge",
    "discrete_uniform_log_charge",
    "dp_log_charge",
    "fixed_share",
    "gaussian_log_charge",
    "gaussian_noise_error",
    "laplace_log_charge",
    "laplace_noise_error",
    "leakage_log_failure",
    "log_capacity",
    "open_ended_share",
    "post_selected_radius",
    "rounding_log_charge",
    "surprise_log_charge",
    "uniform_log_charge",
)

NATS = st.floats(0, 50)
LOG_BETA = st.floats(-1000, -0.01)
SIZE = st.floats(1e-3, 10)
CHARGES = st.lists(NATS, min_size=1, max_size=20)
UNIT = SubGaussian(1.0)


def charged(account: LeakageAccount, charges: list[float]) -> LeakageAccount:
    return functools.reduce(LeakageAccount.charge, charges, account)


# --- Theorem L and its account -----------------------------------------------------------------


@given(rounds=st.lists(st.tuples(NATS, st.floats(-1000, 0)), min_size=1, max_size=12))
def test_the_failure_bound_is_the_sum_written_out_and_rounded_up(
    rounds: list[tuple[float, float]],
) -> None:
    charges, log_ps = zip(*rounds, strict=True)
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for j, log_p in enumerate(log_ps):
            total += mpmath.exp(mpmath.fsum(charges[:j]) + mpmath.mpf(log_p))
        expected = min(mpmath.mpf(0), mpmath.log(total))
    bound = leakage_log_failure(charges, log_ps)
    assert bound >= expected
    assert bound == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


@given(charges=CHARGES, log_p=LOG_BETA, last=NATS, data=st.data())
def test_the_failure_bound_forgets_the_order_of_charges_and_the_last_one(
    charges: list[float], log_p: float, last: float, data: st.DataObject
) -> None:
    """Charges before one noiseless question: only their sum matters; its own comes too late."""
    impossible = -5000.0
    shuffled = data.draw(st.permutations(charges))
    log_ps = [impossible] * len(charges) + [log_p]
    bound = leakage_log_failure([*charges, last], log_ps)
    assert bound == pytest.approx(leakage_log_failure([*shuffled, 0.0], log_ps), abs=1e-10)
    assert bound == pytest.approx(min(0.0, log_p + sum(charges)), abs=1e-10)


def test_without_charges_the_bound_is_bonferroni_and_without_questions_nothing() -> None:
    assert leakage_log_failure([0.0] * 50, [math.log(1e-3)] * 50) == pytest.approx(math.log(0.05))
    assert leakage_log_failure([], []) == -math.inf
    assert leakage_log_failure([100.0, 0.0], [-1.0, -1.0]) == 0.0, "a probability is at most 1"
    with pytest.raises(InvalidArgument, match="one length"):
        leakage_log_failure([0.0], [])
    with pytest.raises(InvalidArgument, match="log_charge"):
        leakage_log_failure([-0.1], [-1.0])


@given(charges=CHARGES, log_beta=LOG_BETA)
def test_an_account_that_pays_for_its_radii_keeps_the_promise(
    charges: list[float], log_beta: float
) -> None:
    """p_j = beta_j/K_j on every path makes the theorem's sum the sum of the shares."""
    account, log_ps = LeakageAccount(), []
    for j, nats in enumerate(charges, start=1):
        share = open_ended_share(log_beta, j)
        radius = account.radius(UNIT, share)
        log_ps.append(UNIT.log_tail(radius))
        account = account.ask(share).charge(nats)
    assert account.asked == len(charges)
    bound = leakage_log_failure(charges, log_ps)
    assert bound <= log_beta
    assert bound == pytest.approx(account.log_beta_spent, rel=1e-9, abs=1e-9)


@given(charges=CHARGES, data=st.data())
def test_the_account_forgets_the_order_of_charges(
    charges: list[float], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(charges))
    nats = charged(LeakageAccount(), charges).nats
    assert nats == pytest.approx(charged(LeakageAccount(), shuffled).nats, rel=1e-13)
    assert nats >= math.fsum(charges)


@given(nats=NATS, copies=st.integers(1, 200))
def test_copies_are_a_list_of_copies(nats: float, copies: int) -> None:
    listed = charged(LeakageAccount(), [nats] * copies)
    assert listed.nats == pytest.approx(copies * nats, rel=1e-12)
    charges, log_ps = [nats] * copies, [-200.0] * copies
    geometric = -200.0 + float(mpmath.log(mpmath.fsum(mpmath.exp(nats * j) for j in range(copies))))
    bound = leakage_log_failure(charges, log_ps)
    assert bound == pytest.approx(min(0.0, geometric), rel=1e-9, abs=1e-9)


@given(before=NATS, charges=CHARGES, share=LOG_BETA)
def test_a_batch_shares_one_leakage(before: float, charges: list[float], share: float) -> None:
    """All questions of a batch are asked at the same K; then all are charged."""
    account = LeakageAccount().charge(before)
    alone = account.radius(UNIT, share)
    radii = []
    for _ in charges:
        radii.append(account.radius(UNIT, share))
        account = account.ask(share)
    assert radii == [alone] * len(charges)
    after = charged(account, charges)
    assert after.radius(UNIT, share) >= alone
    one_by_one = LeakageAccount().charge(before)
    for nats in charges:
        one_by_one = one_by_one.ask(share).charge(nats)
    assert after.nats == pytest.approx(one_by_one.nats, rel=1e-13)
    assert after.log_beta_spent == one_by_one.log_beta_spent


def test_an_account_with_much_leakage_still_has_a_finite_radius() -> None:
    account = LeakageAccount().charge(1e6)
    assert account.radius(UNIT, -1000.0) == pytest.approx(math.sqrt(2 * (math.log(2) + 1_001_000)))
    assert LeakageAccount().radius(UNIT, 0.0) == pytest.approx(UNIT.radius(0.0))


# --- Shares ------------------------------------------------------------------------------------


@given(log_beta=LOG_BETA, k=st.integers(1, 10**6))
def test_shares_sum_to_at_most_beta(log_beta: float, k: int) -> None:
    with mpmath.workdps(40):
        beta = mpmath.exp(log_beta)
        assert k * mpmath.exp(fixed_share(log_beta, k)) <= beta
        share = mpmath.exp(open_ended_share(log_beta, k)) / beta
        assert share <= mpmath.mpf(1) / (k * (k + 1))
        assert float(share * k * (k + 1)) == pytest.approx(1.0, rel=1e-11)


def test_open_ended_shares_use_up_beta_in_the_end() -> None:
    total = math.fsum(math.exp(open_ended_share(-3.0, j)) for j in range(1, 2001))
    assert total == pytest.approx(math.exp(-3.0) * 2000 / 2001, rel=1e-12)


# --- Charges -----------------------------------------------------------------------------------


@given(scale=SIZE)
def test_a_question_that_cannot_deviate_reveals_nothing(scale: float) -> None:
    for charge in (
        uniform_log_charge(0.0, scale),
        laplace_log_charge(0.0, scale),
        gaussian_log_charge(0.0, scale),
        rounding_log_charge(0.0, scale),
        discrete_uniform_log_charge(0.0, scale, 7),
        ask_log_cost(0.0, scale),
        typical_log_charge(0.0),
        dp_log_charge(100, 0.0),
    ):
        assert 0.0 <= charge < 1e-300
    tiny = 1e-9 * scale
    assert uniform_log_charge(tiny, scale) == pytest.approx(1e-9, rel=1e-6)
    assert laplace_log_charge(tiny, scale) == pytest.approx(1e-9, rel=1e-6)
    assert gaussian_log_charge(tiny, scale) == pytest.approx(1e-9 * math.sqrt(2 / math.pi))
    assert rounding_log_charge(tiny, scale) == pytest.approx(math.log(2)), (
        "a cell's edge may be hit"
    )


@pytest.mark.parametrize("alpha", [0.01, 0.3, 1.0, 2.7])
@pytest.mark.parametrize("scale", [0.2, 1.0, 3.0])
def test_continuous_charges_are_the_mass_of_the_upper_envelope(alpha: float, scale: float) -> None:
    """The least kappa is the integral over answers of the largest density within the radius."""

    def envelope(law: stats.rv_frozen) -> float:
        # The densities fall from 0: the nearest centre to an answer is the best.
        reach = alpha + 40 * scale
        inside = 2 * alpha * float(law.pdf(0.0))
        outside, _ = integrate.quad(
            lambda x: float(law.pdf(x)), 0.0, reach, points=[scale], limit=200, epsabs=1e-13
        )
        return inside + 2 * float(outside)

    for charge, law in (
        (uniform_log_charge(alpha, scale), stats.uniform(-scale, 2 * scale)),
        (laplace_log_charge(alpha, scale), stats.laplace(scale=scale)),
        (gaussian_log_charge(alpha, scale), stats.norm(scale=scale)),
    ):
        assert math.exp(charge) == pytest.approx(envelope(law), rel=1e-9)


@given(
    alpha=st.fractions(0, 3, max_denominator=60),
    half_pitch=st.fractions(Fraction(1, 20), 2, max_denominator=60),
)
def test_rounding_is_charged_for_the_cells_an_interval_can_meet(
    alpha: Fraction, half_pitch: Fraction
) -> None:
    """The worst position of an interval of length 2 alpha: it starts just before a cell's edge."""
    pitch, sliver = 2 * half_pitch, Fraction(1, 10**9)
    starts = (Fraction(0), pitch * (1 - sliver))
    met = max(math.floor((s + 2 * alpha) / pitch) - math.floor(s / pitch) + 1 for s in starts)
    charge = rounding_log_charge(float(alpha), float(half_pitch))
    assert charge >= math.log(met)
    if float(alpha) == alpha and float(half_pitch) == half_pitch:
        assert charge == pytest.approx(math.log(met), rel=1e-12)


@given(alpha=SIZE, D=SIZE)
def test_fine_grids_are_charged_like_continuous_noise(alpha: float, D: float) -> None:
    continuous = uniform_log_charge(alpha, D)
    for m in (10**3, 10**6):
        g = Fraction(D) * 2 / (2 * m + 1)
        discrete = discrete_uniform_log_charge(alpha, g, m)
        assert continuous * (1 - 1e-12) <= discrete <= continuous + 1.0000001 / (2 * m + 1)


@given(share=st.floats(1e-6, 0.999), t=SIZE)
def test_asking_at_a_tolerance_is_uniform_noise_with_what_is_left(share: float, t: float) -> None:
    alpha = share * t
    assert ask_log_cost(alpha, t) == pytest.approx(uniform_log_charge(alpha, t - alpha), rel=1e-9)
    with pytest.raises(InvalidArgument, match="radius"):
        ask_log_cost(t, t)


@given(eps=st.floats(1e-9, 1 - 1e-9), release=NATS)
def test_the_two_symbols_of_a_check_share_one_prior(eps: float, release: float) -> None:
    """Weights 1/kappa of confirmed and surprise sum to at most 1; a release comes on top."""
    confirmed, surprise = confirmed_log_charge(eps), surprise_log_charge(eps, 0.0)
    total = math.exp(-confirmed) + math.exp(-surprise)
    assert total <= 1.0 + 1e-15
    assert total == pytest.approx(1.0, rel=1e-9)
    assert surprise_log_charge(eps, release) == pytest.approx(surprise + release, rel=1e-12)


@pytest.mark.parametrize(("n", "eps"), [(1, 0.5), (10, 0.5), (100, 0.1)])
def test_private_steps_leak_more_than_their_epsilon(n: int, eps: float) -> None:
    """The least kappa of randomised response: the sum over outputs of the largest probability."""

    def leakage(symbols: int) -> float:
        return n * math.log(symbols * math.exp(eps) / (math.exp(eps) + symbols - 1))

    assert leakage(2) == pytest.approx(n * math.log(2 / (1 + math.exp(-eps))))
    assert leakage(2) > eps or n == 1, "e^eps is no charge for many rows"
    assert leakage(2) < leakage(50) < dp_log_charge(n, eps)
    assert leakage(10**9) == pytest.approx(dp_log_charge(n, eps), rel=1e-6)


@given(sigma=st.floats(0.01, 1), ratio=st.floats(5, 100), share=st.floats(-12, -1))
def test_capacity_is_where_the_radius_reaches_the_tolerance(
    sigma: float, ratio: float, share: float
) -> None:
    t, profile = ratio * sigma, SubGaussian(sigma)
    nats = log_capacity(sigma, t, share)
    account = LeakageAccount().charge(max(0.0, nats))
    assert nats > 0 or profile.radius(share) >= t
    if nats > 0:
        assert account.radius(profile, share) == pytest.approx(t, rel=1e-9)


@given(n=st.integers(1, 10**6), t=st.floats(0.01, 1), share=LOG_BETA)
def test_capacity_of_independent_rows(n: int, t: float, share: float) -> None:
    expected = 2 * n * t**2 - math.log(2) + share
    assert log_capacity(BoundedMean(n).sigma, t, share) == pytest.approx(
        expected, rel=1e-9, abs=1e-9
    )


# --- Post-selected statements and noise --------------------------------------------------------


@given(log_beta=LOG_BETA, nats=NATS, N=st.integers(1, 10**9))
def test_post_selection_is_one_more_question_per_candidate(
    log_beta: float, nats: float, N: int
) -> None:
    radius = post_selected_radius(UNIT, log_beta, nats, N)
    account = LeakageAccount().charge(nats)
    assert radius == pytest.approx(account.radius(UNIT, fixed_share(log_beta, N)), rel=1e-12)
    assert radius >= post_selected_radius(UNIT, log_beta, nats) >= UNIT.radius(log_beta)
    leak_like_candidates = post_selected_radius(UNIT, log_beta, nats + math.log(N))
    assert radius == pytest.approx(leak_like_candidates, rel=1e-12)


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_coverage_of_a_choice_among_candidates(beta: float, trials: int) -> None:
    """The largest of twenty means is shown; sabotage: the choice is forgotten."""
    N = 20
    draws = np.random.default_rng(3).standard_normal((trials, N), dtype=np.float32)
    largest = np.abs(draws).max(axis=1)
    assert not too_many(largest > post_selected_radius(UNIT, math.log(beta), 0.0, N), beta)
    assert too_many(largest > post_selected_radius(UNIT, math.log(beta), 0.0), beta)


@given(scale=SIZE, log_beta=st.floats(-600, -1e-6))
def test_noise_errors_are_the_tails_inverse(scale: float, log_beta: float) -> None:
    laplace, gaussian = (
        laplace_noise_error(scale, log_beta),
        gaussian_noise_error(scale, log_beta),
    )
    assert -laplace / scale == pytest.approx(log_beta, rel=1e-12)
    both_sides = math.log(2) + stats.norm.logsf(gaussian / scale)
    assert both_sides == pytest.approx(log_beta, rel=1e-9, abs=1e-9)
    assert both_sides <= log_beta + 1e-12


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_coverage_of_the_noise_errors(beta: float, trials: int) -> None:
    """Both are exact, so little shrinking is needed to break them."""
    generator, log_beta = np.random.default_rng(4), math.log(beta)
    laplace = np.abs(generator.laplace(scale=0.3, size=trials))
    gaussian = np.abs(generator.normal(scale=0.3, size=trials))
    for noise, error in (
        (laplace, laplace_noise_error(0.3, log_beta)),
        (gaussian, gaussian_noise_error(0.3, log_beta)),
    ):
        assert not too_many(noise > error, beta)
        assert too_many(noise > 0.9 * error, beta)
