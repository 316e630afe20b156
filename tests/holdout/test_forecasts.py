"""Gates with a forecast on real ledgers: what is entered, forged, crashed, resumed, not tried."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from tests.holdout.candidates import EVEN, GAINS, ROWS, entries, scores
from tests.holdout.tables import Crash, copied, crash, died_at_commit, watch
from tests.ledger.forging import Body, forged, numbers_forged
from tests.ledger.reading import folded
from tests.seam import CHECKPOINT_EVERY


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    table, ledger = pl.DataFrame({"item": range(ROWS)}), tmp_path / "t.ledger"
    with holdfast.open(
        table, name="t", ledger=ledger, key="item", candidates=100, described="off"
    ) as opened:
        for name, values in scores().items():
            opened.attach(name, values, bounds=bool, digest=name)
        yield opened


def test_the_worked_example_on_a_ledger(holdout: Holdout, tmp_path: Path) -> None:
    """Section 13.1: u = .6579, level .0329, .419 nats if it is shown."""
    answer = holdout.gate(GAINS, at_least=0, dev=(40, 10, 1_000))
    assert answer.status == "shown"
    assert answer.forecast == pytest.approx(0.6579, abs=5e-5)
    assert answer.cost == pytest.approx(0.419, abs=5e-4)
    assert str(answer).endswith(" · candidate 1 of 100 · forecast 65.8 %")
    assert "decided at level 0.033" in answer.details
    (reserved,) = entries(tmp_path / "t.ledger", "reserve/2")
    assert reserved["mechanism"] == "forecast gate/1"
    entered = reserved["items"][0]["offer"]["extra"]["forecast"]
    assert (entered["dev"], entered["stated"]) == ([40, 10, 1_000], None)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))
    theorems = {each["name"] for each in holdout.certificate().statement["theorems"]}
    assert {"claim_log_level", "forecast_weights", "sign_test_log_p"} <= theorems
    again = holdout.gate(GAINS, at_least=0, dev=(1, 30, 1_000))
    assert (again.status, again.cost, again.forecast) == ("repeated", 0.0, answer.forecast)


def test_scores_of_both_are_counted_by_item_or_in_order(holdout: Holdout) -> None:
    new, old = {"a": 1.0, "b": 0.0, "c": 1.0, "x": 1.0}, {"c": 0.5, "b": 0.5, "a": 1.0, "y": 0.0}
    by_item = holdout.cost(GAINS, gate=True, at_least=0, dev=[1, 1, 3])
    assert holdout.gate(GAINS, at_least=0, dev=(new, old)).forecast is not None
    entered = holdout.budget.account.memory["forecast gate/1"]["dev"]
    assert list(entered.values()) == [[1, 1, 3]]
    assert by_item.least > 0
    holdout.gate(EVEN, at_least=0, dev=([1, 0, 1], [0, 0, 0]))
    entered = holdout.budget.account.memory["forecast gate/1"]["dev"]
    assert list(entered.values()) == [[1, 1, 3], [2, 0, 3]]


def test_counts_are_on_the_side_of_the_claim_and_beyond_its_margin(holdout: Holdout) -> None:
    holdout.gate(GAINS, at_most=0, dev=(40, 10, 1_000))
    holdout.gate(EVEN, at_least=0.01, dev=(40, 10, 1_000))
    entered = holdout.budget.account.memory["forecast gate/1"]["dev"]
    assert list(entered.values()) == [[10, 40, 1_000], [35, 15, 1_000]]


def test_a_gate_without_a_forecast_is_as_it_was(holdout: Holdout, tmp_path: Path) -> None:
    holdout.gate(GAINS, at_least=0)
    holdout.gate(EVEN, at_least=0)
    for reserved in entries(tmp_path / "t.ledger", "reserve/2"):
        assert reserved["mechanism"] == "gate/1"
        assert set(reserved["items"][0]["offer"]["extra"]) == {"standing", "moment", "alike"}
    assert holdout.budget.account.memory == {}


def test_never_more_than_ln_10_nats_behind_gates_without_forecasts(holdout: Holdout) -> None:
    """On the same symbols, with development rows that say the opposite every time."""
    base_nats, passed = 0.0, 0
    for turn in range(24):
        gains = turn % 6 == 5
        won, lost = (50, 0) if gains else (24 - turn, 26 + turn)  # of 50 items that differ
        new = [place < won or 50 <= place < ROWS for place in range(ROWS)]
        old = [won <= place < won + lost or 50 <= place < ROWS for place in range(ROWS)]
        for name, values in ((f"new{turn}", new), (f"old{turn}", old)):
            holdout.attach(name, values, bounds=bool, digest=name)
        dev = (10, 40, 1_000) if gains else (40, 10, 1_000)
        answer = holdout.gate(f"difference(new{turn}, old{turn})", at_least=0, dev=dev)
        base = (passed + 1) / 101
        shown = answer.status == "shown"
        base_nats += -math.log(base) if shown else -math.log1p(-base)
        passed += shown
        nats = holdout.budget.account.nats
        assert nats <= base_nats + math.log(10) + 1e-3
    assert passed >= 3
    assert nats > base_nats + 1.0, "wrong forecasts cost something"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dev": (40, 10)}, "give \\(better, worse, rows\\)"),
        ({"dev": ({"a": 1}, [1])}, "give \\(better, worse, rows\\)"),
        ({"dev": (40, 10, 20)}, "better \\+ worse"),
        ({"dev": "scores.csv"}, "give \\(better, worse, rows\\)"),
        ({"dev": ([1, 0], [1])}, "2 and 1 scores"),
        ({"dev": ({"7": 1, 8: 0, "a": 1}, {"a": 0})}, "2 items .* id of a protected one"),
        ({"expect": 1.5}, "expect"),
        ({"skip_below": 0.02}, "nothing to forecast by"),
    ],
)
def test_what_is_no_forecast_is_refused(
    holdout: Holdout, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidArgument, match=sentence):
        holdout.gate(GAINS, at_least=0, **options)
    with pytest.raises(InvalidArgument, match="is no difference"):
        holdout.gate("avg(gains)", at_least=0.5, dev=(40, 10, 1_000))
    with pytest.raises(InvalidArgument, match="this is none"):
        holdout.cost(GAINS, expect=0.5)
    assert holdout.budget.account.looks == 0


# What an audit finds ------------------------------------------------------------------------------


def played(holdout: Holdout) -> None:
    holdout.gate(GAINS, at_least=0, dev=(40, 10, 1_000), expect=0.5)
    holdout.gate(EVEN, at_least=0, dev=(25, 25, 1_000))


def test_no_number_of_a_forecast_can_be_another(holdout: Holdout, tmp_path: Path) -> None:
    played(holdout)
    assert numbers_forged(copied(tmp_path / "t.ledger", tmp_path / "forged")) >= 40


def test_a_forecast_that_pleases_is_found(holdout: Holdout, tmp_path: Path) -> None:
    """The weight, and all that follows from it in its own offer."""
    played(holdout)

    def change(bodies: list[Body]) -> None:
        reserved = [body for body in bodies if body["kind"] == "reserve/2"][1]
        offer = reserved["items"][0]["offer"]
        offer["extra"]["forecast"]["weight"] = offer["prior"] = 0.9
        offer["log_p"] = -3.2
        offer["worst_charge"] = 2.31

    (fault,) = forged(copied(tmp_path / "t.ledger", tmp_path / "forged"), change)
    assert "is not what follows from the ledger" in fault


# Crashes and checkpoints --------------------------------------------------------------------------


@pytest.mark.parametrize("commit", [0, 1, 2, 3])
def test_a_process_that_dies_at_any_commit(holdout: Holdout, tmp_path: Path, commit: int) -> None:
    """Two gates take four commits; before each of them the process dies."""
    path = tmp_path / "t.ledger"
    broken = copied(path, tmp_path / "broken")
    played(holdout)
    table = pl.DataFrame({"item": range(ROWS)})
    died_at_commit(broken, table, commit, played)
    left, whole = folded(broken), folded(path)
    known = len(left.answers) + (0 if left.pending is None else len(left.pending.asked))
    nats = [each.leaked for each in whole.answers if each.look is not None]
    assert left.committed.nats >= [*nats, whole.account.nats][known] * (1 - 1e-12)
    with holdfast.open(table, ledger=broken) as resumed:
        played(resumed)
    found = folded(broken)
    assert found.account == whole.account
    assert all(finding.fine for finding in audit(broken))


def test_a_checkpoint_keeps_what_forecasts_remember(
    holdout: Holdout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 1)
    played(holdout)
    holdout.gate(EVEN, at_least=0.001, expect=0.1)
    whole = folded(tmp_path / "t.ledger")
    copy = copied(tmp_path / "t.ledger", tmp_path / "copy")
    with holdfast.open(ledger=copy) as resumed:
        assert resumed.budget.account == whole.account
        assert "forecast gate/1" in resumed.budget.account.memory


# Not tried ----------------------------------------------------------------------------------------


def test_what_is_not_tried_is_free_and_listed(holdout: Holdout, tmp_path: Path) -> None:
    answer = holdout.gate(EVEN, at_least=0, dev=(20, 30, 1_000), skip_below=0.02, why="a try")
    assert (answer.status, answer.value, answer.cost) == ("not tried", None, 0.0)
    assert answer.forecast is not None
    assert answer.forecast < 0.02
    assert answer.to_dict()["number"] is None
    assert "nothing was asked or charged" in str(answer)
    (listed,) = entries(tmp_path / "t.ledger", "untried/1")
    assert (listed["dev"], listed["why"], listed["forecast"]) == (
        [20, 30, 1_000],
        "a try",
        answer.forecast,
    )
    account = holdout.budget.account
    assert (account.nats, account.gates, account.looks) == (0.0, 0, 0)
    assert len(account.memory["forecast gate/1"]["dev"]) == 1
    tried = holdout.gate(EVEN, at_least=0, dev=(20, 30, 1_000))
    assert tried.status == "not shown"
    assert len(holdout.budget.account.memory["forecast gate/1"]["dev"]) == 1
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_what_is_likely_is_tried_and_what_was_tried_is_told(holdout: Holdout) -> None:
    assert holdout.gate(GAINS, at_least=0, dev=(40, 10, 1_000), skip_below=0.02).status == "shown"
    told = holdout.gate(GAINS, at_least=0, dev=(10, 40, 1_000), skip_below=0.5)
    assert told.status == "repeated"


def test_what_was_begun_is_tried(holdout: Holdout, tmp_path: Path) -> None:
    """A gate that died was paid for: it is finished, and is no candidate that was not tried."""
    faults = [crash]

    def once() -> None:
        if faults:
            faults.pop()()

    watch(holdout, once)
    with pytest.raises(Crash):
        holdout.gate(EVEN, at_least=0, dev=(20, 30, 1_000))
    told = holdout.gate(EVEN, at_least=0, dev=(20, 30, 1_000), skip_below=0.02)
    assert told.status == "not shown"
    assert not entries(tmp_path / "t.ledger", "untried/1")
