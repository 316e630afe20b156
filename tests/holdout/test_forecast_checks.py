"""Checks with a forecast on real ledgers: what is entered, forged, crashed, resumed, refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.holdout.ask import CallTerms, Waiting, answered_together
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.request import Guess
from holdfast.ledger.audit import audit
from holdfast.mechanisms.forecast_checks import FORECAST_CHECKS
from holdfast.mechanisms.mechanism import ForecastGrounds
from tests.holdout.candidates import entries
from tests.holdout.tables import Crash, copied, crash, died_at_commit, watch
from tests.ledger.forging import Body, forged, numbers_forged
from tests.ledger.reading import folded
from tests.seam import CHECKPOINT_EVERY, desk_of

ROWS = 4_000
PLACES = np.arange(ROWS)
TABLE = pl.DataFrame({"late": PLACES % 100 < 24, "score": (PLACES % 250) / 250})
LATE, SCORE = "avg(late)", "avg(score)"
NAME = "forecast check/1"


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with holdfast.open(
        TABLE,
        ledger=tmp_path / "t.ledger",
        schema={"score": (0.0, 1.0)},
        questions=40,
        tolerance=0.1,
    ) as opened:
        yield opened


def test_the_worked_example_on_a_ledger(holdout: Holdout, tmp_path: Path) -> None:
    """Base says .975 and has .3; .4 is stated, with .2; the others sleep."""
    weight = (0.3 * 0.975 + 0.2 * 0.4) / 0.5
    answer = holdout.check(LATE, 0.24, expect=0.4)
    assert answer.status == "confirmed"
    assert answer.forecast == pytest.approx(weight, abs=1e-6)
    assert answer.level == pytest.approx(0.03 * weight, rel=1e-6)
    assert answer.cost == pytest.approx(-math.log(weight), rel=1e-5)
    assert str(answer).endswith(" · forecast 74.5 %")
    assert "decided at level 0.022" in answer.details
    (reserved,) = entries(tmp_path / "t.ledger", "reserve/2")
    assert reserved["mechanism"] == NAME
    assert reserved["items"][0]["offer"]["extra"]["forecast"]["stated"] == 0.4
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))
    theorems = {each["name"] for each in holdout.certificate().statement["theorems"]}
    assert {"claim_log_level", "forecast_weights"} <= theorems
    again = holdout.check(LATE, 0.24, expect=0.9)
    assert (again.status, again.cost, again.forecast) == ("repeated", 0.0, answer.forecast)


def test_a_check_without_a_forecast_is_as_it_was(holdout: Holdout, tmp_path: Path) -> None:
    holdout.check(LATE, 0.24)
    holdout.check(SCORE, 0.8)
    checks = [each for each in entries(tmp_path / "t.ledger", "reserve/2") if "check" in str(each)]
    assert checks[0]["mechanism"] == "guess and check/2"
    assert not any("forecast" in each["items"][0]["offer"]["extra"] for each in checks)
    assert holdout.budget.account.memory == {}


def test_what_was_foreseen_to_fail_costs_little_and_is_answered(holdout: Holdout) -> None:
    foreseen = holdout.cost(SCORE, 0.8, half_width=0.05, expect=0.001)
    plain = holdout.cost(SCORE, 0.8, half_width=0.05)
    assert foreseen.least > plain.least
    answer = holdout.check(SCORE, 0.8, half_width=0.05, expect=0.001)
    assert answer.status == "not confirmed"
    assert answer.interval.low < 0.498 < answer.interval.high
    claim = answer.parts[0]
    assert claim.charge == pytest.approx(-math.log1p(-(answer.forecast or 0)), rel=1e-9)
    assert claim.charge < -math.log(0.025) - 2.0, "without a forecast"


def test_the_worst_that_a_price_names_is_the_worst(holdout: Holdout) -> None:
    for number in (0.001, 0.5, 0.99):
        price = holdout.cost(SCORE, 0.8, half_width=0.05, expect=number)
        confirmed = holdout.cost(SCORE, 0.5, half_width=0.05, expect=number)
        assert price.least == confirmed.least <= price.most == confirmed.most
    before = holdout.budget.nats
    holdout.check(SCORE, 0.8, half_width=0.05, expect=0.99)
    assert before < holdout.budget.nats <= before + price.most * (1 + 1e-12)


def test_what_earlier_answers_settle_is_free_and_moves_no_weight(holdout: Holdout) -> None:
    holdout.check(LATE, 0.24, half_width=0.05, expect=0.9)
    account = holdout.budget.account
    assert holdout.cost("avg(late = false)", 0.76, half_width=0.1, expect=0.01).follows
    settled = holdout.check("avg(late = false)", 0.76, half_width=0.1, expect=0.01)
    assert (settled.status, settled.cost, settled.forecast) == ("confirmed", 0.0, None)
    assert holdout.budget.account.memory == account.memory
    assert holdout.budget.nats == account.nats


@pytest.mark.parametrize("before", [0.001, 0.5])
def test_the_wrong_guesses_that_are_left_may_come_with_any_forecast(
    tmp_path: Path, before: float
) -> None:
    """As many as are said to be left, each stated as surely as can be: all of them are answered."""
    ledger = tmp_path / "w.ledger"
    with holdfast.open(
        TABLE, ledger=ledger, questions=40, tolerance=0.06, described="off"
    ) as holdout:
        holdout.check(LATE, 0.9, expect=before)
        left = holdout.budget.surprises_left
        assert left > 3
        for place in range(left):
            assert holdout.budget.surprises_left >= left - place, "what was said stays true"
            question = f"avg(score <= {place / 50 + 0.001:.3f})"
            answer = holdout.check(question, 0.95, tolerance=0.06, expect=0.99)
            assert answer.status == "not confirmed"
            assert answer.half_width <= 0.0601
        assert holdout.budget.account.surprises == left + 1


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda holdout: holdout.check(LATE, 0.24, expect=1.5), "expect"),
        (lambda holdout: holdout.check("median(score)", 0.5, expect=0.5), "forecasts one check"),
        (lambda holdout: holdout.check(LATE, 0.24, by="late", expect=0.5), "forecasts one check"),
        (lambda holdout: holdout.check("std(score)", TABLE.head(9), expect=0.5), "one check"),
        (lambda holdout: holdout.cost(LATE, expect=0.5), "this is none"),
        (lambda holdout: holdout.cost(LATE, 0.2, dev=(4, 1, 10)), "this is a check"),
        (lambda holdout: holdout.check_many([LATE], [0.2], expect=0.5), "expect"),
    ],
)
def test_what_is_no_forecast_of_one_check_is_refused(
    holdout: Holdout, ask: Any, sentence: str
) -> None:
    with pytest.raises((InvalidArgument, TypeError), match=sentence):
        ask(holdout)
    assert holdout.budget.account.looks == 0


def test_a_mechanism_that_counts_guesses_has_no_forecasts(tmp_path: Path) -> None:
    with (
        holdfast.open(
            TABLE,
            ledger=tmp_path / "c.ledger",
            mechanism="halting guess and check",
            questions=4,
            tolerance=0.1,
            options={"mistakes": 2},
            described="off",
        ) as counted,
        pytest.raises(InvalidArgument, match="has no forecasts"),
    ):
        counted.check(LATE, 0.24, expect=0.5)


def test_those_who_wait_together_are_forecast_each_alone(holdout: Holdout) -> None:
    grounds = ForecastGrounds(stated=0.4)
    calls = [
        Waiting(LATE, Guess((0.24,), forecast=grounds), CallTerms()),
        Waiting(SCORE, Guess((0.5,)), CallTerms()),
        Waiting("avg(score < 0.3)", Guess((0.3,), forecast=grounds), CallTerms()),
    ]
    told = answered_together(desk_of(holdout), calls)
    answers = [each for each in told if not isinstance(each, HoldfastError)]
    assert [each.forecast is None for each in answers] == [False, True, False]


# What an audit finds ------------------------------------------------------------------------------


def played(holdout: Holdout) -> None:
    holdout.check(LATE, 0.24, half_width=0.05, expect=0.5)
    holdout.check(SCORE, 0.8, half_width=0.05, expect=0.2)
    holdout.check("avg(score < 0.5)", at_least=0.4, expect=0.9)


def test_no_number_of_a_forecast_can_be_another(holdout: Holdout, tmp_path: Path) -> None:
    played(holdout)
    assert numbers_forged(copied(tmp_path / "t.ledger", tmp_path / "forged")) >= 40


def test_a_forecast_that_pleases_is_found(holdout: Holdout, tmp_path: Path) -> None:
    """The weight, and all that follows from it in its own offer."""
    played(holdout)

    def change(bodies: list[Body]) -> None:
        reserved = next(body for body in bodies if body.get("mechanism") == NAME)
        offer = reserved["items"][0]["offer"]
        offer["extra"]["forecast"]["weight"], offer["prior"] = 0.999, 1 - 0.999
        offer["log_p"] = offer["log_p"] + math.log(0.999 / 0.785)
        offer["worst_charge"] = -math.log(1 - 0.999)

    (fault,) = forged(copied(tmp_path / "t.ledger", tmp_path / "forged"), change)
    assert "is not what follows from the ledger" in fault


# Crashes and checkpoints --------------------------------------------------------------------------


@pytest.mark.parametrize("commit", range(8))
def test_a_process_that_dies_at_any_commit(holdout: Holdout, tmp_path: Path, commit: int) -> None:
    """Three checks, of which one is answered, take eight commits; before each of them it dies.

    What was entered stays: another number that is stated afterwards changes nothing.
    """
    path = tmp_path / "t.ledger"
    broken = copied(path, tmp_path / "broken")
    played(holdout)
    died_at_commit(broken, TABLE, commit, played)
    left, whole = folded(broken), folded(path)
    known = len(left.answers) + (0 if left.pending is None else len(left.pending.asked))
    nats = [each.leaked for each in whole.answers if each.look is not None]
    assert left.committed.nats >= [*nats, whole.account.nats][known] * (1 - 1e-12)
    with holdfast.open(TABLE, ledger=broken) as resumed:
        played(resumed)
    assert folded(broken).account == whole.account
    assert all(finding.fine for finding in audit(broken))


def test_a_number_stated_after_rows_were_touched_changes_nothing(
    holdout: Holdout, tmp_path: Path
) -> None:
    """It dies with the rows in hand; whoever tries again, and states another number, is late."""
    faults = [crash]

    def once() -> None:
        if faults:
            faults.pop()()

    watch(holdout, once)
    with pytest.raises(Crash):
        holdout.check(SCORE, 0.8, half_width=0.05, expect=0.9)
    told = holdout.check(SCORE, 0.8, half_width=0.05, expect=0.001)
    assert told.status == "not confirmed"
    (reserved, *_) = entries(tmp_path / "t.ledger", "reserve/2")
    assert reserved["items"][0]["offer"]["extra"]["forecast"]["stated"] == 0.9
    charge = holdout.budget.account.nats
    assert charge >= reserved["items"][0]["offer"]["worst_charge"]
    assert told.forecast == reserved["items"][0]["offer"]["extra"]["forecast"]["weight"]


def test_a_checkpoint_keeps_what_forecasts_remember(
    holdout: Holdout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 1)
    played(holdout)
    whole = folded(tmp_path / "t.ledger")
    copy = copied(tmp_path / "t.ledger", tmp_path / "copy")
    with holdfast.open(ledger=copy) as resumed:
        assert resumed.budget.account == whole.account
        assert resumed.budget.surprises_left == holdout.budget.surprises_left
        weights = FORECAST_CHECKS.mixture(resumed.budget.account).log_weights
        assert weights == FORECAST_CHECKS.mixture(whole.account).log_weights


# Training rows -----------------------------------------------------------------------------------

RNG = np.random.default_rng(5)


def drawn(rows: int) -> pl.DataFrame:
    return pl.DataFrame({"late": RNG.random(rows) < 0.24, "score": RNG.random(rows)})


PROTECTED, OTHERS = drawn(ROWS), drawn(2_000)


@pytest.fixture
def trained(tmp_path: Path) -> Iterator[Holdout]:
    with holdfast.open(
        PROTECTED,
        ledger=tmp_path / "r.ledger",
        schema={"score": (0.0, 1.0)},
        train=OTHERS,
        questions=40,
        tolerance=0.1,
    ) as opened:
        yield opened


def test_training_rows_forecast_a_number_and_their_own_guess(
    trained: Holdout, tmp_path: Path
) -> None:
    share = float(OTHERS["late"].mean())  # type: ignore[arg-type]
    price = trained.cost(LATE, OTHERS, expect="training")
    own = trained.check(LATE, OTHERS, expect="training")
    assert own.status == "confirmed"
    assert own.cost == price.least
    off = trained.check(SCORE, 0.6, half_width=0.05, expect="training")
    assert off.status == "not confirmed"
    assert own.forecast is not None
    assert off.forecast is not None
    assert off.forecast < 0.6
    assert own.forecast > 0.9
    first, second = (
        each["items"][0]["offer"]
        for each in entries(tmp_path / "r.ledger", "reserve/2")
        if each["mechanism"] == NAME
    )
    mean, variance, rows = first["extra"]["forecast"]["trained"]
    assert (mean, rows) == (pytest.approx(share, abs=1e-12), 2_000)
    assert variance == pytest.approx(share * (1 - share), abs=1e-12)
    variance = second["extra"]["forecast"]["trained"][1]
    assert variance == pytest.approx(float(np.var(OTHERS["score"].to_numpy())), rel=1e-3)
    assert all(finding.fine for finding in audit(tmp_path / "r.ledger"))
    assert numbers_forged(copied(tmp_path / "r.ledger", tmp_path / "forged")) >= 30


def test_training_rows_that_are_protected_forecast_nothing(trained: Holdout) -> None:
    """They are refused as a guess; rows that look alike by chance are others."""
    some = pl.concat([OTHERS, PROTECTED.head(300)])
    with pytest.raises(InvalidArgument, match="300 are also in the protected"):
        trained.check(LATE, some, expect="training")
    with pytest.raises(InvalidArgument, match="protected table of 'r' itself"):
        trained.check(LATE, PROTECTED, expect="training")
    assert trained.budget.account.looks == 0
    few = OTHERS.select("late")  # true and false are in every table
    assert trained.check(LATE, few, expect="training").forecast is not None


def test_rows_that_were_put_aside_forecast(tmp_path: Path) -> None:
    few, ledger = PROTECTED.select("late"), tmp_path / "f.ledger"
    with holdfast.open(few, ledger=ledger, split=0.5) as holdout:
        assert holdout.check(LATE, 0.24, expect="training").forecast is not None
    with holdfast.open(few, ledger=ledger, split=0.5) as holdout:  # again, from the same table
        answer = holdout.check(LATE, 0.26, half_width=0.06, expect="training")
        assert answer.status in ("confirmed", "repeated")


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda holdout: holdout.check("std(score)", 0.3, expect="training"), "a mean of bounded"),
        (lambda holdout: holdout.check(LATE, at_most=0.3, expect="training"), "a mean of bounded"),
        (lambda holdout: holdout.gate(LATE, at_least=0.2, expect="training"), "forecasts a check"),
        (lambda holdout: holdout.check(LATE, 0.2, expect="train"), "expect"),
    ],
)
def test_what_training_rows_do_not_forecast_is_refused(
    trained: Holdout, ask: Any, sentence: str
) -> None:
    with pytest.raises(InvalidArgument, match=sentence):
        ask(trained)
    assert trained.budget.account.looks == 0


def test_without_training_rows_there_is_nothing_to_forecast_by(holdout: Holdout) -> None:
    with pytest.raises(InvalidArgument, match="needs training rows"):
        holdout.check(LATE, 0.24, expect="training")


def test_a_guess_that_others_begin_with_other_training_rows_is_the_same_check(
    trained: Holdout, tmp_path: Path
) -> None:
    """It dies with the rows in hand: what was entered by these training rows stays."""
    faults: list[Any] = []

    def once() -> None:
        if faults:
            faults.pop()()

    watch(trained, once)
    trained.check(LATE, 0.24, half_width=0.05, expect="training")
    faults.append(crash)
    with pytest.raises(Crash):
        trained.check(SCORE, 0.5, half_width=0.05, expect="training")
    entered = folded(tmp_path / "r.ledger").pending
    assert entered is not None
    trained.close()
    with holdfast.open(PROTECTED, ledger=tmp_path / "r.ledger", train=drawn(50)) as resumed:
        answer = resumed.check(SCORE, 0.5, half_width=0.05, expect="training")
    assert answer.forecast == entered.asked[0].offer.forecast[0]  # type: ignore[index]
    assert all(finding.fine for finding in audit(tmp_path / "r.ledger"))
