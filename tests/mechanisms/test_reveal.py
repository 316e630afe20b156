"""What is revealed at the end: its level by either account, its interval, and an attack on it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from holdfast.data.sampling import m_dependent
from holdfast.errors import BudgetExhausted
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.gaussian import GAUSSIAN
from holdfast.mechanisms.leakage import Calibration, Leakage
from holdfast.mechanisms.mechanism import Offer, Release, Wish
from holdfast.mechanisms.noise import LAPLACE
from holdfast.mechanisms.reveal import Reveal, levels_of, revealing, to_be_revealed
from holdfast.mechanisms.terms import Account, Terms
from holdfast.statistics.mean import KnownVariance
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import clopper_pearson, kl_interval
from holdfast.theory.leakage.nats import LeakageAccount
from holdfast.theory.typical.generalisation import (
    post_selected_gaussian_log_level,
    post_selected_log_level,
)
from tests.mechanisms.fake import CONDITION, NUMBER, audited, independent, leaked, of_count, settled
from tests.theory.coverage import too_many

LEAKED = Account(LeakageAccount(20, 3.0, math.log(0.03)))
LAPLACE_STEP, GAUSSIAN_STEP = Calibration.of(2, 0.1, 0.0, 1e-8), Calibration.of(2, 0.5, 1e-6, 1e-8)
KEPT = replace(independent(10_000, questions=30), reveal_share=0.25)


def offered(
    terms: Terms,
    account: Account = LEAKED,
    question: Statistic = CONDITION,
    by: Reveal = Reveal(),  # noqa: B008 - a frozen value
    **more: object,
) -> Offer:
    wish = replace(Wish(question, terms.half_width), **more)  # type: ignore[arg-type]
    (offer,) = by.offer(terms, to_be_revealed(account, question.text), [wish])
    return offer


def shown(terms: Terms, count: int, question: Statistic = CONDITION) -> Release:
    offer = offered(terms, question=question)
    (symbol,) = Reveal().respond(
        terms, [offer], [question], of_count(terms.rows, count), lambda _: pytest.fail("no noise")
    )
    return settled(Reveal(), offer, symbol)


def test_all_that_is_left_after_what_leaked_is_its_level() -> None:
    offer = offered(independent(10_000))
    assert offer.log_p == pytest.approx(math.log(0.05 - 0.03) - 3.0)
    assert offer.log_share == pytest.approx(math.log(0.02))
    assert offer.extra is not None
    assert offer.extra["by"] == "leakage"
    assert audited(Reveal(), independent(10_000), to_be_revealed(LEAKED, "avg(b)"), [offer], [
        CONDITION
    ]) is None  # fmt: skip


def test_exact_values_are_charged_all_that_they_can_be() -> None:
    """A count of 10,000 rows is one of 10,001 numbers; a mean of numbers one of 2^30 times more."""
    assert offered(independent(10_000)).worst_charge == pytest.approx(math.log(10_001), rel=1e-12)
    number = offered(independent(10_000), question=NUMBER).worst_charge
    assert number == pytest.approx(math.log(10_000 * 2**30 + 1), rel=1e-12)


@given(st.integers(0, 500))
def test_the_interval_is_the_exact_one_and_inside_its_radius(count: int) -> None:
    terms = independent(500)
    release = shown(terms, count)
    log_p, radius = offered(terms).statement
    assert release.told == count / 500
    assert tuple(release.interval) == pytest.approx(tuple(clopper_pearson(500, count, log_p)))
    assert max(release.interval.high - release.told, release.told - release.interval.low) <= radius
    assert release.rows == (500, 500)


@given(st.integers(0, 500))
def test_a_mean_of_values_has_the_interval_of_chernoff(count: int) -> None:
    terms = independent(500)
    release, log_p = shown(terms, count, NUMBER), offered(terms, question=NUMBER).log_p
    assert log_p is not None
    expected = kl_interval(500, count / 500, log_p)
    assert tuple(release.interval) == pytest.approx(tuple(expected), abs=1e-7)
    assert release.interval.low <= expected.low
    assert expected.high <= release.interval.high


def test_rows_that_depend_on_each_other_have_the_radius_of_their_concentration() -> None:
    terms = replace(independent(500), sampling=m_dependent(2))
    log_p, radius = offered(terms).statement
    assert radius == pytest.approx(terms.concentration.radius(log_p), abs=1e-9)
    assert shown(terms, 250).interval.low == pytest.approx(0.5 - radius)


def test_a_known_variance_narrows_it() -> None:
    terms = independent(10_000)
    plain, known = offered(terms), offered(terms, variance=KnownVariance(1e-4))
    assert known.statement[1] < plain.statement[1] / 2
    assert known.variance == KnownVariance(1e-4)


def test_near_independence_at_what_was_kept_for_it() -> None:
    log_kept = math.log(0.05 * 0.25)
    laplace = levels_of(LAPLACE_STEP, KEPT, LEAKED)
    assert laplace.near_independence == pytest.approx(
        post_selected_log_level(log_kept, 30, 0.1, -math.inf, math.log(1e-8)), rel=1e-6
    )
    gaussian = levels_of(GAUSSIAN_STEP, KEPT, LEAKED)
    assert gaussian.by == "near independence"
    mu = 0.124106  # mpmath, of eta = .5 and tau = 1e-6
    assert gaussian.near_independence == pytest.approx(
        post_selected_gaussian_log_level(log_kept, 30, mu, math.log(1e-8)), rel=1e-4
    )
    # What is left of the rest is not added to it, nor is it added to the rest.
    assert laplace.leakage == pytest.approx(math.log(0.05 * 0.75 - 0.03) - 3.0)
    assert offered(KEPT, by=Reveal(GAUSSIAN_STEP)).log_p == gaussian.near_independence


@pytest.mark.parametrize(
    "account",
    [replace(LEAKED, claims=1), replace(LEAKED, described=1)],
    ids=["a claim", "a described answer"],
)
def test_near_independence_is_of_stable_answers_alone(account: Account) -> None:
    assert levels_of(LAPLACE_STEP, KEPT, account).near_independence == -math.inf
    assert levels_of(LAPLACE_STEP, KEPT, account).by == "leakage"


@pytest.mark.parametrize(
    "terms", [replace(KEPT, reveal_share=0.0), replace(KEPT, questions=None)], ids=["none", "open"]
)
def test_without_a_share_or_a_greatest_number_there_is_none(terms: Terms) -> None:
    assert levels_of(LAPLACE_STEP, terms, LEAKED).near_independence == -math.inf
    assert levels_of(None, KEPT, LEAKED).near_independence == -math.inf


def test_what_would_say_nothing_is_refused() -> None:
    with pytest.raises(BudgetExhausted, match="would say nothing"):
        offered(independent(100), leaked(60.0))
    spent = Account(LeakageAccount(10, 1.0, math.log(0.05)))
    with pytest.raises(BudgetExhausted, match="would say nothing"):
        offered(independent(10_000), spent)


def test_one_statistic_and_once() -> None:
    terms, wish = independent(10_000), Wish(CONDITION, 0.3)
    account = to_be_revealed(LEAKED, CONDITION.text)
    for other in (LEAKED, to_be_revealed(LEAKED, NUMBER.text)):
        with pytest.raises(BudgetExhausted, match="one statistic is, and once"):
            Reveal().offer(terms, other, [wish])
    (offer,) = Reveal().offer(terms, account, [wish])
    after = Reveal().advance(account, [offer], [settled(Reveal(), offer, 17)])
    with pytest.raises(BudgetExhausted, match="one statistic is, and once"):
        Reveal().offer(terms, after, [wish])
    assert Reveal().questions_left(terms, account) == 0


def test_what_counts_leakage_reveals() -> None:
    assert revealing(BOUNDED) == Reveal()
    assert revealing(Leakage("typical laplace/1", LAPLACE, LAPLACE_STEP)) == Reveal(LAPLACE_STEP)
    planned = GAUSSIAN.plan(independent(10_000, tolerance=None, questions=10), {})
    gaussian = GAUSSIAN.build(independent(10_000), planned.parameters)
    assert revealing(gaussian) is None
    assert revealing(CHECKS) is None


# An analyst asks features that know nothing, lets them vote as the answers say, and has the vote's
# agreement revealed: its truth is 1/2 (see `tests.mechanisms.voting`).
ROWS, FEATURES, TRIALS = 300, 61, 300


def revealed(noise: int, cells: float, terms: Terms, account: Account) -> list[bool]:
    """In which trials the interval misses the truth, if answers have such noise."""
    rng, offer = np.random.default_rng(20_26), offered(terms, account)
    wrong = []
    for _ in range(TRIALS):
        agrees = 2 * rng.integers(0, 2, (ROWS, FEATURES)) - 1
        means = (1 + agrees.mean(axis=0)) / 2
        answers = means + rng.integers(-noise, noise + 1, FEATURES) / cells
        vote = agrees @ np.where(answers > 0.5, 1, -1)
        release = settled(Reveal(), offer, int(np.count_nonzero(vote > 0)))
        wrong.append(not release.interval.low <= 0.5 <= release.interval.high)
    return wrong


def test_a_vote_chosen_by_the_answers_is_revealed_truly() -> None:
    terms = independent(ROWS, tolerance=0.45, questions=FEATURES + 1)
    account = Account()
    for _ in range(FEATURES):
        offers = BOUNDED.offer(terms, account, [Wish(CONDITION, 0.45)])
        account = BOUNDED.advance(account, offers, BOUNDED.settle(offers, [0]))
    grid = offers[0].own_grid
    assert grid.reach is not None
    assert not too_many(revealed(grid.reach, float(grid.cells), terms, account), 0.05)
    # The twin: answers without noise, and nothing counted for them.
    assert too_many(revealed(0, 1.0, terms, Account()), 0.05)
