"""Median noise and Gaussian noise: what crosses the door, what is promised, what an audit finds."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

import holdfast
from holdfast.data.design import Group
from holdfast.data.sampling import Independent, clustered, declared, m_dependent
from holdfast.errors import BudgetExhausted, InvalidArgument, InvalidQuestion, ToleranceTooTight
from holdfast.ledger.audit import audit
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.gaussian import TheoremT
from holdfast.mechanisms.mechanism import Offer, Wish
from holdfast.mechanisms.median_noise import TheoremM
from holdfast.mechanisms.terms import Account, Terms
from holdfast.mechanisms.transfer import Epoch, scale_of, whole_numbers
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.statistics.mean import expression_of, group_mean
from holdfast.theory.transfer import epochs as epochs_theory, median_width as median_noise
from holdfast.theory.transfer.epochs import median_epoch_half_width
from holdfast.theory.transfer.gaussian_noise import gaussian_max_noise, gaussian_shift
from holdfast.theory.transfer.median_width import median_noise_release
from tests.mechanisms.fake import (
    CONDITION,
    CONSTANT,
    NUMBER,
    SECRET,
    Session,
    Sums,
    audited,
    noise_of,
    of_count,
    of_units,
    reach_of,
    said,
    settled,
)
from tests.mechanisms.sessions import TABLE
from tests.mechanisms.transferring import NAMES, every_law, opened, wanted
from tests.mechanisms.voting import BETAS

# What is promised -----------------------------------------------------------------------------


@every_law
@pytest.mark.parametrize(("rows", "questions"), [(3_000, 7), (20_000, 500)])
@pytest.mark.parametrize("beta", BETAS)
def test_the_half_width_is_the_planners(name: str, rows: int, questions: int, beta: float) -> None:
    terms, mechanism = opened(name, rows, questions, beta=beta)
    plan = holdfast.plan(rows=rows, questions=questions, confidence_level=1 - beta, described="off")
    assert terms.half_width == plan[name].half_width
    (offer,) = mechanism.offer(terms, Account(), [Wish(NUMBER, terms.half_width)])
    assert offer.tolerance == terms.half_width
    # And the theorem gives it, with what whole numbers add.
    assert mechanism.theorem.half_width(rows, mechanism.epochs) <= terms.half_width * (1 + 1e-7)


@every_law
def test_a_declared_tolerance_is_kept_and_answers_are_narrower(name: str) -> None:
    _, least = opened(name)
    terms, mechanism = opened(name, tolerance=0.4)
    assert terms.half_width == 0.4
    assert mechanism.epochs == least.epochs
    for asked_for in (0.4, 0.2):
        (offer,) = mechanism.offer(terms, Account(), [Wish(CONDITION, asked_for)])
        assert offer.tolerance == least.epochs[0].half_width < 0.2


@every_law
def test_what_cannot_be_promised_is_refused(name: str) -> None:
    with pytest.raises(ToleranceTooTight, match=r"requested half-width 0\.01 .*best"):
        opened(name, tolerance=0.01)
    with pytest.raises(ToleranceTooTight, match=r"requested half-width 0\.5 .* 50 rows allow"):
        opened(name, rows=50)
    terms, mechanism = opened(name)
    with pytest.raises(ToleranceTooTight, match=r"requested half-width 0\.01 .*best"):
        mechanism.offer(terms, Account(), [Wish(CONDITION, 0.01)])
    for sampling in (clustered("x", sizes="fixed", size=3.0), m_dependent(2), declared(sigma=0.01)):
        with pytest.raises(InvalidArgument, match="needs independent rows"):
            CATALOGUE[name].plan(Terms(5_000, None, 0.95, 50, sampling), {})


@every_law
def test_only_averages_of_all_rows_are_answered(name: str) -> None:
    terms, mechanism = opened(name)
    whole: Any = SimpleNamespace(row=None, text="auc(x, b)")
    with pytest.raises(InvalidQuestion, match=r"is about averages of all rows, .* and auc"):
        mechanism.offer(terms, Account(), [Wish(whole, 0.4)])
    inside = expression_of(CONDITION.row)
    some = group_mean(NUMBER.row, inside, inside, Group(terms.rows - 1, 0))
    with pytest.raises(InvalidQuestion, match=r"is about averages of all rows, .* and avg"):
        mechanism.offer(terms, Account(), [Wish(some, 0.4)])
    for question in (CONDITION, NUMBER, CONSTANT):
        assert mechanism.offer(terms, Account(), [Wish(question, 0.4)])


@every_law
def test_no_more_questions_than_declared(name: str) -> None:
    terms, mechanism = opened(name, questions=3)
    session, wish = Session(terms), Wish(CONDITION, 0.4)
    for left in (3, 2, 1):
        assert mechanism.questions_left(terms, session.account) == left
        session.put(mechanism, wish, of_count(5_000, 100))
    assert mechanism.questions_left(terms, session.account) == 0
    with pytest.raises(BudgetExhausted, match="requested 1 more question; remaining 0"):
        mechanism.offer(terms, session.account, [wish])
    assert session.account.nats == 0.0
    assert math.exp(session.account.leakage.log_beta_spent) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize("variance", [0.25, 0.1, 0.001])
def test_a_declared_variance_narrows_and_is_said(variance: float) -> None:
    rows, questions = 20_000, 400
    _, plain = opened("median noise", rows, questions)
    _, mechanism = opened("median noise", rows, questions, variance=variance)
    width, least = mechanism.epochs[0].half_width, plain.epochs[0].half_width
    # The best noise balances D C with 2 sqrt(v) H, so the sum goes with the root of 2 sqrt(v).
    assert width == pytest.approx(least * math.sqrt(2 * math.sqrt(variance)), rel=0.06)
    assert mechanism.theorem.half_width(rows, mechanism.epochs) <= width * (1 + 1e-12)
    planned = CATALOGUE["median noise"].plan(
        wanted(rows, questions, None, 0.05), {"variance": variance}
    )
    if variance == 0.25:  # so it is of any value: nothing more is assumed
        assert planned.assumes is None
    else:
        assert f"a variance of at most {variance:g}" in (planned.assumes or "")
    for wrong in (0.0, 0.3, math.nan):
        with pytest.raises(InvalidArgument, match="variance is"):
            opened("median noise", rows, questions, variance=wrong)


def test_the_order_may_be_chosen() -> None:
    widths = {a: opened("median noise", order=a)[1].epochs[0].half_width for a in range(2, 8)}
    best = opened("median noise")[1]
    assert best.epochs[0].half_width == min(widths[2], widths[3])
    for wrong in (1, 8, 2.5):
        with pytest.raises(InvalidArgument, match="order is"):
            opened("median noise", order=wrong)


# Open-ended -----------------------------------------------------------------------------------


@every_law
@pytest.mark.parametrize("rows", [3_000, 10**5])
def test_epochs_double_and_widen_and_share_the_failure_probability(name: str, rows: int) -> None:
    terms, mechanism = opened(name, rows, None, 0.1)
    epochs = mechanism.epochs
    assert all(b.questions == 2 * a.questions for a, b in pairwise(epochs))
    widths = [epoch.half_width for epoch in epochs]
    assert widths == sorted(widths)
    assert widths[0] < 0.1 < widths[-1] < 0.5
    assert math.fsum(math.exp(epoch.log_beta) for epoch in epochs) < 0.05
    for last in range(1, len(epochs) + 1):
        least = mechanism.theorem.half_width(rows, epochs[:last])
        assert least <= epochs[last - 1].half_width * (1 + 1e-7)
    left = mechanism.questions_left(terms, Account())
    assert left == sum(epoch.questions for epoch in epochs if epoch.half_width <= 0.1)
    # The next one is only there for a larger tolerance, and the last is the last.
    after = _after(left)
    with pytest.raises(BudgetExhausted, match=f"half-width 0.1 .* after {left:,} questions"):
        mechanism.offer(terms, after, [Wish(CONDITION, 0.1)])
    (offer,) = mechanism.offer(terms, after, [Wish(CONDITION, 0.45)])
    assert 0.1 < said(offer.tolerance) < 0.45
    everything = sum(epoch.questions for epoch in epochs)
    with pytest.raises(BudgetExhausted, match=f"requested question {everything + 1:,}; remaining"):
        mechanism.offer(terms, _after(everything), [Wish(CONDITION, 0.49)])


def _after(asked: int) -> Account:
    account = Account()
    return replace(account, leakage=replace(account.leakage, asked=asked))


def test_a_batch_may_cross_the_end_of_an_epoch() -> None:
    terms, mechanism = opened("median noise", 10**5, None, 0.1)
    first, second = mechanism.epochs[:2]
    offers = mechanism.offer(terms, _after(first.questions - 1), [Wish(CONDITION, 0.1)] * 2)
    assert [offer.tolerance for offer in offers] == [first.half_width, second.half_width]


# What crosses the door ------------------------------------------------------------------------


@every_law
@given(units=st.lists(st.integers(0, GRID), min_size=300, max_size=300), number=st.booleans())
def test_a_release_is_about_the_sum_of_the_rows(name: str, units: list[int], number: bool) -> None:
    question = NUMBER if number else CONDITION
    terms, mechanism = LAWS[name]
    (offer,) = mechanism.offer(terms, Account(), [Wish(question, terms.half_width)])
    assert Offer.from_dict(json.loads(json.dumps(offer.to_dict()))) == offer
    (symbol,) = mechanism.respond(terms, [offer], [question], of_units(units), noise_of(SECRET))
    assert isinstance(symbol, int)
    q, answer = Fraction(sum(units), 300 * GRID), Fraction(symbol, offer.own_grid.last)
    assert abs(answer - q) <= Fraction(2 * reach_of(offer) + 1, 2 * offer.own_grid.last)
    release = settled(mechanism, offer, symbol)
    assert release.charge == offer.worst_charge == 0.0
    assert release.status == "answered"
    assert 0.0 <= release.interval.low <= release.told <= release.interval.high <= 1.0
    assert Fraction(release.interval.low) <= max(
        Fraction(0), answer - Fraction(said(offer.tolerance))
    )
    assert Fraction(release.interval.high) >= min(
        Fraction(1), answer + Fraction(said(offer.tolerance))
    )
    # The noise is a function of the address: the same sum gives the same symbol again.
    other = of_units(units[::-1])
    assert [symbol] == mechanism.respond(terms, [offer], [question], other, noise_of(SECRET))


LAWS = {name: opened(name, rows=300, questions=2) for name in NAMES}


@every_law
def test_a_batch_has_independent_noise_and_one_scan(name: str) -> None:
    terms, mechanism = opened(name)
    scans: list[int] = []

    class Counting(Sums):
        def sums(self, rows):  # type: ignore[no-untyped-def]
            scans.append(len(rows))
            return super().sums(rows)

    sample = Counting(5_000, lambda _: (0, 0))
    offers = mechanism.offer(terms, Account(), [Wish(CONDITION, 0.4)] * 3)
    found = mechanism.respond(terms, offers, [CONDITION] * 3, sample, noise_of(SECRET))
    assert scans == [3]
    assert len(set(found)) == 3


def test_nothing_is_computed_again_after_the_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.ledger"
    holdfast.open(TABLE, ledger=path, mechanism="median noise", questions=500).close()

    def transform(*_: Any) -> Any:
        raise AssertionError("a transform was computed")

    monkeypatch.setattr(median_noise, "exact_shift", transform)
    monkeypatch.setattr(epochs_theory, "exact_shift", transform)
    with holdfast.open(TABLE, ledger=path, described="off") as holdout:
        assert holdout.ask("avg(late)").status == "answered"
        assert holdout.budget.questions_left == 499
    with pytest.raises(AssertionError, match="a transform"):
        audit(path)
    monkeypatch.undo()
    assert all(finding.fine for finding in audit(path))
    # And an audit computes it once in a process.
    monkeypatch.setattr(epochs_theory, "exact_shift", transform)
    assert all(finding.fine for finding in audit(path))


# What an audit finds --------------------------------------------------------------------------


@every_law
def test_an_audit_finds_a_changed_offer(name: str) -> None:
    terms, mechanism = opened(name)
    account = _after(4)
    (offer,) = mechanism.offer(terms, account, [Wish(NUMBER, terms.half_width)])
    assert audited(mechanism, terms, account, [offer], [NUMBER]) is None
    changed: dict[str, dict[str, Any]] = {
        "number": {"number": 6},
        "refused": {"tolerance": said(offer.tolerance) * (1 - 1e-8)},
        "tolerance": {"tolerance": said(offer.tolerance) * (1 + 1e-8)},
        "share": {"log_share": said(offer.log_share) - 1.0},
        "level": {"log_p": -1.0},
        "radius": {"radius": 1e-6},
        "charge": {"worst_charge": offer.worst_charge + 1e-6},
    }
    for words, change in changed.items():
        fault = audited(mechanism, terms, account, [replace(offer, **change)], [NUMBER])
        assert fault is not None
        assert fault.startswith(words)
    for finer in (
        {"scale": offer.own_grid.scale // 2},
        {"cells": 2 * offer.own_grid.last},
        {"reach": 7},
    ):
        forged = replace(offer, grid=replace(offer.own_grid, **finer))
        assert audited(mechanism, terms, account, [forged], [NUMBER]) == "grid"
    dependent = replace(terms, sampling=m_dependent(2))
    assert mechanism.fault(dependent, 5) == "its theorem needs independent rows"
    late = replace(offer, number=51)
    assert "refused" in (audited(mechanism, terms, _after(50), [late], [NUMBER]) or "")


@every_law
def test_an_audit_finds_a_changed_opening(name: str) -> None:
    terms, mechanism = opened(name)

    def fault(**change: Any) -> str | None:
        epoch = replace(mechanism.epochs[0], **change)
        other = replace(mechanism, epochs=(epoch,))
        return other.fault(terms, 1)

    epoch = mechanism.epochs[0]
    assert fault() is None
    below = f"the opening's half-width is below what {mechanism.theorem.name} gives"
    assert fault(half_width=0.999 * epoch.half_width) == below
    assert fault(scale=math.floor(0.9 * epoch.scale)) == below
    assert fault(scale=math.ceil(1.1 * epoch.scale)) == below
    assert fault(questions=500, log_beta=epoch.log_beta) == below
    assert "more than the failure probability" in (fault(log_beta=epoch.log_beta + 0.01) or "")
    assert "fewer questions" in (fault(questions=40) or "")


def test_parameters_are_plain_and_complete() -> None:
    for name in NAMES:
        _, mechanism = opened(name)
        planned = CATALOGUE[name].plan(wanted(5_000, 50, None, 0.05), {})
        assert json.loads(json.dumps(planned.parameters)) == planned.parameters
        assert planned.parameters["epochs"] == [asdict(mechanism.epochs[0])]


@every_law
def test_an_epoch_counts_all_answers_before_it(name: str) -> None:
    """Sabotage: the second epoch with the half-width that it would have if it were the first."""
    terms, mechanism = opened(name, 10**5, None, 0.3)
    first, second, *later = mechanism.epochs
    alone = mechanism.theorem.half_width(terms.rows, [second])
    both = mechanism.theorem.half_width(terms.rows, [first, second])
    assert alone < 0.999 * both
    assert both <= second.half_width * (1 + 1e-12)  # the roundings of the grid included
    forged = replace(mechanism, epochs=(first, replace(second, half_width=alone), *later))
    for each, fault in ((mechanism, None), (forged, "the opening's half-width is below")):
        found = each.fault(terms, first.questions + 1)
        assert found is None if fault is None else fault in (found or "")


@pytest.mark.parametrize("noise", [0.01, 0.0123456789, 1 / 3])
def test_gaussian_noise_is_no_smaller_in_whole_units(noise: float) -> None:
    rows, k, log_beta = 777, 20, math.log(0.05)
    epoch = Epoch(k, scale_of(noise, rows), log_beta, 0.1)
    more = epoch.noise(rows) - Fraction(noise)
    assert 0 <= more < Fraction(1, rows * GRID)
    # The theorem is about the whole units, half a unit of rounded noise, and values off their grid.
    largest = gaussian_max_noise(k, log_beta)
    shift = gaussian_shift(math.sqrt(k) / (2 * rows * float(epoch.noise(rows))), log_beta)
    least = float(epoch.noise(rows)) * largest + shift + 0.5 / (rows * GRID) + GRID_ERROR
    assert least <= TheoremT().half_width(rows, [epoch]) <= least * (1 + 1e-12)
    # What an opening allows for whole numbers covers them.
    bare = noise * largest + gaussian_shift(math.sqrt(k) / (2 * rows * noise), log_beta)
    assert least <= bare + whole_numbers(rows, largest) <= bare + 2**-28


def test_median_noise_is_one_noise_for_values_on_their_grid() -> None:
    _, mechanism = opened("median noise", 10**5, None, 0.3)
    first, second, *_ = mechanism.epochs
    louder = replace(first, scale=2 * first.scale)
    assert mechanism.theorem.half_width(10**5, [louder, second]) == math.inf
    for variance in (1e-6, 0.01, 0.2):
        exactly = variance + 2 * math.sqrt(variance) * GRID_ERROR + GRID_ERROR**2
        assert exactly <= TheoremM(2, variance).on_grid <= exactly * (1 + 1e-12)
    assert TheoremM(2, 0.25).on_grid == 0.25
    whole = median_noise_release(777, GRID, 0.0123)
    assert whole.extra_half_width > 0
    assert scale_of(0.0123, 777) == whole.M
    assert whole_numbers(777, 1.0) >= whole.extra_half_width + GRID_ERROR
    # The theorem is about the noise that is drawn, rounded up to whole units.
    drawn = Epoch(20, whole.M, math.log(0.05), 0.1)
    width = TheoremM(2).half_width(777, [drawn])
    bare = median_epoch_half_width(777, 20, 20, 0.0123, 2, math.log(0.05), 0.25)
    assert bare + GRID_ERROR + 0.5 / (777 * GRID) <= width
    assert width <= bare + (whole.extra_half_width + GRID_ERROR) * (1 + 1e-6)


# Noise that is declared, as the lectures do it ---------------------------------------------------

DECLARED = [("gaussian", "sigma"), ("private gaussian", "sigma"), ("private laplace", "scale")]
TWENTY = Terms(1_000_000, None, 0.95, 20, Independent())


@pytest.mark.parametrize(("name", "size"), DECLARED)
def test_declared_noise_is_what_is_added_and_its_theorem_says_how_wide(
    name: str, size: str
) -> None:
    kind = CATALOGUE[name]
    for noise in (0.01, 0.03):
        planned = kind.plan(TWENTY, {size: noise})
        terms, (epoch,) = planned.terms(TWENTY), planned.parameters["epochs"]
        assert 0 <= Fraction(epoch["scale"], TWENTY.rows * GRID) - Fraction(noise) < 1e-14
        assert f"noise of {size} {noise:g}; by Theorem" in str(planned.told)
        assert kind.fault is not None
        assert kind.fault(terms, planned.parameters, 20) is None
        bold = {**planned.parameters, "epochs": [{**epoch, "half_width": 0.97 * noise}]}
        assert "below what" in str(kind.fault(terms, bold, 20))
    s, beta = 0.03, math.log(0.05)
    if name == "gaussian":  # Theorem T by hand
        shift = gaussian_shift(math.sqrt(20) / (2 * TWENTY.rows * s), beta)
        assert terms.half_width == pytest.approx(s * gaussian_max_noise(20, beta) + shift, rel=1e-6)


@pytest.mark.parametrize(("name", "error"), [(n, e) for n, _ in DECLARED for e in (0.3, 0.9)])
def test_an_expected_error_sets_the_noise_that_keeps_it(name: str, error: float) -> None:
    """L12 to L15: what one row does to all answers, and what follows from it."""
    terms = replace(TWENTY, rows=40_000_000)
    planned = CATALOGUE[name].plan(terms, {"expected_error": error})
    (epoch,) = planned.parameters["epochs"]
    steps = GRID / epoch["scale"]  # what one row does, in scales of the noise
    normal = math.erf(steps * math.sqrt(20 / 8))
    distance = 1 - math.exp(-10 * steps) if "laplace" in name else normal
    root = math.sqrt(math.log(2 / 0.0125) / (2 * terms.rows))
    kept = distance + (2 * distance * terms.rows + 1) * root
    assert 0.99 * error < kept <= error


def test_declared_noise_that_says_nothing_is_refused() -> None:
    gaussian, rows = CATALOGUE["gaussian"], replace(TWENTY, rows=20_000)
    with pytest.raises(ToleranceTooTight, match=r"20 answers keep to \+-\d.* wider than"):
        gaussian.plan(rows, {"sigma": 0.5})
    with pytest.raises(ToleranceTooTight, match="not above"):
        gaussian.plan(rows, {"expected_error": 0.001})
    with pytest.raises(InvalidArgument, match="both are given"):
        gaussian.plan(rows, {"sigma": 0.1, "expected_error": 0.5})
    with pytest.raises(InvalidArgument, match="give questions="):
        gaussian.plan(replace(rows, questions=None), {"sigma": 0.1})
    with pytest.raises(InvalidArgument, match="epsilon sets the noise"):
        CATALOGUE["private laplace"].plan(rows, {"scale": 0.01, "epsilon": 1.0})
