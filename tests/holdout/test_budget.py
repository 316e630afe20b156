"""What is left is true: so many questions can be asked, and the promise names what it rests on."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import BudgetExhausted
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.leakage import asks_left
from holdfast.mechanisms.terms import Account
from holdfast.theory.leakage.nats import LeakageAccount
from tests.holdout.tables import BOUNDS, LATE, made, opened, table
from tests.seam import STRETCHES_LEFT

SAMPLINGS = [
    {"sampling": "independent"},
    {"sampling": holdfast.declared(sigma=0.03)},
    {"sampling": holdfast.m_dependent(1)},
]


@pytest.mark.parametrize("declared", SAMPLINGS, ids=str)
@pytest.mark.parametrize("questions", [None, 300])
@pytest.mark.parametrize("what", ["x > {}", "clip(x, -{}.5, 180)"], ids=["conditions", "numbers"])
def test_so_many_questions_can_be_asked_and_no_more(
    tmp_path: Path, declared: dict[str, Any], questions: int | None, what: str
) -> None:
    made(tmp_path, questions=questions, **declared)
    with opened(tmp_path, table()) as holdout:
        left = holdout.budget.questions_left
        assert 4 <= left < 300
        for number in range(left):
            answer = holdout.ask(f"avg({what.format(number)})")
            assert answer.left.questions_left >= left - number - 1  # never less than was said
        # Conditions of independent rows cost less than what is counted, so some may be left.
        if questions is not None and not holdout.budget.questions_left:
            with pytest.raises(BudgetExhausted):
                holdout.ask(f"avg(clip(x, -{left}.5, 180))")
        assert "clip" not in what or not holdout.budget.questions_left or questions is None


def test_an_open_end_is_counted_on_the_safe_side(tmp_path: Path) -> None:
    """Shares fall, and the count takes the last for all; so a few more than said can be asked."""
    made(tmp_path, questions=None)
    with opened(tmp_path, table()) as holdout:
        said = holdout.budget.questions_left
        while holdout.budget.questions_left:
            holdout.ask(f"avg(clip(x, -{holdout.budget.asked}.5, 180))")
        assert said <= holdout.budget.asked <= 1.3 * said
        with pytest.raises(BudgetExhausted):
            holdout.ask("avg(clip(x, -500, 180))")


@pytest.mark.parametrize("declared", SAMPLINGS, ids=str)
@pytest.mark.parametrize("what", ["x > {}", "clip(x, -{}.5, 180)"], ids=["conditions", "numbers"])
def test_so_many_surprises_can_be_met(tmp_path: Path, declared: dict[str, Any], what: str) -> None:
    made(tmp_path, questions=300, **declared)
    with opened(tmp_path, table()) as holdout:
        holdout.check(LATE, guess=0.25)
        left = holdout.budget.surprises_left
        assert left >= 1
        for number in range(left):
            expression = what.format(number)
            wrong = 1.0 if "clip" not in expression else 180.0
            assert holdout.check(f"avg({expression})", guess=wrong).status == "not confirmed"
        assert holdout.budget.surprises_left <= 1


def test_declared_questions_are_the_limit_when_rows_are_plenty(tmp_path: Path) -> None:
    made(tmp_path, questions=4, tolerance=0.45)
    with opened(tmp_path, table()) as holdout:
        for left in (4, 3, 2, 1):
            assert holdout.budget.questions_left == holdout.budget.surprises_left == left
            holdout.ask(f"avg(x > {left})")
        assert holdout.budget.questions_left == 0


def test_it_counts_what_was_asked(holdout: Holdout) -> None:
    assert (holdout.budget.asked, holdout.budget.nats) == (0, 0.0)
    costs = [
        holdout.ask(LATE).cost,
        holdout.check("avg(x > 20)", guess=0.5).cost,
        holdout.check("avg(x > 30)", guess=0.99).cost,
    ]
    budget = holdout.budget
    assert (budget.asked, budget.account.claims) == (2, 2)  # what was refuted was asked
    assert budget.nats == pytest.approx(sum(costs))
    assert (budget.account.checks, budget.account.surprises) == (2, 1)
    facts = json.loads(json.dumps(budget.to_dict(), allow_nan=False))
    assert facts["asked"] == 2
    assert facts["questions_left"] == budget.questions_left


def test_it_says_what_is_promised_and_assumed(holdout: Holdout) -> None:
    text = str(holdout.budget)
    assert text == repr(holdout.budget)
    for part in (
        "0 questions answered of 20 declared",
        "+-20 % of each column's range",
        f"wrong guesses left: {holdout.budget.surprises_left}",
        "with probability 95 % every interval given from this ledger contains the truth, all "
        "together, however the questions were chosen; assumed: independent rows",
    ):
        assert part in text
    assert "nats" not in text
    assert "0 nats leaked · 400 rows" in holdout.budget.details


def test_an_open_number_of_questions(tmp_path: Path) -> None:
    made(tmp_path, questions=None)
    with opened(tmp_path, table()) as holdout:
        assert holdout.budget.terms.questions is None
        assert "declared" not in str(holdout.budget).splitlines()[0]
        offers = []
        for number in range(3):
            holdout.ask(f"avg(x > {number})")
            offers.append(holdout.budget.account.leakage.log_beta_spent)
        assert offers == sorted(offers)
        # 1/2 + 1/6 + 1/12 of the failure probability has been given out.
        assert offers[-1] == pytest.approx(math.log(0.05 * 0.75), abs=1e-9)


def test_what_is_left_is_said_for_questions_like_the_one_asked(tmp_path: Path) -> None:
    """An AUC rests on the smaller class, so fewer of them can be asked than means."""
    rows = table(4000).with_columns(rare=pl.int_range(4000) % 4 == 0)
    declared: dict[str, Any] = {
        "schema": BOUNDS,
        "design": ["rare"],
        "questions": 200,
        "tolerance": 0.15,
    }
    with opened(tmp_path, rows, **declared) as holdout:
        means = holdout.budget.questions_left
        left = holdout.ask("auc(x, rare)").left
        assert left.questions_left < means - 1
        assert left.remaining == f"{left.questions_left:,} questions left"
        for place in range(1, left.questions_left + 1):
            holdout.ask(f"auc(x + {place}, rare)")
        with pytest.raises(BudgetExhausted):
            holdout.ask("auc(x * 2, rare)")
        assert holdout.ask("auc(x, rare)").left.questions_left == 0
        assert holdout.ask("avg(x)", tolerance=0.2).left.questions_left > 0


def test_a_check_that_is_confirmed_is_no_surprise(tmp_path: Path) -> None:
    """Its own test fails at what the answers before have leaked, and its description shows it."""
    rows = pl.DataFrame({"x": [place / 2_000 for place in range(2_000)]})
    facts: dict[str, Any] = {"schema": {"x": (0.0, 1.0)}, "tolerance": 0.05}
    with holdfast.open(rows, ledger=tmp_path / "t.ledger", **facts) as holdout:
        for place in range(1, 9):
            holdout.ask(f"avg(x > 0.{place})")
        answer = holdout.check("avg(x)", guess=0.51)
        assert answer.status == "confirmed"
        assert holdout.budget.account.surprises == 1  # to the prior of the next one it was
        assert holdout.budget.to_dict()["surprises"] == 0
        assert "  guesses: 1 checked, 0 not confirmed; " in str(holdout.budget)
        holdout.check("avg(x)", guess=0.51)  # a repeat
        assert holdout.budget.to_dict()["surprises"] == 0
        # About another value: what follows from an earlier answer is not checked.
        assert holdout.check("avg(x * x < 0.25)", guess=0.8).status == "not confirmed"
        assert "  guesses: 2 checked, 1 not confirmed; " in str(holdout.budget)
    with holdfast.open(rows, ledger=tmp_path / "t.ledger") as again:
        assert "  guesses: 2 checked, 1 not confirmed; " in str(again.budget)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_what_is_left_is_counted_once_for_an_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, questions=300)
    counted = []

    def counting(*args: Any) -> int:
        counted.append(args)
        return asks_left(*args)

    monkeypatch.setattr("holdfast.mechanisms.leakage.asks_left", counting)
    with opened(tmp_path, table()) as holdout:
        holdout.ask(LATE)
        for _ in range(3):
            for text in (repr(holdout.ask(LATE)), repr(holdout), str(holdout.budget)):
                assert "left" in text
            assert holdout.ask(LATE).to_dict()["questions_left"] > 0
        assert len(counted) == 1
        holdout.ask("avg(x)")
        assert len(counted) == 1  # not before it is said
        assert holdout.budget.questions_left
        assert len(counted) == 2


def test_what_is_left_after_little_more_leaked_is_as_counted_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, questions=None)
    with opened(tmp_path, table()) as holdout:
        terms = holdout.budget.terms
    accounts = [Account(LeakageAccount(nats=0.02 * place)) for place in range(600)]
    numbers = [asks_left(terms, account) for account in accounts]
    for account, number in zip(accounts, numbers, strict=True):
        monkeypatch.setattr(STRETCHES_LEFT, {})
        assert asks_left(terms, account) == number
    assert len(set(numbers)) > 5


@pytest.mark.parametrize("surprised", [0, 2])
@pytest.mark.parametrize("nats_each", [0.0, 1e-4, 0.02])
def test_surprises_left_after_confirmed_checks_are_as_counted_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, surprised: int, nats_each: float
) -> None:
    made(tmp_path, questions=None)
    with opened(tmp_path, table()) as holdout:
        terms = holdout.budget.terms

    def left(account: Account) -> int:
        return CHECKS.surprises_left(terms, account, terms.concentration)

    accounts = [
        Account(
            LeakageAccount(nats=nats_each * place), checks=surprised + place, surprises=surprised
        )
        for place in range(200)
    ]
    numbers = [left(account) for account in accounts]
    for account, number in zip(accounts, numbers, strict=True):
        monkeypatch.setattr(STRETCHES_LEFT, {})
        assert left(account) == number
    assert len(set(numbers)) > 1
