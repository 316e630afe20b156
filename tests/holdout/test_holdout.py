"""The two verbs: answers, repeats, refusals, batches, guesses and costs."""

from __future__ import annotations

import html
from pathlib import Path

import polars as pl
import pytest

import holdfast
from holdfast.errors import (
    BudgetExhausted,
    HoldfastError,
    InvalidArgument,
    InvalidQuestion,
    NotBounded,
    ToleranceTooTight,
)
from holdfast.holdout.holdout import Holdout
from holdfast.wording import at_most
from tests.holdout.tables import LATE, made, opened, sample_value, table, untouchable, watch
from tests.seam import transcript_of

# In a notebook ---------------------------------------------------------------------------------


def test_a_holdout_and_its_budget_are_shown_as_html(tmp_path: Path) -> None:
    """Escaped, without colours of its own: a page that is dark stays readable."""
    with holdfast.open(table(), ledger=tmp_path / "a <b>.ledger", tolerance=0.2) as holdout:
        shown, budget = holdout._repr_html_(), holdout.budget
    assert shown.startswith("<div><b>Holdout a &lt;b&gt;</b><br>")
    assert "400 rows &middot; 0 questions answered &middot; " in shown
    told = budget._repr_html_()
    assert told.startswith("<div><b>Budget:</b> ")
    for line in str(budget).removeprefix("Budget: ").splitlines():
        assert html.escape(line.strip()) in told
    assert "color" not in shown + told
    assert "is closed; open it again" in holdout._repr_html_()  # what is shown must not fail


# Answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", [LATE, "avg(x > 20)", "avg(x)"])
def test_an_answer_is_near_the_sample_in_its_own_unit(holdout: Holdout, question: str) -> None:
    answer = holdout.ask(question)
    width = 240 if question == "avg(x)" else 1
    assert answer.status == "answered"
    assert abs(answer - sample_value(question)) < 0.2 * width
    assert answer.interval.low <= sample_value(question) <= answer.interval.high
    assert answer.half_width <= 0.2 * width * (1 + 1e-9)


def test_a_good_guess_is_confirmed_and_a_bad_one_a_surprise(holdout: Holdout) -> None:
    good = holdout.check(LATE, guess=0.24, why="baseline rate")
    assert (good.status, good.value, good.guess, good.why) == (
        "confirmed",
        0.24,
        0.24,
        "baseline rate",
    )
    # By hand: 1.657 and 2.241 sqrt(2) standard errors of 0.0214, and 0.0029 for the skewness.
    assert good.interval.low == pytest.approx(0.24 - 0.1062, abs=1e-4)
    assert good.interval.high == pytest.approx(0.24 + 0.1062, abs=1e-4)
    bad = holdout.check("avg(x > 20)", guess=0.9)
    assert bad.status == "not confirmed"
    assert bad.interval.low <= sample_value("avg(x > 20)") <= bad.interval.high
    assert bad.cost > good.cost


def test_one_sided_checks(holdout: Holdout) -> None:
    low = holdout.check(LATE, at_most=0.5)
    assert (low.status, *low.interval) == ("confirmed", 0.0, 0.5)
    high = holdout.check("avg(x)", at_least=-20)
    assert (high.status, high.interval.high) == ("confirmed", 180.0)
    assert high.interval.low == pytest.approx(-20)
    assert holdout.check("avg(x > 20)", at_least=0.95).status == "not confirmed"


@pytest.mark.parametrize("claims", [{}, {"guess": 0.2, "at_most": 0.3}])
def test_a_check_takes_one_claim(holdout: Holdout, claims: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument, match="one of guess=, at_most= and at_least="):
        holdout.check(LATE, **claims)  # type: ignore[call-overload]


def test_a_constant_question_has_its_value(holdout: Holdout) -> None:
    answer = holdout.ask("avg(x * 0 + 3)")
    assert (answer.value, *answer.interval) == (3.0, 3.0, 3.0)
    assert holdout.check("avg(x * 0 + 4)", guess=4).status == "confirmed"


# Repeats ---------------------------------------------------------------------------------------


def test_a_repeat_is_free_in_any_spelling_with_a_guess_that_is_settled(holdout: Holdout) -> None:
    first = holdout.ask("avg(x > 20 and late)", why="first")
    before = holdout.budget.to_dict()
    watch(holdout, untouchable)
    for again in (
        holdout.ask("AVG( (X > 20.0) AND LATE )"),
        holdout.ask("avg(late and x > 2e1)"),
        holdout.ask(holdfast.mean("late and 20 < x"), tolerance=0.3),
        holdout.check("avg(late and x > 20)", guess=0.9, why="another guess"),
        holdout.check("avg(late and x > 20)", at_most=0.6),
        holdout.check("avg(late and x > 20)", at_least=0.6),
    ):
        assert (again.status, again.cost) == ("repeated", 0.0)
        assert (again.value, again.interval) == (first.value, first.interval)
        assert (again.number, again.receipt, again.why) == (1, first.receipt, "first")
        assert f"(half-width {at_most(first.half_width, 2)})" in str(again)
    assert holdout.budget.to_dict() == before
    assert len(holdout.ledger) == 1


def test_a_batch_asks_each_question_once(holdout: Holdout) -> None:
    data = watch(holdout)
    answers = holdout.ask_many([LATE, "avg(x > 20)", "AVG(late)"])
    assert data.scans == [2]
    assert [answer.status for answer in answers] == ["answered", "answered", "repeated"]
    assert answers[0].receipt == answers[2].receipt
    assert holdout.budget.asked == 2
    assert sum(answer.cost for answer in answers) == pytest.approx(holdout.budget.nats)
    assert [a.status for a in holdout.ask_many([LATE, "avg(x)"])] == ["repeated", "answered"]
    assert holdout.ask_many([]) == []


# Refusals --------------------------------------------------------------------------------------


def test_refusals_compute_nothing_and_spend_nothing(holdout: Holdout) -> None:
    watch(holdout, untouchable)
    before = holdout.budget.to_dict()
    refused: list[tuple[type[HoldfastError], object]] = [
        (ToleranceTooTight, lambda: holdout.ask(LATE, tolerance=0.01)),
        (BudgetExhausted, lambda: holdout.ask_many([f"avg(x > {i})" for i in range(21)])),
        (InvalidQuestion, lambda: holdout.ask("avg(delay)")),
        (InvalidQuestion, lambda: holdout.ask_many([LATE, "sum(x)"])),
        (NotBounded, lambda: holdout.ask("avg(unit)")),
        (InvalidArgument, lambda: holdout.ask(LATE, tolerance=0.5)),
        (InvalidArgument, lambda: holdout.ask(LATE, why=3)),  # type: ignore[call-overload]
        (InvalidArgument, lambda: holdout.ask(LATE, why="\ud800")),
        (InvalidArgument, lambda: holdout.check(LATE, guess=1.5)),
        (InvalidArgument, lambda: holdout.check(LATE, guess=float("nan"))),
        (InvalidArgument, lambda: holdout.check(LATE, guess=True)),
        (InvalidArgument, lambda: holdout.check_many([LATE, "avg(x)"], [0.5])),
        (InvalidArgument, lambda: holdout.check_many([LATE, "avg(x > 1)"], [0.5, None])),
        (InvalidArgument, lambda: holdout.check_many([LATE, "avg(x > 1)"], [None, 0.5])),
    ]
    for error, ask in refused:
        with pytest.raises(error):
            ask()  # type: ignore[operator]
    assert holdout.budget.to_dict() == before
    assert len(holdout.ledger) == 0
    assert transcript_of(holdout).count == 1  # nothing but the opening was written


def test_an_exhausted_ledger_says_the_numbers_and_what_to_do(tmp_path: Path) -> None:
    made(tmp_path, questions=3)
    with opened(tmp_path, table()) as holdout:
        first = holdout.ask(LATE)
        holdout.ask("avg(x)")
        with pytest.raises(
            BudgetExhausted,
            match=r"^requested 2 more questions; remaining 1 of the 3 declared; mis"
            r"sing 1\. Repeating an earlier question is free; new questions need fresh rows in a n",
        ):
            holdout.ask_many(["avg(x > 1)", "avg(x > 2)", LATE])
        holdout.ask("avg(x > 1)")
        with pytest.raises(
            BudgetExhausted, match=r"^requested a claim; remaining nothing of the failure probabil"
        ):
            holdout.check("avg(x > 2)", guess=0.5)
        assert holdout.ask(LATE) == first
        assert holdout.budget.questions_left == holdout.budget.surprises_left == 0


def test_leakage_exhausts_too(tmp_path: Path) -> None:
    made(tmp_path, questions=200)
    with opened(tmp_path, table()) as holdout:
        while holdout.budget.questions_left:
            holdout.ask(f"avg(clip(x, -{holdout.budget.asked}.5, 180))")
        assert 5 < holdout.budget.asked < 200
        with pytest.raises(
            BudgetExhausted,
            match=r"requested half-width 0\.2 of the range; after \d+ questions the best "
            r"possible here is \+-0\.2\d*\. Ask with a larger tolerance=",
        ):
            holdout.ask("avg(clip(x, -500, 180))")
        assert holdout.ask("avg(x > 300)", tolerance=0.4).status == "answered"


# Batches ---------------------------------------------------------------------------------------


def test_a_batch_shares_one_leakage_and_one_scan(tmp_path: Path) -> None:
    questions = [f"avg(x > {number})" for number in range(5)]
    for name in ("together", "alone"):
        made(tmp_path, name=name)
    with opened(tmp_path, table(), "together") as holdout:
        data = watch(holdout)
        together = holdout.ask_many(questions)
        assert data.scans == [5]
        assert len({answer.receipt for answer in together}) == 1
        assert [each.leaked for each in holdout.ledger] == [0.0] * 5
    with opened(tmp_path, table(), "alone") as holdout:
        alone = [holdout.ask(question) for question in questions]
        leaked = [each.leaked for each in holdout.ledger]
        assert leaked == sorted(set(leaked))
    assert [answer.number for answer in together] == [1, 2, 3, 4, 5]
    assert sum(answer.cost for answer in together) < sum(answer.cost for answer in alone)
    assert together[0].cost == alone[0].cost


def test_checks_together(holdout: Holdout) -> None:
    data = watch(holdout)
    answers = holdout.check_many([LATE, "avg(x > 20)", "avg(x)"], [0.25, 0.5, 20])
    assert data.scans == [2, 1]  # conditions are counted, and of a number it takes a histogram
    assert [answer.status for answer in answers] == ["confirmed"] * 3
    assert answers[2].value == pytest.approx(20)
    assert holdout.check_many(iter(["avg(x > 0)"]), 0.9)[0].guess == pytest.approx(0.9)


# Guesses from other rows ------------------------------------------------------------------------


def test_a_guess_from_a_table(holdout: Holdout) -> None:
    train = table(seed=2)
    for given in (train, train.to_pandas()):
        answer = holdout.check(f"avg(late and x > {len(holdout.ledger)})", guess=given)
        assert answer.status == "confirmed"
    answer = holdout.check("avg(x)", guess=train)
    expected = float(train["x"].clip(-60, 180).mean())  # type: ignore[arg-type]
    assert answer.guess == pytest.approx(expected, abs=1e-6)
    many = holdout.check_many(["avg(x > 0)", "avg(x > 9)"], train)
    assert [each.status for each in many] == ["confirmed"] * 2


def test_the_protected_rows_are_no_guess(tmp_path: Path, holdout: Holdout) -> None:
    """They would tell their own exact values, and every guess would be confirmed."""
    same = table().reverse()
    for look in (
        lambda: holdout.check(LATE, guess=same),
        lambda: holdout.check_many([LATE], same),
        lambda: holdfast.open(table(), ledger=tmp_path / "t.ledger", train=same, described="off"),
    ):
        with pytest.raises(InvalidArgument, match="is the protected table of 't' itself; guess fr"):
            look()
    assert holdout.budget.asked == 0


@pytest.mark.parametrize(
    "other", [pl.DataFrame({"y": [1.0]}), pl.DataFrame({"x": ["1"]})], ids=["no column", "text"]
)
def test_a_table_without_the_column_is_no_guess(holdout: Holdout, other: pl.DataFrame) -> None:
    with pytest.raises(
        InvalidArgument, match=r"has no column 'x' of the type .* Nothing was spent"
    ):
        holdout.check("avg(x > 0)", guess=other)


def test_ask_guesses_from_the_training_rows(tmp_path: Path) -> None:
    made(tmp_path)
    train = table(seed=2).with_columns(late=pl.lit(True))  # of this column it knows nothing
    with opened(tmp_path, table(), train=train) as holdout:
        cost = holdout.cost("avg(x > 20)")
        known = holdout.ask("avg(x > 20)")
        assert known.status == "confirmed"
        assert known.guess == pytest.approx(train.select((pl.col("x") > 20).mean()).item())
        assert known.cost == cost.least < cost.most
        surprise = holdout.ask(LATE)
        assert (surprise.status, surprise.guess) == ("answered", None)
        assert [part.status for part in surprise.parts] == ["not confirmed", "answered"]
        assert surprise.interval.low <= sample_value(LATE) <= surprise.interval.high
        assert [a.status for a in holdout.ask_many(["avg(x > 1)", "avg(x > 2)"])] == [
            "confirmed",
            "confirmed",
        ]
        assert (holdout.budget.account.checks, holdout.budget.account.surprises) == (4, 1)


# Costs -----------------------------------------------------------------------------------------


def test_costs_are_known_before_and_touch_no_data(holdout: Holdout) -> None:
    holdout.ask("avg(x > 1)")
    scanned = watch(holdout).scans
    plain = holdout.cost(LATE)
    checked = holdout.cost("avg(x)", guess=20, tolerance=0.2)
    side = holdout.cost("avg(x > 20)", at_most=0.9)
    assert scanned == []
    assert len(holdout.ledger) == 1
    assert plain.least == plain.most
    assert (plain.half_width, checked.half_width) == (0.2, 48.0)
    assert holdout.ask(LATE).cost == plain.most
    repeated = holdout.cost("AVG(LATE)")
    assert (repeated.repeated, repeated.most) == (True, 0.0)
    # The others' prices have changed with the answer in between; asked again, they are exact.
    assert holdout.cost("avg(x)", guess=20, tolerance=0.2).most > checked.most
    for question, claim in (("avg(x)", {"guess": 20}), ("avg(x > 20)", {"at_most": 0.01})):
        cost = holdout.cost(question, **claim)
        answer = holdout.check(question, **claim)
        assert answer.cost == (cost.least if answer.status == "confirmed" else cost.most)
    assert {each.status for each in holdout.ledger} == {"answered", "confirmed", "not confirmed"}
    assert side.least < side.most
    assert "if confirmed" in str(side)


def test_a_cost_is_refused_as_the_question_would_be(holdout: Holdout) -> None:
    with pytest.raises(ToleranceTooTight):
        holdout.cost(LATE, tolerance=0.01)
