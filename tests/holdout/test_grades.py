"""Gates with grades: an exact world, the largest adjusted p so far, charges, forgery, crashes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.mechanisms import graded_gates
from holdfast.mechanisms.claims import more_than
from holdfast.mechanisms.forecast_gates import FORECAST_GATES
from holdfast.mechanisms.graded_gates import GRADED_GATES, GradedGates
from holdfast.mechanisms.mechanism import Symbol, Wish
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.question.parse import parse_row
from holdfast.question.row import row_value
from holdfast.statistics.mean import Mean
from holdfast.theory.leakage.claim_levels import GRADES
from holdfast.theory.leakage.nats import surprise_log_charge
from tests.holdout.candidates import EVEN, GAINS, ROWS, entries, scores
from tests.holdout.tables import copied, died_at_commit
from tests.ledger.forging import numbers_forged
from tests.ledger.reading import folded

BETA = 0.05


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    table, ledger = pl.DataFrame({"item": range(ROWS)}), tmp_path / "t.ledger"
    with holdfast.open(
        table, name="t", ledger=ledger, key="item", candidates=100, described="off"
    ) as opened:
        for name, values in scores().items():
            opened.attach(name, values, bounds=bool, digest=name)
        yield opened


# An exact world -----------------------------------------------------------------------------------
#
# The data are one number, uniform in [0, 1]. The first claims are true, and tell which quarter of
# those that led there the data are in: by three grades, or by not being shown. The last is false,
# and shown at a level p on a set of that measure, which the analyst chooses among the data that led
# there, as somebody does who overfits. So every transcript has a measure; all are gone through.


def told_falsely(
    mechanism: GradedGates, terms: Terms, wanted: float, rounds: int, account: Account, left: float
) -> float:
    """The measure of data with which a false claim has an adjusted p of at most `wanted`."""
    late = Mean(row_value(parse_row("late", Schema({"late": ColumnType.BOOLEAN}))))
    wish = Wish(late, 0.5, (more_than(0.5), 1.0), gated=True, graded=True)
    offers = mechanism.offer(terms, account, [wish])
    grades = (offers[0].extra or {})["grades"]
    if rounds == 0:
        releases = [mechanism.settle(offers, [place])[0] for place in range(len(GRADES))]
        fitting = [
            min(left, math.exp(level))
            for level, release in zip(grades["log_levels"], releases, strict=True)
            if (release.adjusted or 1.0) <= wanted
        ]
        return max(fitting, default=0.0)
    symbols: list[Symbol] = ["not shown", *range(len(GRADES))]
    measure = 0.0
    for symbol in symbols:
        later = mechanism.advance(account, offers, mechanism.settle(offers, [symbol]))
        part = left / len(symbols)
        measure += told_falsely(mechanism, terms, wanted, rounds - 1, later, part)
    return measure


def world(folder: Path, grade: float) -> tuple[float, float]:
    """The measure of data of which a grade is told falsely, and what that may be."""
    frame = pl.DataFrame({"late": [True, False] * 40})
    with holdfast.open(frame, name="w", ledger=folder / "w.ledger", described="off") as opened:
        terms = opened.opening.terms
    wanted = BETA * grade * (1 + 1e-9)
    mechanism = replace(GRADED_GATES, prior=lambda *_: 0.9)
    return told_falsely(mechanism, terms, wanted, 2, Account(), 1.0), wanted


@pytest.mark.parametrize("grade", GRADES)
def test_no_more_data_have_a_false_grade_than_it_says(tmp_path: Path, grade: float) -> None:
    measure, wanted = world(tmp_path, grade)
    assert 0.0 < measure <= wanted
    assert grade < 1.0 or measure > 0.85 * wanted


def test_sabotage_grades_that_are_charged_like_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        graded_gates, "grade_log_charge", lambda weight, _: surprise_log_charge(weight, 0.0)
    )
    measure, wanted = world(tmp_path, 1.0)
    assert measure > 3 * wanted


# On a ledger --------------------------------------------------------------------------------------


def test_shown_is_told_with_its_grade_and_charged_for_it(holdout: Holdout, tmp_path: Path) -> None:
    price = holdout.cost(GAINS, gate=True, at_least=0, grades=True)
    nothing = holdout.gate(EVEN, at_least=0, grades=True)
    assert (nothing.status, nothing.adjusted) == ("not shown", None)
    assert nothing.cost == pytest.approx(-math.log1p(-1 / 101))
    answer = holdout.gate(GAINS, at_least=0, grades=True)
    assert answer.status == "shown"
    assert answer.adjusted == pytest.approx(BETA / 50)
    assert answer.cost == pytest.approx(-math.log(0.15 / 101))
    assert price.most == pytest.approx(answer.cost)
    assert "adjusted at most 0.001" in str(answer)
    assert answer.to_dict()["adjusted"] == answer.adjusted
    again = holdout.gate(GAINS, at_least=0, grades=True)
    assert (again.status, again.cost, again.adjusted) == ("repeated", 0.0, answer.adjusted)
    theorems = {each["name"] for each in holdout.certificate().statement["theorems"]}
    assert {"grade_log_levels", "running_adjusted_p"} <= theorems
    first, _ = entries(tmp_path / "t.ledger", "reserve/2")
    assert first["mechanism"] == "graded gate/1"
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_after_a_claim_without_a_grade_it_is_the_ledgers(holdout: Holdout) -> None:
    assert holdout.gate("avg(gains)", at_least=0.5).status == "shown"
    answer = holdout.gate(GAINS, at_least=0, grades=True)
    assert answer.adjusted == pytest.approx(BETA)


def test_after_a_check_that_was_confirmed_it_is_the_ledgers(holdout: Holdout) -> None:
    assert holdout.check("avg(gains)", guess=0.995).status == "confirmed"
    assert holdout.gate(GAINS, at_least=0, grades=True).adjusted == pytest.approx(BETA)


def test_the_largest_so_far_is_told(holdout: Holdout) -> None:
    weak = [place < 60 for place in range(ROWS)]  # 60 to 25 is shown, and not strongly
    base = [60 <= place < 85 for place in range(ROWS)]
    for name, values in (("weak", weak), ("base", base)):
        holdout.attach(name, values, bounds=bool, digest=name)
    first = holdout.gate("difference(weak, base)", at_least=0, grades=True)
    assert first.adjusted == pytest.approx(BETA)
    assert holdout.gate(GAINS, at_least=0, grades=True).adjusted == first.adjusted


def test_described_answers_before_it_are_added(tmp_path: Path) -> None:
    late = [place % 10 != 0 for place in range(ROWS)]
    frame = pl.DataFrame({"late": late, "other": late[::-1]})
    with holdfast.open(frame, name="t", ledger=tmp_path / "t.ledger", described="exact") as opened:
        opened.ask("avg(other)")
        assert opened.budget.account.described == 1
        answer = opened.gate("avg(late)", at_least=0.5, grades=True)
        parts = (opened.opening.terms.log_beta, opened.opening.terms.log_beta_described)
        assert answer.adjusted == pytest.approx(math.exp(parts[0]) / 50 + math.exp(parts[1]))


def test_scores_of_a_search_before_it_add_nothing(holdout: Holdout, tmp_path: Path) -> None:
    """Their share is of the ledger's own part, also where nothing is described."""
    search = holdout.search("model", size=2, question="avg(model = old)")
    search.score(0, scores()["even"], digest="model 0")
    assert holdout.budget.account.described == 1
    assert holdout.gate(GAINS, at_least=0, grades=True).adjusted == pytest.approx(BETA)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_with_a_forecast_the_grades_share_its_weight(holdout: Holdout, tmp_path: Path) -> None:
    before = FORECAST_GATES.mixture(holdout.budget.account)
    nothing = holdout.gate(EVEN, at_least=0, grades=True, dev=(25, 25, 1_000))
    assert (nothing.status, nothing.adjusted) == ("not shown", None)
    assert nothing.cost == pytest.approx(-math.log1p(-(nothing.forecast or 0.0)))
    answer = holdout.gate(GAINS, at_least=0, grades=True, expect=0.9, dev=(60, 5, 1_000))
    assert answer.status == "shown"
    assert answer.adjusted == pytest.approx(BETA / 50)
    assert (answer.forecast or 0.0) > 0.4
    assert answer.cost == pytest.approx(-math.log(0.15 * (answer.forecast or 0.0)))
    after = FORECAST_GATES.mixture(holdout.budget.account)
    assert after.log_weights[0] < before.log_weights[0] - 1, "base foresaw neither"
    used = entries(tmp_path / "t.ledger", "reserve/2")
    assert {entry["mechanism"] for entry in used} == {"graded gate/1"}
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))
    theorems = {each["name"] for each in holdout.certificate().statement["theorems"]}
    assert {"forecast_weights", "grade_log_levels", "running_adjusted_p"} <= theorems


def test_no_number_of_a_grade_can_be_another(holdout: Holdout, tmp_path: Path) -> None:
    holdout.gate(EVEN, at_least=0, grades=True)
    holdout.gate(GAINS, at_least=0, grades=True)
    assert numbers_forged(copied(tmp_path / "t.ledger", tmp_path / "forged")) >= 30


@pytest.mark.parametrize("forecast", [{}, {"expect": 0.5, "dev": (40, 10, 1_000)}])
@pytest.mark.parametrize("commit", range(2))
def test_a_process_that_dies_at_any_commit(
    holdout: Holdout,
    tmp_path: Path,
    commit: int,
    forecast: dict[str, Any],
) -> None:
    broken = copied(tmp_path / "t.ledger", tmp_path / "broken")

    def graded(ledger: Holdout) -> holdfast.Answer:
        return ledger.gate(GAINS, at_least=0, grades=True, **forecast)

    whole, table = graded(holdout), pl.DataFrame({"item": range(ROWS)})
    died_at_commit(broken, table, commit, graded)
    assert folded(broken).committed.nats >= (0.0 if commit == 0 else whole.cost * (1 - 1e-12))
    with holdfast.open(table, ledger=broken) as resumed:
        assert graded(resumed).adjusted == whole.adjusted
    assert folded(broken).account == folded(tmp_path / "t.ledger").account
    assert all(finding.fine for finding in audit(broken))
