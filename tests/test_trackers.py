"""What was answered reaches whoever keeps runs, and nothing that was not said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast import trackers


@pytest.fixture
def holdout(tmp_path: Path) -> holdfast.Holdout:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"late": rng.random(5_000) < 0.2})
    return holdfast.open(frame, ledger=tmp_path / "flights.ledger", questions=100)


class Runs:
    """As much of MLflow as is used: metrics and tags of runs."""

    def __init__(self) -> None:
        self.metrics: dict[str, dict[str, float]] = {}
        self.tags: dict[str, dict[str, str]] = {}
        self.active: Any = None

    def active_run(self) -> Any:
        return self.active

    def start_run(self) -> Any:
        self.active = SimpleNamespace(info=SimpleNamespace(run_id="started"))
        return self.active

    def log_metrics(self, metrics: dict[str, float], run_id: str) -> None:
        self.metrics.setdefault(run_id, {}).update(metrics)

    def MlflowClient(self) -> Runs:
        return self

    def set_tag(self, run_id: str, key: str, value: str) -> None:
        self.tags.setdefault(run_id, {})[key] = value


def test_any_function_of_a_dictionary_is_a_tracker(holdout: holdfast.Holdout) -> None:
    told: list[dict[str, Any]] = []
    answer = holdout.ask("avg(late)")
    assert trackers.track(answer, told.append, name="late flights") is answer
    assert told == [
        {
            "name": "late flights",
            "question": "avg(late)",
            "status": "answered",
            "receipt": answer.receipt,
            "value": answer.value,
            "low": answer.interval.low,
            "high": answer.interval.high,
        }
    ]
    trackers.track(answer, told.append)
    assert told[1]["name"] == "avg(late)"


@pytest.mark.parametrize("run_id", ["seven", None])
def test_answers_in_mlflow(
    holdout: holdfast.Holdout, monkeypatch: pytest.MonkeyPatch, run_id: str | None
) -> None:
    runs = Runs()
    monkeypatch.setitem(sys.modules, "mlflow", runs)
    answer = trackers.track(holdout.ask("avg(late)"), trackers.mlflow_tracker(run_id))
    run, name = run_id or "started", "avg_late_"  # brackets are in no name of a metric
    assert runs.metrics[run] == {
        f"{name}/value": answer.value,
        f"{name}/low": answer.interval.low,
        f"{name}/high": answer.interval.high,
    }
    assert runs.tags[run] == {
        f"{name}/question": "avg(late)",
        f"{name}/status": "answered",
        f"{name}/receipt": answer.receipt,
    }


_IN_MLFLOW = """
import json, mlflow
from holdfast.trackers import mlflow_tracker
told = {"question": "avg(late)", "status": "answered", "receipt": "r1"}
mlflow_tracker()(told | {"name": "late (JFK)", "value": 0.25, "low": 0.125, "high": 0.5})
run = mlflow.get_run(mlflow.active_run().info.run_id).data
print(json.dumps([run.metrics, {k: v for k, v in run.tags.items() if "JFK" in k}]))
"""


def test_the_real_mlflow_takes_it(tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="mlflow-skinny is not installed")
    own = {"MLFLOW_TRACKING_URI": str(tmp_path / "runs"), "MLFLOW_DISABLE_TELEMETRY": "true"}
    done = subprocess.run(
        [sys.executable, "-c", _IN_MLFLOW],
        env={**os.environ, **own, "MLFLOW_ALLOW_FILE_STORE": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    metrics, tags = json.loads(done.stdout.splitlines()[-1])
    assert metrics == {"late _JFK_/value": 0.25, "late _JFK_/low": 0.125, "late _JFK_/high": 0.5}
    assert tags["late _JFK_/receipt"] == "r1"


def test_what_says_nothing_gets_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        def to_dict(self) -> dict[str, Any]:
            silent = {"question": "q", "status": "says nothing", "receipt": "r", "value": None}
            return silent | {"low": 0.0, "high": 1.0, "why": "never told"}

    runs = Runs()
    monkeypatch.setitem(sys.modules, "mlflow", runs)
    trackers.track(Silent(), trackers.mlflow_tracker("run"), name="x" * 400)
    assert {key.rpartition("/")[2] for key in runs.metrics["run"]} == {"low", "high"}
    assert max(map(len, runs.tags["run"])) < 250


def test_without_mlflow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(
        holdfast.errors.MissingExtra, match=r"answers in MLflow.*holdfast\[mlflow\]"
    ):
        trackers.mlflow_tracker()
