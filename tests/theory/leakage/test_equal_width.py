"""Laws of the equal-width plans."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.baselines import bonferroni_half_width
from holdfast.papers.theorems.other_accounts import (
    check_fits,
    check_half_width,
    continuum_questions,
    laplace_fits,
    laplace_half_width,
    laplace_log_charge,
    laplace_noise_error,
    renyi_fits,
    renyi_half_width,
)
from holdfast.theory.base.concentration import (
    BinomialMean,
    BoundedMean,
    Concentration,
    DeclaredTail,
    SubExponential,
    SubGaussian,
)
from holdfast.theory.base.safeside import largest_integer
from holdfast.theory.leakage import equal_width
from holdfast.theory.leakage.claim_levels import claim_log_level, declared_surprise_prior, log_left
from holdfast.theory.leakage.equal_width import (
    bounded_noise_fits,
    bounded_noise_half_width,
    claims_fit,
    claims_half_width,
    most_asks,
    most_roundings,
    rounding_fits,
    rounding_half_width,
)
from holdfast.theory.leakage.nats import (
    LeakageAccount,
    ask_log_cost,
    confirmed_log_charge,
    fixed_share,
    rounding_log_charge,
    surprise_log_charge,
)
from holdfast.theory.leakage.release import discrete_uniform_for

LAWS = (
    "bounded_noise_half_width",
    "check_half_width",
    "claims_half_width",
    "continuum_questions",
    "declared_surprise_prior",
    "laplace_half_width",
    "renyi_half_width",
    "rounding_half_width",
)

LOG_05 = math.log(0.05)
UNIT = SubGaussian(1.0)
LOG_BETA = st.floats(-1000, -0.01)
FEW = st.integers(1, 100)
Fits = Callable[[float], bool]


# --- The numbers of the specification ----------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "k", "half_width"),
    [
        (10**4, 10, 0.0308),
        (10**4, 100, 0.0745),
        (10**4, 1000, 0.206),
        (10**5, 100, 0.0236),
        (10**5, 1000, 0.0653),
        (10**5, 10_000, 0.196),
        (10**6, 1000, 0.0206),
        (10**6, 10_000, 0.0619),
    ],
)
def test_bounded_noise_has_the_published_half_widths(n: int, k: int, half_width: float) -> None:
    computed = bounded_noise_half_width(BoundedMean(n), k, LOG_05)
    assert computed == pytest.approx(half_width, rel=0.0025)


@pytest.mark.parametrize(
    ("n", "tolerance", "questions"),
    [(10**4, 0.05, 37), (10**4, 0.1, 199), (10**5, 0.05, 559), (10**5, 0.1, 2478)],
)
def test_bounded_noise_answers_the_published_number_of_questions(
    n: int, tolerance: float, questions: int
) -> None:
    def fits(k: int) -> bool:
        return bounded_noise_fits(BoundedMean(n), k, tolerance, LOG_05)

    reached = largest_integer(fits, most=10**5)
    assert reached == questions if questions < 2000 else 0.995 * questions < reached <= questions


# --- The fast path -----------------------------------------------------------------------------

PLANS: list[tuple[str, int, Callable[[int], float], Callable[[int, float], bool]]] = [
    *(
        (
            f"bounded noise, {k}",
            k,
            lambda k: bounded_noise_half_width(UNIT, k, LOG_05),
            lambda k, t: bounded_noise_fits(UNIT, k, t, LOG_05),
        )
        for k in (3000, 10_000, 30_000)
    ),
    (
        "rounding, 3000",
        3000,
        lambda k: rounding_half_width(UNIT, k, LOG_05),
        lambda k, t: rounding_fits(UNIT, k, t, LOG_05),
    ),
    (
        "laplace, 3000",
        3000,
        lambda k: laplace_half_width(UNIT, k, LOG_05),
        lambda k, t: laplace_fits(UNIT, k, t, LOG_05),
    ),
    (
        "check, 3000",
        10_000,
        lambda k: check_half_width(UNIT, k, 3000, LOG_05),
        lambda k, t: check_fits(UNIT, k, 3000, t, LOG_05),
    ),
    (
        "claims, 3000 of 9000",
        9000,
        lambda k: claims_half_width(UNIT, k, 3000, LOG_05),
        lambda k, t: claims_fit(UNIT, k, 3000, t, LOG_05),
    ),
    (
        "renyi, 3000",
        3000,
        lambda k: renyi_half_width(UNIT, k, LOG_05, 0.5),
        lambda k, t: renyi_fits(UNIT, k, t, LOG_05, 0.5),
    ),
]


@pytest.mark.parametrize(
    ("k", "half_width", "fits"), [plan[1:] for plan in PLANS], ids=[plan[0] for plan in PLANS]
)
def test_the_integral_is_never_narrower_than_the_recurrence_and_close_to_it(
    k: int,
    half_width: Callable[[int], float],
    fits: Callable[[int, float], bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    t = half_width(k)
    monkeypatch.setattr(equal_width, "MOST_EXACT", 10**9)
    assert fits(k, t), "the recurrence itself must go through at the integral's half-width"
    assert not fits(k, t / 1.002), "and must not at 0.2 % less"


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from([BoundedMean, BinomialMean]),
    st.integers(30, 300_000),
    st.floats(0.02, 0.4),
    st.floats(-9, -2),
    st.sampled_from([3, 700, 10**6]),
)
def test_questions_that_fit_are_counted_as_one_by_one(
    law: Callable[[int], Concentration], n: int, t: float, log_beta: float, most: int
) -> None:
    """Shares of beta/k: the number is the largest that the plan for that number affords."""
    for count, fits in ((most_asks, bounded_noise_fits), (most_roundings, rounding_fits)):
        found = count([[law(n)]], t, lambda k: log_beta - math.log(k), 0.0, most)
        afforded = partial(fits, law(n), t=t, log_beta=log_beta)
        assert found == largest_integer(afforded, most=most)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.integers(20_000, 300_000),
    st.floats(0.05, 0.4),
    st.sampled_from([3, 200, 10**6]),
)
def test_questions_of_several_parts_are_counted_as_one_by_one(
    sizes: list[int], n: int, t: float, most: int
) -> None:
    """The parts of a stage on one account, charged together; beyond what is counted, fewer."""
    stages = [[BoundedMean(n - 100 * place) for place in range(size)] for size in sizes]
    parts, log_beta = sum(sizes), LOG_05

    def fits(k: int) -> bool:
        L = math.log(k * parts) - log_beta
        for _ in range(k):
            for stage in stages:
                radii = [each.radius(-L) for each in stage]
                if max(radii) >= t:
                    return False
                L += sum(-math.log1p(-radius / t) + 1e-5 for radius in radii)
        return True

    found = most_asks(stages, t, lambda k: log_beta - math.log(k * parts), 0.0, most)
    assert found == most or not fits(math.ceil(1.01 * found) + 1)
    assert found == 0 or found > 3_000 or fits(found)


def test_few_questions_are_counted_without_a_sum_over_radii() -> None:
    """Every answer says how many are left: a hundred take some hundreds of radii, and no more."""
    looked_up = 0

    class Counted(BoundedMean):
        def log_tail(self, radius: float) -> float:
            nonlocal looked_up
            looked_up += 1
            return super().log_tail(radius)

        def radius(self, log_p: float) -> float:
            nonlocal looked_up
            looked_up += 1
            return super().radius(log_p)

    found = most_asks([[Counted(1_000)]], 0.25, lambda k: LOG_05 - 2 * math.log(k), 0.0, 10**12)
    assert 50 < found < 200
    assert looked_up < 1_000


def test_the_two_paths_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = bounded_noise_half_width(UNIT, equal_width.MOST_EXACT + 1, LOG_05)
    beyond = bounded_noise_half_width(UNIT, equal_width.MOST_EXACT + 2, LOG_05)
    assert exact < beyond < 1.002 * exact


def test_a_deviation_that_never_happens_ends_the_plan() -> None:
    """Values in [0, 1]: no deviation reaches 1, so no number of questions needs more."""
    bounded = DeclaredTail(lambda a: math.log(2) - 200 * a * a if a < 1 else -math.inf, largest=1.0)
    few = bounded_noise_half_width(bounded, 10, LOG_05)
    assert few == pytest.approx(bounded_noise_half_width(BoundedMean(100), 10, LOG_05), rel=1e-6)
    assert 1.0 <= bounded_noise_half_width(bounded, 5000, LOG_05) < 1.01


# --- Order among the plans ---------------------------------------------------------------------


@given(n=st.integers(10, 10**7), k=FEW, log_beta=LOG_BETA)
def test_bounded_noise_is_above_the_non_adaptive_floor(n: int, k: int, log_beta: float) -> None:
    half_width = bounded_noise_half_width(BoundedMean(n), k, log_beta)
    floor = bonferroni_half_width(n, k, log_beta)
    assert half_width >= floor
    one = bounded_noise_half_width(BoundedMean(n), 1, log_beta)
    assert one == pytest.approx(bonferroni_half_width(n, 1, log_beta), rel=2e-7)
    assert one >= bonferroni_half_width(n, 1, log_beta)


@given(k=FEW, log_beta=LOG_BETA)
def test_rounding_and_laplace_are_never_narrower_than_bounded_noise(
    k: int, log_beta: float
) -> None:
    bounded = bounded_noise_half_width(UNIT, k, log_beta)
    assert rounding_half_width(UNIT, k, log_beta) >= bounded * (1 - 3e-7)
    assert laplace_half_width(UNIT, k, log_beta) >= bounded * (1 - 3e-7)


@settings(max_examples=15)
@given(k=FEW, log_beta=LOG_BETA, scale=st.floats(1e-4, 0.1))
def test_half_widths_scale_with_the_profile(k: int, log_beta: float, scale: float) -> None:
    for half_width in (bounded_noise_half_width, rounding_half_width, laplace_half_width):
        scaled = half_width(SubGaussian(scale), k, log_beta)
        assert scaled == pytest.approx(scale * half_width(UNIT, k, log_beta), rel=1e-6)


@settings(max_examples=15)
@given(k=FEW, log_beta=LOG_BETA)
def test_renyi_at_one_is_theorem_l(k: int, log_beta: float) -> None:
    theorem_l = bounded_noise_half_width(UNIT, k, log_beta)
    assert renyi_half_width(UNIT, k, log_beta, 1.0) == pytest.approx(theorem_l, rel=1e-5)


def test_renyi_gains_one_percent_at_a_thousand_questions() -> None:
    best = renyi_half_width(UNIT, 1000, LOG_05, 0.5)
    assert best / bounded_noise_half_width(UNIT, 1000, LOG_05) == pytest.approx(0.99, abs=0.002)


@pytest.mark.parametrize("u", [0.0, -0.1, 1.1, math.nan])
def test_renyi_orders_are_in_the_unit_interval(u: float) -> None:
    with pytest.raises(InvalidArgument, match="u is"):
        renyi_half_width(UNIT, 10, LOG_05, u)


# --- The plan can be carried out ---------------------------------------------------------------


def _discrete(radius: float, t: float, share: float) -> float:
    return discrete_uniform_for(t, radius).log_charge(radius)


def _rounded(radius: float, t: float, share: float) -> float:
    return rounding_log_charge(radius, t - radius)


def _laplace(radius: float, t: float, share: float) -> float:
    """The noise takes the same share again, so its scale is what is left over ln(1/share)."""
    scale = (t - radius) / -share
    assert laplace_noise_error(scale, share) == pytest.approx(t - radius)
    return laplace_log_charge(radius, scale)


@pytest.mark.parametrize(("n", "k"), [(100, 1), (1000, 10), (10_000, 100), (10_000, 400)])
@pytest.mark.parametrize(
    ("half_width", "charge", "shares_each"),
    [
        (bounded_noise_half_width, _discrete, 1),
        (rounding_half_width, _rounded, 1),
        (laplace_half_width, _laplace, 2),
    ],
)
def test_the_account_carries_out_the_plan_and_no_narrower_one(
    half_width: Callable[[BoundedMean, int, float], float],
    charge: Callable[[float, float, float], float],
    shares_each: int,
    n: int,
    k: int,
) -> None:
    """With real releases, rounded charges and all; a little narrower some question is refused."""
    profile, share = BoundedMean(n), fixed_share(LOG_05, k * shares_each)

    def carried_out(t: float) -> bool:
        account = LeakageAccount()
        for _ in range(k):
            radius = account.radius(profile, share)
            if radius >= t:
                return False
            account = account.ask(share).charge(charge(radius, t, share))
        spent = account.log_beta_spent + math.log(shares_each)
        return spent == pytest.approx(LOG_05, rel=1e-11)

    t = half_width(profile, k, LOG_05)
    assert carried_out(t)
    assert not carried_out(0.999 * t)


@given(ratio=st.floats(20, 60), log_share=st.floats(-12, -3))
def test_the_continuum_is_just_below_the_recurrence(ratio: float, log_share: float) -> None:
    """Count the questions of share beta_j that the account answers at t = ratio sigma."""
    account, asked = LeakageAccount(), 0
    while (radius := account.radius(UNIT, log_share)) < ratio:
        account, asked = account.charge(ask_log_cost(radius, ratio)), asked + 1
    continuum = continuum_questions(1.0, ratio, log_share)
    assert continuum <= asked <= continuum + 8


def test_the_continuum_tends_to_ln_2() -> None:
    assert continuum_questions(1.0, 1e5, -3.0) / 1e10 == pytest.approx(math.log(2), rel=1e-4)
    assert continuum_questions(1.0, 2.0, -3.0) == 0.0, "not even one question"


# --- Checks ------------------------------------------------------------------------------------


def test_checks_without_surprises_are_far_below_bounded_noise() -> None:
    for k, ratio in ((10, 0.61), (100, 0.3), (1000, 0.12)):
        bounded = bounded_noise_half_width(UNIT, k, LOG_05)
        confirmed = check_half_width(UNIT, k, 0, LOG_05)
        assert confirmed < ratio * bounded
        # Within one nat of questions chosen beforehand: k ln(1 + 1/(k+1)) < 1.
        assert confirmed >= UNIT.radius(LOG_05 - math.log(k))
        assert confirmed <= UNIT.radius(LOG_05 - math.log(k) - 1) * (1 + 1e-6)


def _survives(run: tuple[bool, ...], eps: float, share: float, t: float, room: float) -> bool:
    """The account itself, question by question: does every radius stay below t - room?"""
    account = LeakageAccount()
    for surprised in run:
        radius = account.radius(UNIT, share)
        if radius >= t - room:
            return False
        charge = (
            surprise_log_charge(eps, ask_log_cost(radius, t))
            if surprised
            else confirmed_log_charge(eps)
        )
        account = account.ask(share).charge(charge)
    return True


@pytest.mark.parametrize("room", [0.0, 2.0])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_the_worst_order_of_surprises_is_the_one_planned_for(k: int, room: float) -> None:
    """Every order of every allowed number of surprises goes through at the planned half-width, and
    just below it some order does not."""
    share = fixed_share(LOG_05, k)
    for surprises in range(k + 1):
        t = check_half_width(UNIT, k, surprises, LOG_05, room)
        eps = declared_surprise_prior(surprises, k)
        runs = [run for run in itertools.product((False, True), repeat=k) if sum(run) <= surprises]
        assert all(_survives(run, eps, share, t, room) for run in runs)
        assert check_fits(UNIT, k, surprises, t, LOG_05, room)
        tight = t * (1 - 1e-5)
        assert not all(_survives(run, eps, share, tight, room) for run in runs)
        assert not check_fits(UNIT, k, surprises, tight, LOG_05, room)


def _claims_survive(run: tuple[bool, ...], eps: float, t: float, room: float) -> bool:
    """The account itself: is a guess `room` off always confirmed, and what is refuted answered?"""
    account, share = LeakageAccount(), fixed_share(LOG_05, len(run))
    for surprised in run:
        if not surprised:
            left = log_left(LOG_05, account.log_beta_spent)
            if left == -math.inf:
                return False
            if UNIT.radius(claim_log_level(left, 1 - eps, account.nats)) + room >= t:
                return False
            account = account.charge(confirmed_log_charge(eps))
            continue
        account = account.charge(surprise_log_charge(eps, 0.0))
        radius = account.radius(UNIT, share)
        if radius >= t:
            return False
        account = account.ask(share).charge(ask_log_cost(radius, t))
    return True


@pytest.mark.parametrize("room", [0.0, 2.0])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_the_worst_order_of_refuted_claims_is_the_one_planned_for(k: int, room: float) -> None:
    """As above, where claims take no share and what is refuted is asked; the worst run is bounded
    by one that is a little worse, two per cent at most."""
    for surprises in range(k + 1):
        t = claims_half_width(UNIT, k, surprises, LOG_05, room)
        eps = declared_surprise_prior(surprises, k)
        runs = [run for run in itertools.product((False, True), repeat=k) if sum(run) <= surprises]
        assert all(_claims_survive(run, eps, t * (1 + 1e-7), room) for run in runs), surprises
        assert claims_fit(UNIT, k, surprises, t, LOG_05, room)
        assert not claims_fit(UNIT, k, surprises, t * (1 - 1e-5), LOG_05, room)
        tight = t / 1.02
        assert not all(_claims_survive(run, eps, tight, room) for run in runs), surprises


@pytest.mark.parametrize("room", [0.0, 10.0, 1000.0])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 9, 20])
def test_more_surprises_never_cost_less(k: int, room: float) -> None:
    """Also where releases are almost free and the symbols' prior alone decides."""
    widths = [check_half_width(UNIT, k, m, LOG_05, room) for m in range(k + 1)]
    for fewer, more in itertools.pairwise(widths):
        assert fewer <= more * (1 + 2e-7)


def test_the_declared_prior_is_near_the_best_fixed_one() -> None:
    for k in (2, 3, 10, 101, 1000):
        for m in range(k // 2 + 1):
            eps = declared_surprise_prior(m, k)
            assert 0 < eps <= 0.5
            cost = -m * math.log(eps) - (k - m) * math.log1p(-eps)
            best = sum(c * math.log(k / c) for c in (m, k - m) if c)
            assert best - 1e-9 <= cost <= best + 0.5 * math.log(k) + 1
    for surprises in (-1, 11, 1.5):
        with pytest.raises(InvalidArgument, match="surprises"):
            declared_surprise_prior(surprises, 10)  # type: ignore[arg-type]


def test_whole_numbers_may_come_as_floats() -> None:
    as_float: int = 40.0  # type: ignore[assignment]
    for half_width in (bounded_noise_half_width, rounding_half_width, laplace_half_width):
        assert half_width(UNIT, as_float, LOG_05) == half_width(UNIT, 40, LOG_05)


def test_other_profiles_than_sub_gaussian_are_planned_for() -> None:
    heavy = SubExponential(1.0, 0.5)
    for k in (1, 50, 5000):
        assert bounded_noise_half_width(heavy, k, LOG_05) > bounded_noise_half_width(
            UNIT, k, LOG_05
        )
