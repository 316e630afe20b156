"""Plays: what is due of several questions is put together, and everything can stand in a list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.errors import BudgetExhausted, InvalidQuestion
from holdfast.ledger.audit import audit
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Estimate, Joined, Play, Subquestion
from holdfast.statistics.entry import Table
from holdfast.statistics.player import Due, played
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval
from tests.holdout.asking import FACTS, HOLD, contains, lower_quantile
from tests.holdout.tables import opened
from tests.seam import transcript_of

LATE: Statistic = bind("avg(late)", Table(Schema({"late": ColumnType.BOOLEAN})))  # type: ignore[assignment]
WHOLE = Estimate(0.5, Interval(0.0, 1.0))


def stages(sizes: Sequence[int]) -> Play:
    """A play of so many parts in each batch, whose value counts the answers it was sent."""
    found: list[Estimate] = []
    for size in sizes:
        found += yield [Subquestion(LATE)] * size
    return Joined(float(len(found)), WHOLE.interval)


def test_what_is_due_of_all_plays_is_put_together() -> None:
    batches: list[list[int]] = []

    def put(due: Due) -> list[Estimate]:
        batches.append([place for place, _ in due])
        return [WHOLE] * len(due)

    results = played([stages([2, 1]), stages([1]), stages([0, 3]), stages([])], put)
    assert [result and result.value for result in results] == [3.0, 1.0, 3.0, 0.0]
    assert batches == [[0, 0, 1], [0, 2, 2, 2]]


def test_a_play_that_is_shortened_has_no_result() -> None:
    asked: list[int] = []

    def put(due: Due) -> list[Estimate]:
        asked.extend(place for place, _ in due)
        return [WHOLE] * len(due)

    results = played(
        [stages([2, 2]), stages([1, 1])], put, lambda place, due: due[:1] if place == 0 else None
    )
    assert results[0] is None
    assert results[1] is not None
    assert asked == [0, 1, 1]


def test_a_refusal_reaches_every_play_that_is_due() -> None:
    heard: list[str] = []

    def listening(name: str) -> Play:
        try:
            yield [Subquestion(LATE)]
        except BudgetExhausted:
            heard.append(name)
        return Joined(None, WHOLE.interval)

    def put(due: Due) -> list[Estimate]:
        raise BudgetExhausted("nothing is left")

    assert len(played([listening("one"), listening("two")], put)) == 2
    assert heard == ["one", "two"]
    with pytest.raises(BudgetExhausted):
        played([stages([1])], put)


QUESTIONS = [
    "quantile(k, 0.1)",
    "median(k)",
    "quantile(k, 0.9)",
    "avg(x) where new",
    "variance(x)",
    "avg(old)",
]


def test_searches_and_statistics_of_parts_share_their_batches(tmp_path: Path) -> None:
    facts = FACTS | {"tolerance": 0.1}
    with opened(tmp_path, HOLD, "together", **facts) as together:
        answers = together.ask_many(QUESTIONS)
        longest = transcript_of(together).count
        for level, answer in zip((0.1, 0.5, 0.9), answers, strict=False):
            assert contains(answer.interval, lower_quantile("k", level, None))
        again = together.ask_many(QUESTIONS)
        assert transcript_of(together).count == longest
        assert all(each.repeated and each.cost == 0.0 for each in again)
        parts = {row["part_of"] for row in together.ledger.to_polars(parts=True).to_dicts()}
        assert len(parts) == len(QUESTIONS)  # five that have parts, and None for the mean
    with opened(tmp_path, HOLD, "one by one", **facts) as one_by_one:
        for question in QUESTIONS:
            one_by_one.ask(question)
        assert longest <= transcript_of(one_by_one).count / 2
    assert all(finding.fine for finding in audit(tmp_path / "together.ledger"))


def test_numbers_are_guessed_of_searches_in_a_list(tmp_path: Path) -> None:
    with opened(tmp_path, HOLD, **FACTS) as holdout:
        truth = lower_quantile("k", 0.5, None)
        median, mean = holdout.check_many(["median(k)", "avg(new)"], [truth, 0.5], tolerance=0.2)
        assert contains(median.interval, truth)
        assert mean.recorded.look == 2
        assert (median.number, mean.number) == (1, 2)
        with pytest.raises(InvalidQuestion, match="many answers"):
            holdout.ask_many(["histogram(k, 0, 5, 10)"])
