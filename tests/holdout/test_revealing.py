"""The exact value of one statistic at the end, and then the ledger is closed."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import BudgetExhausted, HoldfastError, InvalidArgument, LedgerTampered
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.entries import revelation
from holdfast.theory.base.concentration import BoundedMean, SubGaussian
from holdfast.theory.leakage.nats import post_selected_radius
from tests.ledger.forging import forged
from tests.seam import transcript_of, write_entry

N = 2_000
RNG = np.random.default_rng(8)
TABLE = pl.DataFrame({"late": RNG.random(N) < 0.3, "x": RNG.random(N), "g": RNG.random(N) < 0.5})
LATE, BIG = "avg(late)", "avg(x > 0.9)"
OWN = holdfast.mean(
    holdfast.row_function(
        lambda frame: frame["x"] ** 2, columns=["x"], bounds=(0, 1), name="own", version="1"
    )
)
SPREAD = holdfast.statistic(
    lambda frame: float(frame["x"].to_numpy().std()),
    columns=["x"],
    bounds=(0, 1),
    name="spread",
    sigma=0.01,
)


def opened(folder: Path, **said: Any) -> Holdout:
    said = {"tolerance": 0.1, "described": "off", "schema": {"x": (0, 1)}, **said}
    return holdfast.open(TABLE, ledger=folder / "t.ledger", **said)


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path) as found:
        yield found


def test_an_exact_value_at_all_that_is_left(holdout: Holdout, tmp_path: Path) -> None:
    first = holdout.ask("avg(x > 0.5)")
    share = math.exp(transcript_of(holdout).account.leakage.log_beta_spent)
    answer = holdout.end.reveal(OWN, why="the report")
    assert answer.status == "answered"
    assert answer.value == pytest.approx((TABLE["x"] ** 2).mean(), abs=1e-6)
    assert answer.recorded.why == "the report"
    radius = post_selected_radius(BoundedMean(N), math.log(0.05 - share), first.cost)
    assert 0.8 * radius < answer.half_width <= radius * (1 + 1e-6)
    assert "exact value, after which" in holdout.explain()
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


@pytest.mark.parametrize(
    ("question", "value"),
    [(LATE, TABLE["late"].mean()), (SPREAD, TABLE["x"].to_numpy().std()), ("avg(x) where g", None)],
    ids=["condition", "table", "group"],
)
def test_any_statistic_that_one_number_answers(
    holdout: Holdout, question: Any, value: float | None
) -> None:
    if value is None:
        with pytest.raises(HoldfastError, match="several numbers"):
            holdout.end.reveal(question)
        assert transcript_of(holdout).count == 1
        return
    answer = holdout.end.reveal(question)
    assert answer.value == pytest.approx(value)
    log_p = math.log(0.05)
    widest = SubGaussian(0.01) if question is SPREAD else BoundedMean(N)
    assert answer.half_width <= widest.radius(log_p) * (1 + 1e-6)


def test_it_ends_everything_but_described_questions(tmp_path: Path) -> None:
    with opened(tmp_path, described="exact") as holdout:
        revealed = holdout.end.reveal(OWN)
        for refused in (
            lambda: holdout.ask(LATE, tolerance=0.2),
            lambda: holdout.check(LATE, 0.3),
            lambda: holdout.search("model", size=3),
            lambda: holdout.final([BIG]),
            lambda: holdout.end.reveal(BIG),
            lambda: holdout.end.reveal_cost(BIG),
        ):
            with pytest.raises(BudgetExhausted, match="the exact value of a statistic"):
                refused()
        assert holdout.ask(BIG).status == "answered"
        assert holdout.budget.remaining == "closed but for text questions"
        again = holdout.end.reveal(OWN)
        assert (again.status, again.interval, again.cost) == ("repeated", revealed.interval, 0)
        assert "repeating it is free" in str(holdout.end.reveal_cost(OWN))
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_what_it_would_be_is_told_before(holdout: Holdout) -> None:
    cost = holdout.end.reveal_cost(LATE)
    assert "by leakage" in str(cost)
    assert "ended for good" in str(cost)
    assert json.loads(json.dumps(cost.to_dict()))["closes"] is True
    assert transcript_of(holdout).count == 1
    answer = holdout.end.reveal(LATE)
    assert cost.half_width is not None
    assert answer.half_width <= cost.half_width


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_answers_that_were_stable_leave_more_by_near_independence(tmp_path: Path, law: str) -> None:
    rows = pl.DataFrame({"x": np.random.default_rng(9).random(60_000)})
    said: dict[str, Any] = {
        "schema": {"x": (0, 1)},
        "mechanism": f"typical {law}",
        "questions": 12,
        "options": {"eta": 0.3 if law == "laplace" else 1.0, "nu": 1e-8, "reveal": 0.25},
    }
    with holdfast.open(rows, ledger=tmp_path / "t.ledger", **said) as holdout:
        holdout.ask_many([f"avg(x > {place / 13})" for place in range(1, 13)])
        with pytest.raises(BudgetExhausted):
            holdout.ask("avg(x > 0.99)")
        cost = holdout.end.reveal_cost("avg(x)")
        assert (cost.by, cost.leakage) == ("near independence", 0.0)
        assert "of it 1.25 % for a statistic revealed at the end" in holdout.explain()
        answer = holdout.end.reveal("avg(x)")
        assert answer.interval.low < rows["x"].mean() < answer.interval.high  # type: ignore[operator]
        assert answer.half_width < 0.01
        assert answer.half_width <= (cost.half_width or 0.0) * (1 + 1e-6)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reveal": 0.25}, "reveal= goes with eta="),
        ({"eta": 0.3, "reveal": 0.0}, "reveal"),
        ({"eta": 0.3, "reveal": 1.5}, "reveal"),
        ({"eta": 0.3, "reveal": math.nan}, "reveal"),
        ({"eta": 0.3, "reveal": 0.25}, "greatest number"),
    ],
    ids=str,
)
def test_what_is_kept_for_it_is_a_part_of_a_finite_plan(
    tmp_path: Path, options: dict[str, float], said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        opened(tmp_path, mechanism="typical laplace", options=options)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("avg(nothing)", "nothing"),
        (holdfast.mean("late", by="g"), "by"),
        ("median(x)", "several numbers"),
        ("", "empty"),
        (7, "not int"),
    ],
    ids=str,
)
def test_what_cannot_be_shown_closes_nothing(holdout: Holdout, question: Any, said: str) -> None:
    with pytest.raises(HoldfastError, match=said):
        holdout.end.reveal(question)
    assert transcript_of(holdout).count == 1
    assert holdout.ask(LATE).status == "answered"


def test_ledgers_that_do_not_count_leakage_reveal_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, mechanism="gaussian", tolerance=None, questions=5) as holdout:
        with pytest.raises(InvalidArgument, match="does not count what leaks"):
            holdout.end.reveal(LATE)
        assert transcript_of(holdout).count == 1


def test_nothing_is_left_after_all_declared_questions(tmp_path: Path) -> None:
    with opened(tmp_path, questions=2) as holdout:
        holdout.ask(LATE)
        holdout.ask(BIG)
        with pytest.raises(BudgetExhausted, match="would say nothing"):
            holdout.end.reveal("avg(g)")
        assert holdout.ask(LATE).status == "repeated"


def test_rows_are_needed_before_it_is_closed(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with holdfast.open(ledger=tmp_path / "t.ledger") as without:
        with pytest.raises(InvalidArgument, match="needs the rows"):
            without.end.reveal(LATE)
        assert transcript_of(without).count == 1


def test_a_second_one_and_one_of_something_else_are_tampering(holdout: Holdout) -> None:
    holdout.end.reveal(LATE)
    with pytest.raises(LedgerTampered, match="closed again"):
        write_entry(holdout, revelation("2026-01-01T00:00:00+00:00", LATE))


@pytest.mark.parametrize(
    "changes",
    [
        {"log_p": -1.0},
        {"radius": 0.001, "tolerance": 0.001},
        {"log_share": -2.0},
        {"extra": {"by": "near independence", "way": "binomial", "rows": N, "error": 0.0}},
        {"extra": {"by": "leakage", "way": "binomial", "rows": 10 * N, "error": 2.0**-50}},
    ],
    ids=str,
)
def test_another_level_or_interval_is_found_by_an_audit(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    with opened(tmp_path) as holdout:
        holdout.ask("avg(x > 0.5)")
        holdout.end.reveal(LATE)

    def change(bodies: list[dict[str, Any]]) -> None:
        reserved = [body for body in bodies if body["kind"] == "reserve/2"]
        reserved[-1]["items"][0]["offer"].update(changes)

    assert forged(tmp_path / "t.ledger", change)


def test_a_revelation_that_names_something_else_is_found(tmp_path: Path) -> None:
    with opened(tmp_path) as holdout:
        holdout.end.reveal(LATE)

    def change(bodies: list[dict[str, Any]]) -> None:
        (body,) = (body for body in bodies if body["kind"] == "reveal/1")
        body["question"] = BIG

    assert any("refused" in fault for fault in forged(tmp_path / "t.ledger", change))


KILLED = """
import os, signal, sys
import polars as pl
import holdfast
from holdfast.ledger.store import Store

folder, entry, question = sys.argv[1:]
append = Store.append

def dying(self, entries, *said):
    rows = append(self, entries, *said)
    if entries[0][0]["kind"] == entry:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows

Store.append = dying
own = holdfast.mean(holdfast.row_function(
    lambda frame: frame["x"] ** 2, columns=["x"], bounds=(0, 1), name="own", version="1"))
with holdfast.open(pl.read_parquet(folder + "/t.parquet"), ledger=folder + "/t.ledger") as holdout:
    holdout.end.reveal(own if question == "own" else question)
"""


@pytest.mark.parametrize("question", [LATE, "own"])
@pytest.mark.parametrize("entry", ["reveal/1", "settle/2"])
def test_what_a_killed_process_left_is_finished_by_another(
    tmp_path: Path, entry: str, question: str
) -> None:
    with opened(tmp_path):
        TABLE.write_parquet(tmp_path / "t.parquet")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), entry, question],
        check=False,
        capture_output=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    with opened(tmp_path) as holdout:
        assert (transcript_of(holdout).pending is not None) == (entry == "reveal/1")
        assert holdout.budget.questions_left == 0
        found = holdout.end.reveal(OWN if question == "own" else question)
        assert found.status == "repeated"
        exact = TABLE["x"] ** 2 if question == "own" else TABLE["late"]
        assert found.value == pytest.approx(exact.mean(), abs=1e-6)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))
