"""Development scores of an evaluation loop: what they forecast, and what they may not be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.ledger.audit import audit
from tests.cli.run import holdfast as command
from tests.theory.coverage import most_failures

N = DEV = 1_000


def gate_in(folder: Path) -> holdfast.EvalGate:
    items = pl.DataFrame({"item": [f"q{number}" for number in range(N)]})
    return holdfast.EvalGate(items, key="item", ledger=folder / "bench.ledger", candidates=100)


def scores(right: np.ndarray, prefix: str = "q") -> dict[str, int]:
    return {f"{prefix}{number}": int(each) for number, each in enumerate(right)}


def runs(better: int, worse: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A candidate and its incumbent: so many items on which one alone is right."""
    new, old = np.ones(rows, dtype=bool), np.ones(rows, dtype=bool)
    old[:better], new[better : better + worse] = False, False
    return new, old


@pytest.fixture
def gate(tmp_path: Path) -> holdfast.EvalGate:
    """An incumbent with development scores: right on all items but the first 40 of both."""
    gate = gate_in(tmp_path)
    _, old = runs(40, 10, N)
    gate.submit("main", scores(old), dev=scores(old, "d"))
    gate.promote("main")
    return gate


def test_development_scores_of_both_forecast_the_comparison(
    gate: holdfast.EvalGate, tmp_path: Path
) -> None:
    """Section 13.1: dev 40 : 10 of 1,000, the first of 100 candidates, beta .05."""
    new, _ = runs(40, 10, N)
    gate.submit("v1", scores(new), dev=scores(new, "d"))
    verdict = gate.compare("v1")
    assert verdict.promote
    assert verdict.forecast == pytest.approx(0.6579, abs=5e-5)
    assert verdict.level == pytest.approx(0.0329, abs=5e-5)
    assert gate.history()[-1].charge == pytest.approx(0.419, abs=5e-4)
    assert " · candidate 1 of 100 · forecast 65.8 % · " in str(verdict)
    assert verdict.details == f"decided at level 0.033 · receipt {verdict.receipt}"
    assert "the next without a forecast shows" in str(verdict)
    assert verdict.to_dict()["forecast"] == verdict.forecast
    assert "| forecast | forecast 65.8 %" in verdict.to_markdown()
    assert all(finding.fine for finding in audit(tmp_path / "bench.ledger"))


def test_without_development_scores_nothing_is_forecast(gate: holdfast.EvalGate) -> None:
    new, _ = runs(40, 10, N)
    gate.submit("v1", scores(new))
    verdict = gate.compare("v1", skip_below=0.5)
    assert (verdict.forecast, verdict.level, verdict.tried) == (None, None, True)
    assert "forecast" not in str(verdict)


def test_damaged_scores_are_no_forecast(gate: holdfast.EvalGate, tmp_path: Path) -> None:
    new, _ = runs(40, 10, N)
    gate.submit("v1", scores(new), dev=scores(new, "d"))
    kept = list(tmp_path.rglob("dev-*.scores"))
    assert len(kept) == 2
    assert all(file.stat().st_mode & 0o77 == 0 for file in kept), "for their owner only"
    kept[0].write_bytes(b"{")
    assert gate.compare("v1").forecast is None


@pytest.mark.parametrize(
    ("dev", "sentence"),
    [
        ({"q1": 1, "q2": 0, "d1": 1}, "2 items .*'q1', 'q2'.* id of a protected one"),
        ([1, 0, 1], "3 scores without items"),
    ],
)
def test_development_items_are_others(gate: holdfast.EvalGate, dev: object, sentence: str) -> None:
    new, _ = runs(40, 10, N)
    with pytest.raises(InvalidArgument, match=sentence):
        gate.submit("v1", scores(new), dev=dev)
    assert [column.name for column in gate.holdout.columns] == ["main"], "nothing was submitted"
    with pytest.raises(InvalidArgument, match="without scores"):
        gate.submit("v1")


def test_what_development_scores_speak_against_is_not_tried(gate: holdfast.EvalGate) -> None:
    new = runs(40, 10, N)[1].copy()
    new[100:140] = False  # worse on 40, better on none
    gate.submit("v1", scores(new), dev=scores(new, "d"))
    verdict = gate.promote_if_better("v1", skip_below=0.02)
    assert (verdict.status, verdict.promote, verdict.looks, verdict.left) == (
        "not tried",
        False,
        0,
        100,
    )
    assert str(verdict).startswith("not tried: that v1 is better than main")
    assert "so nothing was charged" in str(verdict)
    assert gate.history() == []


def test_items_of_a_category_are_not_forecast_by_all(gate: holdfast.EvalGate) -> None:
    new, _ = runs(40, 10, N)
    gate.submit("v1", scores(new), dev=scores(new, "d"))
    assert gate.compare("v1", where="item != 'q7'").forecast is None


# Stops on development items ----------------------------------------------------------------------


def test_a_candidate_goes_on_while_it_does_well(gate: holdfast.EvalGate) -> None:
    """Section 13.7: looks at a quarter and a half."""
    new = dict.fromkeys((f"d{number}" for number in range(DEV)), 1)
    seen: list[object] = []
    for many in (250, 250, 500, 0):
        wanted = gate.next_items("v1")
        assert len(wanted) == many
        assert not set(wanted) & set(seen)
        seen += wanted
        if wanted:
            gate.submit("v1", dev={item: new[str(item)] for item in wanted})
    assert set(seen) == set(new)
    assert gate.holdout.budget.account.memory == {}


def test_one_that_does_not_is_stopped_and_listed_once(
    gate: holdfast.EvalGate, tmp_path: Path
) -> None:
    gate.submit("v1", dev=dict.fromkeys(gate.next_items("v1"), 0))
    assert gate.next_items("v1") == []
    assert gate.next_items("v1") == []
    (counts,) = gate.holdout.budget.account.memory["forecast gate/1"]["dev"].values()
    assert counts[2] == 250
    assert gate.holdout.budget.account.nats == 0.0
    assert all(finding.fine for finding in audit(tmp_path / "bench.ledger"))


# The command line --------------------------------------------------------------------------------


def test_the_same_at_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    new, old = runs(40, 10, N)
    for name, right in (("old", old), ("new", new)):
        for prefix in "qd":
            table = {"item": list(scores(right, prefix)), "score": right.astype(int)}
            pl.DataFrame(table).write_csv(f"{name}-{prefix}.csv")
    items = pl.DataFrame({"item": list(scores(old))})
    items.write_csv("items.csv")
    init = "init items.csv --name bench --key item --candidates 100 --described off"
    assert command(*init.split()).returncode == 0
    first = "gate bench old-q.csv --as main --first --dev old-d.csv"
    assert command(*first.split()).returncode == 0
    wrong = command(*["gate", "bench", "new-q.csv", "--as", "v1", "--dev", "40,10,1000"])
    assert wrong.returncode == 2
    shared = command(*["gate", "bench", "new-q.csv", "--as", "v1", "--dev", "new-q.csv"])
    assert shared.returncode == 2
    assert "1,000 items" in shared.stderr
    verdict = command(*["gate", "bench", "new-q.csv", "--as", "v1", "--dev", "new-d.csv", "--json"])
    assert verdict.returncode == 0
    assert json.loads(verdict.stdout)["forecast"] == pytest.approx(0.6579, abs=5e-5)
    counts = "gate bench difference(main,v1) --at-least 0 --dev 10,40,1000 --skip-below 0.02"
    assert command(*counts.split()).returncode == 5


# Truth -------------------------------------------------------------------------------------------

LOOPS, CANDIDATES, TRIES, ITEMS = 30, 6, 1_000, 200


def false_loops(folder: Path, *, shared: bool) -> int:
    """Loops of coins, each the best of many on development items, with one promoted falsely.

    `shared` is the sabotage: development scores are those of protected items, under other ids.
    """
    rng, many = np.random.default_rng(3), 0
    for loop in range(LOOPS):
        items = pl.DataFrame({"item": [f"q{loop}-{number}" for number in range(ITEMS)]})
        gate = holdfast.EvalGate(
            items, key="item", ledger=folder / f"{loop}.ledger", candidates=CANDIDATES
        )
        with gate.holdout:
            main, main_dev = rng.random((2, ITEMS)) < 0.5
            gate.submit("main", main, dev=scores(main if shared else main_dev, "d"))
            gate.promote("main")
            for candidate in range(CANDIDATES):
                tries = rng.random((TRIES, ITEMS)) < 0.5
                best = tries[tries.sum(axis=1).argmax()]
                protected = best if shared else rng.random(ITEMS) < 0.5
                gate.submit(f"v{candidate}", protected, dev=scores(best, "d"))
                if gate.compare(f"v{candidate}").promote:
                    many += 1
                    break
    return many


@pytest.mark.campaign  # tests/mechanisms/test_forecast_gates.py has the same without files
def test_climbing_on_development_items_promotes_nothing_false(tmp_path: Path) -> None:
    assert false_loops(tmp_path, shared=False) <= most_failures(LOOPS, 0.05)


@pytest.mark.campaign
def test_development_items_that_are_protected_break_it(tmp_path: Path) -> None:
    assert false_loops(tmp_path, shared=True) > most_failures(LOOPS, 0.05)
