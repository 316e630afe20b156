"""Evaluation loops: to read a log, against parsing the JSON in it; and a gate of a job."""

from __future__ import annotations

import json
import statistics
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.measure import Row, compare
from benchmarks.starting import seconds
from holdfast import evals

SAMPLES, ITEMS, REPEATS = 10_000, 1_000, 3


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
        by_processor=True,
    )


def gating(folder: Path) -> Row:
    """`holdfast gate` with a file of 1,000 scores, a process of its own."""
    items = [f"item-{number:04}" for number in range(ITEMS)]
    pl.DataFrame({"item": items}).write_csv(folder / "items.csv")
    for name, right in (("main", 3), ("v7", 4)):
        scores = {"item": items, "acc": [number % 5 < right for number in range(ITEMS)]}
        pl.DataFrame(scores).write_csv(folder / f"{name}.csv")
    command = ["-m", "holdfast"]
    init = ["init", "items.csv", "--name", "bench", "--key", "item", "--candidates", "100"]
    seconds([*command, *init, "--described", "off"], folder)
    gate = [*command, "gate", "bench"]
    seconds([*gate, "main.csv", "--as", "main", "--first"], folder)
    took = [seconds([*gate, "v7.csv", "--as", f"v{number}"], folder) for number in range(REPEATS)]
    beyond = statistics.median(took) - seconds(["-c", "import numpy"], folder)
    return Row(
        "holdfast gate on 1,000 items, CPU beyond Python with numpy",
        "one second",
        beyond,
        beyond,
        0.5,
    )


def rows() -> list[Row]:
    """All rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        return [reading(Path(folder)), gating(Path(folder))]
