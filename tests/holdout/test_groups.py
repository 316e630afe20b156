"""Means inside groups: true intervals, agreement with a plain computation, clear errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import BudgetExhausted, InvalidArgument, InvalidQuestion

ROWS = 40_000


def table(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    site = rng.choice(["a", "b", "c"], size=ROWS, p=[0.5, 0.3, 0.2])
    late = rng.random(ROWS) < np.select([site == "a", site == "b"], [0.1, 0.5], 0.9)
    return pl.DataFrame({"site": site, "late": late, "x": np.where(late, 8.0, 2.0)}).with_columns(
        x=pl.when(pl.int_range(pl.len()) % 50 == 0).then(None).otherwise(pl.col("x"))
    )


HOLD, TRAIN = table(1), table(2)


@pytest.fixture
def holdout(tmp_path: Path) -> holdfast.Holdout:
    return holdfast.open(
        HOLD, ledger=tmp_path / "g.ledger", questions=100, tolerance=0.03, described="off"
    )


def plain(condition: pl.Expr) -> float:
    return float(HOLD.filter(condition).select(pl.col("late").mean()).item())


def test_groups_agree_with_a_plain_computation(holdout: holdfast.Holdout) -> None:
    groups = holdout.check(holdfast.mean("late", by="site"), guess=TRAIN)
    assert [member for member, _ in groups] == ["a", "b", "c"]
    for member, truth in (("a", 0.1), ("b", 0.5), ("c", 0.9)):
        answer = groups[member]
        assert answer.status == "confirmed"
        assert answer.interval.low <= truth <= answer.interval.high
        assert abs(answer - plain(pl.col("site") == member)) < 0.05
        assert answer.half_width < 0.35
    assert (len(holdout.ledger), len(holdout.ledger.looks)) == (3, 6)


def test_the_same_groups_again_are_free_whatever_the_guess(holdout: holdfast.Holdout) -> None:
    first = holdout.ask(holdfast.mean("late", where="site = 'b'"))
    spent = holdout.budget.nats
    again = holdout.check(holdfast.mean("late", where="'b' = site"), guess=0.9)
    assert (again.status, again.cost, again.interval) == ("repeated", 0.0, first.interval)
    assert holdout.budget.nats == spent


def test_a_number_as_a_guess_asks_for_the_share_first(holdout: holdfast.Holdout) -> None:
    right = holdout.check(holdfast.mean("late", where="site = 'a'"), guess=0.1)
    wrong = holdout.check(holdfast.mean("late", where="site = 'c'"), guess=0.1)
    assert [each.status for each in holdout.ledger] == ["confirmed", "surprise"]
    assert [each.status for each in holdout.ledger.looks] == [
        "answered",
        "confirmed",
        "answered",
        "surprise",
    ]
    assert right.status == "confirmed"
    assert wrong.status == "surprise"
    assert wrong.interval.low <= 0.9 <= wrong.interval.high


def test_missing_values_count_in_a_group_as_they_do_everywhere(holdout: holdfast.Holdout) -> None:
    answer = holdout.ask(holdfast.mean("x", bounds=(0, 10), where="site = 'a'"))
    among = HOLD.filter(pl.col("site") == "a")["x"].fill_null(0.0).mean()
    assert answer.interval.low <= float(among) <= answer.interval.high  # type: ignore[arg-type]
    assert abs(answer - float(among)) < 1.0  # type: ignore[arg-type]


def test_a_group_that_may_be_empty_says_nothing(holdout: holdfast.Holdout) -> None:
    answer = holdout.ask(holdfast.mean("late", where="site = 'nowhere'"))
    assert (answer.status, answer.value, answer.interval) == ("says nothing", None, (0.0, 1.0))


def test_training_rows_name_the_groups(tmp_path: Path) -> None:
    holdout = holdfast.open(
        HOLD,
        ledger=tmp_path / "t.ledger",
        questions=100,
        tolerance=0.03,
        train=TRAIN,
        described="off",
    )
    groups = holdout.ask(holdfast.mean("late", by="site"))
    assert {answer.status for _, answer in groups} == {"confirmed"}
    frame = groups.to_polars()
    assert frame.columns[:5] == ["site", "n", "value", "low", "high"]
    assert "simultaneous" in str(groups)
    assert groups._repr_html_().count("<tr>") == 4


def test_groups_of_fresh_tables_are_covered_and_the_share_of_the_group_is_needed(
    tmp_path: Path,
) -> None:
    """A demonstration: the interval has slack. Its twin forgets to divide by the group's share."""
    truths = {"a": 0.1, "b": 0.5, "c": 0.9}
    sabotaged = 0
    for seed in range(10, 16):
        with holdfast.open(
            table(seed),
            ledger=tmp_path / f"{seed}.ledger",
            questions=10,
            tolerance=0.05,
            described="off",
        ) as holdout:
            groups = holdout.check(holdfast.mean("late", by="site"), guess=TRAIN)
            residuals = [
                each for each in holdout.ledger.looks if each.question.startswith("avg(case")
            ]
        for (member, answer), residual in zip(groups, residuals, strict=True):
            truth = truths[str(member)]
            assert answer.interval.low <= truth <= answer.interval.high
            low, high = (0.5 + end for end in residual.interval)
            sabotaged += not low <= truth <= high
    assert sabotaged >= 12  # of 18: groups a and c are far from the pivot every time


def test_what_cannot_be_done_gets_one_sentence(holdout: holdfast.Holdout, tmp_path: Path) -> None:
    for by, words in (("site", "needs to know the groups"), ("sight", "did you mean 'site'")):
        with pytest.raises(InvalidQuestion, match=words):
            holdout.ask(holdfast.mean("late", by=by))
    with pytest.raises(InvalidQuestion, match="A condition is needed"):
        holdout.ask(holdfast.mean("late", where="x + 1"))
    with pytest.raises(InvalidArgument, match=r"guess is 1\.5"):
        holdout.check(holdfast.mean("late", where="site = 'a'"), guess=1.5)
    with pytest.raises(InvalidArgument, match="one side can be checked of a mean"):
        holdout.check(holdfast.mean("late", where="site = 'a'"), at_most=0.5)
    with pytest.raises(InvalidQuestion, match="whole numbers or booleans"):
        holdout.check(holdfast.mean("late", by="x"), guess=TRAIN)
    with pytest.raises(InvalidArgument, match="protected table"):
        holdout.check(holdfast.mean("late", by="site"), guess=HOLD)
    few = holdfast.open(
        HOLD, ledger=tmp_path / "few.ledger", questions=5, tolerance=0.05, described="off"
    )
    with pytest.raises(BudgetExhausted, match="remaining"):
        few.check(holdfast.mean("late", by="site"), guess=TRAIN)
    assert len(few.ledger) == 0
    assert len(holdout.ledger) == 0
