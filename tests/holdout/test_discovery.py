"""Groups that are found in the protected rows: asks and checks end before anything is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import holdfast
from holdfast.data.design import group_sizes
from holdfast.data.polars import PolarsSample
from holdfast.data.sql.duckdb import DuckDBSample
from holdfast.errors import BudgetExhausted, InvalidArgument, InvalidQuestion, LedgerTampered
from holdfast.ledger.audit import audit
from tests.data.engines import duckdb_connection
from tests.holdout.tables import Crash, crash, opened, table, untouchable, watch
from tests.ledger.forging import forged
from tests.seam import CHECKPOINT_EVERY, transcript_of

FACTS: dict[str, Any] = {"questions": 20, "tolerance": 0.2, "schema": {"x": (-60, 180)}}
DESCRIBED: dict[str, Any] = {**FACTS, "described": "exact"}
BY_ORIGIN = holdfast.mean("x > 20", by="origin")


def is_closed(holdout: holdfast.Holdout) -> bool:
    return transcript_of(holdout).account.closed is not None


def test_groups_are_found_and_asked_as_described_questions(tmp_path: Path) -> None:
    data = table()
    with opened(tmp_path, data, **DESCRIBED) as holdout:
        groups = holdout.ask(BY_ORIGIN, discover=True)
        assert [label for label, _ in groups] == ["EWR", "JFK", "LGA"]
        assert groups.question == "avg(x > 20) by origin"
        plain = data.group_by("origin").agg(pl.len(), (pl.col("x") > 20).mean()).sort("origin")
        frame = groups.to_polars()
        assert frame["n"].to_list() == plain["len"].to_list()
        assert frame["value"].to_list() == pytest.approx(plain["x"].to_list())
        assert {line.request.table for line in holdout.ledger} == {groups.question}
        assert [line.question for line in holdout.ledger] == frame["question"].to_list()
        again: Any = holdout.ask("avg(x > 20) by origin", discover=True)
        assert {answer.status for _, answer in again} == {"repeated"}
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_the_largest_groups_come_first_and_equal_ones_in_order(tmp_path: Path) -> None:
    data = pl.DataFrame({"g": ["d"] * 90 + ["b"] * 50 + ["c"] * 50 + ["a"] * 10, "y": [True] * 200})
    for name, rows in (("one", data), ("two", data.reverse())):
        with opened(tmp_path, rows, name, **{**DESCRIBED, "schema": None}) as holdout:
            groups = holdout.ask(holdfast.mean("y", by="g"), discover=True, top=3)
            assert [(label, answer.recorded.rows) for label, answer in groups] == [
                ("d", (90, 90)),
                ("b", (50, 50)),
                ("c", (50, 50)),
            ]


def test_engines_find_the_same_groups(tmp_path: Path) -> None:
    data = table().with_columns(
        code=pl.when(pl.col("x") < 0).then(None).otherwise((pl.col("x") // 30).cast(pl.Int32)),
        kind=pl.col("origin").cast(pl.Categorical),
    )
    data.write_parquet(tmp_path / "t.parquet")
    connection = duckdb_connection()
    relation = connection.from_arrow(data.with_columns(kind=pl.col("origin")).to_arrow())
    columns = ["kind", "code", "late"]
    found = [
        group_sizes(sample, columns)
        for sample in (PolarsSample(data), PolarsSample(data.reverse()), DuckDBSample(relation))
    ]
    assert found[0] == found[1] == found[2]
    assert sum(found[0].values()) == data.drop_nulls(columns).height


REFUSED: dict[str, Callable[[holdfast.Holdout], object]] = {
    "an ask with a half-width": lambda h: h.ask("avg(x > 3)", tolerance=0.2),
    "a function of Python": lambda h: h.ask(
        holdfast.mean(
            holdfast.row_function(
                lambda f: f["x"], columns=["x"], bounds=(0, 1), name="f", version="1"
            )
        )
    ),
    "a check": lambda h: h.check("avg(late)", guess=0.3),
    "a side": lambda h: h.check("avg(late)", at_most=0.9),
    "a check of groups": lambda h: h.check("avg(late) by origin", guess=table(seed=2)),
    "several": lambda h: h.check_many(["avg(late)"], [0.25]),
}


@pytest.mark.parametrize("how", REFUSED)
def test_nothing_else_is_asked_afterwards(tmp_path: Path, how: str) -> None:
    with opened(tmp_path, table(), **DESCRIBED) as holdout:
        before = holdout.check("avg(x > 50)", guess=0.2)
        holdout.ask(BY_ORIGIN, discover=True)
        asked, nats = len(holdout.ledger), holdout.budget.nats
        watch(holdout, untouchable)
        with pytest.raises(BudgetExhausted, match=r"closed for asks and checks.*text question"):
            REFUSED[how](holdout)
        assert (len(holdout.ledger), holdout.budget.nats) == (asked, nats)
        again = holdout.check("avg(x > 50)", guess=0.2)  # what was answered stays answered
        assert (again.status, again.interval) == ("repeated", before.interval)
    with opened(tmp_path, table()) as resumed, pytest.raises(BudgetExhausted, match="closed"):
        REFUSED[how](resumed)


def test_described_questions_stay_open_and_everybody_is_told(tmp_path: Path) -> None:
    with opened(tmp_path, table(), **DESCRIBED) as holdout:
        told = holdout.cost(BY_ORIGIN, discover=True)
        assert (told.closes, told.question) == (True, "avg(x > 20) by origin")
        assert "closes asks and checks for good" in str(told)
        assert not is_closed(holdout)
        assert holdout.budget.to_dict()["closed"] is None
        holdout.ask(BY_ORIGIN, discover=True)
        assert holdout.ask("avg(x > 21)").status == "answered"
        budget = holdout.budget
        assert (budget.questions_left, budget.surprises_left) == (0, 0)
        assert "text questions only" in str(budget)
        assert "origin" in budget.to_dict()["closed"]["why"]
        assert "text questions" in budget.remaining
        assert "Closed at" in holdout.explain()
        with pytest.raises(InvalidArgument, match="stability is a property of answers"):
            holdout.stability()
    (closed,) = [each for each in audit(tmp_path / "t.ledger") if each.what == "closed"]
    assert closed.fine


def test_what_could_not_be_asked_afterwards_is_refused_before(tmp_path: Path) -> None:
    bad: list[tuple[Any, dict[str, Any], str]] = [
        ("avg(late)", {}, "the question has none"),
        ("histogram(x, 0, 1)", {}, "the question has none"),
        (BY_ORIGIN, {"tolerance": 0.1}, "discover= closes"),
        (BY_ORIGIN, {"top": 0}, "top is 0"),
        ("avg(late) by x", {}, "whole numbers or booleans"),
        ("auc(x, late) by origin", {}, "has no where"),
    ]
    with opened(tmp_path, table(), **DESCRIBED) as holdout:
        watch(holdout, untouchable)
        for question, how, words in bad:
            with pytest.raises((InvalidArgument, InvalidQuestion), match=words):
                holdout.ask(question, discover=True, **how)
        with pytest.raises(InvalidArgument, match="needs discover=True"):
            holdout.ask(BY_ORIGIN, top=3)
        assert not is_closed(holdout)
        assert transcript_of(holdout).count == 1
    for name, declared in (
        ("off", {"described": "off"}),
        ("blocks", {"described": "exact", "sampling": holdfast.m_dependent(3)}),
    ):
        question = "median(x) by origin" if name == "blocks" else BY_ORIGIN
        with opened(tmp_path, table(), name, **(FACTS | declared)) as other:
            watch(other, untouchable)
            with pytest.raises((InvalidArgument, InvalidQuestion), match="described"):
                other.ask(question, discover=True)
            assert not is_closed(other)


def test_a_crash_after_closing_loses_nothing_but_asks_and_checks(tmp_path: Path) -> None:
    """The process dies when the rows are first read: the ledger was closed before."""
    with opened(tmp_path, table(), **DESCRIBED) as holdout:
        seen: list[bool] = []

        def die() -> None:
            seen.append(is_closed(holdout))
            crash()

        watch(holdout, die)
        with pytest.raises(Crash):
            holdout.ask(BY_ORIGIN, discover=True)
        assert seen == [True]
    with opened(tmp_path, table()) as resumed:
        assert is_closed(resumed)
        assert len(resumed.ledger) == 0
        with pytest.raises(BudgetExhausted, match="closed"):
            resumed.check("avg(late)", guess=0.3)
        assert len(resumed.ask(BY_ORIGIN, discover=True)) == 3
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_a_closed_ledger_resumes_closed_from_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 2)
    with opened(tmp_path, table(), **DESCRIBED) as holdout:
        holdout.ask(BY_ORIGIN, discover=True)
        for place in range(6):
            holdout.ask(f"avg(x > {place})")
    with opened(tmp_path, table()) as resumed, pytest.raises(BudgetExhausted, match="closed"):
        resumed.check("avg(late)", guess=0.3)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_a_session_that_began_before_is_refused_too(tmp_path: Path) -> None:
    with opened(tmp_path, table(), **DESCRIBED) as one, opened(tmp_path, table()) as other:
        assert other.budget.surprises_left > 0
        one.ask(BY_ORIGIN, discover=True)
        with pytest.raises(BudgetExhausted, match="closed"):
            other.check("avg(late)", guess=0.25)


def asked_then_closed(folder: Path) -> Path:
    with opened(folder, table(), **DESCRIBED) as holdout:
        holdout.check("avg(late)", guess=0.25)
        holdout.ask(BY_ORIGIN, discover=True)
    return folder / "t.ledger"


def test_who_holds_the_secret_cannot_move_a_closing_unseen(tmp_path: Path) -> None:
    """Moved before a check that was answered, the closing says that it had to be refused."""

    def closed_first(bodies: list[dict[str, Any]]) -> None:
        place = next(n for n, body in enumerate(bodies) if body["kind"] == "close/1")
        bodies.insert(1, bodies.pop(place))
        for body in bodies:
            if body.get("reserve") == 2:
                body["reserve"] = 3

    path = asked_then_closed(tmp_path)
    assert any("had to be refused" in fault for fault in forged(path, closed_first))


def test_a_closing_that_is_taken_out_is_found(tmp_path: Path) -> None:
    path = asked_then_closed(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM entries WHERE text LIKE '%close/1%'")
        connection.commit()
    with pytest.raises(LedgerTampered, match="missing"), opened(tmp_path, table()):
        pass


def misses_at_95_percent(answer: holdfast.Answer) -> bool:
    """Whether a plain interval misses .3: one that takes no account of how many there are."""
    share, (n, _) = answer.value or 0.0, answer.recorded.rows or (1, 1)
    return bool(abs(share - 0.3) > 1.96 * (share * (1 - share) / n) ** 0.5)


def test_discovered_groups_are_covered_however_they_were_found(tmp_path: Path) -> None:
    """All groups that the rows have, whatever they look like; the twin is a plain interval."""
    rng, trials = np.random.default_rng(7), 24
    misses = sabotaged = 0
    for trial in range(trials):
        data = pl.DataFrame({"g": rng.integers(0, 25, 700).astype(str), "y": rng.random(700) < 0.3})
        with opened(tmp_path, data, f"c{trial}", **{**DESCRIBED, "schema": None}) as holdout:
            groups: Any = holdout.ask("avg(y) by g", discover=True)
            answers = [answer for _, answer in groups]
        misses += any(not a.interval.low <= 0.3 <= a.interval.high for a in answers)
        sabotaged += any(map(misses_at_95_percent, answers))
    allowed = binom.isf(1e-9, trials, 0.05)
    assert misses <= allowed < sabotaged


def test_pairs_of_columns_are_found_together(tmp_path: Path) -> None:
    with opened(tmp_path, table(), **DESCRIBED) as holdout:
        groups = holdout.ask(holdfast.mean("x > 20", by=["origin", "late"]), discover=True)
        labels = [label for label, _ in groups]
        assert len(labels) == 6
        assert all(a < b for a, b in pairwise(labels))  # type: ignore[operator]
        assert groups["JFK", True].question == "avg(x > 20) where late and origin = 'JFK'"
