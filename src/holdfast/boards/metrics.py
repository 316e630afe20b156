"""Metrics of a leaderboard: the average, over all items, of a bounded score of each.

Whatever is no such average is refused here, for two submissions could not be compared item by item,
which is what shows small differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.expression import ColumnType, ValueKind
from holdfast.question.text import identifier, numeral
from holdfast.wording import plural

if TYPE_CHECKING:
    import polars as pl

__all__ = ["METRICS", "Metric", "metric_of"]

_FLOOR = 0.01  # probabilities are this far from 0 and 1, at least, in the logarithmic loss
_PROBABILITIES = Range(0.0, 1.0)
_NO_AVERAGE = ("balanced_accuracy", "f1", "f1_macro", "precision", "r2", "recall", "roc_auc")

_Columns = Mapping[str, "pl.Series"]  # what is attached of a submission, by the ending of its name


@dataclass(frozen=True, slots=True)
class Metric:
    """The score of an item, as a text about its label and the columns of a submission.

    `row` spells it for the name of a submission; its average is in `bounds`. `allowed` is where
    values have to be. `columns` are what is attached of them.
    """

    name: str
    bounds: Range
    more_is_better: bool
    kind: ValueKind | None
    row: Callable[[str], str]
    allowed: Range | None = None
    columns: Callable[[pl.Series], _Columns] = lambda values: {"": values}

    def average(self, column: str) -> str:
        """The question for the score of a submission."""
        return f"avg({self.row(column)})"

    def gain(self, column: str, against: str) -> str:
        """The question for how much better one submission is than another one, on average."""
        better, worse = (column, against) if self.more_is_better else (against, column)
        return f"difference({self.row(better)}, {self.row(worse)})"

    def require_scorable(self, values: pl.Series, kind: ValueKind | None) -> None:
        """Refuse values that this metric is not for."""
        if kind is not self.kind:
            raise InvalidArgument(
                f"the predictions are of the kind {kind}, and {self.name} takes {self.kind}; write "
                "them like the labels, or as numbers."
            )
        if self.allowed is not None:
            outside = int((~values.is_between(*self.allowed)).sum())
            if outside:
                low, high = self.allowed
                raise InvalidArgument(
                    f"{plural(outside, 'prediction')} of {len(values):,} lie outside "
                    f"[{numeral(low)}, {numeral(high)}], where {self.name} takes them; bring them "
                    "there."
                )


def metric_of(name: str, label: str, kind: ColumnType, y_range: Range | None) -> Metric:
    """The metric of this name for a column of labels; refused in one sentence where it is none."""
    make = METRICS.get(name)
    if make is None:
        why = (
            "which is no average of scores of single items, so that no submission could be shown "
            "to be better than another one"
            if name in _NO_AVERAGE
            else "which is not known"
        )
        raise InvalidArgument(f"metric is {name!r}, {why}; choose one of {', '.join(METRICS)}.")
    if (y_range is not None) is not (make is _error):
        wanted = "leave it out" if y_range is not None else "say y_range=(low, high)"
        raise InvalidArgument(
            f"metric is {name!r}, and the range of labels is "
            f"{'not ' if y_range is None else ''}declared; {wanted}."
        )
    return make(name, label, kind, y_range or _PROBABILITIES)


def _accuracy(name: str, label: str, kind: ColumnType, _: Range) -> Metric:
    def row(column: str) -> str:
        return f"{identifier(column)} = {identifier(label)}"

    return Metric(name, _PROBABILITIES, True, kind.kind, row)


def _error(name: str, label: str, kind: ColumnType, y_range: Range) -> Metric:
    if kind.kind is not ValueKind.NUMBER:
        raise InvalidArgument(f"metric is {name!r}, and the labels are {kind}; give numbers.")
    low, high = y_range
    power = 1 if name == "mean_absolute_error" else 2
    truth = f"clip({identifier(label)}, {numeral(low)}, {numeral(high)})"

    def row(column: str) -> str:
        clipped = f"clip({identifier(column)}, {numeral(low)}, {numeral(high)})"
        return " * ".join([f"abs({clipped} - {truth})"] * power)

    bounds = Range(0.0, (high - low) ** power)
    return Metric(name, bounds, False, ValueKind.NUMBER, row, allowed=y_range)


def _brier(name: str, label: str, kind: ColumnType, _: Range) -> Metric:
    positive = _positive(name, label, kind)

    def row(column: str) -> str:
        clipped = f"clip({identifier(column)}, 0, 1)"
        missed = f"(1 - {clipped})"
        return f"case when {positive} then {missed} * {missed} else {clipped} * {clipped} end"

    return Metric(name, _PROBABILITIES, False, ValueKind.NUMBER, row, allowed=_PROBABILITIES)


def _log_loss(name: str, label: str, kind: ColumnType, _: Range) -> Metric:
    """The loss is in two columns, for either label: both follow from what was submitted."""
    positive, most = _positive(name, label, kind), -math.log(_FLOOR)
    suffix = " (if not)"

    def clipped(column: str) -> str:
        return f"clip({identifier(column)}, 0, {numeral(most)})"

    def row(column: str) -> str:
        return f"case when {positive} then {clipped(column)} else {clipped(column + suffix)} end"

    def columns(values: pl.Series) -> _Columns:
        import polars as pl

        chance = values.cast(pl.Float64).clip(_FLOOR, 1.0 - _FLOOR)
        return {"": -chance.log(), suffix: -(1.0 - chance).log()}

    bounds = Range(0.0, most)
    return Metric(name, bounds, False, ValueKind.NUMBER, row, _PROBABILITIES, columns)


def _positive(name: str, label: str, kind: ColumnType) -> str:
    """The condition that an item is positive: its label is true, or 1."""
    match kind.kind:
        case ValueKind.BOOLEAN:
            return identifier(label)
        case ValueKind.NUMBER:
            return f"{identifier(label)} = 1"
    raise InvalidArgument(
        f"metric is {name!r}, and the labels are {kind}; give labels that are true or false, or 1 "
        "or 0."
    )


METRICS: Mapping[str, Callable[[str, str, ColumnType, Range], Metric]] = {
    "accuracy": _accuracy,
    "brier": _brier,
    "log_loss": _log_loss,
    "mean_absolute_error": _error,
    "mean_squared_error": _error,
}
