"""Gates of errors: capped by what the first submission has on other items, and never otherwise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import InvalidArgument
from holdfast.evals.submission import ErrorScale
from holdfast.statistics.metrics import cap_of_errors
from tests.cli.run import holdfast as command
from tests.ledger.forging import faults
from tests.theory.coverage import most_failures

N = 2_000
ITEMS = pl.DataFrame({"id": [f"i{number}" for number in range(N)]})


def errors(seed: int, scale: float = 1.0, prefix: str = "i", rows: int = N) -> dict[str, float]:
    """Errors by item, of Student's law with three degrees: their square has no variance."""
    made = np.random.default_rng(seed).standard_t(3, rows) * scale
    return {f"{prefix}{number}": float(each) for number, each in enumerate(made)}


def gate_in(folder: Path, score: Any = "mse") -> holdfast.EvalGate:
    path = folder / "bench.ledger"
    return holdfast.EvalGate(ITEMS, key="id", score=score, ledger=path, candidates=20)


@pytest.fixture
def gate(tmp_path: Path) -> holdfast.EvalGate:
    gate = gate_in(tmp_path)
    gate.submit("main", errors(1), dev=errors(2, prefix="d"))
    gate.promote("main")
    return gate


def test_the_cap_is_that_of_the_first_submission_on_other_items(
    gate: holdfast.EvalGate, tmp_path: Path
) -> None:
    sizes = np.sort(np.abs(list(errors(2).values())))
    cap = float(np.quantile(sizes, 0.99, method="higher"))
    scale = ErrorScale.recorded(gate.holdout.columns[0].scoring)
    assert scale is not None
    assert scale.cap is not None
    assert cap <= scale.cap <= cap + 0.01
    assert gate.metric == f"mean squared error, errors capped at {scale.cap:g}"
    gate.submit("better", errors(3, 0.7), dev=errors(4, 3.0, "d"))  # its own do not move the cap
    verdict = gate.compare("better")
    assert verdict.metric == gate.metric
    assert str(verdict).startswith(f"promote: better is better than main in {gate.metric} · ")
    assert f"clip(better, 0, {scale.cap:g})" in verdict.question
    gate.holdout.close()
    # The ledger knows it, whatever is said where it is opened again.
    again = gate_in(tmp_path, bool)
    again.submit("worse", errors(5, 1.3))
    assert again.compare("worse").metric == verdict.metric
    assert not again.compare("worse").promote
    assert faults(tmp_path / "bench.ledger", sample=lambda: PolarsSample(ITEMS)) == []


def test_the_cap_knows_nothing_of_the_protected_items(tmp_path: Path) -> None:
    """Twin: one of protected errors moves with them. By their ids it is refused."""
    found = set()
    for seed, scale in ((1, 1.0), (6, 5.0)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        gate = gate_in(folder)
        with pytest.raises(InvalidArgument, match="with the id of a protected one"):
            gate.submit("main", errors(seed, scale), dev=errors(seed, scale))
        assert gate.holdout.columns == []
        gate.submit("main", errors(seed, scale), dev=errors(2, prefix="d"))
        found.add(gate.metric)
    assert len(found) == 1
    twin = {cap_of_errors(errors(seed, scale).values()) for seed, scale in ((1, 1.0), (6, 5.0))}
    assert len(twin) == 2


def test_errors_are_forecast_by_development_errors(gate: holdfast.EvalGate) -> None:
    gate.submit("good", errors(3, 0.7), dev=errors(4, 0.7, "d"))
    gate.submit("bad", errors(5, 1.3), dev=errors(6, 1.3, "d"))
    good, bad = gate.compare("good"), gate.compare("bad")
    assert good.promote
    assert not bad.promote
    assert good.forecast is not None
    assert bad.forecast is not None
    assert good.forecast > 0.5
    assert bad.forecast < 0.02


@pytest.mark.campaign  # tests/sklearn/test_errors.py has the same without files
def test_equal_models_are_rarely_shown_and_twins_are_often(tmp_path: Path) -> None:
    """Loops of 20 candidates at 95 %; of the twin each is somewhat better, which is no fault."""
    loops, shown, twin = 20, 0, 0
    for loop in range(loops):
        folder = tmp_path / str(loop)
        folder.mkdir()
        gate = gate_in(folder, "mae")
        gate.submit("main", errors(1_000 * loop), dev=errors(1_000 * loop + 1, prefix="d"))
        gate.promote("main")
        for each in range(1, 3):
            gate.submit(f"null {each}", errors(1_000 * loop + 10 + each))
            shown += gate.compare(f"null {each}").promote
        gate.submit("twin", errors(1_000 * loop + 50, 0.8))
        twin += gate.compare("twin").promote
        gate.holdout.close()
    assert shown <= most_failures(loops, 0.05) < twin


def test_items_without_an_error_count_as_the_cap(gate: holdfast.EvalGate) -> None:
    """A perfect model that misses one item of a thousand is shown, one that misses half is not."""
    for name, missed in (("some", 2), ("half", N // 2)):
        values: dict[str, float | None] = dict.fromkeys(ITEMS["id"], 0.0)
        values |= dict.fromkeys(ITEMS["id"][:missed], None)
        with pytest.raises(InvalidArgument, match="no value"):
            gate.submit(name, values)
        gate.submit(name, values, missing="wrong")
        verdict = gate.compare(name)
        assert verdict.unmatched == missed
        assert verdict.promote is (name == "some")


def test_gains_are_in_the_unit_of_the_loss(gate: holdfast.EvalGate) -> None:
    gate.submit("zero", dict.fromkeys(ITEMS["id"], 0.0))
    mean = float(np.mean(np.minimum(np.square(list(errors(1).values())), 36.0)))
    assert 1.0 < mean < 3.0
    assert gate.compare("zero", min_gain=mean / 2).promote
    assert not gate.compare("zero", min_gain=2 * mean).promote


def test_what_is_no_error_is_refused(gate: holdfast.EvalGate, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="give them by item"):
        gate.submit("list", list(errors(3).values()))
    with pytest.raises(InvalidArgument, match="error is inf; it must be a finite number"):
        gate.submit("far", errors(3) | {"i0": math.inf})
    for score in ("f1", "rmse", "r2"):
        with pytest.raises(InvalidArgument, match="which is no mean of errors; choose mse or mae"):
            gate_in(tmp_path, score)
    folder = tmp_path / "other"
    folder.mkdir()
    other = gate_in(folder)
    with pytest.raises(InvalidArgument, match=r"Give those by item: dev= \(--dev FILE\)"):
        other.submit("main", errors(1))
    assert other.holdout.columns == []
    graded = holdfast.EvalGate.over(other.holdout, (-100.0, 100.0))
    graded.submit("graded", errors(1, 0.1))
    other.submit("main", errors(1), dev=errors(2, prefix="d"))
    with pytest.raises(InvalidArgument, match="'graded' was submitted with scores of which more"):
        other.compare("main", "graded")


def test_on_the_command_line_the_first_file_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ITEMS.write_csv("items.csv")
    for name, made in {
        "main": errors(1),
        "dev": errors(2, prefix="d"),
        "v1": errors(3, 0.7),
        "dev1": errors(4, 0.7, "d"),
    }.items():
        pl.DataFrame({"id": list(made), "error": list(made.values())}).write_csv(f"{name}.csv")
    command("init", "items.csv", "--key", "id", "--ledger", "bench", "--candidates", "20")
    first = ("gate", "bench", "main.csv", "--as", "main", "--first", "--errors", "mse")
    assert "errors have no range" in command(*first).stderr
    said = command(*first, "--dev", "dev.csv").stdout
    assert "Others will be compared in mean squared error, errors capped at 6.02" in said
    later = ("gate", "bench", "v1.csv", "--as", "v1", "--dev", "dev1.csv")
    assert "say it with --first" in command(*later, "--errors", "mse").stderr
    assert "It would submit 2,000 scores" in command(*later, "--dry-run").stdout
    shown = command(*later).stdout
    assert "v1 is better than main in mean squared error, errors capped at 6.02" in shown
