"""The last look: exact values with all that is left, and then the ledger is closed."""

from __future__ import annotations

import json
import math
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
from holdfast.statistics.description import Prior
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import clopper_pearson
from holdfast.theory.leakage.nats import post_selected_radius
from tests.seam import transcript_of, write_entry

N = 2_000
RNG = np.random.default_rng(8)
TABLE = pl.DataFrame({"late": RNG.random(N) < 0.3, "x": RNG.random(N), "g": RNG.random(N) < 0.5})
OWN = holdfast.row_function(
    lambda frame: frame["x"], columns=["x"], bounds=(0, 1), name="own", version="1"
)
LATE, BIG = "avg(late)", "avg(x > 0.9)"


def opened(folder: Path, **said: Any) -> Holdout:
    said = {"tolerance": 0.1, "described": "off", "schema": {"x": (0, 1)}, **said}
    return holdfast.open(TABLE, ledger=folder / "t.ledger", **said)


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path) as found:
        yield found


def test_exact_values_at_what_is_left_for_each(holdout: Holdout) -> None:
    first = holdout.ask("avg(x > 0.5)")
    share = math.exp(transcript_of(holdout).account.leakage.log_beta_spent)
    late, big = holdout.final([LATE, BIG], why="the report")
    level = math.log(0.05 - share) - first.cost - math.log(2 * 16 / 15)
    assert late.value == pytest.approx(TABLE["late"].mean())
    for answer, column in ((late, TABLE["late"]), (big, TABLE["x"] > 0.9)):
        expected = clopper_pearson(N, int(column.sum()), level)
        assert tuple(answer.interval) == pytest.approx(tuple(expected), abs=1e-5)
        # Never wider than the radius of section 11.5, but for what other texts could have.
        log_beta = math.log(0.05 - share) - math.log(16 / 15)
        radius = post_selected_radius(BoundedMean(N), log_beta, first.cost, 2)
        assert answer.half_width <= radius * (1 + 1e-6)
    assert late.recorded.why == "the report"


def test_it_ends_everything_but_described_questions(tmp_path: Path) -> None:
    with opened(tmp_path, described="exact") as holdout:
        holdout.final(["avg(x > 0.123456)"])
        for refused in (
            lambda: holdout.ask(LATE, tolerance=0.2),
            lambda: holdout.check(LATE, 0.3),
            lambda: holdout.search("model", size=3),
            lambda: holdout.final([BIG]),
            lambda: holdout.end.final_cost([BIG]),
        ):
            with pytest.raises(BudgetExhausted, match="when a last look was taken"):
                refused()
        assert holdout.ask(BIG).status == "answered"
        assert holdout.budget.remaining == "closed but for text questions"
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_what_was_shown_is_repeated_and_what_is_described_is_known(tmp_path: Path) -> None:
    with opened(tmp_path, described="exact") as holdout:
        described = holdout.ask(LATE)
        known, new, twice = holdout.final([LATE, "avg(x > 0.123456)", "avg(x > 0.123456)"])
        assert (known.status, known.number) == ("repeated", described.number)
        assert new.number == twice.number == 2
        (again,) = holdout.final(["avg(x > 0.123456)"])
        assert (again.status, again.interval) == ("repeated", new.interval)
        assert again.cost == 0


def test_a_noisy_answer_is_looked_at_again(holdout: Holdout) -> None:
    noisy = holdout.ask(LATE)
    (exact,) = holdout.final([LATE])
    assert exact.status == "answered"
    assert exact.value == pytest.approx(TABLE["late"].mean())
    assert exact.half_width < noisy.half_width


def test_every_described_statistic_has_a_last_look(holdout: Holdout) -> None:
    asked = ["avg(x)", "median(x)", "avg(late) where g", "difference(late, g)", "std(x)"]
    found = holdout.final(asked)
    assert found[0].value == pytest.approx(TABLE["x"].mean(), abs=1e-3)
    assert all(answer.half_width < 0.1 for answer in found)


def test_what_it_would_be_is_told_before(holdout: Holdout, tmp_path: Path) -> None:
    cost = holdout.end.final_cost([LATE, "median(x)"])
    assert "a last look at 2 new questions" in str(cost)
    assert "ended for good" in str(cost)
    assert json.loads(json.dumps(cost.to_dict()))["closes"] is True
    assert cost.half_widths[0] is not None
    assert transcript_of(holdout).count == 1
    (answer, _) = holdout.final([LATE, "median(x)"])
    assert answer.half_width <= cost.half_widths[0]
    assert "repeating them is free" in str(holdout.end.final_cost([LATE]))
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ([], "empty"),
        ("avg(late)", "one text"),
        (["avg(nothing)"], "nothing"),
        ([holdfast.mean("late", by="g")], "by"),
        ([holdfast.mean(OWN)], "text"),
    ],
    ids=["none", "text", "unknown", "groups", "function"],
)
def test_what_cannot_be_shown_closes_nothing(holdout: Holdout, questions: Any, said: str) -> None:
    with pytest.raises(HoldfastError, match=said):
        holdout.final(questions)
    assert transcript_of(holdout).count == 1
    assert holdout.ask(LATE).status == "answered"


def test_nothing_is_left_after_all_declared_questions(tmp_path: Path) -> None:
    with opened(tmp_path, questions=2) as holdout:
        holdout.ask(LATE)
        holdout.ask(BIG)
        with pytest.raises(BudgetExhausted, match="remaining 0 after 2 questions"):
            holdout.final(["avg(g)"])


def test_rows_are_needed_before_it_is_closed(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with holdfast.open(ledger=tmp_path / "t.ledger") as without:
        with pytest.raises(InvalidArgument, match="needs the rows"):
            without.final([LATE])
        assert transcript_of(without).count == 1


@pytest.mark.parametrize(
    "changes", [{}, {"share": 0.5}, {"name": "another"}, {"log_beta": -1.0}], ids=str
)
def test_a_second_last_look_or_one_with_a_part_is_tampering(
    holdout: Holdout, changes: dict[str, Any]
) -> None:
    holdout.final([LATE])
    body = transcript_of(holdout).dictionaries.named["last look"].body()
    with pytest.raises(LedgerTampered):
        write_entry(holdout, {**body, **changes})


def test_each_of_many_questions_is_read_a_few_times(
    holdout: Holdout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for every other one: a leaderboard ends with a thousand of them."""
    read, times = Prior.read, 0

    def counted(prior: Prior, question: Any, *text: Any) -> Any:
        nonlocal times
        times += 1
        return read(prior, question, *text)

    monkeypatch.setattr(Prior, "read", counted)
    questions = [f"avg(x > 0.{number:02})" for number in range(1, 41)]
    assert len(holdout.final(questions)) == 40
    assert times <= 3 * 40
