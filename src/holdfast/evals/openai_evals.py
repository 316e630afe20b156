"""Events of OpenAI evals: JSON lines with a spec first, a final report last, samples between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from holdfast.evals.log import EvalLog, Scored
from holdfast.evals.source import Source, lacking

__all__ = ["is_openai_line", "read_openai"]


def is_openai_line(line: Mapping[str, Any]) -> bool:
    """Whether a line is of such a file."""
    return line.keys() == {"spec"} or {"run_id", "sample_id", "type"} <= line.keys()


def read_openai(source: Source) -> EvalLog:
    """Scores by sample id: of a match whether it is correct, of metrics each by its name.

    Other events, such as what was sampled, say only that there is such a sample. What is said of a
    sample again is its next epoch.
    """
    told: dict[Any, dict[str, list[Any]]] = {}
    finished, run, task = False, None, None
    for number, line in source.lines():
        finished = finished or "final_report" in line
        run = line.get("run_id", run)
        if isinstance(spec := line.get("spec"), Mapping):
            task = spec.get("eval_name")
        if line.get("sample_id") is None:
            continue
        with lacking(f"line {number:,} of {source}", "OpenAI evals"):
            values = told.setdefault(line["sample_id"], defaultdict(list))
            for name, value in _scores(line).items():
                values[name].append(value)
    lines = [
        Scored(
            item, {name: each[epoch] for name, each in values.items() if epoch < len(each)}, epoch
        )
        for item, values in told.items()
        for epoch in range(max(map(len, values.values()), default=1))
    ]
    return EvalLog(lines, ended=None if finished else "started", run=run, task=task)


def _scores(event: Mapping[str, Any]) -> Mapping[str, Any]:
    match event["type"]:
        case "match":
            return {"match": event["data"]["correct"]}
        case "metrics":
            return dict(event["data"])
        case _:
            return {}
