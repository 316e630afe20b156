"""Limits of mechanisms, each exactly at its edge; and what is never told."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import holdfast
from holdfast.data.sampling import Independent
from holdfast.errors import BudgetExhausted, InvalidArgument, ToleranceTooTight
from holdfast.mechanisms.catalogue import CATALOGUE, choose
from holdfast.mechanisms.claims import CHECKS, more_than
from holdfast.mechanisms.described import DESCRIBED
from holdfast.mechanisms.forecast_gates import FORECAST_GATES
from holdfast.mechanisms.mechanism import ROUNDED_ENDS, Offer, TrainedMean, Wish, alike, lies_in
from holdfast.mechanisms.noise import LAPLACE
from holdfast.mechanisms.private import PrivateTheorem
from holdfast.mechanisms.stable_steps import RowShifts
from holdfast.mechanisms.terms import Account, Closed, OnGrid, QuestionPart, Terms
from holdfast.mechanisms.transfer import Beside, Epoch, LimitedClaims, Transfer
from holdfast.mechanisms.vector_release import ScaledShape
from holdfast.mechanisms.winner import CvScores
from holdfast.papers.guess_and_check import CountedChecks, CountedTree
from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.leakage.nats import LeakageAccount
from tests import seam
from tests.mechanisms.fake import CONDITION, independent

TERMS = independent(5_000, tolerance=0.3, questions=10)
ALONE = Offer(1, "avg(b)", 0.1, None, 0.0, log_p=-3.0, radius=0.25, claim=(0.25, 0.75), guess=0.5)


def test_a_claim_is_confirmed_where_all_that_the_truth_can_be_is_inside() -> None:
    """[0.25, 0.75] around 0.5 is rounded outwards: a claim of just that is not confirmed."""

    def confirmed(low: float, high: float, value: float = 0.5) -> bool:
        return bool(seam.real(seam.WITHIN_A_CLAIM)(replace(ALONE, claim=(low, high)), value))

    below, above = round_down(0.25), round_up(0.75)
    assert confirmed(below, above)
    assert not confirmed(0.25, above)
    assert not confirmed(below, 0.75)
    assert confirmed(0.0, above, 0.1)  # the ends of the range bind nothing
    assert not confirmed(5e-324, above, 0.1)
    assert confirmed(below, 1.0, 0.9)
    assert not confirmed(below, math.nextafter(1.0, 0.0), 0.9)


def test_a_confirmed_value_is_inside_the_claim_and_the_range() -> None:
    checks = CountedChecks(CountedTree(5, 2, 20))
    for claim, guess, value in (
        ((0.4, 0.6), 0.5, 0.5),
        ((0.4, 0.6), 0.9, 0.6),
        ((0.4, 0.6), 0.1, 0.4),
        ((-0.5, 0.6), -0.2, 0.0),
        ((0.4, 1.5), 1.2, 1.0),
        ((0.4, 0.6), None, 0.4),
    ):
        (release,) = checks.settle([replace(ALONE, claim=claim, guess=guess)], ["confirmed"])
        assert release.value == value
        assert release.interval == Interval(max(0.0, claim[0]), min(1.0, claim[1]))
    for wrong in ("shown", 3):
        with pytest.raises(ValueError, match="symbol of a check"):
            checks.settle([ALONE], [wrong])
    with pytest.raises(ValueError, match="symbol of a check"):
        checks.settle([replace(ALONE, claim=None)], ["confirmed"])


def test_what_is_no_symbol_of_a_described_answer_is_refused() -> None:
    described = replace(ALONE, extra={"rule": {}, "turned": False})
    for offer, symbol in ((described, 3), (described, "shown"), (ALONE, (1, 2)), (ALONE, 3)):
        with pytest.raises(TypeError, match="a described answer needs whole numbers"):
            DESCRIBED.settle([offer], [symbol])  # type: ignore[list-item]


def test_an_interval_lies_in_a_claim_up_to_a_rounding() -> None:
    limits = Interval(0.0, 0.0)  # where a range is one value no more is forgiven
    inside, claim = Interval(0.25, 0.75), (0.25 + ROUNDED_ENDS, 0.75 - ROUNDED_ENDS)
    assert lies_in(inside, claim, limits)
    assert not lies_in(inside, (math.nextafter(claim[0], 1.0), claim[1]), limits)
    assert not lies_in(inside, (claim[0], math.nextafter(claim[1], 0.0)), limits)
    assert lies_in(Interval(0.0, 1.0), (0.0, 1.0), limits)
    assert not lies_in(Interval(0.0, 1.0), (0.1, 1.0), limits)
    assert not lies_in(Interval(0.0, 1.0), (0.0, 0.9), limits)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1.0, 1.0 + 0.9e-9, True),
        (1.0, 1.0 + 2e-9, False),
        (0.0, 0.9e-18, True),
        (0.0, 2e-18, False),
        ([1, 2.0], [1.0, 2], True),
        ([1, 2], [1, 2, 3], False),
        ([1], 1, False),
        (1, [1], False),
        ({"a": [1]}, {"a": [1.0]}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {}, False),
        ({"a": 1}, [["a", 1]], False),
        ("a", "a", True),
        ("a", "b", False),
        (None, None, True),
        (None, 0, False),
    ],
)
def test_numbers_are_alike_as_nearly_as_machines_compute_them(
    one: object, other: object, same: bool
) -> None:
    assert alike(one, other) is same


def test_below_a_rounding_a_profile_on_a_grid_says_what_it_says_of_nothing() -> None:
    profile = SubGaussian(0.1)
    on_grid = OnGrid(profile, 0.01)
    for radius in (0.0, 0.005, 0.01):
        assert on_grid.log_tail(radius) == profile.log_tail(0.0)
    assert on_grid.log_tail(0.31) == pytest.approx(profile.log_tail(0.3))
    part = QuestionPart(profile, 0.5, 0.01)
    assert part.per_unit.log_tail(0.62) == pytest.approx(profile.log_tail(0.3))
    assert part.per_unit.radius(-3.0) == pytest.approx(2 * (profile.radius(-3.0) + 0.01))


@pytest.mark.parametrize("sides", [(0.4, 0.7), (0.0, 0.7), (0.4, 1.0), (0.0, 1.0)])
def test_a_trained_guess_may_be_off_as_far_as_the_nearer_bound(sides: tuple[float, float]) -> None:
    trained = seam.real(seam.TRAINED_GUESS)
    low, high = sides
    reaches = [0.6 - low] * (low > 0.0) + [high - 0.6] * (high < 1.0)
    found = trained(Wish(CONDITION, 0.1, sides, 0.6), TrainedMean(0.5, 0.2, 900))
    assert found is not None
    assert found == type(found)(0.6, min(reaches, default=1.0), 0.5, 0.2, 900)
    assert trained(Wish(CONDITION, 0.1, sides), TrainedMean(0.5, 0.2, 900)) is None
    assert trained(Wish(CONDITION, 0.1, None, 0.6), TrainedMean(0.5, 0.2, 900)) is None
    assert trained(Wish(CONDITION, 0.1, sides, 0.6), None) is None


def test_a_claim_without_a_forecast_has_no_weight_of_its_own() -> None:
    bare = Wish(CONDITION, 0.1, (more_than(0.5), 1.0), gated=True)
    (offer,) = CHECKS.offer(TERMS, Account(), [bare])
    with pytest.raises(TypeError, match="no weight of its own"):
        seam.real(seam.FORECAST_ENTERED)(FORECAST_GATES, TERMS, Account(), bare, offer, -3.0)
    releases = CHECKS.settle([offer], ["confirmed"])
    with pytest.raises(TypeError, match="has no forecast"):
        FORECAST_GATES.advance(Account(), [offer], releases)
    with pytest.raises(TypeError, match="says nothing about the sample"):
        _ = replace(offer, radius=None).statement
    with pytest.raises(TypeError, match="says nothing about the sample"):
        _ = replace(offer, log_p=None).statement


def test_scores_of_cross_validation_are_shares() -> None:
    assert CvScores((0.0, 1.0, None), 1).ranks == [2, 1, 3]
    for scores, rows in (((1.0 + 1e-9,), 5), ((-1e-9,), 5), ((0.5,), 0)):
        with pytest.raises(InvalidArgument):
            CvScores(scores, rows)


def test_a_vector_that_may_be_outside_of_its_window_has_no_radius() -> None:
    shape = ScaledShape(4, "l2", 0.01, -20.0)
    edge = math.log(4 * 100) - 20.0 + 1.0  # where it fails with e^-1 of the level
    assert math.isfinite(shape.radius(100, edge + 1e-9, LAPLACE))
    assert shape.radius(100, edge, LAPLACE) == math.inf == shape.radius(100, edge - 1.0, LAPLACE)


# Transfer mechanisms ------------------------------------------------------------------------------


def private(*epochs: Epoch, **others: Any) -> Transfer:
    return Transfer("private laplace/1", LAPLACE, PrivateTheorem(LAPLACE), epochs, **others)


def test_privacy_is_that_of_the_finest_noise() -> None:
    fine, coarse = Epoch(5, 2**34, -3.0, 0.1), Epoch(5, 2**36, -3.0, 0.2)
    account = Account(LeakageAccount(3))
    alone = private(fine, delta=1e-6).privacy(account)
    assert private(fine, coarse, delta=1e-6).privacy(account) == alone
    assert private(coarse, fine, delta=1e-6).privacy(account) == alone
    assert private(coarse, delta=1e-6).privacy(account) != alone
    assert private(fine).privacy(account) is None


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (1.0, 3.0), (-4.0, 1.0)])
def test_a_declared_change_is_a_part_of_the_range(bounds: tuple[float, float]) -> None:
    def parts(change: float) -> tuple[float, int, int]:
        statistic = holdfast.statistic(
            lambda frame: float(frame["x"].mean()),  # type: ignore[arg-type]
            columns=["x"],
            bounds=bounds,
            name="mean of x",
            change=change,
        )
        terms = replace(TERMS, tolerance=0.5)
        mechanism = private(Epoch(10, 2**40 + 1, terms.log_beta, 0.1), delta=1e-6)
        (offer,) = mechanism.offer(terms, Account(), [Wish(statistic, 0.5)])
        assert offer.tolerance is not None
        return offer.tolerance, int(offer.own_grid.cells), offer.own_grid.scale

    width = bounds[1] - bounds[0]
    tolerance, cells, scale = parts(width / 5_000)  # what a row does to a mean
    assert tolerance == pytest.approx(0.1)
    assert cells == 5_000 * 2**20
    # The change is rounded up, so that it is a little more than 2^20 cells: of an even number.
    assert scale == math.ceil((2**20 + 2) * Fraction(2**40 + 1, 2**30))


def test_claims_beside_leak_no_more_than_was_set_aside() -> None:
    wish = Wish(CONDITION, 0.1, (0.4, 0.6), 0.5)

    def limited(nats: float) -> LimitedClaims:
        return LimitedClaims(Beside(nats, 0.97), CHECKS)

    (offer,) = limited(50.0).offer(TERMS, Account(), [wish])
    assert limited(offer.worst_charge * (1 + 1e-12)).offer(TERMS, Account(), [wish])
    with pytest.raises(BudgetExhausted, match="set aside for claims"):
        limited(math.nextafter(offer.worst_charge, 0.0)).offer(TERMS, Account(), [wish])


def test_a_fault_of_an_opening_is_told_beyond_its_edge() -> None:
    kind = CATALOGUE["gaussian"]
    wanted = Terms(5_000, None, 0.95, 20, Independent())
    planned = kind.plan(wanted, {})
    terms = planned.terms(wanted)
    assert kind.fault is not None
    (epoch,) = planned.parameters["epochs"]

    def fault(**moved: float) -> str | None:
        assert kind.fault is not None
        return kind.fault(terms, {**planned.parameters, "epochs": [{**epoch, **moved}]}, 1)

    assert fault() is None
    beta = epoch["log_beta"]
    assert fault(log_beta=beta + 0.9e-9) is None
    assert fault(log_beta=beta + 1.2e-9) == (
        "the opening gives out more than the failure probability"
    )
    assert fault(questions=19) == ("the opening provides for fewer questions than were declared")
    assert fault(half_width=epoch["half_width"] * (1 - 1e-4)) is not None


def test_as_much_as_is_promised_is_taken_and_no_less() -> None:
    """A half-width that was planned may be declared; the next double below it may not."""
    for name in ("one look", "halting guess and check"):
        wanted = Terms(5_000, None, 0.95, 20, Independent())
        least = CATALOGUE[name].plan(wanted, {}).tolerance
        assert least is not None
        CATALOGUE[name].plan(replace(wanted, tolerance=least), {})
        with pytest.raises(ToleranceTooTight):
            CATALOGUE[name].plan(replace(wanted, tolerance=0.9 * least), {})


def test_of_nothing_that_was_asked_nothing_has_moved() -> None:
    assert tuple(RowShifts().scales(100)) == (0.0, 0.0, 0.0)
    assert RowShifts(others=3).scales(100) == RowShifts().scales(100)


def test_an_account_is_written_down_and_read_again() -> None:
    account = Account(
        LeakageAccount(3, 0.4, -5.0), 4, 2, {"m": [1]}, 5, 6, 7, 8, Closed("now", "x"), -0.1
    ).after_implied(1)
    again = Account.from_dict(account.to_dict())
    assert again == account
    assert (account.refuted, account.looks) == (1, 3 + 5 + 6)
    assert account.after_coordinates(2).looks == 16
    assert account.after_implied(0) is account
    assert Account.from_dict(Account().to_dict()) == Account()


def test_a_choice_says_why() -> None:
    wanted = Terms(5_000, None, 0.95, 20, Independent())
    for terms, name in (
        (wanted, "bounded noise"),
        (replace(wanted, questions=None), "bounded noise"),
        (replace(wanted, questions=5_000, rows=200_000), "median noise"),
        (replace(wanted, questions=5_000, rows=200_000, tolerance=0.001), "bounded noise"),
    ):
        choice = choose(terms, {})
        assert choice.kind.name == name
        assert choice.why is not None
        assert choice.why.startswith(name)


def test_assumptions_are_named() -> None:
    terms = Terms(5_000, 0.1, 0.95, 20, Independent(), key="k", public=("p", "q"))
    assert terms.assumption == (
        "independent rows, for these items: given p, q as they are, "
        "results for uploaded columns hold for these items only"
    )
    keyed = replace(terms, public=())
    assert "keys (k) carry no information" in keyed.assumption
    parted = replace(keyed, described="exact", described_share=0.4, reveal_share=0.1)
    assert parted.parted == (
        "5 %, of it 2 % for text questions, 0.5 % for a statistic revealed at the end and 2.5 % "
        "for all others"
    )
    assert parted.is_parted
    assert replace(parted, reveal_share=0.0).is_parted
    assert replace(keyed, reveal_share=0.1).is_parted
    assert not keyed.is_parted
