"""lm-evaluation-harness: `samples_{task}_{date}.jsonl`, a line for each doc and filter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from holdfast.evals.log import EvalLog, Scored
from holdfast.evals.source import Source, lacking

__all__ = ["is_lm_eval_line", "read_lm_eval"]

_DATED = re.compile(r"(samples_(.+)_\d{4}-\d{2}-\d{2}T[\d.-]+)\.jsonl")


def is_lm_eval_line(line: Mapping[str, Any]) -> bool:
    """Whether a line is of such a file."""
    return {"doc_id", "metrics"} <= line.keys()


def read_lm_eval(source: Source) -> EvalLog:
    """Metrics by doc_id, of which doc_hash says that it is the same doc."""
    lines: list[Scored] = []
    for number, line in source.lines():
        with lacking(f"line {number:,} of {source}", "lm-evaluation-harness"):
            metrics = {name: line[name] for name in line["metrics"]}
            lines.append(
                Scored(line["doc_id"], metrics, 1, line.get("filter"), line.get("doc_hash"))
            )
    dated = _DATED.fullmatch(source.path.name)
    run, task = (None, None) if dated is None else dated.groups()
    return EvalLog(lines, run=run, task=task)
