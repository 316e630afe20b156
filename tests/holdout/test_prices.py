"""What described questions cost is said before: bits, no budget, and what it leaves for others."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidQuestion, ToleranceTooTight
from holdfast.holdout.holdout import Holdout
from holdfast.statistics.description import sure_half_width
from holdfast.statistics.mean_events import Share
from holdfast.statistics.rounded_rules import RoundedMean
from holdfast.wording import at_most
from tests.holdout.tables import BOUNDS, opened, table, untouchable, watch

ROWS = 4_000
QUESTIONS = ["avg(x > 20)", "avg(x)", "difference(late, x > 50)", "std(x)", "avg(x) where late"]


@pytest.fixture
def exact(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path, table(ROWS), schema=BOUNDS, tolerance=0.1, described="exact") as holdout:
        yield holdout


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_cost_of_a_described_question_is_what_it_costs(exact: Holdout, question: str) -> None:
    cost, before = exact.cost(question), exact.budget.questions_left
    answer = exact.ask(question)
    left = exact.budget.questions_left
    assert cost.bits == answer.bits
    assert cost.least == cost.most == answer.cost
    assert (cost.left, cost.left_after) == (before, (left, left))
    assert cost.half_width is None or answer.half_width <= cost.half_width
    takes = f"about {before - left} of {before} left"
    assert str(cost).startswith(f"{answer.name}: text question, no limit; ")
    assert str(cost).endswith(f"; of questions about later columns or functions it takes {takes}")
    assert cost.details == f"length {answer.bits:.1f} bits · cost {answer.cost:.4g} nats"
    assert str(exact.cost(question)).endswith("asked before, so repeating it is free")


SIDED = [("gate", "std(x)"), ("gate", "mse(x, unit, kappa = 9)"), ("check", "avg(x) where late")]


@pytest.mark.parametrize(("verb", "question"), SIDED)
def test_a_claim_that_only_its_text_settles_is_priced_as_text(
    exact: Holdout, verb: str, question: str
) -> None:
    """It takes no candidate, and none of the questions that are left."""
    gate = verb == "gate"
    cost = exact.cost(question, at_least=11.0, gate=gate)
    answer = getattr(exact, verb)(question, at_least=11.0)
    assert cost.least == cost.most == answer.cost > 0
    assert (cost.bits, cost.candidates) == (exact.ask(question).bits, None)
    assert exact.cost(question, at_least=11.0, gate=gate).most == 0


def test_a_check_that_only_its_text_answers_has_its_price(tmp_path: Path) -> None:
    with opened(tmp_path, table(100), schema=BOUNDS, described="exact", tolerance=0.2) as holdout:
        for place in range(6):
            holdout.ask(f"avg(x > {20 + place})")
        question = "difference(avg(x) where late, avg(x / 2) where not late)"
        cost = holdout.cost(question, guess=30.0)
        answer = holdout.check(question, guess=30.0)
        assert (cost.bits, cost.most) == (answer.bits, answer.cost)
        assert answer.bits is not None


@pytest.mark.parametrize(
    ("first", "second"), [("std(x)", "variance(x)"), ("avg(x)", "sum(x, 900)")]
)
def test_what_was_answered_as_something_else_follows_and_was_not_asked_before(
    exact: Holdout, first: str, second: str
) -> None:
    exact.ask(first)
    cost = exact.cost(second)
    assert (cost.follows, cost.repeated, cost.most) == ((1,), False, 0)
    assert str(cost).endswith("free: it follows from line 1")
    answer = exact.ask(second)
    assert (answer.status, answer.cost) == ("answered", 0)
    assert exact.cost(second).repeated


def test_a_gate_that_would_be_refused_has_no_price(tmp_path: Path) -> None:
    """Too few rows differ for what is claimed, which is public."""
    rows = table(200).with_row_index("id").with_columns(y=pl.col("late"))
    with opened(tmp_path, rows, key="id", public=["y"], described="exact") as holdout:
        late, worse = rows["late"].to_list(), [not each for each in rows["late"][:4]]
        holdout.attach("a", dict(enumerate(late)))
        holdout.attach("b", dict(enumerate(worse + late[4:])))
        for price in (holdout.gate, partial(holdout.cost, gate=True)):
            with pytest.raises(ToleranceTooTight, match="could not be shown now"):
                price("difference(a = y, b = y)", at_least=0.1)


def test_a_baseline_refuses_what_only_its_text_answers_before_it_is_charged(tmp_path: Path) -> None:
    schema = {**BOUNDS, "unit": (0, 99)}
    with opened(tmp_path, table(100), schema=schema, mechanism="exact", tolerance=None) as holdout:
        for price in (holdout.cost, holdout.ask):
            with pytest.raises(InvalidQuestion, match="only where its text describes it"):
                price("mse(x, unit, kappa = 9)")
        assert holdout.budget.nats == 0


def test_the_price_is_said_without_the_rows(exact: Holdout) -> None:
    watch(exact, untouchable)
    cost = exact.cost("avg(x)")
    assert cost.half_width is not None
    assert cost.tolerance is not None
    assert cost.half_width == pytest.approx(240 * cost.tolerance)
    widths = f"{at_most(cost.tolerance)} of the range = {at_most(cost.half_width)}"
    assert f"at most {widths}" in str(cost)
    assert "the half-width is told with the answer" in str(exact.cost("std(x)"))
    facts = cost.to_dict()
    assert (facts["bits"], facts["tolerance"]) == (cost.bits, cost.tolerance)
    assert facts["questions_left_after"] <= facts["questions_left"] == exact.budget.questions_left
    assert exact.budget.account.looks == 0


@given(
    rows=st.integers(1, 3_000),
    share=st.floats(0, 1),
    log_p=st.floats(-60, math.log(0.05)),
    alike=st.booleans(),
)
def test_the_sure_half_width_of_a_share_is_sure(
    rows: int, share: float, log_p: float, alike: bool
) -> None:
    rule = Share(rows, log_p, (), alike)
    low, high = rule.decode((round(share * rows),)).interval
    sure = sure_half_width(rule)
    assert sure is not None
    assert (high - low) / 2 <= sure * (1 + 1e-9)


@given(rows=st.integers(1, 3_000), place=st.floats(0, 1), log_p=st.floats(-60, math.log(0.05)))
def test_the_sure_half_width_of_a_rounded_mean_is_sure(
    rows: int, place: float, log_p: float
) -> None:
    rule = RoundedMean(rows, log_p)
    sure = sure_half_width(rule)
    assert sure is not None
    cells = range(1_000)
    for cell in (cells[0], int(place * 2), 1):
        low, high = rule.decode((cell,)).interval
        assert (high - low) / 2 <= sure * (1 + 1e-9)


def test_a_budget_counts_described_questions_apart(exact: Holdout) -> None:
    exact.ask("avg(x > 20)")
    exact.check("avg(late)", guess=0.25)
    budget = exact.budget
    left = f"{budget.questions_left} questions about later columns or functions"
    assert str(budget).startswith(
        "Budget: 1 text question answered\n"
        "  guesses: 1 checked, 0 not confirmed; wrong guesses left: "
        f"{budget.surprises_left} (confirmed ones cost almost nothing)\n"
        f"  left: text questions (no limit), and {left}, +-10 % of each column's range\n"
        "  promised: with probability 95 %"
    )
    assert not re.search("nats|failure|described", str(budget))
    assert "failure probability 5 %, of it 2 % for text questions and 3 % for" in budget.details
    assert repr(exact) == (
        "Holdout 't': 4,000 rows · 2 questions answered · "
        f"{left} left · all answers together 95 % sure"
    )
    facts = budget.to_dict()
    assert (facts["described"], facts["asked"], facts["described_share"]) == (1, 0, 0.4)


def test_where_none_are_left_no_more_are_promised(tmp_path: Path) -> None:
    with opened(tmp_path, table(), schema=BOUNDS, tolerance=0.05, described="exact") as holdout:
        assert holdout.budget.questions_left == 0
        assert "  left: text questions (no limit)\n" in str(holdout.budget)
        assert " left" not in repr(holdout)
        assert str(holdout.cost("avg(late)")).startswith("avg(late): text question, no limit")


def test_described_questions_only_are_promised_too(tmp_path: Path) -> None:
    with opened(
        tmp_path, table(ROWS), schema=BOUNDS, described_share=1.0, described="exact"
    ) as only:
        answer = only.ask("avg(late)")
        assert str(answer).endswith(" · all answers together 95 % sure")
        assert answer.to_dict()["simultaneous"] is True
        assert only.explain().splitlines()[1].startswith("Promise: with probability 95 %")
        assert str(only.cost("avg(x)")).startswith("avg(x): text question, no limit; half-width")
