"""A submission: a file of scores in whatever format, read as what is attached."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal, TypedDict, Unpack

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.evals.archive import Source
from holdfast.evals.formats import (
    EvalLog,
    is_every_eval_line,
    is_helm_document,
    is_inspect_log,
    is_lm_eval_line,
    is_openai_line,
    is_promptfoo_document,
    read_every_eval,
    read_helm,
    read_inspect,
    read_lm_eval,
    read_openai,
    read_promptfoo,
)
from holdfast.evals.item_scores import ItemList, ItemScores, Wanted, item_scores, items_in
from holdfast.evals.score_table import read_csv, read_json_lines, read_parquet
from holdfast.question.bounds import Range
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import identifier, numeral
from holdfast.statistics.metrics import METRICS, metric_meant

_TABLES = ("csv", "parquet", "jsonl")  # one way of scoring, in three kinds of files


# `holdfast.evals.read`: a file of scores in whatever format, found by its content.


FORMATS: Mapping[str, Callable[[Source], EvalLog]] = {
    "inspect": read_inspect,
    "lm-eval": read_lm_eval,
    "helm": read_helm,
    "promptfoo": read_promptfoo,
    "openai-evals": read_openai,
    "every-eval-ever": read_every_eval,
    "csv": read_csv,
    "parquet": read_parquet,
    "jsonl": read_json_lines,
}
_DOCUMENTS: Mapping[str, Callable[[Any], bool]] = {
    "inspect": is_inspect_log,
    "helm": is_helm_document,
    "promptfoo": is_promptfoo_document,
}
_LINES: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "lm-eval": is_lm_eval_line,
    "openai-evals": is_openai_line,
    "every-eval-ever": is_every_eval_line,
}


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    score: str | None = None,
    filter: str | None = None,
    *,
    key: str | None = None,
    by: str | None = None,
    epochs: int | Literal["all"] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    partial: bool = False,
    missing: str = "refuse",
) -> ItemScores:
    """The scores of a file, one for each item.

    Without `format` it is found by content. `score` names the scorer and `filter` the pass (a
    filter of lm-evaluation-harness, a prompt of promptfoo, a perturbation of HELM) where there are
    several, `key` the column of items of a plain table, and `by` a column or field with categories
    of items. Tries of one item are averaged over as many `epochs` as the log, or you, declare, or
    over "all" that there are. An interrupted run is refused unless `partial`, an item
    without a score unless `missing` is "wrong": it then counts as the lower of `bounds`.
    """
    source = Source(require.file("path", path), key, by)
    low, high = bounds_pair(bounds)
    every_try = epochs == "all"
    wanted = Wanted(
        score,
        filter,
        None if epochs is None or every_try else require.positive_integer("epochs", epochs),
        (low, high),
        require.flag("partial", partial),
        require.one_of("missing", ("refuse", "wrong"), missing) == "wrong",
        every_try,
    )
    name, log = _log_in(source, format)
    return item_scores(log, wanted, name, str(source))


def read_items(path: str | os.PathLike[str], format: str | None = None) -> ItemList:
    """The items of a log, whatever their scores."""
    source = Source(require.file("path", path))
    return items_in(_log_in(source, format)[1], str(source))


def _log_in(source: Source, format: str | None) -> tuple[str, EvalLog]:
    """The format of a file, and what it says."""
    try:
        name = _detected(source) if format is None else require.one_of("format", [*FORMATS], format)
        log = FORMATS[name](source)
        if not log.lines:
            raise InvalidArgument(f"the file {source} has no items; give one that has some.")
        return name, log
    except MemoryError:
        raise InvalidArgument(
            f"reading the file {source} takes more memory than there is; write fewer items, or "
            "leave out what is no score, such as transcripts."
        ) from None


def _detected(source: Source) -> str:
    """The format that a file is in."""
    match source.head[:4]:
        case b"PK\x03\x04":
            return "inspect"
        case b"PAR1":
            return "parquet"
        case head if head[:1] in (b"{", b"["):
            return _json_format(source)
        case head if head and b"\0" not in source.head:
            return "csv"
    if not source.head:
        raise InvalidArgument(f"the file {source} is empty, with no items; give one that has some.")
    raise InvalidArgument(
        f"the file {source} is in no format that is read: {', '.join(FORMATS)}; see that it is "
        "whole, or write it as one of them."
    )


def _json_format(source: Source) -> str:
    """Lines of JSON, or one document; a document on one line is both."""
    first = source.first() if source.head.startswith(b"{") else None
    if first is None:
        return _document_format(source)
    for name, fits in {**_LINES, **_DOCUMENTS}.items():
        if fits(first):
            return name
    return "jsonl"


def _document_format(source: Source) -> str:
    for name, fits in _DOCUMENTS.items():
        if fits(source.document):
            return name
    raise InvalidArgument(
        f"the file {source} is one JSON document, and none of {', '.join(_DOCUMENTS)}; write one "
        "JSON object for each item on a line of its own."
    )


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
        """Rule for items without a value."""
        return "null" if self.unmatched else "refuse"


_FARTHEST = 1e15  # from 0: what an error may be where it is read


@dataclass(frozen=True, slots=True)
class ErrorScale:
    """Scores that are errors, predictions minus labels: less is better, and each is capped.

    Their mean is of the errors to a `power`. `cap` is None before anybody submitted some.
    """

    metric: str
    cap: float | None = None

    @classmethod
    def meant(cls, name: str) -> ErrorScale | None:
        """That of the metric of this name; None if it is no mean of errors."""
        facts = metric_meant(name)
        averaged = facts is not None and facts.power is not None and facts.of_rows
        return cls(facts.name) if facts is not None and averaged else None

    @classmethod
    def recorded(cls, scoring: Mapping[str, str] | None) -> ErrorScale | None:
        """That of a submission, as the ledger has it; None if it is of no errors."""
        metric, capped, cap = (scoring or {}).get(ERRORS, "").partition(_CAPPED)
        return cls(metric.replace(" ", "_"), float(cap)) if capped else None

    @property
    def words(self) -> str:
        """What is compared, for people and for the ledger."""
        return f"{self.metric.replace('_', ' ')}{_CAPPED}{numeral(self._known)}"

    @property
    def bounds(self) -> Range:
        """The range of what is attached."""
        return Range(0.0, self._known)

    @property
    def readable(self) -> Range:
        """Where errors may be in a file."""
        return Range(-_FARTHEST, _FARTHEST)

    def loss(self, error: float) -> float:
        """The loss of one error."""
        return min(abs(error), self._known) ** self._power

    def text(self, column: str) -> str:
        """The loss of an item, as a question says it; that of the cap where there is no error."""
        size = f"clip({identifier(column)}, 0, {numeral(self._known)})"
        return f"coalesce({' * '.join([size] * self._power)}, {numeral(self.loss(self._known))})"

    def sizes(self, errors: Any) -> dict[Any, float | None]:
        """What is attached: sizes of errors by item, up to the cap."""
        if not isinstance(errors, Mapping):
            raise InvalidArgument(
                f"errors are {type(errors).__name__}; give them by item: a mapping from items to "
                "predictions minus labels, or the path of a file."
            )
        return {
            item: None
            if _is_missing(each)
            else min(abs(require.finite("error", each)), self._known)
            for item, each in errors.items()
        }

    @property
    def _known(self) -> float:
        if self.cap is None:
            raise TypeError(f"{self.metric} has no cap yet")
        return self.cap

    @property
    def _power(self) -> int:
        return METRICS[self.metric].power or 1


def _error(value: object) -> float:
    return require.finite("an error", value)


ERRORS = "errors"  # in a scoring
_CAPPED = ", errors capped at "


def submission_of(
    scores: Any, rows: int, key: str, scale: Range | ErrorScale, **how: Unpack[HowToRead]
) -> Submission:
    """The scores of one scorer for so many items; read, if they are in a file.

    What has no score and counts as wrong is attached as NULL, which a question takes for the lower
    end of the range, or for an error at the cap.
    """
    if isinstance(scale, ErrorScale):
        submission = _submission_of(scores, rows, key, scale.readable, **how)
        scoring = {**submission.scoring, ERRORS: scale.words}
        return replace(submission, values=scale.sizes(submission.values), scoring=scoring)
    wrong = how.get("missing") == "wrong"
    if wrong and scale.low < 0:
        raise InvalidArgument(
            f"missing is 'wrong', and the range of scores begins below 0, at {scale.low:g}; give "
            "every item a score."
        )
    return _submission_of(scores, rows, key, scale, **how)


def _submission_of(
    scores: Any, rows: int, key: str, bounds: Range, **how: Unpack[HowToRead]
) -> Submission:
    wrong = require.one_of("missing", ("refuse", "wrong"), how.get("missing", "refuse")) == "wrong"
    if isinstance(scores, str | os.PathLike):
        scores = read(scores, key=key, bounds=bounds, **how)
    if isinstance(scores, ItemScores):
        counted = set(scores.missing) & set(scores.items)  # the others are not among them
        unmatched = max(0, rows - len(scores)) + len(counted) if wrong else 0
        return Submission(scores.by_item(), scores.run, unmatched, scoring_in(scores, rows))
    if not wrong:
        return Submission(scores)
    if not isinstance(scores, Mapping):
        raise InvalidArgument(
            "missing is 'wrong', which is for logs and mappings from items to scores; give one of "
            "those, or every item a score."
        )
    scored = {item: score for item, score in scores.items() if not _is_missing(score)}
    return Submission(scored, None, max(0, rows - len(scored)))


def scoring_in(scores: ItemScores, rows: int) -> dict[str, str]:
    """How scores were made, as far as their file says: what differs in it cannot be compared.

    `items` is a digest of what all items hold, where the log has a hash of each of them.
    """
    settings = {
        "format": "table" if scores.format in _TABLES else scores.format,
        "task": scores.task,
        "filter": scores.filter,
        "scorer": scores.scorer,
        "items": _items_digest(scores) if len(scores) == rows else None,
    }
    return {name: value for name, value in settings.items() if value is not None}


def _items_digest(scores: ItemScores) -> str | None:
    hashes = sorted((str(item), scores.digests.get(item)) for item in scores.items)
    if not all(isinstance(each, str) for _, each in hashes):
        return None
    return sha256(json.dumps(hashes).encode()).hexdigest()


def _is_missing(score: object) -> bool:
    return score is None or (isinstance(score, float) and math.isnan(score))
