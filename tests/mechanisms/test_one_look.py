"""One look and exact values: what is shown, what is promised of it, and that it ends there."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import beta as beta_law

import holdfast
from holdfast.data.sampling import Independent, Sampling, m_dependent
from holdfast.errors import BudgetExhausted, InvalidArgument, Refused, ToleranceTooTight
from holdfast.ledger.audit import audit
from holdfast.mechanisms.mechanism import Offer, Release, Wish
from holdfast.mechanisms.one_look import ONE_LOOK, OneLook
from holdfast.mechanisms.terms import Account, QuestionPart, Terms
from holdfast.papers.exact_answers import EXACT, Exact
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.theory.base.concentration import BoundedMean
from tests.holdout.tables import BOUNDS, opened, table, untouchable, watch
from tests.mechanisms.by_hand import chernoff
from tests.mechanisms.fake import (
    ARMS,
    CONDITION,
    NUMBER,
    Session,
    audited,
    dependent,
    independent,
    leaked,
    noise_of,
    of_count,
    of_units,
    said,
    settled,
)
from tests.theory.coverage import LEVELS, most_failures

LOOK = OneLook()


def looked(terms: Terms, wishes: list[Wish], count: int) -> list[Release]:
    """The answers of one look at a sample in which `count` rows are true."""
    offers = LOOK.offer(terms, Account(), wishes)
    symbols = LOOK.respond(
        terms,
        offers,
        [wish.question for wish in wishes],
        of_count(terms.rows, count),
        noise_of(b""),
    )
    return LOOK.settle(offers, symbols)


# What is rounded, and which rows are alike ------------------------------------------------------


def test_values_on_a_grid_widen_the_interval_by_its_error() -> None:
    n = 10_000
    terms = independent(n, tolerance=0.3, questions=4)
    (offer,) = LOOK.offer(terms, Account(), [Wish(NUMBER, 0.3)])
    hoeffding = BoundedMean(n).radius(said(offer.log_p))
    assert Fraction(said(offer.radius)) >= Fraction(hoeffding) + Fraction(GRID_ERROR)
    low, high = settled(LOOK, offer, offer.own_grid.last // 10).interval
    assert low <= chernoff(n, 0.1 - GRID_ERROR, said(offer.log_p))[0] + 1e-13
    assert high >= chernoff(n, 0.1 + GRID_ERROR, said(offer.log_p))[1] - 1e-13


def test_rows_of_a_design_are_not_taken_for_alike() -> None:
    """The exact binomial interval is of rows with one law; with a design each has its own."""
    terms = independent(400, tolerance=0.3, questions=4)
    widths = []
    for each in (terms, replace(terms, design=ARMS)):
        (release,) = looked(each, [Wish(CONDITION, 0.3)], 20)
        widths.append(release.interval.high - release.interval.low)
    (offer,) = LOOK.offer(replace(terms, design=ARMS), Account(), [Wish(CONDITION, 0.3)])
    low, high = chernoff(400, 20 / 400, said(offer.log_p))
    assert widths[0] < high - low == pytest.approx(widths[1], abs=1e-9)


def test_an_audit_finds_all_of_the_failure_probability_for_one_of_several() -> None:
    terms = independent(900, questions=4)
    offers = LOOK.offer(terms, Account(), [Wish(CONDITION, 0.3)] * 4)
    questions = [CONDITION] * 4
    assert audited(LOOK, terms, Account(), offers, questions) is None
    greedy = replace(offers[1], log_p=terms.log_beta, log_share=terms.log_beta)
    forged = [offers[0], greedy, *offers[2:]]
    assert audited(LOOK, terms, Account(), forged, questions) == "share of the failure probability"
    forged[1] = replace(offers[1], log_p=terms.log_beta)
    assert audited(LOOK, terms, Account(), forged, questions) == "level"


# Exact values -----------------------------------------------------------------------------------


@given(units=st.lists(st.integers(0, GRID), min_size=2, max_size=60))
def test_exact_means_are_exact_to_doubles(units: list[int]) -> None:
    release = Session(independent(len(units), tolerance=None)).put(
        Exact(), Wish(NUMBER, 0.5), of_units(units)
    )
    assert release.value == float(Fraction(sum(units), len(units) * GRID))
    assert (release.status, release.interval) == ("no promise", (0.0, 1.0))
    assert release.charge >= math.log(len(units) * GRID + 1)


def test_nothing_is_promised_and_it_says_so(tmp_path: Path) -> None:
    with opened(tmp_path, table(), mechanism="exact", schema=BOUNDS) as holdout:
        answer = holdout.ask("avg(late)")
        assert answer == table()["late"].mean()
        assert answer.interval == (0.0, 1.0)
        assert "no promise" in str(answer)
        assert "sure" not in str(answer) + answer._repr_html_()
        assert answer.to_dict()["simultaneous"] is False
        assert "promised: nothing" in str(holdout.budget)
        assert holdout.budget.to_dict()["simultaneous"] is False
        assert "No promise: exact values" in holdout.explain()
        derived = holdout.ask("avg(x) where late")  # made of two of them
        assert derived.status == "no promise"
    findings = audit(tmp_path / "t.ledger")
    assert all(finding.fine for finding in findings)
    assert "0 of 0.05 given out" in str(findings)


def test_no_half_width_is_promised() -> None:
    with pytest.raises(InvalidArgument, match="promises no half-width"):
        EXACT.plan(Terms(100, 0.1, 0.95, 5, Independent()), {})


# One look ---------------------------------------------------------------------------------------


def test_it_closes(tmp_path: Path) -> None:
    with opened(tmp_path, table(), mechanism="one look", questions=3, schema=BOUNDS) as holdout:
        first = holdout.ask_many(["avg(late)", "avg(x)"])
        assert first[0] == table()["late"].mean()
        watch(holdout, untouchable)
        for again in ("avg(x > 20)", "avg(not late)"):
            with pytest.raises(BudgetExhausted, match="requested 1 more question; remaining 0"):
                holdout.ask(again)
        assert holdout.ask("avg(late)").status == "repeated"
        assert holdout.budget.questions_left == 0


def test_a_statistic_of_two_stages_is_refused_before_the_look(tmp_path: Path) -> None:
    with opened(tmp_path, table(), mechanism="one look", questions=5, schema=BOUNDS) as holdout:
        watch(holdout, untouchable)
        with pytest.raises(Refused, match="requested"):
            holdout.ask("median(x)")
        assert holdout.budget.asked == 0


def test_without_a_number_it_is_a_look_at_one_question() -> None:
    terms = independent(400, questions=None)
    (release,) = looked(terms, [Wish(CONDITION, 0.3)], 100)
    assert release.value == 0.25
    with pytest.raises(BudgetExhausted, match=r"requested 2 .* Declare questions=2"):
        LOOK.offer(terms, Account(), [Wish(CONDITION, 0.3)] * 2)


def test_so_many_questions_of_two_parts_have_the_declared_half_width() -> None:
    """By hand: 2k events at beta/2k each, with Hoeffding's half-width."""
    n, part = 400, QuestionPart(BoundedMean(400))
    widths = [math.sqrt(math.log(2 * 2 * k / 0.05) / (2 * n)) for k in (3, 4)]
    terms = independent(n, tolerance=sum(widths) / 2, questions=20)
    assert LOOK.questions_left(terms, Account(), [[part, part]]) == 3
    assert LOOK.questions_left(replace(terms, questions=5), Account(), [[part, part]]) == 2


@pytest.mark.parametrize("size", [1, 4])
def test_intervals_are_the_ordinary_ones_of_a_union_bound(size: int) -> None:
    terms, count = independent(400, questions=9), 37
    release = looked(terms, [Wish(CONDITION, 0.3)] * size, count)[0]
    side = 0.05 / size / 2
    assert release.interval.low == pytest.approx(beta_law.ppf(side, count, 364), rel=1e-9)
    assert release.interval.high == pytest.approx(beta_law.isf(side, count + 1, 363), rel=1e-9)
    rough = looked(dependent(400, questions=9), [Wish(CONDITION, 0.3)] * size, count)[0]
    radius = 0.05 * math.sqrt(2 * math.log(2 * size / 0.05))
    assert rough.interval.high == pytest.approx(37 / 400 + radius, rel=1e-9)


def test_the_planned_half_width_is_that_of_the_union_bound() -> None:
    tolerance = ONE_LOOK.plan(Terms(10_000, None, 0.95, 7, Independent()), {}).tolerance
    assert tolerance == pytest.approx(math.sqrt(math.log(14 / 0.05) / 20_000), abs=2e-9)
    for few in (None, 0.05):
        with pytest.raises(ToleranceTooTight, match=r"requested half-width .* best possible"):
            ONE_LOOK.plan(Terms(6, few, 0.95, 1, m_dependent(3)), {})


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
@pytest.mark.parametrize("truth", [0.05, 0.5])
def test_it_misses_no_more_often_than_promised(beta: float, trials: int, truth: float) -> None:
    """Two fixed questions of independent columns: either may miss."""
    rows = 150
    terms = independent(rows, tolerance=0.49, questions=2, confidence_level=1 - beta)
    offer, _ = LOOK.offer(terms, Account(), [Wish(CONDITION, 0.49)] * 2)
    counts = np.random.default_rng(5).binomial(rows, truth, (trials, 2))

    def misses(offer: Offer) -> int:
        ends = [settled(LOOK, offer, count).interval for count in range(rows + 1)]
        missed = np.array([not low <= truth <= high for low, high in ends])
        return int(np.count_nonzero(missed[counts].any(axis=1)))

    assert 0.1 * beta * trials < misses(offer) <= most_failures(trials, beta)
    careless = replace(offer, log_p=said(offer.log_p) / 2)  # sabotage: half of the nats
    assert misses(careless) > most_failures(trials, beta)


def test_an_audit_finds_a_second_look_and_a_level_of_its_own() -> None:
    terms = independent(400, questions=3)
    offers = LOOK.offer(terms, Account(), [Wish(CONDITION, 0.3), Wish(NUMBER, 0.3)])
    offer = offers[0]
    assert offer.extra is not None

    def fault(terms: Terms, account: Account, offers: list[Offer]) -> str | None:
        return audited(LOOK, terms, account, offers, [CONDITION, NUMBER])

    for wrong in (
        replace(offer, extra={**offer.extra, "size": 1}),
        replace(offer, extra={**offer.extra, "rows": 500}),
        replace(offer, log_p=offer.statement[0] + 1),
        replace(offer, radius=offer.statement[1] / 2),
        replace(offer, grid=replace(offer.own_grid, cells=200)),
    ):
        assert fault(terms, Account(), [wrong, offers[1]])
    assert fault(terms, Account(), offers) is None
    assert "after the one look" in (fault(terms, leaked(0.0, asked=1), offers) or "")
    assert fault(replace(terms, design=ARMS), Account(), offers) == "way of answering"
    assert fault(dependent(400, questions=3), Account(), offers)


# What its page says ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sampling", ["independent", holdfast.clustered("unit", sizes="fixed")], ids=str
)
def test_groups_of_a_design_have_their_own_half_width(
    tmp_path: Path, sampling: str | Sampling
) -> None:
    """Without a declared half-width; with one, a group that cannot keep it is refused."""
    declared: dict[str, Any] = {"mechanism": "one look", "questions": 3, "schema": BOUNDS}
    declared["design"] = ["origin"]
    questions = ["avg(late)", "avg(late) where origin = 'JFK'", "avg(x) where origin = 'LGA'"]
    with opened(tmp_path, table(), sampling=sampling, **declared) as holdout:
        whole, *groups = holdout.ask_many(questions)
        declared["tolerance"] = 1.05 * holdout.budget.terms.half_width
    assert whole.half_width < groups[0].half_width < 0.25
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))
    strict = opened(tmp_path, table(), "strict", sampling=sampling, **declared)
    with strict as holdout, pytest.raises(ToleranceTooTight):
        holdout.ask_many(questions)


def test_a_difference_of_conditions_is_one_average(tmp_path: Path) -> None:
    """The share of rows where they differ, which elsewhere narrows it, is not asked here."""
    with opened(tmp_path, table(), mechanism="one look", questions=2, schema=BOUNDS) as holdout:
        change, late = holdout.ask_many(["difference(late, x > 20)", "avg(late)"])
        truth = (table()["late"].cast(int) - (table()["x"] > 20).cast(int)).mean()
    assert change.value == pytest.approx(truth, abs=1e-6)
    assert change.interval.low <= change <= change.interval.high
    assert change.status == late.status == "answered"
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))
