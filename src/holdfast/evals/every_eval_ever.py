"""Instances in the schema of Every Eval Ever: JSON lines, one for each sample and result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.evals.log import EvalLog, Scored
from holdfast.evals.source import Source, lacking

__all__ = ["is_every_eval_line", "read_every_eval"]


def is_every_eval_line(line: Mapping[str, Any]) -> bool:
    """Whether a line is of such a file."""
    return "sample_id" in line and isinstance(line.get("evaluation"), Mapping)


def read_every_eval(source: Source) -> EvalLog:
    """Scores by sample id, of which sample_hash says that it is the same; a result is a filter."""
    lines: list[Scored] = []
    run = None
    for number, line in source.lines():
        with lacking(f"line {number:,} of {source}", "Every Eval Ever"):
            told, run = line["evaluation"], line["evaluation_id"]
            scores = {"score": told["score"], "is_correct": told["is_correct"]}
            name, result = line["evaluation_name"], line.get("evaluation_result_id")
            lines.append(
                Scored(
                    line["sample_id"],
                    {} if line.get("error") else scores,
                    1,
                    f"{name}/{result}" if result else name,
                    line.get("sample_hash"),
                )
            )
    return EvalLog(lines, main="score", run=run)
