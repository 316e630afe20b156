"""A batch that is one vector: charged by its ball where that is less, and never wider."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm

from holdfast.data.sampling import m_dependent
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.leakage import Leakage, as_one_vector, half_width_on
from holdfast.mechanisms.mechanism import Offer, Wish, charged
from holdfast.mechanisms.noise import LAPLACE, UNIFORM, Grid, Law
from holdfast.mechanisms.terms import Account, Terms
from holdfast.mechanisms.vector_release import (
    Together,
    joint_log_charge,
    released_together,
    scaled_shape_of,
    shape_of,
    shape_within,
)
from holdfast.question.declaring import sub_gaussian
from holdfast.statistics.entry import Call
from holdfast.statistics.statistic import Statistic
from tests.mechanisms.fake import audited, independent, leaked
from tests.mechanisms.vectors import (
    BY_LAPLACE,
    GAUSSIAN,
    NAMES,
    TERMS,
    VALUES,
    bins,
    l1_vector,
    read,
    vector,
)
from tests.theory.coverage import too_many


def offers_of(
    questions: list[Statistic],
    terms: Terms,
    account: Account,
    by: Leakage = BOUNDED,
    tolerance: float = 0.1,
    whole: str | None = None,
) -> list[Offer]:
    wishes = [Wish(each, tolerance, vector=whole) for each in questions]
    return by.offer(terms, account, wishes)


def apart(
    questions: list[Statistic], terms: Terms, account: Account, by: Leakage = BOUNDED
) -> float:
    """What so many questions cost if each is released by itself."""
    spread = replace(terms, sampling=m_dependent(0))  # the same radius, and no vector
    return sum(offer.worst_charge for offer in offers_of(questions, spread, account, by))


@pytest.mark.parametrize("by", [BOUNDED, GAUSSIAN], ids=lambda each: each.name)
def test_a_vector_costs_less_than_its_coordinates(by: Leakage) -> None:
    offers = offers_of(vector(60), TERMS, Account(), by)
    by_itself = apart(vector(60), TERMS, Account(), by)
    assert sum(offer.worst_charge for offer in offers) < 0.75 * by_itself
    assert {offer.tolerance for offer in offers} == {0.1}
    assert {(offer.extra or {})["vector"] for offer in offers} == {60}
    assert audited(by, TERMS, Account(), offers, vector(60)) is None


def test_so_do_many_bins_of_a_histogram_and_few_are_asked_apart() -> None:
    offers = offers_of(bins(60), TERMS, Account())
    assert sum(offer.worst_charge for offer in offers) < 0.9 * apart(bins(60), TERMS, Account())
    few = offers_of(bins(60)[:4], TERMS, Account())
    assert all(offer.extra is None for offer in few)


@settings(max_examples=40)
@given(
    d=st.integers(2, 60),
    rows=st.integers(5_000, 100_000),
    tolerance=st.floats(0.06, 0.4),
    nats=st.floats(0, 3),
    binned=st.booleans(),
)
def test_never_wider_and_never_dearer(
    d: int, rows: int, tolerance: float, nats: float, binned: bool
) -> None:
    of = bins(60) if binned else vector(60)
    terms = independent(rows, tolerance=tolerance, questions=100)
    offers = offers_of(of[:d], terms, leaked(nats), tolerance=tolerance)
    plain = [
        offer
        for each in of[:d]
        for offer in BOUNDED.offer(terms, leaked(nats), [Wish(each, tolerance)])
    ]
    assert sum(o.worst_charge for o in offers) <= sum(o.worst_charge for o in plain) * (1 + 1e-9)
    for offer in offers:
        grid, (_, radius) = offer.own_grid, offer.statement
        assert grid.reach is not None
        assert offer.tolerance == tolerance
        assert (grid.reach + 0.5) / grid.cells + radius <= tolerance * (1 + 1e-12)
    shares = math.fsum(math.exp(offer.log_share or 0.0) for offer in offers)
    assert shares <= d * 0.05 / 100 * (1 + 1e-9)


def test_the_level_of_the_vector_is_that_of_all_its_coordinates() -> None:
    account = leaked(2.0)
    offers = offers_of(vector(60), TERMS, account)
    extra = offers[0].extra
    assert extra is not None
    given_out = math.exp(extra["log_p"]) + sum(math.exp(offer.log_p or 0.0) for offer in offers)
    assert given_out == pytest.approx(60 * 0.05 / 100 * math.exp(-2.0))
    assert extra["radius"] == pytest.approx(
        0.5 / math.sqrt(5_000) + math.sqrt(-extra["log_p"] / 10_000), abs=1e-6
    )


@pytest.mark.parametrize(
    "questions",
    [
        vector(3)[:1],
        [vector(3)[0], read("avg(x0 > 0)")],
        [*vector(3), *vector(4)],
        [read("avg(x0 > 0)"), read("avg(x0 > 1)")],
        [read("avg(x0 > 0)"), read("avg(clip(x1, 0, 1))")],
    ],
    ids=["one", "mixed", "two vectors", "overlapping", "a number"],
)
def test_what_is_no_vector(questions: list[Statistic]) -> None:
    assert shape_of(questions) is None


def test_rows_that_depend_and_older_laplace_answers_have_no_theorem_of_vectors() -> None:
    older = replace(BY_LAPLACE, jointly=False)
    assert all(offer.extra is None for offer in offers_of(l1_vector(60), TERMS, Account(), older))
    dependent = replace(TERMS, sampling=m_dependent(2))
    for questions, by in ((vector(60), BOUNDED), (l1_vector(60), BY_LAPLACE)):
        assert all(offer.extra is None for offer in offers_of(questions, dependent, Account(), by))


def test_laplace_noise_is_charged_by_the_ball_in_l1() -> None:
    """Half the diameter of the range, and sqrt(d) for the mean of the norm."""
    account = leaked(1.0)
    terms = independent(50_000, tolerance=0.1, questions=100)
    offers = offers_of(l1_vector(60), terms, account, BY_LAPLACE)
    assert sum(o.worst_charge for o in offers) < 0.75 * apart(
        l1_vector(60), terms, account, BY_LAPLACE
    )
    extra, grid = offers[0].extra, offers[0].own_grid
    assert extra is not None
    ball = math.sqrt(60) / 2 / math.sqrt(50_000) + math.sqrt(-extra["log_p"] / 100_000)
    assert extra["radius"] == pytest.approx(ball, abs=1e-6)
    scales = ball * float(grid.cells) / grid.scale
    kappa = math.fsum(scales**j / math.factorial(j) for j in range(61))
    charge = math.fsum(offer.worst_charge for offer in offers)
    assert math.log(kappa) <= charge < math.log(kappa) + 1e-3
    assert audited(BY_LAPLACE, terms, account, offers, l1_vector(60)) is None


@pytest.mark.parametrize("scale", [1, 2, 5])
@pytest.mark.parametrize("radius", [0.4, 1.0, 2.5])
def test_no_sum_over_cells_is_above_the_charge(scale: int, radius: float) -> None:
    """Two coordinates, every cell by hand: the largest probability over the cells of the ball."""
    truth, places = np.array([0.3, 0.8]), np.arange(-60, 61)
    peak = math.tanh(1 / (2 * scale)) ** 2
    shifts = np.linspace(-radius, radius, 41)
    ball = [(x, y) for x in shifts for y in shifts if abs(x) + abs(y) <= radius + 1e-12]
    cells = {tuple(np.floor(truth + each + 0.5).astype(int)) for each in ball}
    away = np.min(
        [np.abs(places - x)[:, None] + np.abs(places - y)[None, :] for x, y in cells], axis=0
    )
    total = peak * float(np.exp(-away / scale).sum())
    grid = Grid(1, scale, None)
    bound = joint_log_charge(LAPLACE, 2, radius, grid)
    assert bound is not None
    assert 0.0 < math.log(total) <= bound


@pytest.mark.parametrize("by", [BOUNDED, GAUSSIAN, BY_LAPLACE], ids=lambda each: each.name)
@pytest.mark.parametrize("questions", [vector(60), l1_vector(60), bins(60)], ids=["l2", "l1", "no"])
def test_the_coordinates_of_one_question_divide_its_share(
    by: Leakage, questions: list[Statistic]
) -> None:
    """Every level that is given out together: at most one share of a hundred."""
    account = charged(leaked(1.0), offers_of(vector(2), TERMS, Account(), whole="v"), [0.1, 0.1])
    assert (account.asked, account.looks) == (1, 2)
    terms = independent(50_000, tolerance=0.1, questions=100)
    offers = offers_of(questions, terms, account, by, whole="w")
    assert [offer.number for offer in offers] == list(range(3, 63))
    assert [offer.coordinate for offer in offers] == list(range(1, 61))
    share = math.fsum(math.exp(offer.log_share or 0.0) for offer in offers)
    assert 0.999 * 0.05 / 100 < share <= 0.05 / 100
    levels = [math.exp(offer.log_p or 0.0) for offer in offers]
    ball = math.exp((offers[0].extra or {}).get("log_p", -math.inf))
    tail = share * by.tail
    assert math.fsum(levels) * math.exp(account.nats) + ball * math.exp(account.nats) + tail <= (
        share * (1 + 1e-9)
    )
    after = charged(account, offers, [offer.worst_charge for offer in offers])
    assert (after.asked, after.looks) == (2, 62)
    spent = math.exp(after.leakage.log_beta_spent) - math.exp(account.leakage.log_beta_spent)
    assert spent == pytest.approx(share)
    assert Account.from_dict(after.to_dict()) == after


def test_two_vectors_and_a_question_in_one_batch() -> None:
    both = [(each, "v") for each in vector(3)] + [(each, "w") for each in l1_vector(40)]
    wishes = [Wish(each, 0.1, vector=whole) for each, whole in [*both, (bins(1)[0], None)]]
    offers = BOUNDED.offer(TERMS, Account(), wishes)
    assert [offer.coordinate for offer in offers] == [1, 2, 3, *range(1, 41), None]
    own = [
        BOUNDED.offer(TERMS, Account(), some) for some in (wishes[:3], wishes[3:43], wishes[43:])
    ]
    assert [(each.grid, each.radius, each.extra) for each in offers] == [
        (each.grid, each.radius, each.extra) for some in own for each in some
    ]
    assert charged(Account(), offers, [0.0] * 44).asked == 3


def test_a_half_width_that_half_the_level_cannot_give_is_asked_apart() -> None:
    terms = independent(5_000, questions=100)
    wishes = [Wish(each, 0.0302) for each in vector(60)[:9]]
    apart = BOUNDED.offer(terms, Account(), wishes)
    narrow = [replace(offer, tolerance=0.0289) for offer in apart]
    assert as_one_vector(BOUNDED.law, terms, Account(), wishes, narrow) == []


@cache
def scaled(d: int) -> list[Statistic]:
    return [read(Call("avg", (value,), scale=sub_gaussian(0.5))) for value in VALUES[:d]]


def scaled_offers(
    d: int, terms: Terms, account: Account, by: Leakage = BOUNDED, norm: str = "l2"
) -> list[Offer]:
    """As a vector whose values have the scale 1/2, as values between 0 and 1 have at most."""
    whole = f"vector_mean({norm}, sigma = 0.5, {', '.join(NAMES[:d])})"
    t = terms.half_width
    wishes = [Wish(each, t * each.unit(terms.rows), vector=whole) for each in scaled(d)]
    return by.offer(terms, account, wishes)


@pytest.mark.parametrize("by", [BOUNDED, GAUSSIAN, BY_LAPLACE], ids=lambda each: each.name)
def test_a_vector_of_a_declared_scale_costs_less_than_its_coordinates(by: Leakage) -> None:
    """By the ball of its norm; "linf" says nothing of one, and neither do rows that depend."""
    terms = independent(3_000 if by is BOUNDED else 50_000, tolerance=0.1, questions=100)
    norm = "l1" if by is BY_LAPLACE else "l2"
    offers = scaled_offers(60, terms, Account(), by, norm)
    box = scaled_offers(60, terms, Account(), by, "linf")
    costs = [math.fsum(offer.worst_charge for offer in each) for each in (offers, box)]
    assert costs[0] < 0.95 * costs[1]
    assert [(each.extra or {})["vector"] for each in offers] == [60] * 60
    assert all("vector" not in (each.extra or {}) for each in box)
    assert {each.tolerance for each in offers} == {each.tolerance for each in box}
    width = scaled(1)[0].high - scaled(1)[0].low
    extra = offers[0].extra or {}
    t = -extra["log_p"]
    ball = math.sqrt(60 + 2 * math.sqrt(60 * t) + 2 * t) / 2
    if norm == "l1":
        ball = math.sqrt(2 * (60 * math.log(2) + t)) / 2
    assert extra["radius"] * width == pytest.approx(ball / math.sqrt(terms.rows), rel=0.05)
    dependent = replace(terms, sampling=m_dependent(2))
    assert all("vector" not in (o.extra or {}) for o in scaled_offers(60, dependent, Account(), by))


# Rows are vectors of signs over sqrt(d), of length 1; the truth of every coordinate is 0. An
# analyst asks for the mean, turns the coordinates to the side it says, and asks in how many rows
# they add up to something positive: the truth is 1/2.
ROWS, D, TRIALS = 300, 99, 300


def turned(noise: int, cells: float, account: Account, *, norm: float = 0.5) -> list[bool]:
    """In which trials the last interval misses, on this account; vectors are as long as D^norm."""
    terms = independent(ROWS, tolerance=0.49, questions=D + 1)
    (last,) = BOUNDED.offer(terms, account, [Wish(read("avg(x0 > 0)"), 0.49)])
    _, radius = last.statement
    rng, wrong = np.random.default_rng(20_26), []
    for _ in range(TRIALS):
        signs = 2 * rng.integers(0, 2, (ROWS, D)) - 1
        fractions = (signs.mean(axis=0) / D**norm + 1) / 2
        answers = fractions + rng.integers(-noise, noise + 1, D) / cells
        agreeing = np.mean(signs @ np.where(answers > 0.5, 1, -1) > 0)
        wrong.append(bool(abs(agreeing - 0.5) > radius))
    return wrong


def test_what_a_vector_told_is_counted_for_what_is_asked_next() -> None:
    terms = independent(ROWS, tolerance=0.49, questions=D + 1)
    offers = offers_of(vector(D), terms, Account(), tolerance=0.49)
    grid, charges = offers[0].own_grid, [offer.worst_charge for offer in offers]
    assert grid.reach is not None
    assert (offers[0].extra or {})["vector"] == D
    after = charged(Account(), offers, charges)
    assert not too_many(turned(grid.reach, float(grid.cells), after), 0.05 / (D + 1))
    # The twin: no noise, and nothing counted.
    assert too_many(turned(0, 1.0, Account()), 0.05 / (D + 1))


def test_so_is_what_a_vector_with_laplace_noise_told() -> None:
    """Of length 1 in l1: its noise, put as the uniform noise of the same reach, is no smaller."""
    terms = independent(ROWS, tolerance=0.49, questions=D + 1)
    offers = offers_of(l1_vector(D), terms, Account(), BY_LAPLACE, tolerance=0.49)
    grid, charges = offers[0].own_grid, [offer.worst_charge for offer in offers]
    assert (offers[0].extra or {})["vector"] == D
    after = charged(Account(), offers, charges)
    assert not too_many(turned(grid.scale, float(grid.cells), after, norm=1), 0.05 / (D + 1))
    assert too_many(turned(0, 1.0, Account(), norm=1), 0.05 / (D + 1))


def test_so_is_what_a_vector_of_a_declared_scale_told() -> None:
    """Normal rows, which nothing bounds, turned to the side that answers with normal noise say."""
    terms = independent(ROWS, tolerance=0.49, questions=2)
    offers = scaled_offers(D, terms, Account(), GAUSSIAN)
    assert (offers[0].extra or {})["vector"] == D
    width = scaled(1)[0].high - scaled(1)[0].low

    def wrong(scale: float, account: Account) -> list[bool]:
        (last,) = BOUNDED.offer(terms, account, [Wish(read("avg(x0 > 0)"), 0.49)])
        _, radius = last.statement
        rng, misses = np.random.default_rng(20_28), []
        for _ in range(TRIALS):
            rows = rng.normal(0, 0.5, (ROWS, D))
            answers = rows.mean(axis=0) / width + scale * rng.normal(size=D)
            agreeing = np.mean(rows @ np.where(answers > 0, 1, -1) > 0)
            misses.append(bool(abs(agreeing - 0.5) > radius))
        return misses

    grid = offers[0].own_grid
    after = charged(Account(), offers, [offer.worst_charge for offer in offers])
    assert after.asked == 1
    assert not too_many(wrong(grid.scale / float(grid.cells), after), 0.05 / 2)
    # The twin: no noise, and nothing counted.
    assert too_many(wrong(0.0, Account()), 0.05 / 2)


@pytest.mark.parametrize("unit", [0.1, 0.02])
def test_a_value_is_as_rarely_too_far_for_its_window_as_said(unit: float) -> None:
    """A normal one of this scale, beyond a quarter of the range to either side."""
    exactly = math.log(2) + float(norm.logsf(0.25 / (unit / 2)))
    assert exactly <= scaled_shape_of(9, "l2", unit).log_row <= exactly + 6.0


@pytest.mark.parametrize("law", [UNIFORM, LAPLACE], ids=lambda law: law.name)
def test_a_vector_needs_room_beside_the_sampling(law: Law) -> None:
    """As wide as the sampling alone, or narrower, there is none; any wider there is."""

    def together(tolerance: float) -> Together | None:
        shape = shape_within(3, "l2")
        return released_together(law, TERMS, shape, lambda _: 0.25, tolerance, -3.0, 0.0)

    for tolerance in (0.2, 0.25):
        assert together(tolerance) is None
    found = together(0.26)
    assert found is not None
    assert half_width_on(law, found.grid, 0.25, -3.0 - math.log(6)) <= 0.26 * (1 + 1e-12)
