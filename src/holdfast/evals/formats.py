"""Logs of evaluation tools: HELM, lm-eval, OpenAI evals, promptfoo and others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.errors import InvalidArgument
from holdfast.evals.archive import Source, lacking

__all__ = [
    "EvalLog",
    "Scored",
    "category_in",
    "is_every_eval_line",
    "is_helm_document",
    "is_lm_eval_line",
    "is_openai_line",
    "is_promptfoo_document",
    "read_every_eval",
    "read_helm",
    "read_lm_eval",
    "read_openai",
    "read_promptfoo",
]


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
        found = [_scored(instance) for instance in source.document]
    return EvalLog(found)


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


# Events of OpenAI evals: JSON lines with a spec first, a final report last, samples between.


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
