"""Evaluation logs: to read one, against parsing the JSON that is in it."""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, compare
from holdfast import evals

SAMPLES = 10_000


def summary(number: int) -> dict[str, Any]:
    """What inspect_ai keeps of a sample beside its transcript."""
    return {
        "id": f"item-{number:05d}",
        "epoch": 1,
        "input": f"What is {number} times {number + 1}? Think, then give one number.",
        "target": str(number * (number + 1)),
        "metadata": {"category": "even" if number % 2 == 0 else "odd"},
        "scores": {"match": {"value": "CI"[number % 3 == 0], "answer": "42", "history": []}},
        "model_usage": {},
        "role_usage": {},
        "total_time": 0.002,
        "working_time": 0.002,
        "uuid": f"{number:022d}",
        "retries": 0,
        "completed": True,
        "message_count": 2,
        "turn_count": 1,
    }


def reading(folder: Path) -> Row:
    """A log of 10,000 samples: unpacked, parsed, chosen, checked."""
    summaries = json.dumps([summary(number) for number in range(SAMPLES)]).encode()
    header = {"status": "success", "eval": {"config": {"epochs": 1}, "dataset": {}}}
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("summaries.json", summaries)
        archive.writestr("header.json", json.dumps(header))
    return compare(
        "read an inspect log of 10,000 samples",
        lambda: evals.read(path),
        "json.loads of its summaries",
        lambda: json.loads(summaries),
        at_most=2,
        repeats=15,
    )


def rows() -> list[Row]:
    """All rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        return [reading(Path(folder))]
