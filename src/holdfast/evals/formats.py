"""Logs of evaluation tools: HELM, lm-eval, OpenAI evals, promptfoo and others."""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.errors import InvalidArgument
from holdfast.evals.archive import Archive, Source, as_mapping, lacking


class Scored(NamedTuple):
    """One item in one epoch: what each scorer said of it, as it stands in the file."""

    item: Any
    scores: Mapping[str, Any]
    epoch: Any = 1
    filter: str | None = None  # which of several passes over the items this one belongs to
    digest: str | None = None  # of the item's own content
    category: Any = None  # under the field that somebody names


@dataclass(frozen=True, slots=True)
class EvalLog:
    """A run: its lines, and what the file says of the run as a whole.

    `epochs` is how often each item was to be tried and `planned` which items were, where the file
    says so. `ended` says how, of a run that did not end well. `main` is the scorer to take where
    nobody names one and there are several. `run` is the tool's own name of the run: never made of
    what was scored, and another one for every run. `task` is what the items are called
    together, and `key` the column that names each of them, of a table.
    """

    lines: Sequence[Scored]
    epochs: int | None = None
    planned: Sequence[Any] = ()
    ended: str | None = None
    main: str | None = None
    run: str | None = None
    task: str | None = None
    key: str | None = None


def category_in(by: str | None, *places: Any) -> Any:
    """What a field says of an item, in the first of these objects that has it."""
    for place in places if by is not None else ():
        if isinstance(place, Mapping) and by in place:
            return place[by]
    return None


# HELM's `per_instance_stats.json`: statistics of each instance, trial and perturbation.


_UNPERTURBED = "none"


def is_helm_document(document: Any) -> bool:
    """Whether a JSON document is such a file."""
    return (
        isinstance(document, Sequence)
        and bool(document)
        and isinstance(document[0], Mapping)
        and {"instance_id", "stats"} <= document[0].keys()
    )


def read_helm(source: Source) -> EvalLog:
    """The mean of each statistic by instance; a trial is an epoch, a perturbation is a filter."""
    with lacking(f"the file {source}", "HELM"):
        scored = [_scored(instance) for instance in source.document]
    return EvalLog(scored)


def _scored(instance: Mapping[str, Any]) -> Scored:
    scores = {stat["name"]["name"]: stat.get("mean") for stat in instance["stats"]}
    perturbation = instance.get("perturbation")
    return Scored(
        instance["instance_id"],
        scores,
        instance["train_trial_index"],
        perturbation["name"] if perturbation else _UNPERTURBED,
    )


# Instances in the schema of Every Eval Ever: JSON lines, one for each sample and result.


def is_every_eval_line(line: Mapping[str, Any]) -> bool:
    """Whether a line is of such a file."""
    return "sample_id" in line and isinstance(line.get("evaluation"), Mapping)


def read_every_eval(source: Source) -> EvalLog:
    """Scores by sample id, of which sample_hash says that it is the same; a result is a filter."""
    lines: list[Scored] = []
    run = None
    for number, line in source.lines():
        with lacking(f"line {number:,} of {source}", "Every Eval Ever"):
            evaluation, run = line["evaluation"], line["evaluation_id"]
            scores = {"score": evaluation["score"], "is_correct": evaluation["is_correct"]}
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


# Events of OpenAI evals: JSON lines with a spec first, a final report last, samples between.


def is_openai_line(line: Mapping[str, Any]) -> bool:
    """Whether a line is of such a file."""
    return line.keys() == {"spec"} or {"run_id", "sample_id", "type"} <= line.keys()


def read_openai(source: Source) -> EvalLog:
    """Scores by sample id: of a match whether it is correct, of metrics each by its name.

    Other events, such as what was sampled, say only that there is such a sample. What is said of a
    sample again is its next epoch.
    """
    events: dict[Any, dict[str, list[Any]]] = {}
    finished, run, task = False, None, None
    for number, line in source.lines():
        finished = finished or "final_report" in line
        run = line.get("run_id", run)
        if isinstance(spec := line.get("spec"), Mapping):
            task = spec.get("eval_name")
        if line.get("sample_id") is None:
            continue
        with lacking(f"line {number:,} of {source}", "OpenAI evals"):
            values = events.setdefault(line["sample_id"], defaultdict(list))
            for name, value in _scores(line).items():
                values[name].append(value)
    lines = [
        Scored(
            item, {name: each[epoch] for name, each in values.items() if epoch < len(each)}, epoch
        )
        for item, values in events.items()
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


# Results of promptfoo, version 3: one for each test and prompt.


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
        lines = [_scored_result(result) for result in results["results"]]
        return EvalLog(lines, main="score", run=source.document.get("evalId"))


def _scored_result(result: Mapping[str, Any]) -> Scored:
    scores: dict[str, Any] = {}
    if result.get("failureReason") != _NOT_RUN:
        scores = {**(result.get("namedScores") or {})}
        scores |= {"score": result["score"], "success": result["success"]}
    return Scored(result["testIdx"], scores, 1, str(result["promptIdx"]))


# lm-evaluation-harness: `samples_{task}_{date}.jsonl`, a line for each doc and filter.


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
            filter_, digest = line.get("filter"), line.get("doc_hash")
            category = category_in(source.by, line.get("doc"), line)
            lines.append(Scored(line["doc_id"], metrics, 1, filter_, digest, category))
    dated = _DATED.fullmatch(source.path.name)
    run, task = (None, None) if dated is None else dated.groups()
    return EvalLog(lines, run=run, task=task)


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
        lines = [_inspect_scored(sample, source.by) for sample in samples]
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


def _inspect_scored(sample: Mapping[str, Any], by: str | None) -> Scored:
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
