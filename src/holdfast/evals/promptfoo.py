"""Results of promptfoo, version 3: one for each test and prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.evals.log import EvalLog, Scored
from holdfast.evals.source import Source, lacking

__all__ = ["is_promptfoo_document", "read_promptfoo"]

_VERSION = 3
_NOT_RUN = 2  # of failureReason: an error, and not an answer that failed


def is_promptfoo_document(document: Any) -> bool:
    """Whether a JSON document is such a file."""
    results = document.get("results") if isinstance(document, Mapping) else None
    return isinstance(results, Mapping) and isinstance(results.get("results"), list)


def read_promptfoo(source: Source) -> EvalLog:
    """Scores by test; a prompt (with its provider) is a filter."""
    with lacking(f"the file {source}", "promptfoo"):
        results = source.document["results"]
        version = results["version"]
        repeats = source.document.get("runtimeOptions", {}).get("repeat") or 1
        if version != _VERSION:
            raise InvalidArgument(
                f"the file {source} is of version {version} of promptfoo's results; version "
                f"{_VERSION} is read. Write it with a newer promptfoo."
            )
        if repeats != 1:
            raise InvalidArgument(
                f"the file {source} has every test {repeats} times, under numbers of their own; "
                "run promptfoo without --repeat, or make a table with a column of epochs."
            )
        lines = [_scored(result) for result in results["results"]]
        return EvalLog(lines, main="score", run=source.document.get("evalId"))


def _scored(result: Mapping[str, Any]) -> Scored:
    scores: dict[str, Any] = {}
    if result.get("failureReason") != _NOT_RUN:
        scores = {**(result.get("namedScores") or {})}
        scores |= {"score": result["score"], "success": result["success"]}
    return Scored(result["testIdx"], scores, 1, str(result["promptIdx"]))
