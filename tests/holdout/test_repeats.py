"""Repeats and refinements: what the ledger has is free, what it does not have is asked anew."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import holdfast
from holdfast.holdout.answer import Answer
from holdfast.holdout.batch import fulfilling
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.entries import Recorded, Request
from holdfast.mechanisms.mechanism import Wish
from holdfast.mechanisms.terms import Terms
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from holdfast.theory.base.intervals import Interval
from holdfast.wording import at_most
from tests.holdout.tables import BOUNDS, LATE, made, opened, same_secret, table, untouchable, watch

RANGES = {**BOUNDS, "unit": (0, 99)}


@pytest.fixture
def wide(tmp_path: Path) -> Any:
    """Forty questions on 4,000 rows, of half-width 0.2 unless said otherwise."""
    made(tmp_path, table(4_000), questions=40)
    with opened(tmp_path, table(4_000)) as holdout:
        yield holdout


def test_a_narrower_question_is_a_new_look(wide: Holdout, tmp_path: Path) -> None:
    first = wide.check(LATE, at_most=0.5)
    assert (first.status, *first.interval) == ("confirmed", 0.0, 0.5)
    cost = wide.cost(LATE, tolerance=0.06)
    second = wide.ask(LATE, tolerance=0.06)
    assert (second.status, second.number) == ("answered", 2)
    assert second.half_width <= 0.06 * (1 + 1e-9)
    assert second.cost == cost.most > 0
    third = wide.ask(LATE, tolerance=0.05)
    assert (third.number, third.status, third.cost > 0) == (3, "answered", True)
    assert [each.question for each in wide.ledger] == [LATE] * 3
    assert wide.budget.account.looks == 3
    assert wide.budget.nats == pytest.approx(first.cost + second.cost + third.cost)
    wide.close()
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


@pytest.mark.parametrize("question", ["std(x)", "avg(x) where late"])
def test_a_verdict_of_its_text_is_told_again_as_it_was(question: str, tmp_path: Path) -> None:
    with opened(tmp_path, table(4_000), described="exact", schema=BOUNDS) as holdout:
        first = holdout.gate(question, at_most=15)
        again = holdout.gate(question, at_most=15)
        assert (first.status, first.value is None) == ("not shown", False)
        assert (again.number, again.interval, again.value) == (1, first.interval, first.value)
        assert again.cost == 0


def test_a_check_of_which_the_ledger_can_say_nothing_is_answered_by_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "difference(x, unit) where late"
    monkeypatch.setattr("holdfast.mechanisms.terms.Terms", partial(Terms, rules=4))  # by parts
    declared: dict[str, Any] = {"tolerance": 0.3, "questions": 5, "schema": RANGES}
    with opened(tmp_path, table(200), described="exact", **declared) as holdout:
        answer = holdout.check(question, guess=10.0)
        assert (answer.status, answer.bits is None) == ("answered", False)
        assert answer.cost <= holdout.budget.nats
        again = holdout.check(question, guess=10.0)
        assert (again.interval, again.cost) == (answer.interval, 0)


def test_the_narrowest_answer_is_the_one_that_is_repeated(wide: Holdout) -> None:
    narrow = wide.ask(LATE, tolerance=0.05)
    claimed = wide.check(LATE, at_least=narrow.interval.low + 0.01)  # undecided, so it is asked
    assert claimed.number == 2
    assert claimed.interval == (narrow.interval.low + 0.01, narrow.interval.high)  # both are true
    watch(wide, untouchable)
    for again in (wide.ask(LATE), wide.ask(LATE, tolerance=0.06), wide.ask_many([LATE])[0]):
        assert (again.status, again.cost, again.interval) == ("repeated", 0.0, claimed.interval)
    same = wide.check(LATE, at_least=narrow.interval.low + 0.01)
    assert (same.status, same.receipt) == ("repeated", claimed.receipt)


def test_an_ask_is_not_answered_by_one_side(wide: Holdout) -> None:
    wide.check(LATE, at_most=0.5)
    assert not wide.cost(LATE).repeated  # [0, 0.5] is wider than +- 0.2
    answer = wide.ask(LATE)
    assert (answer.status, answer.half_width <= 0.2 * (1 + 1e-9)) == ("answered", True)
    small = wide.check("avg(late and x > 20)", at_most=0.3)
    assert wide.ask("avg(late and x > 20)").receipt == small.receipt  # [0, 0.3] is not


def test_without_a_half_width_a_wide_answer_is_repeated(wide: Holdout) -> None:
    wide.ask(LATE, tolerance=0.4)
    again = wide.ask(LATE)
    assert again.status == "repeated"
    assert f"(half-width {at_most(again.half_width, 2)})" in str(again)
    assert wide.ask(LATE, tolerance=0.1).status == "answered"


@pytest.mark.parametrize(
    ("claim", "free"),
    [
        ({"at_most": 0.9}, True),  # implied
        ({"at_least": 0.9}, True),  # excluded
        ({"guess": 0.9}, True),  # excluded
        ({"guess": 0.25, "tolerance": 0.3}, True),  # implied
        ({"at_most": 0.25}, False),
        ({"guess": 0.3}, False),
    ],
)
def test_a_claim_is_free_where_the_ledger_settles_it(
    wide: Holdout, claim: dict[str, Any], free: bool
) -> None:
    wide.ask(LATE, tolerance=0.1 if free else 0.2)
    assert wide.cost(LATE, **claim).repeated == free
    before = wide.budget.nats
    found: Answer = wide.check(LATE, **claim)
    assert (found.status == "repeated", wide.budget.nats == before) == (free, free)
    assert wide.check(LATE, **claim).status == "repeated"
    assert wide.cost(LATE, **claim).repeated


def test_two_claims_of_one_question_in_one_batch_are_two_checks(wide: Holdout) -> None:
    truth = 0.25
    near, far, again = wide.check_many([LATE, LATE, LATE], [truth, 0.9, truth])
    assert (near.status, far.status, again.status) == ("confirmed", "not confirmed", "repeated")
    assert (near.number, far.number, again.number) == (1, 2, 1)


def test_parts_are_used_again_where_they_are_narrow_enough(wide: Holdout, tmp_path: Path) -> None:
    question = "std(x)"
    first = wide.ask(question)
    assert wide.cost(question).repeated
    assert wide.cost(question, tolerance=0.1).questions == 2
    wide.ask("avg(x)", tolerance=0.06)
    assert wide.cost(question, tolerance=0.07).questions == 1
    second = wide.ask(question, tolerance=0.07)
    assert second.half_width < first.half_width
    assert [each.tolerance for each in wide.ledger.looks] == [0.2, 0.2, 0.06, 0.07]
    wide.close()
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_a_search_asks_thresholds_of_which_one_side_was_claimed(wide: Holdout) -> None:
    quantile = holdfast.quantile("late", 0.5)
    wide.check("avg(coalesce(if(late, 1, 0), 0) <= 0)", at_most=0.95)
    cost = wide.cost(quantile)
    answer = wide.ask(quantile)
    assert 0 < answer.cost <= cost.most * (1 + 1e-9)
    assert wide.cost(quantile).repeated


def test_a_confirmed_quantile_is_confirmed_for_free(wide: Holdout) -> None:
    wide.check("median(x)", guess=20, tolerance=0.1)
    assert wide.cost("median(x)", guess=20, tolerance=0.1).repeated
    assert wide.check("median(x)", guess=20, tolerance=0.1).status == "repeated"


def test_a_refined_share_narrows_what_follows_from_it(wide: Holdout, tmp_path: Path) -> None:
    """The variance that a share implies is that of the narrowest answer about it."""
    narrowed = []
    for bound in (60, 70, 80, 100):  # of one of them the first answer may end low, by its noise
        wide.ask(f"avg(x > {bound})")
        before = wide.cost(f"avg(late and x > {bound})").half_width
        wide.ask(f"avg(x > {bound})", tolerance=0.05)
        wide.check(f"avg(x > {bound})", at_most=0.9)  # implied
        after = wide.cost(f"avg(late and x > {bound})").half_width
        assert before is not None
        assert after is not None
        assert after <= before
        narrowed.append(after < before)
        wide.ask(f"avg(late and x > {bound})")
    assert any(narrowed)
    wide.close()
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


# The rule as a law --------------------------------------------------------------------------------

LATE_MEAN: Any = bind(LATE, Table(Schema({"late": ColumnType.BOOLEAN})))
ends = st.floats(0, 1)


def look(low: float, high: float, claim: tuple[float, float] | None = None) -> Recorded:
    return Recorded(
        number=1,
        look=1,
        parts=(),
        question=LATE,
        status="answered" if claim is None else "confirmed",
        value=low,
        interval=Interval(low, high),
        range=Interval(0.0, 1.0),
        guess=None if claim is None else low,
        claim=claim,
        tolerance=0.1,
        charge=0.0,
        leaked=0.0,
        at="",
        request=Request(LATE, 0.0, 1.0),
        mechanism="",
        receipt="",
        variance=None,
        revealed=Interval(0.0, 1.0),
    )


@given(low=ends, high=ends, t=st.floats(0.001, 0.499))
def test_a_named_half_width_is_fulfilled_by_what_is_no_wider(
    low: float, high: float, t: float
) -> None:
    low, high = sorted((low, high))
    stored = look(low, high)
    found = fulfilling([stored], Wish(LATE_MEAN, t))
    assert (found is stored) == ((high - low) / 2 <= t + 1e-9)
    assert fulfilling([stored], Wish(LATE_MEAN, t, narrow=True)) is stored
    one_sided = look(0.0, high, (0.0, high))
    found = fulfilling([one_sided], Wish(LATE_MEAN, t, narrow=True))
    assert (found is one_sided) == (high / 2 <= t + 1e-9)
    narrowest = fulfilling([look(0.0, 1.0), stored], Wish(LATE_MEAN, 0.5))
    assert narrowest is stored or (low, high) == (0.0, 1.0)


@given(low=ends, high=ends, first=ends, last=ends)
def test_a_claim_is_settled_from_inside_or_from_outside(
    low: float, high: float, first: float, last: float
) -> None:
    low, high = sorted((low, high))
    first, last = sorted((first, last))
    wish = Wish(LATE_MEAN, 0.1, (first, last), (first + last) / 2, stated=True)
    found = fulfilling([look(low, high)], wish)
    inside = (first <= 0 or low >= first - 1e-9) and (last >= 1 or high <= last + 1e-9)
    assert (found is not None) == (inside or high < first or low > last)
    refuted = replace(look(0.0, 1.0, (first, last)), status="not confirmed", value=None)
    assert fulfilling([refuted], wish) is refuted
    assert fulfilling([refuted], replace(wish, gated=True)) is None
    assert fulfilling([refuted], Wish(LATE_MEAN, 0.5, narrow=True)) is None, "nothing was said"


@pytest.fixture
def dependent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Rows of which an F1 follows from its parts, by their descriptions or on the ledger."""
    same_secret(monkeypatch)
    rng = np.random.default_rng(3)
    label = rng.random(9_000) < 0.4
    called = np.where(rng.random(9_000) < 0.8, label, ~label)
    frame = pl.DataFrame({"called": called, "label": label})
    sampling = holdfast.sampling.m_dependent(2)
    with opened(tmp_path, frame, sampling=sampling, questions=300, described="exact") as holdout:
        yield holdout


def test_a_claim_is_paid_for_once_though_its_parts_were_refined_by_it(dependent: Holdout) -> None:
    refuted = dependent.check("f1(called, label)", guess=0.4)
    assert refuted.status == "not confirmed"
    assert refuted.value is not None
    watch(dependent, untouchable)
    assert dependent.cost("f1(called, label)", guess=0.4).most == 0.0
    again = dependent.check("f1(called, label)", guess=0.4)
    assert (again.status, again.cost, again.number) == ("repeated", 0.0, refuted.number)
    assert [each.look for each in again.parts] == [each.look for each in refuted.parts]


def test_a_verdict_on_another_guess_is_not_repeated(dependent: Holdout, tmp_path: Path) -> None:
    refuted = dependent.check("f1(called, label)", guess=0.4)
    watch(dependent, untouchable)
    other = dependent.check("f1(called, label)", guess=0.74)
    assert (other.status, other.guess, other.cost) == ("confirmed", 0.74, 0.0)
    assert other.interval == refuted.interval
    again = dependent.check("f1(called, label)", guess=0.74)
    assert (again.status, again.number) == ("repeated", other.number)
    assert dependent.check("f1(called, label)", guess=0.4).number == refuted.number
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))
