"""The scores that a loop submits, in whatever form: what is attached, and what it is known by."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypedDict, Unpack

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.evals.reading import read
from holdfast.evals.scores import ItemScores
from holdfast.question.bounds import Range

__all__ = ["HowToRead", "Submission", "scoring_in", "submission_of"]

_TABLES = ("csv", "parquet", "jsonl")  # one way of scoring, in three kinds of files


class HowToRead(TypedDict, total=False):
    """How the file of a log is read, as `holdfast.evals.read` says."""

    format: str | None
    score: str | None
    filter: str | None
    epochs: int | None
    partial: bool
    missing: str


@dataclass(frozen=True, slots=True)
class Submission:
    """Scores to attach to `rows` items, with what the log that they are from calls its run.

    `scoring` is what the log says of how they were made. `unmatched` items have no score, and count
    as wrong.
    """

    values: Any
    run: str | None = None
    unmatched: int = 0
    scoring: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> str:
        """What attaching does where there is no value."""
        return "null" if self.unmatched else "refuse"


def submission_of(
    scores: Any, rows: int, key: str, bounds: Range, **how: Unpack[HowToRead]
) -> Submission:
    """The scores of one scorer for so many items; read, if they are in a file.

    What has no score and counts as wrong is attached as NULL, which a question takes for the lower
    end of the range.
    """
    wrong = require.one_of("missing", ("refuse", "wrong"), how.get("missing", "refuse")) == "wrong"
    if wrong and bounds.low < 0:
        raise InvalidArgument(
            f"missing is 'wrong', and the range of scores begins below 0, at {bounds.low:g}; give "
            "every item a score."
        )
    if isinstance(scores, str | os.PathLike):
        scores = read(scores, key=key, bounds=bounds, **how)
    if isinstance(scores, ItemScores):
        unmatched = max(0, rows - len(scores)) + len(scores.missing) if wrong else 0
        return Submission(scores.by_item(), scores.run, unmatched, scoring_in(scores, rows))
    if not wrong:
        return Submission(scores)
    if not isinstance(scores, Mapping):
        raise InvalidArgument(
            "missing is 'wrong', which is for logs and mappings from items to scores; give one of "
            "those, or every item a score."
        )
    given = {item: score for item, score in scores.items() if not _is_missing(score)}
    return Submission(given, None, max(0, rows - len(given)))


def scoring_in(scores: ItemScores, rows: int) -> dict[str, str]:
    """How scores were made, as far as their file says: what differs in it cannot be compared.

    `items` is a digest of what all items hold, where the log has a hash of each of them.
    """
    known = {
        "format": "table" if scores.format in _TABLES else scores.format,
        "task": scores.task,
        "filter": scores.filter,
        "scorer": scores.scorer,
        "items": _items_digest(scores) if len(scores) == rows else None,
    }
    return {name: told for name, told in known.items() if told is not None}


def _items_digest(scores: ItemScores) -> str | None:
    hashes = sorted((str(item), scores.digests.get(item)) for item in scores.items)
    if not all(isinstance(each, str) for _, each in hashes):
        return None
    return sha256(json.dumps(hashes).encode()).hexdigest()


def _is_missing(score: object) -> bool:
    return score is None or (isinstance(score, float) and math.isnan(score))
