"""HELM's `per_instance_stats.json`: statistics of each instance, trial and perturbation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.evals.log import EvalLog, Scored
from holdfast.evals.source import Source, lacking

__all__ = ["is_helm_document", "read_helm"]

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
