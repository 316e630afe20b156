"""GuessAndCheck with declared mistakes: its levels, how it halts, and an attack on it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import BudgetExhausted, InvalidArgument, ToleranceTooTight
from holdfast.guessers import MedianMechanism
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.mechanisms.mechanism import Refuted, Wish, about
from holdfast.mechanisms.terms import Account, QuestionPart
from holdfast.papers.guess_and_check import (
    GUESS_AND_CHECK,
    CountedAnswers,
    CountedChecks,
    CountedTree,
)
from holdfast.papers.theorems.surprise_codes import log_nodes
from tests.mechanisms.fake import CONDITION, NUMBER, independent, of_count, settled
from tests.theory.coverage import too_many

N = 20_000
RNG = np.random.default_rng(3)
TABLE = pl.DataFrame({f"b{j}": RNG.random(N) < 0.3 for j in range(8)})


def opened(folder: Path, **said: Any) -> Holdout:
    said = {"questions": 10, "options": {"mistakes": 2}, **said}
    return holdfast.open(
        TABLE, ledger=folder / "t.ledger", mechanism="halting guess and check", **said
    )


def test_every_question_of_the_tree_has_the_same_level_and_width(tmp_path: Path) -> None:
    with opened(tmp_path) as holdout:
        terms = holdout.opening.terms
        cells = holdout.opening.mechanism["parameters"]["cells"]
        log_p = math.log(0.05) - log_nodes(10, 2, cells)
        hoeffding = math.sqrt((math.log(2) - log_p) / (2 * N))
        assert terms.half_width == pytest.approx(0.5 / (cells - 1) + hoeffding, abs=1e-3)
        first = holdout.check("avg(b0)", guess=0.3)
        assert first.status == "confirmed"
        assert first.half_width == pytest.approx(terms.half_width)
        second = holdout.check("avg(b1)", guess=0.5)
        assert second.status == "not confirmed"
        assert second.half_width <= terms.half_width
        assert second.interval.low < 0.3 < second.interval.high
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_one_mistake_more_halts_it_for_good(tmp_path: Path) -> None:
    with opened(tmp_path) as holdout:
        holdout.ask("avg(b0)")  # no guess: a mistake
        holdout.check("avg(b1)", guess=0.6)
        with pytest.raises(BudgetExhausted, match="requested 1 more answers to mistakes"):
            holdout.ask("avg(b2)")
        assert holdout.check("avg(b2)", guess=0.3).status == "confirmed"
        last = holdout.check("avg(b3)", guess=0.6)
        assert (last.status, last.value) == ("not confirmed", None)
        with pytest.raises(BudgetExhausted, match="has halted: 3 mistakes"):
            holdout.check("avg(b4)", guess=0.3)
        assert holdout.check("avg(b2)", guess=0.3).status == "repeated"
        assert holdout.budget.surprises_left == 0
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_of_a_batch_nothing_is_told_after_it_has_halted() -> None:
    tree, terms = CountedTree(10, 1, 20), independent(10_000, questions=10)
    checks = CountedChecks(tree)
    wishes = [about(CONDITION, 0.2, guess) for guess in (0.9, 0.5, 0.9, 0.5)]
    offers = checks.offer(terms, Account(), wishes)
    symbols = checks.respond(
        terms, offers, [CONDITION] * 4, of_count(10_000, 5_000), lambda _: pytest.fail("no noise")
    )
    assert symbols == ["not confirmed", "confirmed", "not confirmed", "not confirmed"]
    after = checks.advance(Account(), offers, checks.settle(offers, symbols))
    with pytest.raises(BudgetExhausted, match="halted"):
        checks.offer(terms, after, wishes[:1])
    with pytest.raises(BudgetExhausted, match="halted"):
        CountedAnswers(tree).offer(terms, after, [Wish(CONDITION, 0.4)])
    assert checks.surprises_left(terms, after, terms.concentration) == 0


def test_a_half_width_in_units_of_a_part_has_room_or_not() -> None:
    tree, terms = CountedTree(10, 1, 20), independent(10_000, questions=10)
    part = QuestionPart(terms.concentration)
    unit = tree.half_width(part.radius(tree.log_level(terms.log_beta))) / terms.half_width
    for wider, left in ((1.01, 1), (0.99, 0)):
        stages = [[replace(part, unit=wider * unit)]]
        assert CountedAnswers(tree).questions_left(terms, Account(), stages) == left


def test_an_answer_that_a_refuted_guess_left_open_is_counted_once() -> None:
    tree, terms = CountedTree(10, 1, 20), independent(10_000, questions=10)
    checks, answers = CountedChecks(tree), CountedAnswers(tree)
    (offer,) = checks.offer(terms, Account(), [about(CONDITION, 0.2, 0.9)])
    after = checks.advance(Account(), [offer], [settled(checks, offer, "not confirmed")])
    refuted = Refuted(offer.number, (0.7, 1.1), offer.radius)
    for other in (Wish(CONDITION, 0.4), Wish(NUMBER, 0.4, follows=refuted)):
        with pytest.raises(BudgetExhausted):
            answers.offer(terms, after, [other])
    wish = Wish(CONDITION, 0.4, follows=refuted)
    (due,) = answers.offer(terms, after, [wish])
    done = answers.advance(after, [due], [settled(answers, due, 9)])
    assert answers.questions_left(terms, done) == 0
    with pytest.raises(BudgetExhausted):  # it was answered
        answers.offer(terms, done, [wish])


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"questions": None}, "how many questions"),
        ({"options": {"mistakes": -1}}, "mistakes"),
        ({"options": {"mistakes": 11}}, "mistakes"),
        ({"options": {"mistakes": math.nan}}, "mistakes"),
        ({"options": {"accuracy": 0.0}}, "accuracy"),
        ({"options": {"accuracy": 0.7}}, "accuracy"),
    ],
    ids=str,
)
def test_bad_declarations(tmp_path: Path, said: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        opened(tmp_path, **said)


def test_a_width_that_the_tree_cannot_give_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToleranceTooTight):
        opened(tmp_path, tolerance=0.01)
    with opened(tmp_path) as holdout:
        with pytest.raises(ToleranceTooTight):
            holdout.ask("avg(b0)", tolerance=0.01)
        with pytest.raises(InvalidArgument, match="has no gates"):
            holdout.gate("avg(b0)", at_least=0.2)


def test_with_medians_as_guesses_it_is_the_lectures_mechanism(tmp_path: Path) -> None:
    guesser = MedianMechanism({"b0": None, "b1": None, "b2": None}, weights="volume")
    with opened(tmp_path, questions=12, options={"mistakes": 8}, guesser=guesser) as holdout:
        for text in ("b0", "b1", "b2", "b0 and b1", "b0 or b2", "not b1", "b1 and b2"):
            truth = TABLE.select(pl.sql_expr(text).mean()).item()
            low, high = holdout.ask(f"avg({text})").interval
            assert low < truth < high
        mistakes = holdout.budget.account.surprises
        assert 1 <= mistakes <= 6
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


# An analyst guesses 1/2 of features that know nothing; those refuted are told by a cell and vote.
ROWS, FEATURES, TRIALS = 300, 40, 400


def attacked(log_p: float, cells: int, mistakes: int) -> list[bool]:
    """In which trials some interval misses, if every question has this level."""
    rng, wrong = np.random.default_rng(20_26), []
    radius = math.sqrt((math.log(2) - log_p) / (2 * ROWS))
    for _ in range(TRIALS):
        agrees = 2 * rng.integers(0, 2, (ROWS, FEATURES)) - 1
        means = (1 + agrees.mean(axis=0)) / 2
        refuted = np.abs(means - 0.5) > 0.5 / (cells - 1)
        told = np.flatnonzero(refuted)[:mistakes]
        shown = np.rint(means[told] * (cells - 1)) / (cells - 1)
        missed = np.any(np.abs(shown - 0.5) > 0.5 / (cells - 1) + radius)
        vote = agrees[:, told] @ np.where(shown > 0.5, 1, -1) > 0 if told.size else agrees[:, 0] > 0
        wrong.append(bool(missed or abs(vote.mean() - 0.5) > 0.5 / (cells - 1) + radius))
    return wrong


def test_mistakes_that_are_used_to_overfit_are_paid_for() -> None:
    k, m = FEATURES + 1, 21
    planned = GUESS_AND_CHECK.plan(
        independent(ROWS, tolerance=None, questions=k), {"mistakes": m, "accuracy": 0.02}
    )
    cells = planned.parameters["cells"]
    assert not too_many(attacked(math.log(0.05) - log_nodes(k, m, cells), cells, m), 0.05)
    # The twin: as if k questions had been fixed beforehand.
    assert too_many(attacked(math.log(0.05 / k), cells, m), 0.05)
