"""The scores that a loop submits, in whatever form: what is attached, and what it is known by."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.evals.reading import read
from holdfast.evals.scores import ItemScores
from holdfast.question.bounds import Range

__all__ = ["HowToRead", "Submission", "submission_of"]


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

    `unmatched` of them have no score, and count as wrong.
    """

    values: Any
    run: str | None = None
    unmatched: int = 0

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
        told = [each for each in (scores.run, scores.filter, scores.scorer) if each is not None]
        unmatched = max(0, rows - len(scores)) + len(scores.missing) if wrong else 0
        return Submission(scores.by_item(), ":".join(told) if scores.run else None, unmatched)
    if not wrong:
        return Submission(scores)
    if not isinstance(scores, Mapping):
        raise InvalidArgument(
            "missing is 'wrong', which is for logs and mappings from items to scores; give one of "
            "those, or every item a score."
        )
    given = {item: score for item, score in scores.items() if not _is_missing(score)}
    return Submission(given, None, max(0, rows - len(given)))


def _is_missing(score: object) -> bool:
    return score is None or (isinstance(score, float) and math.isnan(score))
