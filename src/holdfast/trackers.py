"""What was answered, told to whoever keeps runs: MLflow, or any function of a dictionary.

A tracker gets what the ledger shows and nothing else: question, value, ends, status and receipt.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from holdfast import require

__all__ = ["Tracked", "Tracker", "mlflow_tracker", "track"]

Tracker = Callable[[dict[str, Any]], object]

_NUMBERS = ("value", "low", "high")
_TEXTS = ("question", "status", "receipt")
_UNNAMEABLE = re.compile(r"[^\w\-./ ]+")  # what MLflow takes in no name
_LONGEST_NAME, _LONGEST_TAG = 200, 5000


class Tracked(Protocol):
    """An answer or a verdict: what says itself in plain values."""

    def to_dict(self) -> Mapping[str, Any]:
        """Plain values by name."""


_Answered = TypeVar("_Answered", bound=Tracked)


def track(answered: _Answered, tracker: Tracker, name: str | None = None) -> _Answered:
    """Tell a tracker what was answered, under a name (default: its question), and return it."""
    fields = answered.to_dict()
    named = fields["question"] if name is None else require.text("name", name)
    tracker({"name": named, **{key: fields[key] for key in (*_TEXTS, *_NUMBERS)}})
    return answered


def mlflow_tracker(run_id: str | None = None) -> Tracker:
    """A tracker that logs to a run of MLflow, or to the one that is active.

    Value and ends are metrics: NAME/value, NAME/low and NAME/high; what is text is a tag. What says
    nothing has no value, and gets no metric for it.
    """
    with require.installed("answers in MLflow", "mlflow"):
        mlflow: Any = importlib.import_module("mlflow")

    def log(fields: dict[str, Any]) -> None:
        run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
        name = _UNNAMEABLE.sub("_", fields["name"])[:_LONGEST_NAME]
        numbers = {f"{name}/{key}": fields[key] for key in _NUMBERS if fields[key] is not None}
        mlflow.log_metrics(numbers, run_id=run)
        for key in _TEXTS:
            mlflow.MlflowClient().set_tag(run, f"{name}/{key}", str(fields[key])[:_LONGEST_TAG])

    return log
