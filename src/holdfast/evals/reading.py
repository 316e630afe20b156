"""`holdfast.evals.read`: a file of scores in whatever format, found by its content."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.evals.every_eval_ever import is_every_eval_line, read_every_eval
from holdfast.evals.helm import is_helm_document, read_helm
from holdfast.evals.inspect_log import is_inspect_log, read_inspect
from holdfast.evals.lm_eval import is_lm_eval_line, read_lm_eval
from holdfast.evals.log import EvalLog
from holdfast.evals.openai_evals import is_openai_line, read_openai
from holdfast.evals.promptfoo import is_promptfoo_document, read_promptfoo
from holdfast.evals.scores import ItemScores, Wanted, item_scores
from holdfast.evals.source import Source
from holdfast.evals.table import read_csv, read_json_lines, read_parquet
from holdfast.question.declaring import bounds_pair

__all__ = ["FORMATS", "read"]

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
    epochs: int | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    partial: bool = False,
    missing: str = "refuse",
) -> ItemScores:
    """The scores of a file, one for each item.

    Without `format` it is found by content. `score` names the scorer and `filter` the pass (a
    filter of lm-evaluation-harness, a prompt of promptfoo, a perturbation of HELM) where there are
    several, `key` the column of items of a plain table. Tries of one item are averaged over as many
    `epochs` as the log, or you, declare. An interrupted run is refused unless `partial`, an item
    without a score unless `missing` is "wrong": it then counts as the lower of `bounds`.
    """
    source = Source(require.file("path", path), key)
    low, high = bounds_pair(bounds)
    wanted = Wanted(
        score,
        filter,
        None if epochs is None else require.positive_integer("epochs", epochs),
        (low, high),
        require.flag("partial", partial),
        require.one_of("missing", ("refuse", "wrong"), missing) == "wrong",
    )
    try:
        name = _found(source) if format is None else require.one_of("format", [*FORMATS], format)
        log = FORMATS[name](source)
        if not log.lines:
            raise InvalidArgument(f"the file {source} has no items; give one that has some.")
        return item_scores(log, wanted, name, str(source))
    except MemoryError:
        raise InvalidArgument(
            f"reading the file {source} takes more memory than there is; write fewer items, or "
            "leave out what is no score, such as transcripts."
        ) from None


def _found(source: Source) -> str:
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
