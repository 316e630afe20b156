"""Known variances: what earlier answers imply narrows later questions, and no further than true."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from holdfast.data.design import NO_DESIGN
from holdfast.data.sampling import Independent, m_dependent
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS, is_paired
from holdfast.mechanisms.mechanism import CONFIRMED, Wish, about
from holdfast.mechanisms.terms import Account
from holdfast.question import GRID
from holdfast.question.build import where_equal
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, condition_row
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Estimate, Paired, batches, is_derived
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import KnownVariance, Mean, known_variance
from holdfast.statistics.statistic import Statistic, is_single
from holdfast.theory.base.intervals import Interval
from tests.mechanisms.fake import (
    ARMS,
    SECRET,
    Session,
    Sums,
    independent,
    noise_of,
    of_count,
    said,
)
from tests.statistics.zoo import COMPLETE, KINDS, public
from tests.theory.coverage import LEVELS, too_many

pytestmark = pytest.mark.statistical
levels = pytest.mark.parametrize(("beta", "trials"), LEVELS)

N, RARE = 20_000, 0.004
CONDITION = bind("avg(new and old)", public(KINDS, [], schema=COMPLETE))
RESIDUAL = bind("avg(x) where k > 4", public(KINDS, [], schema=COMPLETE))


class Answered:
    """An earlier answer."""

    def __init__(self, look: int, low: float, high: float) -> None:
        self.look: int | None = look
        self.interval = Interval(low, high)


def test_what_earlier_answers_imply() -> None:
    assert is_single(CONDITION)
    earlier = {"avg(new)": Answered(3, 0.0, RARE), "avg(old)": Answered(5, 0.1, 0.3)}
    known = known_variance(CONDITION, earlier)
    assert known is not None
    assert (known.implied_by, known.reach) == (3, 1.0)
    assert known.variance == pytest.approx(RARE * (1 - RARE))
    # Where the answer only bounds the share from below, or is about something else: nothing.
    for useless in ({"avg(new)": Answered(1, 0.4, 1.0)}, {"avg(new or old)": Answered(1, 0, 0.1)}):
        found = known_variance(CONDITION, useless)
        assert found is None or found.variance == 0.25
    among = {
        "avg(new) where arm = 'A'": Answered(1, 0.0, 0.01),
        "avg(not new)": Answered(2, 0, 0.1),
    }
    assert known_variance(CONDITION, among) is None
    # The residual of a group differs from 0 only inside it, by half of the range at most.
    assert is_derived(RESIDUAL)
    residual = RESIDUAL.stages[1][0]
    known = known_variance(residual, {"avg(k > 4)": Answered(2, 0.0, RARE)})
    assert known is not None
    assert known.implied_by == 2
    assert known.reach == pytest.approx(0.5)
    assert known.variance == pytest.approx(RARE / 4)
    assert known_variance(residual, {"avg(k > 5)": Answered(2, 0.0, RARE)}) is None


def test_a_declared_variance_is_in_the_unit_of_the_value() -> None:
    question = bind("avg(x, variance <= 9)", public(KINDS, [], schema=COMPLETE))
    assert is_single(question)
    assert known_variance(question, {}) == KnownVariance(9 / 240 / 240)
    group = bind("avg(x) where arm = 'A'", public(KINDS, schema=COMPLETE))
    assert is_single(group)
    assert known_variance(group, {"avg(arm = 'A')": Answered(1, 0.0, 0.1)}) is None


@pytest.mark.parametrize("variance", [0.0, 1e-4, 0.02, 0.1, 0.2, 0.25])
def test_what_is_known_never_makes_an_answer_wider_or_dearer(variance: float) -> None:
    """Where the rows are not independent, what is known changes nothing at all."""
    assert is_derived(RESIDUAL)
    for question in (CONDITION, RESIDUAL.stages[1][0]):
        assert is_single(question)
        for sampling, rows in ((Independent(), 2_000), (m_dependent(3), 8_000)):
            terms = replace(independent(rows, tolerance=0.1, questions=5), sampling=sampling)
            wish = Wish(question, 0.1)
            informed = replace(wish, variance=KnownVariance(variance))
            plain, known, fixed = (
                BOUNDED.offer(terms, Account(), [each])[0]
                for each in (wish, replace(informed, narrow=True), informed)
            )
            assert known.worst_charge <= plain.worst_charge
            assert fixed.worst_charge <= plain.worst_charge
            assert said(known.radius) == said(fixed.radius) <= said(plain.radius)
            assert said(known.tolerance) <= said(plain.tolerance) == said(fixed.tolerance) == 0.1
            if not terms.independent:
                assert known == plain


@levels
def test_a_rare_event_is_covered_by_the_narrower_radius(beta: float, trials: int) -> None:
    """The rare event has the largest chance that the earlier answer allows; the twin a quarter."""
    assert is_single(CONDITION)
    terms = independent(N, tolerance=0.05, questions=1, confidence_level=1 - beta)
    known = known_variance(CONDITION, {"avg(new)": Answered(1, 0.0, RARE)})
    assert known is not None
    values = np.random.default_rng(13).binomial(N, RARE, trials) / N
    radii = []
    for variance in (known, KnownVariance(known.variance / 4)):
        wish = Wish(CONDITION, 0.05, variance=variance, narrow=True)
        (offer,) = BOUNDED.offer(terms, Account(), [wish])
        radii.append(said(offer.radius))
        assert offer.variance == variance
        assert said(offer.tolerance) < 0.05
    (plain,) = BOUNDED.offer(terms, Account(), [Wish(CONDITION, 0.05)])
    assert radii[1] < radii[0] < said(plain.radius) / 4
    assert not too_many(np.abs(values - RARE) > radii[0], beta)
    assert too_many(np.abs(values - RARE) > radii[1], beta)


@levels
def test_the_residual_of_a_small_group_is_covered(beta: float, trials: int) -> None:
    """In the group the value is at either end of its range with equal chances: the worst."""
    assert is_derived(RESIDUAL)
    residual = RESIDUAL.stages[1][0]
    terms = independent(N, tolerance=0.05, questions=1, confidence_level=1 - beta)
    known = known_variance(residual, {"avg(k > 4)": Answered(1, 0.0, RARE)})
    assert known is not None
    rng = np.random.default_rng(14)
    inside = rng.binomial(N, RARE, trials)
    values = 0.5 + (rng.binomial(inside, 0.5) - inside / 2) / N
    for variance, fails in ((known, False), (KnownVariance(known.variance / 4), True)):
        wish = Wish(residual, 0.05, variance=variance, narrow=True)
        (offer,) = BOUNDED.offer(terms, Account(), [wish])
        assert too_many(np.abs(values - 0.5) > offer.radius, beta) is fails


def test_a_paired_difference_is_checked_from_its_own_counts() -> None:
    """Two models that rarely differ: what is confirmed is far narrower than for any difference.

    That false claims are confirmed no more often than allowed is counted in `test_showing`.
    """
    paired = bind("difference(new = y, old = y)", public(KINDS, [], schema=COMPLETE))
    assert isinstance(paired, Paired)
    ((question,),) = batches(paired, numbers=True)
    assert is_paired(question)
    assert isinstance(question, Mean)
    assert isinstance(question.row.source, Expression)
    worse = condition_row(where_equal(question.row.source, -1.0)).text
    n, up, down = 2_000, 60, 20
    terms, truth = independent(n, tolerance=0.3, questions=1), 0.5 + (up - down) / n / 2
    hoeffding = terms.concentration.radius(math.log(0.05))

    def total(row: RowValue) -> tuple[int, int]:
        count = down if row.text == worse else up
        return count * GRID, count * GRID**2

    for half, status in ((0.3 * hoeffding, "confirmed"), (0.1 * hoeffding, "not confirmed")):
        wish = about(question, half, truth)
        assert Session(terms).put(CHECKS, wish, Sums(n, total)).status == status


def test_models_that_mostly_agree_are_told_apart_by_narrow_intervals() -> None:
    """The share of rows where they differ, answered first, bounds the variance of the rest."""
    paired = bind("difference(new = y, old = y)", public(KINDS, [], schema=COMPLETE))
    assert isinstance(paired, Paired)
    (share,), (difference,) = paired.stages
    answered = {share.text: Answered(7, 0.01, 0.06)}
    known = known_variance(difference, answered)
    # A difference of -1, 0 or 1 is 1/2 of the range away from 0 where they differ: .06/4.
    assert known is not None
    assert known.implied_by == 7
    assert known.reach == pytest.approx(0.5)
    assert known.variance == pytest.approx(0.015)
    terms = independent(50_000, tolerance=0.05, questions=100)
    plain, narrow = (
        BOUNDED.offer(terms, Account(), [Wish(difference, 0.05, variance=each, narrow=True)])[0]
        for each in (None, known)
    )
    assert narrow.worst_charge == pytest.approx(plain.worst_charge, rel=1e-3)
    assert said(narrow.tolerance) < 0.3 * said(plain.tolerance)
    # And no difference is larger than the share: an answer beyond it is cut back.
    parts = [Estimate(0.03, Interval(0.01, 0.06)), Estimate(0.08, Interval(0.05, 0.11))]
    assert paired.join(parts).interval == Interval(0.05, 0.06)


def test_with_a_design_rows_are_not_taken_for_alike() -> None:
    """The exact binomial interval needs rows that are alike; Chernoff's and bets do not."""
    assert is_single(CONDITION)
    n = 1_000
    number = bind("avg(x)", Table(COMPLETE))
    assert is_single(number)
    mechanism = CHECKS

    def largest_confirmed(question: Statistic, design: bool) -> int:
        """The largest count of which it is confirmed that the share is at most 0.1."""
        terms = replace(independent(n, tolerance=0.3), design=ARMS if design else NO_DESIGN)
        (offer,) = mechanism.offer(terms, Account(), [Wish(question, 0.3, (0.0, 0.1), 0.1)])

        def confirmed(count: int) -> bool:
            sample = of_count(n, count)
            symbols = mechanism.respond(terms, [offer], [question], sample, noise_of(SECRET))
            return symbols == [CONFIRMED]

        return max((count for count in range(n // 10) if confirmed(count)), default=-1)

    alike = largest_confirmed(CONDITION, False)
    assert largest_confirmed(CONDITION, True) <= alike
    # Bets and Chernoff's interval hold for unlike rows too: a number is shown as it is.
    assert largest_confirmed(number, True) == largest_confirmed(number, False) < alike
