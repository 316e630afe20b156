"""Item scores of one scorer: what a log comes to, or why it comes to nothing.

Texts name items, never their scores: those were made with the answers that a holdout protects.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.errors import InvalidArgument
from holdfast.evals.formats import EvalLog, Scored
from holdfast.wording import plural

if TYPE_CHECKING:
    import polars as pl

ItemId = str | int

_SHOWN = 3
_LISTED = 12
_LONGEST_SHOWN = 40
_TYPES = {bool: "booleans", int: "numbers", float: "numbers", str: "text"}


@dataclass(frozen=True, slots=True)
class ItemScores:
    """A score for each item, in the order of the log; made by `holdfast.evals.read`.

    `epochs` is how many tries each score is the average of. `missing` are the items without a
    score, which were counted as wrong, or left out of a `partial` log. `run` is what the tool calls
    the run, and `task` what it calls the items together, where it does. `categories` are those that
    were asked for, by item, and `key` is the column that names the items of a table.
    """

    items: tuple[ItemId, ...] = field(repr=False)
    scores: tuple[float, ...] = field(repr=False)
    scorer: str
    format: str
    filter: str | None = None
    epochs: int = 1
    missing: tuple[ItemId, ...] = ()
    partial: bool = False
    run: str | None = None
    task: str | None = None
    digests: Mapping[ItemId, str] = field(default_factory=dict, repr=False)
    categories: Mapping[ItemId, Any] = field(default_factory=dict, repr=False)
    key: str | None = None

    def __len__(self) -> int:
        return len(self.items)

    def by_item(self) -> dict[ItemId, float]:
        """The scores by item."""
        return dict(zip(self.items, self.scores, strict=True))


@dataclass(frozen=True, slots=True)
class ItemList:
    """The items of an evaluation: what a ledger for its runs protects; `key` names their column."""

    items: tuple[ItemId, ...] = field(repr=False)
    key: str
    task: str | None = None

    def to_frame(self) -> pl.DataFrame:
        """A table with their ids alone: what they hold stays where it is."""
        import polars

        return polars.DataFrame({self.key: self.items})


def items_in(log: EvalLog, file: str) -> ItemList:
    """The items of a run, also of those that it planned and never tried."""
    if log.ended is not None and not log.planned:
        raise InvalidArgument(
            f"the run of {file} did not end well (its state: {log.ended}) and does not say which "
            "items it was to try; give the log of a whole run."
        )
    _require_known(log.lines, file)
    items = dict.fromkeys([*(line.item for line in log.lines), *log.planned])
    return ItemList(tuple(items), log.key or "item", log.task)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Options of reading a log: which scores, and what to do where there are none."""

    score: str | None
    filter: str | None
    epochs: int | None
    bounds: tuple[float, float]
    partial: bool
    missing_is_wrong: bool
    every_try: bool = False  # of an item counts, however many there are, where the log says nothing


def item_scores(log: EvalLog, wanted: Wanted, format_: str, file: str) -> ItemScores:
    """The scores that are wanted; refused in one sentence where the log does not have them."""
    partial = log.ended is not None
    if partial and not wanted.partial:
        raise InvalidArgument(
            f"the run of {file} did not end well (its state: {log.ended}); run it to its end, or "
            "take what there is of it: partial=True (--partial)."
        )
    _require_known(log.lines, file)
    filter_, lines = _filtered(log.lines, wanted.filter, file)
    names = dict.fromkeys(name for line in lines for name in line.scores)
    main = log.main if wanted.score is None and log.main in names else wanted.score
    scorer = _one_of("score", main, names, file)
    digests = _digests(log.lines, file)
    tries = Counter(line.item for line in lines)
    every = wanted.every_try and log.epochs is None
    epochs = _epochs(lines, log.epochs, max(tries.values()) if every else wanted.epochs, file)
    numbers = _numbers(lines, log.planned, scorer, file)
    _require_in_range(numbers, wanted.bounds, scorer, file)
    expected = {item: max(1, tries[item]) if every else epochs for item in numbers}
    missing = [item for item, runs in numbers.items() if len(runs) < expected[item]]
    if missing and not (wanted.missing_is_wrong or partial):
        raise InvalidArgument(
            f"{_named(missing, 'has', 'have')} no score under {scorer!r} in {file} (missing, null "
            "or NaN); score every item, or count those as wrong: missing='wrong' (--missing wrong)."
        )
    if wanted.missing_is_wrong:
        for item in missing:
            numbers[item] += [wanted.bounds[0]] * (expected[item] - len(numbers[item]))
    scores = {item: _average(runs, wanted.bounds) for item, runs in numbers.items() if runs}
    return ItemScores(
        items=tuple(scores),
        scores=tuple(scores.values()),
        scorer=scorer,
        format=format_,
        filter=filter_,
        epochs=epochs,
        missing=tuple(each for each in missing if wanted.missing_is_wrong or each not in scores),
        partial=partial,
        run=log.run if isinstance(log.run, str) else None,
        task=log.task if isinstance(log.task, str) else None,
        digests=digests,
        categories={line.item: line.category for line in lines if line.category is not None},
        key=log.key,
    )


def _require_known(lines: Sequence[Scored], file: str) -> None:
    """Items, epochs and filters by which lines can be told apart."""
    for item, _, epoch, filter_, *_ in lines:
        named = filter_ is None or type(filter_) is str
        if type(item) not in (str, int) or type(epoch) is not int or not named:
            raise InvalidArgument(
                f"an item of {file} has no id, or its id or epoch is no text or whole number; give "
                "every item one of its own."
            )
    if len({type(line.item) for line in lines}) > 1:
        raise InvalidArgument(
            f"some ids of items in {file} are text and some are numbers; make all of them text."
        )


def _filtered(
    lines: Sequence[Scored], wanted: str | None, file: str
) -> tuple[str | None, Sequence[Scored]]:
    """The lines of one filter."""
    filters = dict.fromkeys(line.filter for line in lines if line.filter is not None)
    if not filters and wanted is None:
        return None, lines
    chosen = _one_of("filter", wanted, filters, file)
    return chosen, lines if len(filters) == 1 else [line for line in lines if line.filter == chosen]


def _one_of(kind: str, wanted: str | None, values: Iterable[str], file: str) -> str:
    """The one that is wanted, or the only one there is."""
    names = list(values)
    if wanted in names:
        return wanted
    listed = ", ".join(map(repr, names[:_LISTED])) + (", ..." if len(names) > _LISTED else "")
    if wanted is not None or not names:
        named = "" if wanted is None else f" {wanted!r}"
        raise InvalidArgument(
            f"there is no {kind}{named} in {file}; "
            + (f"it has {listed}." if names else "give a file that has one, or leave it out.")
        )
    if len(names) > 1:
        raise InvalidArgument(
            f"there are {plural(len(names), kind)} in {file} ({listed}); choose one: {kind}= "
            f"(--{kind})."
        )
    return names[0]


def _epochs(lines: Sequence[Scored], logged: int | None, wanted: int | None, file: str) -> int:
    """How often each item was to be tried: declared by the log, or else by whoever reads it."""
    if len({(line.item, line.epoch) for line in lines}) < len(lines):
        tries = Counter((line.item, line.epoch) for line in lines)
        doubled = list(dict.fromkeys(item for (item, _), times in tries.items() if times > 1))
        raise InvalidArgument(
            f"{_named(doubled, 'comes', 'come')} more than once in {file} in the same epoch; give "
            "every item one score, or its tries numbers: a column epoch."
        )
    if logged is not None and wanted not in (None, logged):
        raise InvalidArgument(
            f"epochs is {wanted}, and {file} declares {logged:,}; leave epochs out."
        )
    most, declared = max(Counter(line.item for line in lines).values()), logged or wanted or 1
    if most > declared:
        many = f"{plural(most, 'try', 'tries')} for {plural(declared, 'epoch')}"
        problem = f"{file} has an item with {many}"
        raise InvalidArgument(
            f"{problem}; average over all of them: epochs={most} (--epochs {most})."
            if logged is None
            else f"{problem} that it declares; write the log again, of one run."
        )
    return declared


def _numbers(
    lines: Sequence[Scored], planned: Sequence[ItemId], scorer: str, file: str
) -> dict[ItemId, list[float]]:
    """The numbers of each item, also of one that was planned and never tried."""
    by_item: dict[ItemId, list[Any]] = {line.item: [] for line in lines}
    for item, scores, *_ in lines:
        value = scores.get(scorer)
        if _is_told(value):
            by_item[item].append(value)
    types = {type(value) for runs in by_item.values() for value in runs}
    if not (types <= {bool} or types <= {int, float}):
        kinds = " and ".join(sorted(_TYPES.get(each, each.__name__) for each in types))
        raise InvalidArgument(
            f"the scores under {scorer!r} in {file} are {kinds}; give numbers alone, or booleans "
            "alone."
        )
    if types != {float}:
        by_item = {item: list(map(_float, runs)) for item, runs in by_item.items()}
    return by_item | {item: [] for item in planned if item not in by_item}


def _is_told(value: Any) -> bool:
    """Whether something is said: null and NaN are nothing."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _float(number: bool | float) -> float:
    try:
        return float(number)
    except OverflowError:  # a whole number beyond all doubles
        return math.inf


def _require_in_range(
    numbers: Mapping[ItemId, Sequence[float]], bounds: tuple[float, float], scorer: str, file: str
) -> None:
    low, high = bounds
    outside = [
        item for item, runs in numbers.items() if runs and not low <= min(runs) <= max(runs) <= high
    ]
    if outside:
        raise InvalidArgument(
            f"{_named(outside, 'has', 'have')} a score under {scorer!r} outside [{low:g}, {high:g}]"
            f" in {file}; choose another scorer, or say the range of this one: bounds= (--bounds "
            "LOW HIGH)."
        )


def _average(runs: Sequence[float], bounds: tuple[float, float]) -> float:
    """The mean, which rounding may not put outside the range."""
    if len(runs) == 1:
        return runs[0]
    low, high = bounds
    return min(high, max(low, math.fsum(runs) / len(runs)))


def _digests(lines: Sequence[Scored], file: str) -> dict[ItemId, str]:
    """Digests of the items' contents, where the log says so."""
    digests: dict[ItemId, str] = {}
    for line in lines:
        if line.digest is not None and digests.setdefault(line.item, line.digest) != line.digest:
            raise InvalidArgument(
                f"{_named([line.item], 'is', 'are')} two different items in {file} by their "
                "hashes; keep the runs of different data sets apart."
            )
    return digests


def _named(items: Sequence[ItemId], singular: str, many: str) -> str:
    """How many items, the first three of them, and a verb that fits."""
    listed = ", ".join(_cut(repr(item)) for item in items[:_SHOWN])
    more = ", ..." if len(items) > _SHOWN else ""
    return f"{plural(len(items), 'item')} ({listed}{more}) {singular if len(items) == 1 else many}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
