"""Two at one ledger, and what a crash leaves behind: deterministic, no sleeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument, LedgerBusy
from holdfast.ledger.entries import Asked, Request, reservation
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.mechanism import Wish
from holdfast.statistics.entry import Call
from tests.holdout.tables import LATE, Crash, crash, made, opened, sample_value, table, watch
from tests.seam import write_entry
from tests.statistics.asked import asked


def test_two_holdouts_share_one_budget(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as one, opened(tmp_path, table()) as two:
        first = one.ask(LATE)
        second = two.ask("avg(x > 20)")
        assert (first.number, second.number) == (1, 2)
        assert second.cost > first.cost  # it was asked on one account
        assert one.budget.to_dict() == two.budget.to_dict()
        assert one.ask("avg(x > 20)") == second
        assert one.ask("avg(x > 20)").status == "repeated"


def test_while_one_asks_the_other_waits_and_counts_the_worst(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as one, opened(tmp_path, table(), timeout=0.0) as two:
        two.ask(LATE)
        budgets, costs = [], []

        def meanwhile() -> None:
            with pytest.raises(LedgerBusy, match="nothing was asked and nothing was spent"):
                two.ask("avg(x > 1)")
            assert two.ask(LATE).status == "repeated"
            budgets.append(two.budget)
            costs.append(two.cost("avg(x > 1)").most)

        watch(one, meanwhile)
        cost = one.cost("avg(x > 20)", guess=0.5)
        answer = one.check("avg(x > 20)", guess=0.5)
        assert answer.status == "confirmed"
        during, after = budgets[0], two.budget
        assert during.account.looks == after.account.looks == 2
        assert 3 < during.nats - after.nats < cost.most - cost.least  # an answer is not reserved
        assert during.questions_left <= after.questions_left
        assert two.ask("avg(x > 1)").cost < costs[0]


def test_the_next_to_ask_finishes_what_a_crash_left(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as one, opened(tmp_path, table()) as two:
        watch(one, crash)
        with pytest.raises(Crash):
            one.ask_many([LATE, "avg(x)"], why="before the crash")
        assert len(two.ledger) == 0
        assert two.budget.asked == 2  # charged, though nobody has an answer
        assert "2 more reserved and not yet answered" in two.explain()
        answer = two.ask("avg(x > 20)")
        assert answer.number == 3
        assert [each.why for each in two.ledger] == ["before the crash"] * 2 + [None]
        again = one.ask(LATE)
        assert (again.status, again.number) == ("repeated", 1)
        assert again.interval.low <= sample_value(LATE) <= again.interval.high


def test_without_rows_a_crash_is_left_to_others(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as one, opened(tmp_path) as blind:
        first = one.ask(LATE)
        watch(one, crash)
        with pytest.raises(Crash):
            one.ask("avg(x)")
        assert blind.ask(LATE) == first  # a repeat needs neither rows nor anything finished
        with pytest.raises(InvalidArgument, match=r"needs the rows of 't'.* Nothing was spent"):
            blind.ask("avg(x > 3)")
        assert len(one.ledger) == 1


def test_a_text_that_reads_as_another_question_is_not_answered(tmp_path: Path) -> None:
    """Written by another version, say: the answer would be recorded for what was not asked."""
    made(tmp_path)
    with opened(tmp_path, table()) as one, opened(tmp_path, table()) as two:
        terms, account = one.budget.terms, one.budget.account
        (offer,) = BOUNDED.offer(terms, account, [Wish(asked(LATE, one.schema), 0.2)])
        request = Request("AVG(late)", 0.0, 1.0)
        batch = [Asked(replace(offer, question="AVG(late)"), 0.0, 1.0, request)]
        write_entry(one, reservation("2026", BOUNDED.name, batch))
        assert two.ask("avg(x > 20)").recorded.look == 2
        assert [each.question for each in two.ledger] == ["avg(x > 20)"]
        assert two.budget.nats > two.ledger[0].charge  # the other keeps its charge


def doubled(frame: pl.DataFrame) -> pl.Series:
    return frame["x"] * 2


def function_question(version: str = "1") -> Call:
    return holdfast.mean(
        holdfast.row_function(
            doubled, columns=["x"], bounds=(-100, 300), name="doubled", version=version
        )
    )


def test_a_function_that_is_gone_after_a_crash_keeps_its_charge(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as one, opened(tmp_path, table()) as two:
        watch(one, crash)
        with pytest.raises(Crash):
            one.ask(function_question())
        reserved = two.budget
        assert two.ask(LATE).number == 1
        assert [each.look for each in two.ledger] == [2]
        assert two.ledger[0].leaked == reserved.nats > 0
        assert "was never answered (it could not be read again" in two.explain()


def test_a_function_asked_again_after_a_crash_is_finished(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as one, opened(tmp_path, table()) as two:
        watch(one, crash)
        with pytest.raises(Crash):
            one.ask(function_question())
        answer = two.ask(function_question())
        assert (answer.number, answer.status) == (1, "repeated")
        assert answer.interval.low <= 2 * sample_value("avg(x)") <= answer.interval.high
        assert two.ask(function_question("2")).number == 2
