"""A retired ledger: what was answered stays, and nothing new is answered."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import InvalidArgument, LedgerTampered, Retired
from holdfast.ledger.audit import audit
from holdfast.ledger.entries import closing, retirement
from tests.holdout.tables import LATE, opened, table
from tests.seam import CHECKPOINT_EVERY, store_of, write_entry


def test_nothing_new_is_answered_and_repeats_are_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 1)
    with opened(tmp_path, table(), tolerance=0.2, questions=20, described="exact") as holdout:
        first = holdout.ask(LATE)
        holdout.end.retire(why="new rows have come", successor="flights-2027")
        nats = holdout.budget.nats
        assert holdout.ask(LATE).value == first.value
        for question in ("avg(x > 20)", "avg(unit > 30)"):
            with pytest.raises(Retired, match=r"retired at .*: new rows have come"):
                holdout.ask(question)
        for retry in (holdout.cost, holdout.ask):
            with pytest.raises(Retired, match="ask new ones of 'flights-2027'"):
                retry("avg(x > 20)", tolerance=0.15)
        with pytest.raises(Retired):
            holdout.check("avg(x > 20)", guess=0.5)
        with pytest.raises(InvalidArgument, match=r"was retired at .* already"):
            holdout.end.retire(why="again")
        assert holdout.budget.nats == nats
    with opened(tmp_path, table()) as again:
        with pytest.raises(Retired) as refused:
            again.ask("avg(x > 20)")
        assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
        assert "retired" in str(again.budget)
        assert again.budget.remaining == "retired"
        assert "for everything: new rows have come" in again.explain()
        findings = {each.what: each for each in audit(store_of(again).home)}
        assert findings["retired"].fine
        assert all(each.fine for each in findings.values())


@pytest.mark.parametrize(
    "late",
    [closing("2026-02-01", "x"), retirement("2026-02-01", "x", None)],
    ids=lambda e: e["kind"],
)
def test_a_ledger_retires_once_closed_or_not(tmp_path: Path, late: dict[str, Any]) -> None:
    with opened(tmp_path, table(), tolerance=0.2) as holdout:
        write_entry(holdout, closing("2026-01-01T00:00:00+00:00", "groups were discovered"))
        holdout.end.retire(why="it is full")
        closed = holdout.budget.account.closed
        assert closed is not None
        assert closed.retired
        assert closed.successor is None
        with pytest.raises(LedgerTampered, match="closed again"):
            write_entry(holdout, late)


@pytest.mark.parametrize("said", [{"why": ""}, {"why": "full", "successor": ""}])
def test_why_and_the_successor_are_texts(tmp_path: Path, said: dict[str, str]) -> None:
    with opened(tmp_path, table(), tolerance=0.2) as holdout:
        with pytest.raises(InvalidArgument, match="it must be text"):
            holdout.end.retire(**said)
        assert holdout.budget.account.closed is None
