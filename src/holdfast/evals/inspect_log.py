"""Logs of inspect_ai: `.eval`, a zip with a summary of every sample, and `.json`.

A run that was killed leaves no header and no summaries; its samples are there one by one.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.evals.archive import Archive, Source, as_mapping, lacking
from holdfast.evals.formats import EvalLog, Scored, category_in

__all__ = ["is_inspect_log", "read_inspect"]

# correct, incorrect, partly correct, no answer: as the tool counts them itself
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def is_inspect_log(document: Any) -> bool:
    """Whether a JSON document is such a log."""
    return isinstance(document, Mapping) and {"eval", "status"} <= document.keys()


def read_inspect(source: Source) -> EvalLog:
    """Scores by sample id and epoch."""
    if not source.head.startswith(b"PK"):
        header = as_mapping(source.document, f"the file {source}")
        return _log(header, _listed(header.get("samples"), source), source)
    with Archive.of(source) as archive:
        return _log(_header(archive, source), _samples(archive, source), source)


def _header(archive: Archive, source: Source) -> Mapping[str, Any]:
    for name in ("header.json", "_journal/start.json"):
        if name in archive.names:
            return as_mapping(archive.json(name), f"{name} in {source}")
    raise InvalidArgument(
        f"the zip {source} is no log of inspect_ai: it has no header.json; name the format that "
        "it is (format=, --format)."
    )


def _samples(archive: Archive, source: Source) -> Iterable[Any]:
    """The summaries of all samples; without them the samples, one by one: they may be long."""
    if "summaries.json" in archive.names:
        return _listed(archive.json("summaries.json"), source)
    names = (name for name in archive.names if name.startswith("samples/"))
    return (archive.json(name) for name in names if name.endswith(".json"))


def _listed(samples: Any, source: Source) -> Sequence[Any]:
    if not isinstance(samples, list):
        raise InvalidArgument(
            f"the log {source} has no samples; write it with them (log_samples), or give the file "
            "that has them."
        )
    return samples


def _log(header: Mapping[str, Any], samples: Iterable[Any], source: Source) -> EvalLog:
    with lacking(f"the log {source}", "inspect_ai"):
        task = header["eval"]
        lines = [_scored(sample, source.by) for sample in samples]
        epochs = operator.index(task["config"].get("epochs") or 1)
        planned = tuple(dict.fromkeys(task["dataset"].get("sample_ids") or ()))
    status = header.get("status", "started")
    ended = "invalidated" if header.get("invalidated") else status
    return EvalLog(
        lines,
        epochs,
        planned,
        None if ended == "success" else ended,
        run=task.get("eval_id"),
        task=task.get("task"),
    )


def _scored(sample: Mapping[str, Any], by: str | None) -> Scored:
    scores: dict[str, Any] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        _tell(scores, scorer, score["value"])
    category = category_in(by, sample.get("metadata"), sample)
    return Scored(sample["id"], scores, sample["epoch"], category=category)


def _tell(scores: dict[str, Any], scorer: str, value: Any) -> None:
    """A scorer's value under its name; one that says several things has a name for each."""
    if isinstance(value, str):
        scores[scorer] = _GRADES.get(value, value)
    elif isinstance(value, Mapping):
        for part, each in value.items():
            _tell(scores, f"{scorer}.{part}", each)
    else:
        scores[scorer] = value
