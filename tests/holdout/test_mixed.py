"""Asks, checks and gates in one list."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Answer
from holdfast.errors import BudgetExhausted, InvalidArgument, InvalidQuestion
from holdfast.stats import Ask, Check, Gate
from tests.holdout.tables import LATE, Crash, crash, made, opened, table, watch


def test_each_is_answered_in_its_place_and_what_is_wrong_fails_alone(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        data = watch(holdout)
        found = holdout.answer_many(
            [
                Ask("avg(x > 20)"),
                Ask("avg(x > 30)"),
                Check(LATE, 0.25),
                Check("avg(x > 0)", 0.7),
                Check("avg(x > 1)", 1.7),
                Gate("avg(x > 20)", at_least=0.1),
                Gate("avg(x > 20)"),
                Ask("avg(delay)"),
                Ask("avg(x)", half_width=0.001),
            ],
            why="all of it",
            asked_by="me",
        )
        assert data.scans[0] == 2, "those that are alike share a scan"
        assert [type(each) for each in found] == [
            *(Answer,) * 4,
            InvalidArgument,
            Answer,
            InvalidArgument,
            InvalidQuestion,
            BudgetExhausted,
        ]
        assert [each.status for each in found if isinstance(each, Answer)] == [
            "answered",
            "answered",
            "confirmed",
            "confirmed",
            "shown",
        ]
        assert {(line.request.why, line.request.by) for line in holdout.ledger} == {
            ("all of it", "me")
        }


def test_if_a_batch_is_refused_the_first_of_it_are_answered(tmp_path: Path) -> None:
    made(tmp_path, questions=2)
    with opened(tmp_path, table()) as holdout:
        found = holdout.answer_many([Ask(f"avg(x > {place})") for place in range(3)])
        assert [type(each) for each in found] == [Answer, Answer, BudgetExhausted]


def test_trouble_with_the_data_is_no_matter_of_one_question(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        watch(holdout, crash)
        with pytest.raises(Crash):
            holdout.answer_many([Ask(LATE), Ask("avg(x > 1)")])
        assert holdout.answer_many([]) == []
        with pytest.raises(InvalidArgument, match=r"give Ask, Check or Gate of holdfast\.stats"):
            holdout.answer_many(["avg(x)"])  # type: ignore[list-item]
