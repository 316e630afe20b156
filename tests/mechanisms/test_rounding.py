"""Rounding: the local count of cells is enough and no more, and the planner's width is kept."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st

import holdfast
from holdfast.data.sampling import Independent, declared
from holdfast.errors import BudgetExhausted, InvalidArgument, Refused
from holdfast.mechanisms.bounded_noise import ROUNDED, ROUNDING
from holdfast.mechanisms.mechanism import Offer, Wish
from holdfast.mechanisms.noise import Grid
from holdfast.mechanisms.terms import Account, Terms
from holdfast.papers.theorems.surprise_codes import log_nodes
from holdfast.question.row import GRID
from holdfast.theory.base.concentration import BoundedMean
from tests.mechanisms.fake import (
    CONDITION,
    NUMBER,
    Session,
    audited,
    independent,
    leaked,
    of_count,
    of_units,
    said,
    settled,
)
from tests.mechanisms.voting import BETAS, FEATURES, ROWS, TRIALS, by_asking, features
from tests.theory.coverage import too_many


def offered(terms: Terms, account: Account, tolerance: float = 0.3) -> Offer:
    (offer,) = ROUNDED.offer(terms, account, [Wish(NUMBER, tolerance)])
    return offer


def pitch(offer: Offer) -> Fraction:
    return 1 / Fraction(offer.own_grid.cells)


@given(
    n=st.integers(300, 10**6),
    nats=st.floats(0, 30),
    t=st.floats(0.01, 0.49),
    place=st.fractions(0, 1),
)
def test_the_charge_is_the_cells_that_the_radius_meets(
    n: int, nats: float, t: float, place: Fraction
) -> None:
    """Theorem L's condition, counted: outside bad_j the symbol is one of so many."""
    try:
        offer = offered(independent(n), leaked(nats), t)
    except Refused:
        assume(False)
    step, alpha = pitch(offer), Fraction(said(offer.radius))
    assert step / 2 + alpha <= Fraction(said(offer.tolerance))
    first, last = (
        math.floor(end / step + Fraction(1, 2))
        for end in (max(Fraction(0), place - alpha), min(Fraction(1), place + alpha))
    )
    assert last - first + 1 <= math.exp(offer.worst_charge) * (1 + 1e-9)
    every = math.floor(1 / step + Fraction(1, 2)) + 1
    assert math.exp(offer.worst_charge) <= every * (1 + 1e-9)
    # Nor is it over-charged: some truth has that many cells, unless the range has fewer.
    most = math.ceil(2 * alpha / step) + 1
    assert math.exp(offer.worst_charge) == pytest.approx(min(every, most), rel=1e-9)


@given(units=st.lists(st.integers(0, GRID), min_size=300, max_size=300))
def test_the_answer_is_within_half_a_step_and_every_release_holds_the_radius(
    units: list[int],
) -> None:
    session = Session(independent(300))
    offer = offered(session.terms, session.account)
    release = session.put(ROUNDED, Wish(NUMBER, 0.3), of_units(units))
    q, alpha = Fraction(sum(units), 300 * GRID), Fraction(said(offer.radius))
    assert abs(Fraction(release.told) - q) <= pitch(offer) / 2 + Fraction(1, 2**50)
    assert Fraction(release.interval.low) <= max(Fraction(0), q - alpha)
    assert Fraction(release.interval.high) >= min(Fraction(1), q + alpha)


@pytest.mark.parametrize(("rows", "questions"), [(1_000, 3), (2_000, 20), (20_000, 50)])
def test_the_planners_half_width_is_what_is_released(rows: int, questions: int) -> None:
    wanted = Terms(rows, None, 0.95, questions, Independent())
    terms = ROUNDING.plan(wanted, {}).terms(wanted)
    tolerance = terms.half_width
    listed = holdfast.plan(rows=rows, questions=questions, described="off")["rounding"].half_width
    assert tolerance == pytest.approx(listed, rel=1e-6)
    session = Session(terms)
    for asked in range(questions):
        left = ROUNDED.questions_left(session.terms, session.account)
        assert left == questions - asked
        release = session.put(ROUNDED, Wish(NUMBER, tolerance), of_count(rows, rows // 2))
        low, high = release.interval
        assert high - low <= 2 * tolerance * (1 + 1e-9)
    assert ROUNDED.questions_left(session.terms, session.account) == 0


@pytest.mark.parametrize("rows", [1_000, 100_000])
@pytest.mark.parametrize("questions", [2, 5, 20])
def test_the_global_count_is_never_narrower(rows: int, questions: int) -> None:
    """The lecture's count: half-width 1/(2G) + sqrt(ln(2N/beta)/(2n)) for the best G."""
    tolerance = ROUNDING.plan(Terms(rows, None, 0.95, questions, Independent()), {}).tolerance
    assert tolerance is not None
    lecture = min(
        1 / (2 * G)
        + math.sqrt((math.log(2 / 0.05) + log_nodes(questions, questions - 1, G)) / (2 * rows))
        for G in range(2, 400)
    )
    assert tolerance < lecture


# An adaptive analyst: a grid with an edge at 1/2 tells the side of every feature ----------------

HALF_PITCH = 0.5 / 25


def attacked(trial: int, beta: float, *, charging: bool) -> bool:
    terms = Terms(ROWS, 0.4, 1 - beta, FEATURES + 1, declared(sigma=BoundedMean(ROWS).sigma))
    session = Session(terms, charging=charging)
    return by_asking(ROUNDED, session, lambda: wish_with_edge(session), features(trial))


def wish_with_edge(session: Session) -> Wish:
    """A tolerance for which the steps are 1/25, so that 1/2 is between two cells."""
    log_p = session.terms.log_share(1) - session.account.nats
    radius = session.terms.concentration.radius(log_p)
    return Wish(CONDITION, radius * (1 + 1e-9) + HALF_PITCH)


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
def test_all_intervals_stay_true(beta: float) -> None:
    assert not too_many([attacked(trial, beta, charging=True) for trial in range(TRIALS)], beta)


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
def test_without_charges_they_do_not(beta: float) -> None:
    assert too_many([attacked(trial, beta, charging=False) for trial in range(TRIALS)], beta)


def test_the_alphabet_is_the_cells_of_the_range() -> None:
    offer = offered(independent(900), Account())
    last = round(1 / pitch(offer))
    assert [settled(ROUNDED, offer, cell).value for cell in (0, last)] == [
        0.0,
        min(1.0, float(last * pitch(offer))),
    ]
    for beyond in (-1, last + 1):
        with pytest.raises(ValueError, match="outside the alphabet"):
            settled(ROUNDED, offer, beyond)


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="no options"):
        ROUNDING.plan(Terms(1_000, None, 0.95, 5, Independent()), {"digits": 2})
    with pytest.raises(InvalidArgument, match="cannot answer 500 questions by rounding"):
        ROUNDING.plan(Terms(1_000, None, 0.95, 500, Independent()), {})
    with pytest.raises(BudgetExhausted, match=r"after 3 questions the best possible"):
        offered(independent(900), leaked(500.0, asked=3))


def test_an_audit_finds_a_finer_grid() -> None:
    """A smaller pitch shows more; a larger one is further from the sample than the tolerance."""
    terms = independent(1_000)
    offer = offered(terms, Account())
    assert audited(ROUNDED, terms, Account(), [offer], [NUMBER]) is None
    for wrong in (8.0, 1 / 1.01):
        tampered = replace(offer, grid=Grid(offer.own_grid.cells * wrong, 0, 0))
        assert audited(ROUNDED, terms, Account(), [tampered], [NUMBER]) == "grid"
