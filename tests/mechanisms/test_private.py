"""Private answers: what a row can do, what noise hides of it, and what holds for the population."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, strategies as st

import holdfast
from holdfast.data.design import Group
from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Independent, declared
from holdfast.errors import InvalidArgument, InvalidQuestion, ToleranceTooTight
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.mechanism import Offer, Wish
from holdfast.mechanisms.noise import LAPLACE, Law
from holdfast.mechanisms.private import PrivateTheorem, scale_for
from holdfast.mechanisms.terms import Account, Terms
from holdfast.mechanisms.transfer import Transfer
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.statistics.mean import expression_of, group_mean
from holdfast.statistics.whole import TableFunction
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.safeside import golden_minimum
from holdfast.theory.transfer.differential_privacy import (
    composed_private_shift,
    laplace_max_noise,
    private_laplace_half_width,
)
from holdfast.theory.transfer.gaussian_noise import (
    gaussian_half_width,
    gaussian_max_noise,
    gaussian_shift,
)
from tests.mechanisms.fake import (
    ARMS,
    CONDITION,
    CONSTANT,
    NUMBER,
    SCHEMA,
    Session,
    audited,
    independent,
    of_count,
    settled,
)
from tests.mechanisms.unbounded import every_law, private
from tests.mechanisms.voting import BETAS, QUESTIONS, ROWS, attacks
from tests.statistics.asked import asked
from tests.theory.coverage import most_failures, too_many


def wanted(
    rows: int = 20_000, questions: int | None = 20, tolerance: float | None = None, **changed: Any
) -> Terms:
    return replace(Terms(rows, tolerance, 0.95, questions, Independent()), **changed)


def opened(law: Law, plan: Terms, **options: Any) -> tuple[Terms, Transfer]:
    kind = CATALOGUE[f"private {law.name}"]
    planned = kind.plan(plan, options)
    terms = planned.terms(plan)
    mechanism = kind.build(terms, planned.parameters)
    assert isinstance(mechanism, Transfer)
    return terms, mechanism


def mean_of_x(change: float, bounds: tuple[float, float] = (0.0, 1.0)) -> TableFunction:
    return holdfast.statistic(
        lambda frame: float(frame["x"].mean()),  # type: ignore[arg-type]
        columns=["x"],
        bounds=bounds,
        name="mean of x",
        change=change,
    )


# What one row can do ------------------------------------------------------------------------------


@given(
    values=st.lists(st.floats(-5, 5), min_size=2, max_size=20),
    other=st.floats(-5, 5) | st.none(),
    width=st.sampled_from([(0.0, 1.0), (-0.3, 0.1), (-3.0, 4.0)]),
)
def test_one_row_moves_the_sum_by_at_most_its_range(
    values: list[float], other: float | None, width: tuple[float, float]
) -> None:
    schema = SCHEMA.declare({"x": width})
    for text in ("avg(x)", "avg(b)", "avg(x > 0.05)"):
        question = asked(text, schema)
        totals = []
        for column in (values, [other, *values[1:]]):
            flags = [value is not None and value > 0 for value in column]
            sample = PolarsSample(pl.DataFrame({"x": column, "b": flags}, strict=False))
            totals.append(sample.sums([question.row])[0])
        assert abs(totals[0] - totals[1]) <= GRID


def test_the_whole_range_is_attained() -> None:
    question = asked("avg(x)", SCHEMA)
    totals = [
        PolarsSample(pl.DataFrame({"x": [x, 0.3], "b": [True, True]})).sums([question.row])[0]
        for x in (0.0, 1.0)
    ]
    assert totals[1] - totals[0] == GRID


@every_law
@given(
    change=st.floats(1e-7, 1.0),
    low=st.floats(0, 1),
    part=st.floats(0, 1),
    units=st.integers(45 * GRID, 50 * GRID),
)
@example(change=1 / 3, low=0.0, part=1.0, units=50 * GRID)
@example(change=1 / 3, low=0.0, part=1.0, units=50 * GRID - 1)
def test_declared_changes_get_noise_in_proportion(
    law: Law, change: float, low: float, part: float, units: int
) -> None:
    """Whatever one row does, in cells, is no larger against the noise than for an average."""
    cells, scale = grid_of(private(law, units), change)
    # All that a row can do, in cells: an even number, so that total variation is as stated.
    _, most = grid_of(private(law, GRID), change)
    assert most % 2 == 0
    assert Fraction(change) * cells <= most
    assert Fraction(most, scale) <= Fraction(GRID, units)
    ends = (low, low + part * change)
    moved = [math.floor(Fraction(end) * cells + Fraction(1, 2)) for end in ends]
    assert Fraction(abs(moved[1] - moved[0]), scale) <= Fraction(GRID, units)
    # And the noise is no larger than the same part of what the row can do, but for the grid.
    assert scale / cells <= 50 * change * (1 + 2**-18)


def grid_of(mechanism: Transfer, change: float) -> tuple[int, int]:
    """Cells and scale of a statistic that a row can change by so much."""
    terms = independent(20_000, tolerance=0.49)
    wish = Wish(mean_of_x(change), math.inf)
    (offer,) = mechanism.offer(terms, Account(), [wish])
    return offer.own_grid.last, offer.own_grid.scale


# What is promised ---------------------------------------------------------------------------------


@every_law
def test_the_half_width_is_that_of_the_theorems(law: Law) -> None:
    n, k, log_beta = 20_000, 20, math.log(0.05)
    terms, mechanism = opened(law, wanted(n, k))
    if law is LAPLACE:
        _, best = golden_minimum(
            lambda x: private_laplace_half_width(n, k, math.exp(x), log_beta), -9.0, 0.0
        )
    else:
        best = gaussian_half_width(n, k, log_beta).half_width
    assert best <= terms.half_width < best * (1 + 1e-4) + 0.001
    assert PrivateTheorem(law).half_width(n, mechanism.epochs) <= terms.half_width


@every_law
def test_roundings_are_inside_the_half_width(law: Law) -> None:
    """Noise coarser by 2 parts in 2^20 and a cell, the cells themselves, and the grid of values."""
    n, k, log_beta, scale, cell = 20_000, 20, math.log(0.05), 10**13, 1 / (20_000 * 2**20)
    if law is LAPLACE:
        largest = laplace_max_noise(k, log_beta)
        shift = composed_private_shift(k, GRID / scale, log_beta)
    else:
        largest = gaussian_max_noise(k, log_beta)
        shift = gaussian_shift(math.sqrt(k) * GRID / (2 * scale), log_beta)
    noise = largest * (scale / (n * GRID) * (1 + 2 / 2**20) + cell)
    least = noise + shift + cell + GRID_ERROR
    assert least <= PrivateTheorem(law).with_noise(n, k, scale, log_beta) <= least + 1e-12


@every_law
def test_more_room_gives_more_privacy_and_none_is_refused(law: Law) -> None:
    losses = []
    for tolerance in (0.08, 0.16, 0.32):
        terms, mechanism = opened(law, wanted(tolerance=tolerance))
        assert terms.half_width == tolerance
        losses.append(GRID / mechanism.epochs[0].scale)
        finer = PrivateTheorem(law).half_width(20_000, mechanism.epochs)
        assert tolerance * 0.999 < finer <= tolerance
    assert losses[0] > 1.9 * losses[1] > 3.8 * losses[2]
    with pytest.raises(ToleranceTooTight, match=r"requested half-width 0\.01 .* needs 0\.0"):
        opened(law, wanted(tolerance=0.01))


@every_law
def test_a_declared_epsilon_is_kept(law: Law) -> None:
    full = Account().leakage
    for _ in range(20):
        full = full.ask(-10.0)
    account = replace(Account(), leakage=full)
    _, mechanism = opened(law, wanted(), epsilon=0.05)
    spent = mechanism.privacy(account)
    assert spent is not None
    loss = spent.pure_epsilon if law is LAPLACE else spent.epsilon
    assert loss is not None
    # A little more privacy than declared fits into a half-width that is rounded up.
    assert 0.05 * 0.97 <= loss <= 0.05 * (1 + 1e-9)
    if law is LAPLACE:  # with a delta the exact composition is used: less noise for the same loss
        _, exact = opened(law, wanted(), epsilon=0.05, delta=1e-3)
        assert exact.epochs[0].scale < mechanism.epochs[0].scale
        less = exact.privacy(account)
        assert less is not None
        assert less.epsilon <= 0.05 * (1 + 1e-9)
        least = scale_for(law, wanted(), 20, {"epsilon": 0.05, "delta": None})
        assert 20 * Fraction(GRID, least) <= Fraction(0.05) < 20 * Fraction(GRID, least - 1)
    # More loss than the narrowest interval needs is not taken.
    _, loose = opened(law, wanted(), epsilon=50.0)
    assert loose.epochs == opened(law, wanted())[1].epochs
    with pytest.raises(ToleranceTooTight, match=r"for epsilon=0\.0001"):
        opened(law, wanted(), epsilon=1e-4)


# Offers, refusals, faults -------------------------------------------------------------------------


@every_law
def test_declared_statistics_have_intervals_in_proportion(law: Law) -> None:
    terms, mechanism = opened(law, wanted())
    for change, factor in ((1 / 20_000, 1.0), (1 / 40_000, 0.5)):
        (offer,) = mechanism.offer(terms, Account(), [Wish(mean_of_x(change), 0.4)])
        assert offer.tolerance == pytest.approx(factor * terms.half_width, rel=1e-12)
        assert audited(mechanism, terms, Account(), [offer], [mean_of_x(change)]) is None
    # What its text does not allow is found: a smaller change, with all that follows from it.
    (less,) = mechanism.offer(terms, Account(), [Wish(mean_of_x(1 / 80_000), 0.4)])
    for profile in (offer.profile, None):
        forged = replace(less, profile=profile)
        assert audited(mechanism, terms, Account(), [forged], [mean_of_x(1 / 40_000)])
    with pytest.raises(ToleranceTooTight, match=r"the best possible here"):
        mechanism.offer(terms, Account(), [Wish(mean_of_x(1 / 5_000), terms.half_width)])


@every_law
def test_what_no_sensitivity_is_known_of_is_refused(law: Law) -> None:
    terms, mechanism = opened(law, wanted())
    only_sigma = holdfast.statistic(len, columns=["x"], bounds=(0, 1), name="scale", sigma=0.1)
    inside = expression_of(CONDITION.row)
    some = group_mean(NUMBER.row, inside, inside, Group(terms.rows - 1, 0))
    for question in (only_sigma, some):  # a row may leave a group, and then moves all of its mean
        with pytest.raises(InvalidQuestion, match="declared change="):
            mechanism.offer(terms, Account(), [Wish(question, 0.4)])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"questions": None}, "give questions="),
        ({"sampling": declared(sigma=0.01)}, "needs independent rows"),
        ({"design": ARMS}, "leave them out"),
        ({"questions": 10**13}, "questions is 10000000000000"),
    ],
)
@every_law
def test_bad_openings(law: Law, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        opened(law, replace(wanted(), **changed))
    with pytest.raises(InvalidArgument, match="epsilon is -1"):
        opened(law, wanted(), epsilon=-1)


@every_law
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda o: replace(o, number=7), "number"),
        (lambda o: replace(o, log_share=0.0), "share of the failure probability"),
        (lambda o: replace(o, tolerance=0.9 * o.tolerance), "refused"),
        (lambda o: replace(o, tolerance=1.1 * o.tolerance), "tolerance"),
        (lambda o: replace(o, grid=replace(o.grid, scale=1)), "grid"),
        (lambda o: replace(o, grid=replace(o.grid, cells=10)), "grid"),
    ],
)
def test_an_audit_finds_what_was_changed(
    law: Law, change: Callable[[Offer], Offer], said: str
) -> None:
    terms, mechanism = opened(law, wanted())
    (offer,) = mechanism.offer(terms, Account(), [Wish(CONDITION, terms.half_width)])
    assert audited(mechanism, terms, Account(), [offer], [CONDITION]) is None
    fault = audited(mechanism, terms, Account(), [change(offer)], [CONDITION])
    assert fault is not None
    assert said in fault


@every_law
def test_an_audit_finds_an_opening_that_is_not_private_or_not_true(law: Law) -> None:
    terms, mechanism = opened(law, wanted())
    for unfit, said in (
        ({"sampling": declared(sigma=0.01)}, "independent rows"),
        ({"design": ARMS}, "not private"),
        ({"questions": 21}, "fewer questions"),
    ):
        assert said in (mechanism.fault(replace(terms, **unfit), 1) or "")
    (epoch,) = mechanism.epochs
    for wrong in (
        replace(epoch, scale=epoch.scale // 4),
        replace(epoch, questions=4 * epoch.questions),
        replace(epoch, half_width=epoch.half_width * (1 - 1e-4)),
    ):
        weak = replace(mechanism, epochs=(wrong,))
        found = weak.fault(terms, 1)
        assert found == f"the opening's half-width is below what {weak.theorem.name} gives"
    # Privacy is divided among the answers of one epoch.
    both = replace(mechanism, epochs=(replace(epoch, log_beta=epoch.log_beta - 1),) * 2)
    assert PrivateTheorem(law).half_width(terms.rows, both.epochs) == math.inf


@every_law
def test_the_symbol_is_the_sum_plus_noise(law: Law) -> None:
    terms, mechanism = opened(law, wanted(400, 4))
    (offer,) = mechanism.offer(terms, Account(), [Wish(NUMBER, 0.4)])
    session = Session(terms)
    first, second = (
        session.respond(mechanism, offer, NUMBER, of_count(400, count)) for count in (100, 101)
    )
    assert isinstance(first, int)
    assert isinstance(second, int)
    assert second - first == GRID
    release = settled(mechanism, offer, first)
    assert release.charge == 0.0
    assert release.interval.low <= release.told <= release.interval.high
    after = mechanism.advance(Account(), [offer], [release])
    assert (after.nats, after.asked) == (0.0, 1)


# Coverage under an adaptive attack ----------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
@every_law
def test_intervals_stay_true_together(law: Law, beta: float) -> None:
    plan = replace(wanted(ROWS, 30), confidence_level=1 - beta)
    terms, mechanism = opened(law, plan)
    assert not too_many(attacks(mechanism, terms, charging=True), beta)


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
@every_law
def test_with_too_little_noise_they_do_not(law: Law, beta: float) -> None:
    """Sabotage: noise for a twentieth of the half-width that fixed questions would need."""
    width = 1.1 * BoundedMean(ROWS).radius(math.log(beta / QUESTIONS))
    terms = Terms(ROWS, width, 1 - beta, QUESTIONS, Independent())
    mechanism = private(law, int(width / 100 * ROWS * GRID), QUESTIONS, width)
    assert too_many(attacks(mechanism, terms, charging=True), beta)


@pytest.mark.statistical
@every_law
def test_two_neighbours_are_told_apart_no_better_than_promised(law: Law) -> None:
    """The best test between neighbours, the sign of the noisy sum's distance to their middle."""
    draws, scale = 4_000, 2 * GRID
    mechanism = private(law, scale, draws)
    terms = independent(50, tolerance=0.49, questions=draws)
    offers = mechanism.offer(terms, Account(), [Wish(CONSTANT, 0.49)] * draws)
    hits = 0  # the neighbour told rightly; the law is symmetric, so either may be the sample
    for count, secret in ((25, b"a" * 32), (26, b"b" * 32)):
        session = Session(terms, secret)
        middle = 25 * GRID + GRID // 2
        for offer in offers:
            symbol = session.respond(mechanism, offer, CONSTANT, of_count(50, count))
            assert isinstance(symbol, int)
            hits += (symbol > middle) == (count == 26)
    account = mechanism.advance(Account(), offers[:1], [settled(mechanism, offers[0], 0)])
    spent = mechanism.privacy(account)
    assert spent is not None
    promised = spent.tv.distance

    def most(distance: float) -> int:
        return most_failures(2 * draws, (1 + distance) / 2)

    assert hits <= most(promised)
    assert 2 * draws - hits <= most_failures(2 * draws, (1 - promised) / 2)  # it is attained
    assert hits > most(0.5 * promised)  # sabotage: half of the distance would be refuted
