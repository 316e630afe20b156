"""Gates and checks as people use them: what is shown, what it costs, and what a "no" says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import BudgetExhausted, InvalidArgument, SaysNothing, ToleranceTooTight
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from tests.cli.run import holdfast as command
from tests.holdout.tables import untouchable, watch

ROWS = 4_000
BETTER = "difference(better = label, base = label)"


def items() -> tuple[pl.DataFrame, dict[str, list[bool]]]:
    rng = np.random.default_rng(8)
    label = rng.random(ROWS) < 0.5
    said = {
        name: np.where(rng.random(ROWS) < right, label, ~label).tolist()
        for name, right in (("base", 0.8), ("same", 0.8), ("better", 0.87))
    }
    said["near"] = [not said["base"][0], *said["base"][1:]]  # another answer to one item
    return pl.DataFrame({"item": range(ROWS), "label": label}), said


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    table, said = items()
    ledger = tmp_path / "t.ledger"
    with holdfast.open(table, name="t", ledger=ledger, key="item", candidates=4) as opened:
        for name, values in said.items():
            opened.attach(name, values)
        yield opened


def test_what_is_better_is_shown_and_what_is_not_costs_next_to_nothing(holdout: Holdout) -> None:
    worse = holdout.gate("difference(same = label, base = label)", at_least=0, why="a try")
    assert (worse.status, worse.value, worse.bound) == ("not shown", None, 0.0)
    assert 0 < worse.cost < 0.3
    with pytest.raises(SaysNothing, match="is not shown"):
        float(worse)
    shown = holdout.gate(BETTER, at_least=0)
    assert (shown.status, shown.bound) == ("shown", 0.0)
    assert shown.interval.low > 0.0
    assert shown.interval.high == 1.0
    assert shown.cost > 1
    assert holdout.gate(BETTER, at_least=0.02).status == "shown", "a margin, by bets"
    assert "2 of 3 candidates shown; 1 candidate left" in str(holdout.budget)
    assert str(worse).startswith("not shown > 0 · ")
    assert str(shown).startswith("shown > 0 · ")


@pytest.mark.parametrize("differing", [None, 0.25])
def test_a_gate_at_any_bound_goes_by_one_end_alone(tmp_path: Path, differing: float | None) -> None:
    """With a guess of the rows that differ and without, on either side."""
    table, said = items()
    table = table.with_columns(**{name: pl.Series(values) for name, values in said.items()})
    other = "difference(base = label, better = label)"
    for key in (None, "item"):
        with holdfast.open(table, ledger=tmp_path / f"{key}.ledger", key=key) as holdout:
            for bound in (-0.02, 0.0, 0.02):
                found = holdout.gate(BETTER, at_least=bound, differing=differing)
                assert found.status == "shown", bound
                found = holdout.gate(other, at_most=-bound, differing=differing)
                assert found.status == "shown", bound
            assert holdout.gate(BETTER, at_least=0.06, differing=differing).status == "not shown"


def test_it_is_known_before_what_a_gate_costs(holdout: Holdout) -> None:
    watched = watch(holdout, untouchable)
    cost = holdout.cost(BETTER, at_least=0, gate=True)
    assert "takes one candidate, with 4 candidates left now" in str(cost)
    del watched
    assert 0 < cost.least < 0.3 < cost.most
    for claim in ({}, {"guess": 0.1}, {"at_least": 0, "at_most": 1}):
        with pytest.raises(InvalidArgument, match="gate takes one of"):
            holdout.cost(BETTER, gate=True, **claim)


def test_the_same_gate_is_free_and_another_bound_is_another_gate(holdout: Holdout) -> None:
    first = holdout.gate("difference(same = label, base = label)", at_least=0)
    watched = watch(holdout, untouchable)
    again = holdout.gate("difference(same = label, base = label)", at_least=0)
    assert (again.status, again.cost, again.number) == ("not shown", 0.0, first.number)
    assert holdout.budget.account.gates == 1
    assert watched.scans == []


def test_candidates_beyond_the_declared_are_refused(holdout: Holdout) -> None:
    for bound in (0.1, 0.2, 0.3, 0.4):
        holdout.gate("avg(base = label)", at_least=0.5 + bound)
    watch(holdout, untouchable)
    with pytest.raises(BudgetExhausted, match=r"candidate 5; remaining 0 of the 4 declared; mis"):
        holdout.gate("avg(base = label)", at_least=0.95)


def test_so_few_differing_rows_are_told_before_anything_is_spent(holdout: Holdout) -> None:
    watch(holdout, untouchable)
    with pytest.raises(ToleranceTooTight, match=r"of 4,000 rows, of which 1 differ; even if all"):
        holdout.gate("difference(near = label, base = label)", at_least=0)
    assert holdout.budget.nats == 0.0


def test_of_a_computed_column_no_share_of_rows_is_public(holdout: Holdout) -> None:
    _, said = items()
    values = [float(each) for each in said["better"]]
    holdout.attach("scored", values, digest="0" * 40, bounds=(0, 1))
    found = holdout.gate("difference((scored > 0.5) = label, base = label)", at_least=0)
    assert found.status == "shown"


def test_who_declares_candidates_keeps_more_for_them(tmp_path: Path) -> None:
    table, _ = items()
    for candidates, described in ((None, "exact"), (9, "rounded")):
        ledger = tmp_path / f"{described}.ledger"
        with holdfast.open(table, ledger=ledger, candidates=candidates) as holdout:
            assert holdout.opening.terms.described == described


def test_a_gate_takes_one_bound(holdout: Holdout) -> None:
    for least, most in ((None, None), (0.1, 0.2)):
        with pytest.raises(InvalidArgument, match="gate takes one of at_most= and at_least="):
            holdout.gate("avg(label)", at_least=least, at_most=most)
    for differing in (0.0, 1.5, float("nan")):
        with pytest.raises(InvalidArgument, match="differing"):
            holdout.gate(BETTER, at_least=0, differing=differing)


def test_an_earlier_answer_shows_it_for_nothing(holdout: Holdout) -> None:
    holdout.ask(BETTER, tolerance=0.06)
    spent = holdout.budget.nats
    found = holdout.gate(BETTER, at_least=-0.2)
    assert (found.status, found.recorded.request.verb) == ("shown", "gate")
    assert (found.cost, holdout.budget.nats) == (0.0, spent)


def test_what_is_not_confirmed_is_answered_by_its_description(tmp_path: Path) -> None:
    table, _ = items()
    with holdfast.open(table, name="t", ledger=tmp_path / "t.ledger", described="exact") as exact:
        found = exact.check("avg(label)", guess=0.9, tolerance=0.02)
        own = exact.ask("avg(label)")
    assert (found.status, found.value) == ("not confirmed", table["label"].mean())
    assert [part.status for part in found.parts] == ["not confirmed", "answered"]
    assert own.interval == found.interval
    assert (own.status, own.cost) == ("repeated", 0.0)


def test_a_check_that_cannot_be_answered_says_that_it_is_not_confirmed(holdout: Holdout) -> None:
    for bound in range(40):  # what leaks leaves no answer at the declared half-width
        holdout.check(f"avg(base = label and item > {bound})", guess=0.1, tolerance=0.01)
    last = holdout.check("avg(same = label)", guess=0.3, tolerance=0.001)
    assert (last.status, last.value) == ("not confirmed", None)
    assert "about 0.3, and not answered" in str(last)


def test_all_of_it_is_made_again_by_the_audit(holdout: Holdout, tmp_path: Path) -> None:
    holdout.gate(BETTER, at_least=0)
    holdout.check("avg(base = label)", guess=0.8, tolerance=0.03)
    holdout.check("avg(same = label)", guess=0.2, tolerance=0.03)
    holdout.check_many(
        ["avg(base = label and item > 9)", "avg(same = label and item > 9)"], [0.1, 0.8]
    )
    holdout.gate("avg(better = label)", at_most=0.5)
    holdout.close()
    assert [each for each in audit(tmp_path / "t.ledger") if not each.fine] == []


def test_the_exit_code_tells(holdout: Holdout, tmp_path: Path) -> None:
    table, _ = items()
    table.write_parquet(tmp_path / "t.parquet")
    holdout.close()
    words = ("gate", "t", BETTER, "--data", "t.parquet")
    assert command(*words, "--at-least", "0", cwd=tmp_path).returncode == 0
    assert command(*words, "--at-least", "0.2", cwd=tmp_path).returncode == 5
    assert command(*words, cwd=tmp_path).returncode == 2
    few = ("gate", "t", "difference(near = label, base = label)", "--at-least", "0")
    assert command(*few, cwd=tmp_path).returncode == 3
