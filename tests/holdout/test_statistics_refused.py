"""Statistics that the budget does not cover, or that cannot be asked, or of odd tables."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import (
    BudgetExhausted,
    InvalidArgument,
    InvalidQuestion,
    Refused,
    ToleranceTooLoose,
)
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.question.safe_text import MAX_LENGTH
from tests.holdout.asking import FACTS, HOLD, ROWS, SPREAD, contains, lower_quantile
from tests.holdout.tables import opened, untouchable, watch
from tests.statistics.zoo import CASES


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path, HOLD, **FACTS) as found:
        yield found


def test_more_groups_than_fit_are_refused_with_the_number_that_fits(tmp_path: Path) -> None:
    with opened(tmp_path, HOLD, **(FACTS | {"questions": 2})) as few:
        watch(few, untouchable)
        with pytest.raises(
            BudgetExhausted, match=r"requested 3 groups.*for 2; missing 1"
        ) as refusal:
            few.ask(holdfast.mean("new", by="arm"))
        assert "where=" in str(refusal.value)
        with pytest.raises(BudgetExhausted, match=r"requested 3 groups by x.*for 2"):
            few.ask(holdfast.histogram("x", [-60, 0, 60, 180]))
        assert len(few.ledger) == 0


@pytest.mark.parametrize("question", ["avg(new) where k > 4", "f1(new, y)", "median(k)"])
def test_what_takes_several_questions_is_refused_as_a_whole(tmp_path: Path, question: str) -> None:
    """Never halfway: the share of a group is of no use without its residual."""
    with opened(tmp_path, HOLD, **(FACTS | {"questions": 1})) as few:
        watch(few, untouchable)
        for put in (few.cost, few.ask):
            with pytest.raises(BudgetExhausted, match=r"requested up to \d+ .* for 1; missing"):
                put(question)
        assert len(few.ledger) == 0


BAD: list[tuple[Any, str]] = [
    ("avg(x) where arm = 'nowhere'", "No row of the design"),
    ("auc(p, new)", "design="),
    ("auc(p, y or true)", "one class"),
    ("variance(x) where k > 3", "design columns"),
    ("quantile(x, 2)", "level is 2"),
    ("maximum(x)", "is not a statistic"),
    ("avg(x, x)", "takes 1 argument,"),
    (holdfast.histogram("x", [0, 0]), "each above the one before"),
    ("histogram(x)", r"write it like histogram\(x, 0, 10, 20\)"),
    (holdfast.histogram("arm", [0, 1]), "needs a number"),
    (holdfast.mean("new", by="x"), "whole numbers or booleans"),
    (holdfast.mean("new", by="arms"), "did you mean 'arm'"),
    (holdfast.statistic(len, columns=["gone"], bounds=(0, 1), name="n", sigma=1), "gone"),
]


@pytest.mark.parametrize(("question", "words"), BAD, ids=lambda value: str(value)[:40])
def test_bad_questions_touch_no_data_and_cost_nothing(
    holdout: Holdout, question: Any, words: str
) -> None:
    watch(holdout, untouchable)
    for put in (holdout.ask, holdout.cost):
        with pytest.raises(InvalidQuestion, match=words):
            put(question)
    assert len(holdout.ledger) == 0


@pytest.mark.parametrize(
    ("question", "guess"),
    [
        ("std(z)", 9.0),
        ("correlation(x, z)", -1.5),
        ("avg(z) where k > 4", 0.0),
        ("sum(z, 10)", 5.0),
        ("auc(p, y)", 1.1),
        ("f1(new, y)", math.nan),
        ("median(z)", 0.0),
    ],
)
def test_guesses_out_of_range_touch_no_data(holdout: Holdout, question: str, guess: float) -> None:
    watch(holdout, untouchable)
    with pytest.raises(InvalidArgument, match="guess is"):
        holdout.check(question, guess=guess)
    assert len(holdout.ledger) == 0


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (f"variance(arm = '{'a' * (MAX_LENGTH * 11 // 20)}')", "read again.*characters; at most"),
        (f"avg({'abs(' * 19}x{')' * 19}) where k > 4", "nested more than"),
        (holdfast.mean("new", by="odd"), "read again.*invisible character"),
    ],
)
def test_what_a_ledger_could_not_read_again_is_not_asked(
    tmp_path: Path, question: Any, why: str
) -> None:
    """Its parts are longer than it, or its groups have names that no text may hold."""
    data = HOLD.with_columns(odd=pl.Series(["a\u200bb", "c"] * (HOLD.height // 2)))
    with opened(tmp_path, data, **{**FACTS, "design": ["odd"]}) as found:
        watch(found, untouchable)
        for put in (found.ask, found.cost):
            with pytest.raises(InvalidQuestion, match=why):
                put(question)
        assert len(found.ledger) == 0


@pytest.mark.parametrize("strict", [False, True])
def test_what_rows_hold_shows_in_no_warning(tmp_path: Path, strict: bool) -> None:
    """A function that warns of some rows tells nobody; and no filter makes its rows missing."""

    def warned(frame: pl.DataFrame) -> pl.Series:
        if 7.0 in frame["x"]:  # in the protected rows, not in the invented ones
            warnings.warn("there is a 7", stacklevel=1)
        return frame["x"] > 0

    row = holdfast.row_function(warned, columns=["x"], bounds=(0, 1), name="row", version="1")
    whole = holdfast.statistic(
        lambda frame: float(warned(frame).to_numpy().mean()),
        columns=["x"],
        bounds=(0, 1),
        name="whole",
        sigma=0.01,
    )
    data = pl.DataFrame({"x": [0.0, -1.0, 7.0] * 1_000})
    with (
        opened(tmp_path, data, mechanism="exact") as found,
        warnings.catch_warnings(record=True) as w,
    ):
        warnings.simplefilter("error" if strict else "always")
        answers = [found.ask(holdfast.mean(row)), found.ask(whole)]
    assert w == []
    assert answers == [pytest.approx(1 / 3), pytest.approx(1 / 3)]


def test_tables_without_anything_in_them(tmp_path: Path) -> None:
    """All values the same: answers like any other. All missing: nothing is said of them."""
    data = pl.DataFrame(
        {
            "x": [None] * 9_000,
            "c": [5.0] * 9_000,
            "arm": ["A"] * 9_000,
            "y": [True, False, None] * 3_000,
        },
        schema={"x": pl.Float64, "c": pl.Float64, "arm": pl.String, "y": pl.Boolean},
    )
    facts: dict[str, Any] = {
        "schema": {"x": (2, 10), "c": (0, 10)},
        "design": ["arm", "y"],
        "tolerance": 0.1,
    }
    with opened(tmp_path, data, questions=60, **facts) as found:
        values = {
            "avg(coalesce(x, 2))": 2.0,
            "avg(coalesce(x, 2)) where arm = 'A'": 2.0,
            "avg(coalesce(x, 2)) where c > 3": 2.0,
            "variance(coalesce(x, 2))": 0.0,
            "std(c)": 0.0,
            "median(coalesce(x, 2))": 2.0,
            "quantile(c, 0.9)": 5.0,
            "auc(x, y)": 0.0,  # a missing score is on the wrong side of all others
            "brier(x, y)": 1.0,
        }
        for question, truth in values.items():
            assert contains(found.ask(question).interval, truth), question
        for question in ("avg(x)", "avg(x) where arm = 'A'", "variance(x)", "covariance(x, c)"):
            assert found.ask(question).status == "says nothing"
        with pytest.raises(ToleranceTooLoose, match=r"favourable .* nothing was spent"):
            found.ask("correlation(x, c)")
        assert found.ask("avg(x) where c > 7").interval == (2.0, 10.0)
        assert [label for label, _ in found.ask(holdfast.mean("c", by="arm"))] == ["A"]
        shares = [answer for _, answer in found.ask(holdfast.histogram("x", [0, 5, 10]))]
        assert all(contains(answer.interval, 0.0) for answer in shares)


# Rows that came about otherwise ------------------------------------------------------------------


@pytest.mark.parametrize(
    "sampling",
    [
        holdfast.clustered("unit", sizes="fixed"),
        holdfast.m_dependent(2),
        holdfast.declared(sigma=0.01),
    ],
    ids=str,
)
def test_other_assumptions(tmp_path: Path, sampling: Any) -> None:
    data = HOLD.with_columns(unit=pl.int_range(pl.len()) // 4)
    with opened(tmp_path, data, sampling=sampling, **(FACTS | {"tolerance": 0.3})) as found:
        for case in CASES:
            of_design = "arm" in case.question and ") where k > 0" not in case.question
            groups = of_design or "balanced" in case.question
            if (groups and "declared" in str(sampling)) or case.question.startswith(
                ("auc", "kendall")
            ):
                spent = found.budget.nats
                with pytest.raises(InvalidQuestion, match=r"independent rows|means of all rows"):
                    found.ask(case.question)
                assert found.budget.nats == spent
            else:
                try:
                    answer = found.ask(case.question)
                except ToleranceTooLoose:  # by then the group is known to be small
                    assert " where " in case.question
                else:
                    assert contains(answer.interval, case.plain(ROWS))
        assert found.ask("median(k)").interval.low <= lower_quantile("k", 0.5, None)
        assert found.ask(SPREAD).status == "answered"
    assert all(each.fine for each in audit(tmp_path / "t.ledger"))


def test_groups_that_are_too_small_are_refused_by_public_numbers(tmp_path: Path) -> None:
    data = HOLD.with_columns(
        arm=pl.when(pl.int_range(pl.len()) < 30).then(pl.lit("rare")).otherwise("arm")
    )
    with opened(tmp_path, data, **FACTS) as found:
        watch(found, untouchable)
        with pytest.raises(Refused, match="the best possible here is"):
            found.ask("avg(x) where arm = 'rare'")
