"""One side of what only its text describes: differences, effects, groups, missing values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.ledger.audit import audit
from tests.holdout.tables import copied, died_at_commit
from tests.ledger.forging import write
from tests.ledger.reading import rows_of

EFFECT = "effect(well, arm)"


def _table() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    arm = rng.choice(["control", "treated"], 4_000)
    well = rng.random(4_000) < np.where(arm == "treated", 0.7, 0.5)
    age = pl.Series(rng.normal(50, 10, 4_000)).clip(0, 100)
    return pl.DataFrame(
        {
            "arm": arm,
            "well": well,
            "age": [None if place % 9 == 0 else a for place, a in enumerate(age)],
        }
    )


TABLE = _table()


@pytest.fixture
def holdout(tmp_path: Path) -> holdfast.Holdout:
    schema = {"arm": {"values": ["control", "treated"]}, "age": (0, 100)}
    return holdfast.open(TABLE, ledger=tmp_path / "trial.ledger", schema=schema, planned=[EFFECT])


def test_an_effect_is_shown_by_its_description(holdout: holdfast.Holdout) -> None:
    shown = holdout.gate(EFFECT, at_least=0)
    assert shown.status == "shown"
    assert shown.interval.low > 0
    assert holdout.ask(EFFECT).interval == shown.interval  # the same look, free
    assert holdout.ask(EFFECT).cost == 0


def test_what_the_interval_does_not_exclude_is_not_shown(holdout: holdfast.Holdout) -> None:
    low, high = holdout.ask(EFFECT).interval
    for side, bound, status in (
        ("at_least", low, "not shown"),  # strictly
        ("at_least", low - 1e-9, "shown"),
        ("at_most", high, "not shown"),
        ("at_most", high + 1e-9, "shown"),
    ):
        assert holdout.gate(EFFECT, **{side: bound}).status == status  # type: ignore[arg-type]


@pytest.mark.parametrize("question", ["avg(well) where arm = 'treated'", "avg(age)", "median(age)"])
def test_groups_medians_and_columns_with_missing_values_are_gated(
    holdout: holdfast.Holdout, question: str
) -> None:
    value = holdout.ask(question).value
    assert value is not None
    assert holdout.gate(question, at_least=value / 2).status == "shown"
    assert holdout.check(question, at_least=value / 3).status == "confirmed"
    assert holdout.gate(question, at_least=value * 1.2).status == "not shown"


def test_the_lines_of_gates_follow_from_their_looks(
    holdout: holdfast.Holdout, tmp_path: Path
) -> None:
    holdout.gate(EFFECT, at_least=0, why="primary endpoint")
    holdout.gate(EFFECT, at_least=0.9)
    holdout.close()
    assert all(finding.fine for finding in audit(tmp_path / "trial.ledger"))
    with holdfast.open(ledger=tmp_path / "trial.ledger") as again:
        statuses = [line["status"] for line in again.ledger.to_dicts()]
    assert statuses == ["shown", "not shown"]


def test_a_described_gate_is_one_line_with_its_verdict(
    holdout: holdfast.Holdout, tmp_path: Path
) -> None:
    shown = holdout.gate(EFFECT, at_least=0)
    assert "candidate" not in str(shown)
    (line,) = holdout.ledger
    assert (line.number, line.status, line.charge) == (1, "shown", shown.cost)
    (part,) = holdout.ledger.parts(line)
    assert (part.number, part.status, part.interval) == (None, "answered", shown.interval)
    assert "look 1" in holdout.ledger.to_text(parts=True)
    assert "look 1" not in holdout.ledger.to_text()
    assert [row["status"] for row in holdout.ledger.to_dicts()] == ["shown"]
    rows = holdout.certificate().statement["answers"]
    assert [(row["status"], row["part_of"] is None) for row in rows] == [
        ("shown", True),
        ("answered", False),
    ]
    asked = holdout.ask(EFFECT)  # the answer itself, which nobody asked for until now
    assert (asked.status, asked.interval, asked.cost) == ("answered", shown.interval, 0.0)
    assert holdout.ask(EFFECT).repeated
    assert holdout.gate(EFFECT, at_least=0).repeated
    assert holdout.check(EFFECT, at_least=0).status == "confirmed"
    assert [row["status"] for row in holdout.ledger.to_dicts()] == [
        "shown",
        "answered",
        "confirmed",
    ]
    assert holdout.budget.account.described == 1
    assert all(finding.fine for finding in audit(tmp_path / "trial.ledger"))


def test_a_look_that_settles_no_claim_cannot_be_folded(
    holdout: holdfast.Holdout, tmp_path: Path
) -> None:
    holdout.ask(EFFECT)
    holdout.close()
    forged = copied(tmp_path / "trial.ledger", tmp_path / "forged")
    bodies = [json.loads(text) for _, text, _ in rows_of(forged)]
    bodies[1]["items"][0]["folded"] = True
    write(forged, bodies)
    assert "there is no claim that it settles" in "".join(map(str, audit(forged)))


@pytest.mark.parametrize("commit", range(2))
def test_a_process_that_dies_in_a_described_gate(
    holdout: holdfast.Holdout, tmp_path: Path, commit: int
) -> None:
    broken = copied(tmp_path / "trial.ledger", tmp_path / "broken")
    whole = holdout.gate(EFFECT, at_least=0)
    died_at_commit(broken, TABLE, commit, lambda half: half.gate(EFFECT, at_least=0))
    with holdfast.open(TABLE, ledger=broken) as resumed:
        again = resumed.gate(EFFECT, at_least=0)
        assert (again.status, again.interval) == ("shown", whole.interval)
        assert [row["status"] for row in resumed.ledger.to_dicts()] == ["shown"]
        assert resumed.budget.account.described == 1
    assert all(finding.fine for finding in audit(broken))


def test_a_gate_of_what_has_neither_a_side_nor_a_description_is_refused(
    tmp_path: Path,
) -> None:
    frame = pl.DataFrame({"x": [0.1, 0.9] * 50, "g": [True, False] * 50})
    with holdfast.open(
        frame, ledger=tmp_path / "off.ledger", schema={"x": (0, 1)}, described="off"
    ) as plain:
        with pytest.raises(InvalidArgument, match="one side can be claimed"):
            plain.gate("rmse(x, 2 * x)", at_least=0.2)
        assert plain.ledger.to_dicts() == []


def test_verdicts_that_follow_are_no_candidates(holdout: holdfast.Holdout) -> None:
    holdout.ask("avg(well)")
    for question in ("avg(well)", "median(age)"):  # of an answer, and of what only text describes
        shown = holdout.gate(question, at_least=0.1)
        assert "candidate" not in str(shown)
        assert ("follows from earlier answers" in str(shown)) is (question == "avg(well)")
    holdout.check("avg(arm = 'treated')", guess=0.5)
    holdout.gate("avg(arm = 'treated')", at_least=0.1)
    assert "candidate 1" in str(holdout.gate("avg(arm = 'control')", at_least=0.1))
